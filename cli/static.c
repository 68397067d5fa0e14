/* limber static ROBOT: the static equilibrium of a robot, what holds it, and whether it is stable. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/names.h"
#include "analysis/statics.h"
#include "cli.h"
#include "holding.h"
#include "instance.h"
#include "json_out.h"
#include "linearization.h"
#include "robot/read.h"
#include "static_lists.h"

/* Joints that move less are not listed [rad or m] */
static const double VISIBLE = 1e-9;

struct options {
    const char *robot, *at;
    bool json;
    struct holding holding;
    struct settings settings;
};

static int parse_options(int argc, char **argv, struct options *options)
{
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        const char *option = argv[i];
        const bool valued = strcmp(option, "--at") == 0 || strcmp(option, "--set") == 0;
        bool taken = false;
        if (valued && i + 1 >= argc) return cli_usage("static", "%s takes a value", option);
        code = holding_option("static", argc, argv, &i, &options->holding, &taken);
        if (taken || code != EXIT_OK) continue;
        if (strcmp(option, "--at") == 0) options->at = argv[++i];
        else if (valued) code = cli_settings_add("static", argv[++i], &options->settings);
        else if (strcmp(option, "--json") == 0) options->json = true;
        else if (option[0] == '-' && option[1] != '\0') code = cli_usage("static", "unknown option '%s'", option);
        else if (options->robot == NULL) options->robot = option;
        else code = cli_usage("static", "too many arguments: '%s'", option);
    }
    return code == EXIT_OK && options->robot == NULL ? cli_usage("static", "expected ROBOT") : code;
}

/* ---- what there is to say ------------------------------------------------------------------------------------------------ */

/* A number with a name and a unit, in one of the lists of the answer */

static void list_positions(const struct model *model, const struct static_answer *answer, show_number *show,
                           void *context)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; k < lm->joint.nq; k++) {
            char name[NAME_SIZE];
            name_coordinate(model, POSITION, lm->q + k, name);
            show(context, name, answer->found->q[lm->q + k], joint_position_unit(&model->robot->link[i].joint, k));
        }
    }
}

static void list_moved(const struct model *model, const struct static_answer *answer, show_number *show, void *context)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; k < lm->joint.nv; k++) {
            char name[NAME_SIZE];
            name_tangent(model, lm->v + k, name);
            if (fabs(answer->moved[lm->v + k]) > VISIBLE)
                show(context, name, answer->moved[lm->v + k], lm->joint.part[k] == TURNS ? "rad" : "m");
        }
    }
}

void static_list_holding(const struct model *model, const struct static_answer *answer, show_number *show,
                         void *context)
{
    const struct statics *found = answer->found;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; k < lm->joint.nv; k++) {
            char name[NAME_SIZE];
            name_joint_force(&model->robot->link[i].joint, k, name);
            if (!found->moves[lm->v + k] && !found->balanced[lm->v + k])
                show(context, name, found->holding[lm->v + k], lm->joint.part[k] == TURNS ? "N.m" : "N");
        }
    }
}

void static_list_forces(const struct model *model, const struct static_answer *answer, show_number *show, void *context)
{
    for (int a = 0; a < model->robot->n_actuators; a++)
        show(context, model->robot->actuator[a].name, answer->found->F[a],
             answer->found->line[a] == LINE_GIVEN    ? "N, given"
             : answer->found->line[a] == LINE_SPRING ? "N, spring"
                                                     : "N, holds");
}

static void list_loops(const struct model *model, const struct static_answer *answer, show_number *show, void *context)
{
    const struct robot *robot = model->robot;
    for (int i = 0, row = 0; i < robot->n_loops; i++)
        for (int k = 0; k < constraints_loop_equations(robot->loop[i].type); k++, row++) {
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "%s.force[%d]", robot->loop[i].name, k + 1);
            show(context, name, answer->found->lambda[row], k < 3 ? "N" : "N.m"); /* distances come before angles */
        }
}

/* ---- output --------------------------------------------------------------------------------------------------------------- */

static void print_line(void *context, const char *name, double value, const char *unit)
{
    const char **heading = context;
    if (*heading != NULL) printf("\n%s\n", *heading);
    *heading = NULL;
    printf("  %-28s %14.9g %s\n", name, value, unit);
}

static void print_bending(const struct model *model, const struct static_answer *answer)
{
    for (int i = 0; i < model->n_links; i++) {
        const double *d = answer->deflection[i];
        if (model->link[i].m > 0)
            printf("  %-28s %14.6g %14.6g %14.6g m, hinge axes\n", model->robot->link[i].name, d[0], d[1], d[2]);
    }
}

static int print_table(const struct operating_point *point, const struct static_answer *answer)
{
    const struct model *model = point->mechanism->model;
    const struct stability *stability = &answer->stability;
    const char *headings[] = {"positions", "moved", "held by", "actuators", "loops"};
    const double *tip = answer->tip.p;
    printf("%s: %s equilibrium", model->robot->name, static_stability_text(stability));
    if (stability->unstable + stability->indifferent > 0)
        printf(" (of %d directions %d unstable, %d indifferent)", stability->directions, stability->unstable,
               stability->indifferent);
    printf("\nforces of %.2g are left of %.3g\n", answer->found->residual, answer->found->load);
    list_positions(model, answer, print_line, &headings[0]);
    list_moved(model, answer, print_line, &headings[1]);
    static_list_holding(model, answer, print_line, &headings[2]);
    static_list_forces(model, answer, print_line, &headings[3]);
    list_loops(model, answer, print_line, &headings[4]);
    printf("\n  %-28s %14.9g %14.9g %14.9g m\n", "tip", tip[0], tip[1], tip[2]);
    print_bending(model, answer);
    return EXIT_OK;
}

static void add_number(void *context, const char *name, double value, const char *unit)
{
    (void)unit;
    json_object_object_add(context, name, json_object_new_double(value));
}

static void add_list(struct json_object *out, const char *key, const struct model *model,
                     const struct static_answer *answer,
                     void (*list)(const struct model *, const struct static_answer *, show_number *, void *))
{
    struct json_object *object = json_object_new_object();
    list(model, answer, add_number, object);
    json_object_object_add(out, key, object);
}

/* Lengths by name, deflections of flexible links */
static void add_parts(struct json_object *out, const struct mechanism *m, const struct static_answer *answer)
{
    struct json_object *lengths = json_object_new_object(), *deflections = json_object_new_object();
    for (int a = 0; a < m->robot->n_actuators; a++)
        add_number(lengths, m->robot->actuator[a].name, m->actuators->line[a].length, NULL);
    for (int i = 0; i < m->robot->n_links; i++)
        if (m->model->link[i].m > 0) json_add_numbers(deflections, m->robot->link[i].name, answer->deflection[i], 3);
    json_object_object_add(out, "actuator_lengths", lengths);
    json_object_object_add(out, "deflections", deflections);
}

static int print_json(const struct operating_point *point, const struct static_answer *answer)
{
    const struct model *model = point->mechanism->model;
    const struct stability *stability = &answer->stability;
    struct json_object *out = json_object_new_object();
    json_object_object_add(out, "stability", json_object_new_string(static_stability_text(stability)));
    json_object_object_add(out, "directions", json_object_new_int(stability->directions));
    json_object_object_add(out, "unstable_directions", json_object_new_int(stability->unstable));
    json_object_object_add(out, "indifferent_directions", json_object_new_int(stability->indifferent));
    json_object_object_add(out, "residual", json_object_new_double(answer->found->residual));
    json_object_object_add(out, "load", json_object_new_double(answer->found->load));
    add_list(out, "positions", model, answer, list_positions);
    add_list(out, "moved", model, answer, list_moved);
    add_list(out, "holding", model, answer, static_list_holding);
    add_list(out, "actuators", model, answer, static_list_forces);
    add_list(out, "loops", model, answer, list_loops);
    add_parts(out, point->mechanism, answer);
    json_add_numbers(out, "tip", answer->tip.p, 3);
    json_object_object_add(out, "operating_point", linearization_json_point(point));
    const int code = json_print_finite("static", out);
    json_object_put(out);
    return code;
}

/* ---- the command ------------------------------------------------------------------------------------------------------------ */

static int run_at(const struct options *options, struct operating_point *point, struct arena *arena,
                  struct report *report)
{
    int code = cli_exit_code(state_read(point->mechanism->model, options->at, report, &point->state));
    if (code == EXIT_OK) code = cli_settings_apply("static", &options->settings, point->sim, arena);
    if (code == EXIT_OK) code = holding_apply("static", &options->holding, point->sim);
    if (code != EXIT_OK) return code;
    struct static_answer answer;
    code = cli_exit_code(static_answer_make(point, options->at != NULL, report, &answer));
    if (code == EXIT_OK) code = options->json ? print_json(point, &answer) : print_table(point, &answer);
    static_answer_free(&answer);
    return code;
}

int command_static(int argc, char **argv)
{
    struct options options = {0};
    struct report report = cli_report("static");
    struct operating_point point = {0};
    struct arena arena = {0};
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_OK) return code;
    const char *text = document_load(options.robot, &arena, &report);
    code = text == NULL ? EXIT_INPUT : cli_exit_code(operating_point_make(options.robot, text, &report, &point));
    if (code == EXIT_OK) code = run_at(&options, &point, &arena, &report);
    operating_point_free(&point);
    arena_release(&arena);
    return code;
}
