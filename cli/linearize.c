/* limber linearize ROBOT: A, B, C, D about an operating point, as JSON, for python-control, for MATLAB. */
#include <stdio.h>

#include "cli.h"
#include "json_out.h"
#include "linearization.h"
#include "result.h"

struct options {
    struct common common;
    const char *python, *matlab;
    bool minimal;
};

static const struct option rows[] = {
    OPTION_ROBOT,
    OPTION_AT_POINT,
    OPTION_STATIC,
    OPTIONS_HOLDING(OF_AN_EQUILIBRIUM),
    {"--minimal", NULL, OPTION_FLAG, TO(minimal),
     .help = "a closed robot with only the states that its loops leave free: two for every independent motion"},
    {"--python", "FILE", OPTION_RESULT, TO(python),
     .help = "also writes a Python module with `system`, made by control.ss; a slash replaces the dot in names"},
    {"--matlab", "FILE", OPTION_RESULT, TO(matlab),
     .help = "also writes a MATLAB script that makes `sys` by ss, with names and units"},
    OPTION_JSON_ALWAYS,
    OPTION_OUTPUT,
    {0}};

static const char details[] =
    "dx/dt = A x + B u, y = C x + D u for deviations from the operating point. `operating_point` in the output can be "
    "used as a STATE. States, inputs and outputs are all those of the FMU, but a quaternion is replaced by a small "
    "rotation vector J.dtheta in axes of the hinge frame. Derivatives are exact. The loops of a closed robot are "
    "closed first.";

/* The four matrices, by name */
struct matrix {
    const char *name;
    const double *number;
    int n_rows, n_columns;
};

static void list_matrices(const struct linear *l, struct matrix list[4])
{
    list[0] = (struct matrix){"A", l->A, l->n_states, l->n_states};
    list[1] = (struct matrix){"B", l->B, l->n_states, l->n_inputs};
    list[2] = (struct matrix){"C", l->C, l->n_outputs, l->n_states};
    list[3] = (struct matrix){"D", l->D, l->n_outputs, l->n_inputs};
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------- */

static struct json_object *names(const struct signal *signal, int count)
{
    struct json_object *array = json_object_new_array_ext(count);
    for (int i = 0; i < count; i++) json_object_array_add(array, json_object_new_string(signal[i].name));
    return array;
}

/* ---- python-control and MATLAB ------------------------------------------------------------------------------------------ */

/* How a language writes lists: of names, and of rows of numbers */
struct language {
    const char *open, *close;         /* of a matrix; the end has its shape   */
    const char *row_open, *row_close; /* of a row                             */
    const char *list_open, *list_close;
    char quote;
    char dot; /* replaces the dot in a name                    */
};

/* The four matrices: rows, then the shape, which a matrix without rows or columns needs */
static void write_matrices(FILE *stream, const struct language *language, const struct linear *l)
{
    struct matrix list[4];
    list_matrices(l, list);
    for (const struct matrix *matrix = list; matrix < list + 4; matrix++) {
        const double *number = matrix->number;
        fprintf(stream, "\n%s = %s", matrix->name, language->open);
        for (int i = 0; i < matrix->n_rows; i++) {
            fprintf(stream, "\n    %s", language->row_open);
            for (int j = 0; j < matrix->n_columns; j++) fprintf(stream, "%s%.17g", j > 0 ? ", " : "", *number++);
            fputs(language->row_close, stream);
        }
        fprintf(stream, language->close, matrix->n_rows, matrix->n_columns);
    }
}

static void write_names(FILE *stream, const struct language *language, const struct signal *signal, int count)
{
    fputs(language->list_open, stream);
    for (int i = 0; i < count; i++) {
        fprintf(stream, "%s%c", i > 0 ? ", " : "", language->quote);
        for (const char *name = signal[i].name; *name != '\0'; name++)
            fputc(*name == '.' ? language->dot : *name, stream);
        fputc(language->quote, stream);
    }
    fputs(language->list_close, stream);
}

/* python-control does not accept dots in names of signals. They are replaced by slashes, which names of robots do not contain. */
static void write_python(FILE *stream, const struct linear *l)
{
    static const struct language python = {"np.array([", "]).reshape(%d, %d)\n", "[", "],", "[", "]", '"', '/'};
    const char *name = l->point->mechanism->robot->name;
    fprintf(stream,
            "\"\"\"Robot %s linearized by limber: `from MODULE import system`. In names a slash replaces the dot of "
            "the FMU variable.\"\"\"\n\nimport control\nimport numpy as np\n",
            name);
    write_matrices(stream, &python, l);
    fputs("\nsystem = control.ss(\n    A, B, C, D,\n    states=", stream);
    write_names(stream, &python, l->x, l->n_states);
    fputs(",\n    inputs=", stream);
    write_names(stream, &python, l->u, l->n_inputs);
    fputs(",\n    outputs=", stream);
    write_names(stream, &python, l->y, l->n_outputs);
    fprintf(stream, ",\n    name=\"%s\")\n", name);
}

static void write_matlab(FILE *stream, const struct linear *l)
{
    static const struct language matlab = {"reshape([", "], %d, %d);\n", "", ";", "{", "}", '\'', '.'};
    fprintf(stream, "%% Robot %s linearized by limber: a script that makes the state-space model sys\n",
            l->point->mechanism->robot->name);
    write_matrices(stream, &matlab, l);
    fputs("\nsys = ss(A, B, C, D);\n", stream);
    const struct {
        const char *name;
        const struct signal *signal;
        int count;
    } lists[] = {{"State", l->x, l->n_states}, {"Input", l->u, l->n_inputs}, {"Output", l->y, l->n_outputs}};
    for (int i = 0; i < 3; i++) {
        fprintf(stream, "sys.%sName = ", lists[i].name);
        write_names(stream, &matlab, lists[i].signal, lists[i].count);
        fprintf(stream, ";\nsys.%sUnit = ", lists[i].name);
        fputs(matlab.list_open, stream);
        for (int k = 0; k < lists[i].count; k++) fprintf(stream, "%s'%s'", k > 0 ? ", " : "", lists[i].signal[k].unit);
        fprintf(stream, "%s;\n", matlab.list_close);
    }
    fprintf(stream, "sys.Name = '%s';\n", l->point->mechanism->robot->name);
}

static int write_file(const char *file, const struct linear *linear, void (*write)(FILE *, const struct linear *))
{
    if (file == NULL) return EXIT_OK;
    struct result result;
    const int code = result_open(file, NULL, &result);
    if (code != EXIT_OK) return code;
    write(result.stream, linear);
    return result_close(&result, EXIT_OK);
}

static int run(const void *given, struct report *report)
{
    const struct options *options = given;
    struct operating_point point;
    struct linear linear;
    int code = cli_exit_code(linearization_make(&options->common, options->minimal, report, &point, &linear));
    if (code == EXIT_OK) {
        struct json_object *out = json_object_new_object();
        struct matrix matrix[4];
        list_matrices(&linear, matrix);
        json_add(out, "states", names(linear.x, linear.n_states));
        json_add(out, "inputs", names(linear.u, linear.n_inputs));
        json_add(out, "outputs", names(linear.y, linear.n_outputs));
        json_add(out, "operating_point", linearization_json_point(&point));
        for (int i = 0; i < 4; i++)
            json_add(out, matrix[i].name, json_rows(matrix[i].number, matrix[i].n_rows, matrix[i].n_columns));
        code = json_print_finite("linearize", out);
    }
    if (code == EXIT_OK) code = write_file(options->python, &linear, write_python);
    if (code == EXIT_OK) code = write_file(options->matlab, &linear, write_matlab);
    operating_point_free(&point);
    return code;
}

const struct command command_linearize = {
    .name = "linearize",
    .summary =
        "linearizes the robot about an operating point: A, B, C, D with names of states, inputs, outputs; prints JSON",
    .details = details,
    .option = rows,
    .size = sizeof(struct options),
    .run = run};
