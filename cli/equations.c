/* limber equations ROBOT --format FORMAT: the equations of motion with names, to read. */
#include "generate/equations.h"

#include "analysis/failure.h"
#include "cli.h"
#include "generate/elements.h"
#include "load.h"

struct options {
    struct common common;
    int format; /* 1 + enum equation_format */
    int terms;
};

static const struct option rows[] = {
    OPTION_ROBOT,
    {"--format", "text|latex|sympy|matlab", OPTION_CHOICE, TO(format),
     .help = "text (default), LaTeX, a Python module for SymPy, a MATLAB function"},
    {"--terms", "N", OPTION_WHOLE, TO(terms), .most = 1000000,
     .help = "entries are multiplied out and simplified if that leads to at most N terms (default 500), otherwise "
             "intermediate variables are used; 0: always"},
    OPTION_ELASTIC_TERMS,
    OPTION_OUTPUT,
    {0}};

static const char details[] = "Prints the matrices of `limber matrices` in M qdd + C qd + K (q - rest) + G = B tau, "
                              "with the parameters' meanings, units and values. Damping, friction, stops, and forces "
                              "of lines and loops are not shown. docs/equations.md has examples.";

static int run(const void *given, struct cli_model *loaded, struct report *report)
{
    const struct options *options = given;
    struct equations equations;
    if (!elements_known(&loaded->mechanism, report)) return cli_exit_code(STATUS_BAD_ROBOT);
    enum status status = equations_make(&loaded->mechanism, options->terms, &equations);
    if (status == STATUS_OK &&
        !equations_write(stdout, &equations, (enum equation_format)(options->format - 1), "limber equations"))
        status = STATUS_NO_MEMORY;
    equations_free(&equations);
    return cli_exit_code(failure_status(report, status));
}

const struct command command_equations = {
    .name = "equations",
    .summary = "prints the equations of motion as expressions in named parameters and coordinates",
    .details = details,
    .option = rows,
    .size = sizeof(struct options),
    .defaults = &(const struct options){.format = 1 + FORMAT_TEXT, .terms = 500},
    .run_model = run};
