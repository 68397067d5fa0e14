/* Exact directional derivatives against differences of the functions they differentiate, for any robot in any state and
   direction, and the identities that need no differences. */
#include "test.h"

#include <string.h>

#include "dyn/matrices.h"
#include "math/vec.h"
#include "oracle/laws.h"
#include "oracle/scatter.h"
#include "oracle/slopes.h"

enum { ROBOTS = 200 };

/* dqdd in a direction */
static void direction_of(const struct model *model, struct work *work, struct tangent *tangent, const struct input *in,
                         const struct direction *direction, double *dqdd)
{
    dyn_tangent_outward(model, work, tangent, direction);
    dyn_tangent_inward(model, work, tangent, in, NULL);
    dyn_tangent_solve(model, work, tangent, dqdd);
    dyn_tangent_copy_prescribed(model, tangent, dqdd);
}

/* The state of the specimen made ready for directions */
static void prepare(struct specimen *s, struct tangent *tangent, double *qdd)
{
    CHECK(tree_forward(s->model, s->work, &s->in, qdd) == STATUS_OK);
    dyn_inverse(s->model, s->work, &s->in, qdd, s->force);
    dyn_velocity(s->model, s->work, &s->in);
    dyn_observe(s->model, s->work, &s->in, qdd);
    dyn_tangent_state(s->model, s->work, tangent, &s->in, qdd);
    dyn_tangent_observe_state(s->model, s->work, tangent, &s->in, qdd);
}

static void evaluate(struct specimen *s, void *context, struct values *v)
{
    double qdd[MOST];
    (void)context;
    CHECK(tree_forward(s->model, s->work, &s->in, qdd) == STATUS_OK);
    values_put(v, QDD, s->nv, qdd);
    specimen_evaluate(s, qdd);
    values_put_frames(v, s);
}

static void differentiate(struct specimen *s, void *context, const struct direction *direction, struct values *v)
{
    double qdd[MOST], dqdd[MOST];
    struct tangent *tangent = context;
    prepare(s, tangent, qdd);
    direction_of(s->model, s->work, tangent, &s->in, direction, dqdd);
    dyn_tangent_motion(s->model, s->work, tangent, &s->in, NULL, dqdd);
    dyn_tangent_observe(s->model, s->work, tangent);
    values_put(v, QDD, s->nv, dqdd);
    values_put_frame_changes(v, s, tangent);
}

/* Makes the next kind of elastic terms, at a state where M is positive: without its square terms it is so near eta = 0 only */
static struct tangent *with_terms(struct specimen *s, enum elastic_terms terms)
{
    s->robot->elastic_terms = terms;
    CHECK(specimen_remake(s));
    if (terms == TERMS_LINEAR) make_positive(s);
    return s->mechanism.tangent;
}

static const struct differentiable open_tree = {evaluate, differentiate};

TEST(random_directions_agree_with_differences)
{
    static struct arrow along;
    struct errors errors = {0};
    struct random random = {11};
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen s;
        CHECK(specimen_mixed(&s, seed));
        for (int t = TERMS_FULL; t <= TERMS_RUTHLESS; t++) {
            struct tangent *tangent = with_terms(&s, (enum elastic_terms)t);
            double error[PARTS];
            arrow_random(&s, &random, &along);
            slope_errors(&s, &open_tree, tangent, &along, &errors, error);
            for (int k = 0; k < PARTS; k++) CHECK_NEAR(error[k], 0, slope_tolerance[k]);
        }
        specimen_free(&s);
    }
    print_errors(&errors);
}

static struct tangent *prepared(struct specimen *s, struct random *random, double *qdd)
{
    struct tangent *tangent = with_terms(s, (enum elastic_terms)(TERMS_FULL + pick(random, 3)));
    prepare(s, tangent, qdd);
    return tangent;
}

/* qdd is linear in tau: the derivative is a column of M^-1, the very numbers of dyn_solve_columns(); and M times it is e_j */
static double inverse_mass(struct specimen *s)
{
    static struct arrow along;
    static double B[MOST * MOST];
    double qdd[MOST], dqdd[MOST], worst = 0;
    struct tangent *tangent = prepared(s, &s->random, qdd);
    dyn_mass_matrix(s->model, s->work);
    dyn_input_matrix(s->model, B);
    for (int i = 0; i < s->nv; i++) {
        const int tau = velocity_tau(s, i);
        double column[MOST] = {0};
        if (tau < 0 || B[s->model->n_tau * i + tau] == 0) continue; /* a mode, or a joint that takes no tau */
        arrow_clear(&along);
        along.tau[tau] = 1;
        direction_of(s->model, s->work, tangent, &s->in, &along.direction, dqdd);
        column[i] = 1;
        dyn_solve_columns(s->model, s->work, tangent, 1, column);
        CHECK(distance(s->nv, dqdd, column) == 0);
        double back = -1, terms = 1;
        for (int k = 0; k < s->nv; k++) {
            back += s->work->M[s->nv * i + k] * dqdd[k];
            terms += fabs(s->work->M[s->nv * i + k] * dqdd[k]);
        }
        worst = larger(worst, fabs(back) / terms);
    }
    return worst;
}

TEST(columns_of_the_inverse_mass_matrix)
{
    CHECK(law_holds(test_sample(100), specimen_mixed, inverse_mass, 1e-11));
}

/* In the direction in which time goes, (q, qd) = (qd, qdd), poses change by velocities and velocities by accelerations. No
   differences: both sides are right to rounding. */
static double change_along_the_flow(struct specimen *s)
{
    double qdd[MOST], dqdd[MOST], worst = 0;
    struct tangent *tangent = prepared(s, &s->random, qdd);
    const struct direction flow = {.q = s->qd, .qd = qdd};
    direction_of(s->model, s->work, tangent, &s->in, &flow, dqdd);
    dyn_tangent_motion(s->model, s->work, tangent, &s->in, NULL, dqdd);
    for (int i = 0; i < s->model->n_links; i++) {
        struct frame_motion tip;
        struct frame_derivative d;
        dyn_tip(s->model, s->work, i, &tip);
        const struct anchor anchor = model_tip(s->model, i);
        dyn_tangent_frame(s->work, tangent, &anchor, &d);
        const double speed = 1 + norm(3, tip.v) + norm(3, tip.omega),
                     rate = speed * speed + norm(s->nv, qdd) + norm(3, tip.a) + norm(3, tip.alpha);
        const double slow = distance(3, d.p, tip.v) + distance(3, d.phi, tip.omega),
                     fast = distance(3, d.v, tip.a) + distance(3, d.omega, tip.alpha);
        worst = larger(worst, larger(slow / (speed * speed), fast / rate));
    }
    return worst;
}

TEST(along_the_flow_poses_change_by_velocities)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_mixed, change_along_the_flow, 1e-13));
}

/* Forces are linear in the mass of a payload: a difference of any length is its derivative, to rounding */
static double more_payload(struct specimen *s)
{
    double force[MOST], change[MOST], qdd[MOST], dqdd[MOST], sum[MOST], dmass[MOST] = {0};
    bool tried = false;
    memcpy(qdd, s->qdd, sizeof(double) * (size_t)s->nv);
    specimen_evaluate(s, qdd);
    memcpy(force, s->force, sizeof(double) * (size_t)s->nv);
    for (int i = 0; i < s->robot->n_links; i++) {
        if (!s->robot->link[i].has_payload) continue;
        dmass[i] = 0.3 + 0.1 * i;
        s->robot->link[i].payload.mass += dmass[i];
        tried = true;
    }
    if (!tried) return LEFT_OUT;
    CHECK(specimen_remake(s));
    specimen_evaluate(s, qdd);
    for (int i = 0; i < s->nv; i++) change[i] = s->force[i] - force[i];
    force_terms(s, qdd, sum);
    struct tangent *tangent = with_terms(s, TERMS_FULL);
    dyn_configuration(s->model, s->work, s->q);
    CHECK(dyn_articulate(s->model, s->work) == STATUS_OK);
    dyn_inverse(s->model, s->work, &s->in, qdd, s->force);
    dyn_velocity(s->model, s->work, &s->in);
    dyn_tangent_state(s->model, s->work, tangent, &s->in, qdd);
    direction_of(s->model, s->work, tangent, &s->in, &(struct direction){.masses = {.payload_mass = dmass}}, dqdd);
    return distance(s->nv, tangent->force, change) / norm(s->nv, sum);
}

TEST(payloads_of_more_mass)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_mixed, more_payload, 1e-14));
}

/* Columns against single directions, relative to the column */
static double worst_column(struct specimen *s, struct tangent *tangent, const double *qdd, const double *by_q,
                           const double *by_qd)
{
    double dqdd[MOST], one[MOST] = {0}, worst = 0;
    for (int j = 0; j < 2 * s->nv; j++) {
        const double *column = j < s->nv ? by_q + s->nv * j : by_qd + s->nv * (j - s->nv);
        one[j % s->nv] = 1;
        direction_of(s->model, s->work, tangent, &s->in,
                     &(struct direction){.q = j < s->nv ? one : NULL, .qd = j < s->nv ? NULL : one}, dqdd);
        one[j % s->nv] = 0;
        worst = larger(worst, distance(s->nv, column, dqdd) / (1 + norm(s->nv, qdd) + norm(s->nv, dqdd)));
    }
    return worst;
}

/* The whole Jacobian is its columns: by sweeps the sums are the same but for their order; jacobian.c is another elimination, as far
   apart as cond(M) eps allows */
static double jacobian_error(struct specimen *s)
{
    static double by_q[MOST * MOST], by_qd[MOST * MOST];
    double qdd[MOST];
    struct tangent *tangent = prepared(s, &s->random, qdd);
    dyn_force_jacobian(s->model, s->work, tangent, &s->in, false, by_q, by_qd);
    dyn_solve_columns(s->model, s->work, tangent, s->nv, by_q);
    dyn_solve_columns(s->model, s->work, tangent, s->nv, by_qd);
    const double swept = worst_column(s, tangent, qdd, by_q, by_qd);
    dyn_jacobian(s->model, s->work, tangent, &s->in, false, by_q, by_qd);
    return larger(swept, worst_column(s, tangent, qdd, by_q, by_qd));
}

TEST(jacobian_is_unit_directions)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_mixed, jacobian_error, 1e-10));
}

/* R_O' R_T = Exp(rotation),  R_O' (p_T - p_O) = deflection + its value at eta = 0, where both are zero */
static double deflection_error(struct specimen *s)
{
    double q[MOST], before[MOST][3], worst = 0;
    memcpy(q, s->q, sizeof(double) * (size_t)s->nq);
    for (int straight = 1; straight >= 0; straight--) {
        if (straight) shrink_modes(s, 0);
        else memcpy(s->q, q, sizeof(double) * (size_t)s->nq);
        specimen_evaluate(s, s->qdd);
        for (int i = 0; i < s->model->n_links; i++) {
            const struct link_work *w = &s->work->link[i];
            double deflection[3], rotation[3], E[9], RE[9], r[3], seen[3];
            if (s->model->link[i].body == NULL) continue;
            dyn_deflection(s->model, s->work, i, deflection, rotation);
            const struct exp_coefficients e = rotation_exp_coefficients(dot3(rotation, rotation));
            rotation_exp(&e, rotation, E);
            matmul3(w->O.R, E, RE);
            for (int k = 0; k < 3; k++) r[k] = w->section[0].T.p[k] - w->O.p[k];
            tmul3(w->O.R, r, seen);
            for (int k = 0; k < 3; k++) seen[k] -= deflection[k];
            const double moved = straight ? norm(3, deflection) + norm(3, rotation) : distance(3, seen, before[i]);
            worst = larger(worst, larger(distance(9, RE, w->section[0].T.R), moved));
            copy3(seen, before[i]);
        }
    }
    return worst;
}

TEST(deflection_is_the_tip_seen_from_the_hinge)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_mixed, deflection_error, 1e-14));
}

SUITE(dyn_tangent_test)
