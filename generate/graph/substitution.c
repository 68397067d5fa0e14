#include "generate/graph/substitution.h"

#include <stdlib.h>

static expr image_at(struct graph *g, const struct substitution *s, int i)
{
    const struct vertex node = g->node[i];
    const int count = expr_operand_count(node.operation), which = node.a - s->first;
    if (node.operation == INPUT && which >= 0 && which < s->count) return s->by[which];
    const expr a = count > 0 ? image_of(s, node.a) : ZERO, b = count > 1 ? image_of(s, node.b) : ZERO;
    if ((count < 1 || a == node.a) && (count < 2 || b == node.b)) return 2 * i;
    return expr_rebuilt(g, &node, a, b);
}

bool expr_substitute(struct graph *g, struct substitution *s)
{
    const int n = g->n;
    expr *image = realloc(s->image, (size_t)n * sizeof *image);
    if (image == NULL) return false;
    s->image = image;
    for (int i = s->n; i < n; i++) image[i] = image_at(g, s, i);
    s->n = n;
    return true;
}

void substitution_free(struct substitution *s)
{
    free(s->image);
    s->image = NULL;
    s->n = 0;
}
