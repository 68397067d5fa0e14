/* Derivatives of an instance: the integrator's Jacobian, directional derivatives of its variables. */
#include <math.h>
#include <string.h>

#include "sim/instance.h"

int sim_jacobian(void *context, double t, const double *y, double *J)
{
    struct sim *sim = context;
    const int n = sim->n_free, N = 2 * n;
    /* [0 1; A B]: the upper half is known */
    memset(J, 0, (size_t)(N * N) * sizeof(double));
    for (int i = 0; i < n; i++) J[N * (n + i) + i] = 1;

    double *x = sim->scratch, *f = sim->ydot;
    memcpy(x, y, (size_t)N * sizeof *x);
    for (int j = 0; j < N; j++) {
        const double h = 1e-6 * (fabs(y[j]) + sim->nominal[j]);
        double *column = J + (size_t)N * (size_t)j;
        x[j] = y[j] + h;
        if (sim_derivatives(sim, &sim->now, t, x, f) != STATUS_OK) return 1;
        for (int i = 0; i < n; i++) column[n + i] = f[n + i];
        x[j] = y[j] - h;
        if (sim_derivatives(sim, &sim->now, t, x, f) != STATUS_OK) return 1;
        for (int i = 0; i < n; i++) column[n + i] = (column[n + i] - f[n + i]) / (2 * h);
        x[j] = y[j];
    }
    return 0;
}
