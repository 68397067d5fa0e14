/* What stands behind an fmi2Component, and how every function begins and ends:
       ENTER(c, fmi2DoStep);           is the call legal here? the table in calls.h knows
       REQUIRE(h > 0, "...", h);       are the arguments?
       return instance_leave(instance, sim_step(...));  */
#ifndef FMI_INSTANCE_H
#define FMI_INSTANCE_H

#include <fmi2Functions.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "fmi/calls.h"
#include "fmi/categories.h"
#include "sim/sim.h"

/* Where the instance stands in the call sequence and in time: saved with the state. */
struct progress {
    enum state state;
    bool stale;     /* initialization mode: something was set since the last sim_initialise()     */
    double point;   /* the importer's clock: end of the last step                            [s]  */
    uint64_t steps; /* communication steps since the start: their rounding adds up                */
    struct sim_experiment experiment;
};

struct instance {
    fmi2Type type;
    fmi2CallbackFunctions functions;
    const char *name;
    struct allocator allocator;  /* of saved states                                  */
    bool logged[CATEGORY_COUNT]; /* asked for; errors are logged in any case         */
    enum call call;              /* the function that runs: messages begin with it   */
    int errors_before;           /* errors that were reported before it              */
    struct progress progress;
    struct report report;
    struct sim *sim;
    const struct variables *variables;
    struct arena arena; /* the instance and its strings                     */
};

/* ---- messages ------------------------------------------------------------------------------------------------------- */

/* Finished text to the importer's logger: every % doubled, no further arguments. Errors always, the rest where asked for. */
PRINTF_LIKE(4, 5)
void instance_log(const struct instance *instance, fmi2Status status, enum category category, const char *format, ...);

/* Logs an error that begins with the function's name; returns fmi2Error. */
PRINTF_LIKE(2, 3)
fmi2Status instance_refuse(const struct instance *instance, const char *format, ...);

/* For struct report: what the simulation has to say. */
void instance_report_line(void *context, enum report_level level, const char *text);

void instance_log_statistics(const struct instance *instance);

/* ---- begin and end of a function ---------------------------------------------------------------------------------------- */

/* The instance, or NULL, with the reason logged, where this function may not be called now. */
struct instance *instance_enter(fmi2Component component, enum call call);

/* The one place where a status becomes an FMI status; what the simulation did not explain itself is explained here. */
fmi2Status instance_leave(struct instance *instance, enum status status);

/* The same where no other state and no smaller step will help: what is not fine is an error. */
fmi2Status instance_fail(struct instance *instance, enum status status);

const char *instance_state_name(enum state state);

#define ENTER(component, function)                                            \
    struct instance *instance = instance_enter((component), CALL_##function); \
    if (instance == NULL) return fmi2Error

#define REQUIRE(condition, ...)                                          \
    do {                                                                 \
        if (!(condition)) return instance_refuse(instance, __VA_ARGS__); \
    } while (0)

#define REQUIRE_ARRAY(count, array) REQUIRE((count) == 0 || (array) != NULL, "the array %s is NULL", #array)

/* ---- shared by several functions ------------------------------------------------------------------------------------------- */

/* In initialization mode: initialises again where something was set since. Elsewhere nothing is to be done. */
enum status instance_settle(struct instance *instance);

/* The variable behind a value reference; NULL, with the reason logged, for an unknown one or another type. */
const struct variable *instance_variable(const struct instance *instance, fmi2ValueReference reference,
                                         enum variable_type type);

bool instance_is_state(const struct instance *instance, const struct variable *variable);

/* Value references are unsigned for FMI and plain int inside; once checked they are the same numbers. */
static inline const int *as_indices(const fmi2ValueReference *reference)
{
    return (const int *)(const void *)reference;
}

#endif
