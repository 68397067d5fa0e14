#include "controller/observer.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/eigen.h"

/* The load and the linear model decay at this fraction of the bandwidth, so that what no sensor sees stays bounded */
static const double LEAK = 1e-3;
/* If even this force changes no sensor by more than its noise, no load is seen                                         [N] */
static const double UNSEEN = 1e9;
/* mu of (C21), as a fraction of the squared sensitivity at the start */
static const double LEAST_SENSITIVITY = 1e-6;

enum { AXES = 3 };

/* ---- arrays -------------------------------------------------------------------------------------------------------------- */

enum status observer_make(struct observer *o, int n, const struct sensor *sensor, struct mechanism *guided, int n_eta,
                          const int *elastic, struct arena *arena)
{
    const size_t count = (size_t)n, nv = (size_t)guided->model->nv, nx = (size_t)(2 * n_eta + AXES);
    o->n_eta = n_eta;
    o->elastic = elastic;
    if (n == 0) return STATUS_OK;
    arena_arrays(arena, count, ARRAYS(&o->noise, &o->e));
    arena_arrays(arena, nv, ARRAYS(&o->dq, &o->dqd, &o->rest));
    arena_arrays(arena, count * AXES, ARRAYS(&o->G, &o->counted));
    arena_arrays(arena, nv * nv, ARRAYS(&o->by_q, &o->by_qd));
    o->transposed_gain = arena_allocate(arena, count * nx, sizeof(double));
    const enum status status = sensors_make(&o->sensors, n, sensor, guided, arena);
    return status == STATUS_OK ? lqr_make(&o->filter, (int)nx, n, arena) : status;
}

int observer_state_size(int n_sensors, int n_eta)
{
    return n_sensors > 0 ? 6 + n_sensors * (2 * n_eta + n_sensors) + 1 : 0;
}

void observer_place_state(struct observer *o, double *state)
{
    const int n = o->sensors.n;
    o->wrench = state;
    o->gain = o->wrench + 6;
    o->S = o->gain + n * 2 * o->n_eta;
    o->floor = o->S + n * n;
}

/* ---- the load ------------------------------------------------------------------------------------------------------------ */

void observer_tip_force(const struct mechanism *m, const double wrench[6], double *force)
{
    const struct load load = dyn_anchor_load(m->work, &m->model->tip_frame, wrench);
    memset(force, 0, (size_t)m->model->nv * sizeof *force);
    dyn_frame_force(m->model, m->work, &load, force);
}

/* The fraction of a load that remains after a sample */
static double remainder_of(const struct observer *o)
{
    return exp(-LEAK * o->bandwidth * o->sample_time);
}

/* G, the change of the sensors with a load that grows as exp(omega_o t), to which the modes respond by
   (K + omega_o D + omega_o^2 M)^-1 Phi'. After sensors_place().                                                       (C18) */
static enum status respond(struct observer *o)
{
    struct sensors *s = &o->sensors;
    const double gamma = 1 / o->bandwidth;
    const enum status status = mechanism_newton_factor(s->arm, &s->in, gamma);
    if (status != STATUS_OK) return status;
    o->compliance = 0;
    for (int i = 0; i < AXES; i++) {
        double wrench[6] = {0};
        wrench[3 + i] = 1;
        observer_tip_force(s->arm, wrench, o->dq);
        memcpy(o->dqd, o->dq, (size_t)s->arm->model->nv * sizeof *o->dqd);
        mechanism_newton_solve(s->arm, o->dq, NULL);
        for (int k = 0; k < o->n_eta; k++)
            o->compliance += gamma * gamma * o->dq[o->elastic[k]] * o->dqd[o->elastic[k]];
        for (int k = 0; k < s->arm->model->nv; k++) {
            o->dq[k] *= gamma * gamma;
            o->dqd[k] = o->bandwidth * o->dq[k];
        }
        const struct direction along = {.q = o->dq, .qd = o->dqd, .tip_wrench = wrench};
        sensors_change(s, &along, o->e);
        for (int k = 0; k < s->n; k++) o->G[AXES * k + i] = o->e[k];
    }
    return STATUS_OK;
}

/* A += G' R^-1 G: the information of the sensors about the load */
static void add_information(const struct observer *o, const double *G, double A[AXES * AXES])
{
    for (int k = 0; k < o->sensors.n; k++)
        for (int i = 0; i < AXES; i++)
            for (int j = 0; j < AXES; j++)
                A[AXES * i + j] += G[AXES * k + i] * G[AXES * k + j] / (o->noise[k] * o->noise[k]);
}

/* ---- the gain ------------------------------------------------------------------------------------------------------------ */

/* Rates of (eta, h etad, w) with time in samples; and h^2 M_ff^-1 in Q, to be scaled                                  (C17) */
static enum status linearize(struct observer *o)
{
    const struct sensors *s = &o->sensors;
    struct lqr *l = &o->filter;
    const int nv = s->arm->model->nv, m = o->n_eta, nx = l->nx;
    const double h = o->sample_time;
    enum status status = mechanism_forward_jacobian(s->arm, &s->in, s->qdd, o->by_q, o->by_qd);
    if (status == STATUS_OK) status = mechanism_newton_factor(s->arm, &s->in, 0); /* M */
    if (status != STATUS_OK) return status;
    lqr_set_motion(l, m, nv, o->elastic, h, o->by_q, o->by_qd);
    memset(l->Q, 0, (size_t)nx * (size_t)nx * sizeof *l->Q);
    for (int k = 0; k < m; k++) {
        memset(o->dq, 0, (size_t)nv * sizeof *o->dq);
        o->dq[o->elastic[k]] = 1;
        mechanism_newton_solve(s->arm, o->dq, NULL);
        for (int i = 0; i < m; i++) l->Q[nx * (m + i) + m + k] = h * h * o->dq[o->elastic[i]];
    }
    for (int j = 0; j < AXES; j++) {
        double wrench[6] = {0};
        wrench[3 + j] = 1;
        observer_tip_force(s->arm, wrench, o->dq);
        mechanism_newton_solve(s->arm, o->dq, NULL);
        for (int i = 0; i < m; i++) l->A[nx * (m + i) + 2 * m + j] = h * h * o->dq[o->elastic[i]];
    }
    return STATUS_OK;
}

/* C', the change of the sensors with (eta, h etad, w), and R                                                          (C17) */
static void measure(struct observer *o)
{
    struct sensors *s = &o->sensors;
    struct lqr *l = &o->filter;
    const int m = o->n_eta;
    const size_t bytes = (size_t)s->arm->model->nv * sizeof(double);
    for (int i = 0; i < l->nx; i++) {
        double wrench[6] = {0};
        memset(o->dq, 0, bytes), memset(o->dqd, 0, bytes);
        if (i < m) o->dq[o->elastic[i]] = 1;
        else if (i < 2 * m) o->dqd[o->elastic[i - m]] = 1 / o->sample_time;
        else wrench[3 + i - 2 * m] = 1;
        const struct direction along = {.q = o->dq, .qd = o->dqd, .tip_wrench = wrench};
        sensors_change(s, &along, l->B + s->n * i);
    }
    for (int k = 0; k < s->n; k++) l->R[k] = o->noise[k] * o->noise[k];
}

/* Noise of the load, so that the estimate follows it with the bandwidth in the direction that is seen best, and of the modes, which get
   the energy of the load's change                                                                                     (C19) */
static void set_process_noise(struct observer *o)
{
    struct lqr *l = &o->filter;
    const int m = o->n_eta, n = o->sensors.n;
    double A[AXES * AXES] = {0}, V[AXES * AXES], seen[AXES];
    add_information(o, o->G, A);
    *o->floor = LEAST_SENSITIVITY * (A[0] + A[4] + A[8]);

    /* the bandwidth is that of the strain gauges, by G; without any, that of the accelerometers' direct response to a load */
    bool gauged = false;
    for (int k = 0; k < n; k++) gauged = gauged || o->sensors.sensor[k].shows != SPECIFIC_FORCE;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < AXES; j++) {
            const bool inertial = o->sensors.sensor[k].shows == SPECIFIC_FORCE;
            o->counted[AXES * k + j] = !gauged ? l->B[n * (2 * m + j) + k] : inertial ? 0 : o->G[AXES * k + j];
        }
    memset(A, 0, sizeof A);
    add_information(o, o->counted, A);
    eigen_symmetric(AXES, A, V, seen);
    const double step = o->bandwidth * o->sample_time,
                 q = seen[AXES - 1] * UNSEEN * UNSEEN > 1 ? step * step / seen[AXES - 1] : 0;
    for (int i = 0; i < l->nx * l->nx; i++) l->Q[i] *= q * o->compliance;
    for (int j = 2 * m; j < l->nx; j++) l->Q[(l->nx + 1) * j] = q;
}

/* A <- e^(-leak h) A', the dual system, which has a solution even if the sensors do not see everything */
static void transpose_with_leak(const struct observer *o, double *A)
{
    const int n = o->filter.nx;
    const double left = remainder_of(o);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const double upper = left * A[n * j + i];
            A[n * j + i] = left * A[n * i + j];
            A[n * i + j] = upper;
        }
}

enum status observer_start(struct observer *o, const double *q)
{
    const struct input in = {.q = q, .qd = o->rest, .tip_wrench = o->wrench};
    enum status status = sensors_place(&o->sensors, &in);
    if (status == STATUS_OK) status = linearize(o);
    if (status == STATUS_OK) status = lqr_step_trapezoidal(&o->filter);
    if (status == STATUS_OK) status = sensors_place(&o->sensors, &in); /* derivatives again */
    if (status != STATUS_OK) return status;
    transpose_with_leak(o, o->filter.A);
    measure(o);
    status = respond(o);
    if (status != STATUS_OK) return status;
    set_process_noise(o);
    status = lqr_filter(&o->filter, o->transposed_gain);
    if (status != STATUS_OK) return status;

    /* L of the modes, and S = G L_w: the change of the sensors by the correction of the load for a difference e is S e */
    const int n = o->sensors.n, n_modes = 2 * o->n_eta;
    for (int t = 0; t < n; t++) {
        const double *L = o->transposed_gain + o->filter.nx * t;
        memcpy(o->gain + n_modes * t, L, (size_t)n_modes * sizeof *o->gain);
        for (int k = 0; k < n; k++) o->S[n * k + t] = dense_dot(AXES, o->G + AXES * k, L + n_modes);
    }
    return STATUS_OK;
}

/* ---- at a sample --------------------------------------------------------------------------------------------------------- */

/* w += (G' R^-1 G + mu)^-1 G' R^-1 S e: the load that changes the sensors so, in the present pose                      (C21) */
static enum status correct_load(struct observer *o)
{
    const int n = o->sensors.n;
    double A[AXES * AXES] = {0}, inverse_d[AXES], w[AXES] = {0};
    add_information(o, o->G, A);
    for (int i = 0; i < AXES; i++) A[(AXES + 1) * i] += *o->floor;
    for (int k = 0; k < n; k++) {
        const double Se = dense_dot(n, o->S + n * k, o->e) / (o->noise[k] * o->noise[k]);
        for (int i = 0; i < AXES; i++) w[i] += o->G[AXES * k + i] * Se;
    }
    if (cholesky_factor(AXES, A, inverse_d) != 0) return STATUS_LINEAR_ALGEBRA;
    cholesky_solve(AXES, A, inverse_d, w);
    for (int i = 0; i < AXES; i++) o->wrench[3 + i] += w[i];
    return STATUS_OK;
}

enum status observer_correct(struct observer *o, const double *qdd_joints, const double *measured, double *q,
                             double *qd)
{
    const int n = o->sensors.n, m = o->n_eta;
    const double left = remainder_of(o);
    const struct input in = {.q = q, .qd = qd, .prescribed_qdd = qdd_joints, .tip_wrench = o->wrench};
    for (int i = 3; i < 6; i++) o->wrench[i] *= left;
    enum status status = sensors_place(&o->sensors, &in);
    if (status == STATUS_OK) status = respond(o);
    if (status != STATUS_OK) return status;
    sensors_values(&o->sensors, o->e);
    for (int k = 0; k < n; k++) o->e[k] = measured[k] - o->e[k];
    status = correct_load(o);
    for (int k = 0; k < n; k++) {
        const double *L = o->gain + 2 * m * k;
        for (int i = 0; i < m; i++) {
            q[o->elastic[i]] += L[i] * o->e[k];
            qd[o->elastic[i]] += L[m + i] * o->e[k] / o->sample_time;
        }
    }
    return status;
}
