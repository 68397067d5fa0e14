/* Derivatives of robots with constraints and elements: the tangent of the tree at constant multipliers, with the changes of elements,
   then the change of the multipliers that keeps the constraints. (theory.md 56, 57, 112, 113) */
#include <string.h>

#include "math/dense.h"
#include "math/vec.h"
#include "mech/mechanism.h"

/* The change of all loads and forces on joints at constant multipliers, with the changes of frames in the direction */
static void change_loads(struct mechanism *m, const struct input *in, const struct direction *direction)
{
    const struct constraints *all = m->constraints;
    for (int i = 0; i < all->count; i++) {
        const struct constraint *c = &all->constraint[i];
        if (c->kind->change != NULL) c->kind->change(m, c);
    }
    elements_change_loads(m, in, direction);
}

static bool is_tree(const struct mechanism *m)
{
    return m->constraints->count + m->n_elements == 0;
}

/* The outward sweep, and the changes of loads */
static void sweep_loads(struct mechanism *m, const struct input *in, const struct direction *direction)
{
    struct direction all = *direction;
    all.joint_force = m->joint_force_change;
    dyn_tangent_outward(m->model, m->work, m->tangent, &all);
    if (!is_tree(m)) change_loads(m, in, direction);
}

static void gap_changes(const struct mechanism *m, const double *dqdd, double *change)
{
    const struct constraints *all = m->constraints;
    for (int k = 0; k < all->n_active; k++) {
        const struct constraint *c = all->of_row[all->active[k]];
        change[k] = c->kind->acceleration_change(m, c, all->active[k] - c->first, dqdd);
    }
}

/* dqdd of the tree becomes that of the robot with constraints:  S dlambda = -(change of the gap's acceleration) - G dqdd */
static void close_column(struct mechanism *m, const double *gap_change, double *dqdd)
{
    const struct constraints *all = m->constraints;
    const size_t n = (size_t)m->model->nv;
    for (int k = 0; k < all->n_active; k++) {
        all->rhs[k] = -dense_dot(m->model->nv, all->G + n * (size_t)k, dqdd);
        if (gap_change != NULL) all->rhs[k] -= gap_change[k];
    }
    constraints_respond(m, dqdd);
}

void mechanism_tangent(struct mechanism *m, const struct input *in, const struct direction *direction, bool outputs,
                       double *dqdd)
{
    const struct model *model = m->model;
    struct constraints *all = m->constraints;
    const double(*load_change)[6] = (const double(*)[6])m->load_change;
    constraints_frames(m, false); /* mechanism_forward() leaves those of the open tree */
    sweep_loads(m, in, direction);
    gap_changes(m, m->tangent->dqdd, all->dlambda);
    dyn_tangent_inward(model, m->work, m->tangent, in, load_change);
    dyn_tangent_solve(model, m->work, m->tangent, dqdd);
    if (all->n_rows > 0) {
        close_column(m, all->dlambda, dqdd);
        constraints_scatter(all, all->rhs, all->dlambda);
    }
    for (int row = 0; row < all->n_rows; row++) {
        const struct constraint *c = all->of_row[row];
        c->kind->add_multiplier(m, c, row - c->first, all->dlambda[row], m->load_change + c->load,
                                m->joint_force_change);
    }
    if (outputs) dyn_tangent_motion(model, m->work, m->tangent, in, load_change, dqdd);
    else dyn_tangent_copy_prescribed(model, m->tangent, dqdd);
}

void mechanism_force_change(struct mechanism *m, const struct input *in, const struct direction *direction,
                            double *change)
{
    sweep_loads(m, in, direction);
    dyn_tangent_inward(m->model, m->work, m->tangent, in, (const double(*)[6])m->load_change);
    memcpy(change, m->tangent->force, (size_t)m->model->nv * sizeof *change);
}

/* ---- all directions: the recursion of the tree, loaded with the changes of what acts on it --------------------------- */

/* The changes of loads and forces on joints as generalized forces */
static void add_load_changes(const struct mechanism *m, double *column)
{
    for (int i = 0; i < m->n_loads; i++) {
        if (dot6(m->load_change[i], m->load_change[i]) == 0) continue;
        struct load change = m->load[i];
        copy6(m->load_change[i], change.wrench);
        dyn_frame_force(m->model, m->work, &change, column);
    }
    for (int i = 0; m->joint_force_change != NULL && i < m->model->nv; i++) column[i] += m->joint_force_change[i];
}

/* Columns of these forces; with `drives` these follow the motion, and the changes of their rates are noted, as are those of the
   accelerations of the gaps */
static void load_columns(struct mechanism *m, const struct input *in, bool drives, double *const by[DERIVATIVES])
{
    const size_t n = (size_t)m->model->nv, rows = (size_t)m->constraints->n_rows;
    const size_t n_w = (size_t)m->drives.n_states;
    double *unit = m->constraints->direction;
    memset(unit, 0, n * sizeof *unit);
    for (int kind = 0; kind < DERIVATIVES; kind++) {
        memset(by[kind], 0, n * n * sizeof(double));
        const struct direction direction = {.q = kind == BY_Q ? unit : NULL,
                                            .qd = kind == BY_QD ? unit : NULL,
                                            .drive = drives ? m->drives.change : NULL};
        for (size_t j = 0; j < n; j++) {
            unit[j] = 1;
            dyn_tangent_coordinate(m->model, m->work, m->tangent, kind == BY_QD, (int)j);
            change_loads(m, in, &direction);
            add_load_changes(m, by[kind] + n * j);
            gap_changes(m, NULL, m->constraints->gap_by[kind] + rows * j);
            if (drives) drives_rates(m->robot, m->drives.change, m->drives.rate_by[kind] + n_w * j);
            unit[j] = 0;
        }
    }
}

void mechanism_force_jacobian(struct mechanism *m, const struct input *in, double *by_q, double *by_qd)
{
    if (!is_tree(m)) load_columns(m, in, false, (double *const[]){by_q, by_qd});
    dyn_force_jacobian(m->model, m->work, m->tangent, in, !is_tree(m), by_q, by_qd);
}

void mechanism_jacobian(struct mechanism *m, const struct input *in, double *by_q, double *by_qd)
{
    const size_t n = (size_t)m->model->nv, rows = (size_t)m->constraints->n_rows;
    const bool drives = in->drive != NULL, loaded = !is_tree(m);
    double *const by[DERIVATIVES] = {by_q, by_qd};
    if (loaded) constraints_frames(m, false); /* mechanism_forward() leaves those of the open tree */
    if (loaded) load_columns(m, in, drives, by);
    dyn_jacobian(m->model, m->work, m->tangent, in, loaded, by_q, by_qd);
    for (size_t j = 0; rows > 0 && j < DERIVATIVES * n; j++)
        close_column(m, m->constraints->gap_by[j / n] + rows * (j % n), by[j / n] + n * (j % n));
    if (!drives) return;
    drives_state_columns(m, in);
    dyn_solve_columns(m->model, m->work, m->tangent, m->drives.n_states, m->drives.by_state);
    for (int j = 0; rows > 0 && j < m->drives.n_states; j++) close_column(m, NULL, m->drives.by_state + n * (size_t)j);
}

enum status mechanism_forward_jacobian(struct mechanism *m, const struct input *in, double *qdd, double *by_q,
                                       double *by_qd)
{
    const struct model *model = m->model;
    const enum status status = mechanism_forward(m, in, qdd);
    if (status != STATUS_OK) return status;
    const struct input loaded = mechanism_loaded(m, in);
    dyn_inverse(model, m->work, &loaded, qdd, m->tangent->force);
    dyn_velocity(model, m->work, &loaded);
    dyn_tangent_state(model, m->work, m->tangent, &loaded, qdd);
    mechanism_jacobian(m, &loaded, by_q, by_qd);
    return STATUS_OK;
}
