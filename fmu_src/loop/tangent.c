/* Derivatives of closed robots: with the multipliers held the tangent of the tree, then the change of the multipliers that keeps
   the loops closed. (theory.md 56, 57) */
#include <string.h>

#include "loop/internal.h"
#include "math/vec.h"

/* dr = phi x r,  dp + dr,  dv + domega x r + omega x dr,  ... */
void join_change(const struct side *side, struct frame_derivative *d)
{
    const struct frame_motion *f = &side->frame;
    const double *r = side->r;
    double dr[3], wr[3], dwr[3];
    cross3(d->phi, r, dr);
    cross3(f->omega, r, wr);
    cross3(d->omega, r, dwr);
    add_cross3(f->omega, dr, dwr);
    axpy3(1, dr, d->p);
    axpy3(1, dwr, d->v);
    add_cross3(d->alpha, r, d->a);
    add_cross3(f->alpha, dr, d->a);
    add_cross3(d->omega, wr, d->a);
    add_cross3(f->omega, dwr, d->a);
}

/* c = a x b of a turning equation, and its change when the joined frames turn */
static void direction_change(const struct equation *e, const struct side *side, const double *phi_A,
                             const double *phi_B, double *dc)
{
    double a[3], b[3], c[3], da[3], db[3];
    turning_directions(e, side, a, b, c);
    cross3(phi_A, a, da);
    cross3(phi_B, b, db);
    cross3(da, b, dc);
    add_cross3(a, db, dc);
}

/* acceleration() differentiated                                                                                      (57) */
static double acceleration_change(const struct equation *e, const struct side *side)
{
    const struct frame_motion *A = &side[0].frame, *B = &side[1].frame;
    const struct frame_derivative *dA = &side[0].change, *dB = &side[1].change;
    if (!e->turning) return difference(e->u, dA->a, dB->a);
    double a[3], b[3], c[3], da[3], db[3], dc[3], p[3], q[3], dp[3], dq[3], cd[3], dcd[3];
    turning_directions(e, side, a, b, c);
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

/* The turns of the joined frames, after dyn_tangent_outward() */
static void take_turns(const struct model *model, const struct tangent *tangent, struct loops *loops)
{
    for (int i = 0; i < 2 * loops->robot->n_loops; i++)
        copy3(dyn_tangent_turn(model, tangent, loops->load[i].link, POINT_TIP), loops->side[i / 2][i % 2].change.phi);
}

/* How the loads change while their multipliers are held: forces keep their world direction and move with r, moments turn */
static void change_loads(struct loops *loops)
{
    for (int i = 0; i < loops->robot->n_loops; i++) {
        const struct side *side = loops->side[i];
        double(*change)[6] = loops->load_change + 2 * i;
        for (int s = 0; s < 2; s++) {
            double dr[3];
            memset(change[s], 0, sizeof change[s]);
            cross3(side[s].change.phi, side[s].r, dr);
            cross3(dr, loops->load[2 * i + s].wrench + 3, change[s]);
        }
        for (int row = loops->first[i]; row < loops->first[i + 1]; row++) {
            double dc[3];
            if (!loops->equation[row].turning) continue;
            direction_change(&loops->equation[row], side, side[0].change.phi, side[1].change.phi, dc);
            axpy3(loops->lambda[row], dc, change[0]);
            axpy3(-loops->lambda[row], dc, change[1]);
        }
    }
}

/* dqdd with the multipliers held, and how the acceleration of the gap then changes; dlambda undoes it */
static void open_tangent(const struct model *model, struct work *work, struct tangent *tangent, struct loops *loops,
                         const struct input *in, const struct direction *direction, double *dqdd)
{
    dyn_tangent_outward(model, work, tangent, in, direction);
    take_turns(model, tangent, loops);
    change_loads(loops);
    change_actuator_loads(model, work, tangent, loops, in, direction);
    dyn_tangent_inward(model, work, tangent, in, (const double(*)[6])loops->load_change, dqdd);
    if (loops->n_rows == 0) return;
    dyn_tangent_motion(model, work, tangent, dqdd);
    for (int i = 0; i < loops->robot->n_loops; i++)
        for (int s = 0; s < 2; s++) {
            struct side *side = &loops->side[i][s];
            dyn_tangent_tip(model, work, tangent, loops->load[2 * i + s].link, &side->change);
            join_change(side, &side->change);
        }
    for (int k = 0; k < loops->n_kept; k++) {
        const int row = loops->kept[k];
        loops->rhs[k] = -acceleration_change(&loops->equation[row], loops->side[loop_of(loops, row)]);
    }
}

/* At the joined frames of join_all() */
static void closed_tangent(const struct model *model, struct work *work, struct tangent *tangent, struct loops *loops,
                           const struct input *in, const struct direction *direction, bool outputs, double *dqdd)
{
    open_tangent(model, work, tangent, loops, in, direction, dqdd);
    if (loops->n_rows == 0) {
        if (outputs) dyn_tangent_motion(model, work, tangent, dqdd);
        return;
    }
    add_response(model->n, loops, dqdd);
    memset(loops->dlambda, 0, (size_t)loops->n_rows * sizeof(double));
    for (int k = 0; k < loops->n_kept; k++) loops->dlambda[loops->kept[k]] = loops->rhs[k];
    if (!outputs) return;

    /* once more with the change of the multipliers among the loads, for what follows from it */
    dyn_tangent_outward(model, work, tangent, in, direction);
    take_turns(model, tangent, loops);
    change_loads(loops);
    change_actuator_loads(model, work, tangent, loops, in, direction);
    for (int row = 0; row < loops->n_rows; row++) {
        const int i = loop_of(loops, row);
        add_multiplier(&loops->equation[row], loops->side[i], loops->dlambda[row], loops->load_change[2 * i],
                       loops->load_change[2 * i + 1]);
    }
    dyn_tangent_inward(model, work, tangent, in, (const double(*)[6])loops->load_change, dqdd);
    dyn_tangent_motion(model, work, tangent, dqdd);
}

void loops_tangent(const struct model *model, struct work *work, struct tangent *tangent, struct loops *loops,
                   const struct input *in, const struct direction *direction, bool outputs, double *dqdd)
{
    join_all(model, work, loops, false); /* loops_forward() left those of the open tree */
    closed_tangent(model, work, tangent, loops, in, direction, outputs, dqdd);
}

/* ---- all directions ------------------------------------------------------------------------------------------------------------ */

static void add_load_changes(const struct model *model, const struct work *work, const struct loops *loops, int from,
                             int to, double *column)
{
    for (int i = from; i < to; i++) {
        struct load change = loops->load[i];
        copy6(loops->load_change[i], change.wrench);
        dyn_frame_force(model, work, &change, column);
    }
}

/* Lines turn as their ends move: direction by direction */
static void add_actuator_changes(const struct model *model, const struct work *work, struct tangent *tangent,
                                 struct loops *loops, const struct input *in, double *by_q)
{
    const int first = 2 * loops->robot->n_loops, count = 2 * loops->robot->n_actuators;
    memset(loops->direction, 0, (size_t)model->n * sizeof(double));
    for (int j = 0; j < model->n && count > 0; j++) {
        const struct direction q = {.q = loops->direction};
        loops->direction[j] = 1;
        dyn_tangent_outward(model, work, tangent, in, &q);
        change_actuator_loads(model, work, tangent, loops, in, &q);
        loops->direction[j] = 0;
        add_load_changes(model, work, loops, first, first + count, by_q + (size_t)model->n * (size_t)j);
    }
}

/* Tip frames of the loops in a direction, as dyn_force_jacobian_tips() made them */
static void take_tips(struct loops *loops, const struct frame_derivative *tips)
{
    for (int i = 0; i < 2 * loops->robot->n_loops; i++) loops->side[i / 2][i % 2].change = tips[i];
}

void loops_force_jacobian(const struct model *model, const struct work *work, struct tangent *tangent,
                          struct loops *loops, const struct input *in, double *by_q, double *by_qd)
{
    const size_t n = (size_t)model->n, loads = (size_t)in->n_loads;
    dyn_force_jacobian_tips(model, work, tangent, in, by_q, by_qd, loops->tips[0], loops->tips[1]);
    for (size_t j = 0; j < n && loops->n_rows > 0; j++) {
        take_tips(loops, loops->tips[0] + loads * j);
        change_loads(loops);
        add_load_changes(model, work, loops, 0, 2 * loops->robot->n_loops, by_q + n * j);
    }
    add_actuator_changes(model, work, tangent, loops, in, by_q);
}

/* dqdd of the tree becomes that of the closed robot:  S dlambda = -(change of the gap's acceleration, G dqdd included) */
static void close_column(const struct model *model, struct loops *loops, double *dqdd)
{
    const size_t n = (size_t)model->n;
    for (int i = 0; i < 2 * loops->robot->n_loops; i++) {
        struct side *side = &loops->side[i / 2][i % 2];
        join_change(side, &side->change);
    }
    for (int k = 0; k < loops->n_kept; k++) {
        const int row = loops->kept[k];
        loops->rhs[k] = -acceleration_change(&loops->equation[row], loops->side[loop_of(loops, row)]) -
                        dot(model->n, loops->G + n * (size_t)k, dqdd);
    }
    add_response(model->n, loops, dqdd);
}

void loops_jacobian(const struct model *model, struct work *work, struct tangent *tangent, struct loops *loops,
                    const struct input *in, double *by_q, double *by_qd)
{
    const size_t n = (size_t)model->n, loads = (size_t)in->n_loads;
    double *const by[2] = {by_q, by_qd};
    join_all(model, work, loops, false); /* loops_forward() left those of the open tree */
    loops_force_jacobian(model, work, tangent, loops, in, by_q, by_qd);
    for (int rate = 0; rate < 2; rate++) {
        dyn_solve_columns(model, work, tangent, model->n, by[rate]);
        for (size_t j = 0; j < n && loops->n_rows > 0; j++) {
            take_tips(loops, loops->tips[rate] + loads * j);
            close_column(model, loops, by[rate] + n * j);
        }
    }
}

enum status loops_forward_jacobian(const struct model *model, struct work *work, struct tangent *tangent,
                                   struct loops *loops, const struct input *in, double *qdd, double *by_q,
                                   double *by_qd)
{
    const enum status status = loops_forward(model, work, tangent, loops, in, qdd);
    if (status != STATUS_OK) return status;
    const struct input loaded = loops_input(loops, in);
    dyn_inverse(model, work, &loaded, qdd, tangent->force);
    dyn_velocity(model, work, &loaded);
    dyn_tangent_state(model, work, tangent, &loaded, qdd);
    loops_jacobian(model, work, tangent, loops, &loaded, by_q, by_qd);
    return STATUS_OK;
}
