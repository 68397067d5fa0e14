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
    struct constraints *all = m->constraints;
    mechanism_set(m, in);
    dyn_configuration(model, m->work, in->q);
    dyn_motion(model, m->work, in, qdd);
    if (m->acts_at == PLACED_AND_MOVING || all->turning) dyn_velocity(model, m->work, in);
    else if (m->acts_at == PLACED || all->n_rows > 0) dyn_position(model, m->work);
    const enum status status = elements_act(m, in);
    if (status != STATUS_OK) return status;
    if (all->n_rows > 0) { /* loads of the multipliers at the places of this configuration */
        constraints_frames(m, false);
        memcpy(all->lambda, lambda, (size_t)all->n_rows * sizeof *lambda);
        constraints_set_loads(m);
    }
    const struct input loaded = mechanism_loaded(m, in);
    dyn_add_loads(m->work, loaded.n_loads, loaded.load);
    dyn_inverse_forces(model, m->work, &loaded, qdd, force);
    for (int i = 0; i < model->n_links && in->tau != NULL; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; !lm->passive && k < lm->joint.nv; k++) force[lm->v + k] -= in->tau[lm->tau + k];
    }
    if (all->n_rows == 0) return STATUS_OK;
    constraints_accelerations(m, qdd); /* G qdd + G_dot qd */
    constraints_scatter(all, all->rhs, gap_acceleration);
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
    constraints_mobility(&shadow, BY_ARTICULATED_FACTORS);
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
        loops->rhs[k] = gap_acceleration[loops->active[k]] - span_dot(loops->span[k], loops->G + n * (size_t)k, force);
    constraints_respond(&shadow, force);
    constraints_scatter(loops, loops->rhs, gap_acceleration);
}

static double *row_of(double *rows, int count, int i)
{
    return rows + (size_t)count * (size_t)i;
}

/* Forces of elements and drives at the point, and their s */
static enum status differentiate_elements(struct mechanism *m, const struct input *in, double gamma)
{
    struct mechanism shadow = at_newton_point(m);
    if (m->acts_at == PLACED_AND_MOVING) {
        dyn_motion(m->model, shadow.work, in, NULL);
        dyn_velocity(m->model, shadow.work, in);
    } else dyn_position(m->model, shadow.work);
    m->stage = STAGE_NONE; /* the elements are now at this point */
    enum status status = elements_act(&shadow, in);
    m->failed_element = shadow.failed_element;
    m->drives.failed = shadow.drives.failed;
    if (status == STATUS_OK && in->drive != NULL) status = drives_newton(m, in, gamma);
    for (int i = 0; i < m->n_elements; i++) {
        struct force_element *e = &m->element[i];
        if (e->drive < 0 || in->drive == NULL) e->s = -gamma * (gamma * e->by_x + e->by_rate);
        if (e->J == NULL || (e->s == 0 && e->drive < 0)) continue;
        element_row(&shadow, e, e->J);
        e->span = dense_span(m->model->nv, e->J);
    }
    return status;
}

/* Y and the factors of 1/s + J Y of the elements with a row and s != 0 */
static enum status factor_elements(struct mechanism *m)
{
    struct element_rows *rows = &m->rows;
    const int n = m->model->nv, n_rows = m->constraints->n_rows;
    rows->n_active = 0;
    for (int i = 0; i < m->n_elements; i++) {
        const struct force_element *e = &m->element[i];
        const int k = rows->n_active;
        if (e->J == NULL || e->s == 0) continue;
        memcpy(row_of(rows->Y, n, k), e->J, (size_t)n * sizeof *e->J);
        memset(row_of(rows->mu, n_rows, k), 0, (size_t)n_rows * sizeof *rows->mu);
        solve_closed(m, row_of(rows->Y, n, k), row_of(rows->mu, n_rows, k));
        rows->active[rows->n_active++] = i;
    }
    for (int i = 0; i < rows->n_active; i++)
        for (int j = 0; j < rows->n_active; j++) {
            const struct force_element *e = &m->element[rows->active[i]];
            rows->T[rows->n_active * i + j] = (i == j ? 1 / e->s : 0) + span_dot(e->span, e->J, row_of(rows->Y, n, j));
        }
    return lu_factor(rows->n_active, rows->T, rows->pivot) == 0 ? STATUS_OK : STATUS_NEWTON_MATRIX;
}

enum status mechanism_newton_factor(struct mechanism *m, const struct input *in, double gamma)
{
    struct work *work = m->newton_work;
    enum status status = STATUS_OK;
    dyn_configuration(m->model, work, in->q);
    if (m->n_elements > 0) status = differentiate_elements(m, in, gamma);
    if (status != STATUS_OK) return status;
    dyn_newton_terms(m->model, work, in->q, in->qd, gamma);
    for (int i = 0; i < m->n_elements; i++) /* on a joint, s counts like motor inertia */
        /* an element with negative s could make N indefinite: it is left to the iteration */
        if (m->element[i].J == NULL) work->link[m->element[i].part].newton_hinge[0] += fmax(m->element[i].s, 0);
    status = dyn_articulate(m->model, work);
    m->work->failed_link = work->failed_link;
    if (status == STATUS_OK && m->constraints->n_rows > 0) status = factor_loops(m);
    if (status == STATUS_OK && m->n_elements > 0) status = factor_elements(m);
    return status;
}

void mechanism_newton_solve(struct mechanism *m, double *force, double *gap_acceleration)
{
    const struct element_rows *rows = &m->rows;
    const int n = m->model->nv, n_rows = m->constraints->n_rows;
    solve_closed(m, force, gap_acceleration);
    if (rows->n_active == 0) return;
    for (int k = 0; k < rows->n_active; k++) rows->rhs[k] = element_velocity(m, &m->element[rows->active[k]], force);
    lu_solve(rows->n_active, rows->T, rows->pivot, rows->rhs);
    for (int k = 0; k < rows->n_active; k++) {
        dense_add(n, -rows->rhs[k], row_of(rows->Y, n, k), force);
        dense_add(n_rows, -rows->rhs[k], row_of(rows->mu, n_rows, k), gap_acceleration);
    }
}

/* Laws of elements act as -dF = -(by_x dx + by_rate dv) */
void mechanism_newton_force(const struct mechanism *m, const double *dx, const double *dv, double *force)
{
    dyn_newton_force(m->model, m->newton_work, dx, dv, force);
    for (int i = 0; i < m->n_elements; i++) {
        const struct force_element *e = &m->element[i];
        if (e->drive >= 0 || e->s == 0) continue;
        element_add_force(m, e, -(e->by_x * element_velocity(m, e, dx) + e->by_rate * element_velocity(m, e, dv)),
                          force);
    }
}
