/* What the subcommands of limber share. Each is a file that defines a struct command; main.c lists them. */
#ifndef CLI_H
#define CLI_H

#include "base/status.h"
#include "options.h"
#include "robot/robot.h"

enum exit_code { EXIT_OK = 0, EXIT_INPUT = 1, EXIT_USAGE = 2, EXIT_COMPUTATION = 3 };

extern const struct command command_check, command_eval, command_bench, command_simulate, command_inverse, command_fmu,
    command_drive, command_linearize, command_static, command_zeros, command_matrices, command_equations,
    command_generate, command_modes, command_upgrade, command_view, command_picture, command_report;

/* A report whose errors and warnings go to standard error as `limber: COMMAND: TEXT`. */
struct report cli_report(const char *command);

/* For struct report: errors as `CONTEXT: TEXT`; errors and warnings as `limber: CONTEXT: TEXT`. The context is a text; NULL: none. */
void cli_print_error(void *context, enum report_level level, const char *text);
void cli_print_message(void *context, enum report_level level, const char *text);

/* The exit code for a status. */
int cli_exit_code(enum status status);

/* Prints that memory ran out and returns the exit code for it. */
int cli_no_memory(const char *command);

/* Reports wrong usage on standard error and returns EXIT_USAGE. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int cli_usage(const char *command, const char *format, ...);

/* Reports `WHAT "NAME"`, "there is no ..." being said by `what`, and which of n names is meant, or that the help of `program` lists them. */
void cli_unknown(const char *program, const char *what, const char *name, int n, const char *const *names);

/* Whether both names exist and are the same regular file; b may be - for standard input. */
bool cli_same_file(const char *a, const char *b);

/* The progress of long work, on a terminal only: one line of standard error that is overwritten. */

/* For struct report. `done` of `all` parts of this work are done. */
void cli_progress_show(const char *what, int done, int all);

/* Of a simulation; at its end the line is cleared. */
void cli_progress_time(double t, double end);

/* Clears the line. */
void cli_progress_end(void);

#endif
