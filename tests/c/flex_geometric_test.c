/* Geometric stiffness of a nodal body: the nodal twin of a beam, its Gauss points as nodes and the moments of its foreshortening
   as matrices, has the beam's Lagrangian to second order in (eta, eta_dot). */
#include "test.h"

#include <string.h>

#include "flex/quadrature.h"
#include "math/lanes.h"
#include "oracle/specimen.h"

enum { PANELS = 4, POINTS = PANELS * GAUSS_POINTS, NODES = POINTS + 2, MOST = 60, HALVINGS = 3 };

static const char *const with_axial = "\"y\": {\"shape\": \"clamped-free\", \"count\": 3}, \"z\": {\"shape\": "
                                      "\"craig-bampton\", \"count\": 2}, \"twist\": {\"shape\": \"clamped-free\", "
                                      "\"count\": 1}, \"axial\": {\"shape\": \"linear\"}";
static const char *const bending = "\"y\": {\"shape\": \"clamped-free\", \"count\": 3}, \"z\": {\"shape\": "
                                   "\"craig-bampton\", \"count\": 3}";
static const char *const hinged = "\"y\": {\"shape\": \"pinned-pinned\", \"count\": 3}, \"z\": {\"shape\": "
                                  "\"clamped-free\", \"count\": 2}";

/* ---- the twin ------------------------------------------------------------------------------------------------------------------------ */

static double *take(struct robot *robot, int count)
{
    return arena_allocate(&robot->arena, (size_t)count, sizeof(double));
}

/* acceleration x: -int H dm, rates xx: -2 int x H dm */
static void add_moments(const struct section *section, int m, double dm, double *D)
{
    for (int k = 0; k < m && section->H != NULL; k++)
        for (int l = 0; l < m; l++) {
            const double h = section->H[PADDED(m) * k + l];
            D[m * k + l] -= dm * h;
            D[3 * m * m + m * k + l] -= 2 * dm * section->x[0] * h;
        }
}

/* The section at x as a node with the mass and inertia of a length dx. */
static void put_node(struct robot *robot, const struct link *link, int m, double x, double dx, struct node *node,
                     double *D)
{
    struct section section;
    double *Phi = take(robot, 3 * m), *Lambda = take(robot, 3 * m);
    CHECK(body_section(link, x, 0, &robot->arena, &section) == STATUS_OK);
    node->position[0] = x;
    const struct beam_properties beam = beam_at(&link->beam, x / link->beam.length);
    node->body.mass = (beam.mass_per_length + beam.added_mass_per_length) * dx;
    for (int i = 0; i < 3; i++) node->body.inertia[i] = beam.inertia_per_length[i] * dx;
    for (int k = 0; k < m; k++)
        for (int i = 0; i < 3; i++) {
            Phi[m * i + k] = section.Phi[3 * k + i];
            Lambda[m * i + k] = section.Lambda[3 * k + i];
        }
    node->translation = Phi;
    node->rotation = Lambda;
    add_moments(&section, m, node->body.mass, D);
}

/* The beam of the only link becomes its nodal twin; nodes without mass are hinge and tip. */
static void become_twin(struct specimen *s)
{
    struct link *link = &s->robot->link[0];
    const struct body *body = s->model->link[0].body;
    const int m = body->m;
    double at[GAUSS_POINTS], weight[GAUSS_POINTS], *K = take(s->robot, m * m), *D = take(s->robot, 12 * m * m);
    struct node *node = arena_allocate(&s->robot->arena, NODES, sizeof *node);
    quadrature_gauss_legendre(at, weight);
    const double panel = link->beam.length / PANELS;
    for (int i = 0; i < POINTS; i++)
        put_node(s->robot, link, m, panel * (i / GAUSS_POINTS + at[i % GAUSS_POINTS]), panel * weight[i % GAUSS_POINTS],
                 &node[i], D);
    put_node(s->robot, link, m, 0, 0, &node[POINTS], D);
    put_node(s->robot, link, m, link->beam.length, 0, &node[POINTS + 1], D);
    memcpy(K, body->K, (size_t)(m * m) * sizeof *K);
    link->type = BODY_NODAL;
    link->nodal = (struct nodal){.modes = m,
                                 .n_nodes = NODES,
                                 .node = node,
                                 .hinge_node = POINTS,
                                 .tip_node = POINTS + 1,
                                 .stiffness = K,
                                 .damping = take(s->robot, m * m),
                                 .geometric = D};
    CHECK(specimen_remake(s));
}

/* ---- both in one state ----------------------------------------------------------------------------------------------------- */

struct pair {
    struct specimen beam, twin;
    double q[MOST], qd[MOST], qdd[MOST];
};

static void pair_make(const char *modes, enum elastic_terms terms, struct pair *pair)
{
    char text[2000];
    snprintf(text, sizeof text,
             "{\"format\": \"limber-robot/2\", \"name\": \"one\", \"gravity\": [3, -9, 5], \"links\": [{\"name\": "
             "\"beam\", \"joint\": {\"type\": \"free\"}, \"beam\": {\"length\": 1.5, \"mass_per_length\": 2, \"EIy\": "
             "4, \"EIz\": 3, \"GJ\": 3, \"EA\": 7, \"inertia_per_length\": [0.02, 0.01, 0.01], \"modes\": {%s}}}]}",
             modes);
    struct random random = {7};
    CHECK(specimen_read(&pair->beam, text) && specimen_read(&pair->twin, text));
    pair->beam.robot->elastic_terms = pair->twin.robot->elastic_terms = terms;
    CHECK(specimen_remake(&pair->beam));
    become_twin(&pair->twin);
    specimen_random_state(&pair->beam, &random);
    memcpy(pair->q, pair->beam.q, (size_t)pair->beam.nq * sizeof(double));
    memcpy(pair->qd, pair->beam.qd, (size_t)pair->beam.nv * sizeof(double));
    for (int i = 0; i < pair->beam.nv; i++) pair->qdd[i] = uniform(&random, -3, 3);
}

/* Both at eta, eta_dot, eta_ddot times a factor. */
static void pair_go(struct pair *pair, double factor)
{
    struct specimen *both[2] = {&pair->beam, &pair->twin};
    for (int i = 0; i < 2; i++) {
        struct specimen *s = both[i];
        double qdd[MOST];
        memcpy(s->q, pair->q, (size_t)s->nq * sizeof(double));
        memcpy(s->qd, pair->qd, (size_t)s->nv * sizeof(double));
        memcpy(qdd, pair->qdd, (size_t)s->nv * sizeof(double));
        shrink_modes(s, factor);
        for (int k = s->model->link[0].eta_v; k < s->nv; k++) qdd[k] *= factor;
        memset(s->tip_wrench, 0, sizeof s->tip_wrench);
        specimen_evaluate(s, qdd);
    }
}

static void pair_free(struct pair *pair)
{
    specimen_free(&pair->beam);
    specimen_free(&pair->twin);
}

static double lagrangian(struct specimen *s)
{
    struct energy energy;
    dyn_energy(s->model, s->work, &s->in, &energy);
    return energy.kinetic - energy.elastic - energy.gravity;
}

/* ---- laws ------------------------------------------------------------------------------------------------------------------------ */

/* Differences: of the Lagrangian, of the forces on the joint, of the forces on the modes. */
static void differences(struct pair *pair, double factor, double difference[3])
{
    pair_go(pair, factor);
    const int first = pair->beam.model->link[0].eta_v;
    difference[0] = fabs(lagrangian(&pair->beam) - lagrangian(&pair->twin));
    difference[1] = distance(first, pair->beam.force, pair->twin.force);
    difference[2] = distance(pair->beam.nv - first, pair->beam.force + first, pair->twin.force + first);
}

/* Halving the deformation divides the differences by 2^order. */
static void check_orders(struct pair *pair, const double order[3])
{
    double before[3], after[3], factor = 1.0 / 64;
    differences(pair, factor, before);
    for (int halving = 0; halving < HALVINGS; halving++) {
        differences(pair, factor /= 2, after);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(log2(before[i] / after[i]), order[i], 0.2);
            before[i] = after[i];
        }
    }
}

/* What is missing of the Lagrangian is of third order; so are forces on the joint, and those on the modes, its derivatives with respect
   to eta, of second. */
TEST(twin_has_the_lagrangian_of_the_beam_to_second_order)
{
    const char *const modes[] = {with_axial, bending, hinged};
    for (int i = 0; i < 3; i++) {
        struct pair pair;
        pair_make(modes[i], TERMS_FULL, &pair);
        check_orders(&pair, (const double[3]){3, 3, 2});
        pair_free(&pair);
    }
}

/* `linear` keeps of foreshortening what the matrices know; the terms between axial and bending modes are not among that. `ruthless`
   keeps nothing of either. What is left is rounding, of the quadratures too. */
TEST(reduced_terms_are_those_of_the_beam)
{
    for (int terms = TERMS_LINEAR; terms <= TERMS_RUTHLESS; terms++) {
        struct pair pair;
        pair_make(bending, (enum elastic_terms)terms, &pair);
        pair_go(&pair, 1);
        for (int i = 0; i < pair.beam.nv; i++)
            CHECK_NEAR(pair.twin.force[i], pair.beam.force[i], 1e-12 * norm(pair.beam.nv, pair.beam.force));
        pair_free(&pair);
    }
}

SUITE(flex_geometric_test)
