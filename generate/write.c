/* The files of a generated robot: header, one file for each function, a test program with results of the library, CMakeLists.txt. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "generate/drives.h"

enum { NAME_SIZE = 256 };

static const char *const argument_names[ARGUMENTS] = {[ARG_Q] = "q",
                                                      [ARG_QD] = "qd",
                                                      [ARG_TAU] = "tau",
                                                      [ARG_QDD] = "qdd",
                                                      [ARG_PRESCRIBED] = "prescribed_qdd",
                                                      [ARG_LINE] = "line_force",
                                                      [ARG_TIP_WRENCH] = "tip_wrench",
                                                      [ARG_FRAME_WRENCH] = "frame_wrench",
                                                      [ARG_KEPT] = "parameters",
                                                      [ARG_DRIVE_INPUT] = "drive_input",
                                                      [ARG_DRIVE_STATE] = "drive_state",
                                                      [ARG_SLOPES] = "slopes",
                                                      [ARG_LAMBDA] = "lambda"};

/* ---- one function ------------------------------------------------------------------------------------------------ */

/* The arguments that a function takes, then its results. */
struct signature {
    int n, n_arguments;
    const char *name[ARGUMENTS + MOST_OUTPUTS];
    int count[ARGUMENTS + MOST_OUTPUTS], first[ARGUMENTS + MOST_OUTPUTS]; /* numbers, among all inputs or outputs */
};

static struct signature signature_of(const struct generated *function, const struct generation *what)
{
    struct signature s = {0};
    for (int i = 0; i < ARGUMENTS; i++) {
        const int first = generate_first(what, i), count = generate_first(what, i + 1) - first;
        if ((function->arguments >> i & 1) == 0 || count == 0) continue;
        s.name[s.n] = argument_names[i];
        s.count[s.n] = count;
        s.first[s.n++] = first;
    }
    s.n_arguments = s.n;
    for (int i = 0, first = 0; i < MOST_OUTPUTS; i++) {
        if (function->result[i].count == 0) continue;
        s.name[s.n] = function->result[i].name;
        s.count[s.n] = function->result[i].count;
        s.first[s.n++] = first;
        first += function->result[i].count;
    }
    return s;
}

/* Name of an input or output */
static void write_element(FILE *file, const struct signature *s, int i, int which)
{
    while (which >= s->first[i] + s->count[i]) i++;
    fprintf(file, "%s[%d]", s->name[i], which - s->first[i]);
}

static void write_input(FILE *file, int which, const void *signature)
{
    write_element(file, signature, 0, which);
}

static void write_output(FILE *file, int which, const void *signature)
{
    write_element(file, signature, ((const struct signature *)signature)->n_arguments, which);
}

static void write_prototype(FILE *file, const struct generation *what, const struct generated *function,
                            const struct signature *s)
{
    fprintf(file, "void %s_%s(", what->prefix, function->name);
    for (int i = 0; i < s->n; i++)
        fprintf(file, "%s%sdouble %s[%d]", i > 0 ? ", " : "", i < s->n_arguments ? "const " : "", s->name[i],
                s->count[i]);
    fputs(s->n > 0 ? ")" : "void)", file); /* void: of a robot without coordinates */
}

static void write_counts(FILE *file, const struct operation_counts *c)
{
    fprintf(file, "%d additions, %d multiplications, %d divisions, %d sines and cosines", c->additions,
            c->multiplications, c->divisions, c->sines);
    if (c->square_roots > 0) fprintf(file, ", %d square roots", c->square_roots);
    if (c->other > 0) fprintf(file, ", %d tanh, max or comparisons", c->other);
}

/* The chunks of a long function, as functions */
static void write_chunks(FILE *file, const struct signature *s, const struct code *code,
                         const struct statements *statements)
{
    fputs("#if defined(__GNUC__)\n#define SEPARATE static __attribute__((noinline))\n#else\n"
          "#define SEPARATE static\n#endif\n\n",
          file);
    for (int c = 0; c < statements->n_chunks; c++) {
        fprintf(file, "SEPARATE void chunk_%d(double *w", c);
        for (int i = 0; i < s->n; i++) fprintf(file, ", %sdouble *%s", i < s->n_arguments ? "const " : "", s->name[i]);
        fputs(")\n{\n    (void)w;\n", file);
        for (int i = 0; i < s->n; i++) fprintf(file, "    (void)%s;\n", s->name[i]);
        code_write_chunk(file, code, statements, c);
        fputs("}\n\n", file);
    }
}

/* (void) of the arguments that are not needed and the statements, or calls of the chunks */
static enum status write_function_body(FILE *file, const struct signature *s, const struct code *code,
                                       const struct statements *statements, int n_inputs)
{
    bool *used = calloc((size_t)n_inputs + 1, sizeof *used);
    if (used == NULL) return STATUS_NO_MEMORY;
    code_inputs_used(code->g, statements->uses, used);
    if (statements->n_chunks == 1) {
        for (int i = 0; i < s->n_arguments; i++) {
            bool any = false;
            for (int k = 0; k < s->count[i]; k++) any = any || used[s->first[i] + k];
            if (!any) fprintf(file, "    (void)%s;\n", s->name[i]);
        }
        code_write_chunk(file, code, statements, 0);
    } else {
        fprintf(file, "    double w[%d];\n", statements->n_slots);
        for (int c = 0; c < statements->n_chunks; c++) {
            fprintf(file, "    chunk_%d(w", c);
            for (int i = 0; i < s->n; i++) fprintf(file, ", %s", s->name[i]);
            fputs(");\n", file);
        }
    }
    free(used);
    return STATUS_OK;
}

static enum status write_function(FILE *file, const struct generation *what, struct generated *function,
                                  const struct signature *s, const struct code *code)
{
    struct statements statements;
    enum status status = code_statements_make(code, &statements) ? STATUS_OK : STATUS_NO_MEMORY;
    if (status == STATUS_OK) {
        function->counts = code_count_operations(code, statements.uses);
        fprintf(file, "/* %s: %s.\n   ", what->mechanism->robot->name, function->what);
        write_counts(file, &function->counts);
        fprintf(file, ". */\n#include \"%s.h\"\n\n#include <math.h>\n\n", what->prefix);
        code_write_definitions(file, code, statements.uses);
        if (statements.n_chunks > 1) write_chunks(file, s, code, &statements);
        write_prototype(file, what, function, s);
        fputs("\n{\n", file);
        status = write_function_body(file, s, code, &statements, generate_first(what, ARGUMENTS));
        fputs("}\n", file);
    }
    code_statements_free(&statements);
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static FILE *open_file(const struct code_files *files, const char *prefix, const char *name)
{
    char file[NAME_SIZE];
    const int length = snprintf(file, sizeof file, "%s%s", prefix, name);
    return length < (int)sizeof file ? files->open(files->context, file) : NULL;
}

/* What callers of a function need in addition to its description. */
struct called {
    int n_results;
    char *call; /* text of its call */
};

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
static void write_call(FILE *file, const struct generation *what, const struct generated *function,
                       const struct signature *s)
{
    fprintf(file, "        %s_%s(", what->prefix, function->name);
    for (int i = 0; i < s->n; i++)
        fprintf(file, "%s%s + %d", i > 0 ? ", " : "", i < s->n_arguments ? "in[s]" : "out", s->first[i]);
    fputs(");\n", file);
    if (strstr(function->name, "jacobian") !=
        NULL) { /* compared with the largest of all: the same factors solve for all */
        const int last = s->n - 1;
        if (s->n > s->n_arguments)
            fprintf(file, "        wrong += check(\"%s\", %d, out, %s_expected[s]);\n", function->name,
                    s->first[last] + s->count[last], function->name);
        return;
    }
    for (int i = s->n_arguments; i < s->n; i++)
        fprintf(file, "        wrong += check(\"%s %s\", %d, out + %d, %s_expected[s] + %d);\n", function->name,
                s->name[i], s->count[i], s->first[i], function->name, s->first[i]);
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

static enum status write_test(FILE *file, const struct generation *what, const struct generated *function,
                              const struct called *tested, int n_inputs)
{
    uint64_t seed = 16;
    int most = 1;
    for (int i = 0; i < FUNCTIONS; i++) most = tested[i].n_results > most ? tested[i].n_results : most;
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
        const int n = tested[i].n_results;
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
        if (tested[i].call != NULL) fputs(tested[i].call, file);
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
    struct parameter result[MOST_OUTPUTS];
    struct generated function, core;
    generate_describe(what, i, &function, result);
    const struct signature s = signature_of(&function, what);
    write_prototype(file, what, &function, &s);
    fprintf(
        file,
        "\n{\n    double v[VALUES], motion[2 * DRIVES];\n    %s_motion(q, qd, motion);\n    take(motion, %s, %s, v);\n",
        what->prefix, drives_count_inputs(model->robot) > 0 ? "drive_input" : "NULL",
        robot_drive_states(model->robot) > 0 ? "drive_state" : "NULL");
    for (int lines = 0; lines < 2; lines++) write_forces(file, model->robot, model, lines);
    if (i == DRIVEN) fputs("    for (int i = 0; rate[i] >= 0; i++) drive_rate[i] = v[rate[i]];\n", file);
    else fputs("    double slopes[2 * DRIVES * DRIVES];\n    differentiate(v, slopes);\n", file);
    generate_describe(what, i == DRIVEN ? FORWARD : JACOBIAN, &core, result);
    const struct signature c = signature_of(&core, what);
    fprintf(file, "    %s_%s(", what->prefix, core.name);
    for (int k = 0; k < c.n; k++) {
        const char *name = c.name[k];
        if (name == argument_names[ARG_TAU]) name = "torque";
        if (name == argument_names[ARG_LINE]) name = "force";
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

/* The functions that are written, the files, and how the functions are called */
struct destination {
    const struct code_files *files;
    unsigned functions; /* 1 << index */
    void (*write_call)(FILE *file, const struct generation *what, const struct generated *function,
                       const struct signature *s);
};

/* The file of function i, from its expressions */
static enum status write_expressions(const struct generation *what, int i, const struct destination *to,
                                     struct generated *function, const struct signature *s)
{
    struct graph g = {0};
    struct robot_parts parts = {0};
    expr *output = NULL;
    char name[64];
    int n;
    snprintf(name, sizeof name, "_%s.c", function->name);
    enum status status = generate_expressions(what, i, &g, &parts, &output, &n);
    FILE *file = status == STATUS_OK ? open_file(to->files, what->prefix, name) : NULL;
    if (status == STATUS_OK && file == NULL) status = STATUS_NO_FILE;
    const struct code code = {&g, n, output, write_input, write_output, s};
    if (status == STATUS_OK) status = write_function(file, what, function, s, &code);
    parts_free(&parts);
    graph_free(&g);
    return status;
}

/* Function i: its file, its declaration, and a call of it */
static enum status make_function(const struct generation *what, int i, const struct destination *to, FILE *header,
                                 struct generated *function, struct called *called)
{
    const struct signature s = signature_of(function, what);
    const int last = s.n - 1;
    struct text call;
    const enum status status = i < DRIVEN ? write_expressions(what, i, to, function, &s) : STATUS_OK;
    if (status != STATUS_OK) return status;
    fprintf(header, "\n/* %s.", function->what);
    if (i < DRIVEN) fputs("\n   ", header);
    if (i < DRIVEN) write_counts(header, &function->counts);
    fputs(" */\n", header);
    write_prototype(header, what, function, &s);
    fputs(";\n", header);
    if (text_open(&call) != NULL) to->write_call(call.stream, what, function, &s);
    called->call = text_close(&call);
    called->n_results = s.n > s.n_arguments ? s.first[last] + s.count[last] : 0;
    return called->call != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status make_functions(const struct generation *what, const struct destination *to, FILE *header,
                                  struct generated *function, struct called *called)
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
        fprintf(header, "/* parameters[%d]: %s, %.17g */\n", i, generate_kept_name(what, i, name),
                generate_kept_value(what, i));
    }
    fprintf(header, "#ifndef LIMBER_%s_H\n#define LIMBER_%s_H\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
            what->prefix, what->prefix);
    enum status status = STATUS_OK;
    if (to->functions >> DRIVEN & 1) drives_write_names(header, robot);
    for (int i = 0; status == STATUS_OK && i < generate_count(what); i++) {
        struct parameter result[MOST_OUTPUTS];
        if ((to->functions >> i & 1) == 0) continue;
        generate_describe(what, i, &function[i], result);
        status = make_function(what, i, to, header, &function[i], &called[i]);
        function[i].result = NULL;
    }
    fputs("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n", header);
    return status;
}

enum status generate_write(const struct generation *what, const struct code_files *files, struct generated *function)
{
    struct called tested[FUNCTIONS] = {{0}};
    const struct destination to = {files, (1u << FUNCTIONS) - 1, write_call};
    FILE *header = open_file(files, what->prefix, ".h"), *test = open_file(files, what->prefix, "_test.c"),
         *cmake = open_file(files, "", "CMakeLists.txt");
    enum status status = header != NULL && test != NULL && cmake != NULL ? STATUS_OK : STATUS_NO_FILE;
    if (status == STATUS_OK) status = make_functions(what, &to, header, function, tested);
    if (status == STATUS_OK) status = write_test(test, what, function, tested, generate_first(what, ARGUMENTS));
    for (int i = 0; i < FUNCTIONS; i++) free(tested[i].call);
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
static void write_fmu_call(FILE *file, const struct generation *what, const struct generated *function,
                           const struct signature *s)
{
    fprintf(file, "    %s_%s(", what->prefix, function->name);
    for (int i = 0; i < s->n; i++)
        fprintf(file, "%s%s%s", i > 0 ? ", " : "", i < s->n_arguments ? "arguments->" : "", s->name[i]);
    fputs(");\n", file);
}

/* struct robot_code of sim/robot_code.h */
static void write_table(FILE *file, const struct generation *what, const char *guid, const struct called *called)
{
    const struct constraints *loops = what->mechanism->constraints;
    fprintf(file, "/* What the FMU's library calls. */\n#include \"%s.h\"\n\n#include \"robot_code.h\"\n\n",
            what->prefix);
    fprintf(file,
            "static void forward(const struct code_arguments *arguments, double *qdd, double *lambda)\n{\n    "
            "(void)lambda;\n%s}\n\n",
            called[FORWARD].call);
    fprintf(file,
            "static void residual(const struct code_arguments *arguments, double *force, double *gap_acceleration)\n{\n"
            "    (void)gap_acceleration;\n%s}\n\nstatic const int active[] = {",
            called[RESIDUAL].call);
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
    const struct destination to = {files, 1u << RESIDUAL | 1u << FORWARD, write_fmu_call};
    struct called called[FUNCTIONS] = {{0}};
    struct generated function[FUNCTIONS];
    FILE *header = open_file(files, what->prefix, ".h"), *table = open_file(files, what->prefix, "_code.c");
    enum status status = header != NULL && table != NULL ? STATUS_OK : STATUS_NO_FILE;
    if (status == STATUS_OK) status = make_functions(what, &to, header, function, called);
    if (status == STATUS_OK) write_table(table, what, guid, called);
    for (int i = 0; i < FUNCTIONS; i++) free(called[i].call);
    return status;
}
