#include "analysis/rigid_inverse.h"

#include <string.h>

#include "analysis/closure.h"
#include "analysis/failure.h"
#include "analysis/least_squares.h"
#include "analysis/norm.h"
#include "math/dense.h"

/* Relative tolerance for the rates of redundant drives: digits of a table */
static const double DRIVES_AGREE = 1e-6;
/* Residual forces on passive joints that lines do not provide: rounding below this fraction of the largest */
static const double FORCES_AGREE = 1e-9;

enum status rigid_inverse_make(const struct robot *robot, struct motion *motion, bool actuated, struct report *report,
                               struct rigid_inverse *r)
{
    *r = (struct rigid_inverse){.motion = motion, .actuated = actuated};
    const int errors_before = report->errors;
    const enum status status = mechanism_make(robot, &r->mechanism, report);
    if (status != STATUS_OK) return report->errors == errors_before ? failure_status(report, status) : status;
    const struct model *model = r->mechanism.model;
    const size_t nv = (size_t)model->nv;
    arena_arrays(&r->arena, (size_t)model->nq, ARRAYS(&r->q));
    arena_arrays(&r->arena, nv, ARRAYS(&r->qd, &r->qdd, &r->force));
    arena_arrays(&r->arena, (size_t)robot->n_lines, ARRAYS(&r->F));
    r->passive = arena_allocate(&r->arena, nv, sizeof *r->passive);
    if (r->arena.failed) return failure_status(report, STATUS_NO_MEMORY);
    for (int i = 0; i < model->n_links; i++)
        for (int k = 0; k < free_velocities(&model->link[i]); k++) r->passive[r->n_passive++] = model->link[i].v + k;
    model_start(model, r->q, r->qd); /* a guess of positions that follow from loops */
    memset(r->qd, 0, nv * sizeof *r->qd);
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

/* Positions of passive joints, from those of the row before. Loops that close only with bent links are open. */
static enum status close_positions(struct rigid_inverse *r, double t, struct report *report)
{
    const struct model *model = r->mechanism.model;
    struct report errors = failure_errors_only(report);
    const bool closed = constraints_close(&r->mechanism, NULL, r->q, &errors) == STATUS_OK;
    bool bent = false;
    for (int i = 0; closed && i < model->n_links; i++)
        for (int k = model->link[i].eta_q; k < model->link[i].eta_q + model->link[i].m; k++) {
            bent = bent || r->q[k] != 0;
            r->q[k] = 0;
        }
    if (closed && !bent) return STATUS_OK;
    const char *open = closure_open_loop(&r->mechanism, r->q, r->qd, 0);
    report_add(report, REPORT_ERROR, "at t = %.9g s: rigid links cannot follow this motion: loop '%s' opens", t,
               open != NULL ? open : "");
    return STATUS_OPEN_LOOP;
}

/* Velocities or accelerations x of passive joints from G_p x_p = -rest, where `rest` is the rate of the gaps for x_p = 0: least
   squares, whose residual exceeds rounding if drives contradict each other */
static enum status solve_passive(const struct rigid_inverse *r, const double *rest, double *x, struct arena *scratch)
{
    const struct model *model = r->mechanism.model;
    const struct constraints *loops = r->mechanism.constraints;
    const size_t n = (size_t)model->nv, k = (size_t)loops->n_rows, count = (size_t)r->n_passive;
    double *A, *b, largest = 0;
    int rank;
    arena_arrays(scratch, n * k, ARRAYS(&A));
    arena_arrays(scratch, n + k, ARRAYS(&b));
    if (scratch->failed) return STATUS_NO_MEMORY;
    for (size_t c = 0; c < count; c++)
        for (size_t row = 0; row < k; row++) A[k * c + row] = loops->G[n * row + (size_t)r->passive[c]];
    for (size_t row = 0; row < k; row++) b[row] = -rest[row];
    const enum status status = least_squares((int)k, r->n_passive, A, b, scratch, &rank);
    if (status != STATUS_OK) return status;
    if (rank < r->n_passive) return STATUS_NOT_DETERMINED;
    for (size_t c = 0; c < count; c++) x[r->passive[c]] = b[c];

    /* the largest |rest + G_p x_p| */
    for (size_t row = 0; row < k; row++) {
        double sum = rest[row];
        for (int i = 0; i < model->n_links; i++) {
            const struct link_model *lm = &model->link[i];
            sum += dense_dot(free_velocities(lm), loops->G + n * row + (size_t)lm->v, x + lm->v);
        }
        largest = fmax(largest, fabs(sum));
    }
    return largest <= DRIVES_AGREE * (1 + largest_norm((int)k, rest)) ? STATUS_OK : STATUS_CONTRADICTION;
}

/* Velocities (derivative 1) or accelerations (2) of passive joints */
static enum status differentiate_loops(struct rigid_inverse *r, int derivative, struct arena *scratch)
{
    struct mechanism *m = &r->mechanism;
    const struct input in = {.q = r->q, .qd = r->qd};
    const size_t rows = (size_t)m->constraints->n_rows;
    double *x = derivative == 1 ? r->qd : r->qdd, *rest = arena_allocate(scratch, rows, sizeof *rest);
    if (rest == NULL) return STATUS_NO_MEMORY;
    for (int c = 0; c < r->n_passive; c++) x[r->passive[c]] = 0;
    dyn_configuration(m->model, m->work, r->q);
    dyn_motion(m->model, m->work, &in, r->qdd);
    dyn_velocity(m->model, m->work, &in);
    constraints_rows(m, &in);
    constraints_accelerations(m, r->qdd);
    memcpy(rest, derivative == 1 ? m->constraints->rate : m->constraints->rhs, rows * sizeof *rest);
    return solve_passive(r, rest, x, scratch);
}

/* Motion of the passive joints: positions by closing the loops, velocities and accelerations from the equations of the loops */
static enum status follow_loops(struct rigid_inverse *r, double t, struct arena *scratch, struct report *report)
{
    if (r->mechanism.constraints->n_rows == 0) return STATUS_OK;
    enum status status = close_positions(r, t, report);
    if (status != STATUS_OK) return status;
    status = differentiate_loops(r, 1, scratch);
    if (status == STATUS_OK) status = differentiate_loops(r, 2, scratch);
    if (status == STATUS_OK) return status;
    return report_at(report, t, status,
                     status == STATUS_NOT_DETERMINED ? ": with flexible links it is integrated"
                     : status == STATUS_CONTRADICTION
                         ? ": the loops have more drives than they can move with, and rates or accelerations differ"
                         : "");
}

/* ---- forces ------------------------------------------------------------------------------------------------------------------------ */

/* Subtracts the forces of the loops, G' lambda, from those of dyn_inverse(). lambda balances the passive joints,
   G_p' lambda = force_p; if it is not unique, it has the smallest norm. */
static enum status subtract_loop_forces(struct rigid_inverse *r, struct arena *scratch, struct report *report)
{
    const struct constraints *loops = r->mechanism.constraints;
    const size_t n = (size_t)r->mechanism.model->nv, k = (size_t)loops->n_active, count = (size_t)r->n_passive;
    double *A, *lambda;
    int rank;
    if (k == 0) return STATUS_OK;
    arena_arrays(scratch, n * k, ARRAYS(&A));
    arena_arrays(scratch, n + k, ARRAYS(&lambda));
    enum status status = scratch->failed ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK) {
        constraints_rows(&r->mechanism, &(struct input){.q = r->q, .qd = r->qd});
        for (size_t row = 0; row < k; row++)
            for (size_t c = 0; c < count; c++) A[count * row + c] = loops->G[n * row + (size_t)r->passive[c]];
        for (size_t c = 0; c < count; c++) lambda[c] = r->force[r->passive[c]];
        status = least_squares(r->n_passive, (int)k, A, lambda, scratch, &rank);
    }
    for (size_t row = 0; row < k && status == STATUS_OK && count > 0; row++)
        for (size_t j = 0; j < n; j++) r->force[j] -= loops->G[n * row + j] * lambda[row];
    if (status != STATUS_OK)
        report_add(report, REPORT_ERROR, "the forces of the loops could not be computed: %s", status_text(status));
    return status;
}

/* Forces F of lines in place of drives: the least-squares solution of B_p F = force_p with the smallest norm, p being the
   passive joints of the robot file and B = dl/dq' (59). B F is subtracted from the forces of the joints. */
static enum status find_line_forces(struct rigid_inverse *r, struct arena *scratch)
{
    struct mechanism *m = &r->mechanism;
    const struct model *model = m->model;
    const struct input in = {.q = r->q};
    const int n = model->nv, n_lines = m->robot->n_lines;
    int rank, count = 0, row = 0;
    double *B, *rows, *x;
    arena_arrays(scratch, (size_t)n * (size_t)n_lines, ARRAYS(&B, &rows));
    arena_arrays(scratch, (size_t)n + (size_t)n_lines, ARRAYS(&x));
    enum status status = scratch->failed ? STATUS_NO_MEMORY : elements_measure(m, &in);
    if (status != STATUS_OK) return status;
    for (int a = 0; a < n_lines; a++) element_row(m, &m->element[a], B + n * a);
    for (int i = 0; i < model->n_links; i++) count += model->link[i].passive ? model->link[i].joint.nv : 0;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; lm->passive && k < lm->joint.nv; k++, row++) {
            for (int a = 0; a < n_lines; a++) rows[count * a + row] = B[n * a + lm->v + k];
            x[row] = r->force[lm->v + k];
        }
    }
    status = least_squares(count, n_lines, rows, x, scratch, &rank);
    for (int a = 0; a < n_lines && status == STATUS_OK; a++) {
        r->F[a] = x[a];
        for (int i = 0; i < n; i++) r->force[i] -= B[n * a + i] * r->F[a];
    }
    return status;
}

/* Lines in place of drives must provide all forces of the joints that they move */
static enum status actuate(struct rigid_inverse *r, double t, struct arena *scratch, struct report *report)
{
    const struct model *model = r->mechanism.model;
    const double most = largest_norm(model->nv, r->force);
    const enum status status = find_line_forces(r, scratch);
    if (status != STATUS_OK) return failure_report(report, &r->mechanism, status);
    for (int i = 0; i < model->n_links; i++)
        for (int k = 0; joint_actuated(r->motion->robot, i) && k < model->link[i].joint.nv; k++)
            if (fabs(r->force[model->link[i].v + k]) > FORCES_AGREE * most)
                return report_at(report, t, STATUS_UNBALANCED, "");
    return STATUS_OK;
}

enum status rigid_inverse_at(struct rigid_inverse *r, int row, struct report *report)
{
    struct mechanism *m = &r->mechanism;
    const struct motion *motion = r->motion;
    const struct input in = {.q = r->q, .qd = r->qd};
    const double t = motion_time(motion, row);
    for (int i = 0; i < m->model->n_links; i++) {
        const struct link_model *lm = &m->model->link[i];
        if (!motion_gives(motion->robot, motion->passive_too, i)) continue;
        for (int k = 0; k < lm->joint.nv; k++) {
            double x[3];
            motion_at(r->motion, motion_row(motion, row), i, k, x);
            r->q[lm->q + k] = x[0], r->qd[lm->v + k] = x[1], r->qdd[lm->v + k] = x[2];
        }
    }
    struct arena scratch = {0};
    enum status status = follow_loops(r, t, &scratch, report);
    if (status == STATUS_OK) {
        dyn_configuration(m->model, m->work, r->q);
        struct input loaded;
        mechanism_load_elements(m, &in, &loaded); /* couplings; a line without a direction is reported later */
        dyn_inverse(m->model, m->work, &loaded, r->qdd, r->force);
        dyn_velocity(m->model, m->work, &in);
        status = subtract_loop_forces(r, &scratch, report);
    }
    if (status == STATUS_OK && r->actuated) status = actuate(r, t, &scratch, report);
    arena_release(&scratch);
    return status;
}
