/* The matrices of the equations of motion: the Coriolis matrix is that of the Christoffel symbols, and with gravity, stiffness,
   damping and friction it adds up to the bias. */
#include "dyn/matrices.h"

#include <json-c/json.h>
#include <string.h>

#include "oracle/specimen.h"
#include "test.h"

enum { MOST = 128, ROBOTS = 100 };

/* The bare robot at the specimen's state */
struct bare {
    struct model *model;
    struct work *work;
    struct tangent *tangent;
};

static int make_bare(const struct specimen *s, struct bare *bare)
{
    struct report silent = {0};
    memset(bare, 0, sizeof *bare);
    return s->nq <= MOST && model_make_bare(s->robot, &bare->model, &silent) == STATUS_OK &&
           work_make(bare->model, &bare->work) == STATUS_OK && tangent_make(bare->model, &bare->tangent) == STATUS_OK;
}

static void free_bare(struct bare *bare)
{
    tangent_free(bare->tangent);
    work_free(bare->work);
    model_free(bare->model);
}

/* M_dot = sum_k dM/dq_k qd_k, column j from d(M e_j)/dq: the tangent of the inverse dynamics at rest with qdd = e_j, without
   gravity. No differences. */
static void mass_rate(const struct specimen *s, struct bare *bare, double *M_dot)
{
    static double by_q[MOST * MOST], by_qd[MOST * MOST];
    const int n = s->nv;
    double still[MOST] = {0}, qdd[MOST], force[MOST];
    const struct input in = {.q = s->q, .qd = still};
    double gravity[3];
    memcpy(gravity, bare->model->gravity, sizeof gravity);
    memset(bare->model->gravity, 0, sizeof gravity);
    dyn_configuration(bare->model, bare->work, s->q);
    for (int j = 0; j < n; j++) {
        memset(qdd, 0, sizeof qdd);
        qdd[j] = 1;
        dyn_inverse(bare->model, bare->work, &in, qdd, force);
        dyn_velocity(bare->model, bare->work, &in);
        dyn_tangent_state(bare->model, bare->work, bare->tangent, &in, qdd);
        dyn_force_jacobian(bare->model, bare->work, bare->tangent, &in, by_q, by_qd);
        for (int i = 0; i < n; i++) {
            M_dot[n * i + j] = 0;
            for (int k = 0; k < n; k++) M_dot[n * i + j] -= by_q[n * k + i] * s->qd[k];
        }
    }
    memcpy(bare->model->gravity, gravity, sizeof gravity);
}

/* |M| |qd|: rounding of it is all that M_dot, or the velocity terms, are where a robot's inertia stays the same */
static double inertia_size(const struct specimen *s, struct bare *bare)
{
    dyn_configuration(bare->model, bare->work, s->q);
    dyn_mass_matrix(bare->model, bare->work);
    return norm(s->nv * s->nv, bare->work->M) * norm(s->nv, s->qd);
}

/* |S + S'| of |M_dot|, S = M_dot - 2 C; of 1e-3 |M| |qd| where M_dot is nothing but rounding of it: inertia that stays the same */
static double skewness(const struct specimen *s, struct bare *bare)
{
    static double M_dot[MOST * MOST], C[MOST * MOST], scratch[MOST * MOST];
    const int n = s->nv;
    double sum = 0, size = 0;
    mass_rate(s, bare, M_dot);
    dyn_coriolis(bare->model, bare->work, bare->tangent, &s->in, C, scratch);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double both = M_dot[n * i + j] + M_dot[n * j + i] - 2 * (C[n * i + j] + C[n * j + i]);
            sum += both * both;
            size += M_dot[n * i + j] * M_dot[n * i + j];
        }
    const double inertia = inertia_size(s, bare), rate = sqrt(size);
    return sqrt(sum) / (rate > 1e-14 * inertia ? rate : 1e-3 * inertia);
}

/* Rounding of sums of some hundred terms, of which some cancel */
static const double SKEW = 1e-12;

TEST(mass_rate_less_twice_coriolis_is_skew)
{
    double worst = 0;
    for (int seed = 0; seed < ROBOTS; seed++) {
        struct specimen s;
        struct bare bare;
        CHECK(specimen_random(&s, seed));
        s.robot->elastic_terms = TERMS_FULL;
        CHECK(specimen_remake(&s) && make_bare(&s, &bare));
        const double off = skewness(&s, &bare);
        worst = fmax(worst, off);
        CHECK_NEAR(off, 0, SKEW);
        free_bare(&bare);
        specimen_free(&s);
    }
    printf("     worst %.1e of |M_dot|\n", worst);
}

/* Without its higher terms a body is no Lagrangian system any more: the same measure sees that */
TEST(ruthless_terms_are_not_skew)
{
    int seen = 0;
    for (int seed = 0; seed < 20; seed++) {
        struct specimen s;
        struct bare bare;
        CHECK(specimen_random(&s, seed));
        s.robot->elastic_terms = TERMS_RUTHLESS;
        CHECK(specimen_remake(&s) && make_bare(&s, &bare));
        if (skewness(&s, &bare) > 1e-6) seen++;
        free_bare(&bare);
        specimen_free(&s);
    }
    CHECK(seen >= 5);
}

/* h = C qd + G + K (q - rest) + D qd + friction and stops, for all elastic terms; of a spherical joint q - rest is its rotation
   vector */
static double bias_error(struct specimen *s, struct bare *bare)
{
    static double K[MOST * MOST], C[MOST * MOST], scratch[MOST * MOST];
    const int n = s->nv;
    double sum[MOST], size[MOST] = {0}, G[MOST], friction[MOST] = {0}, elastic[MOST] = {0};
    double away[MOST], rest[MOST] = {0}, worst = 0;
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_model *lm = &s->model->link[i];
        joint_rest_position(&s->robot->link[i].joint, rest + lm->q);
        for (int k = 0; k < lm->joint.nv; k++) {
            const struct joint_numbers *number = &lm->joint.number[lm->joint.coordinates ? k : 0];
            if (lm->joint.coordinates) rest[lm->q + k] = number->rest;
            friction[lm->v + k] = number->viscous * s->qd[lm->v + k];
            if (lm->joint.coordinates) friction[lm->v + k] -= joint_contact(number, s->q[lm->q + k], s->qd[lm->v + k]);
        }
        if (lm->body == NULL) continue;
        static const double straight[MOST];
        dyn_add_elastic_force(lm->body, straight, s->qd + lm->eta_v, elastic + lm->eta_v);
        for (int k = 0; k < lm->m; k++) friction[lm->eta_v + k] = -elastic[lm->eta_v + k];
    }
    model_difference(s->model, rest, s->q, away);
    dyn_coriolis(bare->model, bare->work, bare->tangent, &s->in, C, scratch);
    dyn_gravity(bare->model, bare->work, s->q, G);
    dyn_stiffness(s->model, K);
    const struct input alone = {.q = s->q, .qd = s->qd};
    dyn_configuration(s->model, s->work, s->q);
    dyn_inverse(s->model, s->work, &alone, NULL, s->force);
    double total = 0;
    const double velocity = 1e-3 * inertia_size(s, bare) * norm(n, s->qd);
    for (int i = 0; i < n; i++) {
        sum[i] = G[i] + friction[i];
        size[i] = fabs(G[i]) + fabs(friction[i]);
        for (int j = 0; j < n; j++) {
            sum[i] += C[n * i + j] * s->qd[j] + K[n * i + j] * away[j];
            size[i] += fabs(C[n * i + j] * s->qd[j]) + fabs(K[n * i + j] * away[j]);
        }
        total += size[i];
    }
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(sum[i] - s->force[i]) / (size[i] + 1e-3 * total + velocity));
    return worst;
}

TEST(the_matrices_add_up_to_the_bias)
{
    double worst = 0;
    for (int seed = 0; seed < ROBOTS; seed++) {
        struct specimen s;
        struct bare bare;
        CHECK(specimen_random(&s, seed));
        for (int terms = TERMS_FULL; terms <= TERMS_RUTHLESS; terms++) {
            s.robot->elastic_terms = (enum elastic_terms)terms;
            CHECK(specimen_remake(&s) && make_bare(&s, &bare));
            const double off = bias_error(&s, &bare);
            worst = fmax(worst, off);
            CHECK_NEAR(off, 0, 1e-12);
            free_bare(&bare);
        }
        specimen_free(&s);
    }
    printf("     worst %.1e\n", worst);
}

/* ---- robots of the reference data --------------------------------------------------------------------------------------- */

static void read_numbers(struct json_object *from, const char *key, int count, double *x)
{
    struct json_object *array = json_object_object_get(from, key);
    for (int i = 0; i < count && array != NULL; i++)
        x[i] = json_object_get_double(json_object_array_get_idx(array, (size_t)i));
}

/* Number of cases tried; 0 where the robot cannot be computed with yet */
static int try_reference(const char *name)
{
    char file[512];
    struct specimen s;
    struct bare bare;
    snprintf(file, sizeof file, "%s/reference/%s.json", TEST_DATA, name);
    struct json_object *root = json_object_from_file(file);
    CHECK(root != NULL);
    if (root == NULL) return 0;
    struct json_object *cases = json_object_object_get(root, "cases");
    const int made =
        specimen_read(&s, json_object_to_json_string(json_object_object_get(root, "robot"))) && make_bare(&s, &bare);
    CHECK(made);
    const int count = made ? (int)json_object_array_length(cases) : 0;
    for (int i = 0; i < count; i++) {
        struct json_object *state = json_object_array_get_idx(cases, (size_t)i);
        read_numbers(state, "q", s.nq, s.q);
        read_numbers(state, "qd", s.nv, s.qd);
        CHECK_NEAR(bias_error(&s, &bare), 0, 1e-12);
        CHECK_NEAR(skewness(&s, &bare), 0, SKEW);
    }
    json_object_put(root);
    if (made) {
        free_bare(&bare);
        specimen_free(&s);
    }
    return count;
}

TEST(reference_robots_are_skew_too)
{
    static const char *const names[] = {"canadarm", "canadarm-spatial", "cibicik",  "lin-lewis", "nodal-20",
                                        "nodal-21", "prescribed-30",    "random-1", "random-2",  "random-3",
                                        "random-4", "random-5",         "random-6"};
    int tried = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) tried += try_reference(names[i]);
    CHECK(tried >= 30);
}

SUITE(dyn_matrices_test)
