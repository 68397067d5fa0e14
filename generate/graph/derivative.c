#include "generate/graph/derivative.h"

#include <stdlib.h>

void expr_differentiate(struct graph *g, int n, expr *change)
{
    for (int i = 0; i < n; i++) {
        const struct vertex node = g->node[i];
        const int count = expr_operand_count(node.operation), k = node.b;
        const expr a = node.a, b = node.b, self = 2 * i;
        if (count == 0) continue;
        const expr da = count > 0 ? mapped(change, a) : ZERO, db = count > 1 ? mapped(change, b) : ZERO;
        expr slope = ZERO; /* of an operation with one operand; that of STEP is zero */
        change[i] = ZERO;
        if (da == ZERO && db == ZERO) continue;
        switch (node.operation) {
        case ADD: change[i] = expr_add(g, da, db); break;
        case SUB: change[i] = expr_sub(g, da, db); break;
        case MUL: change[i] = expr_add(g, expr_mul(g, da, b), expr_mul(g, a, db)); break;
        case DIV: change[i] = expr_mul(g, expr_sub_product(g, da, self, db), expr_div(g, ONE, b)); break;
        case ANGLE: { /* -2/(w^2 + y) dw + slope dy */
            const expr square = expr_add_product(g, b, a, a);
            change[i] = expr_add(g, expr_mul(g, expr_div(g, expr_number(g, -2), square), da),
                                 expr_mul(g, expr_angle(g, ANGLE_SLOPE, a, b), db));
            break;
        }
        case SIN: slope = expr_function(g, COS, a); break;
        case COS: slope = negative(expr_function(g, SIN, a)); break;
        case SQRT: slope = expr_div(g, expr_number(g, 0.5), self); break;
        case TANH: slope = expr_sub_product(g, ONE, self, self); break;
        case RAMP: slope = expr_function(g, STEP, a); break;
        case STUMPFF: /* dS_k/dy = (k S_(k+2) - S_(k+1))/2 */
            slope = expr_sub(g, expr_scale(g, k, expr_stumpff(g, k + 2, a)), expr_stumpff(g, k + 1, a));
            slope = expr_scale(g, 0.5, slope);
            break;
        default: break;
        }
        if (count == 1) change[i] = expr_mul(g, slope, da);
    }
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
        const bool replaced = node.operation == ARGUMENT && which >= 0 && which < s->count;
        const expr a = count > 0 ? mapped(s->image, node.a) : node.a, b = count > 1 ? mapped(s->image, node.b) : node.b;
        image[i] = replaced ? s->by[which] : a == node.a && b == node.b ? 2 * i : expr_rebuilt(g, &node, a, b);
    }
    s->n = n;
    return true;
}

void expr_substitution_free(struct substitution *s)
{
    free(s->image);
    s->image = NULL;
    s->n = 0;
}
