/* limber generate ROBOT -o DIR: straight-line C code of one robot. */
#include "generate/generate.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "load.h"
#include "result.h"

struct options {
    const char *robot, *folder, *terms;
    const char *keep[MOST_KEPT];
    int n_keep;
    bool wrenches;
};

static int parse_options(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        const char **value = strcmp(argv[i], "-o") == 0                ? &options->folder
                             : strcmp(argv[i], "--elastic-terms") == 0 ? &options->terms
                             : strcmp(argv[i], "--keep") == 0 && options->n_keep < MOST_KEPT
                                 ? &options->keep[options->n_keep++]
                                 : NULL;
        if (strcmp(argv[i], "--wrenches") == 0) {
            options->wrenches = true;
        } else if (value != NULL) {
            if (++i == argc) return cli_usage("generate", "%s needs a value", argv[i - 1]);
            *value = argv[i];
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            return cli_usage("generate", "unknown option '%s'", argv[i]);
        } else if (options->robot == NULL) {
            options->robot = argv[i];
        } else {
            return cli_usage("generate", "too many arguments: '%s'", argv[i]);
        }
    }
    if (options->terms != NULL && cli_elastic_terms(options->terms) == 0)
        return cli_usage("generate", "--elastic-terms takes full, linear or ruthless, not '%s'", options->terms);
    if (options->robot == NULL || options->folder == NULL) return cli_usage("generate", "expected ROBOT and -o DIR");
    return EXIT_OK;
}

static void print_counts(const struct generated *function)
{
    printf("%-10s %10s %15s %10s %10s %13s\n", "function", "additions", "multiplications", "divisions", "sines",
           "square roots");
    for (int i = 0; i < FUNCTIONS; i++) {
        const struct operation_counts *c = &function[i].counts;
        printf("%-10s %10d %15d %10d %10d %13d\n", function[i].name, c->additions, c->multiplications, c->divisions,
               c->sines, c->square_roots);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* They take their names together, when all are complete */
struct output {
    const struct options *options;
    int n;
    char name[CODE_FILES][PATH_MAX];
    struct result file[CODE_FILES];
};

static FILE *open_output(void *context, const char *name)
{
    struct output *output = context;
    if (output->n == CODE_FILES) return NULL;
    char *path = output->name[output->n];
    struct result *file = &output->file[output->n];
    if (snprintf(path, PATH_MAX, "%s/%s", output->options->folder, name) >= PATH_MAX) {
        cli_usage("generate", "-o %s: too long a name", output->options->folder);
        return NULL;
    }
    if (cli_same_file(path, output->options->robot)) {
        cli_usage("generate", "-o %s: %s is the robot file", output->options->folder, path);
        return NULL;
    }
    if (result_open(path, NULL, file) != EXIT_OK) return NULL;
    output->n++;
    return file->stream;
}

static enum status write_code(const struct generation *what, const struct options *options, struct generated *function,
                              struct report *report)
{
    struct output *output = calloc(1, sizeof *output);
    if (output == NULL) return STATUS_NO_MEMORY;
    output->options = options;
    if (mkdir(options->folder, 0777) != 0 && errno != EEXIST) {
        report_add(report, REPORT_ERROR, "%s: the folder cannot be made: %s", options->folder, strerror(errno));
        free(output);
        return STATUS_NO_FILE;
    }
    const struct code_files files = {open_output, output};
    enum status status = generate_write(what, &files, function);
    for (int i = 0; i < output->n; i++)
        if (fflush(output->file[i].stream) != 0 && status == STATUS_OK) status = STATUS_NO_FILE;
    for (int i = 0; i < output->n; i++)
        if (result_close(&output->file[i], cli_exit_code(status)) != EXIT_OK && status == STATUS_OK)
            status = STATUS_NO_FILE;
    free(output);
    return status;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int run(const struct options *options, struct cli_model *loaded, struct report *report)
{
    char prefix[PREFIX_SIZE];
    struct generated function[FUNCTIONS];
    struct generation what = {
        .mechanism = &loaded->mechanism, .prefix = prefix, .wrenches = options->wrenches, .tolerance = 1e-11};
    generate_prefix(loaded->robot->name, prefix);
    for (int i = 0; i < options->n_keep; i++)
        if (!generate_keep(&what, options->keep[i]))
            return cli_usage("generate",
                             "--keep %s: there is no such parameter; gravity, payload.mass and "
                             "LINK.payload.mass can be kept",
                             options->keep[i]);
    enum status status = constraints_choose(&loaded->mechanism, loaded->state.at.q, report);
    if (status == STATUS_OK) status = write_code(&what, options, function, report);
    while (status == STATUS_NOT_POSITIVE && what.tolerance < 1e-7) { /* badly conditioned in every state */
        what.tolerance *= 10;
        status = write_code(&what, options, function, report);
        if (status == STATUS_OK)
            report_add(
                report, REPORT_WARNING,
                "rounding errors of the library are larger than usual for this robot; the test program compares to %g",
                what.tolerance);
    }
    if (status == STATUS_OK && loaded->robot->n_drives > 0)
        report_add(report, REPORT_WARNING,
                   "drives inside the arm are not part of the generated code: it takes their torques and forces");
    if (status == STATUS_OK) print_counts(function);
    else if (status != STATUS_NO_FILE && report->errors == 0)
        report_add(report, REPORT_ERROR, "%s", status_text(status));
    return cli_exit_code(status);
}

int command_generate(int argc, char **argv)
{
    struct options options = {0};
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_OK) return code;
    struct report report = cli_report("generate");
    struct cli_model loaded;
    code = cli_load_model(options.robot, options.terms != NULL ? cli_elastic_terms(options.terms) : 0, NULL, &report,
                          &loaded);
    if (code != EXIT_OK) return code;
    code = run(&options, &loaded, &report);
    cli_free_model(&loaded);
    return code;
}
