#include "pack.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "installed.h"
#include "progress.h"
#include "result.h"
#include "robot/read.h"

enum { NAME_SIZE = 256 };

void pack_print_error(void *context, enum report_level level, const char *text)
{
    const struct pack_options *options = context;
    if (level == REPORT_ERROR) fprintf(stderr, "limber: %s: %s\n", options->command, text);
}

/* ---- arguments ------------------------------------------------------------------------------------------------------ */

int pack_argument(struct pack_options *options, int argc, char **argv, int *i)
{
    const char *command = options->command, *argument = argv[*i];
    if (strcmp(argument, "--json") == 0) options->json = true;
    else if (strcmp(argument, "-o") == 0) {
        if (*i + 1 == argc) return cli_usage(command, "-o takes a file name");
        options->output = argv[++*i];
    } else if (argument[0] == '-' && argument[1] != '\0') return cli_usage(command, "unknown option '%s'", argument);
    else if (options->subject != NULL) return cli_usage(command, "too many arguments: '%s'", argument);
    else options->subject = argument;
    return EXIT_OK;
}

int pack_complete(const struct pack_options *options)
{
    if (options->subject == NULL) return cli_usage(options->command, "expected %s", options->noun);
    if (options->output == NULL) return cli_usage(options->command, "expected -o %s", options->file);
    return EXIT_OK;
}

int pack_arguments(struct pack_options *options, int argc, char **argv)
{
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) code = pack_argument(options, argc, argv, &i);
    return code == EXIT_OK ? pack_complete(options) : code;
}

/* ---- what goes in -------------------------------------------------------------------------------------------------- */

/* The file that the variable names; else beside the program, where it is built; else where it is installed */
static bool library_path(const struct library_source *source, int platform, char path[PATH_SIZE], bool *named)
{
    const char *name = getenv(source->variable[platform]), *ending = platforms[platform].ending;
    *named = name != NULL && *name != '\0';
    if (*named) return snprintf(path, PATH_SIZE, "%s", name) < PATH_SIZE;
    char file[NAME_SIZE];
    bool found;
    snprintf(file, sizeof file, "%s.%s", source->name, ending);
    return installed_path(file, path, &found);
}

/* No bytes, with a report, if it is not available. The one for Windows may be missing, unless it was named. */
static struct blob load_library(const struct library_source *source, int platform, const char *output,
                                struct arena *arena, struct report *report)
{
    char path[PATH_SIZE], advice[128];
    bool named;
    snprintf(advice, sizeof advice, "it is built beside limber, or name it in %s", source->variable[platform]);
    if (!library_path(source, platform, path, &named)) {
        report_add(report, REPORT_ERROR, "cannot find the FMU's library: %s", advice);
        return (struct blob){0};
    }
    if (platform == PLATFORM_WINDOWS && !named && access(path, F_OK) != 0) return (struct blob){0};

    if (cli_same_file(output, path)) {
        report_add(report, REPORT_ERROR, "-o %s: the same file as the FMU's library %s", output, path);
        return (struct blob){0};
    }
    const char *magic = platforms[platform].magic;
    struct report quiet = {0};
    struct blob library = {0};
    library.bytes = document_load_file(path, arena, &library.size, &quiet);
    if (library.bytes == NULL) {
        report_add(report, REPORT_ERROR, "%s: the FMU's library cannot be read: %s; %s", path, strerror(errno), advice);
    } else if (library.size < strlen(magic) || memcmp(library.bytes, magic, strlen(magic)) != 0) {
        report_add(report, REPORT_ERROR, "%s: is not a shared library for %s; %s", path, platforms[platform].name,
                   advice);
        library.bytes = NULL;
    }
    return library;
}

bool pack_libraries(const struct pack_options *options, const struct library_source *source, struct arena *arena,
                    struct libraries *libraries, struct report *report)
{
    memset(libraries, 0, sizeof *libraries);
    for (int p = 0; p < PLATFORM_COUNT; p++) libraries->of[p] = load_library(source, p, options->output, arena, report);
    return report->errors == 0;
}

/* ---- what comes out ------------------------------------------------------------------------------------------------ */

/* The file is replaced as a whole, so it must not be a device or a directory. */
static bool may_replace(const char *file, struct report *report)
{
    struct stat status;
    if (stat(file, &status) != 0 || S_ISREG(status.st_mode)) return true;
    report_add(report, REPORT_ERROR, "%s: is not a regular file", file);
    return false;
}

static int count(const struct variables *variables, enum causality causality)
{
    int n = 0;
    for (int r = 0; r < variables->n; r++) n += variables->row[r].causality == causality;
    return n;
}

static void print_systems(const struct fmu *fmu, bool generated, const struct libraries *libraries)
{
    if (generated) puts("for Linux only: generated code");
    else if (libraries->of[PLATFORM_WINDOWS].bytes != NULL) puts("for Linux and Windows");
    else
        printf("for Linux only: %s.dll was not built\n", fmu->drive != NULL         ? fmu->name
                                                         : fmu->variables->discrete ? "controller"
                                                                                    : "limber_fmu");
}

static void print_summary(const struct pack_options *options, const struct fmu *fmu, const struct libraries *libraries)
{
    const struct variables *variables = fmu->variables;
    const int inputs = count(variables, CAUSALITY_INPUT), outputs = count(variables, CAUSALITY_OUTPUT);
    const int parameters = count(variables, CAUSALITY_PARAMETER);
    if (!options->json) {
        printf("%s: %s, %d inputs, %d outputs, %d parameters, %d states; ", options->output, fmu->name, inputs, outputs,
               parameters, variables->n_states);
        print_systems(fmu, options->generated, libraries);
        return;
    }
    struct json_object *json = json_object_new_object();
    json_object_object_add(json, "file", json_object_new_string(options->output));
    json_object_object_add(json, "name", json_object_new_string(fmu->name));
    json_object_object_add(json, "guid", json_object_new_string(fmu->guid));
    json_object_object_add(json, "inputs", json_object_new_int(inputs));
    json_object_object_add(json, "outputs", json_object_new_int(outputs));
    json_object_object_add(json, "parameters", json_object_new_int(parameters));
    json_object_object_add(json, "states", json_object_new_int(variables->n_states));
    struct json_object *folders = json_object_new_array();
    for (int p = 0; p < PLATFORM_COUNT; p++)
        if (libraries->of[p].bytes != NULL) json_object_array_add(folders, json_object_new_string(platforms[p].folder));
    json_object_object_add(json, "platforms", folders);
    puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(json);
}

enum status pack_write(const struct pack_options *options, const struct fmu *fmu, struct blob resource,
                       const struct libraries *libraries, struct report *report)
{
    if (!may_replace(options->output, report)) return STATUS_NO_FILE;
    struct arena arena = {0};
    const struct blob package = package_make(fmu, resource, libraries, &arena, report);
    progress_end();
    enum status status = package.bytes != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    if (status == STATUS_OK && result_write(options->output, package.bytes, package.size) != EXIT_OK)
        status = STATUS_NO_FILE;
    if (status == STATUS_OK) print_summary(options, fmu, libraries);
    arena_release(&arena);
    return status;
}
