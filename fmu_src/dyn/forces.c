/* Forces that depend on one coordinate or one link alone. */
#include <math.h>

#include "dyn/dyn.h"

double joint_force(const struct link_model *lm, double q, double qd)
{
    /* -viscous qd - coulomb tanh(qd/v) - stiffness (q - rest) */
    double force = -lm->viscous * qd - lm->stiffness * (q - lm->rest);
    if (lm->coulomb != 0) force -= lm->coulomb * tanh(qd / lm->coulomb_velocity);
    return force;
}

void add_elastic_force(const struct body *body, const double *eta, const double *etad, double *force)
{
    const int m = body->m;
    for (int b = 0; b < body->n_blocks; b++) {
        const int from = body->block_start[b], to = body->block_start[b + 1];
        for (int i = from; i < to; i++) {
            double sum = 0;
            for (int j = from; j < to; j++) sum += body->K[m * i + j] * eta[j] + body->D[m * i + j] * etad[j];
            force[i] -= sum;
        }
    }
}
