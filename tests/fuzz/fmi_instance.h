/* Instances through the fmi2 functions, for the harnesses of calls and of saved states. */
#ifndef FUZZ_FMI_INSTANCE_H
#define FUZZ_FMI_INSTANCE_H

#include <fmi2Functions.h>

#include "fuzz.h"
#include "sim/sim.h"

static inline struct instance *fuzz_table(int robot) /* for the variables and the guid */
{
    static struct instance *made[FUZZ_ROBOTS];
    struct report silent = {0};
    if (made[robot] == NULL && sim_make("robot", fuzz_robot[robot], &silent, &made[robot]) != STATUS_OK) abort();
    return made[robot];
}

static inline fmi2ValueReference fuzz_reference(int robot, const char *name)
{
    const struct variables *v = instance_variables(fuzz_table(robot));
    const int row = variables_find(v, name);
    if (row < 0) abort();
    return (fmi2ValueReference)v->row[row].reference;
}

static inline void fuzz_log(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status,
                            fmi2String category, fmi2String message, ...)
{
    (void)environment, (void)name, (void)status, (void)category;
    if (strlen(message) > 100000) abort();
}

static inline void fuzz_limit(int robot, fmi2Component c)
{
    const fmi2ValueReference reference = fuzz_reference(robot, "solver.max_steps");
    const fmi2Integer most = FUZZ_MAX_STEPS;
    (void)fmi2SetInteger(c, &reference, 1, &most);
}

/* Is the limit still what it was? A restored state may have another one. */
static inline bool fuzz_limited(int robot, fmi2Component c)
{
    const fmi2ValueReference reference = fuzz_reference(robot, "solver.max_steps");
    fmi2Integer most = 0;
    return fmi2GetInteger(c, &reference, 1, &most) == fmi2OK && most > 0 && most <= FUZZ_MAX_STEPS;
}

static inline fmi2Component fuzz_instantiate(int robot, fmi2Type type)
{
    static const fmi2CallbackFunctions functions = {fuzz_log, calloc, free, NULL, NULL};
    fmi2Component c = fmi2Instantiate("fuzz", type, instance_guid(fuzz_table(robot)), fuzz_resources(robot), &functions,
                                      fmi2False, fmi2False);
    if (c == NULL) abort();
    fuzz_limit(robot, c);
    return c;
}

#endif
