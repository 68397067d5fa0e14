/* The integrator's Jacobian of an instance against differences of its right-hand side. */
#ifndef SIM_JACOBIAN_H
#define SIM_JACOBIAN_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/robot_instance.h"

enum { MOST_JACOBIAN = 512 };

/* y with position j, or velocity j - n_v, moved from y0 by s: positions along their tangent from q */
static void jacobian_move(struct sim *sim, const double *q, const double *y0, int j, double s, double *y)
{
    const struct ode *ode = &sim->instance.stepper.ode;
    double dx[MOST_JACOBIAN] = {0};
    memcpy(sim->at.q, q, (size_t)sim->at.model->nq * sizeof *q);
    if (j < ode->n_v) dx[sim->free_coordinate[j]] = s;
    model_move(sim->at.model, sim->at.q, dx, 1);
    instance_get_states(&sim->instance, y);
    memcpy(y + ode->n_x, y0 + ode->n_x, (size_t)ode->n_v * sizeof *y);
    if (j >= ode->n_v) y[ode->n_x + j - ode->n_v] += s;
}

/* Column j of (A B) by differences of fourth order with step h */
static void jacobian_difference(struct sim *sim, double t, const double *y0, int j, double h, double *column)
{
    static const double weight[5] = {1.0 / 12, -8.0 / 12, 0, 8.0 / 12, -1.0 / 12};
    const struct ode *ode = &sim->instance.stepper.ode;
    double q[MOST_JACOBIAN], y[MOST_JACOBIAN], ydot[MOST_JACOBIAN];
    memcpy(q, sim->at.q, (size_t)sim->at.model->nq * sizeof *q);
    memset(column, 0, (size_t)ode->n_v * sizeof *column);
    for (int k = -2; k <= 2; k++) {
        jacobian_move(sim, q, y0, j, k * h, y);
        if (sim_derivatives(sim, t, y, ydot) != STATUS_OK) column[0] = NAN;
        for (int i = 0; i < ode->n_v; i++) column[i] += weight[k + 2] / h * ydot[ode->n_x + i];
    }
    jacobian_move(sim, q, y0, j, 0, y);
    if (sim_derivatives(sim, t, y, ydot) != STATUS_OK) column[0] = NAN;
}

/* The largest error of an element, in shares of itself, of a hundredth of the acceleration of its row, and of a thousandth of its
   column */
static double jacobian_error(struct sim *sim, double t)
{
    const struct ode *ode = &sim->instance.stepper.ode;
    const double *nominal = sim->instance.stepper.nominal + ode->n_x;
    const int n = ode->n_v;
    double *AB = calloc(2 * (size_t)(n * n) + 1, sizeof *AB), y[MOST_JACOBIAN], ydot[MOST_JACOBIAN];
    double column[MOST_JACOBIAN], worst = 0;
    instance_get_states(&sim->instance, y);
    if (sim_derivatives(sim, t, y, ydot) != STATUS_OK || sim_jacobian(sim, t, y, AB, AB + n * n) != STATUS_OK)
        worst = INFINITY;
    for (int j = 0; j < 2 * n; j++) {
        const double unit = j >= n ? nominal[j - n] : 1, *exact = AB + n * j;
        if (j < n && j >= sim->n_free) memset(column, 0, sizeof column); /* states of drives are no positions */
        else jacobian_difference(sim, t, y, j, 1e-4 * unit, column);
        double largest = 0;
        for (int i = 0; i < n; i++) largest = larger(largest, fabs(exact[i]));
        for (int i = 0; i < n; i++) {
            const double size =
                (fabs(column[i]) + 1e-3 * largest) * unit + 1e-2 * (fabs(ydot[ode->n_x + i]) + nominal[i]);
            const double error = fabs(column[i] - exact[i]) * unit / size;
            if (!(error <= worst)) worst = isnan(error) ? INFINITY : error;
        }
    }
    free(AB);
    return worst;
}

#endif
