/* limber fmu ROBOT -o FILE.fmu: packs the FMU. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "dyn/work.h"
#include "package.h"
#include "robot/read.h"
#include "sim/sim.h"

enum { PATH_SIZE = 4096 };

struct options {
    const char *robot, *output;
    bool json;
};

static void print_error(void *context, enum report_level level, const char *text)
{
    (void)context;
    if (level == REPORT_ERROR) fprintf(stderr, "limber fmu: %s\n", text);
}

/* ---- what goes in -------------------------------------------------------------------------------------------------- */

/* What names the library of a system in the environment; else it is limber_fmu.so, limber_fmu.dll beside this program. */
static const char *const library_variable[PLATFORM_COUNT] = {"LIMBER_FMU_LIBRARY", "LIMBER_FMU_DLL"};

static bool library_path(int platform, char path[PATH_SIZE], bool *named)
{
    const char *name = getenv(library_variable[platform]);
    *named = name != NULL && *name != '\0';
    if (*named) return snprintf(path, PATH_SIZE, "%s", name) < PATH_SIZE;

    const ssize_t length = readlink("/proc/self/exe", path, PATH_SIZE - 1);
    char *slash = NULL;
    if (length > 0) {
        path[length] = '\0';
        slash = strrchr(path, '/');
    }
    if (slash == NULL) return false;
    const size_t room = (size_t)(path + PATH_SIZE - slash);
    return (size_t)snprintf(slash, room, "/limber_fmu.%s", platforms[platform].ending) < room;
}

/* No bytes, with a report, where it cannot be had. But the one for Windows may be missing, unless it was named. */
static struct blob load_library(int platform, struct arena *arena, struct report *report)
{
    char path[PATH_SIZE], advice[128];
    bool named;
    snprintf(advice, sizeof advice, "it is built beside limber, or name it in %s", library_variable[platform]);
    if (!library_path(platform, path, &named)) {
        report_add(report, REPORT_ERROR, "cannot find the FMU's library: %s", advice);
        return (struct blob){0};
    }
    if (platform == PLATFORM_WINDOWS && !named && access(path, F_OK) != 0) return (struct blob){0};

    const char *magic = platforms[platform].magic;
    struct report quiet = {0};
    struct blob library = {0};
    library.bytes = document_load(path, arena, &library.size, &quiet);
    if (library.bytes == NULL) {
        report_add(report, REPORT_ERROR, "%s: the FMU's library cannot be read: %s; %s", path, strerror(errno), advice);
    } else if (library.size < strlen(magic) || memcmp(library.bytes, magic, strlen(magic)) != 0) {
        report_add(report, REPORT_ERROR, "%s: is not a shared library for %s; %s", path, platforms[platform].name,
                   advice);
        library.bytes = NULL;
    }
    return library;
}

static bool load_libraries(struct libraries *libraries, struct arena *arena, struct report *report)
{
    for (int p = 0; p < PLATFORM_COUNT; p++) libraries->of[p] = load_library(p, arena, report);
    return report->errors == 0;
}

static struct blob load_robot(const char *file, struct arena *arena, struct report *report)
{
    struct blob robot = {0};
    robot.bytes = document_load(file, arena, &robot.size, report);
    if (robot.bytes != NULL && strlen(robot.bytes) != robot.size) {
        report_add(report, REPORT_ERROR, "%s: not JSON: has a null byte", file);
        robot.bytes = NULL;
    }
    return robot;
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

static void print_summary(const struct options *options, const struct fmu *fmu, const struct libraries *libraries)
{
    const bool windows = libraries->of[PLATFORM_WINDOWS].bytes != NULL;
    const struct variables *variables = fmu->variables;
    const int inputs = count(variables, CAUSALITY_INPUT), outputs = count(variables, CAUSALITY_OUTPUT);
    const int parameters = count(variables, CAUSALITY_PARAMETER);
    if (!options->json) {
        printf("%s: %s, %d inputs, %d outputs, %d parameters, %d states; %s\n", options->output,
               fmu->model->robot->name, inputs, outputs, parameters, variables->n_states,
               windows ? "for Linux and Windows" : "for Linux alone: there is no limber_fmu.dll beside limber");
        return;
    }
    struct json_object *json = json_object_new_object();
    json_object_object_add(json, "file", json_object_new_string(options->output));
    json_object_object_add(json, "name", json_object_new_string(fmu->model->robot->name));
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

/* ---- the command --------------------------------------------------------------------------------------------------- */

static int exit_code(enum status status)
{
    if (status == STATUS_OK) return EXIT_FINE;
    return status == STATUS_NO_MEMORY || status > 0 ? EXIT_COMPUTATION : EXIT_INPUT;
}

static enum status pack(const struct options *options, struct arena *arena, struct report *report)
{
    struct sim *sim = NULL;
    struct work *work = NULL;
    const struct blob robot = load_robot(options->robot, arena, report);
    if (robot.bytes == NULL) return STATUS_NO_FILE;
    enum status status = sim_make(options->robot, robot.bytes, report, &sim);
    if (status == STATUS_OK) status = work_make(sim_model(sim), &work);
    if (status != STATUS_OK && report->errors == 0)
        report_add(report, REPORT_ERROR, "%s: %s", options->robot, status_text(status));
    if (status == STATUS_OK) {
        struct libraries libraries;
        const struct fmu fmu = {sim_guid(sim), sim_variables(sim), sim_model(sim), work};
        if (!load_libraries(&libraries, arena, report) || !may_replace(options->output, report))
            status = STATUS_NO_FILE;
        else status = package_write(&fmu, robot, &libraries, options->output, report);
        if (status == STATUS_OK) print_summary(options, &fmu, &libraries);
    }
    work_free(work);
    sim_free(sim);
    return status;
}

int command_fmu(int argc, char **argv)
{
    struct options options = {0};
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];
        if (strcmp(argument, "--json") == 0) options.json = true;
        else if (strcmp(argument, "-o") == 0) {
            if (i + 1 == argc) return cli_usage("fmu", "-o needs a file");
            options.output = argv[++i];
        } else if (argument[0] == '-' && argument[1] != '\0') return cli_usage("fmu", "unknown option '%s'", argument);
        else if (options.robot != NULL) return cli_usage("fmu", "one robot file at a time");
        else options.robot = argument;
    }
    if (options.robot == NULL) return cli_usage("fmu", "which robot file?");
    if (options.output == NULL) return cli_usage("fmu", "where to? give -o FILE.fmu");

    struct report report = {.line = print_error};
    struct arena arena = {0};
    const enum status status = pack(&options, &arena, &report);
    arena_release(&arena);
    return exit_code(status);
}
