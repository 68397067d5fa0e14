#include "controller/control_law.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "dyn/matrices.h"
#include "math/dense.h"
#include "math/vec.h"

/* A sample is due at a multiple of the sample time; times within this fraction of the sample time are equal */
static const double ROUNDING = 1e-6;

/* ---- arrays -------------------------------------------------------------------------------------------------------------- */

static void find_coordinates(struct control *c)
{
    const struct model *model = c->arm->model;
    int n = 0, n_eta = 0;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->joint.nv == 1) c->joint[n++] = lm->v;
        for (int k = 0; k < lm->m; k++) c->elastic[n_eta++] = lm->eta_v + k;
    }
}

/* The next `count` numbers of the state */
static double *part(struct control *c, int count)
{
    double *at = c->state + c->n_state;
    c->n_state += count;
    return at;
}

static void place_state(struct control *c, int nv, int n_sensors, struct arena *arena)
{
    const int n = c->n, n_observer = observer_state_size(n_sensors, c->n_eta), n_arrival = n_sensors > 0 ? n : 0;
    c->state = arena_allocate(arena, (size_t)(1 + 4 * n + 5 * nv + 2 * n * nv + n_arrival + COMMANDS * n + n_observer),
                              sizeof(double));
    if (arena->failed) return;
    c->count = part(c, 1);
    c->d = part(c, n);
    c->shift = part(c, n);
    c->shift_rate = part(c, n);
    c->inertia = part(c, n);
    c->gain = part(c, 2 * n * nv);
    c->guided_q = part(c, nv);
    c->guided_qd = part(c, nv);
    c->guided_qdd = part(c, nv);
    c->predicted_q = part(c, nv);
    c->predicted_qd = part(c, nv);
    c->command = part(c, COMMANDS * n);
    c->arrival = part(c, n_arrival);
    observer_place_state(&c->observer, part(c, n_observer));
}

enum status control_make(struct control *c, struct mechanism *arm, struct mechanism *guided, int n_sensors,
                         const struct sensor *sensor, struct arena *arena)
{
    const int nv = arm->model->nv;
    c->arm = arm;
    c->guided = guided;
    c->n = arm->model->n_tau;
    c->n_eta = nv - c->n;
    const size_t n = (size_t)c->n, n_eta = (size_t)c->n_eta;
    arena_arrays(arena, n,
                 ARRAYS(&c->kp, &c->kd, &c->accepted_position, &c->accepted_rate, &c->accepted_acceleration,
                        &c->torque_resolution, &c->q_command, &c->qd_command, &c->qdd_command, &c->target, &c->r,
                        &c->torque));
    arena_arrays(arena, (size_t)nv, ARRAYS(&c->q, &c->qd, &c->qdd, &c->a0, &c->force));
    arena_arrays(arena, n_eta, ARRAYS(&c->eta, &c->drag, &c->inverse_k, &c->inverse_m));
    arena_arrays(arena, n_eta * n_eta, ARRAYS(&c->K, &c->Mff));
    arena_arrays(arena, (size_t)(nv * nv), ARRAYS(&c->by_q, &c->by_qd));
    c->joint = arena_allocate(arena, n, sizeof(int));
    c->elastic = arena_allocate(arena, n_eta, sizeof(int));
    const enum status status = observer_make(&c->observer, n_sensors, sensor, guided, c->n_eta, c->elastic, arena);
    if (status != STATUS_OK) return status;
    place_state(c, nv, n_sensors, arena);
    if (arena->failed) return STATUS_NO_MEMORY;
    find_coordinates(c);
    return lqr_make(&c->lqr, 2 * nv, c->n, arena);
}

/* The rows and columns of the elastic coordinates of an nv x nv matrix */
static void elastic_block(const struct control *c, const double *matrix, double *block)
{
    const int nv = c->arm->model->nv;
    for (int i = 0; i < c->n_eta; i++)
        for (int k = 0; k < c->n_eta; k++) block[c->n_eta * i + k] = matrix[nv * c->elastic[i] + c->elastic[k]];
}

static void put_joints(const struct control *c, const double *x, double *all)
{
    for (int j = 0; j < c->n; j++) all[c->joint[j]] = x[j];
}

static void clear(const struct control *c, double *x)
{
    memset(x, 0, (size_t)c->arm->model->nv * sizeof *x);
}

/* c->q, c->qd, c->qdd: at rest with all coordinates zero */
static void clear_motion(struct control *c)
{
    clear(c, c->q);
    clear(c, c->qd);
    clear(c, c->qdd);
}

/* ---- the model at rest and along the command ----------------------------------------------------------------------------- */

enum status control_adopt(struct control *c)
{
    double *K = c->arm->work->M; /* as scratch */
    memset(K, 0, (size_t)c->arm->model->nv * (size_t)c->arm->model->nv * sizeof *K);
    dyn_stiffness(c->arm->model, K);
    elastic_block(c, K, c->K);
    return cholesky_factor(c->n_eta, c->K, c->inverse_k) == 0 ? STATUS_OK : STATUS_LINEAR_ALGEBRA;
}

/* The estimated load at the tip, as a wrench; NULL: none is estimated */
static const double *estimated_load(const struct control *c)
{
    return observes(&c->observer) ? c->observer.wrench : NULL;
}

/* The load that acts on a model. With PD none acts along the command, so that no measurement enters eta_hat; LQR compares eta_hat with
   deformations under the load                                                                                         (C1) */
static const double *load_of(const struct control *c, const struct mechanism *m)
{
    return m == c->arm || c->feedback == FEEDBACK_LQR ? estimated_load(c) : NULL;
}

/* Generalized forces of the motion q, c->qd, c->qdd of the model with a wrench at its tip, to c->force */
static void inverse_dynamics(struct control *c, const double *q, const double *wrench)
{
    const struct input in = {.q = q, .qd = c->qd, .tip_wrench = wrench};
    dyn_configuration(c->arm->model, c->arm->work, q);
    dyn_inverse(c->arm->model, c->arm->work, &in, c->qdd, c->force);
}

/* Elastic coordinates in c->q that balance gravity, the inertia of the joints' motion, the load, and further forces on the modes (NULL:
   none), by iteration:  K eta = -f(eta) + Phi' w + drag                                                        (C3), (C22) */
static void deflect(struct control *c, const double *drag, int times)
{
    for (int i = 0; i < times && c->n_eta > 0; i++) {
        inverse_dynamics(c, c->q, estimated_load(c));
        for (int k = 0; k < c->n_eta; k++) c->eta[k] = -c->force[c->elastic[k]];
        for (int k = 0; k < c->n_eta && drag != NULL; k++) c->eta[k] += drag[k];
        cholesky_solve(c->n_eta, c->K, c->inverse_k, c->eta);
        for (int k = 0; k < c->n_eta; k++) c->q[c->elastic[k]] += c->eta[k];
    }
}

/* Of the model at c->q */
static void tip_position(struct control *c, double p[3])
{
    const struct model *model = c->arm->model;
    struct frame_motion tip;
    dyn_configuration(model, c->arm->work, c->q);
    dyn_position(model, c->arm->work);
    dyn_frame(model, c->arm->work, &model->tip_frame, &tip);
    memcpy(p, tip.p, sizeof tip.p);
}

/* x = J' (J J' + mu)^-1 error: the smallest motion of the joints that moves the tip by the error, bounded where the arm is
   singular. After tip_position().                                                                                     (C4) */
static void move_tip(struct control *c, const double error[3], double *x)
{
    static const double SINGULAR = 1e-6;
    double A[9], inverse_d[3], weight[3], trace = 0;
    double *J[3] = {c->qd_command, c->qdd_command, c->torque}; /* as scratch: rows of J */
    for (int i = 0; i < 3; i++) {
        double wrench[6] = {0};
        wrench[3 + i] = 1;
        observer_tip_force(c->arm, wrench, c->force);
        for (int j = 0; j < c->n; j++) J[i][j] = c->force[c->joint[j]];
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) A[3 * i + k] = dense_dot(c->n, J[i], J[k]);
    for (int i = 0; i < 3; i++) trace += A[4 * i];
    for (int i = 0; i < 3; i++) A[4 * i] += SINGULAR * trace + DBL_MIN;
    memcpy(weight, error, sizeof weight);
    if (cholesky_factor(3, A, inverse_d) != 0) memset(weight, 0, sizeof weight);
    else cholesky_solve(3, A, inverse_d, weight);
    for (int j = 0; j < c->n; j++) x[j] = J[0][j] * weight[0] + J[1][j] * weight[1] + J[2][j] * weight[2];
}

/* 2 sigma_v M_ff etad of the observed modes, with M as correct() computed it; NULL: none, as at the start, where they are at rest (C22) */
static const double *vibration_drag(struct control *c)
{
    const double *M = c->arm->work->M, factor = 2 * c->vibration_damping;
    const int nv = c->arm->model->nv;
    if (estimated_load(c) == NULL || factor == 0 || *c->count == 0) return NULL;
    for (int k = 0; k < c->n_eta; k++) {
        c->drag[k] = 0;
        for (int i = 0; i < c->n_eta; i++)
            c->drag[k] += factor * M[nv * c->elastic[k] + c->elastic[i]] * c->predicted_qd[c->elastic[i]];
    }
    return c->drag;
}

/* Joint positions at which the deflected model has the tip position desired of the undeformed arm, minus the desired ones    (C4) */
static void find_target(struct control *c, const struct sample *sample)
{
    enum { ROUNDS = 3, ITERATIONS = 2 };
    double desired[3], tip[3], error[3];
    memset(c->target, 0, (size_t)c->n * sizeof *c->target);
    if (c->compensation == COMPENSATE_NOTHING) return;
    clear_motion(c);
    put_joints(c, sample->q_ref, c->q);
    if (c->compensation == COMPENSATE_LOADS) put_joints(c, sample->qd_ref, c->qd);
    if (c->compensation == COMPENSATE_LOADS) put_joints(c, sample->qdd_ref, c->qdd);
    tip_position(c, desired);
    const double *drag = vibration_drag(c);
    for (int i = 0; i < ROUNDS; i++) {
        deflect(c, drag, ITERATIONS);
        tip_position(c, tip);
        for (int k = 0; k < 3; k++) error[k] = desired[k] - tip[k];
        move_tip(c, error, c->r);
        for (int j = 0; j < c->n; j++) c->q[c->joint[j]] += c->r[j];
    }
    for (int j = 0; j < c->n; j++) c->target[j] = c->q[c->joint[j]] - sample->q_ref[j];
}

/* The command: desired motion plus the target behind a filter with two equal poles, exact for a target that is constant over the
   sample.                                                                                                              (C5) */
static void form_command(struct control *c, const struct sample *sample, double h)
{
    const double omega = c->compensation_bandwidth, decay = exp(-omega * h);
    find_target(c, sample);
    for (int j = 0; j < c->n; j++) {
        const double e = c->shift[j] - c->target[j], slope = c->shift_rate[j] + omega * e;
        c->shift[j] = c->target[j] + (e + slope * h) * decay;
        c->shift_rate[j] = (slope - omega * (e + slope * h)) * decay;
        const double acceleration = omega * omega * (c->target[j] - c->shift[j]) - 2 * omega * c->shift_rate[j];
        c->q_command[j] = sample->q_ref[j] + c->shift[j];
        c->qd_command[j] = sample->qd_ref[j] + c->shift_rate[j];
        c->qdd_command[j] = sample->qdd_ref[j] + acceleration;
    }
}

/* ---- predicted motion ---------------------------------------------------------------------------------------------------- */

/* The end of a step from (q, qd) with accelerations a0 at its start and c->qdd at its end, to c->q and c->qd; the joints of the guided
   model arrive at the command */
static void end_point(const struct control *c, const struct mechanism *m, const double *q, const double *qd,
                      const double *a0)
{
    const double h = c->sample_time;
    for (int i = 0; i < c->arm->model->nv; i++) {
        c->q[i] = q[i] + h * qd[i] + h * h / 4 * (a0[i] + c->qdd[i]);
        c->qd[i] = qd[i] + h / 2 * (a0[i] + c->qdd[i]);
    }
    if (m != c->guided) return;
    put_joints(c, c->q_command, c->q);
    put_joints(c, c->qd_command, c->qd);
}

/* One step of the trapezoidal rule for ID(q, qd, qdd) = tau from accelerations a0; two Newton iterations with the matrix
   M + h/2 D + h^2/4 K of its start.                                                                                    (C2) */
static enum status advance(struct control *c, struct mechanism *m, const double *tau, const double *a0, double *q,
                           double *qd)
{
    enum { ITERATIONS = 2 };
    const size_t bytes = (size_t)c->arm->model->nv * sizeof(double);
    const struct input end = {.q = c->q, .qd = c->qd, .tau = tau, .tip_wrench = load_of(c, m)};
    enum status status = mechanism_newton_factor(m, &(struct input){.q = q, .qd = qd}, c->sample_time / 2);
    memcpy(c->qdd, a0, bytes);
    if (m == c->guided) put_joints(c, c->qdd_command, c->qdd);
    for (int i = 0; i < ITERATIONS && status == STATUS_OK; i++) {
        end_point(c, m, q, qd, a0);
        status = mechanism_residual(m, &end, c->qdd, NULL, c->force, NULL);
        mechanism_newton_solve(m, c->force, NULL);
        for (int k = 0; k < c->arm->model->nv; k++) c->qdd[k] -= c->force[k];
    }
    if (status != STATUS_OK) return status;
    end_point(c, m, q, qd, a0);
    memcpy(q, c->q, bytes);
    memcpy(qd, c->qd, bytes);
    return STATUS_OK;
}

/* Moves the guided model to the command: its modes advance by a sample, then their accelerations are computed          (C1) */
static enum status guide(struct control *c, bool first)
{
    const struct input in = {
        .q = c->guided_q, .qd = c->guided_qd, .prescribed_qdd = c->qdd_command, .tip_wrench = load_of(c, c->guided)};
    const enum status status =
        first ? STATUS_OK : advance(c, c->guided, NULL, c->guided_qdd, c->guided_q, c->guided_qd);
    put_joints(c, c->q_command, c->guided_q);
    put_joints(c, c->qd_command, c->guided_qd);
    return status == STATUS_OK ? mechanism_forward(c->guided, &in, c->guided_qdd) : status;
}

static const double *command_of(const struct control *c, double sample)
{
    return c->command + c->n * (((int)fmod(sample, COMMANDS) + COMMANDS) % COMMANDS);
}

/* Joint and modal accelerations for the torques of the coming sample, and with them the motion at the next sample      (C6) */
static enum status predict(struct control *c)
{
    const double *load = estimated_load(c);
    const bool loaded = load != NULL;

    /* the mean of the commands that act, and the unmodeled torques */
    const double late = floor(c->delay / c->sample_time + ROUNDING);
    const double fraction = fmax(c->delay / c->sample_time - late, 0);
    const double *now = command_of(c, *c->count - late), *before = command_of(c, *c->count - late - 1);
    for (int j = 0; j < c->n; j++) c->torque[j] = (1 - fraction) * now[j] + fraction * before[j] + c->d[j];

    /* the load acts on the modes alone: its effect on the joints is in d                                         (C15) */
    if (loaded) {
        dyn_configuration(c->arm->model, c->arm->work, c->predicted_q);
        observer_tip_force(c->arm, load, c->force);
        for (int j = 0; j < c->n; j++) c->torque[j] -= c->force[c->joint[j]];
    }
    const struct input in = {.q = c->predicted_q, .qd = c->predicted_qd, .tau = c->torque, .tip_wrench = load};
    enum status status = mechanism_forward(c->arm, &in, c->a0);
    if (status == STATUS_OK) status = advance(c, c->arm, c->torque, c->a0, c->predicted_q, c->predicted_qd);
    for (int j = 0; j < c->n && loaded; j++) c->arrival[j] = c->qdd[c->joint[j]];
    return status;
}

/* ---- the correction loop ------------------------------------------------------------------------------------------------- */

/* Discrepancy r of the velocities, the impulse p that explains it, M (r; delta) = (p; 0), and the unmodeled torques that p corrects:
   d += (1 - exp(-lambda h))/h p                                                                                  (C7) to (C9) */
static enum status correct(struct control *c, const struct sample *sample)
{
    const struct model *model = c->arm->model;
    const double h = c->sample_time, gain = -expm1(-c->correction_bandwidth * h) / h, *M = c->arm->work->M;
    const int nv = model->nv;
    for (int j = 0; j < c->n; j++) c->r[j] = sample->qd[j] - c->predicted_qd[c->joint[j]];
    put_joints(c, sample->q, c->predicted_q);
    put_joints(c, sample->qd, c->predicted_qd);
    dyn_configuration(model, c->arm->work, c->predicted_q);
    dyn_mass_matrix(model, c->arm->work);
    elastic_block(c, M, c->Mff);
    if (cholesky_factor(c->n_eta, c->Mff, c->inverse_m) != 0) return STATUS_NOT_POSITIVE;
    for (int k = 0; k < c->n_eta; k++) {
        c->eta[k] = 0;
        for (int j = 0; j < c->n; j++) c->eta[k] -= M[nv * c->elastic[k] + c->joint[j]] * c->r[j];
    }
    cholesky_solve(c->n_eta, c->Mff, c->inverse_m, c->eta);
    for (int k = 0; k < c->n_eta; k++) c->predicted_qd[c->elastic[k]] += c->eta[k];
    for (int j = 0; j < c->n; j++) {
        const double *row = M + nv * c->joint[j];
        double p = 0;
        for (int i = 0; i < c->n; i++) p += row[c->joint[i]] * c->r[i];
        for (int k = 0; k < c->n_eta; k++) p += row[c->elastic[k]] * c->eta[k];
        c->d[j] += gain * p;
    }
    return STATUS_OK;
}

/* ---- LQR ----------------------------------------------------------------------------------------------------------------- */

/* Rates of (q, h qd) with time in samples, at rest in the start pose under the holding torques                         (C10) */
static enum status linearize(struct control *c)
{
    const int nv = c->arm->model->nv, nx = 2 * nv;
    const double h = c->sample_time;
    struct lqr *l = &c->lqr;
    clear(c, c->qd), clear(c, c->qdd);
    inverse_dynamics(c, c->guided_q, NULL);
    for (int j = 0; j < c->n; j++) c->torque[j] = c->force[c->joint[j]];
    const struct input rest = {.q = c->guided_q, .qd = c->qd, .tau = c->torque};
    enum status status = mechanism_forward_jacobian(c->arm, &rest, c->a0, c->by_q, c->by_qd);
    if (status == STATUS_OK) status = mechanism_newton_factor(c->arm, &rest, 0); /* M */
    if (status != STATUS_OK) return status;
    lqr_set_motion(l, nv, nv, NULL, h, c->by_q, c->by_qd);
    memset(l->B, 0, (size_t)nx * (size_t)c->n * sizeof *l->B);
    for (int j = 0; j < c->n; j++) {
        clear(c, c->force);
        c->force[c->joint[j]] = 1;
        mechanism_newton_solve(c->arm, c->force, NULL);
        for (int i = 0; i < nv; i++) l->B[c->n * (nv + i) + j] = h * h * c->force[i];
    }
    return STATUS_OK;
}

/* The gain for errors of joints and torques that are weighted by the inverse squares of the accepted ones (Bryson's rule)  (C11) */
static enum status find_gain(struct control *c)
{
    const int nv = c->arm->model->nv, nx = 2 * nv;
    struct lqr *l = &c->lqr;
    const enum status status = linearize(c);
    if (status != STATUS_OK) return status;
    memset(l->Q, 0, (size_t)nx * (size_t)nx * sizeof *l->Q);
    for (int j = 0; j < c->n; j++) {
        const int q = c->joint[j], qd = nv + q;
        const double rate = c->sample_time * c->accepted_rate[j];
        const double torque = c->inertia[j] * c->accepted_acceleration[j];
        l->Q[(nx + 1) * q] = 1 / (c->accepted_position[j] * c->accepted_position[j]);
        l->Q[(nx + 1) * qd] = 1 / (rate * rate);
        l->R[j] = 1 / (torque * torque);
    }
    lqr_discretize(l);
    return lqr_solve(l, c->gain);
}

/* tau += F (command - motion), with measured joints and predicted modes                                               (C14) */
static void add_feedback(struct control *c, const struct sample *sample)
{
    const int nv = c->arm->model->nv;
    for (int i = 0; i < nv; i++) {
        c->q[i] = c->guided_q[i] - c->predicted_q[i];
        c->qd[i] = c->sample_time * (c->guided_qd[i] - c->predicted_qd[i]);
    }
    for (int j = 0; j < c->n; j++) {
        c->q[c->joint[j]] = c->q_command[j] - sample->q[j];
        c->qd[c->joint[j]] = c->sample_time * (c->qd_command[j] - sample->qd[j]);
    }
    for (int j = 0; j < c->n; j++) {
        const double *F = c->gain + 2 * nv * j;
        c->torque[j] += dense_dot(nv, F, c->q) + dense_dot(nv, F + nv, c->qd);
    }
}

/* ---- torques ------------------------------------------------------------------------------------------------------------- */

/* tau = diag(M_0) (kp e + kd ed), unless the feedback is LQR, plus the torques at rest in the commanded position for LAW_PD_GRAVITY */
static void pd_torques(struct control *c, const struct sample *sample)
{
    memset(c->torque, 0, (size_t)c->n * sizeof *c->torque);
    if (c->law == LAW_PD_GRAVITY) {
        enum { ITERATIONS = 4 };
        clear_motion(c);
        put_joints(c, c->q_command, c->q);
        deflect(c, NULL, ITERATIONS);
        inverse_dynamics(c, c->q, NULL);
        for (int j = 0; j < c->n; j++) c->torque[j] = c->force[c->joint[j]];
    }
    for (int j = 0; j < c->n && c->feedback == FEEDBACK_PD; j++)
        c->torque[j] += c->inertia[j] *
                        (c->kp[j] * (c->q_command[j] - sample->q[j]) + c->kd[j] * (c->qd_command[j] - sample->qd[j]));
}

/* tau = ID(q, qd, qdd_command + kd ed + kp e) with the modes at zero or as predicted along the command                (C1);
   if the feedback is LQR, the inverse dynamics of the command itself                                                  (C14) */
static void computed_torques(struct control *c, const struct sample *sample)
{
    const bool flexible = c->law == LAW_FLEXIBLE, pd = c->feedback == FEEDBACK_PD;
    const size_t bytes = (size_t)c->arm->model->nv * sizeof(double);
    clear_motion(c);
    if (flexible) {
        memcpy(c->q, c->guided_q, bytes);
        memcpy(c->qd, c->guided_qd, bytes);
        memcpy(c->qdd, c->guided_qdd, bytes);
    }
    memcpy(c->r, c->qdd_command, (size_t)c->n * sizeof *c->r);
    for (int j = 0; j < c->n && pd; j++)
        c->r[j] += c->kd[j] * (c->qd_command[j] - sample->qd[j]) + c->kp[j] * (c->q_command[j] - sample->q[j]);
    put_joints(c, pd ? sample->q : c->q_command, c->q);
    put_joints(c, pd ? sample->qd : c->qd_command, c->qd);
    put_joints(c, c->r, c->qdd);
    inverse_dynamics(c, c->q, NULL);
    for (int j = 0; j < c->n; j++) c->torque[j] = c->force[c->joint[j]];
}

/* The command of this sample: the torques without the estimated unmodeled ones, rounded */
static enum status form_torques(struct control *c, const struct sample *sample)
{
    double *command = c->command + c->n * ((int)fmod(*c->count, COMMANDS));
    if (c->law == LAW_PD || c->law == LAW_PD_GRAVITY) pd_torques(c, sample);
    else computed_torques(c, sample);
    if (c->feedback == FEEDBACK_LQR) add_feedback(c, sample);
    for (int j = 0; j < c->n; j++) {
        const double resolution = c->torque_resolution[j], torque = c->torque[j] - c->d[j];
        command[j] = resolution > 0 ? resolution * round(torque / resolution) : torque;
        if (!isfinite(command[j])) return STATUS_NOT_FINITE;
    }
    return STATUS_OK;
}

/* ---- samples ------------------------------------------------------------------------------------------------------------- */

/* Whether the motion of the modes along the command is needed */
static bool needs_guided(const struct control *c)
{
    return c->law == LAW_FLEXIBLE || c->feedback == FEEDBACK_LQR;
}

enum status control_start(struct control *c, const struct sample *sample)
{
    enum { ITERATIONS = 20 };
    const size_t bytes = (size_t)c->arm->model->nv * sizeof(double);
    memset(c->state, 0, (size_t)c->n_state * sizeof *c->state);
    find_target(c, sample);
    memcpy(c->shift, c->target, (size_t)c->n * sizeof *c->shift);

    /* both models at rest in the desired position, deflected by gravity */
    clear_motion(c);
    put_joints(c, sample->q_ref, c->q);
    for (int j = 0; j < c->n; j++) c->q[c->joint[j]] += c->shift[j];
    deflect(c, NULL, ITERATIONS);
    memcpy(c->guided_q, c->q, bytes);
    memcpy(c->predicted_q, c->q, bytes);
    dyn_configuration(c->arm->model, c->arm->work, c->q);
    dyn_mass_matrix(c->arm->model, c->arm->work);
    for (int j = 0; j < c->n; j++) c->inertia[j] = c->arm->work->M[(c->arm->model->nv + 1) * c->joint[j]];

    enum status status = c->feedback == FEEDBACK_LQR ? find_gain(c) : STATUS_OK;
    if (status == STATUS_OK && observes(&c->observer)) status = observer_start(&c->observer, c->guided_q);
    form_command(c, sample, 0);
    if (status == STATUS_OK && needs_guided(c)) status = guide(c, true);
    if (status == STATUS_OK) status = form_torques(c, sample);
    for (int i = 1; i < COMMANDS; i++) memcpy(c->command + c->n * i, c->command, (size_t)c->n * sizeof *c->command);
    return status;
}

enum status control_sample(struct control *c, const struct sample *sample)
{
    const bool first = *c->count == 0, senses = observes(&c->observer),
               predicts = c->correction_bandwidth > 0 || c->feedback == FEEDBACK_LQR || senses;
    enum status status = predicts && !first ? correct(c, sample) : STATUS_OK;
    if (status == STATUS_OK && senses && !first) {
        /* the accelerations of the joints: those predicted, plus r/h from the discrepancy of the velocities             (C16) */
        for (int j = 0; j < c->n; j++) c->r[j] = c->arrival[j] + c->r[j] / c->sample_time;
        status = observer_correct(&c->observer, c->r, sample->sensor, c->predicted_q, c->predicted_qd);
    }
    if (first) put_joints(c, sample->q, c->predicted_q);
    if (first) put_joints(c, sample->qd, c->predicted_qd);
    form_command(c, sample, first ? 0 : c->sample_time);
    if (status == STATUS_OK && needs_guided(c)) status = guide(c, first);
    if (status == STATUS_OK) status = form_torques(c, sample);
    if (status == STATUS_OK && predicts) status = predict(c);
    *c->count += 1;
    return status;
}

const double *control_torque(const struct control *c, double time)
{
    const double sample = ceil((time - c->delay) / c->sample_time - ROUNDING) - 1;
    return command_of(c, fmin(sample, *c->count - 1));
}
