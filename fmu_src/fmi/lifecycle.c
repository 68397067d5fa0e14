/* From fmi2Instantiate to fmi2FreeInstance. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fmi/instance.h"
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

/* Its number; CATEGORY_COUNT where there is no such category */
static int find_category(const char *name)
{
    static const char *const names[CATEGORY_COUNT] = {
#define CATEGORY_NAME(identifier, text, description) text,
        CATEGORY_LIST(CATEGORY_NAME)
#undef CATEGORY_NAME
    };
    int category = 0;
    while (category < CATEGORY_COUNT && strcmp(names[category], name) != 0) category++;
    return category;
}

static void log_all(struct instance *instance, bool on)
{
    for (int category = 0; category < CATEGORY_COUNT; category++) instance->logged[category] = on;
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    ENTER(c, fmi2SetDebugLogging);
    REQUIRE_ARRAY(n, categories);
    for (size_t i = 0; i < n; i++) {
        REQUIRE(categories[i] != NULL, "category %zu is NULL", i);
        REQUIRE(find_category(categories[i]) < CATEGORY_COUNT,
                "unknown category \"%s\"; LogCategories lists those there are", categories[i]);
    }
    if (n == 0) log_all(instance, on != fmi2False);
    for (size_t i = 0; i < n; i++) {
        const int category = find_category(categories[i]);
        if (category == CATEGORY_ALL) log_all(instance, on != fmi2False);
        else instance->logged[category] = on != fmi2False;
    }
    return fmi2OK;
}

/* ---- instantiation ------------------------------------------------------------------------------------------------------ */

static struct instance *make_instance(const char *name, fmi2Type type, const fmi2CallbackFunctions *functions,
                                      bool logging)
{
    struct arena arena = {0};
    struct instance *instance = arena_take(&arena, 1, sizeof *instance);
    const char *own_name = arena_string(&arena, name != NULL && name[0] != '\0' ? name : "limber");
    if (arena.failed) {
        arena_release(&arena);
        return NULL;
    }
    instance->type = type;
    instance->name = own_name;
    if (functions != NULL) instance->functions = *functions;
    instance->allocator = allocator_of(instance->functions.allocateMemory, instance->functions.freeMemory);
    instance->report = (struct report){.line = instance_report_line, .context = instance};
    instance->progress.state = STATE_INSTANTIATED;
    instance->arena = arena;
    log_all(instance, logging);
    return instance;
}

static void free_instance(struct instance *instance)
{
    sim_free(instance->sim);
    struct arena arena = instance->arena; /* the instance lives in it */
    arena_release(&arena);
}

#define REFUSE_INSTANCE(...)                                                                \
    do {                                                                                    \
        instance_log(instance, fmi2Error, CATEGORY_ERROR, "fmi2Instantiate: " __VA_ARGS__); \
        return false;                                                                       \
    } while (0)

/* Reads resources/robot.json and makes the simulation of it; `scratch` holds the text. */
static bool load_resource(struct instance *instance, const char *location, struct arena *scratch)
{
    char name[32];
    const char *fault, *kind = sim_kind();
    snprintf(name, sizeof name, "%s.json", kind);
    const char *file = location_file(location, name, &instance->arena, &fault);
    if (file == NULL) REFUSE_INSTANCE("the resource location is not usable: %s", fault);
    const char *text = location_read(file, scratch, &fault);
    if (text == NULL) REFUSE_INSTANCE("the %s file '%s' (resource location '%s'): %s", kind, file, location, fault);
    const enum status status = sim_make(file, text, &instance->report, &instance->sim);
    if (status != STATUS_OK) REFUSE_INSTANCE("the %s file '%s': %s", kind, file, status_text(status));
    instance->variables = sim_variables(instance->sim);
    return true;
}

static bool check_guid(const struct instance *instance, const char *guid)
{
    const char *own = sim_guid(instance->sim);
    if (guid == NULL) REFUSE_INSTANCE("the guid is NULL; this FMU's is %s", own);
    if (strcmp(guid, own) != 0)
        REFUSE_INSTANCE(
            "the guid %s does not belong to this %s file and library, which make %s: the %s file was changed "
            "after packing, or the library comes from another FMU. Pack the FMU again",
            guid, sim_kind(), own, sim_kind());
    return true;
}

static bool fill_instance(struct instance *instance, const char *guid, const char *location)
{
    if (instance->type != fmi2ModelExchange && instance->type != fmi2CoSimulation)
        REFUSE_INSTANCE("the type %d is neither model exchange (0) nor co-simulation (1)", (int)instance->type);
    struct arena scratch = {0};
    const bool loaded = load_resource(instance, location, &scratch);
    arena_release(&scratch);
    return loaded && check_guid(instance, guid);
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String location,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)visible;
    struct instance *instance = make_instance(name, type, functions, logging != fmi2False);
    if (instance == NULL || fill_instance(instance, guid, location)) return instance;
    free_instance(instance);
    return NULL;
}

void fmi2FreeInstance(fmi2Component c)
{
    if (c != NULL) free_instance(c);
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
    REQUIRE(!tolerance_defined || (tolerance >= 0 && tolerance < 1), "the tolerance must be positive and below 1: %g",
            tolerance);
    instance->progress.experiment = (struct sim_experiment){.start_time = start,
                                                            .stop_defined = limited,
                                                            .stop_time = limited ? stop : 0,
                                                            .tolerance = tolerance_defined ? tolerance : 0};
    return fmi2OK;
}

/* The parameters act when something is asked for or with fmi2ExitInitializationMode: until then they may still be set. */
fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    ENTER(c, fmi2EnterInitializationMode);
    struct progress *progress = &instance->progress;
    progress->state = STATE_INITIALIZATION;
    progress->stale = true;
    progress->point = progress->experiment.start_time;
    progress->steps = 0;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    ENTER(c, fmi2ExitInitializationMode);
    enum status status = instance_settle(instance);
    if (status == STATUS_OK) status = sim_update(instance->sim); /* what cannot move from its start is refused here */
    if (status != STATUS_OK) return instance_fail(instance, status);
    instance->progress.state = instance->type == fmi2ModelExchange ? STATE_EVENT : STATE_STEP_COMPLETE;
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    ENTER(c, fmi2Terminate);
    if (instance->type == fmi2CoSimulation) instance_log_statistics(instance);
    instance->progress.state = STATE_TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    ENTER(c, fmi2Reset);
    const enum status status = sim_reset(instance->sim);
    instance->progress = (struct progress){.state = status == STATUS_OK ? STATE_INSTANTIATED : STATE_ERROR};
    return instance_leave(instance, status);
}
