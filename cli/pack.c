#include "pack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "installed.h"
#include "json_out.h"
#include "result.h"
#include "robot/read.h"

enum { NAME_SIZE = 256 };

/* ---- input -------------------------------------------------------------------------------------------------- */

static const char ROBOTS[] = "limber_fmu"; /* the library of all robots */

static const char *library_of(const struct fmu *fmu)
{
    return fmu->drive != NULL ? fmu->name : fmu->variables->discrete ? "controller" : ROBOTS;
}

/* The file that the environment variable names, otherwise the one beside the program or where it is installed. No bytes, with a report,
   if it is not available; the one for Windows may be missing, unless it was named. */
static struct blob load_library(const struct fmu *fmu, int platform, const struct common *options,
                                struct report *report)
{
    static const char *const variables[2][PLATFORM_COUNT] = {{"LIMBER_FMU_LIBRARY", "LIMBER_FMU_DLL"},
                                                             {"LIMBER_DRIVE_LIBRARY", "LIMBER_DRIVE_DLL"}};
    const char *output = options->output, *library_name = library_of(fmu);
    const char *variable = variables[strcmp(library_name, ROBOTS) != 0][platform], *name = getenv(variable);
    const bool named = name != NULL && *name != '\0';
    char path[PATH_SIZE], file[NAME_SIZE], advice[128];
    bool found;
    snprintf(advice, sizeof advice, "it is built beside limber, or name it in %s", variable);
    snprintf(file, sizeof file, "%s.%s", library_name, platforms[platform].ending);
    if (named ? snprintf(path, PATH_SIZE, "%s", name) >= PATH_SIZE : !installed_path(file, path, &found)) {
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
    library.bytes = document_load_file(path, options->arena, &library.size, &quiet);
    if (library.bytes == NULL) {
        report_add(report, REPORT_ERROR, "%s: the FMU's library cannot be read: %s; %s", path, strerror(errno), advice);
    } else if (library.size < strlen(magic) || memcmp(library.bytes, magic, strlen(magic)) != 0) {
        report_add(report, REPORT_ERROR, "%s: is not a shared library for %s; %s", path, platforms[platform].name,
                   advice);
        library.bytes = NULL;
    }
    return library;
}

/* ---- output ------------------------------------------------------------------------------------------------ */

static int count(const struct variables *variables, enum causality causality)
{
    int n = 0;
    for (int r = 0; r < variables->n; r++) n += variables->row[r].causality == causality;
    return n;
}

static void print_summary(const struct common *options, const struct fmu *fmu, const struct libraries *libraries,
                          bool generated)
{
    const struct variables *variables = fmu->variables;
    const int inputs = count(variables, CAUSALITY_INPUT), outputs = count(variables, CAUSALITY_OUTPUT);
    const int parameters = count(variables, CAUSALITY_PARAMETER);
    if (!options->json) {
        printf("%s: %s, %d inputs, %d outputs, %d parameters, %d states; ", options->output, fmu->name, inputs, outputs,
               parameters, variables->n_states);
        if (generated) puts("for Linux only: generated code");
        else if (libraries->of[PLATFORM_WINDOWS].bytes != NULL) puts("for Linux and Windows");
        else printf("for Linux only: %s.dll was not built\n", library_of(fmu));
        return;
    }
    struct json_object *json = json_object_new_object(), *folders = json_object_new_array();
    json_add_text(json, "file", options->output);
    json_add_text(json, "name", fmu->name);
    json_add_text(json, "guid", fmu->guid);
    json_add_whole(json, "inputs", inputs);
    json_add_whole(json, "outputs", outputs);
    json_add_whole(json, "parameters", parameters);
    json_add_whole(json, "states", variables->n_states);
    for (int p = 0; p < PLATFORM_COUNT; p++)
        if (libraries->of[p].bytes != NULL) json_object_array_add(folders, json_object_new_string(platforms[p].folder));
    json_add(json, "platforms", folders);
    json_print(json);
}

enum status pack_write(const struct common *options, const struct fmu *fmu, struct blob resource,
                       const struct blob *generated, struct report *report)
{
    struct stat old;
    struct libraries libraries = {0};
    if (generated != NULL) libraries.of[PLATFORM_LINUX] = *generated;
    for (int p = 0; p < PLATFORM_COUNT && generated == NULL; p++)
        libraries.of[p] = load_library(fmu, p, options, report);
    if (report->errors > 0) return STATUS_NO_FILE;
    if (stat(options->output, &old) == 0 && !S_ISREG(old.st_mode)) { /* the file is replaced as a whole */
        report_add(report, REPORT_ERROR, "%s: is not a regular file", options->output);
        return STATUS_NO_FILE;
    }
    const struct blob package = package_make(fmu, resource, &libraries, options->arena, report);
    cli_progress_end();
    if (package.bytes == NULL) return STATUS_NO_MEMORY;
    if (result_write(options->output, package.bytes, package.size) != EXIT_OK) return STATUS_NO_FILE;
    print_summary(options, fmu, &libraries, generated != NULL);
    return STATUS_OK;
}
