/* limber fmu ROBOT -o FILE.fmu: packs the FMU. */
#include <string.h>

#include "cli.h"
#include "compile.h"
#include "mech/mechanism.h"
#include "pack.h"
#include "progress.h"
#include "robot/read.h"
#include "sim/sim.h"
#include "view.h"

static const struct library_source sources = {.name = "limber_fmu",
                                              .variable = {"LIMBER_FMU_LIBRARY", "LIMBER_FMU_DLL"}};

struct options {
    struct pack_options pack;
    const char *keep[MOST_KEPT];
    int n_keep;
};

static bool keep_parameters(const struct options *options, const struct variables *variables, struct generation *what,
                            struct report *report)
{
    for (int i = 0; i < options->n_keep; i++) {
        char name[KEPT_NAME];
        if (generate_keep(what, options->keep[i]) &&
            variables_find(variables, generate_kept_name(what, what->n_kept - 1, name)) >= 0)
            continue;
        report_add(
            report, REPORT_ERROR,
            "--keep %s: the FMU has no such parameter; gravity, payload.mass and LINK.payload.mass of links with a "
            "payload can be kept",
            options->keep[i]);
        return false;
    }
    return true;
}

/* The code is of this robot as it starts: with loops, the constraints that are independent there */
static bool generate_library(const struct options *options, struct instance *sim, struct arena *arena,
                             struct libraries *libraries, struct report *report)
{
    char prefix[PREFIX_SIZE];
    const struct experiment any = {0};
    struct generation what = {.mechanism = sim_mechanism(sim), .prefix = prefix, .wrenches = true};
    generate_prefix(sim_robot(sim)->name, prefix);
    if (!keep_parameters(options, instance_variables(sim), &what, report)) return false;
    const enum status status = what.mechanism->constraints->n_rows > 0 ? instance_initialize(sim, &any) : STATUS_OK;
    if (status != STATUS_OK && report->errors == 0) report_add(report, REPORT_ERROR, "%s", status_text(status));
    if (status != STATUS_OK) return false;
    memset(libraries, 0, sizeof *libraries);
    libraries->of[PLATFORM_LINUX] = compile_library(&what, instance_guid(sim), arena, report);
    return libraries->of[PLATFORM_LINUX].bytes != NULL;
}

/* The script of the scene in the documentation, where it was built */
static struct blob load_viewer(struct arena *arena, struct report *report)
{
    struct blob script = {0};
    script.bytes = view_script(true, arena, &script.size, report);
    return script;
}

static enum status pack(const struct options *options, struct arena *arena, struct report *report)
{
    struct instance *sim = NULL;
    const char *subject = options->pack.subject, *text = document_load(subject, arena, report);
    if (text == NULL) return STATUS_NO_FILE;
    enum status status = sim_make(subject, text, report, &sim);
    if (status != STATUS_OK && report->errors == 0)
        report_add(report, REPORT_ERROR, "%s: %s", subject, status_text(status));
    if (status == STATUS_OK) {
        struct libraries libraries;
        const struct robot *r = sim_robot(sim);
        const struct fmu fmu = {.name = r->name,
                                .description = r->description,
                                .guid = instance_guid(sim),
                                .variables = instance_variables(sim),
                                .model = sim_model(sim),
                                .mechanism = sim_mechanism(sim),
                                .viewer = load_viewer(arena, report),
                                .report = report};
        const bool found = options->pack.generated
                               ? generate_library(options, sim, arena, &libraries, report)
                               : pack_libraries(&options->pack, &sources, arena, &libraries, report);
        status = found && report->errors == 0
                     ? pack_write(&options->pack, &fmu, (struct blob){text, strlen(text)}, &libraries, report)
                     : STATUS_NO_FILE;
    }
    instance_free(sim);
    return status;
}

static int parse(struct options *options, int argc, char **argv)
{
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        if (strcmp(argv[i], "--generated") == 0) options->pack.generated = true;
        else if (strcmp(argv[i], "--keep") != 0) code = pack_argument(&options->pack, argc, argv, &i);
        else if (i + 1 == argc) code = cli_usage("fmu", "--keep takes the name of a parameter");
        else if (options->n_keep == MOST_KEPT) code = cli_usage("fmu", "--keep: at most %d parameters", MOST_KEPT);
        else options->keep[options->n_keep++] = argv[++i];
    }
    if (code == EXIT_OK && options->n_keep > 0 && !options->pack.generated)
        code = cli_usage("fmu", "--keep goes with --generated: otherwise all parameters can be set");
    return code == EXIT_OK ? pack_complete(&options->pack) : code;
}

int command_fmu(int argc, char **argv)
{
    struct options options = {.pack = {.command = "fmu", .noun = "ROBOT", .file = "FILE.fmu"}};
    const int code = parse(&options, argc, argv);
    if (code != EXIT_OK) return code;

    struct report report = {.line = pack_print_error, .progress = progress_show, .context = &options.pack};
    struct arena arena = {0};
    const enum status status = pack(&options, &arena, &report);
    arena_release(&arena);
    return cli_exit_code(status);
}
