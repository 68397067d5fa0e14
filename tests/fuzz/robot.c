/* A robot file: the reader; if it is valid and not large, model, initialization, a step and all outputs. */
#include "fuzz.h"
#include "robot/read.h"
#include "sim/sim.h"

/* Larger ones are read only: their steps are slow under the sanitizers, not different. */
enum { LINKS_STEPPED = 20, MODES_STEPPED = 24 };

static bool is_small(const struct robot *robot)
{
    int modes = 0;
    for (int i = 0; i < robot->n_links; i++) modes += robot_link_modes(&robot->link[i]);
    return robot->n_links <= LINKS_STEPPED && modes <= MODES_STEPPED;
}

static void simulate(const char *text)
{
    struct report silent = {0};
    struct instance *sim = NULL;
    if (sim_make("robot", text, &silent, &sim) == STATUS_OK) {
        const struct variables *v = instance_variables(sim);
        const struct experiment experiment = {.tolerance = 1e-4};
        instance_set(sim, v->solver.max_steps, FUZZ_MAX_STEPS);
        if (instance_initialize(sim, &experiment) == STATUS_OK && instance_step(sim, 1e-3) == STATUS_OK &&
            instance_update(sim) == STATUS_OK)
            for (int r = 0; r < v->n_values; r++) (void)instance_get(sim, r);
    }
    instance_free(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct report silent = {0};
    struct robot *robot = NULL;
    char *text = text_of(data, size);
    if (robot_read_text("robot", text, &robot, &silent) == STATUS_OK && is_small(robot)) simulate(text);
    robot_free(robot);
    free(text);
    return 0;
}
