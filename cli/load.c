#include "load.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "robot/read.h"

int cli_load_model(const struct common *options, struct report *report, struct cli_model *loaded)
{
    struct report lines = {.line = cli_print_error, .context = (void *)(uintptr_t)options->robot};
    struct report errors = {.line = cli_print_error}; /* `check` prints warnings of the file */
    memset(loaded, 0, sizeof *loaded);
    enum status status = robot_read_file(options->robot, &loaded->robot, &errors);
    if (status != STATUS_OK) return cli_exit_code(status);
    if (options->elastic_terms != 0) loaded->robot->elastic_terms = (enum elastic_terms)options->elastic_terms;
    loaded->robot->every_frame_loaded = options->at != NULL; /* a STATE has wrenches on any frame */
    status = mechanism_make(loaded->robot, &loaded->mechanism, &lines);
    if (status != STATUS_OK && lines.errors == 0) fprintf(stderr, "%s: %s\n", options->robot, status_text(status));
    if (status == STATUS_OK) status = state_start(loaded->mechanism.model, report, &loaded->state);
    if (status == STATUS_OK) status = state_read(options->at, report, &loaded->state);
    if (status != STATUS_OK) cli_free_model(loaded);
    return cli_exit_code(status);
}

void cli_free_model(struct cli_model *loaded)
{
    arena_release(&loaded->state.arena);
    mechanism_free(&loaded->mechanism);
    robot_free(loaded->robot);
    memset(loaded, 0, sizeof *loaded);
}
