/* limber matrices ROBOT STATE: M, C, K, G, B at a state, as JSON. */
#include "dyn/matrices.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json_out.h"
#include "load.h"
#include "state.h"

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
    return options->state != NULL ? EXIT_FINE : cli_usage("matrices", "expected ROBOT and STATE");
}

static struct json_object *coordinate_names(const struct robot *robot)
{
    struct json_object *names = json_object_new_array();
    for (int i = 0; i < robot->n_links; i++) {
        const struct link *link = &robot->link[i];
        const int count = (joint_moves(&link->joint) ? 1 : 0) + link_modes(link);
        for (int k = 0; k < count; k++) {
            char name[NAME_SIZE];
            cli_coordinate_name(link, k, name);
            json_object_array_add(names, json_object_new_string(name));
        }
    }
    return names;
}

/* The bare robot's model, work and tangent, and room for the matrices */
struct bare {
    struct model *model;
    struct work *work;
    struct tangent *tangent;
    double *matrix, *scratch; /* n x n                                  */
    struct arena arena;
};

static enum status make_bare(const struct robot *robot, struct bare *bare)
{
    struct report silent = {0}; /* what there is to say was said when the robot's model was made */
    enum status status = model_make_bare(robot, &bare->model, &silent);
    if (status == STATUS_OK) status = work_make(bare->model, &bare->work);
    if (status == STATUS_OK) status = tangent_make(bare->model, &bare->tangent);
    if (status != STATUS_OK) return status;
    const size_t n = (size_t)bare->model->n;
    bare->matrix = arena_take(&bare->arena, n * n, sizeof(double));
    bare->scratch = arena_take(&bare->arena, n * n, sizeof(double));
    return bare->arena.failed ? STATUS_NO_MEMORY : STATUS_OK;
}

static void free_bare(struct bare *bare)
{
    arena_release(&bare->arena);
    tangent_free(bare->tangent);
    work_free(bare->work);
    model_free(bare->model);
}

/* All equations, those that follow from others too, in the order of `gap` of eval */
static struct json_object *constraint_jacobian(struct cli_model *loaded, const struct state *state)
{
    dyn_motion(loaded->mechanism.model, loaded->mechanism.work, &state->input, NULL);
    dyn_velocity(loaded->mechanism.model, loaded->mechanism.work, &state->input);
    constraints_rows(&loaded->mechanism);
    return json_rows(loaded->mechanism.constraints->G, loaded->mechanism.constraints->n_rows,
                     loaded->mechanism.model->n);
}

static int print_matrices(struct cli_model *loaded, const struct state *state, struct bare *bare)
{
    const struct model *model = loaded->mechanism.model;
    const int n = model->n;
    struct json_object *out = json_object_new_object();
    json_object_object_add(out, "coordinates", coordinate_names(model->robot));
    dyn_configuration(model, loaded->mechanism.work, state->q);
    dyn_mass_matrix(model, loaded->mechanism.work);
    json_object_object_add(out, "M", json_rows(loaded->mechanism.work->M, n, n));
    dyn_coriolis(bare->model, bare->work, bare->tangent, &state->input, bare->matrix, bare->scratch);
    json_object_object_add(out, "C", json_rows(bare->matrix, n, n));
    dyn_stiffness(model, bare->matrix);
    json_object_object_add(out, "K", json_rows(bare->matrix, n, n));
    dyn_gravity(bare->model, bare->work, state->q, bare->matrix);
    json_object_object_add(out, "G", json_numbers(bare->matrix, n));
    dyn_input_matrix(model, bare->matrix);
    json_object_object_add(out, "B", json_rows(bare->matrix, n, model->n_joints));
    if (loaded->mechanism.constraints->n_rows > 0)
        json_object_object_add(out, "constraint_jacobian", constraint_jacobian(loaded, state));
    const int code = json_print_finite("matrices", out);
    json_object_put(out);
    return code;
}

int command_matrices(int argc, char **argv)
{
    struct options options = {0};
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_FINE) return code;
    struct cli_model loaded;
    code = cli_load_model(options.robot, 0, &loaded);
    if (code != EXIT_FINE) return code;
    struct state state;
    struct bare bare = {0};
    code = state_read(loaded.mechanism.model, options.state, &state) == 0 ? EXIT_FINE : EXIT_INPUT;
    if (code == EXIT_FINE) {
        const enum status status = make_bare(loaded.robot, &bare);
        if (status == STATUS_OK) code = print_matrices(&loaded, &state, &bare);
        else {
            fprintf(stderr, "limber: matrices: %s\n", status_text(status));
            code = EXIT_COMPUTATION;
        }
    }
    free_bare(&bare);
    state_free(&state);
    cli_free_model(&loaded);
    return code;
}
