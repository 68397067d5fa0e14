/* Lagrange's equations, from the mass matrix and the potential alone: forces that do no work (gyroscopic, Coriolis) have no
   part in the energy balance, but they have one here. */
#include "test.h"

#include <string.h>

#include "math/vec.h"
#include "oracle/derivative.h"
#include "oracle/laws.h"

enum { ROBOTS = 60, MOST = 200 };

/* Friction and damping are no part of a Lagrangian. */
static void remove_losses(struct robot *robot)
{
    for (int i = 0; i < robot->n_links; i++) {
        struct link *link = &robot->link[i];
        for (int k = 0; k < MOST_COORDINATES_WITH_NUMBERS; k++) {
            struct joint_numbers *number = &link->joint.number[k];
            number->viscous = number->coulomb = number->limits.damping = 0;
        }
        link->beam.damping_ratio = link->beam.rayleigh[0] = link->beam.rayleigh[1] = 0;
        if (link->type == BODY_NODAL)
            link->nodal.damping =
                arena_allocate(&robot->arena, (size_t)(link->nodal.modes * link->nodal.modes), sizeof(double));
    }
}

/* p = M qd */
static void momentum(struct specimen *s, void *context, double *p)
{
    (void)context;
    dyn_configuration(s->model, s->work, s->q);
    dyn_mass_matrix(s->model, s->work);
    for (int i = 0; i < s->nv; i++) {
        p[i] = 0;
        for (int j = 0; j < s->nv; j++) p[i] += s->work->M[s->nv * i + j] * s->qd[j];
    }
}

/* L = T - V */
static double lagrangian(struct specimen *s)
{
    struct energy energy;
    specimen_evaluate(s, NULL);
    dyn_energy(s->model, s->work, &s->in, &energy);
    return energy.kinetic - energy.elastic - energy.gravity;
}

/* L with q moved by t along tangent i */
static double lagrangian_at(struct specimen *s, int i, double t)
{
    double q[MOST], dx[MOST] = {0};
    memcpy(q, s->q, (size_t)s->nq * sizeof *q);
    dx[i] = t;
    model_move(s->model, s->q, dx, 1);
    const double L = lagrangian(s);
    memcpy(s->q, q, (size_t)s->nq * sizeof *q);
    return L;
}

/* dL/dx_i by central differences of eighth order */
static double slope(struct specimen *s, int i, double h)
{
    static const double weight[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    double sum = 0;
    for (int k = 1; k <= 4; k++) sum += weight[k - 1] * (lagrangian_at(s, i, k * h) - lagrangian_at(s, i, -k * h));
    return sum / h;
}

/* d/dt p = d/dt (M qd); of an angular velocity in body axes with omega x p (Lagrange's equations in quasi-velocities) */
static void rate_of_momentum(struct specimen *s, double *rate)
{
    double p[MOST];
    flow_derivative(s, s->qdd, flow_step(s->nv, s->qdd), momentum, NULL, s->nv, rate, NULL);
    momentum(s, NULL, p);
    for (int i = 0; i < s->model->n_links; i++) {
        const int omega = joint_omega(&s->robot->link[i].joint), v = s->model->link[i].v + omega;
        if (omega >= 0) add_cross3(s->qd + v, p + v, rate + v);
    }
}

/* d/dt (M qd) - dL/dq = forces;  differences of both kinds leave 1e-12 or so of all forces */
static double lagrange(struct specimen *s)
{
    double momentum_rate[MOST], terms[MOST], worst = 0;
    remove_losses(s->robot);
    CHECK(specimen_remake(s));
    memset(s->tip_wrench, 0, sizeof s->tip_wrench);
    rate_of_momentum(s, momentum_rate);
    force_terms(s, s->qdd, terms);
    for (int i = 0; i < s->nv; i++) {
        const double force = momentum_rate[i] - slope(s, i, 4e-4);
        specimen_evaluate(s, s->qdd);
        worst = larger(worst, fabs(s->force[i] - force));
    }
    return worst / norm(s->nv, terms);
}

TEST(lagranges_equations)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_random, lagrange, 1e-11));
}

SUITE(dyn_lagrange_test)
