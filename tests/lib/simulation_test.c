/* Simulations through limber.h alone. */
#include <limber.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static const char robot[] = "resources/canadarm.json";

static void keep_message(void *context, int level, const char *text)
{
    (void)level;
    strncpy(context, text, 255);
}

static limber_simulation *load(char message[256])
{
    limber_simulation *simulation = NULL;
    memset(message, 0, 256);
    CHECK(limber_simulation_read(robot, keep_message, message, &simulation) == LIMBER_OK);
    return simulation;
}

static int find(const limber_simulation *simulation, const char *name)
{
    const int i = limber_simulation_find(simulation, name);
    CHECK(i >= 0);
    return i;
}

static double get(limber_simulation *simulation, const char *name)
{
    double value = NAN;
    CHECK(limber_simulation_get(simulation, find(simulation, name), &value) == LIMBER_OK);
    return value;
}

TEST(variables_are_listed)
{
    char message[256];
    limber_simulation *simulation = load(message);
    const int count = limber_simulation_variables(simulation), i = find(simulation, "upper_joint.tau");
    CHECK(count > 50);
    for (int k = 0; k < count; k++) CHECK(find(simulation, limber_simulation_variable_name(simulation, k)) == k);
    CHECK(limber_simulation_variable_causality(simulation, i) == LIMBER_INPUT);
    CHECK(strcmp(limber_simulation_variable_unit(simulation, i), "N.m") == 0);
    CHECK(strlen(limber_simulation_variable_description(simulation, i)) > 0);
    CHECK(limber_simulation_variable_name(simulation, count) == NULL);
    CHECK(limber_simulation_variable_causality(simulation, -1) == LIMBER_BAD_ARGUMENT);
    CHECK(limber_simulation_find(simulation, "nobody") == LIMBER_NO_NAME);
    limber_simulation_free(simulation);
    limber_simulation_free(NULL);
}

TEST(calls_out_of_order_are_refused)
{
    char message[256];
    limber_simulation *simulation = load(message);
    const int q = find(simulation, "upper_joint.q"), start = find(simulation, "upper_joint.q_start");
    double value;
    CHECK(limber_simulation_step(simulation, 0.1) == LIMBER_BAD_CALL && strstr(message, "not started") != NULL);
    CHECK(limber_simulation_get(simulation, q, &value) == LIMBER_BAD_CALL && strstr(message, "upper_joint.q") != NULL);
    CHECK(limber_simulation_set(simulation, q, 1) == LIMBER_BAD_CALL);
    CHECK(limber_simulation_set(simulation, start, NAN) == LIMBER_BAD_ARGUMENT);
    CHECK(limber_simulation_set(simulation, find(simulation, "solver.max_step"), -1) == LIMBER_BAD_ROBOT);
    CHECK(limber_simulation_set(simulation, start, 0.25) == LIMBER_OK);
    CHECK(limber_simulation_set(simulation, 100000, 1) == LIMBER_BAD_ARGUMENT && strstr(message, "100000") != NULL);
    CHECK(limber_simulation_start(simulation, 0, 2) == LIMBER_BAD_ARGUMENT);
    CHECK(limber_simulation_start(simulation, 3, 0) == LIMBER_OK && limber_simulation_time(simulation) == 3);
    CHECK(get(simulation, "upper_joint.q") == 0.25);
    CHECK(limber_simulation_start(simulation, 0, 0) == LIMBER_BAD_CALL);
    CHECK(limber_simulation_set(simulation, start, 0) == LIMBER_BAD_CALL);
    CHECK(limber_simulation_step(simulation, -1) == LIMBER_BAD_ARGUMENT);
    CHECK(limber_simulation_step(simulation, 0.5) == LIMBER_OK && limber_simulation_time(simulation) == 3.5);
    CHECK(limber_simulation_statistic(simulation, LIMBER_STEPS) > 0);
    CHECK(limber_simulation_statistic(simulation, 99) == -1);
    limber_simulation_reset(simulation);
    CHECK(get(simulation, "upper_joint.q_start") != 0.25);
    CHECK(limber_simulation_start(simulation, 0, 0) == LIMBER_OK && limber_simulation_time(simulation) == 0);
    limber_simulation_free(simulation);
}

/* A copy in another handle continues as the original does */
TEST(a_restored_state_continues_bit_for_bit)
{
    char message[256], other_message[256];
    limber_simulation *simulation = load(message), *other = load(other_message);
    const size_t size = limber_simulation_saved_size(simulation);
    unsigned char *bytes = calloc(1, size);
    CHECK(limber_simulation_save(simulation, bytes, size) == LIMBER_BAD_CALL);
    limber_simulation_set(simulation, find(simulation, "upper_joint.tau"), 3);
    CHECK(limber_simulation_start(simulation, 0, 1e-7) == LIMBER_OK &&
          limber_simulation_step(simulation, 0.3) == LIMBER_OK);
    CHECK(limber_simulation_save(simulation, bytes, size - 1) == LIMBER_BAD_ARGUMENT);
    CHECK(limber_simulation_save(simulation, bytes, size) == LIMBER_OK);
    CHECK(limber_simulation_restore(other, bytes, size) == LIMBER_OK && limber_simulation_time(other) == 0.3);
    for (int i = 0; i < 5; i++) {
        CHECK(limber_simulation_step(simulation, 0.1) == LIMBER_OK && limber_simulation_step(other, 0.1) == LIMBER_OK);
        CHECK(get(simulation, "tip.position[1]") == get(other, "tip.position[1]"));
        CHECK(get(simulation, "upper_joint.qdd") == get(other, "upper_joint.qdd"));
    }
    bytes[size / 2] ^= 1;
    CHECK(limber_simulation_restore(other, bytes, size) == LIMBER_BAD_ARGUMENT &&
          strstr(other_message, "damaged") != NULL);
    CHECK(limber_simulation_restore(other, bytes, 10) == LIMBER_BAD_ARGUMENT);
    bytes[0] ^= 1;
    CHECK(limber_simulation_restore(other, bytes, size) == LIMBER_BAD_ARGUMENT);
    free(bytes);
    limber_simulation_free(simulation);
    limber_simulation_free(other);
}

struct calls {
    int inputs, outputs;
    double last;
};

static int count_inputs(void *context, double time, limber_simulation *simulation)
{
    (void)time, (void)simulation;
    ((struct calls *)context)->inputs++;
    return LIMBER_OK;
}

static int count_outputs(void *context, double time, limber_simulation *simulation)
{
    struct calls *calls = context;
    CHECK_NEAR(limber_simulation_time(simulation), time, 1e-12);
    calls->last = time;
    return ++calls->outputs < 100 ? LIMBER_OK : 77;
}

/* Steps of 0.1 up to 0.25 and on to 0.5; a callback stops the run with its own status */
TEST(a_run_calls_back)
{
    char message[256];
    struct calls calls = {0};
    limber_simulation *simulation = load(message);
    CHECK(limber_simulate(simulation, 0.25, 0.1, count_inputs, count_outputs, &calls) == LIMBER_OK);
    CHECK(calls.outputs == 4 && calls.inputs == 5 && calls.last == 0.25);
    CHECK(limber_simulate(simulation, 0.5, 0.25, NULL, count_outputs, &calls) == LIMBER_OK);
    CHECK(calls.outputs == 6 && calls.last == 0.5);
    CHECK(limber_simulate(simulation, 10, 0.001, NULL, count_outputs, &calls) == 77 && calls.outputs == 100);
    CHECK(limber_simulate(simulation, 10, 0, NULL, NULL, NULL) == LIMBER_BAD_ARGUMENT);
    limber_simulation_free(simulation);
}

TEST(bad_robots_are_refused)
{
    char message[256] = "";
    limber_simulation *simulation;
    CHECK(limber_simulation_read("no/such.json", keep_message, message, &simulation) == LIMBER_NO_FILE);
    CHECK(simulation == NULL && strstr(message, "no/such.json") != NULL);
    CHECK(limber_simulation_parse("text", "[]", keep_message, message, &simulation) == LIMBER_BAD_ROBOT);
    CHECK(simulation == NULL && strstr(message, "text") != NULL);
}

SUITE(main)
