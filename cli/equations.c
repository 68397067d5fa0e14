/* limber equations ROBOT --format FORMAT: the equations of motion with names, to read. */
#include "generate/equations.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "load.h"

struct options {
    const char *robot;
    enum equation_format format;
    int most_terms;
    int elastic_terms; /* 0: the file's */
};

static bool read_format(const char *name, enum equation_format *format)
{
    for (int i = 0; i < FORMATS; i++)
        if (strcmp(name, formats[i].name) == 0) {
            *format = (enum equation_format)i;
            return true;
        }
    return false;
}

static bool read_count(const char *text, int *count)
{
    char *end;
    const long value = strtol(text, &end, 10);
    *count = (int)value;
    return end != text && *end == '\0' && value >= 0 && value <= 1000000;
}

static int parse_options(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--format") == 0) {
            if (!read_format(next, &options->format))
                return cli_usage("equations", "--format is text, latex, sympy or matlab, not '%s'", next);
            i++;
        } else if (strcmp(argv[i], "--terms") == 0) {
            if (!read_count(next, &options->most_terms))
                return cli_usage("equations", "--terms is a number from 0 to 1000000, not '%s'", next);
            i++;
        } else if (strcmp(argv[i], "--elastic-terms") == 0) {
            options->elastic_terms = cli_elastic_terms(next);
            if (options->elastic_terms == 0)
                return cli_usage("equations", "--elastic-terms is full, linear or ruthless, not '%s'", next);
            i++;
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            return cli_usage("equations", "unknown option '%s'", argv[i]);
        } else if (options->robot == NULL) {
            options->robot = argv[i];
        } else {
            return cli_usage("equations", "too many arguments: '%s'", argv[i]);
        }
    }
    return options->robot != NULL ? EXIT_OK : cli_usage("equations", "expected ROBOT");
}

static int run(const struct options *options, const struct mechanism *mechanism)
{
    struct equations equations;
    enum status status = equations_make(mechanism, options->most_terms, &equations);
    if (status == STATUS_OK && !equations_write(stdout, &equations, options->format, "limber equations"))
        status = STATUS_NO_MEMORY;
    equations_free(&equations);
    if (status != STATUS_OK) fprintf(stderr, "limber equations: %s\n", status_text(status));
    return cli_exit_code(status);
}

int command_equations(int argc, char **argv)
{
    struct options options = {.most_terms = 500};
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_OK) return code;
    struct report report = cli_report("equations");
    struct cli_model loaded;
    code = cli_load_model(options.robot, options.elastic_terms, NULL, &report, &loaded);
    if (code != EXIT_OK) return code;
    code = run(&options, &loaded.mechanism);
    cli_free_model(&loaded);
    return code;
}
