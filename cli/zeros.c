/* limber zeros ROBOT: transmission zeros from one input to one output of the linearized robot, as JSON. */
#include "analysis/zeros.h"

#include "cli.h"
#include "json_out.h"
#include "linearization.h"

struct options {
    struct common common;
    const char *input, *output;
};

static const struct option rows[] = {OPTION_ROBOT,
                                     {"--input", "NAME", OPTION_TEXT, TO(input), .required = true,
                                      .help = "an input of the FMU, such as J.tau or tip.force[1]"},
                                     {"--output", "NAME", OPTION_TEXT, TO(output), .required = true,
                                      .help = "an output of the FMU, such as J.q or tip.position[2]"},
                                     OPTION_AT_POINT,
                                     OPTION_STATIC,
                                     OPTIONS_HOLDING(OF_AN_EQUILIBRIUM),
                                     OPTION_JSON_ALWAYS,
                                     OPTION_OUTPUT,
                                     {0}};

static const char details[] =
    "`zeros` and `poles` are [re, im] in 1/s, by modulus; `relative_degree` is the number of poles minus that of "
    "zeros, `gain` the factor of prod (s - z) / prod (s - p). Motions that are not coupled to both input and output "
    "are removed, and so are pairs that cancel at the origin. Other motions that the input does not excite, or that "
    "the output does not show, may appear as zeros that equal poles.\n"
    "Rounding: with W a bound of the robot's frequencies and n the number of states, zeros and poles below sqrt(10 n "
    "eps) W are set to 0; `minimum_phase` is false if some zero has re > 1e-6 |z|; a row of C, a column of B or a "
    "direct term below 1e-10 of its vector's size is set to 0.\n"
    "A closed robot is described in minimal coordinates, as by linearize --minimal.";

static struct json_object *pairs(const struct complex_number *z, int count)
{
    struct json_object *array = json_object_new_array_ext(count);
    for (int i = 0; i < count; i++) json_object_array_add(array, json_numbers((const double[2]){z[i].re, z[i].im}, 2));
    return array;
}

static int run(const void *given, struct report *report)
{
    const struct options *options = given;
    struct operating_point point;
    struct linear linear;
    struct zeros zeros;
    int code = cli_exit_code(linearization_make(&options->common, true, report, &point, &linear));
    if (code == EXIT_OK) {
        const int u = linear_find_input(&linear, options->input, report),
                  y = linear_find_output(&linear, options->output, report);
        code = u < 0 || y < 0 ? EXIT_INPUT : cli_exit_code(zeros_make(&linear, u, y, report, &zeros));
    }
    if (code == EXIT_OK) {
        struct json_object *out = json_object_new_object();
        json_add_text(out, "input", options->input);
        json_add_text(out, "output", options->output);
        json_add(out, "zeros", pairs(zeros.zero, zeros.n_zeros));
        json_add(out, "minimum_phase", json_object_new_boolean(zeros.minimum_phase));
        json_add_whole(out, "relative_degree", zeros.relative_degree);
        json_add_number(out, "gain", zeros.gain);
        json_add(out, "poles", pairs(zeros.pole, zeros.n_poles));
        json_add(out, "operating_point", linearization_json_point(&point));
        code = json_print_finite("zeros", out);
    }
    operating_point_free(&point);
    return code;
}

const struct command command_zeros = {
    .name = "zeros",
    .summary = "transmission zeros from an input to an output, and whether they are minimum phase; prints JSON",
    .details = details,
    .option = rows,
    .size = sizeof(struct options),
    .run = run};
