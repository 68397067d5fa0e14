/* The files of a generated robot: header, one file for each function, a test program with results of the library, CMakeLists.txt. */
#include <stdlib.h>
#include <string.h>

#include "generate/drives.h"

enum { NAME_SIZE = 256 };

/* ---- one function ------------------------------------------------------------------------------------------------ */

static void write_prototype(FILE *file, const char *prefix, const struct generated *function)
{
    fprintf(file, "void %s_%s(", prefix, function->name);
    for (int i = 0; i < function->n; i++)
        fprintf(file, "%s%sdouble %s[%d]", i > 0 ? ", " : "", i < function->n_arguments ? "const " : "",
                function->parameter[i].name, function->parameter[i].count);
    fputs(function->n > 0 ? ")" : "void)", file); /* void: of a robot without coordinates */
}

static void write_counts(FILE *file, const struct operation_counts *c)
{
    fprintf(file, "%d additions, %d multiplications, %d divisions, %d sines and cosines", c->additions,
            c->multiplications, c->divisions, c->sines);
    if (c->square_roots > 0) fprintf(file, ", %d square roots", c->square_roots);
    if (c->other > 0) fprintf(file, ", %d tanh, max or comparisons", c->other);
}

/* The chunks of a long function, as functions */
static void write_chunks(FILE *file, const struct generated *function, const struct code *code)
{
    fputs("#if defined(__GNUC__)\n#define SEPARATE static __attribute__((noinline))\n#else\n"
          "#define SEPARATE static\n#endif\n\n",
          file);
    for (int c = 0; c < code->n_chunks; c++) {
        fprintf(file, "SEPARATE void chunk_%d(double *w", c);
        for (int i = 0; i < function->n; i++)
            fprintf(file, ", %sdouble *%s", i < function->n_arguments ? "const " : "", function->parameter[i].name);
        fputs(")\n{\n    (void)w;\n", file);
        for (int i = 0; i < function->n; i++) fprintf(file, "    (void)%s;\n", function->parameter[i].name);
        code_write_chunk(file, code, c);
        fputs("}\n\n", file);
    }
}

/* (void) of the arguments that are not needed and the statements, or calls of the chunks */
static void write_function_body(FILE *file, const struct generated *function, const struct code *code)
{
    const struct parameter *p = function->parameter;
    if (code->n_chunks == 1) {
        for (int i = 0; i < function->n_arguments; i++)
            if (!code_uses_inputs(code, p[i].first, p[i].count)) fprintf(file, "    (void)%s;\n", p[i].name);
        code_write_chunk(file, code, 0);
        return;
    }
    fprintf(file, "    double w[%d];\n", code->n_slots);
    for (int c = 0; c < code->n_chunks; c++) {
        fprintf(file, "    chunk_%d(w", c);
        for (int i = 0; i < function->n; i++) fprintf(file, ", %s", p[i].name);
        fputs(");\n", file);
    }
}

static void write_function(FILE *file, const struct generation *what, struct generated *function,
                           const struct code *code)
{
    function->counts = code_count_operations(code);
    fprintf(file, "/* %s: %s.\n   ", what->mechanism->robot->name, function->what);
    write_counts(file, &function->counts);
    fprintf(file, ". */\n#include \"%s.h\"\n\n#include <math.h>\n\n", what->prefix);
    code_write_definitions(file, code);
    if (code->n_chunks > 1) write_chunks(file, function, code);
    write_prototype(file, what->prefix, function);
    fputs("\n{\n", file);
    write_function_body(file, function, code);
    fputs("}\n", file);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static FILE *open_file(const struct code_files *files, const char *prefix, const char *name)
{
    char file[NAME_SIZE];
    const int length = snprintf(file, sizeof file, "%s%s", prefix, name);
    return length < (int)sizeof file ? files->open(files->context, file) : NULL;
}

/* ---- the test program ---------------------------------------------------------------------------------------------- */

enum { STATES = 4 };

static const char check_text[] =
    "/* The largest difference, relative to the largest number */\n"
    "static int check(const char *name, int n, const double *x, const double *expected)\n{\n"
    "    double size = 0, error = 0;\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        size = fmax(size, fabs(expected[i]));\n"
    "        if (!(fabs(x[i] - expected[i]) <= error)) error = fabs(x[i] - expected[i]);\n"
    "    }\n"
    "    const int wrong = !(error <= TOLERANCE * (size > 0 ? size : 1));\n"
    "    printf(\"%-20s error %.2g of %.3g%s\\n\", name, error, size, wrong ? \": TOO LARGE\" : \"\");\n"
    "    return wrong;\n}\n\n";

/* The call at a state; outputs go to `out` */
static void write_test_call(FILE *file, const char *prefix, const struct generated *function)
{
    const char *name = function->name;
    fprintf(file, "        %s_%s(", prefix, name);
    for (int i = 0; i < function->n; i++)
        fprintf(file, "%s%s + %d", i > 0 ? ", " : "", i < function->n_arguments ? "in[s]" : "out",
                function->parameter[i].first);
    fputs(");\n", file);
    if (strstr(name, "jacobian") != NULL) { /* compared with the largest of all: the same factors solve for all */
        if (function->n_results > 0)
            fprintf(file, "        wrong += check(\"%s\", %d, out, %s_expected[s]);\n", name, function->n_results,
                    name);
        return;
    }
    for (const struct parameter *p = function->parameter + function->n_arguments; p->count > 0; p++)
        fprintf(file, "        wrong += check(\"%s %s\", %d, out + %d, %s_expected[s] + %d);\n", name, p->name,
                p->count, p->first, name, p->first);
}

/* Numbers of all states */
static void write_states(FILE *file, int n, const double *x)
{
    for (int s = 0; s < STATES; s++) {
        fputs("    {", file);
        for (int i = 0; i < n; i++)
            fprintf(file, "%s%.17g", i == 0 ? "" : i % 6 == 0 ? ",\n     " : ", ", x[n * s + i]);
        fputs(n > 0 ? "}" : "0}", file);
        fputs(s < STATES - 1 ? ",\n" : "};\n\n", file);
    }
}

static enum status write_test(FILE *file, const struct generation *what, const struct generated *function)
{
    const int n_inputs = generate_first(what, ARGUMENTS);
    uint64_t seed = 16;
    int most = 1;
    for (int i = 0; i < FUNCTIONS; i++) most = function[i].n_results > most ? function[i].n_results : most;
    double *inputs = calloc((size_t)(STATES * n_inputs + 1), sizeof *inputs),
           *result = calloc((size_t)(STATES * most), sizeof *result);
    enum status status = inputs != NULL && result != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    for (int s = 0; status == STATUS_OK && s < STATES; s++)
        status = generate_random_inputs(what, &seed, inputs + s * n_inputs);
    fprintf(file,
            "/* Compares the generated functions with results of the library at random states. */\n#include <math.h>\n"
            "#include <stdio.h>\n\n#include \"%s.h\"\n\nenum { STATES = %d };\n#define TOLERANCE %g\n\n"
            "static const double in[STATES][%d] = {\n",
            what->prefix, STATES, what->tolerance, n_inputs > 0 ? n_inputs : 1);
    if (status == STATUS_OK) write_states(file, n_inputs, inputs);
    for (int i = 0; i < FUNCTIONS; i++) {
        const int n = function[i].n_results;
        for (int s = 0; status == STATUS_OK && n > 0 && s < STATES; s++)
            status = generate_reference(what, i, inputs + s * n_inputs, result + s * n);
        if (status != STATUS_OK || n == 0) continue;
        fprintf(file, "static const double %s_expected[STATES][%d] = {\n", function[i].name, n);
        write_states(file, n, result);
    }
    fputs(check_text, file);
    fprintf(file, "int main(void)\n{\n    static double out[%d];\n    int wrong = 0;\n%s", most,
            n_inputs > 0 ? "" : "    (void)in;\n");
    fputs("    for (int s = 0; s < STATES; s++) {\n", file);
    for (int i = 0; i < FUNCTIONS; i++)
        if (function[i].name != NULL) write_test_call(file, what->prefix, &function[i]);
    fputs("    }\n    return wrong != 0;\n}\n", file);
    free(inputs);
    free(result);
    return status;
}

/* ---- functions with drives ---------------------------------------------------------------------------------------- */

/* Given forces and those of drives: added to tau, in place of line_force */
static void write_forces(FILE *file, const struct robot *robot, const struct model *model, bool lines)
{
    const int count = lines ? robot->n_lines : model->n_tau;
    const char *name = lines ? "force" : "torque";
    if (count == 0) return;
    fprintf(file, "    double %s[%d];\n    for (int i = 0; i < %d; i++) %s[i] = %s[i];\n", name, count, count, name,
            lines ? "line_force" : "tau");
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        if ((rd->line >= 0) == lines)
            fprintf(file, "    %s[%d] %s v[effort[%d]];\n", name, lines ? rd->line : model->link[rd->link].tau,
                    lines ? "=" : "+=", d);
    }
}

/* Function i: drives first, then the function that takes their forces */
static void write_driven(FILE *file, const struct generation *what, int i)
{
    const struct model *model = what->mechanism->model;
    const struct generated function = generate_describe(what, i),
                           core = generate_describe(what, i == DRIVEN ? FORWARD : JACOBIAN);
    write_prototype(file, what->prefix, &function);
    fprintf(
        file,
        "\n{\n    double v[VALUES], motion[2 * DRIVES];\n    %s_motion(q, qd, motion);\n    take(motion, %s, %s, v);\n",
        what->prefix, drives_count_inputs(model->robot) > 0 ? "drive_input" : "NULL",
        robot_drive_states(model->robot) > 0 ? "drive_state" : "NULL");
    for (int lines = 0; lines < 2; lines++) write_forces(file, model->robot, model, lines);
    if (i == DRIVEN && robot_drive_states(model->robot) > 0)
        fputs("    for (int i = 0; rate[i] >= 0; i++) drive_rate[i] = v[rate[i]];\n", file);
    if (i != DRIVEN) fputs("    double slopes[2 * DRIVES * DRIVES];\n    differentiate(v, slopes);\n", file);
    fprintf(file, "    %s_%s(", what->prefix, core.name);
    for (int k = 0; k < core.n; k++) {
        const char *name = core.parameter[k].name;
        if (strcmp(name, "tau") == 0) name = "torque";
        if (strcmp(name, "line_force") == 0) name = "force";
        fprintf(file, "%s%s", k > 0 ? ", " : "", name);
    }
    fputs(");\n}\n\n", file);
}

static enum status write_drives(const struct generation *what, const struct code_files *files, FILE *cmake)
{
    const struct robot *robot = what->mechanism->robot;
    FILE *file = open_file(files, what->prefix, "_drives.c");
    char name[64];
    if (file == NULL) return STATUS_NO_FILE;
    drives_write(file, what);
    for (int i = DRIVEN; i < FUNCTIONS; i++) write_driven(file, what, i);
    fprintf(cmake, " %s_drives.c", what->prefix);
    for (const struct drive_text *text = drive_texts; text->name != NULL; text++) {
        const bool header = text->name[0] == '\0';
        if (!drives_need(robot, text)) continue;
        snprintf(name, sizeof name, header ? "_drive.h" : "_%s.c", text->name);
        file = open_file(files, what->prefix, name);
        if (file == NULL) return STATUS_NO_FILE;
        drives_write_text(file, what, text);
        if (!header) fprintf(cmake, " %s%s", what->prefix, name);
    }
    return STATUS_OK;
}

/* ---- all files --------------------------------------------------------------------------------------------------- */

/* The file of function i, from its expressions */
static enum status make_source(const struct generation *what, int i, const struct code_files *files,
                               struct generated *function)
{
    struct graph g = {0};
    struct robot_parts parts = {0};
    expr *output = NULL;
    char name[64];
    int n = 0;
    snprintf(name, sizeof name, "_%s.c", function->name);
    enum status status = generate_expressions(what, i, &g, &parts, &output, &n);
    struct code code = {.g = &g, .n_outputs = n, .output = output, .inputs = function->parameter};
    code.outputs = function->parameter + function->n_arguments;
    if (status == STATUS_OK && !code_make(&code)) status = STATUS_NO_MEMORY;
    FILE *file = status == STATUS_OK ? open_file(files, what->prefix, name) : NULL;
    if (file != NULL) write_function(file, what, function, &code);
    code_free(&code);
    parts_free(&parts);
    graph_free(&g);
    return status == STATUS_OK && file == NULL ? STATUS_NO_FILE : status;
}

/* Descriptions, declarations and files of functions; of an FMU only those that its library calls */
static enum status make_functions(const struct generation *what, bool fmu, const struct code_files *files, FILE *header,
                                  struct generated *function)
{
    const struct model *model = what->mechanism->model;
    const struct robot *robot = model->robot;
    fprintf(
        header,
        "/* Dynamics of the robot '%s', generated by limber generate. Functions are straight-line code and need only "
        "libm.\n   q: %d positions, qd: %d velocities, tau: %d joint torques and forces, link by link as in `limber "
        "eval`. SI units. */\n",
        robot->name, model->nq, model->nv, model->n_tau);
    for (int i = 0; i < what->n_kept; i++) {
        char name[KEPT_NAME];
        fprintf(header, "/* parameters[%d]: %s, %.17g */\n", i, generate_kept_name(what, i, name), *what->kept[i]);
    }
    fprintf(header, "#ifndef LIMBER_%s_H\n#define LIMBER_%s_H\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
            what->prefix, what->prefix);
    enum status status = STATUS_OK;
    if (!fmu) drives_write_names(header, robot);
    for (int i = 0; status == STATUS_OK && i < generate_count(what); i++) {
        if (fmu && i != FORWARD && i != RESIDUAL) continue;
        function[i] = generate_describe(what, i);
        if (i < DRIVEN) status = make_source(what, i, files, &function[i]);
        fprintf(header, "\n/* %s.", function[i].what);
        if (i < DRIVEN) fputs("\n   ", header);
        if (i < DRIVEN) write_counts(header, &function[i].counts);
        fputs(" */\n", header);
        write_prototype(header, what->prefix, &function[i]);
        fputs(";\n", header);
    }
    fputs("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n", header);
    return status;
}

enum status generate_write(const struct generation *what, const struct code_files *files, struct generated *function)
{
    FILE *header = open_file(files, what->prefix, ".h"), *test = open_file(files, what->prefix, "_test.c"),
         *cmake = open_file(files, "", "CMakeLists.txt");
    enum status status = header != NULL && test != NULL && cmake != NULL ? STATUS_OK : STATUS_NO_FILE;
    memset(function, 0, FUNCTIONS * sizeof *function);
    if (status == STATUS_OK) status = make_functions(what, false, files, header, function);
    if (status == STATUS_OK) status = write_test(test, what, function);
    if (status != STATUS_OK) return status;
    const char *prefix = what->prefix;
    fprintf(cmake,
            "cmake_minimum_required(VERSION 3.16)\nproject(%s C)\nif(NOT CMAKE_BUILD_TYPE)\n    "
            "set(CMAKE_BUILD_TYPE Release)\nendif()\nadd_library(%s",
            prefix, prefix);
    for (int i = 0; i < DRIVEN && i < generate_count(what); i++) fprintf(cmake, " %s_%s.c", prefix, function[i].name);
    if (generate_count(what) > DRIVEN) status = write_drives(what, files, cmake);
    fprintf(cmake,
            ")\ntarget_include_directories(%s PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\ntarget_link_libraries(%s PUBLIC "
            "m)\n\nadd_executable(%s_test %s_test.c)\ntarget_link_libraries(%s_test %s)\nenable_testing()\n"
            "add_test(NAME %s COMMAND %s_test)\n",
            prefix, prefix, prefix, prefix, prefix, prefix, prefix, prefix);
    return status;
}

/* ---- code of an FMU ---------------------------------------------------------------------------------------------- */

/* The arguments are members, with the same names, of struct code_arguments */
static void write_fmu_call(FILE *file, const char *prefix, const struct generated *function)
{
    fprintf(file, "    %s_%s(", prefix, function->name);
    for (int i = 0; i < function->n; i++)
        fprintf(file, "%s%s%s", i > 0 ? ", " : "", i < function->n_arguments ? "arguments->" : "",
                function->parameter[i].name);
    fputs(");\n}\n\n", file);
}

/* struct robot_code of sim/robot_code.h */
static void write_table(FILE *file, const struct generation *what, const char *guid, const struct generated *function)
{
    const struct constraints *loops = what->mechanism->constraints;
    fprintf(file,
            "/* What the FMU's library calls. */\n#include \"%s.h\"\n\n#include \"robot_code.h\"\n\n"
            "static void forward(const struct code_arguments *arguments, double *qdd, double *lambda)\n{\n"
            "    (void)lambda;\n",
            what->prefix);
    write_fmu_call(file, what->prefix, &function[FORWARD]);
    fputs("static void residual(const struct code_arguments *arguments, double *force, double *gap_acceleration)\n{\n"
          "    (void)gap_acceleration;\n",
          file);
    write_fmu_call(file, what->prefix, &function[RESIDUAL]);
    fputs("static const int active[] = {", file);
    for (int k = 0; k < loops->n_active; k++) fprintf(file, "%d, ", loops->active[k]);
    fputs("-1};\nstatic const char *const kept[] = {", file);
    for (int i = 0; i < what->n_kept; i++) {
        char name[KEPT_NAME];
        fprintf(file, "\"%s\", ", generate_kept_name(what, i, name));
    }
    fprintf(file, "0};\n\nconst struct robot_code robot_code = {\"%s\", %d, active, %d, kept, forward, residual};\n",
            guid, loops->n_active, what->n_kept);
}

enum status generate_write_fmu(const struct generation *what, const char *guid, const struct code_files *files)
{
    struct generated function[FUNCTIONS];
    FILE *header = open_file(files, what->prefix, ".h"), *table = open_file(files, what->prefix, "_code.c");
    enum status status = header != NULL && table != NULL ? STATUS_OK : STATUS_NO_FILE;
    if (status == STATUS_OK) status = make_functions(what, true, files, header, function);
    if (status == STATUS_OK) write_table(table, what, guid, function);
    return status;
}
