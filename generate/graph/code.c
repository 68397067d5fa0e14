#include "generate/graph/code.h"

#include <stdlib.h>
#include <string.h>

#include "generate/graph/rotation_scale.h"
#include "generate/graph/stumpff.h"

/* ---- uses -------------------------------------------------------------------------------------------------------- */

int *code_count_uses(const struct code *code)
{
    const struct graph *g = code->g;
    int *uses = calloc((size_t)g->n, sizeof *uses);
    if (uses == NULL) return NULL;
    for (int i = 0; i < code->n_outputs; i++) uses[code->output[i] / 2]++;
    for (int i = g->n - 1; i >= 0; i--) {
        const int count = uses[i] > 0 ? expr_operand_count(g->node[i].operation) : 0;
        if (count > 0) uses[g->node[i].a / 2]++;
        if (count > 1) uses[g->node[i].b / 2]++;
    }
    return uses;
}

static void count_one(const struct vertex *node, struct operation_counts *count)
{
    switch (node->operation) {
    case NUMBER:
    case INPUT: break;
    case ADD:
    case SUB: count->additions++; break;
    case MUL: count->multiplications++; break;
    case DIV: count->divisions++; break;
    case SIN:
    case COS: count->sines++; break;
    case SQRT: count->square_roots++; break;
    case STUMPFF:
        count->additions += STUMPFF_FEW - 1;
        count->multiplications += STUMPFF_FEW - 1;
        break;
    default: count->other++;
    }
}

struct operation_counts code_count_operations(const struct code *code, const int *uses)
{
    struct operation_counts count = {0};
    for (int i = 0; i < code->g->n; i++)
        if (uses[i] > 0) count_one(&code->g->node[i], &count);
    return count;
}

void code_inputs_used(const struct code *code, const int *uses, bool *used)
{
    for (int i = 0; i < code->g->n; i++)
        if (uses[i] > 0 && code->g->node[i].operation == INPUT) used[code->g->node[i].a] = true;
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

/* Nodes that become variables: used more than once, or at the root of a long expression */
enum { LONGEST = 6 };

struct writer {
    FILE *file;
    const struct code *code;
    const struct statements *s;
    int chunk;
};

/* NULL: out of memory */
static bool *choose_names(const struct code *code, const int *uses)
{
    const struct graph *g = code->g;
    bool *named = calloc((size_t)g->n, sizeof *named);
    int *size = calloc((size_t)g->n, sizeof *size); /* operations of the expression below a node */
    if (named == NULL || size == NULL) {
        free(named);
        free(size);
        return NULL;
    }
    for (int i = 0; i < g->n; i++) {
        const int count = expr_operand_count(g->node[i].operation);
        if (uses[i] == 0 || count == 0) continue;
        size[i] = 1 + size[g->node[i].a / 2] + (count > 1 ? size[g->node[i].b / 2] : 0);
        named[i] = uses[i] > 1 || size[i] > LONGEST;
        if (named[i]) size[i] = 0;
    }
    free(size);
    return named;
}

static void write_number(FILE *file, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    for (int digits = 6; digits < 17; digits++) { /* the shortest that reads as the same number */
        char shorter[40];
        snprintf(shorter, sizeof shorter, "%.*g", digits, value);
        if (strtod(shorter, NULL) == value) {
            memcpy(text, shorter, sizeof shorter);
            break;
        }
    }
    fputs(text, file);
    if (strpbrk(text, ".e") == NULL) fputs(".0", file);
}

/* How strongly an expression binds */
enum { SUM = 1, PRODUCT, ATOM };

static void write_node(const struct writer *w, int i, int binding);

static void write_expr(const struct writer *w, expr e, int binding)
{
    if (changes_sign(e)) {
        const bool bracket = binding > SUM;
        fputs(bracket ? "(-" : "-", w->file);
        write_node(w, e / 2, PRODUCT);
        if (bracket) fputc(')', w->file);
    } else {
        write_node(w, e / 2, binding);
    }
}

static void write_binary(const struct writer *w, const struct vertex *node, int binding)
{
    static const char *const sign[] = {[ADD] = " + ", [SUB] = " - ", [MUL] = " * ", [DIV] = " / "};
    const int own = node->operation <= SUB ? SUM : PRODUCT;
    const bool bracket = own < binding;
    if (bracket) fputc('(', w->file);
    write_expr(w, node->a, own);
    fputs(sign[node->operation], w->file);
    write_expr(w, node->b, node->operation == ADD ? SUM : node->operation == MUL ? PRODUCT : own + 1);
    if (bracket) fputc(')', w->file);
}

static void write_operation(const struct writer *w, const struct vertex *node, int binding)
{
    static const char *const name[OPERATIONS] = {[SIN] = "sin",   [COS] = "cos",         [SQRT] = "sqrt",
                                                 [TANH] = "tanh", [RAMP] = "fmax(0.0, ", [STEP] = "(double)(0.0 < "};
    if (node->operation == ANGLE || node->operation == ANGLE_SLOPE) {
        fputs(node->operation == ANGLE ? "rotation_scale(" : "rotation_scale_slope(", w->file);
        write_expr(w, node->a, SUM);
        fputs(", ", w->file);
        write_expr(w, node->b, SUM);
        fputc(')', w->file);
        return;
    }
    if (expr_operand_count(node->operation) == 2) {
        write_binary(w, node, binding);
        return;
    }
    if (node->operation == STUMPFF) fprintf(w->file, "stumpff_%d(", node->b);
    else if (node->operation == RAMP || node->operation == STEP) fputs(name[node->operation], w->file);
    else fprintf(w->file, "%s(", name[node->operation]);
    write_expr(w, node->a, node->operation == STEP ? PRODUCT : SUM);
    fputc(')', w->file);
}

static void write_node(const struct writer *w, int i, int binding)
{
    const struct vertex *node = &w->code->g->node[i];
    if (node->operation == NUMBER) write_number(w->file, node->value);
    else if (node->operation == INPUT) w->code->write_input(w->file, node->a, w->code->context);
    else if (w->s->named[i] && w->s->chunk[i] != w->chunk) fprintf(w->file, "w[%d]", w->s->slot[i]);
    else if (w->s->named[i]) fprintf(w->file, "t%d", i);
    else write_operation(w, node, binding);
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* A function with more statements than LONG is cut into chunks of CHUNK */
enum { LONG = 3000, CHUNK = 400 };

static void number_chunks(const struct code *code, struct statements *s)
{
    const struct graph *g = code->g;
    int count = 0, size;
    for (int i = 0; i < g->n; i++) count += s->named[i];
    size = count > LONG ? CHUNK : LONG;
    s->n_chunks = count > LONG ? count / CHUNK + 2 : 1; /* the outputs are the last one */
    count = 0;
    for (int i = 0; i < g->n; i++) s->chunk[i] = s->named[i] ? count++ / size : s->n_chunks - 1;
}

/* An operand that is part of the expression of its only user is in the chunk of that; any other may cross to it */
static void place_operand(struct statements *s, expr operand, int chunk)
{
    const int i = operand / 2;
    if (!s->named[i]) s->chunk[i] = chunk;
    else if (s->chunk[i] != chunk && s->slot[i] < 0) s->slot[i] = s->n_slots++;
}

bool code_statements_make(const struct code *code, struct statements *s)
{
    const struct graph *g = code->g;
    memset(s, 0, sizeof *s);
    s->uses = code_count_uses(code);
    if (s->uses != NULL) s->named = choose_names(code, s->uses);
    s->chunk = calloc((size_t)g->n, sizeof *s->chunk);
    s->slot = calloc((size_t)g->n, sizeof *s->slot);
    if (s->named == NULL || s->chunk == NULL || s->slot == NULL) return false;
    for (int i = 0; i < g->n; i++) s->slot[i] = -1;
    number_chunks(code, s);
    for (int i = 0; i < code->n_outputs; i++) place_operand(s, code->output[i], s->n_chunks - 1);
    for (int i = g->n - 1; i >= 0; i--) {
        const int count = s->uses[i] > 0 ? expr_operand_count(g->node[i].operation) : 0;
        if (count > 0) place_operand(s, g->node[i].a, s->chunk[i]);
        if (count > 1) place_operand(s, g->node[i].b, s->chunk[i]);
    }
    return true;
}

void code_statements_free(struct statements *s)
{
    free(s->uses);
    free(s->named);
    free(s->chunk);
    free(s->slot);
    memset(s, 0, sizeof *s);
}

static void write_outputs(const struct writer *w)
{
    const struct code *code = w->code;
    for (int i = 0; i < code->n_outputs; i++) {
        fputs("    ", w->file);
        code->write_output(w->file, i, code->context);
        fputs(" = ", w->file);
        write_expr(w, code->output[i], 0);
        fputs(";\n", w->file);
    }
}

void code_write_chunk(FILE *file, const struct code *code, const struct statements *s, int chunk)
{
    const struct writer w = {file, code, s, chunk};
    for (int i = 0; i < code->g->n; i++) {
        if (!s->named[i] || s->chunk[i] != chunk) continue;
        fprintf(file, "    const double t%d = ", i);
        write_operation(&w, &code->g->node[i], 0);
        fputs(";\n", file);
        if (s->slot[i] >= 0) fprintf(file, "    w[%d] = t%d;\n", s->slot[i], i);
    }
    if (chunk == s->n_chunks - 1) write_outputs(&w);
}

/* ---- Stumpff functions ------------------------------------------------------------------------------------------- */

static void write_series(FILE *file, int k, int terms)
{
    for (int j = 0; j < terms - 1; j++) {
        write_number(file, stumpff_inverse_factorial(2 * j + k));
        fputs(j < terms - 2 ? " - y * (" : " - y * ", file);
    }
    write_number(file, stumpff_inverse_factorial(2 * (terms - 1) + k));
    for (int j = 0; j < terms - 2; j++) fputc(')', file);
}

static void write_definition(FILE *file, int k)
{
    fprintf(file, "/* sum over j of (-y)^j/(2j + %d)! */\nstatic double stumpff_%d(double y)\n{\n", k, k);
    fprintf(file, "    if (y < %g) return ", STUMPFF_SMALL);
    write_series(file, k, STUMPFF_FEW);
    fprintf(file, ";\n    if (y < %.1f) return ", STUMPFF_LARGE);
    write_series(file, k, STUMPFF_MANY);
    fprintf(file, ";\n    double s = %s;\n", k % 2 == 0 ? "cos(sqrt(y))" : "sin(sqrt(y)) / sqrt(y)");
    for (int j = k % 2; j < k; j += 2) {
        fputs("    s = (", file);
        write_number(file, stumpff_inverse_factorial(j));
        fputs(" - s) / y;\n", file);
    }
    fputs("    return s;\n}\n\n", file);
}

void code_write_definitions(FILE *file, const struct code *code, const int *uses)
{
    enum { MOST = 16 };
    bool needed[MOST] = {false}, rotation = false, slope = false;
    for (int i = 0; i < code->g->n; i++) {
        const struct vertex *node = &code->g->node[i];
        if (uses[i] > 0 && node->operation == STUMPFF && node->b < MOST) needed[node->b] = true;
        rotation = rotation || (uses[i] > 0 && node->operation == ANGLE);
        slope = slope || (uses[i] > 0 && node->operation == ANGLE_SLOPE);
    }
    if (rotation) rotation_scale_write(file, slope);
    for (int k = 0; k < MOST; k++)
        if (needed[k]) write_definition(file, k);
}
