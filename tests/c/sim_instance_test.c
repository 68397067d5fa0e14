/* The variable table of robots, and instances of robots and drives side by side behind one interface. */
#include "test.h"

#include <string.h>

#include "companion/companion.h"
#include "robot/read.h"
#include "sim/point.h"
#include "sim/sim.h"

enum { MOST = 1024, ROBOTS = 6 };

static const char *const robots[ROBOTS] = {"resources/canadarm-spatial.json", "resources/crane.json",
                                           "resources/four-bar.json",         "resources/two-arms.json",
                                           "resources/dualemps.json",         "resources/parallelogram.json"};

static struct instance *make_robot(const char *file, struct arena *arena, struct report *report)
{
    struct instance *instance = NULL;
    const char *text = document_load(file, arena, report);
    const struct experiment experiment = {0};
    CHECK(text != NULL && sim_make(file, text, report, &instance) == STATUS_OK);
    CHECK(instance_initialize(instance, &experiment) == STATUS_OK);
    return instance;
}

static const struct variable *state_variable(const struct variables *v, int s)
{
    return &v->row[v->state[s]];
}

/* Every state has a place of its own, a derivative, a nominal value, and one parameter that is its start */
static void check_states(const struct instance *instance)
{
    const struct variables *v = instance_variables(instance);
    int starts[MOST] = {0};
    for (int r = 0; r < v->n_values; r++) {
        CHECK(v->by_reference[r]->reference == r);
        if (v->by_reference[r]->start_of >= 0) starts[v->by_reference[r]->start_of]++;
    }
    for (int s = 0; s < v->n_states; s++) {
        const struct variable *state = state_variable(v, s), *derivative = &v->row[v->derivative[s]];
        CHECK(state->state == s && starts[s] == 1 && state->nominal > 0);
        CHECK(derivative->derivative_of == v->state[s] && derivative->reference == state->rate);
        CHECK(derivative->state < 0);
        for (int t = 0; t < s; t++) CHECK(instance->state[t] != instance->state[s]);
    }
}

/* States, inputs and tunable parameters have a place in a point, no two the same */
static void check_places(struct instance *instance, struct arena *arena)
{
    const struct variables *v = instance_variables(instance);
    struct point point;
    point_make(sim_model(instance), arena, &point);
    for (int r = 0; r < v->n_values; r++) {
        double *place = variable_place(v->by_reference[r], &point);
        const bool known = v->by_reference[r]->state >= 0 || v->by_reference[r]->causality == CAUSALITY_INPUT ||
                           v->by_reference[r]->variability == VARIABILITY_TUNABLE;
        CHECK((place != NULL) == known);
        if (place == NULL) continue;
        CHECK(*place == 0);
        *place = 1;
    }
}

TEST(states_and_inputs_have_places)
{
    for (int i = 0; i < ROBOTS; i++) {
        struct arena arena = {0};
        struct report report = {0};
        struct instance *instance = make_robot(robots[i], &arena, &report);
        check_states(instance);
        check_places(instance, &arena);
        instance_free(instance);
        arena_release(&arena);
    }
}

/* Steps that are repeated from a saved state are the same, bit for bit */
static void check_saved(struct instance *instance, struct arena *arena)
{
    const struct variables *v = instance_variables(instance);
    unsigned char *bytes = arena_allocate(arena, instance_saved_size(instance), 1);
    double *first = arena_allocate(arena, (size_t)v->n_values, sizeof *first);
    CHECK(bytes != NULL && first != NULL);
    CHECK(instance_step(instance, 0.01) == STATUS_OK);
    instance_save(instance, bytes);
    for (int run = 0; run < 2; run++) {
        for (int i = 0; i < 3; i++) CHECK(instance_step(instance, 0.01) == STATUS_OK);
        CHECK(instance_update(instance) == STATUS_OK);
        for (int r = 0; r < v->n_values; r++) {
            if (run == 0) first[r] = instance_get(instance, r);
            else CHECK(first[r] == instance_get(instance, r));
        }
        CHECK(instance_restore(instance, bytes, true) == STATUS_OK);
        CHECK_NEAR(instance_time(instance), 0.01, 1e-15);
    }
}

/* d/dt of the outputs against a difference over a short step */
static void check_rates(struct instance *instance, double tolerance)
{
    const struct variables *v = instance_variables(instance);
    const double h = 1e-6;
    double before[MOST], rate[MOST];
    CHECK(v->n_values <= MOST && instance_step(instance, h) == STATUS_OK && instance_update(instance) == STATUS_OK);
    for (int s = 0; s < v->n_states; s++) {
        const int r = state_variable(v, s)->reference;
        before[s] = instance_get(instance, r);
        CHECK(instance_output_rate(instance, r, &rate[s]) == STATUS_OK);
    }
    CHECK(instance_step(instance, h) == STATUS_OK);
    for (int s = 0; s < v->n_states; s++) {
        const struct variable *state = state_variable(v, s);
        const double difference = (instance_get(instance, state->reference) - before[s]) / h;
        CHECK_NEAR(difference, rate[s], tolerance * (fabs(rate[s]) + state->nominal));
    }
}

TEST(a_robot_and_a_drive_are_instances)
{
    struct arena arena = {0};
    struct report report = {0};
    struct instance *instance[2] = {make_robot("resources/crane.json", &arena, &report), NULL};
    const struct experiment experiment = {0};
    CHECK(companion_make(&servo_drive, "servo", "{\"format\": \"limber-drive/1\", \"drive\": \"servo\"}", &report,
                         &instance[1]) == STATUS_OK);
    CHECK(instance_initialize(instance[1], &experiment) == STATUS_OK);
    instance_set(instance[1], variables_find(instance_variables(instance[1]), "reference"), 0.3);
    for (int i = 0; i < 2; i++) {
        check_saved(instance[i], &arena);
        check_rates(instance[i], 1e-2);
        instance_reset(instance[i]);
        CHECK(instance_time(instance[i]) == 0);
        instance_free(instance[i]);
    }
    arena_release(&arena);
}

/* Each parameter of a robot has its own limit, with its message */
TEST(limits_are_reported)
{
    struct arena arena = {0};
    struct report report = {0};
    struct instance *instance = make_robot("resources/canadarm.json", &arena, &report);
    const struct variables *v = instance_variables(instance);
    const int order = v->solver.max_order, tolerance = v->solver.relative_tolerance;
    CHECK(instance_parameter_error(instance, order, 5) == NULL);
    CHECK(instance_parameter_error(instance, order, 6) != NULL);
    CHECK(strcmp(instance_parameter_error(instance, tolerance, 1), "must be 0 (the importer's) or below 1") == 0);
    CHECK(instance_parameter_error(instance, v->solver.method, METHOD_SYMMETRIC) == NULL);
    CHECK(instance_parameter_error(instance, v->solver.method, METHODS) != NULL);
    CHECK(instance_parameter_error(instance, v->solver.method, 1.5) != NULL);
    CHECK(instance_parameter_error(instance, v->solver.fixed_step, -1e-3) != NULL);
    CHECK(instance_parameter_error(instance, v->solver.max_steps, 0) == NULL);
    CHECK(instance_parameter_error(instance, v->solver.max_steps, -1) != NULL);
    CHECK(instance_parameter_error(instance, v->solver.dense_jacobian, 2) != NULL);
    instance_set(instance, order, 2.5);
    const struct experiment experiment = {0};
    CHECK(instance_initialize(instance, &experiment) == STATUS_BAD_ROBOT && report.errors == 1);
    instance_free(instance);
    arena_release(&arena);
}

/* ---- methods ---------------------------------------------------------------------------------------------------------------- */

static struct instance *start_by(const char *file, enum method method, double fixed_step, struct arena *arena,
                                 struct report *report)
{
    struct instance *instance = make_robot(file, arena, report);
    const struct variables *v = instance_variables(instance);
    const struct experiment experiment = {0};
    instance_set(instance, v->solver.method, method);
    instance_set(instance, v->solver.fixed_step, fixed_step);
    CHECK(instance_initialize(instance, &experiment) == STATUS_OK);
    return instance;
}

/* Ten steps of 1 ms, with an input that jumps */
static void step_ten(struct instance *instance)
{
    const int input = instance->stepper.n_inputs > 0 ? instance->stepper.input[0] : -1;
    for (int i = 0; i < 10; i++) {
        if (input >= 0) instance_set(instance, input, 0.01 * (i % 3));
        CHECK(instance_step(instance, 1e-3) == STATUS_OK);
    }
}

static void compare_states(const struct instance *a, const struct instance *b)
{
    for (int s = 0; s < instance_variables(a)->n_states; s++) CHECK(*a->state[s] == *b->state[s]);
}

/* A fresh instance that takes a saved state repeats the next steps bit for bit; also with loops, spherical joints and actuators */
static void check_repeated(const char *file, enum method method, double fixed_step)
{
    struct arena arena = {0};
    struct report report = {0};
    struct instance *a = start_by(file, method, fixed_step, &arena, &report), *b = make_robot(file, &arena, &report);
    unsigned char *bytes = arena_allocate(&arena, instance_saved_size(a), 1);
    step_ten(a);
    instance_save(a, bytes);
    step_ten(a);
    CHECK(instance_saved_size(a) == instance_saved_size(b));
    CHECK(instance_restore(b, bytes, true) == STATUS_OK);
    step_ten(b);
    compare_states(a, b);
    instance_free(a);
    instance_free(b);
    arena_release(&arena);
}

TEST(saved_states_of_every_method)
{
    for (int i = 0; i < ROBOTS; i++)
        for (int method = 0; method < METHODS; method++) {
            check_repeated(robots[i], (enum method)method, 0);
            if (method != METHOD_CVODE && method != METHOD_EXPLICIT)
                check_repeated(robots[i], (enum method)method, 1e-4);
        }
}

SUITE(sim_instance_test)
