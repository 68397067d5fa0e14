#include "mech/loop.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"
#include "mech/mechanism.h"

/* ---- equations --------------------------------------------------------------------------------------------------- */

int loop_equations(enum loop_type type)
{
    static const int count[] = {[LOOP_BALL] = 3, [LOOP_PLANAR_PIN] = 2, [LOOP_PIN] = 5, [LOOP_WELD] = 6};
    return count[type];
}

/* Two unit vectors at right angles to a unit vector and to each other */
static void perpendicular(const double *axis, double *b, double *c)
{
    int least = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(axis[i]) < fabs(axis[least])) least = i;
    double e[3] = {0};
    e[least] = 1;
    cross3(axis, e, b);
    const double norm = sqrt(dot3(b, b));
    for (int i = 0; i < 3; i++) b[i] /= norm;
    cross3(axis, b, c);
}

int loop_make(const struct robot *robot, const struct loop *loop, struct equation *e)
{
    const bool turns = robot->site[loop->site + SIDE_PLANE].link >= 0;
    const int count = loop_equations(loop->type);
    if (loop->type == LOOP_PLANAR_PIN) {
        for (int i = 0; i < 2; i++) {
            copy3(loop->plane[i], e[i].u);
            e[i].turns = turns;
        }
        return count;
    }
    for (int i = 0; i < 3; i++) e[i].u[i] = 1;
    if (loop->type == LOOP_PIN) {
        copy3(loop->axis, e[3].a);
        copy3(loop->axis, e[4].a);
        perpendicular(loop->axis, e[3].b, e[4].b);
    } else if (loop->type == LOOP_WELD) { /* the multiplier of y_A'z_B is a moment about x, etc. */
        for (int i = 0; i < 3; i++) e[3 + i].a[(i + 1) % 3] = e[3 + i].b[(i + 2) % 3] = 1;
    }
    for (int i = 3; i < count; i++) e[i].rotational = true;
    return count;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static struct loop_places *places_of(const struct mechanism *m, const struct constraint *c)
{
    return &m->constraints->loop[c->part];
}

static const struct anchor *anchors_of(const struct model *model, int loop)
{
    return model->site + model->robot->loop[loop].site;
}

static void place(struct mechanism *m, const struct constraint *c, bool solved)
{
    const struct anchor *anchor = anchors_of(m->model, c->part);
    const int count = anchor[SIDE_PLANE].link >= 0 ? LOOP_SITES : SIDE_PLANE;
    for (int s = 0; s < count; s++) attachment_place(m->model, m->work, &anchor[s], solved, &places_of(m, c)->side[s]);
}

static enum row_sort sort(const struct constraints *constraints, const struct constraint *c, int k)
{
    return constraints->loop[c->part].equation[k].rotational ? ROW_ANGLE : ROW_DISTANCE;
}

/* a, b of a rotational row in world axes, and c = a x b */
static void rotation_directions(const struct equation *e, const struct attachment *side, double *a, double *b,
                                double *c)
{
    mul3(side[SIDE_A].frame.R, e->a, a);
    mul3(side[SIDE_B].frame.R, e->b, b);
    cross3(a, b, c);
}

/* u of a translational row in world axes */
static void translation_direction(const struct equation *e, const struct attachment *side, double u[3])
{
    if (e->turns) mul3(side[SIDE_PLANE].frame.R, e->u, u);
    else copy3(e->u, u);
}

/* u of a plane that turns, u_dot = omega x u, u_ddot = alpha x u + omega x u_dot */
INLINE void turning_direction(const struct equation *e, const struct attachment *side, double u[3], double ud[3],
                              double udd[3])
{
    const struct frame_motion *plane = &side[SIDE_PLANE].frame;
    translation_direction(e, side, u);
    cross3(plane->omega, u, ud);
    cross3(plane->alpha, u, udd);
    add_cross3(plane->omega, ud, udd);
}

/* Of a translation u'(p_A - p_B) and its rate u'(v_A - v_B) + (omega x u)'(p_A - p_B), omega of the plane                (95) */
static void measure_gap(struct mechanism *m, const struct constraint *constraint, const struct input *in)
{
    const struct attachment *side = places_of(m, constraint)->side;
    const struct frame_motion *A = &side[SIDE_A].frame, *B = &side[SIDE_B].frame;
    NEEDS(m->work, in->qd != NULL ? DYN_VELOCITY : DYN_POSITION);
    for (int k = 0; k < constraint->count; k++) {
        const struct equation *e = &places_of(m, constraint)->equation[k];
        double *gap = &m->constraints->gap[constraint->first + k], *rate = &m->constraints->rate[constraint->first + k];
        double a[3], b[3], c[3], u[3], ud[3];
        if (e->rotational) {
            rotation_directions(e, side, a, b, c);
            *gap = dot3(a, b);
            *rate = difference(c, A->omega, B->omega);
            continue;
        }
        translation_direction(e, side, u);
        *gap = difference(u, A->p, B->p);
        *rate = difference(u, A->v, B->v);
        if (!e->turns) continue;
        cross3(side[SIDE_PLANE].frame.omega, u, ud);
        *rate += difference(ud, A->p, B->p);
    }
}

/* Acceleration of a row: of a rotation c'(alpha_A - alpha_B) + c_dot'(omega_A - omega_B) with
   c_dot = (omega_A x a) x b + a x (omega_B x b);                                                                      (51)
   of a translation u'(a_A - a_B) + 2 u_dot'(v_A - v_B) + u_ddot'(p_A - p_B), u_dot = omega x u,
   u_ddot = alpha x u + omega x u_dot                                                                                  (95) */
static double acceleration(const struct mechanism *m, const struct constraint *constraint, int k, const double *qdd)
{
    const struct equation *e = &places_of(m, constraint)->equation[k];
    const struct attachment *side = places_of(m, constraint)->side;
    const struct frame_motion *A = &side[SIDE_A].frame, *B = &side[SIDE_B].frame;
    (void)qdd;
    NEEDS(m->work, e->turns ? DYN_VELOCITY : DYN_MOTION);
    double u[3], ud[3], udd[3], a[3], b[3], c[3], wa[3], wb[3], cd[3];
    if (e->rotational) {
        rotation_directions(e, side, a, b, c);
        cross3(A->omega, a, wa);
        cross3(B->omega, b, wb);
        cross3(wa, b, cd);
        add_cross3(a, wb, cd);
        return difference(c, A->alpha, B->alpha) + difference(cd, A->omega, B->omega);
    }
    if (!e->turns) return difference(e->u, A->a, B->a);
    turning_direction(e, side, u, ud, udd);
    return difference(u, A->a, B->a) + 2 * difference(ud, A->v, B->v) + difference(udd, A->p, B->p);
}

/* ---- multipliers -------------------------------------------------------------------------------------------------- */

/* Adds to loads (LOOP_SITES) the wrenches of a multiplier x on the links of A, B and the plane: x times
   (r x u; u) and (-r x u; -u), or (c; 0) and (-c; 0); on the plane (u x (p_A - p_B); 0)                              (96) */
static void add_multiplier(const struct mechanism *m, const struct constraint *constraint, int k, double x,
                           double (*on)[6], double *force)
{
    const struct equation *e = &places_of(m, constraint)->equation[k];
    const struct attachment *side = places_of(m, constraint)->side;
    double a[3], b[3], c[3], u[3];
    (void)force;
    if (e->rotational) {
        rotation_directions(e, side, a, b, c);
        axpy3(x, c, on[SIDE_A]);
        axpy3(-x, c, on[SIDE_B]);
        return;
    }
    translation_direction(e, side, u);
    for (int s = SIDE_A; s <= SIDE_B; s++) {
        const double f = s == SIDE_A ? x : -x;
        cross3(side[s].r, u, c);
        axpy3(f, c, on[s]);
        axpy3(f, u, on[s] + 3);
    }
    if (!e->turns) return;
    for (int i = 0; i < 3; i++) a[i] = side[SIDE_A].frame.p[i] - side[SIDE_B].frame.p[i];
    cross3(u, a, c);
    axpy3(x, c, on[SIDE_PLANE]);
}

/* ---- changes ------------------------------------------------------------------------------------------------------ */

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

/* (95) differentiated */
static double translation_acceleration_change(const struct equation *e, const struct attachment *side)
{
    const struct frame_motion *A = &side[SIDE_A].frame, *B = &side[SIDE_B].frame, *plane = &side[SIDE_PLANE].frame;
    const struct frame_derivative *dA = &side[SIDE_A].change, *dB = &side[SIDE_B].change,
                                  *dplane = &side[SIDE_PLANE].change;
    if (!e->turns) return difference(e->u, dA->a, dB->a);
    double u[3], ud[3], udd[3], du[3], dud[3], dudd[3];
    turning_direction(e, side, u, ud, udd);
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
static double acceleration_change(const struct mechanism *m, const struct constraint *constraint, int k,
                                  const double *dqdd)
{
    const struct equation *e = &places_of(m, constraint)->equation[k];
    const struct attachment *side = places_of(m, constraint)->side;
    (void)dqdd;
    const struct frame_motion *A = &side[0].frame, *B = &side[1].frame;
    const struct frame_derivative *dA = &side[0].change, *dB = &side[1].change;
    if (!e->rotational) return translation_acceleration_change(e, side);
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

/* What add_multiplier() adds changes with the loop frames: u rotates with a plane that turns, r and c with the frames */
static void add_multiplier_change(const struct equation *e, const struct attachment *side, double x,
                                  double (*change)[6])
{
    const struct frame_derivative *dA = &side[SIDE_A].change, *dB = &side[SIDE_B].change;
    double u[3], du[3] = {0}, dr[3], c[3], d[3], dd[3];
    if (e->rotational) {
        direction_change(e, side, dA->phi, dB->phi, c);
        axpy3(x, c, change[SIDE_A]);
        axpy3(-x, c, change[SIDE_B]);
        return;
    }
    translation_direction(e, side, u);
    if (e->turns) cross3(side[SIDE_PLANE].change.phi, u, du);
    for (int s = SIDE_A; s <= SIDE_B; s++) {
        const double f = s == SIDE_A ? x : -x;
        cross3(side[s].change.phi, side[s].r, dr);
        cross3(dr, u, c);
        add_cross3(side[s].r, du, c);
        axpy3(f, c, change[s]);
        axpy3(f, du, change[s] + 3);
    }
    if (!e->turns) return;
    for (int i = 0; i < 3; i++) {
        d[i] = side[SIDE_A].frame.p[i] - side[SIDE_B].frame.p[i];
        dd[i] = dA->p[i] - dB->p[i];
    }
    cross3(du, d, c);
    add_cross3(u, dd, c);
    axpy3(x, c, change[SIDE_PLANE]);
}

static void change(struct mechanism *m, const struct constraint *c)
{
    double(*wrenches)[6] = m->load_change + c->load;
    for (int s = 0; s < LOOP_SITES; s++)
        attachment_change(m->work, m->tangent, &anchors_of(m->model, c->part)[s], &places_of(m, c)->side[s]);
    memset(wrenches, 0, LOOP_SITES * sizeof *wrenches);
    for (int k = 0; k < c->count; k++)
        add_multiplier_change(&places_of(m, c)->equation[k], places_of(m, c)->side,
                              m->constraints->lambda[c->first + k], wrenches);
}

/* ---- the joints of a loop ------------------------------------------------------------------------------------------ */

/* Whether the joint is between the two sides; the link bends between them if it is too, or if both sides are attached to it */
static bool moved_by(const struct model *model, int part, int link, bool *bends)
{
    int a = anchors_of(model, part)[SIDE_A].link, b = anchors_of(model, part)[SIDE_B].link;
    bool between = false;
    while (a != b) { /* parents come before their children */
        int *outer = a > b ? &a : &b;
        if (*outer == link) between = true;
        *outer = model->link[*outer].parent;
    }
    *bends = between || a == link;
    return between;
}

/* The axes of a pin, the frames of a weld */
static double misalignment(const struct mechanism *m, const struct constraint *constraint)
{
    const struct loop *loop = &m->robot->loop[constraint->part];
    const struct attachment *side = places_of(m, constraint)->side;
    const double *A = side[SIDE_A].frame.R, *B = side[SIDE_B].frame.R;
    if (loop->type == LOOP_PIN) {
        double a[3], b[3], c[3];
        mul3(A, loop->axis, a);
        mul3(B, loop->axis, b);
        cross3(a, b, c);
        return atan2(sqrt(dot3(c, c)), dot3(a, b));
    }
    if (loop->type != LOOP_WELD) return 0;
    double distance = 0; /* |A - B| = 2 sqrt(2) sin(angle/2) */
    for (int i = 0; i < 9; i++) distance += (A[i] - B[i]) * (A[i] - B[i]);
    return 2 * asin(fmin(1, sqrt(distance / 8)));
}

const struct constraint_kind loop_constraint = {.part = "loops",
                                                .n_loads = LOOP_SITES,
                                                .sort = sort,
                                                .place = place,
                                                .measure_gap = measure_gap,
                                                .add_multiplier = add_multiplier,
                                                .acceleration = acceleration,
                                                .acceleration_change = acceleration_change,
                                                .change = change,
                                                .moved_by = moved_by,
                                                .misalignment = misalignment};
