/* Vectors and matrices of expressions: math/vec.h for symbols. Matrices 3 x 3 row major, symmetric ones (xx, yy, zz, xy, xz, yz). */
#ifndef SYMBOLIC_VECTOR_H
#define SYMBOLIC_VECTOR_H

#include "generate/graph/graph.h"

struct vector {
    expr e[3];
};

static inline expr dot(struct graph *g, const expr *a, const expr *b)
{
    return expr_add_product(g, expr_add_product(g, expr_mul(g, a[0], b[0]), a[1], b[1]), a[2], b[2]);
}

static inline struct vector cross(struct graph *g, const expr *a, const expr *b)
{
    struct vector c;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        c.e[i] = expr_sub_product(g, expr_mul(g, a[j], b[k]), a[k], b[j]);
    }
    return c;
}

static inline struct vector scaled(struct graph *g, double factor, const expr *x)
{
    return (struct vector){{expr_scale(g, factor, x[0]), expr_scale(g, factor, x[1]), expr_scale(g, factor, x[2])}};
}

/* to += factor x */
static inline void add_scaled(struct graph *g, int n, expr factor, const expr *x, expr *to)
{
    for (int i = 0; i < n; i++) to[i] = expr_add_product(g, to[i], factor, x[i]);
}

static inline void add_vector(struct graph *g, int n, const expr *x, expr *to)
{
    add_scaled(g, n, ONE, x, to);
}

static inline void add_cross(struct graph *g, const expr *a, const expr *b, expr *to)
{
    const struct vector c = cross(g, a, b);
    add_vector(g, 3, c.e, to);
}

static inline expr dot_n(struct graph *g, int n, const expr *a, const expr *b)
{
    expr sum = ZERO;
    for (int i = 0; i < n; i++) sum = expr_add_product(g, sum, a[i], b[i]);
    return sum;
}

/* How many components are not zero, and the last one of them. */
static inline int nonzero_count(const expr x[3], int *last)
{
    int count = 0;
    for (int i = 0; i < 3; i++) {
        if (x[i] == ZERO) continue;
        *last = i;
        count++;
    }
    return count;
}

/* Index of entry (i, j) of a symmetric matrix. */
static inline int packed(int i, int j)
{
    return i == j ? i : i + j + 2;
}

/* Row and column of entry e of a symmetric matrix. */
static inline int packed_row(int e)
{
    return e < 3 ? e : e / 5;
}

static inline int packed_column(int e)
{
    return e < 3 ? e : 1 + (e > 3);
}

static inline struct vector symmetric_times(struct graph *g, const expr *S, const expr *x)
{
    struct vector y;
    for (int i = 0; i < 3; i++) {
        const expr row[3] = {S[packed(i, 0)], S[packed(i, 1)], S[packed(i, 2)]};
        y.e[i] = dot(g, row, x);
    }
    return y;
}

/* R' x of a matrix of numbers */
static inline struct vector transposed_numbers_times(struct graph *g, const double *R, const expr *x)
{
    struct vector y = {{ZERO, ZERO, ZERO}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) y.e[i] = expr_add(g, y.e[i], expr_scale(g, R[3 * k + i], x[k]));
    return y;
}

static inline struct vector matrix_times(struct graph *g, const expr *M, const expr *x)
{
    struct vector y;
    for (int i = 0; i < 3; i++) y.e[i] = dot(g, M + 3 * i, x);
    return y;
}

#endif
