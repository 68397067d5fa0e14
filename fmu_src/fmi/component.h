/* What an fmi2Component points to, and how every function begins and ends:
       ENTER(c, fmi2DoStep);           is the call legal here? the table in calls.h knows
       REQUIRE(h > 0, "...", h);       are the arguments?
       return component_leave(component, instance_step(...));  */
#ifndef FMI_COMPONENT_H
#define FMI_COMPONENT_H

#include <fmi2Functions.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "fmi/calls.h"
#include "fmi/categories.h"
#include "fmi/set.h"
#include "sim/instance.h"

/* The position in the call sequence and in time: saved with the state. */
struct progress {
    enum state state;
    bool stale;     /* initialization mode: something was set since the last instance_initialize()     */
    double point;   /* the importer's clock: end of the last step                            [s]  */
    uint64_t steps; /* communication steps since the start: their rounding adds up                */
    struct experiment experiment;
};

struct component {
    struct fmi_handle handle; /* what boundary.c knows of it */
    fmi2Type type;
    fmi2CallbackFunctions functions;
    const char *name;
    struct allocator allocator;  /* of saved states                                  */
    bool logged[CATEGORY_COUNT]; /* asked for; errors are logged in any case         */
    enum call call;              /* the function that runs: messages begin with it   */
    int errors_before;           /* errors that were reported before it              */
    struct progress progress;
    struct report report;
    struct instance *instance;
    const struct variables *variables;
    struct arena arena; /* the component and its strings                    */
};

/* ---- messages ------------------------------------------------------------------------------------------------------- */

/* The number of a log category; CATEGORY_COUNT where there is none of this name. */
int component_category(const char *name);

/* Finished text to the importer's logger: every % doubled, no further arguments. Errors always, the rest where asked for. */
PRINTF_LIKE(4, 5)
void component_log(const struct component *component, fmi2Status status, enum category category, const char *format,
                   ...);

/* Logs an error that begins with the function's name; returns fmi2Error. */
PRINTF_LIKE(2, 3)
fmi2Status component_error(const struct component *component, const char *format, ...);

/* For struct report: messages of the simulation. */
void component_report_line(void *context, enum report_level level, const char *text);
void component_report_note(void *context, const char *text);

void component_log_statistics(const struct component *component);

/* ---- begin and end of a function ---------------------------------------------------------------------------------------- */

/* The component, or NULL, with the reason logged, where this function may not be called now. */
struct component *component_enter(fmi2Component c, enum call call);

/* The one place where a status becomes an FMI status; adds a reason if the simulation has not reported one. */
fmi2Status component_leave(struct component *component, enum status status);

/* The same where no other state and no smaller step can help: any failure is an error. */
fmi2Status component_fail(struct component *component, enum status status);

const char *component_state_name(enum state state);

#define ENTER(c, function)                                               \
    struct component *component = component_enter((c), CALL_##function); \
    if (component == NULL) return fmi2Error

#define REQUIRE(condition, ...)                                           \
    do {                                                                  \
        if (!(condition)) return component_error(component, __VA_ARGS__); \
    } while (0)

#define REQUIRE_ARRAY(count, array) REQUIRE((count) == 0 || (array) != NULL, "the array %s is NULL", #array)

/* ---- shared by several functions ------------------------------------------------------------------------------------------- */

/* In initialization mode: initializes again where something was set since. Elsewhere there is nothing to do. */
enum status component_initialize(struct component *component);

/* The variable behind a value reference; NULL, with the reason logged, for an unknown one or another type. */
const struct variable *component_variable(const struct component *component, fmi2ValueReference reference,
                                          enum variable_type type);

/* Value references are unsigned for FMI and plain int inside; once checked they are the same numbers. */
static inline const int *as_indices(const fmi2ValueReference *reference)
{
    return (const int *)(const void *)reference;
}

#endif
