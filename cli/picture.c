/* limber picture ROBOT: a drawing of the robot at a state, without a browser. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/closure.h"
#include "analysis/failure.h"
#include "cli.h"
#include "load.h"
#include "result.h"
#include "view/scene/drawing.h"

struct options {
    struct common common;
    const char *size;
    bool no_names;
};

static const struct option rows[] = {
    OPTION_ROBOT,
    OPTION_FILE("FILE.svg|FILE.png", "the file to write; PNG is made by rsvg-convert"),
    OPTION_AT("pose: a JSON file (-: standard input) as for eval (default: the robot's start)"),
    {"--size", "WxH", OPTION_TEXT, TO(size), .help = "pixels (default 900x560; a PNG has twice as many)"},
    {"--no-names", NULL, OPTION_FLAG, TO(no_names), .help = "without names and axes"},
    {0}};

enum { LEAST_SIZE = 50, MOST_SIZE = 8000 };

/* PNG by rsvg-convert, a program of librsvg, whose standard input is a file with the SVG and whose standard output is the result */
static int convert(FILE *svg, FILE *png)
{
    int status = 0;
    fflush(png);
    if (fflush(svg) != 0 || fseek(svg, 0, SEEK_SET) != 0) return EXIT_COMPUTATION;
    lseek(fileno(svg), 0, SEEK_SET);
    const pid_t child = fork();
    if (child == 0) {
        if (dup2(fileno(svg), STDIN_FILENO) >= 0 && dup2(fileno(png), STDOUT_FILENO) >= 0)
            execlp("rsvg-convert", "rsvg-convert", "--background-color=white", "--zoom=2", (char *)NULL);
        _exit(127);
    }
    if (child > 0) waitpid(child, &status, 0);
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return EXIT_OK;
    fputs("limber: picture: PNG is made by rsvg-convert, which failed or is missing (Debian: librsvg2-bin); -o "
          "FILE.svg needs nothing else\n",
          stderr);
    return EXIT_COMPUTATION;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

static bool read_size(const char *text, struct drawing *drawing)
{
    char rest;
    return sscanf(text, "%dx%d%c", &drawing->width, &drawing->height, &rest) == 2 && drawing->width >= LEAST_SIZE &&
           drawing->height >= LEAST_SIZE && drawing->width <= MOST_SIZE && drawing->height <= MOST_SIZE;
}

static int check(const void *given)
{
    const struct options *options = given;
    const char *file = options->common.output;
    struct drawing drawing;
    if (options->size != NULL && !read_size(options->size, &drawing))
        return cli_usage("picture", "--size takes WIDTHxHEIGHT, %d to %d pixels each, not '%s'", LEAST_SIZE, MOST_SIZE,
                         options->size);
    if (!ends_with(file, ".png") && !ends_with(file, ".svg"))
        return cli_usage("picture", "-o %s: the file is .svg or .png", file);
    return EXIT_OK;
}

static int run(const void *given, struct cli_model *loaded, struct report *report)
{
    const struct options *options = given;
    const bool png = ends_with(options->common.output, ".png");
    struct drawing drawing = {.width = 900, .height = 560, .names = !options->no_names};
    struct result result = {0};
    struct scene scene = {0};
    enum status status = closure_of_state(&loaded->mechanism, options->common.at != NULL, &loaded->state, report);
    int code = cli_exit_code(status);
    if (options->size != NULL) (void)read_size(options->size, &drawing);
    if (code == EXIT_OK) code = result_open(options->common.output, NULL, &result);
    if (code != EXIT_OK) return code;
    FILE *svg = png ? tmpfile() : result.stream;
    if (svg == NULL) {
        report_add(report, REPORT_ERROR, "a temporary file cannot be made: %s", strerror(errno));
        return result_close(&result, EXIT_COMPUTATION);
    }
    status = scene_make(&loaded->mechanism, &scene);
    if (status == STATUS_OK) status = drawing_write(&scene, loaded->state.at.q, &drawing, svg);
    scene_free(&scene);
    code = cli_exit_code(failure_status(report, status));
    if (code == EXIT_OK && png) code = convert(svg, result.stream);
    if (png) fclose(svg);
    return result_close(&result, code);
}

const struct command command_picture = {.name = "picture",
                                        .summary =
                                            "draws the robot at a state in perspective, with names, without a browser",
                                        .option = rows,
                                        .size = sizeof(struct options),
                                        .check = check,
                                        .run_model = run};
