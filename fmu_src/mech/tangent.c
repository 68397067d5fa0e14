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
    constraints_rotation_directions(e, side, a, b, c);
    cross3(phi_A, a, da);
    cross3(phi_B, b, db);
    cross3(da, b, dc);
    add_cross3(a, db, dc);
}

/* (95) differentiated */
static double translation_acceleration_change(const struct equation *e, const struct attachment *side)
{
    const struct frame_motion *A = &side[SIDE_A].frame, *B = &side[SIDE_B].frame, *plane = &side[SIDE_PLANE].frame;
    const struct frame_derivative *dA = &side[SIDE_A].change, *dB = &side[SIDE_B].change,
                                  *dplane = &side[SIDE_PLANE].change;
    if (!e->turns) return difference(e->u, dA->a, dB->a);
    double u[3], ud[3], udd[3], du[3], dud[3], dudd[3];
    constraints_translation_direction(e, side, u);
    cross3(plane->omega, u, ud);
    cross3(plane->alpha, u, udd);
    add_cross3(plane->omega, ud, udd);
    cross3(dplane->phi, u, du);
    cross3(dplane->omega, u, dud);
    add_cross3(plane->omega, du, dud);
    cross3(dplane->alpha, u, dudd);
    add_cross3(plane->alpha, du, dudd);
    add_cross3(dplane->omega, ud, dudd);
    add_cross3(plane->omega, dud, dudd);
    return difference(du, A->a, B->a) + difference(u, dA->a, dB->a) + 2 * difference(dud, A->v, B->v) +
           2 * difference(ud, dA->v, dB->v) + difference(dudd, A->p, B->p) + difference(udd, dA->p, dB->p);
}

/* (51) differentiated */
static double acceleration_change(const struct equation *e, const struct attachment *side)
{
    const struct frame_motion *A = &side[0].frame, *B = &side[1].frame;
    const struct frame_derivative *dA = &side[0].change, *dB = &side[1].change;
    if (!e->rotational) return translation_acceleration_change(e, side);
    double a[3], b[3], c[3], da[3], db[3], dc[3], p[3], q[3], dp[3], dq[3], cd[3], dcd[3];
    constraints_rotation_directions(e, side, a, b, c);
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

/* The changes of the loop frames. After dyn_tangent_position() p and phi are valid, after dyn_tangent_motion() all. */
static void change_frames(struct mechanism *m)
{
    for (int i = 0; i < LOOP_LOADS * m->robot->n_loops; i++) {
        const int loop = i / LOOP_LOADS, s = i % LOOP_LOADS;
        attachment_change(m->work, m->tangent, &m->model->loop_side[loop][s], &m->constraints->side[loop][s]);
    }
}

/* A force x u and the moment x u x (p_A - p_B) of a plane that turns: u rotates with it */
static void add_plane_rotation(const struct equation *e, const struct attachment *side, double x, double (*change)[6])
{
    const struct frame_derivative *dA = &side[SIDE_A].change, *dB = &side[SIDE_B].change;
    double u[3], du[3], d[3], dd[3], c[3];
    constraints_translation_direction(e, side, u);
    cross3(side[SIDE_PLANE].change.phi, u, du);
    for (int s = SIDE_A; s <= SIDE_B; s++) {
        const double f = s == SIDE_A ? x : -x;
        cross3(side[s].r, du, c);
        axpy3(f, c, change[s]);
        axpy3(f, du, change[s] + 3);
    }
    for (int i = 0; i < 3; i++) {
        d[i] = side[SIDE_A].frame.p[i] - side[SIDE_B].frame.p[i];
        dd[i] = dA->p[i] - dB->p[i];
    }
    cross3(du, d, c);
    add_cross3(u, dd, c);
    axpy3(x, c, change[SIDE_PLANE]);
}

/* The change of the loads at constant multipliers: forces keep their direction in the world, or in the plane that turns, and move
   with r; moments rotate. Needs phi of the loop frames, and p of those of planes that turn. */
static void change_loads(struct mechanism *m)
{
    const struct constraints *loops = m->constraints;
    for (int i = 0; i < m->robot->n_loops; i++) {
        const struct attachment *side = loops->side[i];
        double(*change)[6] = m->load_change + LOOP_LOADS * i;
        memset(change, 0, LOOP_LOADS * sizeof *change);
        for (int s = SIDE_A; s <= SIDE_B; s++) {
            double dr[3];
            cross3(side[s].change.phi, side[s].r, dr);
            cross3(dr, m->load[LOOP_LOADS * i + s].wrench + 3, change[s]);
        }
        for (int row = loops->first[i]; row < loops->first[i + 1]; row++) {
            const struct equation *e = &loops->equation[row];
            double dc[3];
            if (e->turns) add_plane_rotation(e, side, loops->lambda[row], change);
            if (!e->rotational) continue;
            direction_change(e, side, side[SIDE_A].change.phi, side[SIDE_B].change.phi, dc);
            axpy3(loops->lambda[row], dc, change[SIDE_A]);
            axpy3(-loops->lambda[row], dc, change[SIDE_B]);
        }
    }
}

/* The outward sweep, and the change of all loads at constant multipliers */
static void load_changes(struct mechanism *m, const struct input *in, const struct direction *direction)
{
    dyn_tangent_outward(m->model, m->work, m->tangent, in, direction);
    if (m->robot->n_loops + m->robot->n_actuators == 0) return;
    dyn_tangent_position(m->model, m->work, m->tangent);
    change_frames(m);
    change_loads(m);
    actuators_change_loads(m, in, direction);
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
        change_frames(m);
        for (int k = 0; k < loops->n_active; k++) {
            const int row = loops->active[k];
            loops->rhs[k] = -acceleration_change(&loops->equation[row], loops->side[constraints_loop(loops, row)]);
        }
        constraints_respond(m, dqdd);
        constraints_scatter(loops, loops->rhs, loops->dlambda);
    }
    if (outputs && loops->n_rows > 0) { /* again with the change of the multipliers in the loads */
        load_changes(m, in, direction);
        for (int row = 0; row < loops->n_rows; row++) {
            const int i = constraints_loop(loops, row);
            constraints_add_multiplier(&loops->equation[row], loops->side[i], loops->dlambda[row],
                                       m->load_change + LOOP_LOADS * i);
        }
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
        m->constraints->side[i / LOOP_LOADS][i % LOOP_LOADS].change = frames[i];
}

void mechanism_force_jacobian(struct mechanism *m, const struct input *in, double *by_q, double *by_qd)
{
    const struct model *model = m->model;
    const struct constraints *loops = m->constraints;
    const int actuators = actuator_load(m->robot, 0), end = actuator_load(m->robot, m->robot->n_actuators);
    const int first = loops->turning ? 0 : actuators;
    const size_t n = (size_t)model->nv;
    dyn_force_jacobian_frames(model, m->work, m->tangent, in, actuators, by_q, by_qd, loops->frames[0],
                              loops->frames[1]);
    for (size_t j = 0; j < n && loops->n_rows > 0 && !loops->turning; j++) {
        load_frames(m, loops->frames[0] + (size_t)actuators * j);
        change_loads(m);
        add_load_changes(m, 0, actuators, by_q + n * j);
    }
    /* lines and planes rotate as their ends move: these loads direction by direction */
    memset(loops->direction, 0, n * sizeof(double));
    for (size_t j = 0; j < n && first < end; j++) {
        const struct direction q = {.q = loops->direction};
        loops->direction[j] = 1;
        load_changes(m, in, &q);
        loops->direction[j] = 0;
        add_load_changes(m, first, end, by_q + n * j);
    }
}

/* dqdd of the tree becomes that of the robot with loops:  S dlambda = -(change of the gap's acceleration, G dqdd included) */
static void close_column(struct mechanism *m, double *dqdd)
{
    const struct model *model = m->model;
    struct constraints *loops = m->constraints;
    const size_t n = (size_t)model->nv;
    for (int i = 0; i < m->robot->n_loops; i++)
        for (int s = SIDE_A; s <= SIDE_B; s++) attachment_move_change(&loops->side[i][s]);
    for (int k = 0; k < loops->n_active; k++) {
        const int row = loops->active[k];
        loops->rhs[k] = -acceleration_change(&loops->equation[row], loops->side[constraints_loop(loops, row)]) -
                        dense_dot(model->nv, loops->G + n * (size_t)k, dqdd);
    }
    constraints_respond(m, dqdd);
}

static bool is_tree(const struct mechanism *m)
{
    return m->robot->n_loops + m->robot->n_actuators == 0;
}

void mechanism_jacobian(struct mechanism *m, const struct input *in, double *by_q, double *by_qd)
{
    const struct model *model = m->model;
    const size_t n = (size_t)model->nv, loads = (size_t)actuator_load(m->robot, 0);
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
            load_frames(m, m->constraints->frames[rate] + loads * j);
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
