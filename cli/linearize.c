/* limber linearize ROBOT: A, B, C, D about an operating point, as JSON, for python-control, for MATLAB. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json_out.h"
#include "linearization.h"
#include "result.h"

struct options {
    struct linear_options linear;
    const char *python, *matlab;
    bool minimal;
};

static int parse_options(int argc, char **argv, struct options *options)
{
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        const char **file = strcmp(argv[i], "--python") == 0   ? &options->python
                            : strcmp(argv[i], "--matlab") == 0 ? &options->matlab
                                                               : NULL;
        if (strcmp(argv[i], "--minimal") == 0) options->minimal = true;
        else if (file == NULL) code = linearization_option("linearize", argc, argv, &i, &options->linear);
        else if (i + 1 >= argc) code = cli_usage("linearize", "%s takes a file name", argv[i]);
        else *file = argv[++i];
    }
    return code == EXIT_OK ? linearization_check("linearize", &options->linear) : code;
}

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

static int print_json(const struct linear *l)
{
    struct json_object *out = json_object_new_object();
    struct matrix matrix[4];
    list_matrices(l, matrix);
    json_object_object_add(out, "states", names(l->x, l->n_states));
    json_object_object_add(out, "inputs", names(l->u, l->n_inputs));
    json_object_object_add(out, "outputs", names(l->y, l->n_outputs));
    json_object_object_add(out, "operating_point", linearization_json_point(l->point));
    for (int i = 0; i < 4; i++)
        json_object_object_add(out, matrix[i].name, json_rows(matrix[i].number, matrix[i].n_rows, matrix[i].n_columns));
    const int code = json_print_finite("linearize", out);
    json_object_put(out);
    return code;
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

/* Rows, then the shape: a matrix without rows or columns needs it */
static void write_matrix(FILE *stream, const struct language *language, const struct matrix *matrix)
{
    const double *number = matrix->number;
    fputs(language->open, stream);
    for (int i = 0; i < matrix->n_rows; i++) {
        fprintf(stream, "\n    %s", language->row_open);
        for (int j = 0; j < matrix->n_columns; j++) fprintf(stream, "%s%.17g", j > 0 ? ", " : "", *number++);
        fputs(language->row_close, stream);
    }
    fprintf(stream, language->close, matrix->n_rows, matrix->n_columns);
}

static void write_name(FILE *stream, const struct language *language, const char *name)
{
    fputc(language->quote, stream);
    for (; *name != '\0'; name++) fputc(*name == '.' ? language->dot : *name, stream);
    fputc(language->quote, stream);
}

static void write_names(FILE *stream, const struct language *language, const struct signal *signal, int count)
{
    fputs(language->list_open, stream);
    for (int i = 0; i < count; i++) {
        if (i > 0) fputs(", ", stream);
        write_name(stream, language, signal[i].name);
    }
    fputs(language->list_close, stream);
}

static void write_units(FILE *stream, const struct language *language, const struct signal *signal, int count)
{
    fputs(language->list_open, stream);
    for (int i = 0; i < count; i++) fprintf(stream, "%s'%s'", i > 0 ? ", " : "", signal[i].unit);
    fputs(language->list_close, stream);
}

/* python-control takes no dot in the names of signals: a slash replaces it, which no name of a robot has */
static void write_python(FILE *stream, const struct linear *l)
{
    static const struct language python = {"np.array([", "]).reshape(%d, %d)\n", "[", "],", "[", "]", '"', '/'};
    const char *name = l->point->mechanism->robot->name;
    fprintf(
        stream,
        "\"\"\"Robot %s linearized by limber: `from MODULE import system`. In names a slash replaces the dot of the "
        "FMU variable.\"\"\"\n\nimport control\nimport numpy as np\n",
        name);
    struct matrix matrix[4];
    list_matrices(l, matrix);
    for (int i = 0; i < 4; i++) {
        fprintf(stream, "\n%s = ", matrix[i].name);
        write_matrix(stream, &python, &matrix[i]);
    }
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
    struct matrix matrix[4];
    list_matrices(l, matrix);
    for (int i = 0; i < 4; i++) {
        fprintf(stream, "\n%s = ", matrix[i].name);
        write_matrix(stream, &matlab, &matrix[i]);
    }
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
        write_units(stream, &matlab, lists[i].signal, lists[i].count);
        fputs(";\n", stream);
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

int command_linearize(int argc, char **argv)
{
    struct options options = {0};
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_OK) return code;
    struct report report = cli_report("linearize");
    struct linearization l;
    code = cli_exit_code(linearization_make("linearize", &options.linear, options.minimal, &report, &l));
    if (code == EXIT_OK) code = print_json(&l.linear);
    if (code == EXIT_OK) code = write_file(options.python, &l.linear, write_python);
    if (code == EXIT_OK) code = write_file(options.matlab, &l.linear, write_matlab);
    linearization_free(&l);
    return code;
}
