/* The equations of motion in residual form and their Newton matrix, for implicit steps whose unknowns are accelerations and
   multipliers: O(n), no Jacobian and no dense matrix but that of the loops. (theory.md 73 to 75) */
#include <string.h>

#include "math/dense.h"
#include "mech/mechanism.h"

/* ---- residual ---------------------------------------------------------------------------------------------------- */

/* Loads of the multipliers at the loop frames of this configuration */
static void apply_multipliers(struct mechanism *m, const double *lambda)
{
    struct constraints *loops = m->constraints;
    dyn_position(m->model, m->work);
    constraints_frames(m, false);
    memcpy(loops->lambda, lambda, (size_t)loops->n_rows * sizeof *lambda);
    constraints_set_loads(m);
}

/* G qdd + G_dot qd, by rows */
static void gap_accelerations(struct mechanism *m, const struct input *in, double *gap_acceleration)
{
    struct constraints *loops = m->constraints;
    constraints_prepare(m, in);
    constraints_frames(m, false);
    constraints_accelerations(m);
    memset(gap_acceleration, 0, (size_t)loops->n_rows * sizeof *gap_acceleration);
    for (int k = 0; k < loops->n_active; k++) gap_acceleration[loops->active[k]] = loops->rhs[k];
}

enum status mechanism_residual(struct mechanism *m, const struct input *in, const double *qdd, const double *lambda,
                               double *force, double *gap_acceleration)
{
    const struct model *model = m->model;
    struct input loaded;
    dyn_configuration(model, m->work, in->q);
    const enum status status = actuators_apply(m, in, &loaded);
    if (status != STATUS_OK) return status;
    if (m->constraints->n_rows > 0) {
        apply_multipliers(m, lambda);
        loaded = mechanism_loaded(m, in);
    }
    dyn_inverse(model, m->work, &loaded, qdd, force);
    for (int i = 0; i < model->n_links && in->tau != NULL; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; !lm->passive && k < lm->joint.nv; k++) force[lm->v + k] -= in->tau[lm->tau + k];
    }
    if (m->constraints->n_rows > 0) gap_accelerations(m, in, gap_acceleration);
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

enum status mechanism_newton_factor(struct mechanism *m, const double *q, const double *qd, double gamma)
{
    struct work *work = m->newton_work;
    dyn_configuration(m->model, work, q);
    dyn_newton_terms(m->model, work, q, qd, gamma);
    const enum status status = dyn_articulate(m->model, work);
    m->work->failed_link = work->failed_link;
    return status == STATUS_OK && m->constraints->n_rows > 0 ? factor_loops(m) : status;
}

/* x = N^-1 force + X mu,   S mu = gap_acceleration - G N^-1 force                                                    (75) */
void mechanism_newton_solve(struct mechanism *m, double *force, double *gap_acceleration)
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
    memset(gap_acceleration, 0, (size_t)loops->n_rows * sizeof *gap_acceleration);
    for (int k = 0; k < loops->n_active; k++) gap_acceleration[loops->active[k]] = loops->rhs[k];
}

void mechanism_newton_force(const struct mechanism *m, const double *dx, const double *dv, double *force)
{
    dyn_newton_force(m->model, m->newton_work, dx, dv, force);
}
