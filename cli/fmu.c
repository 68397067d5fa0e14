/* limber fmu ROBOT -o FILE.fmu: packs the FMU. */
#include <string.h>

#include "analysis/failure.h"
#include "cli.h"
#include "generate/elements.h"
#include "mech/mechanism.h"
#include "pack.h"
#include "robot/read.h"
#include "sim/sim.h"
#include "view.h"

struct options {
    struct common common;
    bool generated;
    struct text_list keep;
};

static const struct option rows[] = {
    OPTION_ROBOT,
    OPTION_FILE("FILE.fmu", "the file to write; an existing file is replaced"),
    {"--generated", NULL, OPTION_FLAG, TO(generated),
     .help = "steps with code that is generated for this robot; needs a C compiler: CC names it (default cc), CFLAGS "
             "adds to its options. The FMU runs on this platform only. docs/generate.md has the details"},
    {"--keep", "NAME", OPTION_LIST, TO(keep), .most = MOST_KEPT, .needs = "--generated",
     .reason = "chooses parameters of generated code",
     .help = "a parameter that generated code reads at run time: gravity, payload.mass (of the tip link), "
             "LINK.payload.mass; may be repeated. Setting another parameter makes the FMU slower, not wrong"},
    OPTION_JSON("JSON summary"),
    {0}};

static const char details[] = "The FMU contains limber_fmu.so and, if it exists, limber_fmu.dll. They are taken from "
                              "the folder of this program or, if it is installed, from lib/limber of its prefix. The "
                              "environment variables LIMBER_FMU_LIBRARY and LIMBER_FMU_DLL name other files.";

/* The code is generated for the robot at its start: with loops, for the constraints that are independent there. No bytes, with a
   report, on failure. */
static struct blob generate_library(const struct options *options, struct instance *sim, struct report *report)
{
    const struct blob none = {0};
    char prefix[PREFIX_SIZE];
    const struct experiment any = {0};
    struct generation what = {.mechanism = sim_mechanism(sim), .prefix = prefix, .wrenches = true};
    generate_prefix(sim_robot(sim)->name, prefix);
    if (!elements_known(what.mechanism, report)) return none;
    for (int i = 0; i < options->keep.n; i++) {
        const char *keep = options->keep.text[i];
        char name[KEPT_NAME];
        if (generate_keep(&what, keep) &&
            variables_find(instance_variables(sim), generate_kept_name(&what, what.n_kept - 1, name)) >= 0)
            continue;
        report_add(report, REPORT_ERROR,
                   "--keep %s: the FMU has no such parameter; gravity, payload.mass and LINK.payload.mass of links "
                   "with a payload can be kept",
                   keep);
        return none;
    }
    const enum status status = what.mechanism->constraints->n_rows > 0 ? instance_initialize(sim, &any) : STATUS_OK;
    if (status != STATUS_OK && report->errors == 0) report_add(report, REPORT_ERROR, "%s", status_text(status));
    return status == STATUS_OK ? compile_library(&what, instance_guid(sim), options->common.arena, report) : none;
}

static int run(const void *given, struct report *report)
{
    const struct options *options = given;
    const struct common *common = &options->common;
    struct report errors = failure_errors_only(report);
    struct instance *sim = NULL;
    errors.progress = cli_progress_show;
    const char *text = document_load(common->robot, common->arena, &errors);
    enum status status = text != NULL ? sim_make(common->robot, text, &errors, &sim) : STATUS_NO_FILE;
    if (status != STATUS_OK && errors.errors == 0)
        report_add(&errors, REPORT_ERROR, "%s: %s", common->robot, status_text(status));
    if (status == STATUS_OK) {
        const struct robot *r = sim_robot(sim);
        struct fmu fmu = {.name = r->name,
                          .description = r->description,
                          .guid = instance_guid(sim),
                          .variables = instance_variables(sim),
                          .model = sim_model(sim),
                          .mechanism = sim_mechanism(sim),
                          .report = &errors};
        fmu.viewer.bytes = view_script(true, common->arena, &fmu.viewer.size, &errors); /* if it was built */
        const struct blob robot = {text, strlen(text)};
        struct blob library = {0};
        if (options->generated) library = generate_library(options, sim, &errors);
        status = pack_write(common, &fmu, robot, options->generated ? &library : NULL, &errors);
    }
    instance_free(sim);
    return cli_exit_code(status);
}

const struct command command_fmu = {
    .name = "fmu",
    .summary = "packs the FMU: FMI 2.0, co-simulation and model exchange, documentation inside",
    .details = details,
    .option = rows,
    .size = sizeof(struct options),
    .run = run};
