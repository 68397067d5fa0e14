/* limber generate ROBOT -o DIR: straight-line C code of one robot. */
#include "generate/generate.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "generate/elements.h"
#include "load.h"
#include "result.h"

struct options {
    struct common common; /* output: the folder */
    struct text_list keep;
    bool wrenches;
};

static const struct option rows[] = {
    OPTION_ROBOT,
    OPTION_FILE("DIR", "folder of the result, which is created"),
    {"--keep", "NAME", OPTION_LIST, TO(keep), .most = MOST_KEPT,
     .help = "a parameter that stays an argument: gravity, payload.mass (of the tip link), LINK.payload.mass; may be "
             "repeated"},
    {"--wrenches", NULL, OPTION_FLAG, TO(wrenches), .help = "wrenches on the tip and on frames are arguments"},
    OPTION_ELASTIC_TERMS,
    {0}};

static const char details[] = "Functions: forward dynamics, inverse dynamics, mass matrix and bias, Jacobian, tip "
                              "kinematics, residual. Prints the operations of each. The code needs only libm; the test "
                              "program compares it with results of the library. docs/generate.md has the details.";

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* The files get their names together, when all are complete. */
struct output {
    const struct common *options;
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
    if (snprintf(path, PATH_MAX, "%s/%s", output->options->output, name) >= PATH_MAX) {
        cli_usage("generate", "-o %s: too long a name", output->options->output);
        return NULL;
    }
    if (cli_same_file(path, output->options->robot)) {
        cli_usage("generate", "-o %s: %s is the robot file", output->options->output, path);
        return NULL;
    }
    if (result_open(path, NULL, file) != EXIT_OK) return NULL;
    output->n++;
    return file->stream;
}

static enum status write_code(const struct generation *what, const struct common *options, struct generated *function,
                              struct report *report)
{
    struct output *output = calloc(1, sizeof *output);
    if (output == NULL) return STATUS_NO_MEMORY;
    output->options = options;
    if (mkdir(options->output, 0777) != 0 && errno != EEXIST) {
        report_add(report, REPORT_ERROR, "%s: the folder cannot be made: %s", options->output, strerror(errno));
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

static int run(const void *given, struct cli_model *loaded, struct report *report)
{
    const struct options *options = given;
    char prefix[PREFIX_SIZE];
    struct generated function[FUNCTIONS];
    struct generation what = {
        .mechanism = &loaded->mechanism, .prefix = prefix, .wrenches = options->wrenches, .tolerance = 1e-11};
    generate_prefix(loaded->robot->name, prefix);
    if (!elements_known(&loaded->mechanism, report)) return cli_exit_code(STATUS_BAD_ROBOT);
    for (int i = 0; i < options->keep.n; i++)
        if (!generate_keep(&what, options->keep.text[i]))
            return cli_usage(
                "generate",
                "--keep %s: there is no such parameter; gravity, payload.mass and LINK.payload.mass can be kept",
                options->keep.text[i]);
    enum status status = constraints_choose(&loaded->mechanism, loaded->state.at.q, report);
    if (status == STATUS_OK) status = write_code(&what, &options->common, function, report);
    while (status == STATUS_NOT_POSITIVE && what.tolerance < 1e-7) { /* badly conditioned in every state */
        what.tolerance *= 10;
        status = write_code(&what, &options->common, function, report);
        if (status == STATUS_OK)
            report_add(
                report, REPORT_WARNING,
                "rounding errors of the library are larger than usual for this robot; the test program compares to %g",
                what.tolerance);
    }
    if (status == STATUS_OK)
        printf("%-10s %10s %15s %10s %10s %13s\n", "function", "additions", "multiplications", "divisions", "sines",
               "square roots");
    for (int i = 0; status == STATUS_OK && i < DRIVEN && i < generate_count(&what); i++) {
        const struct operation_counts *c = &function[i].counts;
        printf("%-10s %10d %15d %10d %10d %13d\n", function[i].name, c->additions, c->multiplications, c->divisions,
               c->sines, c->square_roots);
    }
    if (status != STATUS_OK && status != STATUS_NO_FILE && report->errors == 0)
        report_add(report, REPORT_ERROR, "%s", status_text(status));
    return cli_exit_code(status);
}

const struct command command_generate = {
    .name = "generate",
    .summary = "writes straight-line C99 code of the robot's dynamics, with a test program and a CMake file",
    .details = details,
    .option = rows,
    .size = sizeof(struct options),
    .run_model = run};
