#include "generate/graph/code.h"

#include <stdlib.h>
#include <string.h>

/* ---- operations -------------------------------------------------------------------------------------------------- */

struct operation_counts code_count_operations(const struct code *code)
{
    int n[OPERATIONS] = {0};
    for (int i = 0; i < code->g->n; i++) n[code->g->node[i].operation] += code->uses[i] > 0;
    const int series = n[STUMPFF] * (STUMPFF_FEW - 1);
    return (struct operation_counts){.additions = n[ADD] + n[SUB] + series,
                                     .multiplications = n[MUL] + series,
                                     .divisions = n[DIV],
                                     .sines = n[SIN] + n[COS],
                                     .square_roots = n[SQRT],
                                     .other = n[ANGLE] + n[ANGLE_SLOPE] + n[TANH] + n[RAMP] + n[STEP]};
}

bool code_uses_inputs(const struct code *code, int first, int count)
{
    for (int i = 0; i < code->g->n; i++) {
        const struct vertex *node = &code->g->node[i];
        if (code->uses[i] > 0 && node->operation == ARGUMENT && node->a >= first && node->a < first + count)
            return true;
    }
    return false;
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

void code_shortest_number(double value, char text[CODE_NUMBER_SIZE])
{
    int digits = 6;
    do snprintf(text, CODE_NUMBER_SIZE, "%.*g", digits, value);
    while (strtod(text, NULL) != value && ++digits <= 17);
}

/* How strongly an expression binds */
enum { SUM = 1, PRODUCT, ATOM };

static void write_node(const struct printer *p, int i, int binding);

static void write_expr(const struct printer *p, expr e, int binding)
{
    const bool minus = changes_sign(e), bracket = minus && binding > SUM;
    if (bracket) fputc('(', p->file);
    if (minus) fputc('-', p->file);
    write_node(p, e / 2, minus ? PRODUCT : binding);
    if (bracket) fputc(')', p->file);
}

static void write_operation(const struct printer *p, const struct vertex *node, int binding)
{
    const enum operation operation = node->operation;
    const struct operation_text *text = &p->operation[operation];
    const bool sign = text->before == NULL;
    const int own = operation <= SUB ? SUM : PRODUCT; /* of a sign */
    const bool bracket = sign && own < binding;
    if (bracket) fputc('(', p->file);
    if (!sign) fprintf(p->file, text->before, node->b); /* the index of a Stumpff function */
    write_expr(p, node->a, sign ? own : operation == STEP ? PRODUCT : SUM);
    if (expr_operand_count(operation) == 2) {
        fputs(text->between, p->file);
        write_expr(p, node->b, !sign ? SUM : operation == SUB || operation == DIV ? own + 1 : own);
    }
    if (!sign) fputs(text->after, p->file);
    if (bracket) fputc(')', p->file);
}

static void write_node(const struct printer *p, int i, int binding)
{
    const struct vertex *node = &p->g->node[i];
    if (node->operation == NUMBER) p->write_number(p->file, node->value, binding >= ATOM, p->context);
    else if (node->operation == ARGUMENT) p->write_input(p, node->a);
    else if (!p->write_name(p, i)) write_operation(p, node, binding);
}

void code_write_expression(const struct printer *p, expr e)
{
    write_expr(p, e, 0);
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

/* A function with more statements than LONG is cut into chunks of CHUNK */
enum { LONG = 3000, CHUNK = 400 };

/* Nodes that become variables: those that are used more than once, and the roots of long expressions */
static void choose_names(struct code *code)
{
    enum { LONGEST = 6 };
    for (int i = 0; i < code->g->n; i++) {
        struct place *place = &code->place[i];
        const struct vertex *node = &code->g->node[i];
        const int count = expr_operand_count(node->operation);
        if (code->uses[i] == 0 || count == 0) continue;
        int size = 1; /* operations of the expression below; in `slot` of its nodes */
        for (int k = 0; k < count; k++) size += code->place[node->operand[k] / 2].slot;
        place->named = code->uses[i] > 1 || size > LONGEST;
        place->slot = place->named ? 0 : size;
    }
}

/* An operand without a variable is in the chunk of its only user; the value of any other may be passed to that chunk in w */
static void place_operand(struct code *code, expr operand, int chunk)
{
    struct place *place = &code->place[operand / 2];
    if (!place->named) place->chunk = chunk;
    else if (place->chunk != chunk && place->slot < 0) place->slot = code->n_slots++;
}

bool code_make(struct code *code)
{
    const struct graph *g = code->g;
    code->uses = graph_count_uses(g, code->n_outputs, code->output);
    code->place = calloc((size_t)g->n, sizeof *code->place);
    if (code->uses == NULL || code->place == NULL) return false;
    choose_names(code);
    int count = 0;
    for (int i = 0; i < g->n; i++) count += code->place[i].named;
    const int size = count > LONG ? CHUNK : LONG;
    code->n_chunks = count > LONG ? count / CHUNK + 2 : 1; /* the outputs are the last one */
    count = 0;
    for (int i = 0; i < g->n; i++) {
        code->place[i].chunk = code->place[i].named ? count++ / size : code->n_chunks - 1;
        code->place[i].slot = -1;
    }
    for (int i = 0; i < code->n_outputs; i++) place_operand(code, code->output[i], code->n_chunks - 1);
    for (int i = g->n - 1; i >= 0; i--) {
        const struct vertex *node = &g->node[i];
        const int operands = code->uses[i] > 0 ? expr_operand_count(node->operation) : 0;
        for (int k = 0; k < operands; k++) place_operand(code, node->operand[k], code->place[i].chunk);
    }
    return true;
}

void code_free(struct code *code)
{
    free(code->uses);
    free(code->place);
}

/* ---- C ----------------------------------------------------------------------------------------------------------- */

static const struct operation_text c_operation[OPERATIONS] = {[ADD] = {NULL, " + ", NULL},
                                                              [SUB] = {NULL, " - ", NULL},
                                                              [MUL] = {NULL, " * ", NULL},
                                                              [DIV] = {NULL, " / ", NULL},
                                                              [ANGLE] = {"rotation_scale(", ", ", ")"},
                                                              [ANGLE_SLOPE] = {"rotation_scale_slope(", ", ", ")"},
                                                              [SIN] = {"sin(", NULL, ")"},
                                                              [COS] = {"cos(", NULL, ")"},
                                                              [SQRT] = {"sqrt(", NULL, ")"},
                                                              [TANH] = {"tanh(", NULL, ")"},
                                                              [RAMP] = {"fmax(0.0, ", NULL, ")"},
                                                              [STEP] = {"(double)(0.0 < ", NULL, ")"},
                                                              [STUMPFF] = {"stumpff_%d(", NULL, ")"}};

/* The chunk of the statements that is written */
struct position {
    const struct code *code;
    int chunk;
};

static void write_c_number(FILE *file, double value, bool divisor, const void *context)
{
    char text[CODE_NUMBER_SIZE];
    (void)divisor;
    (void)context;
    code_shortest_number(value, text);
    fputs(text, file);
    if (strpbrk(text, ".e") == NULL) fputs(".0", file);
}

static void write_element(FILE *file, const struct parameter *p, int which)
{
    while (which >= p->first + p->count) p++;
    fprintf(file, "%s[%d]", p->name, which - p->first);
}

static void write_c_input(const struct printer *p, int which)
{
    write_element(p->file, ((const struct position *)p->context)->code->inputs, which);
}

/* The variable of a node; one of another chunk is in w */
static bool write_c_name(const struct printer *p, int i)
{
    const struct position *at = p->context;
    const struct place *place = &at->code->place[i];
    if (!place->named) return false;
    if (place->chunk == at->chunk) fprintf(p->file, "t%d", i);
    else fprintf(p->file, "w[%d]", place->slot);
    return true;
}

void code_write_chunk(FILE *file, const struct code *code, int chunk)
{
    const struct position at = {code, chunk};
    const struct printer p = {file, code->g, c_operation, write_c_number, write_c_input, write_c_name, &at};
    for (int i = 0; i < code->g->n; i++) {
        const struct place *place = &code->place[i];
        if (!place->named || place->chunk != chunk) continue;
        fprintf(file, "    const double t%d = ", i);
        write_operation(&p, &code->g->node[i], 0);
        fputs(";\n", file);
        if (place->slot >= 0) fprintf(file, "    w[%d] = t%d;\n", place->slot, i);
    }
    for (int i = 0; chunk == code->n_chunks - 1 && i < code->n_outputs; i++) {
        fputs("    ", file);
        write_element(file, code->outputs, i);
        fputs(" = ", file);
        write_expr(&p, code->output[i], 0);
        fputs(";\n", file);
    }
}

/* ---- definitions ------------------------------------------------------------------------------------------------- */

static const char rotation_scale[] =
    "/* The rotation vector of a quaternion (w, v) is rotation_scale(w, v.v) v */\n"
    "static double rotation_scale(double w, double y)\n{\n"
    "    const double n = sqrt(y), s = n > 0 ? 2 * atan2(n, fabs(w)) / n : 2 / fabs(w);\n"
    "    return w < 0 ? -s : s;\n}\n\n";

/* 2/w^3 (-1/3 + 2 x/5 - 3 x^2/7 + ...) where x = y/w^2 is small */
static const char rotation_scale_slope[] =
    "/* Its derivative with respect to y */\n"
    "static double rotation_scale_slope(double w, double y)\n{\n"
    "    const double x = y / (w * w);\n"
    "    if (!(x < 0.01)) return (w / (w * w + y) - rotation_scale(w, y) / 2) / y;\n"
    "    double sum = 0;\n"
    "    for (int j = 9; j > 0; j--) sum = j / (2.0 * j + 1) - x * sum;\n"
    "    return -2 * sum / (w * w * w);\n}\n\n";

static void write_series(FILE *file, int k, int terms)
{
    for (int j = 0; j < terms - 1; j++) {
        write_c_number(file, expr_inverse_factorial(2 * j + k), false, NULL);
        fputs(j < terms - 2 ? " - y * (" : " - y * ", file);
    }
    write_c_number(file, expr_inverse_factorial(2 * (terms - 1) + k), false, NULL);
    for (int j = 0; j < terms - 2; j++) fputc(')', file);
}

void code_write_definitions(FILE *file, const struct code *code)
{
    enum { MOST = 16 };
    bool needed[MOST] = {false}, rotation = false, slope = false;
    for (int i = 0; i < code->g->n; i++) {
        const struct vertex *node = &code->g->node[i];
        if (code->uses[i] == 0) continue;
        if (node->operation == STUMPFF && node->b < MOST) needed[node->b] = true;
        rotation = rotation || node->operation == ANGLE;
        slope = slope || node->operation == ANGLE_SLOPE;
    }
    if (rotation) fputs(rotation_scale, file);
    if (rotation && slope) fputs(rotation_scale_slope, file);
    for (int k = 0; k < MOST; k++) {
        if (!needed[k]) continue;
        fprintf(file, "/* sum over j of (-y)^j/(2j + %d)! */\nstatic double stumpff_%d(double y)\n{\n", k, k);
        fprintf(file, "    if (y < %g) return ", STUMPFF_SMALL);
        write_series(file, k, STUMPFF_FEW);
        fprintf(file, ";\n    if (y < %.1f) return ", STUMPFF_LARGE);
        write_series(file, k, STUMPFF_MANY);
        fprintf(file, ";\n    double s = %s;\n", k % 2 == 0 ? "cos(sqrt(y))" : "sin(sqrt(y)) / sqrt(y)");
        for (int j = k % 2; j < k; j += 2) {
            fputs("    s = (", file);
            write_c_number(file, expr_inverse_factorial(j), false, NULL);
            fputs(" - s) / y;\n", file);
        }
        fputs("    return s;\n}\n\n", file);
    }
}
