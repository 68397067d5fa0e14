/* Inputs replaced by expressions. */
#ifndef SYMBOLIC_SUBSTITUTION_H
#define SYMBOLIC_SUBSTITUTION_H

#include "generate/graph/graph.h"

/* Input number first + i becomes by[i], i < count; image: of the first n nodes, with the replacements. */
struct substitution {
    int first, count;
    const expr *by;
    expr *image;
    int n;
};

/* Extends the images to all nodes that the graph has now. False: out of memory. */
bool expr_substitute(struct graph *g, struct substitution *s);
void substitution_free(struct substitution *s);

static inline expr image_of(const struct substitution *s, expr e)
{
    return changes_sign(e) ? negative(s->image[e / 2]) : s->image[e / 2];
}

#endif
