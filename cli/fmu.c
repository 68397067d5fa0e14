/* limber fmu ROBOT -o FILE.fmu: packs the FMU. */
#include <string.h>

#include "cli.h"
#include "mech/mechanism.h"
#include "pack.h"
#include "progress.h"
#include "robot/read.h"
#include "sim/sim.h"

static const struct library_source sources = {.name = "limber_fmu",
                                              .variable = {"LIMBER_FMU_LIBRARY", "LIMBER_FMU_DLL"}};

static enum status pack(const struct pack_options *options, struct arena *arena, struct report *report)
{
    struct instance *sim = NULL;
    const char *text = document_load(options->subject, arena, report);
    if (text == NULL) return STATUS_NO_FILE;
    enum status status = sim_make(options->subject, text, report, &sim);
    if (status != STATUS_OK && report->errors == 0)
        report_add(report, REPORT_ERROR, "%s: %s", options->subject, status_text(status));
    if (status == STATUS_OK) {
        struct libraries libraries;
        const struct robot *r = sim_robot(sim);
        const struct fmu fmu = {.name = r->name,
                                .description = r->description,
                                .guid = instance_guid(sim),
                                .variables = instance_variables(sim),
                                .model = sim_model(sim),
                                .work = sim_mechanism(sim)->work,
                                .report = report};
        status = pack_libraries(options, &sources, arena, &libraries, report)
                     ? pack_write(options, &fmu, (struct blob){text, strlen(text)}, &libraries, report)
                     : STATUS_NO_FILE;
    }
    instance_free(sim);
    return status;
}

int command_fmu(int argc, char **argv)
{
    struct pack_options options = {.command = "fmu", .noun = "ROBOT", .file = "FILE.fmu"};
    const int code = pack_arguments(&options, argc, argv);
    if (code != EXIT_OK) return code;

    struct report report = {.line = pack_print_error, .progress = progress_show, .context = &options};
    struct arena arena = {0};
    const enum status status = pack(&options, &arena, &report);
    arena_release(&arena);
    return cli_exit_code(status);
}
