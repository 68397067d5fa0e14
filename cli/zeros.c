/* limber zeros ROBOT: transmission zeros from one input to one output of the linearized robot, as JSON. */
#include "analysis/zeros.h"

#include <string.h>

#include "cli.h"
#include "json_out.h"
#include "linearization.h"

struct options {
    struct linear_options linear;
    const char *input, *output;
};

static int parse_options(int argc, char **argv, struct options *options)
{
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        const char **name = strcmp(argv[i], "--input") == 0    ? &options->input
                            : strcmp(argv[i], "--output") == 0 ? &options->output
                                                               : NULL;
        if (name == NULL) code = linearization_option("zeros", argc, argv, &i, &options->linear);
        else if (i + 1 >= argc) code = cli_usage("zeros", "%s takes the name of a variable", argv[i]);
        else *name = argv[++i];
    }
    if (code == EXIT_OK) code = linearization_check("zeros", &options->linear);
    if (code == EXIT_OK && (options->input == NULL || options->output == NULL))
        code = cli_usage("zeros", "--input NAME and --output NAME are needed");
    return code;
}

static struct json_object *pairs(const struct complex_number *z, int count)
{
    struct json_object *array = json_object_new_array_ext(count);
    for (int i = 0; i < count; i++) json_object_array_add(array, json_numbers((const double[2]){z[i].re, z[i].im}, 2));
    return array;
}

static int print_zeros(const struct options *options, const struct linear *linear, const struct zeros *zeros)
{
    struct json_object *out = json_object_new_object();
    json_object_object_add(out, "input", json_object_new_string(options->input));
    json_object_object_add(out, "output", json_object_new_string(options->output));
    json_object_object_add(out, "zeros", pairs(zeros->zero, zeros->n_zeros));
    json_object_object_add(out, "minimum_phase", json_object_new_boolean(zeros->minimum_phase));
    json_object_object_add(out, "relative_degree", json_object_new_int(zeros->relative_degree));
    json_object_object_add(out, "gain", json_object_new_double(zeros->gain));
    json_object_object_add(out, "poles", pairs(zeros->pole, zeros->n_poles));
    json_object_object_add(out, "operating_point", linearization_json_point(linear->point));
    const int code = json_print_finite("zeros", out);
    json_object_put(out);
    return code;
}

static int find_zeros(const struct options *options, const struct linear *linear, struct report *report)
{
    const int u = linear_find_input(linear, options->input, report),
              y = linear_find_output(linear, options->output, report);
    if (u < 0 || y < 0) return EXIT_INPUT;
    struct zeros zeros;
    int code = cli_exit_code(zeros_make(linear, u, y, report, &zeros));
    if (code == EXIT_OK) code = print_zeros(options, linear, &zeros);
    zeros_free(&zeros);
    return code;
}

int command_zeros(int argc, char **argv)
{
    struct options options = {0};
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_OK) return code;
    struct report report = cli_report("zeros");
    struct linearization l;
    code = cli_exit_code(linearization_make("zeros", &options.linear, true, &report, &l));
    if (code == EXIT_OK) code = find_zeros(&options, &l.linear, &report);
    linearization_free(&l);
    return code;
}
