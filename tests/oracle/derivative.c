#include "oracle/derivative.h"
#include "oracle/larger.h"

#include <math.h>
#include <string.h>

enum { MOST_COORDINATES = 200, MOST_VALUES = 200 };

/* weights of y(kh), k = -4..4, for h y' and h^2 y'' */
static const double first_weight[9] = {1.0 / 280, -4.0 / 105, 1.0 / 5,   -4.0 / 5,  0,
                                       4.0 / 5,   -1.0 / 5,   4.0 / 105, -1.0 / 280};
static const double second_weight[9] = {-1.0 / 560, 8.0 / 315, -1.0 / 5,  8.0 / 5,   -205.0 / 72,
                                        8.0 / 5,    -1.0 / 5,  8.0 / 315, -1.0 / 560};

double flow_step(int n, const double *qdd)
{
    double most = 0;
    for (int i = 0; i < n; i++) most = larger(most, fabs(qdd[i]));
    return 7e-4 / (1 + 0.1 * sqrt(most));
}

void flow_derivative(struct specimen *s, const double *qdd, double h, flow_function *function, void *context, int count,
                     double *first, double *second)
{
    double q[MOST_COORDINATES], qd[MOST_COORDINATES], dx[MOST_COORDINATES], y[MOST_VALUES];
    memcpy(q, s->q, (size_t)s->nq * sizeof *q);
    memcpy(qd, s->qd, (size_t)s->nv * sizeof *qd);
    if (first != NULL) memset(first, 0, (size_t)count * sizeof *first);
    if (second != NULL) memset(second, 0, (size_t)count * sizeof *second);
    for (int k = -4; k <= 4; k++) {
        const double t = h * k;
        for (int i = 0; i < s->nv; i++) {
            dx[i] = t * (qd[i] + 0.5 * t * qdd[i]);
            s->qd[i] = qd[i] + t * qdd[i];
        }
        memcpy(s->q, q, (size_t)s->nq * sizeof *q);
        model_move(s->model, s->q, dx, 1);
        function(s, context, y);
        for (int i = 0; i < count; i++) {
            if (first != NULL) first[i] += first_weight[k + 4] * y[i] / h;
            if (second != NULL) second[i] += second_weight[k + 4] * y[i] / (h * h);
        }
    }
    memcpy(s->q, q, (size_t)s->nq * sizeof *q);
    memcpy(s->qd, qd, (size_t)s->nv * sizeof *qd);
}

void flow_energy(struct specimen *s, void *unused, double *sum)
{
    (void)unused;
    struct energy energy;
    specimen_evaluate(s, NULL);
    elements_act(&s->mechanism, &s->in);
    mechanism_energy(&s->mechanism, &s->in, &energy);
    *sum = energy.kinetic + energy.elastic + energy.gravity;
}
