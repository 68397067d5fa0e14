/* Elastic forces of a link. */
#include "dyn/dyn.h"

/* force -= A x, A block diagonal */
static void subtract_product(const struct body *body, const double *A, const double *x, double *force)
{
    const int m = body->m;
    for (int b = 0; b < body->n_blocks; b++) {
        const int from = body->block_start[b], to = body->block_start[b + 1];
        for (int i = from; i < to; i++)
            for (int j = from; j < to; j++) force[i] -= A[m * i + j] * x[j];
    }
}

void dyn_add_elastic_force(const struct body *body, const double *eta, const double *etad, double *force)
{
    if (body->diagonal)
        for (int i = 0; i < body->m; i++) force[i] -= body->K[(body->m + 1) * i] * eta[i];
    else subtract_product(body, body->K, eta, force);
    if (body->damped) subtract_product(body, body->D, etad, force);
}
