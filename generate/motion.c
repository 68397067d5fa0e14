/* Outward pass: motion of every frame for given accelerations, and the inertia forces that go with it (theory.md 25 to 28). */
#include <math.h>
#include <string.h>

#include "generate/elements.h"

expr motion_given_acceleration(const struct robot_parts *parts, const struct link_model *lm, int k, const expr *qdd)
{
    if (qdd != NULL) return qdd[lm->v + k];
    return lm->prescribed >= 0 ? parts->prescribed[lm->prescribed + k] : ZERO;
}

/* alpha += omega x h qd + h qdd of a column that turns,  a += 2 omega x h qd + h qdd of one that slides, with omega of the frame
   that the column's rate counts from                                                                           (25, 26, 62 to 64) */
static void follow_path(struct robot_parts *parts, const struct link_part *part, const expr *qdd, expr omega[3],
                        expr acc[6])
{
    struct graph *g = parts->g;
    expr before[3];
    for (int i = 0; i < part->path.n; i++) {
        const struct element *e = &part->path.element[i];
        if (e->move == SLIDE) {
            expr B[9];
            spatial_point_accelerations(g, omega, acc, B);
            for (int k = 0; k < 3; k++) acc[3 + k] = expr_add_product(g, acc[3 + k], e->amount, B[3 * k + e->axis]);
        } else if (e->move == COLUMN) {
            const expr qd = parts->qd[part->lm->v + e->k],
                       given = motion_given_acceleration(parts, part->lm, e->k, qdd);
            expr rate[3] = {ZERO, ZERO, ZERO};
            if (!e->joined) memcpy(before, omega, sizeof before);
            rate[e->axis] = e->part == TURNS ? qd : expr_scale(g, 2, qd);
            add_cross(g, before, rate, acc + e->part);
            acc[e->part + e->axis] = expr_add(g, acc[e->part + e->axis], given);
            if (e->part == TURNS) omega[e->axis] = expr_add(g, omega[e->axis], qd);
        } else {
            path_element_forth(g, e, omega);
            path_element_motion_forth(g, e, acc);
        }
    }
}

/* Terms in eta_ddot: b += M_rf eta_ddot,  b_eta += M_ff eta_ddot,  acc_T += J eta_ddot */
static void add_modal_accelerations(struct graph *g, struct link_part *part, const expr *etadd)
{
    for (int k = 0; k < part->m; k++) {
        add_scaled(g, 6, etadd[k], part->F[k], part->frame->b);
        for (int l = 0; l < part->m; l++)
            part->b_eta[k] = expr_add_product(g, part->b_eta[k], part->D[part->m * k + l], etadd[l]);
        for (int s = 0; s < part->n_sections; s++)
            add_scaled(g, 6, etadd[k], part->section[s].J[k], part->frame[1 + s].acc);
    }
}

void parts_motion(struct robot_parts *parts, const expr *qdd)
{
    struct graph *g = parts->g;
    for (int i = 0; i < parts->n; i++) {
        struct link_part *part = &parts->part[i];
        struct frame_part *frame = part->frame;
        memset(frame, 0, sizeof *frame);
        if (part->parent >= 0) *frame = parts->part[part->parent].frame[1 + part->mount];
        else
            for (int k = 0; k < 3; k++) frame->acc[3 + k] = negative(parts->gravity[k]);
        follow_path(parts, part, qdd, frame->omega, frame->acc);
        if (part->m == 0) {
            spatial_solid_wrench(g, &part->solid, frame->omega, frame->acc, frame->b);
            continue;
        }
        flexible_motion(parts, part);
        if (qdd != NULL) add_modal_accelerations(g, part, qdd + part->lm->eta_v);
        for (int s = 0; s < part->n_sections; s++) {
            struct solid solid = part->section[s].solid; /* in axes of F */
            struct path path = {0};
            path_deflection(g, part->section[s].theta, &path);
            path_solid_back(g, &path, &solid);
            frame = &part->frame[1 + s];
            spatial_solid_wrench(g, &solid, frame->omega, frame->acc, frame->b);
            frame->P = spatial_of(&solid);
        }
    }
}

/* ---- forces ------------------------------------------------------------------------------------------------------ */

/* A stop at a limit: side is 1 for the upper and -1 for the lower one. p = max(0, side (q - limit)), x = min(p/depth, 1),
   force = -side max(0, k p + side d x^2 (3 - 2 x) qd)                                                                 (58) */
static expr stop_force(struct graph *g, const struct limits *limits, int side, expr q, expr qd)
{
    const double limit = side > 0 ? limits->upper : limits->lower;
    if (!isfinite(limit)) return ZERO;
    const expr p = expr_function(g, RAMP, expr_scale(g, side, expr_sub(g, q, expr_number(g, limit))));
    const expr x = expr_sub(g, ONE, expr_function(g, RAMP, expr_sub(g, ONE, expr_scale(g, 1 / limits->depth, p))));
    const expr fade = expr_mul(g, expr_mul(g, x, x), expr_sub(g, expr_number(g, 3), expr_scale(g, 2, x)));
    const expr push =
        expr_add(g, expr_scale(g, limits->stiffness, p), expr_mul(g, expr_scale(g, side * limits->damping, fade), qd));
    return expr_scale(g, -side, expr_function(g, RAMP, push));
}

/* -viscous qd - stiffness (q - rest) - coulomb tanh(qd/v) + stops                                                    (71) */
static expr own_force(const struct robot_parts *parts, const struct link_part *part, int k)
{
    const struct joint_model *joint = &part->lm->joint;
    const expr qd = parts->qd[part->lm->v + k];
    struct graph *g = parts->g;
    if (!joint->coordinates) { /* a quaternion: -viscous omega - stiffness theta, the same in all directions */
        const expr *q = parts->q + part->lm->q + joint->nq - 4, square = dot(g, q + 1, q + 1);
        const expr force = expr_scale(g, -joint->number[0].viscous, qd);
        if (!joint->turned_spring) return force;
        const expr theta = expr_mul(g, expr_angle(g, ANGLE, q[0], square), q[1 + k]);
        return expr_sub(g, force, expr_scale(g, joint->number[0].stiffness, theta));
    }
    const struct joint_numbers *number_of = &joint->number[k];
    const expr q = parts->q[part->lm->q + k], viscous = expr_scale(g, -number_of->viscous, qd);
    const expr stretch = expr_sub(g, q, expr_number(g, number_of->rest));
    expr force = expr_sub(g, viscous, expr_scale(g, number_of->stiffness, stretch));
    if (number_of->coulomb != 0) {
        const expr s = expr_function(g, TANH, expr_scale(g, 1 / number_of->coulomb_velocity, qd));
        force = expr_sub(g, force, expr_scale(g, number_of->coulomb, s));
    }
    for (int side = -1; number_of->has_limits && side <= 1; side += 2)
        force = expr_add(g, force, stop_force(g, &number_of->limits, side, q, qd));
    return force;
}

expr motion_joint_force(const struct robot_parts *parts, const struct link_part *part, int k)
{
    return expr_add(parts->g, own_force(parts, part, k), elements_joint_force(parts, part->link, k));
}

expr motion_elastic_force(const struct robot_parts *parts, const struct link_part *part, int k)
{
    const struct body *body = part->lm->body;
    const int m = part->m;
    expr force = ZERO;
    for (int l = 0; l < m; l++) {
        const double K = entry_is_zero(body->K, m, k, l) ? 0 : body->K[m * k + l];
        force = expr_sub(parts->g, force, expr_scale(parts->g, K, part->eta[l]));
        if (body->damped) force = expr_sub(parts->g, force, expr_scale(parts->g, body->D[m * k + l], part->etad[l]));
    }
    return force;
}
