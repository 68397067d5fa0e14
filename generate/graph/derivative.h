/* Derivatives of expressions in a direction, as expressions of the same graph, and inputs replaced by expressions. */
#ifndef SYMBOLIC_DERIVATIVE_H
#define SYMBOLIC_DERIVATIVE_H

#include "generate/graph/graph.h"

/* Changes of the nodes [0, n) in a direction: `change` has n expressions, on entry those of numbers, ZERO, and of inputs. */
void expr_differentiate(struct graph *g, int n, expr *change);

/* What an expression becomes, its change or its image, from those of the nodes. */
static inline expr mapped(const expr *nodes, expr e)
{
    return changes_sign(e) ? negative(nodes[e / 2]) : nodes[e / 2];
}

/* ---- substitution ------------------------------------------------------------------------------------------------ */

/* Input number first + i becomes by[i], i < count; image: of the first n nodes, with the replacements. */
struct substitution {
    int first, count;
    const expr *by;
    expr *image;
    int n;
};

/* Extends the images to all nodes that the graph has now. False: out of memory. */
bool expr_substitute(struct graph *g, struct substitution *s);
void expr_substitution_free(struct substitution *s);

#endif
