#include "mech/constraints.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/dense.h"
#include "math/vec.h"
#include "mech/mechanism.h"

/* ---- making ------------------------------------------------------------------------------------------------------ */

int constraints_loop_equations(enum loop_type type)
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

static void make_equations(const struct loop *loop, struct equation *e)
{
    if (loop->type == LOOP_PLANAR_PIN) {
        for (int i = 0; i < 2; i++) {
            copy3(loop->plane[i], e[i].u);
            e[i].turns = loop->plane_of >= 0;
        }
        return;
    }
    for (int i = 0; i < 3; i++) e[i].u[i] = 1;
    if (loop->type == LOOP_PIN) {
        copy3(loop->axis, e[3].a);
        copy3(loop->axis, e[4].a);
        perpendicular(loop->axis, e[3].b, e[4].b);
    } else if (loop->type == LOOP_WELD) { /* the multiplier of y_A'z_B is a moment about x, etc. */
        for (int i = 0; i < 3; i++) e[3 + i].a[(i + 1) % 3] = e[3 + i].b[(i + 2) % 3] = 1;
    }
    for (int i = 3; i < constraints_loop_equations(loop->type); i++) e[i].rotational = true;
}

static bool share_joints(const struct model *model, int a, int b)
{
    for (int i = 0; i < model->n_links; i++)
        if (model->link[i].joint.nv > 0 && constraints_loop_has_joint(model, a, i) &&
            constraints_loop_has_joint(model, b, i))
            return true;
    return false;
}

/* The number of a group is that of its first loop */
static void group_loops(const struct model *model, struct constraints *loops)
{
    for (int i = 0; i < loops->n_loops; i++) {
        loops->group[i] = i;
        for (int j = 0; j < i; j++) {
            const int joined = loops->group[i] < loops->group[j] ? loops->group[i] : loops->group[j];
            const int left = loops->group[i] < loops->group[j] ? loops->group[j] : loops->group[i];
            if (joined == left || !share_joints(model, i, j)) continue;
            for (int k = 0; k <= i; k++)
                if (loops->group[k] == left) loops->group[k] = joined;
        }
    }
}

struct constraints *constraints_make(const struct model *model, struct arena *arena)
{
    const struct robot *robot = model->robot;
    const size_t n = (size_t)model->nv, count = (size_t)robot->n_loops;
    struct constraints *loops = arena_allocate(arena, 1, sizeof *loops);
    int *first = arena_allocate(arena, count + 1, sizeof *first);
    if (arena->failed) return NULL;
    for (int i = 0; i < robot->n_loops; i++) first[i + 1] = first[i] + constraints_loop_equations(robot->loop[i].type);
    const size_t rows = (size_t)first[robot->n_loops];
    *loops =
        (struct constraints){.n_loops = robot->n_loops, .first = first, .n_rows = (int)rows, .n_active = (int)rows};
    arena_arrays(arena, rows,
                 ARRAYS(&loops->gap, &loops->rate, &loops->lambda, &loops->inverse_d, &loops->rhs, &loops->dlambda));
    loops->equation = arena_allocate(arena, rows, sizeof *loops->equation);
    loops->active = arena_allocate(arena, rows, sizeof *loops->active);
    loops->side = arena_allocate(arena, count, sizeof *loops->side);
    loops->group = arena_allocate(arena, count, sizeof *loops->group);
    loops->G = arena_allocate(arena, rows * n, sizeof(double));
    loops->X = arena_allocate(arena, rows * n, sizeof(double));
    loops->S = arena_allocate(arena, rows * rows, sizeof(double));
    loops->direction = arena_allocate(arena, n, sizeof(double));
    for (int i = 0; rows > 0 && i < 2; i++)
        loops->frames[i] = arena_allocate(arena, LOOP_LOADS * count * n, sizeof *loops->frames[i]);
    if (arena->failed) return NULL;

    for (int i = 0; i < robot->n_loops; i++) {
        make_equations(&robot->loop[i], loops->equation + first[i]);
        loops->turning = loops->turning || loops->equation[first[i]].turns;
    }
    for (int i = 0; i < loops->n_rows; i++) loops->active[i] = i;
    group_loops(model, loops);
    return loops;
}

/* ---- loop frames ------------------------------------------------------------------------------------------------- */

void constraints_prepare(struct mechanism *m, const struct input *in)
{
    if (m->constraints->turning) dyn_velocity(m->model, m->work, in);
}

void constraints_frames(struct mechanism *m, bool solved)
{
    for (int i = 0; i < m->robot->n_loops; i++) {
        const struct anchor *anchor = m->model->loop_side[i];
        const int count = anchor[SIDE_PLANE].link >= 0 ? LOOP_LOADS : SIDE_PLANE;
        for (int s = 0; s < count; s++)
            attachment_place(m->model, m->work, &anchor[s], solved, &m->constraints->side[i][s]);
    }
}

int constraints_loop(const struct constraints *loops, int row)
{
    int i = 0;
    while (loops->first[i + 1] <= row) i++;
    return i;
}

void constraints_rotation_directions(const struct equation *e, const struct attachment *side, double *a, double *b,
                                     double *c)
{
    mul3(side[0].frame.R, e->a, a);
    mul3(side[1].frame.R, e->b, b);
    cross3(a, b, c);
}

void constraints_translation_direction(const struct equation *e, const struct attachment *side, double u[3])
{
    if (e->turns) mul3(side[SIDE_PLANE].frame.R, e->u, u);
    else copy3(e->u, u);
}

/* Of a translation u'(p_A - p_B) and its rate u'(v_A - v_B) + (omega x u)'(p_A - p_B), omega of the plane                (95) */
void constraints_gap(struct mechanism *m)
{
    struct constraints *loops = m->constraints;
    constraints_frames(m, false);
    for (int row = 0; row < loops->n_rows; row++) {
        const struct equation *e = &loops->equation[row];
        const struct attachment *side = loops->side[constraints_loop(loops, row)];
        const struct frame_motion *A = &side[SIDE_A].frame, *B = &side[SIDE_B].frame;
        double a[3], b[3], c[3], u[3], ud[3];
        if (e->rotational) {
            constraints_rotation_directions(e, side, a, b, c);
            loops->gap[row] = dot3(a, b);
            loops->rate[row] = difference(c, A->omega, B->omega);
            continue;
        }
        constraints_translation_direction(e, side, u);
        loops->gap[row] = difference(u, A->p, B->p);
        loops->rate[row] = difference(u, A->v, B->v);
        if (!e->turns) continue;
        cross3(side[SIDE_PLANE].frame.omega, u, ud);
        loops->rate[row] += difference(ud, A->p, B->p);
    }
}

double constraints_largest_gap(const struct constraints *loops)
{
    double largest = 0;
    for (int k = 0; k < loops->n_active; k++) largest = fmax(largest, fabs(loops->gap[loops->active[k]]));
    return largest;
}

/* Acceleration of a constraint: of a rotation c'(alpha_A - alpha_B) + c_dot'(omega_A - omega_B) with
   c_dot = (omega_A x a) x b + a x (omega_B x b);                                                                      (51)
   of a translation u'(a_A - a_B) + 2 u_dot'(v_A - v_B) + u_ddot'(p_A - p_B), u_dot = omega x u,
   u_ddot = alpha x u + omega x u_dot                                                                                  (95) */
static double acceleration(const struct equation *e, const struct attachment *side)
{
    const struct frame_motion *A = &side[SIDE_A].frame, *B = &side[SIDE_B].frame, *plane = &side[SIDE_PLANE].frame;
    double u[3], ud[3], udd[3], a[3], b[3], c[3], wa[3], wb[3], cd[3];
    if (e->rotational) {
        constraints_rotation_directions(e, side, a, b, c);
        cross3(A->omega, a, wa);
        cross3(B->omega, b, wb);
        cross3(wa, b, cd);
        add_cross3(a, wb, cd);
        return difference(c, A->alpha, B->alpha) + difference(cd, A->omega, B->omega);
    }
    if (!e->turns) return difference(e->u, A->a, B->a);
    constraints_translation_direction(e, side, u);
    cross3(plane->omega, u, ud);
    cross3(plane->alpha, u, udd);
    add_cross3(plane->omega, ud, udd);
    return difference(u, A->a, B->a) + 2 * difference(ud, A->v, B->v) + difference(udd, A->p, B->p);
}

/* ---- multipliers ------------------------------------------------------------------------------------------------- */

void constraints_add_multiplier(const struct equation *e, const struct attachment *side, double x, double (*on)[6])
{
    double a[3], b[3], c[3], u[3];
    if (e->rotational) {
        constraints_rotation_directions(e, side, a, b, c);
        axpy3(x, c, on[SIDE_A]);
        axpy3(-x, c, on[SIDE_B]);
        return;
    }
    constraints_translation_direction(e, side, u);
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

/* Adds to G the generalized forces of a unit multiplier of a row on one of the frames of its loop */
static void add_side(struct mechanism *m, int row, int s, double *G)
{
    const struct constraints *loops = m->constraints;
    const int i = constraints_loop(loops, row);
    double on[LOOP_LOADS][6] = {{0}};
    constraints_add_multiplier(&loops->equation[row], loops->side[i], 1, on);
    struct load load = m->load[LOOP_LOADS * i + s];
    copy6(on[s], load.wrench);
    dyn_frame_force(m->model, m->work, &load, G);
}

static int sides_of(const struct constraints *loops, int row)
{
    return loops->equation[row].turns ? LOOP_LOADS : SIDE_PLANE;
}

void constraints_row(struct mechanism *m, int k)
{
    const struct model *model = m->model;
    double *G = m->constraints->G + (size_t)model->nv * (size_t)k;
    const int row = m->constraints->active[k];
    memset(G, 0, (size_t)model->nv * sizeof *G);
    for (int s = 0; s < sides_of(m->constraints, row); s++) add_side(m, row, s, G);
}

/* G, and X = M^-1 G' by the factors of dyn_articulate(); S = G X, symmetric, upper triangle */
void constraints_mobility(struct mechanism *m)
{
    const struct model *model = m->model;
    struct constraints *loops = m->constraints;
    const size_t n = (size_t)model->nv;
    const int k = loops->n_active;
    for (int i = 0; i < k; i++) constraints_row(m, i);
    memcpy(loops->X, loops->G, n * (size_t)k * sizeof(double));
    dyn_solve_columns(model, m->work, m->tangent, k, loops->X);
    for (int i = 0; i < k; i++)
        for (int j = i; j < k; j++)
            loops->S[k * i + j] = dense_dot(model->nv, loops->G + n * (size_t)i, loops->X + n * (size_t)j);
}

enum status constraints_factor(struct mechanism *m)
{
    struct constraints *loops = m->constraints;
    const int failed = cholesky_factor(loops->n_active, loops->S, loops->inverse_d);
    if (failed == 0) return STATUS_OK;
    loops->failed = constraints_loop(loops, loops->active[failed - 1]);
    return STATUS_SINGULAR_LOOP;
}

void constraints_respond(struct mechanism *m, double *x)
{
    const struct constraints *loops = m->constraints;
    const int n = m->model->nv;
    cholesky_solve(loops->n_active, loops->S, loops->inverse_d, loops->rhs);
    for (int k = 0; k < loops->n_active; k++)
        for (int i = 0; i < n; i++) x[i] += loops->rhs[k] * loops->X[(size_t)n * (size_t)k + (size_t)i];
}

void constraints_set_loads(struct mechanism *m)
{
    const struct constraints *loops = m->constraints;
    for (int i = 0; i < m->robot->n_loops; i++) {
        double on[LOOP_LOADS][6] = {{0}};
        for (int row = loops->first[i]; row < loops->first[i + 1]; row++)
            constraints_add_multiplier(&loops->equation[row], loops->side[i], loops->lambda[row], on);
        for (int s = 0; s < LOOP_LOADS; s++) copy6(on[s], m->load[LOOP_LOADS * i + s].wrench);
    }
}

void constraints_accelerations(struct mechanism *m)
{
    struct constraints *loops = m->constraints;
    for (int k = 0; k < loops->n_active; k++) {
        const int row = loops->active[k];
        loops->rhs[k] = acceleration(&loops->equation[row], loops->side[constraints_loop(loops, row)]);
    }
}

/* lambda = -S^-1 (acceleration of the gap of the open tree),   qdd += X lambda                                         (54) */
void constraints_close_accelerations(struct mechanism *m, double *qdd)
{
    struct constraints *loops = m->constraints;
    constraints_accelerations(m);
    for (int k = 0; k < loops->n_active; k++) loops->rhs[k] = -loops->rhs[k];
    constraints_respond(m, qdd);
    constraints_scatter(loops, loops->rhs, loops->lambda);
    constraints_set_loads(m);
}

void constraints_rows(struct mechanism *m)
{
    constraints_gap(m);
    for (int k = 0; k < m->constraints->n_active; k++) constraints_row(m, k);
}

/* ---- independent constraints ------------------------------------------------------------------------------------- */

/* A constraint is redundant if less than this fraction of it, or of the largest of its kind, is independent of the others */
static const double DEPENDENT = 1e-10;

/* |G|^2 over the coordinates that are free to move */
static double free_square(struct mechanism *m, const double *G)
{
    const struct model *model = m->model;
    double sum = 0;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        sum += dense_dot(free_velocities(lm), G + lm->v, G + lm->v);
        sum += dense_dot(lm->m, G + lm->eta_v, G + lm->eta_v);
    }
    return sum;
}

/* The size of every row as a fraction of the largest of its kind (translation or rotation). The size is that which the row would have
   if the frames of its loop moved independently, |G_A|^2 + |G_B|^2 (and that of a plane that turns). A row whose sides move together,
   or along a direction in which nothing moves, contains only rounding errors. Lever arms below 1e-10 m never count. */
static void measure_rows(struct mechanism *m, double *fraction)
{
    const struct constraints *loops = m->constraints;
    double largest[2] = {1e-10, 1e-10}, *G = loops->direction;
    for (int row = 0; row < loops->n_rows; row++) {
        const int kind = loops->equation[row].rotational;
        double sum = 0;
        for (int s = 0; s < sides_of(loops, row); s++) {
            memset(G, 0, (size_t)m->model->nv * sizeof *G);
            add_side(m, row, s, G);
            sum += free_square(m, G);
        }
        largest[kind] = fmax(largest[kind], sum);
    }
    for (int row = 0; row < loops->n_rows; row++)
        fraction[row] =
            free_square(m, loops->G + (size_t)m->model->nv * (size_t)row) / largest[loops->equation[row].rotational];
}

/* Cholesky factorization with complete pivoting of S, scaled to a unit diagonal; rows are selected as long as a pivot remains. S is
   symmetric and full, dlambda holds the relative sizes of its rows. The selected rows are in the order of the file. */
static void choose_rows(struct mechanism *m)
{
    struct constraints *loops = m->constraints;
    enum { TAKEN = -1 };
    const int k = loops->n_rows;
    double *S = loops->S, *rest = loops->rhs;
    const double *fraction = loops->dlambda;
    for (int i = 0; i < k; i++) loops->inverse_d[i] = fraction[i] > DEPENDENT ? 1 / sqrt(S[k * i + i]) : 0;
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) S[k * i + j] *= loops->inverse_d[i] * loops->inverse_d[j];
    for (int i = 0; i < k; i++) rest[i] = loops->inverse_d[i] > 0 ? 1 : 0;
    for (int step = 0; step < k; step++) {
        int p = 0;
        for (int i = 1; i < k; i++)
            if (rest[i] > rest[p]) p = i;
        if (!(rest[p] > DEPENDENT)) break;
        rest[p] = TAKEN;
        for (int i = 0; i < k; i++) {
            const double factor = S[k * i + p] / S[k * p + p];
            if (rest[i] == TAKEN) continue;
            for (int j = 0; j < k; j++)
                if (rest[j] != TAKEN) S[k * i + j] -= factor * S[k * p + j];
            rest[i] = fmax(S[k * i + i], 0);
        }
    }
    loops->n_active = 0;
    for (int i = 0; i < k; i++)
        if (rest[i] == TAKEN) loops->active[loops->n_active++] = i;
}

static void report_redundant(struct mechanism *m, struct report *report)
{
    const struct constraints *loops = m->constraints;
    char text[1024] = "";
    int listed = 0, more = 0;
    for (int i = 0, k = 0; i < m->robot->n_loops; i++) {
        const int count = loops->first[i + 1] - loops->first[i], before = k;
        while (k < loops->n_active && loops->active[k] < loops->first[i + 1]) k++;
        if (k - before == count) continue;
        const size_t length = strlen(text), left = sizeof text - length;
        const int needed = snprintf(text + length, left, "%sloops[%d] (%s): %d of its %d", listed > 0 ? ", " : "", i,
                                    m->robot->loop[i].name, count - (k - before), count);
        if (needed >= 0 && (size_t)needed < left) listed++;
        else text[length] = '\0', more++;
    }
    if (listed + more == 0) return;
    const size_t length = strlen(text);
    if (more > 0) snprintf(text + length, sizeof text - length, " and %d more loops", more);
    report_add(report, REPORT_WARNING,
               "%s constraints are redundant (implied by the others or always satisfied); they are dropped, and their "
               "forces are zero",
               text);
}

enum status constraints_choose(struct mechanism *m, const double *q, struct report *report)
{
    const struct model *model = m->model;
    struct constraints *loops = m->constraints;
    const int k = loops->n_rows;
    if (k == 0) return STATUS_OK;
    loops->n_active = k;
    for (int i = 0; i < k; i++) loops->active[i] = i;
    dyn_configuration(model, m->work, q);
    const enum status status = dyn_articulate(model, m->work);
    if (status != STATUS_OK) return status;
    dyn_position(model, m->work);
    constraints_frames(m, false);
    constraints_mobility(m);
    for (int i = 1; i < k; i++)
        for (int j = 0; j < i; j++) loops->S[k * i + j] = loops->S[k * j + i];
    measure_rows(m, loops->dlambda);
    choose_rows(m);
    report_redundant(m, report);
    return STATUS_OK;
}
