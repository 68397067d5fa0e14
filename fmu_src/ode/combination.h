/* Linear combinations of vectors, as the stages of a Runge-Kutta method need them. */
#ifndef ODE_COMBINATION_H
#define ODE_COMBINATION_H

enum { MOST_TERMS = 13 }; /* y and the twelve stages of DOP853 */

struct combination {
    int count;
    double weight[MOST_TERMS];
    const double *x[MOST_TERMS];
};

/* Adds a term, unless its weight is zero. */
static inline void combination_add(struct combination *terms, double weight, const double *x)
{
    if (weight == 0) return;
    terms->weight[terms->count] = weight;
    terms->x[terms->count++] = x;
}

/* sum = weight_1 x_1 + weight_2 x_2 + ..., n numbers; 0 without terms. `sum` is none of the x. */
void combination_sum(const struct combination *terms, int n, double *restrict sum);

#endif
