/* The matrices of the equations of motion: the Coriolis matrix is that of the Christoffel symbols, and with gravity, stiffness,
   damping and friction it adds up to the bias. */
#include "dyn/matrices.h"

#include <string.h>

#include "oracle/laws.h"
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
           work_make(bare->model, false, &bare->work) == STATUS_OK &&
           tangent_make(bare->model, &bare->tangent) == STATUS_OK;
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
        dyn_force_jacobian(bare->model, bare->work, bare->tangent, &in, false, by_q, by_qd);
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

static double skewness_of_full_terms(struct specimen *s)
{
    struct bare bare;
    s->robot->elastic_terms = TERMS_FULL;
    CHECK(specimen_remake(s) && make_bare(s, &bare));
    const double off = skewness(s, &bare);
    free_bare(&bare);
    return off;
}

/* Rounding of sums of some hundred terms, of which some cancel */
TEST(mass_rate_less_twice_coriolis_is_skew)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_random, skewness_of_full_terms, 1e-12));
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
    for (int i = 0; i < n; i++) worst = larger(worst, fabs(sum[i] - s->force[i]) / (size[i] + 1e-3 * total + velocity));
    return worst;
}

static double bias_errors(struct specimen *s)
{
    double worst = 0;
    for (int terms = TERMS_FULL; terms <= TERMS_RUTHLESS; terms++) {
        struct bare bare;
        s->robot->elastic_terms = (enum elastic_terms)terms;
        CHECK(specimen_remake(s) && make_bare(s, &bare));
        worst = larger(worst, bias_error(s, &bare));
        free_bare(&bare);
    }
    return worst;
}

TEST(the_matrices_add_up_to_the_bias)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_random, bias_errors, 1e-12));
}

SUITE(dyn_matrices_test)
