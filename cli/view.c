/* limber view ROBOT: one page that shows the robot, its results and its modes in three dimensions. */
#include "view.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/closure.h"
#include "cli.h"
#include "installed.h"
#include "json_out.h"
#include "result.h"
#include "robot/read.h"

enum { MOST_RESULTS = 4, SHOWN_MODES = 30 };

struct options {
    struct common common;
    const char *inputs;
    struct text_list result;
    bool modes, open;
};

static const struct option rows[] = {
    OPTION_ROBOT,
    OPTION_AT("pose: a JSON file (-: standard input) as for eval (default: the robot's start)"),
    {"--result", "CSV", OPTION_LIST, TO(result), .most = MOST_RESULTS,
     .help = "a result to play, from simulate or any importer, with the names of the FMU's variables; up to 4, drawn "
             "over each other or side by side"},
    {"--inputs", "CSV", OPTION_TEXT, TO(inputs), .needs = "--result", .reason = "is part of a result",
     .help = "positions of prescribed joints, which are inputs and not in the result"},
    {"--modes", NULL, OPTION_FLAG, TO(modes),
     .help = "mode shapes with frequency and damping, at the pose; the numbers are those of `limber modes`"},
    OPTION_JOINTS("of the modes, as for `limber modes`"),
    {"--open", NULL, OPTION_FLAG, TO(open), .help = "opens the page in the browser (xdg-open)"},
    {"-o", "FILE", OPTION_RESULT, TO_COMMON(output),
     .help = "the page (default: the name of ROBOT with .html, in this folder)"},
    {0}};

static const char details[] = "The page needs no network and no server. Its kinematics is that of the FMU, compiled to "
                              "WebAssembly: loops stay closed while a slider moves. docs/viewer.md describes it.";

/* ---- the page --------------------------------------------------------------------------------------------------------------- */

const char *view_script(bool optional, struct arena *arena, size_t *size, struct report *report)
{
    char path[PATH_SIZE];
    bool found;
    if (installed_path("viewer.js", path, &found) && found) return document_load_file(path, arena, size, report);
    if (!optional)
        report_add(
            report, REPORT_ERROR,
            "viewer.js was not built: it needs node, npm and Debian's clang for WebAssembly. Run build/viewer.sh, "
            "which leaves the reason in build/out/viewer/libraries.missing if it fails, and build again");
    return NULL;
}

/* '<' only occurs in strings of JSON; escaped, no text ends the script element */
static void write_json(struct json_object *json, FILE *stream)
{
    const char *text = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    for (const char *stop; (stop = strchr(text, '<')) != NULL; text = stop + 1) {
        fwrite(text, 1, (size_t)(stop - text), stream);
        fputs("\\u003c", stream);
    }
    fputs(text, stream);
}

static void write_page(const char *title, struct json_object *data, const char *script, size_t size, FILE *stream)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" "
          "href=\"data:,\">\n<title>",
          stream);
    for (; *title != '\0'; title++) {
        if (*title == '<') fputs("&lt;", stream);
        else if (*title == '&') fputs("&amp;", stream);
        else putc(*title, stream);
    }
    fputs("</title>\n</head>\n<body>\n<noscript>This page draws with JavaScript and WebGL.</noscript>\n"
          "<script type=\"application/json\" id=\"limber-data\">",
          stream);
    write_json(data, stream);
    fputs("</script>\n<script>", stream);
    fwrite(script, 1, size, stream);
    fputs("</script>\n</body>\n</html>\n", stream);
}

/* ---- data -------------------------------------------------------------------------------------------------------------------- */

static int add_data(const struct options *options, struct cli_model *loaded, struct json_object *data,
                    struct report *report)
{
    const struct common *common = &options->common;
    struct arena *arena = common->arena;
    const struct model *model = loaded->mechanism.model;
    const char *text = document_load(common->robot, arena, report);
    struct csv csv, inputs = {0};
    struct json_object *results = json_object_new_array(), *modes;
    json_add(data, "results", results);
    if (text == NULL) return EXIT_INPUT;
    enum status status = closure_of_state(&loaded->mechanism, common->at != NULL, &loaded->state, report);
    if (status != STATUS_OK) return cli_exit_code(status);
    json_add_text(data, "robot", text);
    json_add_numbers(data, "q", loaded->state.at.q, model->nq);
    if (options->inputs != NULL) status = csv_read(options->inputs, TIMES_INCREASE, arena, report, &inputs);
    for (int i = 0; i < options->result.n && status == STATUS_OK; i++) {
        status = csv_read(options->result.text[i], TIMES_MAY_REPEAT, arena, report, &csv);
        if (status != STATUS_OK) break;
        struct json_object *result = view_result(model, &csv, options->inputs != NULL ? &inputs : NULL, arena, report);
        if (result == NULL) status = STATUS_BAD_INPUT;
        json_object_array_add(results, result);
    }
    if (status != STATUS_OK || !options->modes) return cli_exit_code(status);
    status = view_modes(common, SHOWN_MODES, loaded, report, &modes);
    json_add(data, "modes", modes);
    return status == STATUS_OK ? EXIT_OK : EXIT_COMPUTATION;
}

/* ---- the command --------------------------------------------------------------------------------------------------------------- */

static int write_file(const struct options *options, const struct cli_model *loaded, struct json_object *data,
                      const char *script, size_t size)
{
    const struct common *common = &options->common;
    const char *file = common->output, *same = NULL, *const read[] = {common->robot, common->at, options->inputs};
    struct result result = {0};
    if (file == NULL) { /* ROBOT without its folder, and .html for .json */
        const char *slash = strrchr(common->robot, '/'), *name = slash != NULL ? slash + 1 : common->robot;
        const char *dot = strrchr(name, '.');
        const size_t length = dot != NULL && dot > name ? (size_t)(dot - name) : strlen(name),
                     size_of_name = length + 6;
        char *text = arena_allocate(common->arena, size_of_name, 1);
        if (text == NULL) return cli_no_memory("view");
        snprintf(text, size_of_name, "%.*s.html", (int)length, name);
        file = text;
    }
    for (size_t i = 0; i < sizeof read / sizeof *read; i++) /* main() compares the arguments, not the default name */
        if (read[i] != NULL && cli_same_file(file, read[i])) same = read[i];
    for (int i = 0; i < options->result.n; i++)
        if (cli_same_file(file, options->result.text[i])) same = options->result.text[i];
    if (same != NULL) return cli_usage("view", "%s would be written, which is %s: name a file with -o", file, same);
    int code = result_open(file, NULL, &result);
    if (code == EXIT_OK) {
        write_page(loaded->robot->name, data, script, size, result.stream);
        code = result_close(&result, code);
    }
    if (code == EXIT_OK) printf("%s: open it in a browser\n", file);
    if (code != EXIT_OK || !options->open) return code;
    extern char **environ;
    char program[] = "xdg-open", *copy = arena_string(common->arena, file), *const arguments[] = {program, copy, NULL};
    pid_t child;
    const int error = copy != NULL ? posix_spawnp(&child, program, NULL, NULL, arguments, environ) : ENOMEM;
    if (error == 0) return EXIT_OK;
    fprintf(stderr, "limber: view: xdg-open cannot be started: %s; open %s in a browser\n", strerror(error), file);
    return EXIT_INPUT;
}

static int check(const void *given)
{
    const struct options *options = given;
    if (options->modes && options->common.at != NULL && strcmp(options->common.at, "-") == 0)
        return cli_usage("view", "--modes reads the STATE once more: give a file with --at");
    return EXIT_OK;
}

static int run(const void *given, struct cli_model *loaded, struct report *report)
{
    const struct options *options = given;
    size_t size = 0;
    struct json_object *data = json_object_new_object();
    const char *script = view_script(false, options->common.arena, &size, report);
    int code = script != NULL ? add_data(options, loaded, data, report) : EXIT_COMPUTATION;
    if (code == EXIT_OK) code = write_file(options, loaded, data, script, size);
    json_object_put(data);
    return code;
}

const struct command command_view = {
    .name = "view",
    .summary = "writes one HTML file that shows the robot in 3-D: sliders for its joints, results, mode shapes",
    .details = details,
    .option = rows,
    .size = sizeof(struct options),
    .check = check,
    .run_model = run};
