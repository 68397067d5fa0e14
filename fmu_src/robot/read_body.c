/* Bodies that are not beams: rigid ones, what is attached to a link, and nodal bodies. */

#include "math/vec.h"
#include "robot/read.h"
#include "robot/semidefinite.h"

static const struct quantity mass = {"mass", "kg", NON_NEGATIVE};
static const struct quantity com = {"center of mass", "m", ANY};
static const struct quantity inertia = {"inertia (Ixx, Iyy, Izz, Ixy, Ixz, Iyz)", "kg.m^2", ANY};

/* Principal moments a, b, c of real bodies obey a + b >= c: the second moments of mass, tr(I)/2 1 - I, are >= 0. */
static bool obeys_triangle_inequality(const double I[6])
{
    const double half_trace = 0.5 * (I[0] + I[1] + I[2]);
    const double second_moments[6] = {half_trace - I[0], half_trace - I[1], half_trace - I[2], -I[3], -I[4], -I[5]};
    return semidefinite_tensor(second_moments);
}

static void read_inertia(const struct place *at, double I[6])
{
    if (!read_numbers(at, OPTIONAL, &inertia, 6, I)) return;
    if (!semidefinite_tensor(I)) place_error(at, "inertia must be positive semidefinite [kg.m^2]");
    else if (!obeys_triangle_inequality(I))
        place_warn(at, "inertia violates the triangle inequality of principal moments: no physical body has it");
}

/* mass, com, inertia */
static void read_mass_members(struct object *object, struct mass_properties *body)
{
    const struct place mass_at = place_member(object, "mass"), com_at = place_member(object, "com");
    const struct place inertia_at = place_member(object, "inertia");
    read_number(&mass_at, REQUIRED, &mass, &body->mass);
    read_numbers(&com_at, OPTIONAL, &com, 3, body->com);
    read_inertia(&inertia_at, body->inertia);
}

void read_rigid(const struct place *at, struct mass_properties *body, struct pose *tip)
{
    struct object object;
    identity3(tip->R);
    if (!place_open_object(&object, at, OPTIONAL, "rigid body")) return;
    read_mass_members(&object, body);
    const struct place tip_at = place_member(&object, "tip");
    read_pose(&tip_at, "tip frame", tip);
    place_close_object(&object);
}

bool read_attached(const struct place *at, const char *what, struct mass_properties *body)
{
    struct object object;
    if (!place_open_object(&object, at, OPTIONAL, what)) return false;
    read_mass_members(&object, body);
    place_close_object(&object);
    return true;
}

/* ---- nodal bodies ------------------------------------------------------------------------------------------------ */

static const struct quantity position = {"node position", "m", ANY};
static const struct quantity translation = {"translation of each mode (rows x, y, z)", "m", ANY};
static const struct quantity rotation = {"rotation of each mode (rows x, y, z)", "rad", ANY};
static const struct quantity stiffness = {"modal stiffness (modes x modes)", "N/m", ANY};
static const struct quantity damping = {"modal damping (modes x modes)", "N.s/m", ANY};

static double *take_numbers(const struct place *at, int count)
{
    return arena_allocate(&at->reader->robot->arena, (size_t)count, sizeof(double));
}

static void read_node(const struct place *at, int modes, struct node *node)
{
    struct object object;
    if (!place_open_object(&object, at, REQUIRED, "node")) return;
    const struct place position_at = place_member(&object, "position");
    read_numbers(&position_at, REQUIRED, &position, 3, node->position);
    read_mass_members(&object, &node->body);

    const struct place translation_at = place_member(&object, "translation"),
                       rotation_at = place_member(&object, "rotation");
    double *Phi = take_numbers(at, 3 * modes), *Lambda = take_numbers(at, 3 * modes);
    if (modes > 0 && Phi != NULL && Lambda != NULL) {
        read_rows(&translation_at, REQUIRED, &translation, 3, modes, Phi);
        read_rows(&rotation_at, REQUIRED, &rotation, 3, modes, Lambda);
    }
    node->translation = Phi;
    node->rotation = Lambda;
    place_close_object(&object);
}

static void read_nodes(const struct place *at, struct nodal *nodal)
{
    if (!place_open_array(at, REQUIRED, 1, -1, "nodes", &nodal->n_nodes)) return;
    struct node *node = arena_allocate(&at->reader->robot->arena, (size_t)nodal->n_nodes, sizeof *node);
    for (int i = 0; node != NULL && i < nodal->n_nodes; i++) {
        const struct place node_at = place_item(at, i);
        read_node(&node_at, nodal->modes, &node[i]);
    }
    nodal->node = node;
}

static void read_modal_matrices(struct object *object, struct nodal *nodal)
{
    const struct place stiffness_at = place_member(object, "stiffness"), damping_at = place_member(object, "damping");
    const int m = nodal->modes;
    double *K = take_numbers(&object->at, m * m), *D = take_numbers(&object->at, m * m);
    if (m > 0 && K != NULL && D != NULL) {
        read_semidefinite(&stiffness_at, REQUIRED, &stiffness, m, K);
        read_semidefinite(&damping_at, OPTIONAL, &damping, m, D);
    }
    nodal->stiffness = K;
    nodal->damping = D;
}

/* A member that is an array of symmetric m x m matrices */
static void read_matrices(const struct place *at, enum need need, const struct quantity *quantity, int count, int m,
                          double *D)
{
    int length;
    place_open_array(at, need, count, count, quantity->what, &length);
    for (int i = 0; i < length; i++) {
        const struct place matrix_at = place_item(at, i);
        read_symmetric(&matrix_at, REQUIRED, quantity, m, D + m * m * i);
    }
}

/* NULL where there is none to read */
static const double *read_geometric_stiffness(const struct place *at, int m)
{
    static const struct quantity acceleration = {"second derivatives of the first mass moments (3 matrices x, y, z)",
                                                 "kg/m", ANY};
    static const struct quantity rates = {"second derivatives of the second mass moments (6 matrices xx, yy, zz, xy, "
                                          "xz, yz)",
                                          "kg", ANY};
    static const struct quantity turn = {"second derivatives of the rotational mass moments (3 matrices x, y, z)", "kg",
                                         ANY};
    struct object object;
    if (!place_open_object(&object, at, REQUIRED, "geometric stiffness")) return NULL;
    const struct place acceleration_at = place_member(&object, "acceleration"),
                       rates_at = place_member(&object, "rates");
    const struct place turn_at = place_member(&object, "angular_acceleration");
    double *D = take_numbers(at, GEOMETRIC_MOMENTS * m * m);
    if (m > 0 && D != NULL) {
        read_matrices(&acceleration_at, REQUIRED, &acceleration, 3, m, D);
        read_matrices(&rates_at, REQUIRED, &rates, 6, m, D + 3 * m * m);
        read_matrices(&turn_at, OPTIONAL, &turn, 3, m, D + 9 * m * m);
    }
    place_close_object(&object);
    return D;
}

void read_nodal(const struct place *at, struct nodal *nodal)
{
    struct object object;
    if (!place_open_object(&object, at, OPTIONAL, "nodal body")) return;
    const struct place modes_at = place_member(&object, "modes"), nodes_at = place_member(&object, "nodes");
    const struct place hinge_at = place_member(&object, "hinge_node"), tip_at = place_member(&object, "tip_node");
    read_integer(&modes_at, REQUIRED, "number of modes", 1, MOST_MODES, &nodal->modes);
    read_nodes(&nodes_at, nodal);
    if (nodal->n_nodes > 0) {
        read_integer(&hinge_at, REQUIRED, "node at the hinge", 0, nodal->n_nodes - 1, &nodal->hinge_node);
        read_integer(&tip_at, REQUIRED, "node at the tip", 0, nodal->n_nodes - 1, &nodal->tip_node);
    }
    read_modal_matrices(&object, nodal);
    const struct place geometric_at = format_2_member(&object, "geometric_stiffness");
    if (geometric_at.given) nodal->geometric = read_geometric_stiffness(&geometric_at, nodal->modes);
    place_close_object(&object);
}
