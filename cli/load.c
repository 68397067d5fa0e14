#include "load.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "robot/read.h"

static void print_line(void *context, enum report_level level, const char *text)
{
    const char *const *file = context;
    if (level == REPORT_ERROR) fprintf(stderr, "%s: %s\n", *file, text);
}

int cli_make_model(const char *file, struct robot *robot, struct cli_model *loaded)
{
    *loaded = (struct cli_model){.robot = robot};
    struct report report = {.line = print_line, .context = &file};
    const enum status status = mechanism_make(robot, &loaded->mechanism, &report);
    if (status == STATUS_OK) return EXIT_FINE;
    if (report.errors == 0) fprintf(stderr, "%s: %s\n", file, status_text(status));
    cli_free_model(loaded);
    return cli_exit_code(status);
}

int cli_load_model(const char *file, int elastic_terms, struct cli_model *loaded)
{
    int code = EXIT_FINE;
    memset(loaded, 0, sizeof *loaded);
    struct robot *robot = cli_load(file, &code);
    if (robot == NULL) return code;
    if (elastic_terms != 0) robot->elastic_terms = (enum elastic_terms)elastic_terms;
    return cli_make_model(file, robot, loaded);
}

void cli_free_model(struct cli_model *loaded)
{
    mechanism_free(&loaded->mechanism);
    robot_free(loaded->robot);
    memset(loaded, 0, sizeof *loaded);
}

int cli_load_sim(const char *file, const struct sim_motion *motion, struct report *report, struct arena *arena,
                 struct instance **sim)
{
    size_t length;
    const char *text = document_load(file, arena, &length, report);
    *sim = NULL;
    const enum status status = text != NULL ? sim_make_moved(file, text, motion, report, sim) : STATUS_NO_FILE;
    if (status == STATUS_OK) return EXIT_FINE;
    if (report->errors == 0) fprintf(stderr, "limber: %s: %s\n", file, status_text(status));
    return cli_exit_code(status);
}

void cli_not_positive(const char *command, const struct model *model, const struct work *work)
{
    const struct link *link = &model->robot->link[work->failed_link];
    fprintf(stderr,
            "limber: %s: %s: nothing resists the motion of link '%s' (joint '%s'): give it or what it carries mass, "
            "inertia or "
            "motor_inertia\n",
            command, status_text(STATUS_NOT_POSITIVE), link->name, link->joint.name);
}

void cli_not_solved(const char *command, const struct mechanism *mechanism, enum status status)
{
    if (status == STATUS_NOT_POSITIVE) cli_not_positive(command, mechanism->model, mechanism->work);
    else if (status == STATUS_SHORT_ACTUATOR)
        fprintf(stderr, "limber: %s: actuators[%d] (%s): %s\n", command, mechanism->actuators->failed,
                mechanism->robot->actuator[mechanism->actuators->failed].name, status_text(status));
    else fprintf(stderr, "limber: %s: %s\n", command, status_text(status));
}

void cli_coordinate_name(const struct link *link, int k, char name[NAME_SIZE])
{
    const int moves = joint_moves(&link->joint) ? 1 : 0;
    if (k < moves) snprintf(name, NAME_SIZE, "%s.q", link->joint.name);
    else snprintf(name, NAME_SIZE, "%s.eta[%d]", link->name, k - moves + 1);
}

int cli_elastic_terms(const char *name)
{
    static const char *const names[] = {
        [TERMS_FULL] = "full", [TERMS_LINEAR] = "linear", [TERMS_RUTHLESS] = "ruthless"};
    for (int i = TERMS_FULL; i <= TERMS_RUTHLESS; i++)
        if (strcmp(name, names[i]) == 0) return i;
    return 0;
}
