/* Forces that depend on one coordinate or one link alone. */
#include <math.h>

#include "dyn/dyn.h"

/* How far a joint is beyond a limit; sign: where the stop pushes it */
static double penetration(const struct limits *limits, double q, double *sign)
{
    *sign = q > limits->upper ? -1 : 1;
    return fmax(0, *sign < 0 ? q - limits->upper : limits->lower - q);
}

/* The damper of a stop fades in over its depth: 3 x^2 - 2 x^3, x = p/depth */
static double fade(const struct limits *limits, double p, double *slope)
{
    const double x = fmin(p / limits->depth, 1);
    *slope = 6 * x * (1 - x) / limits->depth;
    return x * x * (3 - 2 * x);
}

/* k p + d fade(p) dp/dt, and never a pull back into the stop                                                          (58) */
static double stop_force(const struct limits *limits, double q, double qd)
{
    double sign, slope;
    const double p = penetration(limits, q, &sign);
    if (p == 0) return 0;
    return sign * fmax(0, limits->stiffness * p - sign * qd * limits->damping * fade(limits, p, &slope));
}

static double stop_tangent(const struct limits *limits, double q, double qd, double dq, double dqd)
{
    double sign, slope;
    const double p = penetration(limits, q, &sign);
    if (p == 0 || stop_force(limits, q, qd) == 0) return 0;
    const double d = limits->damping * fade(limits, p, &slope);
    return -limits->stiffness * dq + limits->damping * slope * sign * qd * dq - d * dqd;
}

double joint_contact(const struct link_model *lm, double q, double qd)
{
    const double stop = lm->limits != NULL ? stop_force(lm->limits, q, qd) : 0;
    return lm->coulomb != 0 ? stop - lm->coulomb * tanh(qd / lm->coulomb_velocity) : stop;
}

double joint_force_tangent(const struct link_model *lm, double q, double qd, double dq, double dqd)
{
    double slope = lm->viscous, stop = 0;
    if (lm->coulomb != 0) {
        const double s = tanh(qd / lm->coulomb_velocity);
        slope += lm->coulomb * (1 - s * s) / lm->coulomb_velocity;
    }
    if (lm->limits != NULL) stop = stop_tangent(lm->limits, q, qd, dq, dqd);
    return -slope * dqd - lm->stiffness * dq + stop;
}

double joint_energy(const struct link_model *lm, double q, double *force)
{
    const double stretch = q - lm->rest;
    double energy = 0.5 * lm->stiffness * stretch * stretch;
    *force = -lm->stiffness * stretch;
    if (lm->limits != NULL) {
        double sign;
        const double p = penetration(lm->limits, q, &sign);
        energy += 0.5 * lm->limits->stiffness * p * p;
        *force += sign * lm->limits->stiffness * p;
    }
    return energy;
}

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

void add_elastic_force(const struct body *body, const double *eta, const double *etad, double *force)
{
    if (body->diagonal)
        for (int i = 0; i < body->m; i++) force[i] -= body->K[(body->m + 1) * i] * eta[i];
    else subtract_product(body, body->K, eta, force);
    if (body->damped) subtract_product(body, body->D, etad, force);
}
