#include "generate/graph/graph.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static uint64_t mixed_hash(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 29);
}

/* The place of a node in the table, or a free one */
static int *slot_of(const struct graph *g, const struct vertex *node)
{
    const size_t size = (size_t)g->table_size;
    uint64_t bits;
    memcpy(&bits, &node->value, sizeof bits);
    size_t at =
        mixed_hash(mixed_hash(mixed_hash(mixed_hash(1, node->operation), (uint64_t)node->a), (uint64_t)node->b), bits) %
        size;
    for (; g->table[at] != 0; at = (at + 1) % size) {
        const struct vertex *other = &g->node[g->table[at] - 1];
        if (other->operation == node->operation && other->a == node->a && other->b == node->b &&
            memcmp(&other->value, &node->value, sizeof node->value) == 0)
            break;
    }
    return &g->table[at];
}

static bool grow_tables(struct graph *g)
{
    const int capacity = g->capacity == 0 ? 1024 : 2 * g->capacity;
    struct vertex *node = realloc(g->node, (size_t)capacity * sizeof *node);
    int *table = calloc(4 * (size_t)capacity, sizeof *table);
    if (node != NULL) g->node = node;
    if (node == NULL || table == NULL) {
        free(table);
        g->failed = true;
        return false;
    }
    free(g->table);
    g->capacity = capacity;
    g->table = table;
    g->table_size = 4 * capacity;
    for (int i = 0; i < g->n; i++) *slot_of(g, &g->node[i]) = i + 1;
    return true;
}

static expr made_node(struct graph *g, enum operation operation, expr a, expr b, double value)
{
    const struct vertex node = {.operation = operation, .a = a, .b = b, .value = value};
    if (g->failed || (g->n == g->capacity && !grow_tables(g))) return ZERO;
    int *slot = slot_of(g, &node);
    if (*slot == 0) {
        g->node[g->n++] = node;
        *slot = g->n;
    }
    return 2 * (*slot - 1);
}

bool graph_make(struct graph *g)
{
    memset(g, 0, sizeof *g);
    expr_number(g, 0);
    expr_number(g, 1);
    return !g->failed;
}

void graph_free(struct graph *g)
{
    free(g->node);
    free(g->table);
    memset(g, 0, sizeof *g);
}

/* A sum that is smaller than this share of its terms is rounding error, and so is such a difference of a number from 1 */
static const double CANCELLED = 1e-15;

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static bool is_constant(const struct graph *g, expr e)
{
    return vertex_of(g, e)->operation == NUMBER;
}

/* Of a number */
static double number_value(const struct graph *g, expr e)
{
    return changes_sign(e) ? -vertex_of(g, e)->value : vertex_of(g, e)->value;
}

expr expr_number(struct graph *g, double value)
{
    const double size = fabs(fabs(value) - 1) <= CANCELLED ? 1 : fabs(value);
    const expr e = made_node(g, NUMBER, 0, 0, size);
    return value < 0 ? negative(e) : e;
}

expr expr_input(struct graph *g, int which)
{
    return made_node(g, ARGUMENT, which, 0, 0);
}

static expr sum_of_numbers(struct graph *g, double a, double b)
{
    const double sum = a + b;
    return expr_number(g, fabs(sum) <= CANCELLED * (fabs(a) + fabs(b)) ? 0 : sum);
}

/* e = factor rest; returns the factor, a number */
static double split_factor(const struct graph *g, expr e, expr *rest)
{
    const struct vertex *node = vertex_of(g, e);
    const double sign = changes_sign(e) ? -1 : 1;
    *rest = e - e % 2;
    if (node->operation != MUL || !is_constant(g, node->a)) return sign;
    *rest = node->b;
    return sign * number_value(g, node->a);
}

/* number + (number + x) */
static bool fold_sum(struct graph *g, expr a, expr b, expr *sum)
{
    const struct vertex node = *vertex_of(g, b);
    if (!is_constant(g, a) || (node.operation != ADD && node.operation != SUB) || !is_constant(g, node.a)) return false;
    const double sign = changes_sign(b) ? -1 : 1;
    const expr rest = (node.operation == SUB) != changes_sign(b) ? negative(node.b) : node.b;
    *sum = expr_add(g, sum_of_numbers(g, number_value(g, a), sign * number_value(g, node.a)), rest);
    return true;
}

static expr sum_node(struct graph *g, expr a, expr b)
{
    if (changes_sign(a) && changes_sign(b)) return negative(sum_node(g, negative(a), negative(b)));
    if (changes_sign(a)) return sum_node(g, b, a);
    if (changes_sign(b)) {
        b = negative(b);
        return a < b ? made_node(g, SUB, a, b, 0) : negative(made_node(g, SUB, b, a, 0));
    }
    return a < b ? made_node(g, ADD, a, b, 0) : made_node(g, ADD, b, a, 0);
}

/* Numbers are made early, so that a sum of a number and x has the number first; in a product it is put first. */
expr expr_add(struct graph *g, expr a, expr b)
{
    expr sum, x, y;
    if (a == ZERO) return b;
    if (b == ZERO) return a;
    if (is_constant(g, a) && is_constant(g, b)) return sum_of_numbers(g, number_value(g, a), number_value(g, b));
    if (fold_sum(g, a, b, &sum) || fold_sum(g, b, a, &sum)) return sum;
    const double of_x = split_factor(g, a, &x), of_y = split_factor(g, b, &y);
    if (x == y) return expr_mul(g, sum_of_numbers(g, of_x, of_y), x);
    if (is_constant(g, b)) return expr_add(g, b, a);
    if (is_constant(g, a)) {
        const bool minus = changes_sign(b);
        if (changes_sign(a)) return negative(expr_add(g, negative(a), negative(b)));
        return made_node(g, minus ? SUB : ADD, a, minus ? negative(b) : b, 0);
    }
    return sum_node(g, a, b);
}

expr expr_sub(struct graph *g, expr a, expr b)
{
    return expr_add(g, a, negative(b));
}

expr expr_mul(struct graph *g, expr a, expr b)
{
    if (a == ZERO || b == ZERO) return ZERO;
    if (changes_sign(a)) return negative(expr_mul(g, negative(a), b));
    if (changes_sign(b)) return negative(expr_mul(g, a, negative(b)));
    if (a == ONE) return b;
    if (b == ONE) return a;
    if (is_constant(g, a) && is_constant(g, b)) return expr_number(g, number_value(g, a) * number_value(g, b));
    if (is_constant(g, b)) return expr_mul(g, b, a);
    const struct vertex node = *vertex_of(g, b);
    if (is_constant(g, a) && (node.operation == MUL || node.operation == DIV) && is_constant(g, node.a)) {
        const expr factor =
            expr_number(g, number_value(g, a) * number_value(g, node.a)); /* of a number and number x or number/x */
        return node.operation == MUL ? expr_mul(g, factor, node.b) : expr_div(g, factor, node.b);
    }
    return is_constant(g, a) || a < b ? made_node(g, MUL, a, b, 0) : made_node(g, MUL, b, a, 0);
}

expr expr_div(struct graph *g, expr a, expr b)
{
    if (a == ZERO) return ZERO;
    if (is_constant(g, b)) return expr_mul(g, a, expr_number(g, 1 / number_value(g, b)));
    if (changes_sign(a)) return negative(expr_div(g, negative(a), b));
    if (changes_sign(b)) return negative(expr_div(g, a, negative(b)));
    return a == b ? ONE : made_node(g, DIV, a, b, 0);
}

expr expr_scale(struct graph *g, double factor, expr a)
{
    return expr_mul(g, expr_number(g, factor), a);
}

static double function_value(enum operation operation, double a)
{
    switch (operation) {
    case SIN: return sin(a);
    case COS: return cos(a);
    case SQRT: return sqrt(a);
    case TANH: return tanh(a);
    case RAMP: return a > 0 ? a : 0;
    default: return a > 0 ? 1 : 0; /* STEP */
    }
}

expr expr_function(struct graph *g, enum operation operation, expr a)
{
    if (is_constant(g, a)) return expr_number(g, function_value(operation, number_value(g, a)));
    if (changes_sign(a) && (operation == SIN || operation == TANH))
        return negative(made_node(g, operation, negative(a), 0, 0));
    if (changes_sign(a) && operation == COS) a = negative(a);
    return made_node(g, operation, a, 0, 0);
}

double expr_inverse_factorial(int k)
{
    double f = 1;
    for (int i = 2; i <= k; i++) f /= i;
    return f;
}

double expr_stumpff_value(int k, double y)
{
    if (y < STUMPFF_LARGE) {
        const int terms = y < STUMPFF_SMALL ? STUMPFF_FEW : STUMPFF_MANY;
        double sum = expr_inverse_factorial(2 * (terms - 1) + k);
        for (int j = terms - 2; j >= 0; j--) sum = expr_inverse_factorial(2 * j + k) - y * sum;
        return sum;
    }
    const double phi = sqrt(y);
    double s = k % 2 == 0 ? cos(phi) : sin(phi) / phi;
    for (int j = k % 2; j < k; j += 2) s = (expr_inverse_factorial(j) - s) / y; /* S_(j+2) from S_j */
    return s;
}

expr expr_stumpff(struct graph *g, int k, expr a)
{
    return is_constant(g, a) ? expr_number(g, expr_stumpff_value(k, number_value(g, a)))
                             : made_node(g, STUMPFF, a, k, 0);
}

expr expr_angle(struct graph *g, enum operation operation, expr w, expr square)
{
    if (changes_sign(w)) return negative(expr_angle(g, operation, negative(w), square)); /* odd in w */
    return made_node(g, operation, w, square, 0);
}

expr expr_add_product(struct graph *g, expr a, expr b, expr c)
{
    return expr_add(g, a, expr_mul(g, b, c));
}

expr expr_sub_product(struct graph *g, expr a, expr b, expr c)
{
    return expr_sub(g, a, expr_mul(g, b, c));
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

int expr_operand_count(enum operation operation)
{
    if (operation == NUMBER || operation == ARGUMENT) return 0;
    return operation >= ADD && operation <= ANGLE_SLOPE ? 2 : 1;
}

int *graph_count_uses(const struct graph *g, int n_outputs, const expr *output)
{
    int *uses = calloc((size_t)g->n, sizeof *uses);
    if (uses == NULL) return NULL;
    for (int i = 0; i < n_outputs; i++) uses[output[i] / 2]++;
    for (int i = g->n - 1; i >= 0; i--) {
        const struct vertex *node = &g->node[i];
        const int count = uses[i] > 0 ? expr_operand_count(node->operation) : 0;
        for (int k = 0; k < count; k++) uses[node->operand[k] / 2]++;
    }
    return uses;
}

expr expr_rebuilt(struct graph *g, const struct vertex *node, expr a, expr b)
{
    switch (node->operation) {
    case NUMBER: return expr_number(g, node->value);
    case ARGUMENT: return expr_input(g, node->a);
    case ADD: return expr_add(g, a, b);
    case SUB: return expr_sub(g, a, b);
    case MUL: return expr_mul(g, a, b);
    case DIV: return expr_div(g, a, b);
    case ANGLE:
    case ANGLE_SLOPE: return expr_angle(g, node->operation, a, b);
    case STUMPFF: return expr_stumpff(g, node->b, a);
    default: return expr_function(g, node->operation, a);
    }
}
