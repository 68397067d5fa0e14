/* limber static ROBOT: the static equilibrium of a robot, what holds it, and whether it is stable. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/names.h"
#include "analysis/statics.h"
#include "cli.h"
#include "json_out.h"
#include "linearization.h"
#include "static_lists.h"

/* Joints that move less are not listed [rad or m] */
static const double VISIBLE = 1e-9;

static const struct option rows[] = {OPTION_ROBOT,
                                     OPTION_AT("where the search begins, and the loads: a JSON file (-: standard "
                                               "input) as for eval (default: the robot's start)"),
                                     OPTIONS_HOLDING(.needs = NULL),
                                     OPTION_SET,
                                     OPTION_JSON("JSON instead of a table; its operating_point can be used as a STATE"),
                                     OPTION_OUTPUT,
                                     {0}};

static const char details[] =
    "Driven joints and line actuators are held where they start: the torques and forces that hold them are part of the "
    "result. Passive joints move to their equilibrium, elastic coordinates bend, loops stay closed. A passive joint of "
    "type free is held, and the wrench that this takes is printed. In an open robot whose passive joints are moved by "
    "as many actuators, these hold the joints at their positions. Joints that are freed get the torque of the STATE, "
    "actuators that are freed its force. Unstable equilibria are found as well as stable ones: `stability` "
    "distinguishes them.";

/* ---- lists of the result -------------------------------------------------------------------------------------------------- */

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
            name_coordinate(model, TANGENT, lm->v + k, name);
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
    for (int a = 0; a < model->robot->n_lines; a++)
        show(context, model->robot->line[a].name, answer->found->F[a],
             answer->found->line[a] == LINE_GIVEN    ? "N, given"
             : answer->found->line[a] == LINE_SPRING ? "N, spring"
                                                     : "N, holds");
}

static void list_loops(const struct model *model, const struct static_answer *answer, show_number *show, void *context)
{
    const struct robot *robot = model->robot;
    for (int i = 0, row = 0; i < robot->n_loops; i++)
        for (int k = 0; k < loop_equations(robot->loop[i].type); k++, row++) {
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "%s.force[%d]", robot->loop[i].name, k + 1);
            show(context, name, answer->found->lambda[row], k < 3 ? "N" : "N.m"); /* distances come before angles */
        }
}

static void list_couplings(const struct model *model, const struct static_answer *answer, show_number *show,
                           void *context)
{
    const struct robot *robot = model->robot;
    for (int i = 0; i < robot->n_couplings; i++)
        show(context, robot->coupling[i].name, answer->coupling_force[i],
             coupling_is_angle(model, i)  ? robot->coupling[i].elastic ? "N.m, spring" : "N.m, rigid"
             : robot->coupling[i].elastic ? "N, spring"
                                          : "N, rigid");
}

static const struct {
    const char *key, *heading;
    void (*list)(const struct model *, const struct static_answer *, show_number *, void *);
} lists[] = {{"positions", "positions", list_positions},
             {"moved", "moved", list_moved},
             {"holding", "held by", static_list_holding},
             {"actuators", "actuators", static_list_forces},
             {"loops", "loops", list_loops},
             {"couplings", "couplings", list_couplings}};
enum { LISTS = sizeof lists / sizeof *lists };

/* ---- output --------------------------------------------------------------------------------------------------------------- */

static void print_line(void *context, const char *name, double value, const char *unit)
{
    const char **heading = context;
    if (*heading != NULL) printf("\n%s\n", *heading);
    *heading = NULL;
    printf("  %-28s %14.9g %s\n", name, value, unit);
}

static int print_table(const struct operating_point *point, const struct static_answer *answer)
{
    const struct model *model = point->mechanism->model;
    const struct stability *stability = &answer->stability;
    const double *tip = answer->tip.p;
    printf("%s: %s equilibrium", model->robot->name, static_stability_text(stability));
    if (stability->unstable + stability->indifferent > 0)
        printf(" (of %d directions %d unstable, %d indifferent)", stability->directions, stability->unstable,
               stability->indifferent);
    printf("\nforces of %.2g are left of %.3g\n", answer->found->residual, answer->found->load);
    for (int i = 0; i < LISTS; i++) {
        const char *heading = lists[i].heading;
        lists[i].list(model, answer, print_line, &heading);
    }
    printf("\n  %-28s %14.9g %14.9g %14.9g m\n", "tip", tip[0], tip[1], tip[2]);
    for (int i = 0; i < model->n_links; i++) {
        const double *d = answer->deflection[i];
        if (model->link[i].m > 0)
            printf("  %-28s %14.6g %14.6g %14.6g m, hinge axes\n", model->robot->link[i].name, d[0], d[1], d[2]);
    }
    return EXIT_OK;
}

static void add_number(void *context, const char *name, double value, const char *unit)
{
    (void)unit;
    json_add_number(context, name, value);
}

static int print_json(const struct operating_point *point, const struct static_answer *answer)
{
    const struct mechanism *m = point->mechanism;
    const struct stability *stability = &answer->stability;
    struct json_object *out = json_object_new_object(), *lengths = json_object_new_object(),
                       *deflections = json_object_new_object();
    json_add_text(out, "stability", static_stability_text(stability));
    json_add_whole(out, "directions", stability->directions);
    json_add_whole(out, "unstable_directions", stability->unstable);
    json_add_whole(out, "indifferent_directions", stability->indifferent);
    json_add_number(out, "residual", answer->found->residual);
    json_add_number(out, "load", answer->found->load);
    for (int i = 0; i < LISTS; i++) {
        struct json_object *list = json_object_new_object();
        lists[i].list(m->model, answer, add_number, list);
        json_add(out, lists[i].key, list);
    }
    for (int a = 0; a < m->robot->n_lines; a++) json_add_number(lengths, m->robot->line[a].name, m->element[a].x);
    for (int i = 0; i < m->robot->n_links; i++)
        if (m->model->link[i].m > 0) json_add_numbers(deflections, m->robot->link[i].name, answer->deflection[i], 3);
    json_add(out, "actuator_lengths", lengths);
    json_add(out, "deflections", deflections);
    json_add_numbers(out, "tip", answer->tip.p, 3);
    json_add(out, "operating_point", linearization_json_point(point));
    return json_print_finite("static", out);
}

/* ---- the command ------------------------------------------------------------------------------------------------------------ */

static int run(const void *given, struct report *report)
{
    const struct common *options = given;
    struct operating_point point;
    struct static_answer answer;
    enum status status = linearization_open(options, report, &point);
    if (status == STATUS_OK) status = static_answer_make(&point, options->at != NULL, report, &answer);
    int code = cli_exit_code(status);
    if (code == EXIT_OK) code = options->json ? print_json(&point, &answer) : print_table(&point, &answer);
    operating_point_free(&point);
    return code;
}

const struct command command_static = {.name = "static",
                                       .summary = "static equilibrium: positions at which nothing accelerates, forces "
                                                  "that hold it, deflections, and its stability",
                                       .details = details,
                                       .option = rows,
                                       .size = sizeof(struct common),
                                       .run = run};
