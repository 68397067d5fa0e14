/* What the subcommands of limber share. Each is one file with one function; main.c has the table. */
#ifndef CLI_H
#define CLI_H

#include "base/status.h"
#include "robot/robot.h"

enum exit_code { EXIT_OK = 0, EXIT_INPUT = 1, EXIT_USAGE = 2, EXIT_COMPUTATION = 3 };

/* argv[0] is the subcommand's name; --help is handled before. The result is an exit_code. */
int command_check(int argc, char **argv);
int command_eval(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_simulate(int argc, char **argv);
int command_inverse(int argc, char **argv);
int command_fmu(int argc, char **argv);
int command_drive(int argc, char **argv);
int command_linearize(int argc, char **argv);
int command_static(int argc, char **argv);
int command_zeros(int argc, char **argv);
int command_matrices(int argc, char **argv);
int command_equations(int argc, char **argv);
int command_generate(int argc, char **argv);
int command_modes(int argc, char **argv);
int command_upgrade(int argc, char **argv);
int command_view(int argc, char **argv);
int command_picture(int argc, char **argv);
int command_report(int argc, char **argv);

/* Reads a robot and prints what is wrong with it to standard error; NULL, with the exit code set, on errors. Warnings are not
   printed: `limber check` does that. The caller frees the robot. */
struct robot *cli_load(const char *file, int *exit_code);

/* A report whose errors and warnings go to standard error as `limber: COMMAND: TEXT`. */
struct report cli_report(const char *command);

/* For struct report: errors, and warnings too, go to standard error as `limber: TEXT`. */
void cli_print_error(void *context, enum report_level level, const char *text);
void cli_print_warning(void *context, enum report_level level, const char *text);

/* The one place where a status becomes an exit code. */
int cli_exit_code(enum status status);

/* Prints that memory ran out and returns the exit code for it. */
int cli_no_memory(const char *command);

/* Prints what is wrong with the usage to standard error and returns EXIT_USAGE. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int cli_usage(const char *command, const char *format, ...);

/* Whether both names exist and are the same regular file; b may be - for standard input. */
bool cli_same_file(const char *a, const char *b);

/* Reads the value of an option; wrong usage is reported. */
int cli_positive(const char *command, const char *option, const char *text, double *number);
int cli_tolerance(const char *command, const char *option, const char *text, double *number);

/* The value of --joints of commands with modes (modes.c): locked or free. */
int cli_joints(const char *command, const char *text, bool *joints_free);

#endif
