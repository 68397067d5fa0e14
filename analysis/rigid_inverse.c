#include "analysis/rigid_inverse.h"

#include <string.h>

#include "analysis/actuated.h"
#include "analysis/closure.h"
#include "analysis/failure.h"
#include "analysis/least_squares.h"
#include "analysis/norm.h"
#include "math/dense.h"

/* Relative tolerance for the rates of redundant drives: digits of a table */
static const double DRIVES_AGREE = 1e-6;
/* Residual forces on passive joints that actuators do not provide: rounding below this fraction of the largest */
static const double FORCES_AGREE = 1e-9;

enum status rigid_inverse_make(const struct robot *robot, struct motion *motion, bool actuated, struct report *report,
                               struct rigid_inverse *r)
{
    *r = (struct rigid_inverse){.motion = motion, .actuated = actuated};
    const int errors_before = report->errors;
    const enum status status = mechanism_make(robot, &r->mechanism, report);
    if (status != STATUS_OK) return report->errors == errors_before ? failure_status(report, status) : status;
    const struct model *model = r->mechanism.model;
    double **const arrays[] = {&r->qd, &r->qdd, &r->force};
    for (int i = 0; i < 3; i++) *arrays[i] = arena_allocate(&r->arena, (size_t)model->nv, sizeof(double));
    r->q = arena_allocate(&r->arena, (size_t)model->nq, sizeof(double));
    r->F = arena_allocate(&r->arena, (size_t)robot->n_actuators, sizeof(double));
    if (r->arena.failed) return failure_status(report, STATUS_NO_MEMORY);
    model_start(model, r->q, r->qd); /* a guess of positions that follow from loops */
    memset(r->qd, 0, (size_t)model->nv * sizeof *r->qd);
    return STATUS_OK;
}

void rigid_inverse_free(struct rigid_inverse *r)
{
    mechanism_free(&r->mechanism);
    arena_release(&r->arena);
}

static enum status report_at(struct report *report, double t, enum status status, const char *advice)
{
    report_add(report, REPORT_ERROR, "at t = %.9g s: %s%s", t, status_text(status), advice);
    return status;
}

/* ---- motion -------------------------------------------------------------------------------------------------------------------- */

static void take_motion(struct rigid_inverse *r, int row)
{
    const struct model *model = r->mechanism.model;
    const struct motion *motion = r->motion;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (!motion_gives(motion->robot, motion->passive_too, i)) continue;
        for (int k = 0; k < lm->joint.nv; k++) {
            double x[3];
            motion_at(r->motion, motion_row(motion, row), i, k, x);
            r->q[lm->q + k] = x[0], r->qd[lm->v + k] = x[1], r->qdd[lm->v + k] = x[2];
        }
    }
}

/* Straightens the links; true where closing had bent them */
static bool straighten(const struct model *model, double *q)
{
    bool bent = false;
    for (int i = 0; i < model->n_links; i++)
        for (int k = model->link[i].eta_q; k < model->link[i].eta_q + model->link[i].m; k++) {
            bent = bent || q[k] != 0;
            q[k] = 0;
        }
    return bent;
}

/* Positions of passive joints, from those of the row before */
static enum status close_positions(struct rigid_inverse *r, double t, struct report *report)
{
    struct report errors = failure_errors_only(report);
    const bool closed = constraints_close(&r->mechanism, NULL, r->q, &errors) == STATUS_OK;
    if (closed && !straighten(r->mechanism.model, r->q)) return STATUS_OK;
    const char *open = closure_open_loop(&r->mechanism, r->q, r->qd, 0);
    report_add(report, REPORT_ERROR, "at t = %.9g s: rigid links cannot follow this motion: loop '%s' opens", t,
               open != NULL ? open : "");
    return STATUS_OPEN_LOOP;
}

/* Largest |rest + G_p x_p| */
static double residual(const struct mechanism *m, const double *rest, const double *x)
{
    const struct constraints *loops = m->constraints;
    const size_t n = (size_t)m->model->nv;
    double largest = 0;
    for (size_t row = 0; row < (size_t)loops->n_rows; row++) {
        double sum = rest[row];
        for (int i = 0; i < m->model->n_links; i++) {
            const struct link_model *lm = &m->model->link[i];
            sum += dense_dot(free_velocities(lm), loops->G + n * row + (size_t)lm->v, x + lm->v);
        }
        largest = fmax(largest, fabs(sum));
    }
    return largest;
}

/* Velocities or accelerations x of passive joints from G_p x_p = -rest, rest being what the gaps do for x_p = 0: least squares,
   whose residual exceeds rounding where drives contradict each other */
static enum status solve_passive(struct mechanism *m, const double *rest, double *x, struct arena *scratch)
{
    const struct model *model = m->model;
    const struct constraints *loops = m->constraints;
    const size_t n = (size_t)model->nv, k = (size_t)loops->n_rows;
    double *A = arena_allocate(scratch, n * k, sizeof *A), *b = arena_allocate(scratch, n + k, sizeof *b);
    int count = 0, rank;
    if (scratch->failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int c = 0; c < free_velocities(lm); c++, count++)
            for (size_t row = 0; row < k; row++) A[k * (size_t)count + row] = loops->G[n * row + (size_t)(lm->v + c)];
    }
    for (size_t row = 0; row < k; row++) b[row] = -rest[row];
    const enum status status = least_squares((int)k, count, A, b, scratch, &rank);
    if (status != STATUS_OK) return status;
    if (rank < count) return STATUS_NOT_DETERMINED;
    for (int i = 0, c = 0; i < model->n_links; i++)
        for (int j = 0; j < free_velocities(&model->link[i]); j++) x[model->link[i].v + j] = b[c++];
    const bool met = residual(m, rest, x) <= DRIVES_AGREE * (1 + largest_norm((int)k, rest));
    return met ? STATUS_OK : STATUS_CONTRADICTION;
}

/* Velocities (derivative 1) or accelerations (2) of passive joints */
static enum status follow(struct rigid_inverse *r, int derivative, struct arena *scratch)
{
    struct mechanism *m = &r->mechanism;
    const struct input in = {.q = r->q, .qd = r->qd};
    const size_t rows = (size_t)m->constraints->n_rows;
    double *x = derivative == 1 ? r->qd : r->qdd, *rest = arena_allocate(scratch, rows, sizeof *rest);
    if (rest == NULL) return STATUS_NO_MEMORY;
    for (int i = 0; i < m->model->n_links; i++)
        for (int k = 0; k < free_velocities(&m->model->link[i]); k++) x[m->model->link[i].v + k] = 0;
    dyn_configuration(m->model, m->work, r->q);
    dyn_motion(m->model, m->work, &in, r->qdd);
    dyn_velocity(m->model, m->work, &in);
    constraints_rows(m);
    constraints_accelerations(m);
    memcpy(rest, derivative == 1 ? m->constraints->rate : m->constraints->rhs, rows * sizeof *rest);
    return solve_passive(m, rest, x, scratch);
}

/* Motion of the passive joints: positions by closing the loops, velocities and accelerations from the equations of the loops */
static enum status follow_loops(struct rigid_inverse *r, double t, struct report *report)
{
    if (r->mechanism.constraints->n_rows == 0) return STATUS_OK;
    enum status status = close_positions(r, t, report);
    if (status != STATUS_OK) return status;
    struct arena scratch = {0};
    status = follow(r, 1, &scratch);
    if (status == STATUS_OK) status = follow(r, 2, &scratch);
    arena_release(&scratch);
    if (status == STATUS_OK) return status;
    return report_at(report, t, status,
                     status == STATUS_NOT_DETERMINED ? ": with flexible links it is integrated"
                     : status == STATUS_CONTRADICTION
                         ? ": the loops have more drives than they can move with, and rates or accelerations differ"
                         : "");
}

/* ---- forces ------------------------------------------------------------------------------------------------------------------------ */

/* Actuators in place of drives: they must provide all forces of the joints that they move */
static enum status actuate(struct rigid_inverse *r, double t, struct report *report)
{
    const struct model *model = r->mechanism.model;
    const double most = largest_norm(model->nv, r->force);
    const enum status status = actuated_forces(&r->mechanism, r->force, r->F, report);
    if (status != STATUS_OK) return status;
    for (int i = 0; i < model->n_links; i++)
        for (int k = 0; joint_actuated(r->motion->robot, i) && k < model->link[i].joint.nv; k++)
            if (fabs(r->force[model->link[i].v + k]) > FORCES_AGREE * most)
                return report_at(report, t, STATUS_UNBALANCED, "");
    return STATUS_OK;
}

enum status rigid_inverse_at(struct rigid_inverse *r, int row, struct report *report)
{
    struct mechanism *m = &r->mechanism;
    const struct input in = {.q = r->q, .qd = r->qd};
    const double t = motion_time(r->motion, row);
    take_motion(r, row);
    enum status status = follow_loops(r, t, report);
    if (status != STATUS_OK) return status;
    dyn_configuration(m->model, m->work, r->q);
    dyn_inverse(m->model, m->work, &in, r->qdd, r->force);
    dyn_velocity(m->model, m->work, &in);
    status = closure_subtract_forces(m, true, r->force, report);
    return status == STATUS_OK && r->actuated ? actuate(r, t, report) : status;
}
