/* Equations of motion at the state of a robot: dynamics, derivatives, loops, energy. */
#include <string.h>

#include "analysis/failure.h"
#include "internal.h"

/* ---- evaluation ----------------------------------------------------------------------------------------------- */

/* The status of a computation whose results are these numbers; failures are reported. */
static int finish(limber_robot *robot, enum status status, int count, const double *number)
{
    if (status == STATUS_OK && !lib_all_finite(count, number)) status = STATUS_NOT_FINITE;
    return (int)failure_report(&robot->messages.report, &robot->mechanism, status);
}

/* A column-major n x n matrix in row-major order, times `factor` */
static void transpose(int n, double factor, const double *columns, double *rows)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) rows[n * i + j] = factor * columns[n * j + i];
}

/* ---- forward and inverse -------------------------------------------------------------------------------------- */

static enum status forward(limber_robot *robot, double *qdd)
{
    return mechanism_forward(&robot->mechanism, &robot->in, qdd);
}

int limber_robot_forward(limber_robot *robot, double *qdd)
{
    if (robot == NULL || qdd == NULL) return LIMBER_BAD_ARGUMENT;
    return finish(robot, forward(robot, qdd), limber_robot_nv(robot), qdd);
}

int limber_robot_inverse(limber_robot *robot, const double *qdd, double *force)
{
    if (robot == NULL || force == NULL) return LIMBER_BAD_ARGUMENT;
    struct mechanism *m = &robot->mechanism;
    struct input loaded;
    mechanism_at(m, STAGE_POSITION);
    const enum status status = mechanism_load_elements(m, &robot->in, &loaded);
    if (status == STATUS_OK) dyn_inverse(m->model, m->work, &loaded, qdd != NULL ? qdd : robot->zeros, force);
    return finish(robot, status, m->model->nv, force);
}

int limber_robot_mass_matrix(limber_robot *robot, double *M)
{
    if (robot == NULL || M == NULL) return LIMBER_BAD_ARGUMENT;
    struct mechanism *m = &robot->mechanism;
    const int n = m->model->nv;
    mechanism_at(&robot->mechanism, STAGE_POSITION);
    dyn_mass_matrix(m->model, m->work);
    memcpy(M, m->work->M, (size_t)(n * n) * sizeof *M);
    return finish(robot, STATUS_OK, n * n, M);
}

int limber_robot_bias(limber_robot *robot, double *h)
{
    if (robot == NULL || h == NULL) return LIMBER_BAD_ARGUMENT;
    struct mechanism *m = &robot->mechanism;
    struct input alone = {.q = robot->at.q, .qd = robot->at.qd};
    const enum status status = mechanism_at(m, mechanism_add_laws(m, &alone) ? STAGE_FORCES : STAGE_POSITION);
    if (status == STATUS_OK) dyn_inverse(m->model, m->work, &alone, NULL, h);
    return finish(robot, status, m->model->nv, h);
}

/* ---- derivatives ---------------------------------------------------------------------------------------------- */

static int finish_derivatives(limber_robot *robot, enum status status)
{
    const int count = robot->mechanism.model->nv * robot->mechanism.model->nv;
    if (status == STATUS_OK && !lib_all_finite(count, robot->by_qd)) status = STATUS_NOT_FINITE;
    return finish(robot, status, count, robot->by_q);
}

int limber_robot_forward_derivatives(limber_robot *robot, double *qdd, double *by_q, double *by_qd, double *by_force)
{
    if (robot == NULL) return LIMBER_BAD_ARGUMENT;
    struct mechanism *m = &robot->mechanism;
    const int n = m->model->nv, n_tau = by_force != NULL ? m->model->n_tau : 0;
    const enum status status = mechanism_forward_jacobian(m, &robot->in, robot->qdd, robot->by_q, robot->by_qd);
    if (status == STATUS_OK) {
        const struct input loaded = mechanism_loaded(m, &robot->in);
        const struct direction direction = {.tau = robot->unit};
        if (qdd != NULL) memcpy(qdd, robot->qdd, (size_t)n * sizeof *qdd);
        if (by_q != NULL) transpose(n, 1, robot->by_q, by_q);
        if (by_qd != NULL) transpose(n, 1, robot->by_qd, by_qd);
        for (int j = 0; j < n_tau; j++) { /* a column for each joint force */
            robot->unit[j] = 1;
            mechanism_tangent(m, &loaded, &direction, false, robot->force);
            robot->unit[j] = 0;
            for (int i = 0; i < n; i++) by_force[n_tau * i + j] = robot->force[i];
        }
    }
    return finish_derivatives(robot, status);
}

int limber_robot_inverse_derivatives(limber_robot *robot, const double *qdd, double *by_q, double *by_qd)
{
    if (robot == NULL) return LIMBER_BAD_ARGUMENT;
    struct mechanism *m = &robot->mechanism;
    const int n = m->model->nv;
    const double *accelerations = qdd != NULL ? qdd : robot->zeros;
    struct input loaded;
    mechanism_place(m, PLACED_AND_MOVING);
    const enum status status = mechanism_load_elements(m, &robot->in, &loaded);
    if (status == STATUS_OK) {
        memset(m->constraints->lambda, 0, (size_t)m->constraints->n_rows * sizeof(double));
        constraints_gap(m, &robot->in);
        constraints_set_loads(m);
        loaded = mechanism_loaded(m, &robot->in);
        dyn_inverse(m->model, m->work, &loaded, accelerations, robot->force);
        dyn_velocity(m->model, m->work, &loaded);
        dyn_tangent_state(m->model, m->work, m->tangent, &loaded, accelerations);
        mechanism_force_jacobian(m, &loaded, robot->by_q, robot->by_qd); /* of Q - (M qdd + h) */
        if (by_q != NULL) transpose(n, -1, robot->by_q, by_q);
        if (by_qd != NULL) transpose(n, -1, robot->by_qd, by_qd);
    }
    return finish_derivatives(robot, status);
}

/* ---- loops ---------------------------------------------------------------------------------------------------- */

int limber_robot_close_loops(limber_robot *robot)
{
    if (robot == NULL) return LIMBER_BAD_ARGUMENT;
    struct mechanism *m = &robot->mechanism;
    struct report *report = &robot->messages.report, silent = {0};
    const size_t nq = (size_t)m->model->nq, nv = (size_t)m->model->nv;
    if (m->constraints->n_rows == 0) return LIMBER_OK;
    const int errors = report->errors;
    memcpy(robot->next_q, robot->at.q, nq * sizeof(double));
    memcpy(robot->next_qd, robot->at.qd, nv * sizeof(double));
    mechanism_set(&robot->mechanism, &robot->in);
    enum status status = constraints_close_start(m, robot->next_q, report);
    if (status == STATUS_OK)
        status = constraints_choose_and_project(m, robot->next_q, robot->next_qd,
                                                robot->redundancy_reported ? &silent : report, report);
    if (status != STATUS_OK) {
        constraints_choose(m, robot->at.q, &silent);
        return report->errors > errors ? (int)status : finish(robot, status, 0, NULL);
    }
    memcpy(robot->at.q, robot->next_q, nq * sizeof(double));
    memcpy(robot->at.qd, robot->next_qd, nv * sizeof(double));
    robot->redundancy_reported = true;
    return LIMBER_OK;
}

int limber_robot_gaps(limber_robot *robot, double *gap, double *rate)
{
    if (robot == NULL) return LIMBER_BAD_ARGUMENT;
    const struct constraints *loops = robot->mechanism.constraints;
    const size_t size = (size_t)loops->n_rows * sizeof(double);
    mechanism_place(&robot->mechanism, PLACED_AND_MOVING);
    constraints_gap(&robot->mechanism, &robot->in);
    if (gap != NULL) memcpy(gap, loops->gap, size);
    if (rate != NULL) memcpy(rate, loops->rate, size);
    return LIMBER_OK;
}

int limber_robot_multipliers(limber_robot *robot, double *lambda)
{
    if (robot == NULL || lambda == NULL) return LIMBER_BAD_ARGUMENT;
    const struct constraints *loops = robot->mechanism.constraints;
    const enum status status = forward(robot, robot->qdd);
    if (status == STATUS_OK) memcpy(lambda, loops->lambda, (size_t)loops->n_rows * sizeof *lambda);
    return finish(robot, status, loops->n_rows, lambda);
}

/* ---- energy, lines ---------------------------------------------------------------------------------------- */

int limber_robot_energy(limber_robot *robot, double *kinetic, double *elastic, double *gravity)
{
    if (robot == NULL) return LIMBER_BAD_ARGUMENT;
    struct energy energy;
    struct input in;
    const bool laws = mechanism_add_laws(&robot->mechanism, &in);
    const enum status status = mechanism_at(&robot->mechanism, laws ? STAGE_FORCES : STAGE_VELOCITY);
    if (status != STATUS_OK) return finish(robot, status, 0, NULL);
    mechanism_place(&robot->mechanism, PLACED_AND_MOVING);
    mechanism_energy(&robot->mechanism, &robot->in, &energy);
    if (kinetic != NULL) *kinetic = energy.kinetic;
    if (elastic != NULL) *elastic = energy.elastic;
    if (gravity != NULL) *gravity = energy.gravity;
    return LIMBER_OK;
}

int limber_robot_actuator_lengths(limber_robot *robot, double *length, double *rate)
{
    if (robot == NULL) return LIMBER_BAD_ARGUMENT;
    const struct force_element *line = robot->mechanism.element;
    mechanism_place(&robot->mechanism, PLACED_AND_MOVING);
    elements_measure(&robot->mechanism, &robot->in);
    for (int i = 0; i < robot->robot->n_lines; i++) {
        if (length != NULL) length[i] = line[i].x;
        if (rate != NULL) rate[i] = line[i].rate;
    }
    return LIMBER_OK;
}

int limber_robot_coupling_forces(limber_robot *robot, double *force, double *gap)
{
    if (robot == NULL || force == NULL || gap == NULL) return LIMBER_BAD_ARGUMENT;
    const enum status status = forward(robot, robot->qdd);
    if (status == STATUS_OK) mechanism_couplings(&robot->mechanism, robot->mechanism.constraints->lambda, force, gap);
    return finish(robot, status, robot->robot->n_couplings, force);
}

/* ---- reactions ------------------------------------------------------------------------------------------------ */

int limber_robot_reaction(limber_robot *robot, int link, double *wrench)
{
    if (robot == NULL || wrench == NULL || link < 0 || link >= robot->robot->n_links) return LIMBER_BAD_ARGUMENT;
    struct mechanism *m = &robot->mechanism;
    const enum status status = forward(robot, robot->qdd);
    if (status == STATUS_OK) {
        const struct input loaded = mechanism_loaded(m, &robot->in);
        dyn_inverse(m->model, m->work, &loaded, robot->qdd, robot->force);
        dyn_reaction(m->work, link, wrench);
    }
    return finish(robot, status, 6, wrench);
}
