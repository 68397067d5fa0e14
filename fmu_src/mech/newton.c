/* The equations of motion in residual form and their Newton matrix, for implicit steps whose unknowns are accelerations and
   multipliers: O(n), no Jacobian and no dense matrix but that of the loops. (theory.md 73 to 75) */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/mechanism.h"

/* ---- residual ---------------------------------------------------------------------------------------------------- */

enum status mechanism_residual(struct mechanism *m, const struct input *in, const double *qdd, const double *lambda,
                               double *force, double *gap_acceleration)
{
    const struct model *model = m->model;
    struct constraints *loops = m->constraints;
    struct input loaded;
    dyn_configuration(model, m->work, in->q);
    const enum status status = actuators_apply(m, in, &loaded);
    if (status != STATUS_OK) return status;
    if (loops->n_rows > 0) { /* loads of the multipliers at the loop frames of this configuration */
        dyn_position(model, m->work);
        constraints_frames(m, false);
        memcpy(loops->lambda, lambda, (size_t)loops->n_rows * sizeof *lambda);
        constraints_set_loads(m);
        loaded = mechanism_loaded(m, in);
    }
    dyn_inverse(model, m->work, &loaded, qdd, force);
    for (int i = 0; i < model->n_links && in->tau != NULL; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; !lm->passive && k < lm->joint.nv; k++) force[lm->v + k] -= in->tau[lm->tau + k];
    }
    if (loops->n_rows == 0) return STATUS_OK;
    constraints_prepare(m, in);
    constraints_frames(m, false);
    constraints_accelerations(m); /* G qdd + G_dot qd */
    constraints_scatter(loops, loops->rhs, gap_acceleration);
    return STATUS_OK;
}

/* ---- Newton matrix ----------------------------------------------------------------------------------------------- */

/* The same mechanism with the work and the constraints of the Newton matrix */
static struct mechanism at_newton_point(const struct mechanism *m)
{
    struct mechanism shadow = *m;
    shadow.work = m->newton_work;
    shadow.constraints = m->newton_constraints;
    return shadow;
}

/* X = N^-1 G',  S = G X                                                                                              (75) */
static enum status factor_loops(struct mechanism *m)
{
    struct mechanism shadow = at_newton_point(m);
    struct constraints *loops = shadow.constraints;
    loops->n_active = m->constraints->n_active;
    memcpy(loops->active, m->constraints->active, (size_t)loops->n_rows * sizeof *loops->active);
    dyn_position(m->model, shadow.work);
    constraints_frames(&shadow, false);
    constraints_mobility(&shadow);
    const enum status status = constraints_factor(&shadow);
    m->constraints->failed = loops->failed;
    return status;
}

/* x = N^-1 force + X mu,   S mu = gap_acceleration - G N^-1 force                                                    (75) */
static void solve_closed(struct mechanism *m, double *force, double *gap_acceleration)
{
    const struct model *model = m->model;
    const size_t n = (size_t)model->nv;
    dyn_solve_forces(model, m->newton_work, force, force);
    struct constraints *loops = m->newton_constraints;
    if (loops->n_rows == 0) return;
    struct mechanism shadow = at_newton_point(m);
    for (int k = 0; k < loops->n_active; k++)
        loops->rhs[k] = gap_acceleration[loops->active[k]] - dense_dot(model->nv, loops->G + n * (size_t)k, force);
    constraints_respond(&shadow, force);
    constraints_scatter(loops, loops->rhs, gap_acceleration);
}

static double *row_of(double *rows, int count, int i)
{
    return rows + (size_t)count * (size_t)i;
}

/* J of the lines with drives; Y and the factors of 1/s + J Y of those with s != 0 */
static enum status factor_lines(struct mechanism *m)
{
    struct mechanism shadow = at_newton_point(m);
    struct drive_rows *rows = m->drive_rows;
    const int n = m->model->nv, n_rows = m->constraints->n_rows;
    rows->n_active = 0;
    dyn_position(m->model, shadow.work);
    actuators_measure(&shadow);
    for (int d = 0; d < m->robot->n_drives; d++) {
        double *J = row_of(rows->J, n, d);
        const int k = rows->n_active;
        if (m->robot->drive[d].actuator < 0) continue;
        actuators_row(&shadow, m->robot->drive[d].actuator, J);
        if (rows->s[d] == 0) continue;
        memcpy(row_of(rows->Y, n, k), J, (size_t)n * sizeof *J);
        memset(row_of(rows->mu, n_rows, k), 0, (size_t)n_rows * sizeof *rows->mu);
        solve_closed(m, row_of(rows->Y, n, k), row_of(rows->mu, n_rows, k));
        rows->active[rows->n_active++] = d;
    }
    for (int i = 0; i < rows->n_active; i++)
        for (int j = 0; j < rows->n_active; j++)
            rows->T[rows->n_active * i + j] = (i == j ? 1 / rows->s[rows->active[i]] : 0) +
                                              dense_dot(n, row_of(rows->J, n, rows->active[i]), row_of(rows->Y, n, j));
    return lu_factor(rows->n_active, rows->T, rows->pivot) == 0 ? STATUS_OK : STATUS_NEWTON_MATRIX;
}

enum status mechanism_newton_factor(struct mechanism *m, const double *q, const double *qd, double gamma)
{
    struct work *work = m->newton_work;
    dyn_configuration(m->model, work, q);
    dyn_newton_terms(m->model, work, q, qd, gamma);
    for (int d = 0; d < m->robot->n_drives; d++) { /* on a joint, s counts like motor inertia */
        const int link = m->robot->drive[d].link;
        /* a drive with negative s could make N indefinite: it is left to the iteration */
        if (link >= 0) work->link[link].newton_hinge[0] += fmax(m->drive_rows->s[d], 0);
    }
    enum status status = dyn_articulate(m->model, work);
    m->work->failed_link = work->failed_link;
    if (status == STATUS_OK && m->constraints->n_rows > 0) status = factor_loops(m);
    if (status == STATUS_OK && m->robot->n_drives > 0) status = factor_lines(m);
    return status;
}

void mechanism_newton_solve(struct mechanism *m, double *force, double *gap_acceleration)
{
    const struct drive_rows *rows = m->drive_rows;
    const int n = m->model->nv, n_rows = m->constraints->n_rows;
    solve_closed(m, force, gap_acceleration);
    if (rows->n_active == 0) return;
    for (int k = 0; k < rows->n_active; k++) rows->rhs[k] = dense_dot(n, row_of(rows->J, n, rows->active[k]), force);
    lu_solve(rows->n_active, rows->T, rows->pivot, rows->rhs);
    for (int k = 0; k < rows->n_active; k++) {
        const double *Y = row_of(rows->Y, n, k), *mu = row_of(rows->mu, n_rows, k), F = rows->rhs[k];
        for (int i = 0; i < n; i++) force[i] -= F * Y[i];
        for (int i = 0; i < n_rows; i++) gap_acceleration[i] -= F * mu[i];
    }
}

void mechanism_newton_force(const struct mechanism *m, const double *dx, const double *dv, double *force)
{
    dyn_newton_force(m->model, m->newton_work, dx, dv, force);
}

/* ---- drives ------------------------------------------------------------------------------------------------------ */

double drive_rows_velocity(const struct mechanism *m, int drive, const double *x)
{
    const int link = m->robot->drive[drive].link;
    if (link >= 0) return x[m->model->link[link].v];
    return dense_dot(m->model->nv, row_of(m->drive_rows->J, m->model->nv, drive), x);
}

void drive_rows_add_force(const struct mechanism *m, int drive, double F, double *force)
{
    const int link = m->robot->drive[drive].link;
    const double *J = row_of(m->drive_rows->J, m->model->nv, drive);
    if (link >= 0) force[m->model->link[link].v] += F;
    else
        for (int i = 0; i < m->model->nv; i++) force[i] += J[i] * F;
}

struct drive_rows *drive_rows_make(const struct model *model, int n_rows, struct arena *arena)
{
    const size_t drives = (size_t)model->robot->n_drives, n = (size_t)model->nv;
    struct drive_rows *rows = arena_allocate(arena, 1, sizeof *rows);
    if (rows == NULL) return NULL;
    rows->s = arena_allocate(arena, drives, sizeof(double));
    rows->J = arena_allocate(arena, drives * n, sizeof(double));
    rows->active = arena_allocate(arena, drives, sizeof(int));
    rows->Y = arena_allocate(arena, drives * n, sizeof(double));
    rows->mu = arena_allocate(arena, drives * (size_t)n_rows, sizeof(double));
    rows->T = arena_allocate(arena, drives * drives, sizeof(double));
    rows->pivot = arena_allocate(arena, drives, sizeof(int));
    rows->rhs = arena_allocate(arena, drives, sizeof(double));
    return rows;
}
