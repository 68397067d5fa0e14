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

int cli_load_model(const char *file, int elastic_terms, const char *at, struct report *report, struct cli_model *loaded)
{
    int code = EXIT_OK;
    memset(loaded, 0, sizeof *loaded);
    loaded->robot = cli_load(file, &code);
    if (loaded->robot == NULL) return code;
    if (elastic_terms != 0) loaded->robot->elastic_terms = (enum elastic_terms)elastic_terms;
    loaded->robot->every_frame_loaded = at != NULL; /* a STATE has wrenches on any frame */
    struct report lines = {.line = print_line, .context = &file};
    enum status status = mechanism_make(loaded->robot, &loaded->mechanism, &lines);
    if (status != STATUS_OK && lines.errors == 0) fprintf(stderr, "%s: %s\n", file, status_text(status));
    if (status == STATUS_OK) status = state_read(loaded->mechanism.model, at, report, &loaded->state);
    if (status != STATUS_OK) cli_free_model(loaded);
    return cli_exit_code(status);
}

void cli_free_model(struct cli_model *loaded)
{
    state_free(&loaded->state);
    mechanism_free(&loaded->mechanism);
    robot_free(loaded->robot);
    memset(loaded, 0, sizeof *loaded);
}

int cli_load_sim(const char *file, bool with_state, struct report *report, struct arena *arena, struct instance **sim)
{
    const char *text = document_load(file, arena, report);
    *sim = NULL;
    const enum status status = text == NULL ? STATUS_NO_FILE
                               : with_state ? sim_make_loaded(file, text, report, sim)
                                            : sim_make(file, text, report, sim);
    if (status != STATUS_OK && report->errors == 0) fprintf(stderr, "limber: %s: %s\n", file, status_text(status));
    return cli_exit_code(status);
}

int cli_elastic_terms(const char *name)
{
    static const char *const names[] = {
        [TERMS_FULL] = "full", [TERMS_LINEAR] = "linear", [TERMS_RUTHLESS] = "ruthless"};
    for (int i = TERMS_FULL; i <= TERMS_RUTHLESS; i++)
        if (strcmp(name, names[i]) == 0) return i;
    return 0;
}
