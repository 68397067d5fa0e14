/* Bodies other than beams: rigid bodies, hubs and payloads, nodal bodies. */

#include "math/vec.h"
#include "robot/read.h"
#include "robot/semidefinite.h"

static const struct quantity mass = {"mass", "kg", NON_NEGATIVE};
static const struct quantity com = {"center of mass", "m", ANY};
static const struct quantity inertia = {"inertia (Ixx, Iyy, Izz, Ixy, Ixz, Iyz)", "kg.m^2", ANY};

/* mass, com, inertia */
static void read_mass_members(struct object *object, struct mass_properties *body)
{
    read_number(MEMBER(object, "mass"), REQUIRED, &mass, &body->mass);
    read_numbers(MEMBER(object, "com"), OPTIONAL, &com, 3, body->com);
    const struct json_path at = path_member(object, "inertia");
    const double *I = body->inertia;
    if (!read_numbers(&at, OPTIONAL, &inertia, 6, body->inertia)) return;

    /* principal moments a, b, c of real bodies obey a + b >= c: the second moments of mass, tr(I)/2 1 - I, are >= 0 */
    const double half_trace = 0.5 * (I[0] + I[1] + I[2]);
    const double second_moments[6] = {half_trace - I[0], half_trace - I[1], half_trace - I[2], -I[3], -I[4], -I[5]};
    if (!semidefinite_tensor(I)) path_error(&at, "inertia must be positive semidefinite [kg.m^2]");
    else if (!semidefinite_tensor(second_moments))
        path_warn(&at, "inertia violates the triangle inequality of principal moments: no physical body has it");
}

void read_rigid(const struct json_path *at, struct mass_properties *body, struct pose *tip)
{
    struct object object;
    identity3(tip->R);
    if (!path_open_object(&object, at, OPTIONAL, "rigid body")) return;
    read_mass_members(&object, body);
    read_pose(MEMBER(&object, "tip"), "tip frame", tip);
    path_close_object(&object);
}

bool read_attached(const struct json_path *at, const char *what, struct mass_properties *body)
{
    struct object object;
    if (!path_open_object(&object, at, OPTIONAL, what)) return false;
    read_mass_members(&object, body);
    path_close_object(&object);
    return true;
}

/* ---- nodal bodies ------------------------------------------------------------------------------------------------ */

static const struct quantity position = {"node position", "m", ANY};
static const struct quantity translation = {"translation of each mode (rows x, y, z)", "m", ANY};
static const struct quantity rotation = {"rotation of each mode (rows x, y, z)", "rad", ANY};
static const struct quantity stiffness = {"modal stiffness (modes x modes)", "N/m", ANY};
static const struct quantity damping = {"modal damping (modes x modes)", "N.s/m", ANY};

static void read_node(const struct json_path *at, int modes, struct node *node)
{
    struct object object;
    if (!path_open_object(&object, at, REQUIRED, "node")) return;
    read_numbers(MEMBER(&object, "position"), REQUIRED, &position, 3, node->position);
    read_mass_members(&object, &node->body);

    const struct json_path translation_at = path_member(&object, "translation"),
                           rotation_at = path_member(&object, "rotation");
    double *Phi = read_allocate(at, 3 * modes), *Lambda = read_allocate(at, 3 * modes);
    if (modes > 0 && Phi != NULL && Lambda != NULL) {
        read_rows(&translation_at, REQUIRED, &translation, 3, modes, Phi);
        read_rows(&rotation_at, REQUIRED, &rotation, 3, modes, Lambda);
    }
    node->translation = Phi;
    node->rotation = Lambda;
    path_close_object(&object);
}

/* A member that is an array of symmetric m x m matrices */
static void read_matrices(const struct json_path *at, enum need need, const struct quantity *quantity, int count, int m,
                          double *D)
{
    int length;
    path_open_array(at, need, count, count, quantity->what, &length);
    for (int i = 0; i < length; i++) read_symmetric(ITEM(at, i), REQUIRED, quantity, m, D + m * m * i);
}

/* The matrices, or NULL if this is not an object */
static const double *read_geometric_stiffness(const struct json_path *at, int m)
{
    static const struct quantity acceleration = {"second derivatives of the first mass moments (3 matrices x, y, z)",
                                                 "kg/m", ANY};
    static const struct quantity rates = {"second derivatives of the second mass moments (6 matrices xx, yy, zz, xy, "
                                          "xz, yz)",
                                          "kg", ANY};
    static const struct quantity turn = {"second derivatives of the rotational mass moments (3 matrices x, y, z)", "kg",
                                         ANY};
    struct object object;
    if (!path_open_object(&object, at, REQUIRED, "geometric stiffness")) return NULL;
    const struct json_path acceleration_at = path_member(&object, "acceleration"),
                           rates_at = path_member(&object, "rates");
    const struct json_path turn_at = path_member(&object, "angular_acceleration");
    double *D = read_allocate(at, GEOMETRIC_MOMENTS * m * m);
    if (m > 0 && D != NULL) {
        read_matrices(&acceleration_at, REQUIRED, &acceleration, 3, m, D);
        read_matrices(&rates_at, REQUIRED, &rates, 6, m, D + 3 * m * m);
        read_matrices(&turn_at, OPTIONAL, &turn, 3, m, D + 9 * m * m);
    }
    path_close_object(&object);
    return D;
}

void read_nodal(const struct json_path *at, struct nodal *nodal)
{
    struct object object;
    if (!path_open_object(&object, at, OPTIONAL, "nodal body")) return;
    read_integer(MEMBER(&object, "modes"), REQUIRED, "number of modes", 1, MOST_MODES, &nodal->modes);
    const struct json_path nodes_at = path_member(&object, "nodes");
    const struct json_path hinge_at = path_member(&object, "hinge_node"), tip_at = path_member(&object, "tip_node");
    struct node *node = path_open_list(&nodes_at, REQUIRED, "nodes", sizeof *node, &nodal->n_nodes);
    for (int i = 0; i < nodal->n_nodes; i++) read_node(ITEM(&nodes_at, i), nodal->modes, &node[i]);
    nodal->node = node;
    if (nodal->n_nodes > 0) {
        read_integer(&hinge_at, REQUIRED, "node at the hinge", 0, nodal->n_nodes - 1, &nodal->hinge_node);
        read_integer(&tip_at, REQUIRED, "node at the tip", 0, nodal->n_nodes - 1, &nodal->tip_node);
    }

    const struct json_path stiffness_at = path_member(&object, "stiffness"),
                           damping_at = path_member(&object, "damping");
    const int m = nodal->modes;
    double *K = read_allocate(at, m * m), *D = read_allocate(at, m * m);
    if (m > 0 && K != NULL && D != NULL) {
        read_semidefinite(&stiffness_at, REQUIRED, &stiffness, m, K);
        read_semidefinite(&damping_at, OPTIONAL, &damping, m, D);
    }
    nodal->stiffness = K;
    nodal->damping = D;
    const struct json_path geometric_at = format_member(&object, 2, "geometric_stiffness");
    if (geometric_at.given) nodal->geometric = read_geometric_stiffness(&geometric_at, nodal->modes);
    path_close_object(&object);
}
