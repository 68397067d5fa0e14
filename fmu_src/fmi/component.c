#include "fmi/component.h"

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

int component_category(const char *name)
{
    int category = 0;
    while (category < CATEGORY_COUNT && strcmp(category_name[category], name) != 0) category++;
    return category;
}

static void send(const struct component *component, fmi2Status status, enum category category, const char *text)
{
    char doubled[2 * TEXT], *end = doubled; /* %% for %: the logger interprets the message as a format */
    if (component->functions.logger == NULL) return;
    if (category != CATEGORY_ERROR && !component->logged[category]) return;
    for (; *text != '\0'; text++) {
        if (*text == '%') *end++ = '%';
        *end++ = *text;
    }
    *end = '\0';
    component->functions.logger(component->functions.componentEnvironment, component->name, status,
                                category_name[category], doubled);
}

void component_log(const struct component *component, fmi2Status status, enum category category, const char *format,
                   ...)
{
    char text[TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    send(component, status, category, text);
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

fmi2Status component_error(const struct component *component, const char *format, ...)
{
    char text[TEXT];
    va_list arguments;
    const int length = snprintf(text, sizeof text, "%s: ", call_table[component->call].name);
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    send(component, fmi2Error, CATEGORY_ERROR, text);
    return fmi2Error;
}

void component_report_line(void *context, enum report_level level, const char *text)
{
    const struct component *component = context;
    if (level == REPORT_ERROR) send(component, fmi2Error, CATEGORY_ERROR, text);
    else send(component, fmi2Warning, CATEGORY_WARNING, text);
}

void component_report_note(void *context, const char *text)
{
    send(context, fmi2OK, CATEGORY_SOLVER, text);
}

void component_log_statistics(const struct component *component)
{
    struct integrator_statistics s;
    instance_statistics(component->instance, &s);
    component_log(
        component, fmi2OK, CATEGORY_SOLVER,
        "until t = %.9g s: %ld steps, %ld right-hand sides, %ld Jacobians, %ld restarts, %ld residuals, "
        "%ld factorizations, %ld Newton iterations, %ld failed error tests, %ld failed Newton solutions, %ld events",
        instance_time(component->instance), s.steps, s.rhs, s.jacobians, s.restarts, s.residuals, s.factorizations,
        s.newton_iterations, s.error_test_failures, s.newton_failures, s.events);
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

const char *component_state_name(enum state state)
{
    for (int i = 0; i < STATES; i++)
        if (state_table[i].state == state) return state_table[i].name;
    return NULL;
}

struct component *component_enter(fmi2Component c, enum call call)
{
    struct component *component = c;
    if (component == NULL) return NULL;
    const bool me = component->type == fmi2ModelExchange;
    component->call = call;
    component->errors_before = component->report.errors;
    if ((call_table[call].audience & (me ? MODEL_EXCHANGE : CO_SIMULATION)) == 0) {
        component_error(component, "a function of %s; this instance was made for %s",
                        me ? "co-simulation" : "model exchange", me ? "model exchange" : "co-simulation");
        return NULL;
    }
    if ((call_table[call].states & (unsigned)component->progress.state) == 0) {
        const unsigned states =
            call_table[call].states & ~(unsigned)(me ? STATES_STEPPING : STATE_EVENT | STATE_CONTINUOUS);
        char allowed[256] = "";
        size_t length = 0;
        for (int i = 0; i < STATES && length < sizeof allowed; i++)
            if ((states & (unsigned)state_table[i].state) != 0)
                length += (size_t)snprintf(allowed + length, sizeof allowed - length, "%s%s", length > 0 ? ", " : "",
                                           state_table[i].name);
        component_error(component, "not allowed in the state \"%s\"; allowed in: %s",
                        component_state_name(component->progress.state), allowed);
        return NULL;
    }
    return component;
}

static fmi2Status explain(struct component *component, enum status status, fmi2Status result)
{
    if (result == fmi2OK || component->report.errors > component->errors_before) return result;
    char reason[REASON_SIZE];
    instance_reason(component->instance, status, reason);
    if (result == fmi2Error) return component_error(component, "%s", reason);
    component_log(component, result, CATEGORY_DISCARD, "%s: at t = %.9g s: %s", call_table[component->call].name,
                  instance_time(component->instance), reason);
    return result;
}

fmi2Status component_leave(struct component *component, enum status status)
{
    return explain(component, status,
                   status == STATUS_OK             ? fmi2OK
                   : status_is_recoverable(status) ? fmi2Discard
                                                   : fmi2Error);
}

fmi2Status component_fail(struct component *component, enum status status)
{
    return explain(component, status, status == STATUS_OK ? fmi2OK : fmi2Error);
}

/* ---- shared by several functions ------------------------------------------------------------------------------------------- */

enum status component_initialize(struct component *component)
{
    struct progress *progress = &component->progress;
    if (progress->state != STATE_INITIALIZATION || !progress->stale) return STATUS_OK;
    const enum status status = instance_initialize(component->instance, &progress->experiment);
    progress->stale = status != STATUS_OK;
    return status;
}

const struct variable *component_variable(const struct component *component, fmi2ValueReference reference,
                                          enum variable_type type)
{
    static const char *const type_names[] = {
        [TYPE_REAL] = "Real", [TYPE_INTEGER] = "Integer", [TYPE_BOOLEAN] = "Boolean"};
    const int known = component->variables->n_values;
    if (known <= 0 || reference >= (unsigned)known) {
        component_error(component, "unknown value reference %u; this %s has 0 to %d", reference, instance_kind(),
                        known - 1);
        return NULL;
    }
    const struct variable *variable = component->variables->by_reference[reference];
    if (variable->type == type) return variable;
    component_error(component, "%s (value reference %u) is of type %s", variable->name, reference,
                    type_names[variable->type]);
    return NULL;
}
