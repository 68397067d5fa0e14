#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vendor.h"
#include "cli.h"
#include "load.h"
#include "options.h"
#include "result.h"
#include "robot/nearest.h"

static const struct command *const commands[] = {
    &command_check,  &command_eval,  &command_simulate, &command_inverse,  &command_view,      &command_picture,
    &command_report, &command_fmu,   &command_upgrade,  &command_drive,    &command_modes,     &command_linearize,
    &command_static, &command_zeros, &command_matrices, &command_generate, &command_equations, &command_bench};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static int print_overview(FILE *stream)
{
    fprintf(stream, "usage: limber COMMAND ...\n\nDynamics of robots with flexible links.\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++) fprintf(stream, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(stream,
            "\n`limber COMMAND --help` explains a command. Exit codes: 0 success, 1 a problem with the input, 2 wrong\n"
            "usage, 3 the computation failed.\n");
    return stream == stdout ? EXIT_OK : EXIT_USAGE;
}

/* NULL, with a message, if there is none of this name */
static const struct command *find_command(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i]->name;
        if (strcmp(names[i], name) == 0) return commands[i];
    }
    cli_unknown("limber", "limber: there is no command", name, COMMAND_COUNT, names);
    return NULL;
}

void cli_unknown(const char *program, const char *what, const char *name, int n, const char *const *names)
{
    const char *meant = nearest(name, n, names);
    fprintf(stderr, "%s \"%s\"", what, name);
    if (meant != NULL) fprintf(stderr, ", did you mean \"%s\"?\n", meant);
    else fprintf(stderr, "; `%s --help` lists them\n", program);
}

static int asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return 1;
    return 0;
}

int cli_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "limber: %s: ", command);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "; see `limber %s --help`\n", command);
    return EXIT_USAGE;
}

int cli_no_memory(const char *command)
{
    fprintf(stderr, "limber: %s: %s\n", command, status_text(STATUS_NO_MEMORY));
    return cli_exit_code(STATUS_NO_MEMORY);
}

void cli_print_error(void *context, enum report_level level, const char *text)
{
    const char *prefix = context;
    if (level == REPORT_ERROR)
        fprintf(stderr, "%s%s%s\n", prefix != NULL ? prefix : "", prefix != NULL ? ": " : "", text);
}

void cli_print_message(void *context, enum report_level level, const char *text)
{
    const char *command = context;
    fprintf(stderr, "limber: %s%s%s%s\n", command != NULL ? command : "", command != NULL ? ": " : "",
            level == REPORT_ERROR ? "" : "warning: ", text);
}

struct report cli_report(const char *command)
{
    return (struct report){.line = cli_print_message, .context = (void *)(uintptr_t)command};
}

int cli_exit_code(enum status status)
{
    switch (status) {
    case STATUS_OK: return EXIT_OK;
    case STATUS_BAD_ROBOT:
    case STATUS_BAD_DRIVE:
    case STATUS_BAD_INPUT:
    case STATUS_NO_FILE: return EXIT_INPUT;
    default: return EXIT_COMPUTATION;
    }
}

bool cli_same_file(const char *a, const char *b)
{
    struct stat x, y;
    const bool both = stat(a, &x) == 0 && (strcmp(b, "-") == 0 ? fstat(STDIN_FILENO, &y) : stat(b, &y)) == 0;
    return both && S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

void cli_progress_show(const char *what, int done, int all)
{
    if (!isatty(STDERR_FILENO) || (all > 100 && done % (all / 100) != 0)) return;
    if (all > 1) fprintf(stderr, "\r%s: %d of %d\033[K", what, done, all);
    else fprintf(stderr, "\r%s\033[K", what);
}

void cli_progress_time(double t, double end)
{
    if (!isatty(STDERR_FILENO)) return;
    if (t < end) fprintf(stderr, "\r%.3g of %.3g s", t, end);
    else fputs("\r                              \r", stderr);
}

void cli_progress_end(void)
{
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

/* ---- the command -------------------------------------------------------------------------------------------------- */

static bool names_result(const struct command *command, const char *option)
{
    const struct option *row = options_find(command, option);
    return row != NULL && (row->type == OPTION_RESULT || row->type == OPTION_REDIRECT);
}

/* Rejects a result file that the command also reads or writes in another way: its arguments name all files */
static int check_results(const struct command *command, int argc, char **argv)
{
    for (int o = 1; o + 1 < argc; o++) {
        if (!names_result(command, argv[o])) continue;
        const char *file = argv[o + 1];
        for (int i = 1; i < argc; i++)
            if (i != o && i != o + 1 &&
                (cli_same_file(file, argv[i]) || (names_result(command, argv[i - 1]) && strcmp(file, argv[i]) == 0)))
                return cli_usage(command->name, "%s %s: the same file as %s", argv[o], file, argv[i]);
        o++;
    }
    return EXIT_OK;
}

/* A result that could not be written is an error. */
static int finish(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "limber: the result could not be written: %s\n", strerror(errno));
    return code == EXIT_OK ? EXIT_INPUT : code;
}

struct call {
    const struct command *command;
    const struct common *options;
    int code;
};

static void run_command(void *context)
{
    struct call *call = context;
    struct report report = cli_report(call->command->name);
    struct cli_model loaded;
    if (call->command->run_model == NULL) {
        call->code = call->command->run(call->options, &report);
    } else if ((call->code = cli_load_model(call->options, &report, &loaded)) == EXIT_OK) {
        call->code = call->command->run_model(call->options, &loaded, &report);
        cli_free_model(&loaded);
    }
}

/* json-c does not survive a failed allocation. Readers guard it (base/vendor.h); if memory runs out where a command writes JSON, the
   command ends, and with it the process, which returns all other memory. */
static int run_guarded(const struct command *command, const struct common *options)
{
    struct call call = {command, options, EXIT_OK};
    struct result result = {0};
    struct vendor_memory memory = {0};
    const struct option *row = options_find(command, "-o");
    if (row != NULL && row->type == OPTION_REDIRECT && options->output != NULL)
        call.code = result_open(options->output, stdout, &result);
    if (call.code != EXIT_OK) return call.code;
    const bool finished = vendor_run(&memory, run_command, &call);
    vendor_release(&memory);
    if (finished) return result.stream != NULL ? result_close(&result, call.code) : finish(call.code);
    fprintf(stderr, "limber: %s: not finished: %s\n", command->name, status_text(STATUS_NO_MEMORY));
    result_abandon();
    return EXIT_COMPUTATION;
}

int main(int argc, char **argv)
{
    if (argc < 2) return print_overview(stderr);
    if (strcmp(argv[1], "--version") == 0) {
        printf("limber %s\n", LIMBER_VERSION);
        return finish(EXIT_OK);
    }
    if (asks_for_help(2, argv)) return finish(print_overview(stdout));
    const struct command *command = find_command(argv[1]);
    if (command == NULL) return EXIT_USAGE;
    if (asks_for_help(argc - 2, argv + 2)) {
        options_help(command);
        return finish(EXIT_OK);
    }
    struct common *options = calloc(1, command->size);
    if (options == NULL) return cli_no_memory(command->name);
    if (command->defaults != NULL) memcpy(options, command->defaults, command->size);
    struct arena arena = {0};
    options->command = command->name;
    options->arena = &arena;
    int code = check_results(command, argc - 1, argv + 1);
    if (code == EXIT_OK) code = options_parse(command, argc - 1, argv + 1, options);
    if (code == EXIT_OK && command->check != NULL) code = command->check(options);
    if (code == EXIT_OK) code = run_guarded(command, options);
    arena_release(&arena);
    free(options);
    return code;
}
