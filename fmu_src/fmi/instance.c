#include "fmi/instance.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 2048 };

/* ---- messages ------------------------------------------------------------------------------------------------------- */

static const char *const category_name[CATEGORY_COUNT] = {
#define CATEGORY_NAME(identifier, name, description) name,
    CATEGORY_LIST(CATEGORY_NAME)
#undef CATEGORY_NAME
};

/* The message is a format for the logger, which may or may not look at it as such */
static void double_percents(const char *text, char doubled[2 * TEXT])
{
    for (; *text != '\0'; text++) {
        if (*text == '%') *doubled++ = '%';
        *doubled++ = *text;
    }
    *doubled = '\0';
}

static void send(const struct instance *instance, fmi2Status status, enum category category, const char *text)
{
    char doubled[2 * TEXT];
    if (instance->functions.logger == NULL) return;
    if (category != CATEGORY_ERROR && !instance->logged[category]) return;
    double_percents(text, doubled);
    instance->functions.logger(instance->functions.componentEnvironment, instance->name, status,
                               category_name[category], doubled);
}

void instance_log(const struct instance *instance, fmi2Status status, enum category category, const char *format, ...)
{
    char text[TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    send(instance, status, category, text);
}

static const struct {
    const char *name;
    unsigned states;
    enum audience audience;
} call_table[] = {
#define CALL_ROW(function, states, audience) {#function, (states), (audience)},
    CALL_LIST(CALL_ROW)
#undef CALL_ROW
};

fmi2Status instance_refuse(const struct instance *instance, const char *format, ...)
{
    char text[TEXT];
    va_list arguments;
    const int length = snprintf(text, sizeof text, "%s: ", call_table[instance->call].name);
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    send(instance, fmi2Error, CATEGORY_ERROR, text);
    return fmi2Error;
}

void instance_report_line(void *context, enum report_level level, const char *text)
{
    const struct instance *instance = context;
    if (level == REPORT_ERROR) send(instance, fmi2Error, CATEGORY_ERROR, text);
    else send(instance, fmi2Warning, CATEGORY_WARNING, text);
}

void instance_log_statistics(const struct instance *instance)
{
    struct integrator_statistics s;
    sim_statistics(instance->sim, &s);
    instance_log(
        instance, fmi2OK, CATEGORY_SOLVER,
        "until t = %.9g s: %ld steps, %ld right-hand sides, %ld Jacobians, %ld restarts, %ld Newton iterations, "
        "%ld failed error tests, %ld failed Newton solutions",
        sim_time(instance->sim), s.steps, s.rhs, s.jacobians, s.restarts, s.newton_iterations, s.error_test_failures,
        s.newton_failures);
}

/* ---- begin and end of a function ---------------------------------------------------------------------------------------- */

static const struct {
    enum state state;
    const char *name;
} state_table[] = {
#define STATE_ROW(identifier, bit, name) {STATE_##identifier, name},
    STATE_LIST(STATE_ROW)
#undef STATE_ROW
};

enum { STATES = sizeof state_table / sizeof state_table[0] };

const char *instance_state_name(enum state state)
{
    for (int i = 0; i < STATES; i++)
        if (state_table[i].state == state) return state_table[i].name;
    return NULL;
}

static void list_states(const struct instance *instance, unsigned states, char *text, size_t room)
{
    const unsigned never = instance->type == fmi2CoSimulation ? STATE_EVENT | STATE_CONTINUOUS : STATES_STEPPING;
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < STATES && length < room; i++)
        if (((states & ~never) & (unsigned)state_table[i].state) != 0)
            length +=
                (size_t)snprintf(text + length, room - length, "%s%s", length > 0 ? ", " : "", state_table[i].name);
}

struct instance *instance_enter(fmi2Component component, enum call call)
{
    struct instance *instance = component;
    if (instance == NULL) return NULL;
    const bool me = instance->type == fmi2ModelExchange;
    instance->call = call;
    instance->errors_before = instance->report.errors;
    if ((call_table[call].audience & (me ? MODEL_EXCHANGE : CO_SIMULATION)) == 0) {
        instance_refuse(instance, "a function of %s; this instance was made for %s",
                        me ? "co-simulation" : "model exchange", me ? "model exchange" : "co-simulation");
        return NULL;
    }
    if ((call_table[call].states & (unsigned)instance->progress.state) == 0) {
        char allowed[256];
        list_states(instance, call_table[call].states, allowed, sizeof allowed);
        instance_refuse(instance, "not allowed in the state \"%s\"; allowed in: %s",
                        instance_state_name(instance->progress.state), allowed);
        return NULL;
    }
    return instance;
}

/* The sign decides: recoverable is discarded, final is an error */
static fmi2Status fmi_status(enum status status)
{
    if (status == STATUS_OK) return fmi2OK;
    return status_is_recoverable(status) ? fmi2Discard : fmi2Error;
}

static fmi2Status explain(struct instance *instance, enum status status, fmi2Status result)
{
    if (result == fmi2OK || instance->report.errors > instance->errors_before) return result;
    char reason[REASON_SIZE];
    sim_reason(instance->sim, status, reason);
    if (result == fmi2Error) return instance_refuse(instance, "%s", reason);
    instance_log(instance, result, CATEGORY_DISCARD, "%s: at t = %.9g s: %s", call_table[instance->call].name,
                 sim_time(instance->sim), reason);
    return result;
}

fmi2Status instance_leave(struct instance *instance, enum status status)
{
    return explain(instance, status, fmi_status(status));
}

fmi2Status instance_fail(struct instance *instance, enum status status)
{
    return explain(instance, status, status == STATUS_OK ? fmi2OK : fmi2Error);
}

/* ---- shared by several functions ------------------------------------------------------------------------------------------- */

enum status instance_settle(struct instance *instance)
{
    struct progress *progress = &instance->progress;
    if (progress->state != STATE_INITIALIZATION || !progress->stale) return STATUS_OK;
    const enum status status = sim_initialise(instance->sim, &progress->experiment);
    progress->stale = status != STATUS_OK;
    return status;
}

static const char *type_name(enum variable_type type)
{
    switch (type) {
    case TYPE_REAL: return "Real";
    case TYPE_INTEGER: return "Integer";
    case TYPE_BOOLEAN: return "Boolean";
    case TYPE_ENUMERATION: return "Enumeration";
    }
    return "?";
}

const struct variable *instance_variable(const struct instance *instance, fmi2ValueReference reference,
                                         enum variable_type type)
{
    const int known = instance->variables->n_values;
    if (known <= 0 || reference >= (unsigned)known) {
        instance_refuse(instance, "unknown value reference %u; this %s has 0 to %d", reference, sim_kind(), known - 1);
        return NULL;
    }
    const struct variable *variable = instance->variables->by_reference[reference];
    const enum variable_type stored = variable->type == TYPE_ENUMERATION ? TYPE_INTEGER : variable->type;
    if (stored == type) return variable;
    instance_refuse(instance, "%s (value reference %u) is of type %s", variable->name, reference,
                    type_name(variable->type));
    return NULL;
}

bool instance_is_state(const struct instance *instance, const struct variable *variable)
{
    const struct variables *v = instance->variables;
    for (int s = 0; s < v->n_states; s++)
        if (v->row[v->state[s]].reference == variable->reference) return true;
    return false;
}
