/* Derivatives of robots with constraints and elements: the tangent of the tree at constant multipliers, with the changes of elements,
   then the change of the multipliers that keeps the constraints. (theory.md 56, 57, 112, 113) */
#include <string.h>

#include "math/dense.h"
#include "math/vec.h"
#include "mech/mechanism.h"

static void change_places(struct mechanism *m)
{
    const struct constraints *all = m->constraints;
    for (int i = 0; i < all->count; i++) {
        const struct constraint *c = &all->constraint[i];
        if (c->kind->change_places != NULL) c->kind->change_places(m, c);
    }
}

/* The change of the loads at constant multipliers */
static void change_loads(struct mechanism *m)
{
    const struct constraints *all = m->constraints;
    for (int i = 0; i < all->count; i++) {
        const struct constraint *c = &all->constraint[i];
        if (c->kind->change_loads != NULL) c->kind->change_loads(m, c);
    }
}

static bool is_tree(const struct mechanism *m)
{
    return m->constraints->count + m->n_elements == 0;
}

/* The outward sweep, and the change of all loads and forces on joints at constant multipliers */
static void load_changes(struct mechanism *m, const struct input *in, const struct direction *direction)
{
    struct direction all = *direction;
    all.joint_force = m->joint_force_change;
    dyn_tangent_outward(m->model, m->work, m->tangent, in, &all);
    if (is_tree(m)) return;
    if (m->acts_at != NOT_PLACED || m->robot->n_loops > 0) dyn_tangent_position(m->model, m->work, m->tangent);
    if (m->acts_at != NOT_PLACED) dyn_tangent_velocity(m->model, m->work, m->tangent);
    change_places(m);
    change_loads(m);
    elements_change_loads(m, in, direction);
}

static void set_gap_changes(struct mechanism *m, const double *dqdd)
{
    struct constraints *all = m->constraints;
    for (int k = 0; k < all->n_active; k++) {
        const struct constraint *c = all->of_row[all->active[k]];
        all->rhs[k] = -c->kind->acceleration_change(m, c, all->active[k] - c->first, dqdd);
    }
}

/* At the loop frames of constraints_frames(): dqdd at constant multipliers, then their change dlambda, which compensates the change
   of the gap's acceleration */
static void closed_tangent(struct mechanism *m, const struct input *in, const struct direction *direction, bool outputs,
                           double *dqdd)
{
    const struct model *model = m->model;
    struct constraints *loops = m->constraints;
    const double(*load_change)[6] = (const double(*)[6])m->load_change;
    load_changes(m, in, direction);
    dyn_tangent_inward(model, m->work, m->tangent, in, load_change, dqdd);
    if (loops->n_rows > 0) {
        dyn_tangent_motion(model, m->work, m->tangent, dqdd);
        change_places(m);
        set_gap_changes(m, dqdd);
        constraints_respond(m, dqdd);
        constraints_scatter(loops, loops->rhs, loops->dlambda);
    }
    if (outputs && loops->n_rows > 0) { /* again with the change of the multipliers in the loads */
        load_changes(m, in, direction);
        for (int i = 0; i < loops->count; i++)
            loops->constraint[i].kind->add_load_changes(m, &loops->constraint[i], loops->dlambda);
        dyn_tangent_inward(model, m->work, m->tangent, in, load_change, dqdd);
    }
    if (outputs) dyn_tangent_motion(model, m->work, m->tangent, dqdd);
}

void mechanism_tangent(struct mechanism *m, const struct input *in, const struct direction *direction, bool outputs,
                       double *dqdd)
{
    constraints_frames(m, false); /* mechanism_forward() leaves those of the open tree */
    closed_tangent(m, in, direction, outputs, dqdd);
}

/* dyn_tangent_inward() also solves for accelerations, which are not needed here */
void mechanism_force_change(struct mechanism *m, const struct input *in, const struct direction *direction,
                            double *change)
{
    load_changes(m, in, direction);
    dyn_tangent_inward(m->model, m->work, m->tangent, in, (const double(*)[6])m->load_change, change);
    memcpy(change, m->tangent->force, (size_t)m->model->nv * sizeof *change);
}

/* ---- all directions ---------------------------------------------------------------------------------------------- */

static void add_load_changes(struct mechanism *m, int from, int to, double *column)
{
    for (int i = from; i < to; i++) {
        struct load change = m->load[i];
        copy6(m->load_change[i], change.wrench);
        dyn_frame_force(m->model, m->work, &change, column);
    }
}

/* The changes, as dyn_force_jacobian_frames() computed them, of the sections to which the loop frames are attached */
static void load_frames(struct mechanism *m, const struct frame_derivative *frames)
{
    for (int i = 0; i < LOOP_LOADS * m->robot->n_loops; i++)
        m->constraints->loop[i / LOOP_LOADS].side[i % LOOP_LOADS].change = frames[i];
}

/* by_q += J' dF/dx J,   by_qd += J' dF/drate J of elements with a law of their own                                   (113) */
static void add_law(struct mechanism *m, const struct force_element *e, double *by_q, double *by_qd)
{
    double *J = m->constraints->direction, *const by[2] = {by_q, by_qd};
    const double slope[2] = {e->by_x, e->by_rate};
    const size_t n = (size_t)m->model->nv;
    if (slope[0] == 0 && slope[1] == 0) return;
    element_row(m, e, J);
    for (int rate = 0; rate < 2; rate++)
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n && J[j] != 0; i++) by[rate][n * j + i] += J[i] * slope[rate] * J[j];
}

void mechanism_force_jacobian(struct mechanism *m, const struct input *in, double *by_q, double *by_qd)
{
    const struct model *model = m->model;
    const struct constraints *loops = m->constraints;
    const int loop_loads = LOOP_LOADS * m->robot->n_loops, first = loops->turning ? 0 : loop_loads;
    const size_t n = (size_t)model->nv;
    dyn_force_jacobian_frames(model, m->work, m->tangent, in, loop_loads, by_q, by_qd, loops->frames[0],
                              loops->frames[1]);
    for (size_t j = 0; j < n && loop_loads > 0 && !loops->turning; j++) {
        load_frames(m, loops->frames[0] + (size_t)loop_loads * j);
        change_loads(m);
        add_load_changes(m, 0, loop_loads, by_q + n * j);
    }
    for (int i = 0; i < m->n_elements; i++)
        if (m->element[i].kind->n_ends == 0) add_law(m, &m->element[i], by_q, by_qd);
    /* lines and planes rotate as their ends move: these loads direction by direction */
    memset(loops->direction, 0, n * sizeof(double));
    for (size_t j = 0; j < n && first < m->n_loads; j++) {
        const struct direction q = {.q = loops->direction};
        loops->direction[j] = 1;
        load_changes(m, in, &q);
        loops->direction[j] = 0;
        add_load_changes(m, first, m->n_loads, by_q + n * j);
    }
}

/* dqdd of the tree becomes that of the robot with loops:  S dlambda = -(change of the gap's acceleration, G dqdd included) */
static void close_column(struct mechanism *m, double *dqdd)
{
    const struct model *model = m->model;
    struct constraints *loops = m->constraints;
    const size_t n = (size_t)model->nv;
    for (int i = 0; i < m->robot->n_loops; i++)
        for (int s = SIDE_A; s <= SIDE_B; s++) attachment_move_change(&loops->loop[i].side[s]);
    set_gap_changes(m, NULL);
    for (int k = 0; k < loops->n_active; k++) loops->rhs[k] -= dense_dot(model->nv, loops->G + n * (size_t)k, dqdd);
    constraints_respond(m, dqdd);
}

void mechanism_jacobian(struct mechanism *m, const struct input *in, double *by_q, double *by_qd)
{
    const struct model *model = m->model;
    const size_t n = (size_t)model->nv, loads = LOOP_LOADS * (size_t)m->robot->n_loops;
    double *const by[2] = {by_q, by_qd};
    if (is_tree(m)) {
        dyn_jacobian(model, m->work, m->tangent, in, by_q, by_qd);
        return;
    }
    constraints_frames(m, false); /* mechanism_forward() leaves those of the open tree */
    if (m->constraints
            ->turning) { /* planes need changes of positions and velocities that are not among those of the sweeps */
        double *unit = m->constraints->direction;
        const struct direction q = {.q = unit}, qd = {.qd = unit};
        memset(unit, 0, n * sizeof *unit);
        for (size_t j = 0; j < n; j++) {
            unit[j] = 1;
            closed_tangent(m, in, &q, false, by_q + n * j);
            closed_tangent(m, in, &qd, false, by_qd + n * j);
            unit[j] = 0;
        }
        return;
    }
    mechanism_force_jacobian(m, in, by_q, by_qd);
    for (int rate = 0; rate < 2; rate++) {
        dyn_solve_columns(model, m->work, m->tangent, model->nv, by[rate]);
        for (size_t j = 0; j < n && m->constraints->n_rows > 0; j++) {
            if (loads > 0) load_frames(m, m->constraints->frames[rate] + loads * j);
            close_column(m, by[rate] + n * j);
        }
    }
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
    if (is_tree(m)) dyn_jacobian_state(model, m->work, m->tangent, &loaded, qdd);
    else dyn_tangent_state(model, m->work, m->tangent, &loaded, qdd);
    mechanism_jacobian(m, &loaded, by_q, by_qd);
    return STATUS_OK;
}
