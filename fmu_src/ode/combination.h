/* Linear combinations of vectors, as the stages of a Runge-Kutta method need them. */
#ifndef ODE_COMBINATION_H
#define ODE_COMBINATION_H

enum { MOST_TERMS = 13 }; /* y and the twelve stages of DOP853 */

struct combination {
    int count;
    double share[MOST_TERMS];
    const double *x[MOST_TERMS];
};

/* One more term, unless its share is zero. */
static inline void combination_add(struct combination *terms, double share, const double *x)
{
    if (share == 0) return;
    terms->share[terms->count] = share;
    terms->x[terms->count++] = x;
}

/* sum = share_1 x_1 + share_2 x_2 + ..., n numbers; 0 without terms. `sum` is none of the x. */
void combination_sum(const struct combination *terms, int n, double *restrict sum);

#endif
