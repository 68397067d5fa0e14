/* Derivatives of closed robots in any direction against differences of eighth order, on and off the loops. */
#include "math/vec.h"
#include "oracle/closed.h"
#include "oracle/laws.h"
#include "test.h"

enum { ROBOTS = 60 };

/* The state made ready for directions; the input with the loads of the loops */
static struct input prepare(struct specimen *s, double *qdd)
{
    CHECK(mechanism_forward(&s->mechanism, &s->in, qdd) == STATUS_OK);
    const struct input in = mechanism_loaded(&s->mechanism, &s->in);
    dyn_inverse(s->model, s->work, &in, qdd, s->force);
    dyn_velocity(s->model, s->work, &in);
    dyn_observe(s->model, s->work, &in, qdd);
    elements_measure(&s->mechanism, &in);
    return in;
}

/* Multipliers in units of the acceleration that one makes in the state of the first evaluation */
static void put_scaled(const struct specimen *s, const double *unit, const double *lambda, struct values *v)
{
    double scaled[MOST_ROWS];
    const int rows = s->mechanism.constraints->n_rows;
    for (int i = 0; i < rows; i++) scaled[i] = unit[i] * lambda[i];
    values_put(v, LAMBDA, rows, scaled);
}

/* Gaps of elastic couplings, and their forces in units of their stiffness */
static void put_couplings(struct specimen *s, bool changes, struct values *v)
{
    for (int i = 0; i < s->mechanism.n_elements; i++) {
        const struct force_element *e = &s->mechanism.element[i];
        double number[ELEMENT_NUMBERS];
        if (e->kind != &coupling_element) continue;
        element_numbers(e, changes, number);
        const double twist = number[ELEMENT_FORCE] / s->robot->coupling[e->part].stiffness;
        values_put(v, POSE, 1, &number[ELEMENT_X]);
        values_put(v, VELOCITY, 1, &twist);
    }
}

static void evaluate(struct specimen *s, void *unit, struct values *v)
{
    double qdd[MOST];
    prepare(s, qdd);
    values_put(v, QDD, s->nv, qdd);
    put_scaled(s, unit, s->mechanism.constraints->lambda, v);
    values_put_frames(v, s);
    for (int i = 0; i < s->robot->n_lines; i++) {
        const struct force_element *line = &s->mechanism.element[i];
        values_put(v, POSE, 1, &line->x);
        values_put(v, VELOCITY, 1, &line->rate);
    }
    put_couplings(s, false, v);
}

static void differentiate(struct specimen *s, void *unit, const struct direction *direction, struct values *v)
{
    struct tangent *tangent = s->mechanism.tangent;
    double qdd[MOST], dqdd[MOST], alone[MOST];
    const struct input in = prepare(s, qdd);
    dyn_tangent_state(s->model, s->work, tangent, &in, qdd);
    dyn_tangent_observe_state(s->model, s->work, tangent, &in, qdd);
    mechanism_tangent(&s->mechanism, &in, direction, false, alone);
    mechanism_tangent(&s->mechanism, &in, direction, true, dqdd);
    dyn_tangent_observe(s->model, s->work, tangent);
    values_put(v, QDD, s->nv, dqdd);
    put_scaled(s, unit, s->mechanism.constraints->dlambda, v);
    dyn_mass_matrix(s->model, s->work);
    CHECK_NEAR(mass_distance(s, dqdd, alone), 0,
               1e-9 * (mass_norm(s, qdd) + mass_norm(s, dqdd) + norm(v->count[LAMBDA], v->y[LAMBDA])));
    values_put_frame_changes(v, s, tangent);
    for (int i = 0; i < s->robot->n_lines; i++) {
        values_put(v, POSE, 1, &s->mechanism.element[i].dx);
        values_put(v, VELOCITY, 1, &s->mechanism.element[i].drate);
    }
    put_couplings(s, true, v);
}

static const struct differentiable closed_tree = {evaluate, differentiate};

/* Robots whose equations are nearly dependent are left out: differences lose as many digits */
static bool is_regular(struct specimen *s)
{
    double qdd[MOST];
    prepare(s, qdd);
    return s->mechanism.constraints->n_active == 0 || closed_independence(s) > 1e-3;
}

static void compare(struct specimen *s, const struct arrow *along, struct errors *errors)
{
    double error[PARTS], qdd[MOST], unit[MOST_ROWS];
    prepare(s, qdd);
    closed_units(s, unit);
    slope_errors(s, &closed_tree, unit, along, errors, error);
    for (int k = 0; k < PARTS; k++) CHECK_NEAR(error[k], 0, slope_tolerance[k]);
}

/* Up to two loops of every type, and with `lines` up to three lines, whose forces turn with their lines; or couplings */
static void try_random_directions(int type, bool lines, bool coupled)
{
    static struct arrow along;
    struct random random = {17};
    struct errors errors = {0};
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen s;
        CHECK(closed_random(&s, seed, type, lines || coupled ? seed % 2 : 1 + seed % 2, seed % 2 == 0));
        if (lines) CHECK(closed_add_lines(&s, &random, 1 + seed % 3));
        if (coupled) CHECK(closed_add_couplings(&s, &random, seed % 2 == 0));
        const int failed = test_failed_checks;
        arrow_random(&s, &random, &along);
        if (is_regular(&s)) compare(&s, &along, &errors);
        if (failed != test_failed_checks)
            printf("     seed %d, type %d%s\n", seed, type, lines ? ", lines" : coupled ? ", couplings" : "");
        specimen_free(&s);
    }
    CHECK_COVERAGE(errors.count > ROBOTS / 2);
    print_errors(&errors);
}

TEST(random_directions_agree_with_differences)
{
    for (int type = ANY_LOOP; type <= LOOP_WELD; type++) try_random_directions(type, false, false);
    try_random_directions(ANY_LOOP, true, false);
    try_random_directions(LOOP_WELD, true, false);
    try_random_directions(ANY_LOOP, false, true);
    try_random_directions(ANY_LOOP, true, true);
}

/* One coordinate, torque, wrench at a time: what is inboard stands still, and is left out of the sweep */
TEST(unit_directions_agree_with_differences)
{
    static struct arrow along;
    struct errors errors = {0};
    for (int seed = 0; seed < test_sample(24); seed++) {
        struct specimen s;
        CHECK(closed_random(&s, seed, seed % 4, seed % 3 > 0, seed % 8 < 4));
        for (int j = 0; is_regular(&s) && arrow_unit(&s, j, &along); j++) compare(&s, &along, &errors);
        specimen_free(&s);
    }
    CHECK_COVERAGE(errors.count > 400);
    print_errors(&errors);
}

static int make(struct specimen *s, int seed)
{
    struct random random = {(uint64_t)seed + 19};
    return closed_random(s, seed, ANY_LOOP, seed % 3, seed % 2 == 0) &&
           (seed % 5 != 0 || closed_add_lines(s, &random, 2)) &&
           (seed % 4 != 1 || closed_add_couplings(s, &random, seed % 2 == 0));
}

/* Columns are another elimination than a direction: rounding differs, and near singular poses it grows. */
static double jacobian_error(struct specimen *s)
{
    static double by_q[MOST * MOST], by_qd[MOST * MOST];
    double qdd[MOST], dqdd[MOST], one[MOST] = {0}, worst = 0;
    if (!is_regular(s)) return LEFT_OUT;
    const struct input in = prepare(s, qdd);
    dyn_tangent_state(s->model, s->work, s->mechanism.tangent, &in, qdd);
    mechanism_jacobian(&s->mechanism, &in, by_q, by_qd);
    for (int j = 0; j < 2 * s->nv; j++) {
        const double *column = j < s->nv ? by_q + s->nv * j : by_qd + s->nv * (j - s->nv);
        one[j % s->nv] = 1;
        const struct direction along = {.q = j < s->nv ? one : NULL, .qd = j < s->nv ? NULL : one};
        mechanism_tangent(&s->mechanism, &in, &along, false, dqdd);
        one[j % s->nv] = 0;
        worst = larger(worst, distance(s->nv, column, dqdd) / (1 + norm(s->nv, qdd) + norm(s->nv, dqdd)));
    }
    return worst;
}

TEST(jacobian_is_unit_directions)
{
    CHECK(law_holds(test_sample(ROBOTS), make, jacobian_error, 1e-10));
}

static int make_ball(struct specimen *s, int seed)
{
    return closed_random(s, seed, LOOP_BALL, 1, true);
}

/* In the direction of time closed loops stay closed: their joined points move alike. No differences. */
static double points_part(struct specimen *s)
{
    double qdd[MOST], dqdd[MOST], change[2][3];
    const struct input in = prepare(s, qdd);
    if (s->mechanism.constraints->n_active != 3) return LEFT_OUT;
    dyn_tangent_state(s->model, s->work, s->mechanism.tangent, &in, qdd);
    mechanism_tangent(&s->mechanism, &in, &(struct direction){.q = s->qd, .qd = qdd}, true, dqdd);
    for (int side = 0; side < 2; side++) {
        struct frame_derivative d;
        dyn_tangent_frame(s->work, s->mechanism.tangent, &s->model->site[s->robot->loop[0].site + side], &d);
        copy3(d.v, change[side]);
    }
    return distance(3, change[0], change[1]) / (1 + norm(s->nv, qdd));
}

TEST(along_the_flow_loops_stay_closed)
{
    CHECK(law_holds(test_sample(ROBOTS), make_ball, points_part, 1e-11));
}

SUITE(mech_tangent_test)
