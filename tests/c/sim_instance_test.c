/* The variable table of robots, and instances of robots and drives side by side behind one interface. */
#include "companion/companion.h"
#include "loaded.h"
#include "sim/point.h"

enum { MOST = 1024, WITHOUT_DRIVES = 6, ROBOTS = 10 };

static const char *const robots[ROBOTS] = {"resources/canadarm-spatial.json", "resources/crane.json",
                                           "resources/four-bar.json",         "resources/two-arms.json",
                                           "resources/dualemps.json",         "resources/parallelogram.json",
                                           "resources/crane-drives.json",     "resources/cibicik-servo-drives.json",
                                           "tests/data/good/f2-drives.json",  "tests/data/good/prescribed.json"};

static const char *const servo = "{\"format\": \"limber-drive/1\", \"drive\": \"servo\"}";
static const struct experiment experiment = {0};

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
        for (int t = 0; t < s; t++) CHECK(instance_state(instance, t) != instance_state(instance, s));
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
    for (int i = 0; i < WITHOUT_DRIVES; i++) {
        struct loaded l;
        loaded_make(&l, robots[i], NULL, NULL);
        check_states(l.instance);
        check_places(l.instance, &l.arena);
        loaded_free(&l);
    }
}

/* Each parameter of a robot has its own limit, with its message */
TEST(limits_are_reported)
{
    struct loaded l;
    struct instance *instance = loaded_make(&l, "resources/canadarm.json", NULL, NULL);
    const struct solver_parameters *solver = &instance_variables(instance)->solver;
    const struct {
        int parameter;
        double good, bad;
    } limit[] = {{solver->max_order, 5, 6},         {solver->method, METHOD_SYMMETRIC, METHODS},
                 {solver->method, 0, 1.5},          {solver->fixed_step, 0, -1e-3},
                 {solver->max_steps, 0, -1},        {solver->dense_jacobian, 1, 2},
                 {solver->relative_tolerance, 0, 1}};
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        CHECK(instance_parameter_error(instance, limit[i].parameter, limit[i].good) == NULL);
        CHECK(instance_parameter_error(instance, limit[i].parameter, limit[i].bad) != NULL);
    }
    CHECK(strcmp(instance_parameter_error(instance, solver->relative_tolerance, 1),
                 "must be 0 (the importer's) or below 1") == 0);
    instance_set(instance, solver->max_order, 2.5);
    CHECK(instance_initialize(instance, &experiment) == STATUS_BAD_ROBOT && l.report.errors == 1);
    loaded_free(&l);
}

/* ---- saved states ----------------------------------------------------------------------------------------------------------- */

/* A robot, or a drive; after initialization by this method */
static struct instance *start_by(struct loaded *l, const char *file, enum method method, double fixed_step)
{
    memset(l, 0, sizeof *l);
    if (file != NULL) loaded_make(l, file, NULL, NULL);
    else CHECK(companion_make(&servo_drive, "servo", servo, &l->report, &l->instance) == STATUS_OK);
    const struct variables *v = instance_variables(l->instance);
    instance_set(l->instance, v->solver.method, method);
    instance_set(l->instance, v->solver.fixed_step, fixed_step);
    CHECK(instance_initialize(l->instance, &experiment) == STATUS_OK);
    return l->instance;
}

/* Ten steps of 1 ms, with an input that jumps and otherwise grows; saves after each of them where there is room for it */
static void step_ten(struct instance *instance, unsigned char *bytes)
{
    const struct stepper *stepper = &instance->stepper;
    int at = 0; /* an input whose rate is one too, if there is one */
    while (at + 1 < stepper->n_inputs && stepper->derivative[at] < 0) at++;
    const int input = stepper->n_inputs > 0 ? stepper->input[at] : -1;
    for (int i = 0; i < 10; i++) {
        CHECK(instance_step(instance, 1e-3) == STATUS_OK);
        if (input >= 0 && i == 4) instance_set(instance, input, 0.01);
        if (input >= 0) instance_set_input_rate(instance, input, 0.7);
        if (bytes != NULL) instance_save(instance, bytes);
    }
}

static bool states_are_equal(const struct instance *a, const struct instance *b)
{
    bool equal = true;
    for (int s = 0; s < instance_variables(a)->n_states; s++)
        equal = equal && *instance_state(a, s) == *instance_state(b, s);
    return equal;
}

/* An instance that takes a saved state, fresh or used by another method, repeats the next steps bit for bit; also with loops,
   spherical joints, lines and drives. Saving changes nothing where the method has no history; CVODE restarts. */
static void check_repeated(const char *file, enum method method, double fixed_step)
{
    struct loaded l[4];
    struct instance *a = start_by(&l[0], file, method, fixed_step), *saving = start_by(&l[1], file, method, fixed_step),
                    *used = start_by(&l[2], file, METHOD_AUTOMATIC, 0),
                    *fresh = start_by(&l[3], file, METHOD_AUTOMATIC, 0);
    unsigned char *bytes = arena_allocate(&l->arena, instance_saved_size(a), 1);
    CHECK(instance_saved_size(a) == instance_saved_size(fresh));
    step_ten(saving, bytes);
    step_ten(used, NULL);
    step_ten(a, NULL);
    CHECK(states_are_equal(a, saving) || method == METHOD_CVODE);
    const double time = instance_time(a);
    instance_save(a, bytes);
    step_ten(a, NULL);
    CHECK(instance_restore(fresh, bytes, true) == STATUS_OK && instance_restore(used, bytes, true) == STATUS_OK);
    CHECK(instance_time(fresh) == time && instance_time(used) == time);
    step_ten(fresh, NULL);
    step_ten(used, NULL);
    CHECK(states_are_equal(a, fresh) && states_are_equal(a, used));
    for (int i = 0; i < 4; i++) loaded_free(&l[i]);
}

TEST(saved_states_of_every_method)
{
    for (int i = 0; i <= ROBOTS; i++)
        for (int method = 0; method < METHODS; method++) {
            const char *file = i < ROBOTS ? robots[i] : NULL;
            check_repeated(file, (enum method)method, 0);
            if (method != METHOD_CVODE && method != METHOD_EXPLICIT) check_repeated(file, (enum method)method, 1e-4);
        }
}

/* d/dt of the states of a drive against a difference over a short step; a reset goes back to the start */
TEST(a_drive_is_an_instance)
{
    const double h = 1e-6;
    double before[MOST], rate[MOST];
    struct loaded l;
    struct instance *instance = start_by(&l, NULL, METHOD_AUTOMATIC, 0);
    const struct variables *v = instance_variables(instance);
    instance_set(instance, named(instance, "reference"), 0.3);
    for (int i = 0; i < 5; i++) CHECK(instance_step(instance, 0.01) == STATUS_OK);
    CHECK(instance_step(instance, h) == STATUS_OK && instance_update(instance) == STATUS_OK);
    for (int s = 0; s < v->n_states; s++) {
        const int r = state_variable(v, s)->reference;
        before[s] = instance_get(instance, r);
        CHECK(instance_output_rate(instance, r, &rate[s]) == STATUS_OK);
    }
    CHECK(instance_step(instance, h) == STATUS_OK);
    for (int s = 0; s < v->n_states; s++) {
        const struct variable *state = state_variable(v, s);
        const double difference = (instance_get(instance, state->reference) - before[s]) / h;
        CHECK_NEAR(difference, rate[s], 1e-2 * (fabs(rate[s]) + state->nominal));
    }
    instance_reset(instance);
    CHECK(instance_time(instance) == 0);
    loaded_free(&l);
}

SUITE(sim_instance_test)
