/* Simulations: a robot's instance with its variables. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "internal.h"
#include "robot/read.h"
#include "sim/sim.h"

struct limber_simulation {
    struct messages messages;
    struct instance *instance;
    bool started;
    struct arena arena; /* the handle is in it */
};

_Static_assert((int)LIMBER_INPUT == CAUSALITY_INPUT && (int)LIMBER_OUTPUT == CAUSALITY_OUTPUT &&
                   (int)LIMBER_LOCAL == CAUSALITY_LOCAL && (int)LIMBER_PARAMETER == CAUSALITY_PARAMETER,
               "limber.h repeats the causalities of sim/variables.h");

/* ---- loading ------------------------------------------------------------------------------------------------------ */

/* From a text, or from the file `name` */
static int load_simulation(const char *name, const char *text, bool file, limber_message *message, void *context,
                           limber_simulation **made)
{
    struct arena arena = {0}, scratch = {0};
    if (made != NULL) *made = NULL;
    if (made == NULL || name == NULL || (text == NULL && !file)) return LIMBER_BAD_ARGUMENT;
    limber_simulation *simulation = arena_allocate(&arena, 1, sizeof *simulation);
    if (simulation == NULL) return LIMBER_NO_MEMORY;
    simulation->arena = arena;
    lib_messages_start(&simulation->messages, message, context);
    struct report *report = &simulation->messages.report;
    enum status status = STATUS_NO_FILE;
    if (file) text = document_load(name, &scratch, report);
    if (text != NULL) status = sim_make(name, text, report, &simulation->instance);
    if (status != STATUS_OK && report->errors == 0)
        report_add(report, REPORT_ERROR, "%s: %s", name, status_text(status));
    arena_release(&scratch);
    if (status == STATUS_OK) *made = simulation;
    else limber_simulation_free(simulation);
    return (int)status;
}

int limber_simulation_parse(const char *name, const char *text, limber_message *message, void *context,
                            limber_simulation **made)
{
    return load_simulation(name, text, false, message, context, made);
}

int limber_simulation_read(const char *file, limber_message *message, void *context, limber_simulation **made)
{
    return load_simulation(file, NULL, true, message, context, made);
}

void limber_simulation_free(limber_simulation *simulation)
{
    if (simulation == NULL) return;
    instance_free(simulation->instance);
    struct arena arena = simulation->arena;
    arena_release(&arena);
}

void limber_simulation_reset(limber_simulation *simulation)
{
    instance_reset(simulation->instance);
    simulation->started = false;
}

/* ---- variables ---------------------------------------------------------------------------------------------------- */

/* NULL: there is no such variable */
static const struct variable *variable_of(const limber_simulation *simulation, int i)
{
    const struct variables *variables = instance_variables(simulation->instance);
    return i >= 0 && i < variables->n ? &variables->row[i] : NULL;
}

int limber_simulation_variables(const limber_simulation *simulation)
{
    return instance_variables(simulation->instance)->n;
}

const char *limber_simulation_variable_name(const limber_simulation *simulation, int i)
{
    const struct variable *variable = variable_of(simulation, i);
    return variable != NULL ? variable->name : NULL;
}

const char *limber_simulation_variable_unit(const limber_simulation *simulation, int i)
{
    const struct variable *variable = variable_of(simulation, i);
    return variable != NULL ? variable->unit : NULL;
}

const char *limber_simulation_variable_description(const limber_simulation *simulation, int i)
{
    const struct variable *variable = variable_of(simulation, i);
    return variable != NULL ? variable->description : NULL;
}

int limber_simulation_variable_causality(const limber_simulation *simulation, int i)
{
    const struct variable *variable = variable_of(simulation, i);
    return variable != NULL ? (int)variable->causality : LIMBER_BAD_ARGUMENT;
}

int limber_simulation_find(const limber_simulation *simulation, const char *name)
{
    const int i = name != NULL ? variables_find(instance_variables(simulation->instance), name) : -1;
    return i >= 0 ? i : LIMBER_NO_NAME;
}

static int no_variable(limber_simulation *simulation, int i, const char *function)
{
    return lib_call_failed(&simulation->messages, LIMBER_BAD_ARGUMENT, function,
                           "there is no variable %d: expected 0 to %d, from limber_simulation_find()", i,
                           limber_simulation_variables(simulation) - 1);
}

/* Reports a failure that the instance has not reported itself */
static int explain(limber_simulation *simulation, enum status status, int errors_before)
{
    char text[REASON_SIZE];
    if (status != STATUS_OK && simulation->messages.report.errors == errors_before)
        report_add(&simulation->messages.report, REPORT_ERROR, "at t = %.9g s: %s", instance_time(simulation->instance),
                   instance_reason(simulation->instance, status, text));
    return (int)status;
}

static int update(limber_simulation *simulation)
{
    const int errors = simulation->messages.report.errors;
    return explain(simulation, instance_update(simulation->instance), errors);
}

int limber_simulation_get(limber_simulation *simulation, int i, double *value)
{
    if (simulation == NULL || value == NULL) return LIMBER_BAD_ARGUMENT;
    const struct variable *variable = variable_of(simulation, i);
    if (variable == NULL) return no_variable(simulation, i, __func__);
    int status = LIMBER_OK;
    if (variable->causality == CAUSALITY_OUTPUT || variable->causality == CAUSALITY_LOCAL) {
        if (!simulation->started)
            return lib_call_failed(&simulation->messages, LIMBER_BAD_CALL, __func__,
                                   "%s has no value before limber_simulation_start()", variable->name);
        status = update(simulation);
    }
    if (status == LIMBER_OK) *value = instance_get(simulation->instance, variable->reference);
    return status;
}

int limber_simulation_set(limber_simulation *simulation, int i, double value)
{
    if (simulation == NULL) return LIMBER_BAD_ARGUMENT;
    const struct variable *variable = variable_of(simulation, i);
    if (variable == NULL) return no_variable(simulation, i, __func__);
    struct messages *messages = &simulation->messages;
    const bool parameter = variable->causality == CAUSALITY_PARAMETER,
               tunable = !simulation->started || variable->variability == VARIABILITY_TUNABLE;
    if (!isfinite(value))
        return lib_call_failed(messages, LIMBER_BAD_ARGUMENT, __func__, "%s = %g: must be finite", variable->name,
                               value);
    if (variable->causality != CAUSALITY_INPUT && !(parameter && tunable))
        return lib_call_failed(messages, LIMBER_BAD_CALL, __func__,
                               "%s cannot be set now: inputs and tunable parameters can at any time, other parameters "
                               "before the start, outputs never",
                               variable->name);
    const char *error = NULL;
    if (parameter) error = instance_parameter_error(simulation->instance, variable->reference, value);
    if (error != NULL)
        return lib_call_failed(messages, LIMBER_BAD_ROBOT, __func__, "%s = %.9g: %s", variable->name, value, error);
    instance_set(simulation->instance, variable->reference, value);
    return LIMBER_OK;
}

int limber_simulation_set_rate(limber_simulation *simulation, int i, double rate)
{
    if (simulation == NULL) return LIMBER_BAD_ARGUMENT;
    const struct variable *variable = variable_of(simulation, i);
    if (variable == NULL) return no_variable(simulation, i, __func__);
    if (variable->causality != CAUSALITY_INPUT || !isfinite(rate))
        return lib_call_failed(&simulation->messages, LIMBER_BAD_ARGUMENT, __func__,
                               "%s, %g: expected an input and a finite rate", variable->name, rate);
    instance_set_input_rate(simulation->instance, variable->reference, rate);
    return LIMBER_OK;
}

/* ---- start and steps ---------------------------------------------------------------------------------------------- */

int limber_simulation_start(limber_simulation *simulation, double start, double tolerance)
{
    if (simulation == NULL || !isfinite(start) || !(tolerance >= 0 && tolerance < 1)) return LIMBER_BAD_ARGUMENT;
    if (simulation->started)
        return lib_call_failed(&simulation->messages, LIMBER_BAD_CALL, __func__,
                               "already started: call limber_simulation_reset() first");
    const struct experiment experiment = {.start_time = start, .tolerance = tolerance};
    const int errors = simulation->messages.report.errors;
    const enum status status = instance_initialize(simulation->instance, &experiment);
    simulation->started = status == STATUS_OK;
    return explain(simulation, status, errors);
}

int limber_simulation_step(limber_simulation *simulation, double h)
{
    if (simulation == NULL || !(h > 0 && isfinite(h))) return LIMBER_BAD_ARGUMENT;
    if (!simulation->started)
        return lib_call_failed(&simulation->messages, LIMBER_BAD_CALL, __func__,
                               "not started: call limber_simulation_start() first");
    const int errors = simulation->messages.report.errors;
    return explain(simulation, instance_step(simulation->instance, h), errors);
}

double limber_simulation_time(const limber_simulation *simulation)
{
    return instance_time(simulation->instance);
}

/* ---- a whole run -------------------------------------------------------------------------------------------------- */

struct run {
    limber_simulation *simulation;
    limber_callback *inputs, *outputs;
    void *context;
};

static int call(const struct run *run, limber_callback *callback, double t)
{
    return callback != NULL ? callback(run->context, t, run->simulation) : LIMBER_OK;
}

/* Inputs at the time t, then outputs that follow from them */
static int exchange(const struct run *run, double t)
{
    int status = call(run, run->inputs, t);
    if (status == LIMBER_OK && run->outputs != NULL) status = update(run->simulation);
    if (status == LIMBER_OK) status = call(run, run->outputs, t);
    return status;
}

int limber_simulate(limber_simulation *simulation, double until, double step, limber_callback *inputs,
                    limber_callback *outputs, void *context)
{
    const struct run run = {simulation, inputs, outputs, context};
    if (simulation == NULL || !isfinite(until) || !(step > 0)) return LIMBER_BAD_ARGUMENT;
    int status = LIMBER_OK;
    if (!simulation->started) {
        status = call(&run, inputs, 0); /* which may act on the start */
        if (status == LIMBER_OK) status = limber_simulation_start(simulation, 0, 0);
    }
    if (status != LIMBER_OK) return status;
    const double from = limber_simulation_time(simulation), steps = ceil((until - from) / step * (1 - 1e-12));
    status = exchange(&run, from);
    double t = from;
    for (double i = 1; i <= steps && status == LIMBER_OK; i++) {
        const double end = i < steps ? from + step * i : until;
        status = limber_simulation_step(simulation, end - t);
        if (status == LIMBER_OK) status = exchange(&run, end);
        t = end;
    }
    return status;
}

/* ---- saved states ------------------------------------------------------------------------------------------------- */

static const char MAGIC[8] = "limberS2";

/* Before the instance's own bytes. Fixed widths and no padding: every byte is written and checked. */
struct header {
    char magic[8];
    uint64_t size;     /* of all bytes                       */
    uint64_t checksum; /* of all bytes, with this field zero */
    char guid[GUID_SIZE];
};

static uint64_t checksum_of(struct header header, const unsigned char *bytes)
{
    header.checksum = 0;
    return hash_bytes(hash_bytes(HASH_START, &header, sizeof header), bytes + sizeof header,
                      (size_t)header.size - sizeof header);
}

size_t limber_simulation_saved_size(const limber_simulation *simulation)
{
    return sizeof(struct header) + instance_saved_size(simulation->instance);
}

int limber_simulation_save(limber_simulation *simulation, void *bytes, size_t size)
{
    if (simulation == NULL || bytes == NULL || size < limber_simulation_saved_size(simulation))
        return LIMBER_BAD_ARGUMENT;
    if (!simulation->started)
        return lib_call_failed(&simulation->messages, LIMBER_BAD_CALL, __func__, "not started: there is no state");
    struct header header;
    memset(&header, 0, sizeof header);
    memcpy(header.magic, MAGIC, sizeof MAGIC);
    header.size = limber_simulation_saved_size(simulation);
    memcpy(header.guid, instance_guid(simulation->instance), sizeof header.guid);
    instance_save(simulation->instance, (unsigned char *)bytes + sizeof header);
    header.checksum = checksum_of(header, bytes);
    memcpy(bytes, &header, sizeof header);
    return LIMBER_OK;
}

int limber_simulation_restore(limber_simulation *simulation, const void *bytes, size_t size)
{
    struct header header;
    if (simulation == NULL || bytes == NULL || size < sizeof header) return LIMBER_BAD_ARGUMENT;
    struct messages *messages = &simulation->messages;
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.magic, MAGIC, sizeof MAGIC) != 0)
        return lib_call_failed(messages, LIMBER_BAD_ARGUMENT, __func__, "not a saved state of Limber");
    if (header.size > size || header.size < sizeof header || header.checksum != checksum_of(header, bytes))
        return lib_call_failed(messages, LIMBER_BAD_ARGUMENT, __func__, "the saved state is damaged or too short");
    if (strncmp(header.guid, instance_guid(simulation->instance), sizeof header.guid) != 0 ||
        header.size != limber_simulation_saved_size(simulation))
        return lib_call_failed(messages, LIMBER_BAD_CALL, __func__, "the saved state belongs to another robot");
    const int errors = messages->report.errors;
    const enum status status =
        instance_restore(simulation->instance, (const unsigned char *)bytes + sizeof header, true);
    simulation->started = status == STATUS_OK;
    return explain(simulation, status, errors);
}

/* ---- statistics --------------------------------------------------------------------------------------------------- */

long limber_simulation_statistic(const limber_simulation *simulation, int which)
{
    struct integrator_statistics s;
    instance_statistics(simulation->instance, &s);
    switch (which) {
    case LIMBER_STEPS: return s.steps;
    case LIMBER_EVALUATIONS: return s.rhs;
    case LIMBER_JACOBIANS: return s.jacobians;
    case LIMBER_RESTARTS: return s.restarts;
    default: return -1;
    }
}
