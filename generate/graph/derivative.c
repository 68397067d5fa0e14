#include "generate/graph/derivative.h"

#include <stdlib.h>

/* Of an operation with one operand; of Stumpff functions dS_k/dy = (k S_(k+2) - S_(k+1))/2 */
static expr slope(struct graph *g, const struct vertex *node, expr self)
{
    const int k = node->b;
    switch (node->operation) {
    case SIN: return expr_function(g, COS, node->a);
    case COS: return negative(expr_function(g, SIN, node->a));
    case SQRT: return expr_div(g, expr_number(g, 0.5), self);
    case TANH: return expr_sub_product(g, ONE, self, self);
    case RAMP: return expr_function(g, STEP, node->a);
    case STUMPFF:
        return expr_scale(g, 0.5,
                          expr_sub(g, expr_scale(g, k, stumpff(g, k + 2, node->a)), stumpff(g, k + 1, node->a)));
    default: return ZERO; /* STEP */
    }
}

static expr change_at(struct graph *g, int i, const expr *change)
{
    const struct vertex node = g->node[i];
    const int count = expr_operand_count(node.operation);
    const expr da = count > 0 ? change_of(change, node.a) : ZERO, db = count > 1 ? change_of(change, node.b) : ZERO;
    if (da == ZERO && db == ZERO) return ZERO;
    switch (node.operation) {
    case ADD: return expr_add(g, da, db);
    case SUB: return expr_sub(g, da, db);
    case MUL: return expr_add(g, expr_mul(g, da, node.b), expr_mul(g, node.a, db));
    case DIV: return expr_mul(g, expr_sub_product(g, da, 2 * i, db), expr_div(g, ONE, node.b)); /* (da - (a/b) db)/b */
    case ANGLE: { /* -2/(w^2 + y) dw + slope dy */
        const expr square = expr_add_product(g, node.b, node.a, node.a);
        return expr_add(g, expr_mul(g, expr_div(g, expr_number(g, -2), square), da),
                        expr_mul(g, expr_angle(g, ANGLE_SLOPE, node.a, node.b), db));
    }
    default: return expr_mul(g, slope(g, &node, 2 * i), da);
    }
}

void expr_differentiate(struct graph *g, int n, const bool *given, expr *change)
{
    for (int i = 0; i < n; i++)
        if (!given[i]) change[i] = change_at(g, i, change);
}

bool expr_substitute(struct graph *g, struct substitution *s)
{
    const int n = g->n;
    expr *image = realloc(s->image, (size_t)n * sizeof *image);
    if (image == NULL) return false;
    s->image = image;
    for (int i = s->n; i < n; i++) {
        const struct vertex node = g->node[i];
        const int count = expr_operand_count(node.operation), which = node.a - s->first;
        const bool replaced = node.operation == INPUT && which >= 0 && which < s->count;
        const expr a = count > 0 ? image_of(s, node.a) : node.a, b = count > 1 ? image_of(s, node.b) : node.b;
        image[i] = replaced ? s->by[which] : a == node.a && b == node.b ? 2 * i : expr_rebuilt(g, &node, a, b);
    }
    s->n = n;
    return true;
}

void substitution_free(struct substitution *s)
{
    free(s->image);
    s->image = NULL;
    s->n = 0;
}
