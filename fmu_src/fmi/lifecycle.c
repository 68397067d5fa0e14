/* From fmi2Instantiate to fmi2FreeInstance. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/tolerance.h"
#include "fmi/component.h"
#include "fmi/location.h"

const char *fmi2GetTypesPlatform(void)
{
    return fmi2TypesPlatform;
}

const char *fmi2GetVersion(void)
{
    return fmi2Version;
}

/* ---- logging ---------------------------------------------------------------------------------------------------------- */

static void log_all(struct component *component, bool on)
{
    for (int category = 0; category < CATEGORY_COUNT; category++) component->logged[category] = on;
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    ENTER(c, fmi2SetDebugLogging);
    REQUIRE_ARRAY(n, categories);
    fmi2Status status = fmi2OK;
    for (size_t i = 0; i < n; i++) REQUIRE(categories[i] != NULL, "category %zu is NULL", i);
    if (n == 0) log_all(component, on != fmi2False);
    for (size_t i = 0; i < n; i++) {
        const int category = component_category(categories[i]);
        if (category == CATEGORY_ALL) log_all(component, on != fmi2False);
        else if (category < CATEGORY_COUNT) component->logged[category] = on != fmi2False;
        else {
            component_log(component, fmi2Warning, CATEGORY_WARNING,
                          "fmi2SetDebugLogging: unknown category \"%s\"; LogCategories lists those there are",
                          categories[i]);
            status = fmi2Warning;
        }
    }
    return status;
}

/* ---- instantiation ------------------------------------------------------------------------------------------------------ */

static struct component *make_component(const char *name, fmi2Type type, const fmi2CallbackFunctions *functions,
                                        bool logging)
{
    struct arena arena = {0};
    struct component *component = arena_allocate(&arena, 1, sizeof *component);
    const char *own_name = arena_string(&arena, name != NULL && name[0] != '\0' ? name : "limber");
    if (arena.failed) {
        arena_release(&arena);
        return NULL;
    }
    component->handle.set = &fmi_set;
    component->type = type;
    component->name = own_name;
    if (functions != NULL) component->functions = *functions;
    component->allocator = allocator_of(component->functions.allocateMemory, component->functions.freeMemory);
    component->report =
        (struct report){.line = component_report_line, .note = component_report_note, .context = component};
    component->progress.state = STATE_INSTANTIATED;
    component->arena = arena;
    log_all(component, logging);
    return component;
}

static void free_component(struct component *component)
{
    instance_free(component->instance);
    struct arena arena = component->arena; /* the component is allocated in it */
    arena_release(&arena);
}

#define FAIL(...)                                                                             \
    do {                                                                                      \
        component_log(component, fmi2Error, CATEGORY_ERROR, "fmi2Instantiate: " __VA_ARGS__); \
        return false;                                                                         \
    } while (0)

/* Reads resources/robot.json (of a drive: drive.json, of a controller: controller.json) and makes the instance; the text is in `scratch`. */
static bool load_resource(struct component *component, const char *location, struct arena *scratch)
{
    char name[32];
    const char *error, *kind = instance_kind();
    snprintf(name, sizeof name, "%s.json", kind);
    const char *file = location_file(location, name, &component->arena, &error);
    if (file == NULL) FAIL("the resource location is not usable: %s", error);
    const char *text = location_read(file, scratch, &error);
    if (text == NULL) FAIL("the %s file '%s' (resource location '%s'): %s", kind, file, location, error);
    const enum status status = instance_make(file, text, &component->report, &component->instance);
    if (status != STATUS_OK) FAIL("the %s file '%s': %s", kind, file, status_text(status));
    component->variables = instance_variables(component->instance);
    return true;
}

static bool fill_component(struct component *component, const char *guid, const char *location)
{
    if (component->type != fmi2ModelExchange && component->type != fmi2CoSimulation)
        FAIL("the type %d is neither model exchange (0) nor co-simulation (1)", (int)component->type);
    struct arena scratch = {0};
    const bool loaded = load_resource(component, location, &scratch);
    arena_release(&scratch);
    if (loaded && component->variables->discrete && component->type == fmi2ModelExchange)
        FAIL("a %s is for co-simulation only: it changes its outputs at sample times of its own", instance_kind());
    if (!loaded) return false;
    const char *own = instance_guid(component->instance);
    if (guid == NULL) FAIL("the guid is NULL; this FMU's is %s", own);
    if (strcmp(guid, own) != 0)
        FAIL("the guid %s does not belong to this %s file and library, which make %s: the %s file was changed "
             "after packing, or the library comes from another FMU. Pack the FMU again",
             guid, instance_kind(), own, instance_kind());
    component_log(component, fmi2OK, CATEGORY_ALL, "fmi2Instantiate: computes with %s", fmi_set.name);
    return true;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String location,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)visible;
    struct component *component = make_component(name, type, functions, logging != fmi2False);
    if (component != NULL && fill_component(component, guid, location)) return component;
    if (component != NULL) free_component(component);
    else if (functions != NULL && functions->logger != NULL)
        functions->logger(functions->componentEnvironment, name, fmi2Error, "logStatusError", "fmi2Instantiate: %s",
                          status_text(STATUS_NO_MEMORY));
    return NULL;
}

void fmi2FreeInstance(fmi2Component c)
{
    if (c != NULL) free_component(c);
}

/* ---- initialization ------------------------------------------------------------------------------------------------------- */

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean stop_defined, fmi2Real stop)
{
    ENTER(c, fmi2SetupExperiment);
    const bool limited = stop_defined && !(isinf(stop) && stop > 0);
    REQUIRE(isfinite(start), "the start time must be finite: %g", start);
    REQUIRE(!limited || (isfinite(stop) && stop >= start), "the stop time %g must not lie before the start time %g",
            stop, start);
    REQUIRE(!tolerance_defined || tolerance == 0 || is_tolerance(tolerance),
            "the tolerance must be from %g to less than 1: %g", TIGHTEST_TOLERANCE, tolerance);
    component->progress.experiment = (struct experiment){.start_time = start,
                                                         .stop_defined = limited,
                                                         .stop_time = limited ? stop : 0,
                                                         .tolerance = tolerance_defined ? tolerance : 0};
    return fmi2OK;
}

/* The parameters take effect when the first value is read, or in fmi2ExitInitializationMode; until then they may be set. */
fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    ENTER(c, fmi2EnterInitializationMode);
    struct progress *progress = &component->progress;
    progress->state = STATE_INITIALIZATION;
    progress->stale = true;
    progress->point = progress->experiment.start_time;
    progress->steps = 0;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    ENTER(c, fmi2ExitInitializationMode);
    enum status status = component_initialize(component);
    if (status == STATUS_OK)
        status = instance_update(component->instance); /* a start from which no motion is possible fails here */
    if (status != STATUS_OK) return component_fail(component, status);
    component->progress.state = component->type == fmi2ModelExchange ? STATE_EVENT : STATE_STEP_COMPLETE;
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    ENTER(c, fmi2Terminate);
    if (component->type == fmi2CoSimulation) component_log_statistics(component);
    component->progress.state = STATE_TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    ENTER(c, fmi2Reset);
    instance_reset(component->instance);
    component->progress = (struct progress){.state = STATE_INSTANTIATED};
    return fmi2OK;
}
