/* limber picture ROBOT: a drawing of the robot at a state, without a browser. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/closure.h"
#include "cli.h"
#include "load.h"
#include "result.h"
#include "view/scene/drawing.h"

struct options {
    const char *robot, *at, *output;
    struct drawing drawing;
    bool png;
};

enum { LEAST_SIZE = 50, MOST_SIZE = 8000 };

static int read_size(const char *text, struct drawing *drawing)
{
    char rest;
    const int count = sscanf(text, "%dx%d%c", &drawing->width, &drawing->height, &rest);
    const bool fits = count == 2 && drawing->width >= LEAST_SIZE && drawing->height >= LEAST_SIZE &&
                      drawing->width <= MOST_SIZE && drawing->height <= MOST_SIZE;
    if (fits) return EXIT_OK;
    return cli_usage("picture", "--size takes WIDTHxHEIGHT, %d to %d pixels each, not '%s'", LEAST_SIZE, MOST_SIZE,
                     text);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

static int parse_options(int argc, char **argv, struct options *options)
{
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        const char *option = argv[i];
        const bool takes = strcmp(option, "--at") == 0 || strcmp(option, "--size") == 0 || strcmp(option, "-o") == 0;
        if (takes && i + 1 >= argc) code = cli_usage("picture", "%s takes a value", option);
        else if (strcmp(option, "--at") == 0) options->at = argv[++i];
        else if (strcmp(option, "-o") == 0) options->output = argv[++i];
        else if (strcmp(option, "--size") == 0) code = read_size(argv[++i], &options->drawing);
        else if (strcmp(option, "--no-names") == 0) options->drawing.names = false;
        else if (option[0] == '-' && option[1] != '\0') code = cli_usage("picture", "unknown option '%s'", option);
        else if (options->robot == NULL) options->robot = option;
        else code = cli_usage("picture", "too many arguments: '%s'", option);
    }
    if (code == EXIT_OK && options->robot == NULL) code = cli_usage("picture", "expected ROBOT");
    if (code == EXIT_OK && options->output == NULL) code = cli_usage("picture", "expected -o FILE.svg or -o FILE.png");
    if (code != EXIT_OK) return code;
    options->png = ends_with(options->output, ".png");
    return options->png || ends_with(options->output, ".svg")
               ? EXIT_OK
               : cli_usage("picture", "-o %s: the file is .svg or .png", options->output);
}

/* ---- PNG: rsvg-convert, a program of librsvg -------------------------------------------------------------------------------------- */

/* The program with its standard input from a file that holds the SVG, and its standard output into the result */
static void become_converter(FILE *svg, FILE *png)
{
    if (dup2(fileno(svg), STDIN_FILENO) >= 0 && dup2(fileno(png), STDOUT_FILENO) >= 0)
        execlp("rsvg-convert", "rsvg-convert", "--background-color=white", "--zoom=2", (char *)NULL);
    _exit(127);
}

static int convert(FILE *svg, FILE *png)
{
    int status = 0;
    fflush(png);
    if (fflush(svg) != 0 || fseek(svg, 0, SEEK_SET) != 0) return EXIT_COMPUTATION;
    lseek(fileno(svg), 0, SEEK_SET);
    const pid_t child = fork();
    if (child == 0) become_converter(svg, png);
    if (child > 0) waitpid(child, &status, 0);
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return EXIT_OK;
    fputs(
        "limber: picture: PNG is made by rsvg-convert, which failed or is missing (Debian: librsvg2-bin); -o FILE.svg "
        "needs nothing else\n",
        stderr);
    return EXIT_COMPUTATION;
}

/* ---- the command ----------------------------------------------------------------------------------------------------------------- */

static int draw(const struct options *options, struct cli_model *loaded, FILE *stream)
{
    struct scene scene;
    enum status status = scene_make(&loaded->mechanism, &scene);
    if (status == STATUS_OK) status = drawing_write(&scene, loaded->state.at.q, &options->drawing, stream);
    scene_free(&scene);
    if (status != STATUS_OK) fprintf(stderr, "limber: picture: %s\n", status_text(status));
    return cli_exit_code(status);
}

static int write_file(const struct options *options, struct cli_model *loaded)
{
    struct result result = {0};
    int code = result_open(options->output, NULL, &result);
    if (code != EXIT_OK) return code;
    FILE *svg = options->png ? tmpfile() : result.stream;
    if (svg == NULL) fprintf(stderr, "limber: picture: a temporary file cannot be made: %s\n", strerror(errno));
    code = svg != NULL ? draw(options, loaded, svg) : EXIT_COMPUTATION;
    if (code == EXIT_OK && options->png) code = convert(svg, result.stream);
    if (options->png && svg != NULL) fclose(svg);
    return result_close(&result, code);
}

int command_picture(int argc, char **argv)
{
    struct options options = {.drawing = {.width = 900, .height = 560, .names = true}};
    struct report report = cli_report("picture");
    struct cli_model loaded;
    int code = parse_options(argc, argv, &options);
    if (code == EXIT_OK) code = cli_load_model(options.robot, 0, options.at, &report, &loaded);
    if (code != EXIT_OK) return code;
    code = cli_exit_code(closure_of_state(&loaded.mechanism, options.at != NULL, &loaded.state, &report));
    if (code == EXIT_OK) code = write_file(&options, &loaded);
    cli_free_model(&loaded);
    return code;
}
