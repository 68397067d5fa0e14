/* limber matrices ROBOT STATE: M, C, K, G, B at a state, as JSON. */
#include "analysis/matrices.h"

#include <string.h>

#include "analysis/names.h"
#include "cli.h"
#include "json_out.h"
#include "load.h"

struct options {
    const char *robot, *state;
};

static int parse_options(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) continue; /* it is JSON in any case */
        if (argv[i][0] == '-' && argv[i][1] != '\0') return cli_usage("matrices", "unknown option '%s'", argv[i]);
        if (options->robot == NULL) options->robot = argv[i];
        else if (options->state == NULL) options->state = argv[i];
        else return cli_usage("matrices", "too many arguments: '%s'", argv[i]);
    }
    return options->state != NULL ? EXIT_OK : cli_usage("matrices", "expected ROBOT and STATE");
}

static struct json_object *coordinate_names(const struct model *model)
{
    struct json_object *names = json_object_new_array();
    for (int i = 0; i < model->nv; i++) {
        char name[NAME_SIZE];
        name_tangent(model, i, name);
        json_object_array_add(names, json_object_new_string(name));
    }
    return names;
}

static int print_matrices(const struct model *model, const struct matrices *m)
{
    struct json_object *out = json_object_new_object();
    json_object_object_add(out, "coordinates", coordinate_names(model));
    json_object_object_add(out, "M", json_rows(m->M, m->n, m->n));
    json_object_object_add(out, "C", json_rows(m->C, m->n, m->n));
    json_object_object_add(out, "K", json_rows(m->K, m->n, m->n));
    json_object_object_add(out, "G", json_numbers(m->G, m->n));
    json_object_object_add(out, "B", json_rows(m->B, m->n, m->n_tau));
    if (m->n_rows > 0)
        json_object_object_add(out, "constraint_jacobian", json_rows(m->constraint_jacobian, m->n_rows, m->n));
    const int code = json_print_finite("matrices", out);
    json_object_put(out);
    return code;
}

int command_matrices(int argc, char **argv)
{
    struct options options = {0};
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_OK) return code;
    struct report report = cli_report("matrices");
    struct cli_model loaded;
    struct matrices matrices;
    code = cli_load_model(options.robot, 0, options.state, &report, &loaded);
    if (code != EXIT_OK) return code;
    const enum status status = matrices_at(&loaded.mechanism, &loaded.state.input, &report, &matrices);
    code = status == STATUS_OK ? print_matrices(loaded.mechanism.model, &matrices) : cli_exit_code(status);
    matrices_free(&matrices);
    cli_free_model(&loaded);
    return code;
}
