/* Derivatives of expressions in a direction, as expressions of the same graph. */
#ifndef SYMBOLIC_DERIVATIVE_H
#define SYMBOLIC_DERIVATIVE_H

#include "generate/graph/graph.h"

/* Changes of the nodes [0, n) in a direction: `change` has n expressions, on entry those of the nodes where `given` is true. */
void expr_differentiate(struct graph *g, int n, const bool *given, expr *change);

static inline expr change_of(const expr *change, expr e)
{
    return changes_sign(e) ? negative(change[e / 2]) : change[e / 2];
}

#endif
