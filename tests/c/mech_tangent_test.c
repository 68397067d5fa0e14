/* Derivatives of closed robots in any direction against differences of eighth order, on and off the loops. */
#include "test.h"

#include <string.h>

#include "math/vec.h"
#include "oracle/closed.h"

enum { ROBOTS = 60 };

static const char *const name[] = {"any", "ball", "planar-pin", "pin", "weld"};

/* The state made ready for directions; the input with the loads of the loops */
static struct input prepare(struct closed *c, double *qdd)
{
    struct specimen *s = &c->s;
    CHECK(mechanism_forward(&c->s.mechanism, &s->in, qdd) == STATUS_OK);
    const struct input in = mechanism_loaded(&c->s.mechanism, &s->in);
    dyn_inverse(s->model, s->work, &in, qdd, s->force);
    dyn_velocity(s->model, s->work, &in);
    dyn_observe(s->model, s->work, &in, qdd);
    actuators_measure(&c->s.mechanism);
    return in;
}

/* Multipliers in units of the acceleration that one makes in the state of the first evaluation */
struct context {
    struct closed *closed;
    double unit[MOST_ROWS];
};

static void put_scaled(const struct context *context, const double *lambda, struct values *v)
{
    double scaled[MOST_ROWS];
    const int rows = context->closed->s.mechanism.constraints->n_rows;
    for (int i = 0; i < rows; i++) scaled[i] = context->unit[i] * lambda[i];
    values_put(v, LAMBDA, rows, scaled);
}

static void evaluate(struct specimen *s, void *of, struct values *v)
{
    const struct context *context = of;
    double qdd[MOST];
    prepare(context->closed, qdd);
    values_put(v, QDD, s->nv, qdd);
    put_scaled(context, context->closed->s.mechanism.constraints->lambda, v);
    values_put_frames(v, s);
    for (int i = 0; i < s->robot->n_actuators; i++) {
        const struct line *line = &s->mechanism.actuators->line[i];
        values_put(v, POSE, 1, &line->length);
        values_put(v, VELOCITY, 1, &line->rate);
    }
}

static void differentiate(struct specimen *s, void *of, const struct direction *direction, struct values *v)
{
    const struct context *context = of;
    struct closed *c = context->closed;
    double qdd[MOST], dqdd[MOST], alone[MOST];
    const struct input in = prepare(c, qdd);
    dyn_tangent_state(s->model, s->work, c->s.mechanism.tangent, &in, qdd);
    dyn_tangent_observe_state(s->model, s->work, c->s.mechanism.tangent, &in, qdd);
    mechanism_tangent(&c->s.mechanism, &in, direction, false, alone);
    mechanism_tangent(&c->s.mechanism, &in, direction, true, dqdd);
    dyn_tangent_observe(s->model, s->work, c->s.mechanism.tangent, dqdd);
    values_put(v, QDD, s->nv, dqdd);
    put_scaled(context, c->s.mechanism.constraints->dlambda, v);
    dyn_mass_matrix(s->model, s->work);
    CHECK_NEAR(mass_distance(s, dqdd, alone), 0,
               1e-9 * (mass_norm(s, qdd) + mass_norm(s, dqdd) + norm(v->count[LAMBDA], v->y[LAMBDA])));
    values_put_frame_changes(v, s, c->s.mechanism.tangent);
    for (int i = 0; i < s->robot->n_actuators; i++) {
        double length, rate;
        actuators_change(&c->s.mechanism, i, &length, &rate);
        values_put(v, POSE, 1, &length);
        values_put(v, VELOCITY, 1, &rate);
    }
}

static const struct differentiable closed_tree = {evaluate, differentiate};

static void compare(struct closed *c, const struct arrow *along, const char *what, struct errors *errors)
{
    struct context context = {.closed = c};
    double error[PARTS], qdd[MOST];
    prepare(c, qdd);
    closed_units(c, context.unit);
    slope_errors(&c->s, &closed_tree, &context, along, errors, error);
    for (int k = 0; k < PARTS; k++) {
        if (!(error[k] <= slope_tolerance[k])) printf("     %s: part %d\n", what, k);
        CHECK_NEAR(error[k], 0, slope_tolerance[k]);
    }
}

/* Robots whose equations are nearly dependent are left out: differences lose as many digits */
TEST(random_directions_agree_with_differences)
{
    static struct arrow along;
    struct random random = {17};
    for (int type = ANY_LOOP; type <= LOOP_WELD; type++) {
        struct errors errors = {0};
        for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
            struct closed c;
            double qdd[MOST];
            char what[80];
            snprintf(what, sizeof what, "%s, seed %d", name[type + 1], seed);
            CHECK(closed_random(&c, seed, type, 1 + seed % 2, seed % 2 == 0));
            prepare(&c, qdd);
            arrow_random(&c.s, &random, &along);
            if (c.s.mechanism.constraints->n_active > 0 && closed_independence(&c) > 1e-3)
                compare(&c, &along, what, &errors);
            closed_free(&c);
        }
        printf("     %s: %d robots\n", name[type + 1], errors.count);
        CHECK_COVERAGE(errors.count > ROBOTS / 2);
        print_errors(&errors);
    }
}

/* One coordinate, torque, wrench at a time */
TEST(unit_directions_agree_with_differences)
{
    static struct arrow along;
    struct errors errors = {0};
    for (int seed = 0; seed < test_sample(16); seed++) {
        struct closed c;
        double qdd[MOST];
        char what[80];
        CHECK(closed_random(&c, seed, seed % 4, 1, seed % 8 < 4));
        prepare(&c, qdd);
        for (int j = 0; closed_independence(&c) > 1e-3 && arrow_unit(&c.s, j, &along); j++) {
            snprintf(what, sizeof what, "%s, seed %d, direction %d", name[seed % 4 + 1], seed, j);
            compare(&c, &along, what, &errors);
        }
        closed_free(&c);
    }
    CHECK(errors.count > 200);
    print_errors(&errors);
}

/* Their forces turn with their lines: lengths, rates, and all the rest */
TEST(actuators_agree_with_differences)
{
    static struct arrow along;
    struct random random = {18};
    struct errors errors = {0};
    for (int seed = 0; seed < 2 * ROBOTS; seed++) {
        struct closed c;
        double qdd[MOST];
        char what[80];
        snprintf(what, sizeof what, "actuators, seed %d", seed);
        CHECK(closed_random(&c, seed, ANY_LOOP, seed % 2, seed % 4 == 1));
        CHECK(closed_add_actuators(&c, &random, 1 + seed % 3));
        prepare(&c, qdd);
        arrow_random(&c.s, &random, &along);
        if (c.s.mechanism.constraints->n_active == 0 || closed_independence(&c) > 1e-3)
            compare(&c, &along, what, &errors);
        closed_free(&c);
    }
    CHECK(errors.count > ROBOTS);
    print_errors(&errors);
}

TEST(jacobian_is_unit_directions)
{
    static double by_q[MOST * MOST], by_qd[MOST * MOST];
    double qdd[MOST], dqdd[MOST], one[MOST] = {0}, worst = 0;
    struct random random = {19};
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct closed c;
        CHECK(closed_random(&c, seed, ANY_LOOP, seed % 3, seed % 2 == 0));
        if (seed % 5 == 0) CHECK(closed_add_actuators(&c, &random, 2));
        struct specimen *s = &c.s;
        const struct input in = prepare(&c, qdd);
        dyn_tangent_state(s->model, s->work, c.s.mechanism.tangent, &in, qdd);
        mechanism_jacobian(&c.s.mechanism, &in, by_q, by_qd);
        for (int j = 0; j < 2 * s->nv; j++) {
            const double *column = j < s->nv ? by_q + s->nv * j : by_qd + s->nv * (j - s->nv);
            one[j % s->nv] = 1;
            mechanism_tangent(&c.s.mechanism, &in,
                              &(struct direction){.q = j < s->nv ? one : NULL, .qd = j < s->nv ? NULL : one}, false,
                              dqdd);
            one[j % s->nv] = 0;
            const double error = distance(s->nv, column, dqdd) / (1 + norm(s->nv, qdd) + norm(s->nv, dqdd));
            /* columns are closed by G dqdd, a direction by its frames: rounding differs, and near singular poses it grows.
               They serve Newton's iteration alone. */
            CHECK_NEAR(error, 0, 1e-8);
            worst = fmax(worst, error);
        }
        closed_free(&c);
    }
    printf("     worst %.1e\n", worst);
}

/* In the direction of time closed loops stay closed: their joined points move alike. No differences. */
TEST(along_the_flow_loops_stay_closed)
{
    double qdd[MOST], dqdd[MOST], worst = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct closed c;
        CHECK(closed_random(&c, seed, LOOP_BALL, 1, true));
        struct specimen *s = &c.s;
        const struct input in = prepare(&c, qdd);
        dyn_tangent_state(s->model, s->work, c.s.mechanism.tangent, &in, qdd);
        mechanism_tangent(&c.s.mechanism, &in, &(struct direction){.q = s->qd, .qd = qdd}, true, dqdd);
        double change[2][3];
        for (int side = 0; side < 2; side++) {
            struct frame_derivative d;
            dyn_tangent_frame(s->work, c.s.mechanism.tangent, &s->model->loop_side[0][side], &d);
            copy3(d.v, change[side]);
        }
        const double error = distance(3, change[0], change[1]) / (1 + norm(s->nv, qdd));
        if (c.s.mechanism.constraints->n_active == 3) CHECK_NEAR(error, 0, 1e-11);
        if (c.s.mechanism.constraints->n_active == 3) worst = fmax(worst, error);
        closed_free(&c);
    }
    printf("     worst %.1e\n", worst);
}

SUITE(mech_tangent_test)
