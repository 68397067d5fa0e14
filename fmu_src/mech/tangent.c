/* Derivatives of robots with loops: the tangent of the tree at constant multipliers, then the change of the multipliers that keeps
   the loops closed. (theory.md 56, 57) */
#include <string.h>

#include "math/dense.h"
#include "math/vec.h"
#include "mech/mechanism.h"

/* The change of c = a x b of a rotational constraint when the loop frames rotate */
static void direction_change(const struct equation *e, const struct attachment *side, const double *phi_A,
                             const double *phi_B, double *dc)
{
    double a[3], b[3], c[3], da[3], db[3];
    rotation_directions(e, side, a, b, c);
    cross3(phi_A, a, da);
    cross3(phi_B, b, db);
    cross3(da, b, dc);
    add_cross3(a, db, dc);
}

/* (51) differentiated */
static double acceleration_change(const struct equation *e, const struct attachment *side)
{
    const struct frame_motion *A = &side[0].frame, *B = &side[1].frame;
    const struct frame_derivative *dA = &side[0].change, *dB = &side[1].change;
    if (!e->rotational) return difference(e->u, dA->a, dB->a);
    double a[3], b[3], c[3], da[3], db[3], dc[3], p[3], q[3], dp[3], dq[3], cd[3], dcd[3];
    rotation_directions(e, side, a, b, c);
    direction_change(e, side, dA->phi, dB->phi, dc);
    cross3(dA->phi, a, da);
    cross3(dB->phi, b, db);
    cross3(A->omega, a, p);
    cross3(B->omega, b, q);
    cross3(dA->omega, a, dp);
    add_cross3(A->omega, da, dp);
    cross3(dB->omega, b, dq);
    add_cross3(B->omega, db, dq);
    cross3(p, b, cd);
    add_cross3(a, q, cd);
    cross3(dp, b, dcd);
    add_cross3(p, db, dcd);
    add_cross3(da, q, dcd);
    add_cross3(a, dq, dcd);
    return difference(dc, A->alpha, B->alpha) + difference(c, dA->alpha, dB->alpha) +
           difference(dcd, A->omega, B->omega) + difference(cd, dA->omega, dB->omega);
}

/* The small rotations of the loop frames. After dyn_tangent_outward(). */
static void store_rotations(struct mechanism *m)
{
    for (int i = 0; i < 2 * m->robot->n_loops; i++)
        copy3(dyn_tangent_rotation(m->model, m->tangent, m->load[i].link, POINT_TIP),
              m->constraints->side[i / 2][i % 2].change.phi);
}

/* The change of the loads at constant multipliers: forces keep their world direction and move with r, moments rotate */
static void change_loads(struct mechanism *m)
{
    const struct constraints *loops = m->constraints;
    for (int i = 0; i < m->robot->n_loops; i++) {
        const struct attachment *side = loops->side[i];
        double(*change)[6] = m->load_change + 2 * i;
        for (int s = 0; s < 2; s++) {
            double dr[3];
            memset(change[s], 0, sizeof change[s]);
            cross3(side[s].change.phi, side[s].r, dr);
            cross3(dr, m->load[2 * i + s].wrench + 3, change[s]);
        }
        for (int row = loops->first[i]; row < loops->first[i + 1]; row++) {
            double dc[3];
            if (!loops->equation[row].rotational) continue;
            direction_change(&loops->equation[row], side, side[0].change.phi, side[1].change.phi, dc);
            axpy3(loops->lambda[row], dc, change[0]);
            axpy3(-loops->lambda[row], dc, change[1]);
        }
    }
}

/* The outward sweep, and the change of all loads at constant multipliers */
static void load_changes(struct mechanism *m, const struct input *in, const struct direction *direction)
{
    dyn_tangent_outward(m->model, m->work, m->tangent, in, direction);
    store_rotations(m);
    change_loads(m);
    actuators_change_loads(m, in, direction);
}

/* dqdd at constant multipliers, and in rhs minus the resulting change of the gap's acceleration, which dlambda compensates */
static void open_tangent(struct mechanism *m, const struct input *in, const struct direction *direction, double *dqdd)
{
    const struct model *model = m->model;
    struct constraints *loops = m->constraints;
    load_changes(m, in, direction);
    dyn_tangent_inward(model, m->work, m->tangent, in, (const double(*)[6])m->load_change, dqdd);
    if (loops->n_rows == 0) return;
    dyn_tangent_motion(model, m->work, m->tangent, dqdd);
    for (int i = 0; i < m->robot->n_loops; i++)
        for (int s = 0; s < 2; s++) {
            struct attachment *side = &loops->side[i][s];
            dyn_tangent_tip(model, m->work, m->tangent, m->load[2 * i + s].link, &side->change);
            attachment_move_change(side, &side->change);
        }
    for (int k = 0; k < loops->n_active; k++) {
        const int row = loops->active[k];
        loops->rhs[k] = -acceleration_change(&loops->equation[row], loops->side[constraints_loop(loops, row)]);
    }
}

/* At the loop frames of constraints_frames() */
static void closed_tangent(struct mechanism *m, const struct input *in, const struct direction *direction, bool outputs,
                           double *dqdd)
{
    const struct model *model = m->model;
    const struct constraints *loops = m->constraints;
    open_tangent(m, in, direction, dqdd);
    if (loops->n_rows == 0) {
        if (outputs) dyn_tangent_motion(model, m->work, m->tangent, dqdd);
        return;
    }
    constraints_respond(m, dqdd);
    memset(loops->dlambda, 0, (size_t)loops->n_rows * sizeof(double));
    for (int k = 0; k < loops->n_active; k++) loops->dlambda[loops->active[k]] = loops->rhs[k];
    if (!outputs) return;

    /* again with the change of the multipliers in the loads, for the outputs */
    load_changes(m, in, direction);
    for (int row = 0; row < loops->n_rows; row++) {
        const int i = constraints_loop(loops, row);
        add_multiplier(&loops->equation[row], loops->side[i], loops->dlambda[row], m->load_change[2 * i],
                       m->load_change[2 * i + 1]);
    }
    dyn_tangent_inward(model, m->work, m->tangent, in, (const double(*)[6])m->load_change, dqdd);
    dyn_tangent_motion(model, m->work, m->tangent, dqdd);
}

void mechanism_tangent(struct mechanism *m, const struct input *in, const struct direction *direction, bool outputs,
                       double *dqdd)
{
    constraints_frames(m, false); /* mechanism_forward() leaves those of the open tree */
    closed_tangent(m, in, direction, outputs, dqdd);
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

/* The lines rotate as their ends move: direction by direction */
static void add_actuator_changes(struct mechanism *m, const struct input *in, double *by_q)
{
    const struct model *model = m->model;
    struct constraints *loops = m->constraints;
    const int first = 2 * m->robot->n_loops, count = 2 * m->robot->n_actuators;
    memset(loops->direction, 0, (size_t)model->nv * sizeof(double));
    for (int j = 0; j < model->nv && count > 0; j++) {
        const struct direction q = {.q = loops->direction};
        loops->direction[j] = 1;
        dyn_tangent_outward(model, m->work, m->tangent, in, &q);
        actuators_change_loads(m, in, &q);
        loops->direction[j] = 0;
        add_load_changes(m, first, first + count, by_q + (size_t)model->nv * (size_t)j);
    }
}

/* Tip frames of the loops in a direction, as dyn_force_jacobian_tips() made them */
static void store_tips(struct mechanism *m, const struct frame_derivative *tips)
{
    for (int i = 0; i < 2 * m->robot->n_loops; i++) m->constraints->side[i / 2][i % 2].change = tips[i];
}

void mechanism_force_jacobian(struct mechanism *m, const struct input *in, double *by_q, double *by_qd)
{
    const struct model *model = m->model;
    const struct constraints *loops = m->constraints;
    const size_t n = (size_t)model->nv, loads = (size_t)in->n_loads;
    dyn_force_jacobian_tips(model, m->work, m->tangent, in, by_q, by_qd, loops->tips[0], loops->tips[1]);
    for (size_t j = 0; j < n && loops->n_rows > 0; j++) {
        store_tips(m, loops->tips[0] + loads * j);
        change_loads(m);
        add_load_changes(m, 0, 2 * m->robot->n_loops, by_q + n * j);
    }
    add_actuator_changes(m, in, by_q);
}

/* dqdd of the tree becomes that of the robot with loops:  S dlambda = -(change of the gap's acceleration, G dqdd included) */
static void close_column(struct mechanism *m, double *dqdd)
{
    const struct model *model = m->model;
    struct constraints *loops = m->constraints;
    const size_t n = (size_t)model->nv;
    for (int i = 0; i < 2 * m->robot->n_loops; i++) {
        struct attachment *side = &loops->side[i / 2][i % 2];
        attachment_move_change(side, &side->change);
    }
    for (int k = 0; k < loops->n_active; k++) {
        const int row = loops->active[k];
        loops->rhs[k] = -acceleration_change(&loops->equation[row], loops->side[constraints_loop(loops, row)]) -
                        dense_dot(model->nv, loops->G + n * (size_t)k, dqdd);
    }
    constraints_respond(m, dqdd);
}

void mechanism_jacobian(struct mechanism *m, const struct input *in, double *by_q, double *by_qd)
{
    const struct model *model = m->model;
    const size_t n = (size_t)model->nv, loads = (size_t)in->n_loads;
    double *const by[2] = {by_q, by_qd};
    constraints_frames(m, false); /* mechanism_forward() leaves those of the open tree */
    mechanism_force_jacobian(m, in, by_q, by_qd);
    for (int rate = 0; rate < 2; rate++) {
        dyn_solve_columns(model, m->work, m->tangent, model->nv, by[rate]);
        for (size_t j = 0; j < n && m->constraints->n_rows > 0; j++) {
            store_tips(m, m->constraints->tips[rate] + loads * j);
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
    dyn_tangent_state(model, m->work, m->tangent, &loaded, qdd);
    mechanism_jacobian(m, &loaded, by_q, by_qd);
    return STATUS_OK;
}
