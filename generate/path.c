#include "generate/path.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"

static const double PI = 3.14159265358979323846;
enum { X_AXIS, Y_AXIS, Z_AXIS };

/* ---- rotations by numbers ---------------------------------------------------------------------------------------- */

/* 0, 1 or -1 in place of a number that differs only by rounding errors */
static double snapped(double x)
{
    const double nearest = round(x);
    return fabs(x - nearest) < 4e-15 && fabs(nearest) <= 1 ? nearest : x;
}

static void transposed_product(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += A[3 * k + i] * B[3 * k + j];
            C[3 * i + j] = snapped(sum);
        }
}

void path_align_z(const double axis[3], double A[9])
{
    int k = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(axis[i]) > fabs(axis[k])) k = i;
    double x[3] = {0}, y[3], z[3];
    for (int i = 0; i < 3; i++) z[i] = snapped(axis[i]);
    x[(k + 1) % 3] = 1; /* x = the next axis, made perpendicular to z */
    const double along = dot3(x, z);
    for (int i = 0; i < 3; i++) x[i] -= along * z[i];
    const double norm = sqrt(dot3(x, x));
    for (int i = 0; i < 3; i++) x[i] = snapped(x[i] / norm);
    cross3(z, x, y);
    for (int i = 0; i < 3; i++) {
        A[3 * i] = x[i];
        A[3 * i + 1] = snapped(y[i]);
        A[3 * i + 2] = z[i];
    }
}

/* ---- building ---------------------------------------------------------------------------------------------------- */

static struct pending pending_angle(expr angle, double offset)
{
    return (struct pending){.by_angle = true, .angle = angle, .offset = offset};
}

/* Cosine and sine; quarter turns are exact */
static struct turn turn_of(struct graph *g, int axis, const struct pending *by)
{
    struct turn turn = {axis, by->c, by->s};
    if (!by->by_angle) return turn;
    const double quarters = round(by->offset / (PI / 2)), left = by->offset - quarters * (PI / 2);
    const expr angle = expr_add(g, by->angle, expr_number(g, fabs(left) < 1e-14 ? 0 : left));
    turn.c = expr_function(g, COS, angle);
    turn.s = expr_function(g, SIN, angle);
    for (int k = ((int)quarters % 4 + 4) % 4; k > 0; k--) {
        const expr c = turn.c;
        turn.c = negative(turn.s);
        turn.s = c;
    }
    return turn;
}

/* Both turns about the same axis */
static struct pending joined_turns(struct graph *g, int axis, const struct pending *a, const struct pending *b)
{
    if (a->by_angle && b->by_angle) return pending_angle(expr_add(g, a->angle, b->angle), a->offset + b->offset);
    const struct turn x = turn_of(g, axis, a), y = turn_of(g, axis, b);
    struct pending both = {.by_angle = false};
    both.c = expr_sub_product(g, expr_mul(g, x.c, y.c), x.s, y.s);
    both.s = expr_add_product(g, expr_mul(g, x.s, y.c), x.c, y.s);
    return both;
}

static struct element *append_element(struct path *path, enum element_kind kind, int axis)
{
    struct element *e = &path->element[path->n++];
    memset(e, 0, sizeof *e);
    e->move = kind;
    e->axis = axis;
    return e;
}

/* Appends a turn, or joins it with the turns about the same axis before it */
static void append_turn(struct graph *g, int axis, const struct pending *by, struct path *path)
{
    int last = path->n - 1; /* turns about an axis and slides along it commute */
    while (last >= 0 && path->element[last].move == SLIDE && path->element[last].axis == axis) last--;
    const bool join = last >= 0 && path->element[last].move == TURN && path->element[last].turn.axis == axis;
    const struct pending all = join ? joined_turns(g, axis, &path->element[last].by, by) : *by;
    const struct turn turn = turn_of(g, axis, &all);
    if (turn.s != ZERO || turn.c != ONE) {
        struct element *e = join ? &path->element[last] : append_element(path, TURN, axis);
        e->turn = turn;
        e->by = all;
    } else if (join) { /* the turns cancel */
        struct element *e = &path->element[last];
        path->n--;
        memmove(e, e + 1, (size_t)(path->n - last) * sizeof *e);
    }
}

void path_slide(int axis, expr amount, struct path *path)
{
    if (amount != ZERO) append_element(path, SLIDE, axis)->amount = amount;
}

void path_slides(struct graph *g, const double p[3], struct path *path)
{
    for (int i = 0; i < 3; i++) path_slide(i, expr_number(g, fabs(p[i]) < 1e-15 ? 0 : p[i]), path);
}

/* M = Rx(a) Ry(b) Rz(c) with |b| < 90 degrees, or at b = 90 degrees with c = 0 */
static struct pending turns_but_z(struct graph *g, const double M[9], struct path *path)
{
    const double sine = fmax(-1, fmin(1, M[2]));
    const bool pole = fabs(sine) > 1 - 1e-12;
    const struct pending a = pending_angle(ZERO, pole ? atan2(M[7], M[4]) : atan2(-M[5], M[8])),
                         b = pending_angle(ZERO, asin(sine));
    append_turn(g, X_AXIS, &a, path);
    append_turn(g, Y_AXIS, &b, path);
    return pending_angle(ZERO, pole ? 0 : atan2(-M[1], M[0]));
}

/* R = Q left: right angles first, which cost nothing. Q is the nearest such rotation, with the largest tr(Q' R) */
static void turn_right_angles(struct graph *g, const double R[9], struct path *path, double Q[9], double left[9])
{
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    double best = -4;
    for (int o = 0; o < 6; o++)
        for (int signs = 0; signs < 4; signs++) {
            double sign[3] = {signs & 1 ? -1 : 1, signs & 2 ? -1 : 1, 1}, trace = 0;
            sign[2] = sign[0] * sign[1] * (o < 3 ? 1 : -1);
            for (int i = 0; i < 3; i++) trace += sign[i] * R[3 * i + order[o][i]];
            if (trace <= best + 1e-9) continue;
            best = trace;
            memset(Q, 0, 9 * sizeof *Q);
            for (int i = 0; i < 3; i++) Q[3 * i + order[o][i]] = sign[i];
        }
    const struct pending z = turns_but_z(g, Q, path);
    append_turn(g, Z_AXIS, &z, path);
    transposed_product(Q, R, left);
}

struct pending path_rotation_but_z(struct graph *g, const double R[9], struct path *path)
{
    double Q[9], left[9];
    turn_right_angles(g, R, path, Q, left);
    return turns_but_z(g, left, path);
}

void path_rotation(struct graph *g, const double R[9], struct path *path)
{
    const struct pending z = path_rotation_but_z(g, R, path);
    append_turn(g, Z_AXIS, &z, path);
}

/* R = 1 + a [v]x + s [v]x^2 */
static void set_rotation(struct graph *g, expr a, expr s, const expr v[3], expr R[9])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const expr p = expr_mul(g, a, v[k]), sj = expr_mul(g, s, v[j]), ij = expr_mul(g, expr_mul(g, s, v[i]), v[j]);
        R[4 * i] = expr_sub(g, ONE, expr_add_product(g, expr_mul(g, sj, v[j]), expr_mul(g, s, v[k]), v[k]));
        R[3 * i + j] = expr_sub(g, ij, p);
        R[3 * j + i] = expr_add(g, ij, p);
    }
}

/* Exp(theta) = 1 + S_1 [theta]x + S_2 [theta]x^2 */
static void exponential(struct graph *g, const expr t[3], expr E[9])
{
    const expr y = dot(g, t, t), S2 = expr_sub_product(g, expr_number(g, 0.5), y, expr_stumpff(g, 4, y)),
               S3 = expr_sub_product(g, expr_number(g, 1.0 / 6), y, expr_stumpff(g, 5, y));
    set_rotation(g, expr_sub_product(g, ONE, y, S3), S2, t, E);
}

/* E M = Rx(a) Ry(b) Rz(c):  sin b = m_xz,  cos b (cos a, sin a) = (m_zz, -m_yz),  cos b (cos c, sin c) = (m_xx, -m_xy) */
static struct pending dense_but_z(struct graph *g, const expr theta[3], const double left[9], struct path *path)
{
    expr E[9], M[9];
    exponential(g, theta, E);
    for (int i = 0; i < 3; i++) {
        const struct vector row = transposed_numbers_times(g, left, E + 3 * i);
        memcpy(M + 3 * i, row.e, sizeof row.e);
    }
    const expr cosine = expr_function(g, SQRT, expr_sub_product(g, ONE, M[2], M[2])),
               inverse = expr_div(g, ONE, cosine);
    const struct pending a = {.c = expr_mul(g, M[8], inverse), .s = negative(expr_mul(g, M[5], inverse))},
                         b = {.c = cosine, .s = M[2]},
                         c = {.c = expr_mul(g, M[0], inverse), .s = negative(expr_mul(g, M[1], inverse))};
    append_turn(g, X_AXIS, &a, path);
    append_turn(g, Y_AXIS, &b, path);
    return c;
}

struct pending path_deflection_but_z(struct graph *g, const expr theta[3], const double R[9], struct path *path)
{
    double Q[9], left[9];
    int axis = -1;
    turn_right_angles(g, R, path, Q, left);
    const struct vector t = transposed_numbers_times(g, Q, theta);
    if (nonzero_count(t.e, &axis) > 1) return dense_but_z(g, t.e, left, path);
    const struct pending by = pending_angle(axis >= 0 ? t.e[axis] : ZERO, 0);
    if (axis == Z_AXIS && left[8] == 1) { /* all turns are about z */
        const struct pending z = turns_but_z(g, left, path);
        return joined_turns(g, Z_AXIS, &by, &z);
    }
    if (axis >= 0) append_turn(g, axis, &by, path);
    return turns_but_z(g, left, path);
}

void path_deflection(struct graph *g, const expr theta[3], struct path *path)
{
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const struct pending z = path_deflection_but_z(g, theta, I, path);
    append_turn(g, Z_AXIS, &z, path);
}

/* ---- joints ------------------------------------------------------------------------------------------------------ */

bool path_joint_axis(const struct joint_model *joint, bool last, double axis[3])
{
    copy3(last && joint->several_turns ? joint->axis2 : joint->axis, axis);
    return joint->nv == 1 || joint->nv == 2;
}

static void append_column(int axis, int part, int k, bool is_joined, struct path *path)
{
    struct element *e = append_element(path, COLUMN, axis);
    e->part = part;
    e->k = k;
    e->joined = is_joined;
}

/* Joints with a quaternion, R(q) = 1 + 2 (w [v]x + [v]x [v]x)/|q|^2: the last three columns are the axes of O */
static void quaternion_joint(struct graph *g, const struct joint_model *joint, const expr *at, struct path *path)
{
    const int slides = joint->nv - 3;
    const expr *q = at + slides, *v = q + 1;
    for (int k = 0; k < slides; k++) path_slide(k, at[k], path);
    for (int k = 0; k < slides; k++) append_column(k, SLIDES, k, false, path);
    struct element *e = append_element(path, MATRIX, 0);
    const expr s = expr_div(g, expr_number(g, 2), expr_add_product(g, dot(g, v, v), q[0], q[0]));
    set_rotation(g, expr_mul(g, s, q[0]), s, v, e->R);
    for (int k = 0; k < 3; k++) append_column(k, TURNS, slides + k, k > 0, path);
}

/* A turn about z: the pending one and q together */
static void turn_with(struct graph *g, const struct pending *before, expr q, int k, struct path *path)
{
    const struct pending by = pending_angle(q, 0), all = joined_turns(g, Z_AXIS, before, &by);
    append_column(Z_AXIS, TURNS, k, false, path);
    append_turn(g, Z_AXIS, &all, path);
}

void path_joint(struct graph *g, const struct joint_model *joint, const expr *q, struct pending before, expr offset,
                const double to[9], struct path *path)
{
    const bool has_axes = joint->nv == 1 || joint->nv == 2;
    if (has_axes && joint->part[0] == TURNS) turn_with(g, &before, q[0], 0, path);
    else append_turn(g, Z_AXIS, &before, path);
    if (joint->nv > 2) quaternion_joint(g, joint, q, path);

    if (joint->nv == 2 && joint->part[1] == TURNS) { /* universal: to its second axis, then about it */
        double A[9], A2[9], between[9];
        path_align_z(joint->axis, A);
        path_align_z(joint->axis2, A2);
        transposed_product(A, A2, between);
        const struct pending z = path_rotation_but_z(g, between, path);
        turn_with(g, &z, q[1], 1, path);
    }
    const int slide = has_axes && joint->part[joint->nv - 1] == SLIDES ? joint->nv - 1 : -1;
    path_slide(Z_AXIS, slide < 0 ? offset : expr_add(g, offset, q[slide]), path);
    if (slide >= 0) append_column(Z_AXIS, SLIDES, slide, false, path);
    path_rotation(g, to, path);
}

/* ---- one element ------------------------------------------------------------------------------------------------- */

static struct vector slide_of(const struct element *e)
{
    struct vector r = {{ZERO, ZERO, ZERO}};
    r.e[e->axis] = e->amount;
    return r;
}

void path_element_back(struct graph *g, const struct element *e, expr x[3])
{
    if (e->move != TURN && e->move != MATRIX) return;
    const struct vector y = e->move == TURN ? spatial_turned_back(g, &e->turn, x) : matrix_times(g, e->R, x);
    memcpy(x, y.e, sizeof y.e);
}

void path_element_forth(struct graph *g, const struct element *e, expr x[3])
{
    struct element reverse = {.move = e->move, .turn = {e->turn.axis, e->turn.c, negative(e->turn.s)}};
    for (int i = 0; i < 9; i++) reverse.R[i] = e->R[3 * (i % 3) + i / 3];
    path_element_back(g, &reverse, x);
}

void path_element_wrench_back(struct graph *g, const struct element *e, expr f[6])
{
    path_element_back(g, e, f);
    path_element_back(g, e, f + 3);
    if (e->move == SLIDE) add_cross(g, slide_of(e).e, f + 3, f);
}

void path_element_motion_forth(struct graph *g, const struct element *e, expr x[6])
{
    if (e->move == SLIDE) add_cross(g, x, slide_of(e).e, x + 3);
    path_element_forth(g, e, x);
    path_element_forth(g, e, x + 3);
}

/* R M R' */
static void congruence(struct graph *g, const expr R[9], expr M[9])
{
    expr RM[9];
    for (int i = 0; i < 9; i++) {
        const expr column_of[3] = {M[i % 3], M[3 + i % 3], M[6 + i % 3]};
        RM[i] = dot(g, R + 3 * (i / 3), column_of);
    }
    for (int i = 0; i < 9; i++) M[i] = dot(g, RM + 3 * (i / 3), R + 3 * (i % 3));
}

static void symmetric_congruence(struct graph *g, const expr R[9], expr S[6])
{
    expr M[9];
    for (int i = 0; i < 9; i++) M[i] = S[packed(i / 3, i % 3)];
    congruence(g, R, M);
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) S[packed(i, j)] = M[3 * i + j];
}

void path_element_spatial_back(struct graph *g, const struct element *e, struct spatial *P)
{
    if (e->move == TURN) spatial_turn(g, &e->turn, P);
    if (e->move == SLIDE) spatial_shift(g, slide_of(e).e, P);
    if (e->move != MATRIX) return;
    symmetric_congruence(g, e->R, P->A);
    congruence(g, e->R, P->B);
    symmetric_congruence(g, e->R, P->C);
}

void path_element_solid_back(struct graph *g, const struct element *e, struct solid *solid)
{
    if (e->move == TURN) spatial_turn_solid(g, &e->turn, solid);
    if (e->move == SLIDE) spatial_shift_solid(g, slide_of(e).e, solid);
    if (e->move != MATRIX) return;
    const struct vector h = matrix_times(g, e->R, solid->h);
    memcpy(solid->h, h.e, sizeof h.e);
    symmetric_congruence(g, e->R, solid->J);
}

/* ---- all elements ------------------------------------------------------------------------------------------------ */

void path_solid_back(struct graph *g, const struct path *path, struct solid *solid)
{
    for (int i = path->n - 1; i >= 0; i--) path_element_solid_back(g, &path->element[i], solid);
}

struct vector path_back(struct graph *g, const struct path *path, struct vector x)
{
    for (int i = path->n - 1; i >= 0; i--) path_element_back(g, &path->element[i], x.e);
    return x;
}

struct vector path_forth(struct graph *g, const struct path *path, struct vector x)
{
    for (int i = 0; i < path->n; i++) path_element_forth(g, &path->element[i], x.e);
    return x;
}
