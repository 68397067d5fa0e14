/* What an fmi2Component points to, and how every function begins and ends:
       ENTER(c, fmi2DoStep);           returns fmi2Error if the table in calls.h does not allow the call in this state
       REQUIRE(h > 0, "...", h);       likewise if an argument is not valid
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

/* The position in the call sequence and in time, saved with the state. */
struct progress {
    enum state state;
    bool stale;     /* in initialization mode: a value was set since the last instance_initialize()    */
    double point;   /* the importer's clock: end of the last step                            [s]  */
    uint64_t steps; /* communication steps since the start, whose rounding errors add up          */
    struct experiment experiment;
};

struct component {
    struct fmi_handle handle; /* for boundary.c */
    fmi2Type type;
    fmi2CallbackFunctions functions;
    const char *name;
    struct allocator allocator;  /* for saved states                                 */
    bool logged[CATEGORY_COUNT]; /* categories to log; errors are logged in any case */
    enum call call;              /* the present function: messages begin with it     */
    int errors_before;           /* errors that were reported before this call       */
    struct progress progress;
    struct report report;
    struct instance *instance;
    const struct variables *variables;
    struct arena arena; /* the component and its strings                    */
};

/* ---- messages ------------------------------------------------------------------------------------------------------- */

/* The number of a log category; CATEGORY_COUNT: none has this name. */
int component_category(const char *name);

/* Passes a message to the importer's logger, with every % doubled and without further arguments, if it is an error or its category is
   logged. */
PRINTF_LIKE(4, 5)
void component_log(const struct component *component, fmi2Status status, enum category category, const char *format,
                   ...);

/* Logs an error that begins with the function's name; returns fmi2Error. */
PRINTF_LIKE(2, 3)
fmi2Status component_error(const struct component *component, const char *format, ...);

/* Messages of the simulation, as functions of struct report. */
void component_report_line(void *context, enum report_level level, const char *text);
void component_report_note(void *context, const char *text);

void component_log_statistics(const struct component *component);

/* ---- begin and end of a function ---------------------------------------------------------------------------------------- */

/* The component, or NULL, with the reason logged, if this function may not be called now. */
struct component *component_enter(fmi2Component c, enum call call);

/* The only function that maps a status to an FMI status; logs the failure reason unless the simulation has reported it. */
fmi2Status component_leave(struct component *component, enum status status);

/* The same for calls for which no other state and no smaller step can help: any failure is an error. */
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

/* In initialization mode: initializes the instance again if a value was set since the last time. Does nothing in other states. */
enum status component_initialize(struct component *component);

/* The variable behind a value reference; NULL, with the reason logged, for an unknown one or another type. */
const struct variable *component_variable(const struct component *component, fmi2ValueReference reference,
                                          enum variable_type type);

/* Value references are unsigned in FMI and int in the simulation; once they are checked, they are the same numbers. */
static inline const int *as_indices(const fmi2ValueReference *reference)
{
    return (const int *)(const void *)reference;
}

#endif
