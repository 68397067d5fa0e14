#include "generate/graph/derivative.h"

/* dS_k/dy = (k S_(k+2) - S_(k+1))/2 */
static expr stumpff_slope(struct graph *g, int k, expr y)
{
    return expr_scale(g, 0.5, expr_sub(g, expr_scale(g, k, stumpff(g, k + 2, y)), stumpff(g, k + 1, y)));
}

static expr slope(struct graph *g, const struct vertex *node, expr self)
{
    switch (node->operation) {
    case SIN: return expr_function(g, COS, node->a);
    case COS: return negative(expr_function(g, SIN, node->a));
    case SQRT: return expr_div(g, expr_number(g, 0.5), self);
    case TANH: return expr_sub_product(g, ONE, self, self);
    case RAMP: return expr_function(g, STEP, node->a);
    case STUMPFF: return stumpff_slope(g, node->b, node->a);
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
