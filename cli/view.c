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
    const char *robot, *at, *inputs, *output;
    const char *result[MOST_RESULTS];
    int n_results;
    bool modes, joints_free, open;
};

/* ---- options ---------------------------------------------------------------------------------------------------------------- */

static int take_value(const char *option, const char *value, struct options *options)
{
    if (strcmp(option, "--at") == 0) options->at = value;
    else if (strcmp(option, "--inputs") == 0) options->inputs = value;
    else if (strcmp(option, "-o") == 0) options->output = value;
    else if (strcmp(option, "--joints") == 0) return cli_joints("view", value, &options->joints_free);
    else {
        if (options->n_results == MOST_RESULTS) return cli_usage("view", "at most %d results", MOST_RESULTS);
        options->result[options->n_results++] = value;
    }
    return EXIT_OK;
}

static int parse_options(int argc, char **argv, struct options *options)
{
    static const char *const with_value[] = {"--at", "--inputs", "--result", "--joints", "-o"};
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        const char *option = argv[i];
        bool takes = false;
        for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++)
            takes = takes || strcmp(option, with_value[k]) == 0;
        if (takes && i + 1 >= argc) code = cli_usage("view", "%s takes a value", option);
        else if (takes) code = take_value(option, argv[++i], options);
        else if (strcmp(option, "--modes") == 0) options->modes = true;
        else if (strcmp(option, "--open") == 0) options->open = true;
        else if (option[0] == '-' && option[1] != '\0') code = cli_usage("view", "unknown option '%s'", option);
        else if (options->robot == NULL) options->robot = option;
        else code = cli_usage("view", "too many arguments: '%s'", option);
    }
    if (code == EXIT_OK && options->robot == NULL) code = cli_usage("view", "expected ROBOT");
    if (code == EXIT_OK && options->inputs != NULL && options->n_results == 0)
        code = cli_usage("view", "--inputs is part of a result: give --result CSV too");
    if (code == EXIT_OK && options->modes && options->at != NULL && strcmp(options->at, "-") == 0)
        code = cli_usage("view", "--modes reads the STATE once more: give a file with --at");
    return code;
}

/* ROBOT without its folder, and .html for .json */
static const char *default_output(const char *robot, struct arena *arena)
{
    const char *slash = strrchr(robot, '/'), *name = slash != NULL ? slash + 1 : robot, *dot = strrchr(name, '.');
    const size_t length = dot != NULL && dot > name ? (size_t)(dot - name) : strlen(name), size = length + 6;
    char *file = arena_allocate(arena, size, 1);
    if (file != NULL) snprintf(file, size, "%.*s.html", (int)length, name);
    return file;
}

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
void view_write_json(struct json_object *json, FILE *stream)
{
    const char *text = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    for (const char *stop; (stop = strchr(text, '<')) != NULL; text = stop + 1) {
        fwrite(text, 1, (size_t)(stop - text), stream);
        fputs("\\u003c", stream);
    }
    fputs(text, stream);
}

static void write_title(const char *title, FILE *stream)
{
    for (; *title != '\0'; title++) {
        if (*title == '<') fputs("&lt;", stream);
        else if (*title == '&') fputs("&amp;", stream);
        else putc(*title, stream);
    }
}

static void write_page(const char *title, struct json_object *data, const char *script, size_t size, FILE *stream)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" "
          "href=\"data:,\">\n<title>",
          stream);
    write_title(title, stream);
    fputs("</title>\n</head>\n<body>\n<noscript>This page draws with JavaScript and WebGL.</noscript>\n"
          "<script type=\"application/json\" id=\"limber-data\">",
          stream);
    view_write_json(data, stream);
    fputs("</script>\n<script>", stream);
    fwrite(script, 1, size, stream);
    fputs("</script>\n</body>\n</html>\n", stream);
}

/* ---- data -------------------------------------------------------------------------------------------------------------------- */

static int add_results(const struct options *options, const struct model *model, struct json_object *data,
                       struct arena *arena, struct report *report)
{
    struct csv inputs = {0};
    struct json_object *list = json_object_new_array();
    json_object_object_add(data, "results", list);
    enum status status =
        options->inputs != NULL ? csv_read(options->inputs, TIMES_INCREASE, arena, report, &inputs) : STATUS_OK;
    for (int i = 0; i < options->n_results && status == STATUS_OK; i++) {
        struct csv csv;
        status = csv_read(options->result[i], TIMES_MAY_REPEAT, arena, report, &csv);
        if (status != STATUS_OK) break;
        struct json_object *result = view_result(model, &csv, options->inputs != NULL ? &inputs : NULL, arena, report);
        if (result == NULL) status = STATUS_BAD_INPUT;
        json_object_array_add(list, result);
    }
    return cli_exit_code(status);
}

static int add_data(const struct options *options, struct cli_model *loaded, struct json_object *data,
                    struct arena *arena, struct report *report)
{
    const struct model *model = loaded->mechanism.model;
    const char *text = document_load(options->robot, arena, report);
    if (text == NULL) return EXIT_INPUT;
    const enum status status = closure_of_state(&loaded->mechanism, options->at != NULL, &loaded->state, report);
    if (status != STATUS_OK) return cli_exit_code(status);
    json_object_object_add(data, "robot", json_object_new_string(text));
    json_add_numbers(data, "q", loaded->state.at.q, model->nq);
    int code = add_results(options, model, data, arena, report);
    if (code == EXIT_OK && options->modes) {
        struct json_object *modes;
        if (view_modes(options->robot, options->at, options->joints_free, SHOWN_MODES, loaded, report, &modes) !=
            STATUS_OK)
            code = EXIT_COMPUTATION;
        json_object_object_add(data, "modes", modes);
    }
    return code;
}

/* ---- the command --------------------------------------------------------------------------------------------------------------- */

static int open_browser(const char *file)
{
    extern char **environ;
    char program[] = "xdg-open", *copy = strdup(file), *const arguments[] = {program, copy, NULL};
    pid_t child;
    const int error = copy != NULL ? posix_spawnp(&child, program, NULL, NULL, arguments, environ) : ENOMEM;
    free(copy);
    if (error == 0) return EXIT_OK;
    fprintf(stderr, "limber: view: xdg-open cannot be started: %s; open %s in a browser\n", strerror(error), file);
    return EXIT_INPUT;
}

/* The file among those that were read which this is; NULL: it is another one */
static const char *file_read(const struct options *options, const char *file)
{
    const char *const read[] = {options->robot, options->at, options->inputs};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (read[i] != NULL && cli_same_file(file, read[i])) return read[i];
    for (int i = 0; i < options->n_results; i++)
        if (cli_same_file(file, options->result[i])) return options->result[i];
    return NULL;
}

static int write_file(const struct options *options, const struct cli_model *loaded, struct json_object *data,
                      const char *script, size_t size, struct arena *arena)
{
    const char *file = options->output != NULL ? options->output : default_output(options->robot, arena);
    struct result result = {0};
    if (file == NULL) return cli_no_memory("view");
    const char *same = file_read(options, file); /* the default: arguments are compared by all commands */
    if (same != NULL) return cli_usage("view", "%s would be written, which is %s: name a file with -o", file, same);
    int code = result_open(file, NULL, &result);
    if (code == EXIT_OK) {
        write_page(loaded->robot->name, data, script, size, result.stream);
        code = result_close(&result, code);
    }
    if (code == EXIT_OK) printf("%s: open it in a browser\n", file);
    return code == EXIT_OK && options->open ? open_browser(file) : code;
}

int command_view(int argc, char **argv)
{
    struct options options = {0};
    struct report report = cli_report("view");
    struct cli_model loaded;
    struct arena arena = {0};
    size_t size = 0;
    int code = parse_options(argc, argv, &options);
    if (code == EXIT_OK) code = cli_load_model(options.robot, 0, options.at, &report, &loaded);
    if (code != EXIT_OK) return code;
    struct json_object *data = json_object_new_object();
    const char *script = view_script(false, &arena, &size, &report);
    code = script != NULL ? add_data(&options, &loaded, data, &arena, &report) : EXIT_COMPUTATION;
    if (code == EXIT_OK) code = write_file(&options, &loaded, data, script, size, &arena);
    json_object_put(data);
    arena_release(&arena);
    cli_free_model(&loaded);
    return code;
}
