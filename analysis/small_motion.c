#include "analysis/small_motion.h"

#include <math.h>
#include <string.h>

#include "analysis/failure.h"
#include "math/vec.h"

/* ---- making ------------------------------------------------------------------------------------------------------------- */

/* A copy without damping and friction */
static enum status clone_undamped(const struct robot *robot, struct robot **undamped)
{
    const enum status status = robot_clone(robot, undamped);
    for (int i = 0; status == STATUS_OK && i < robot->n_couplings; i++) (*undamped)->coupling[i].damping = 0;
    for (int i = 0; status == STATUS_OK && i < robot->n_links; i++) {
        struct link *link = &(*undamped)->link[i];
        for (int k = 0; k < MOST_COORDINATES_WITH_NUMBERS; k++) {
            struct joint_numbers *number = &link->joint.number[k];
            number->viscous = number->coulomb = number->limits.damping = 0;
        }
        link->beam.damping_ratio = link->beam.rayleigh[0] = link->beam.rayleigh[1] = 0;
        if (link->type != BODY_NODAL) continue;
        const size_t m = (size_t)link->nodal.modes;
        link->nodal.damping = arena_allocate(&(*undamped)->arena, m * m, sizeof(double));
    }
    return status == STATUS_OK && (*undamped)->arena.failed ? STATUS_NO_MEMORY : status;
}

static enum status prepare(const struct robot *robot, struct arena *arena, struct differentiated *d)
{
    struct report silent = {0}; /* problems of the robot were reported when its own model was made */
    const enum status status = mechanism_make(robot, &d->mechanism, &silent);
    if (status != STATUS_OK) return status;
    const size_t n = (size_t)d->mechanism.model->nv;
    arena_arrays(arena, n * n, ARRAYS(&d->by_q, &d->by_qd));
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* The moving coordinates, which are all that are not prescribed; loops are solved for passive joints first. Arrays for them, and for
   the independent motions of closed robots. */
static enum status allocate(struct small_motion *motion)
{
    const struct model *model = motion->full.mechanism.model;
    struct arena *arena = &motion->arena;
    const size_t nv = (size_t)model->nv, rows = (size_t)motion->full.mechanism.constraints->n_rows;
    arena_arrays(arena, nv, ARRAYS(&motion->qdd, &motion->force));
    arena_arrays(arena, (size_t)model->n_tau, ARRAYS(&motion->prescribed_qdd));
    motion->coordinate = arena_allocate(arena, nv, sizeof(int));
    motion->wish = arena_allocate(arena, nv, sizeof *motion->wish);
    motion->free_one = arena_allocate(arena, nv, sizeof(int));
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const int joint = free_velocities(lm);
        for (int k = 0; k < joint + lm->m; k++) {
            motion->wish[motion->n] = k < joint && lm->passive ? SOLVE_FIRST : SOLVE_IF_NEEDED;
            motion->free_one[motion->n] = motion->n;
            motion->coordinate[motion->n++] = k < joint ? lm->v + k : lm->eta_v + k - joint;
        }
    }
    const size_t n = (size_t)motion->n;
    motion->r = motion->n;
    arena_arrays(arena, n * n, ARRAYS(&motion->M, &motion->G, &motion->D, &motion->K));
    motion->reduced.M = motion->M, motion->reduced.G = motion->G;
    motion->reduced.D = motion->D, motion->reduced.K = motion->K;
    if (rows > 0) {
        arena_arrays(
            arena, n * n,
            ARRAYS(&motion->reduced.M, &motion->reduced.G, &motion->reduced.D, &motion->reduced.K, &motion->N));
        arena_arrays(arena, n * n, ARRAYS(&motion->product));
        arena_arrays(arena, n * rows, ARRAYS(&motion->rows));
        motion->row_of = arena_allocate(arena, n, sizeof(int));
    }
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

enum status small_motion_make(const struct robot *robot, bool joints_free, struct report *report,
                              struct small_motion *motion)
{
    memset(motion, 0, sizeof *motion);
    enum status status = robot_clone(robot, &motion->locked);
    for (int i = 0; i < robot->n_links && status == STATUS_OK; i++) {
        struct joint *joint = &motion->locked->link[i].joint;
        if (!joints_free && joint_moves(joint) && !joint->passive) joint->prescribed = true;
    }
    if (status == STATUS_OK) status = clone_undamped(motion->locked, &motion->undamped);
    if (status == STATUS_OK) status = prepare(motion->locked, &motion->arena, &motion->full);
    if (status == STATUS_OK) status = prepare(motion->undamped, &motion->arena, &motion->bare);
    if (status == STATUS_OK) status = allocate(motion);
    return failure_status(report, status);
}

void small_motion_free(struct small_motion *motion)
{
    mechanism_free(&motion->full.mechanism);
    mechanism_free(&motion->bare.mechanism);
    robot_free(motion->locked);
    robot_free(motion->undamped);
    arena_release(&motion->arena);
}

/* ---- at a state ----------------------------------------------------------------------------------------------------------- */

/* Derivatives of Q + G_l' lambda - ID by q and qd, ID at the accelerations qdd, for the loops and loads of `loaded` */
static void differentiate(struct differentiated *d, const struct mechanism *loaded, const struct input *in,
                          const double *qdd, double *force)
{
    struct mechanism m = *loaded;
    m.model = d->mechanism.model;
    m.work = d->mechanism.work;
    m.tangent = d->mechanism.tangent;
    m.robot = d->mechanism.robot;
    m.element = d->mechanism.element;
    struct input own;
    dyn_configuration(m.model, m.work, in->q);
    mechanism_load_elements(&m, in, &own); /* their laws may be without damping */
    const struct input with_loads = mechanism_loaded(&m, in);
    dyn_inverse(m.model, m.work, &with_loads, qdd, force);
    dyn_velocity(m.model, m.work, &with_loads);
    dyn_tangent_state(m.model, m.work, m.tangent, &with_loads, qdd);
    mechanism_force_jacobian(&m, &with_loads, d->by_q, d->by_qd);
}

/* The largest |n| / M_jj of the moving hinges, n being the moment that the hinge transmits */
static double moment_rate(const struct small_motion *motion)
{
    const struct model *model = motion->bare.mechanism.model;
    double largest = 0;
    for (int k = 0; k < motion->n; k++)
        for (int i = 0; i < model->n_links; i++) {
            const int column = motion->coordinate[k] - model->link[i].v;
            if (column < 0 || column >= model->link[i].joint.nv || model->link[i].joint.part[column] != TURNS) continue;
            const double *n = motion->bare.mechanism.work->link[i].f,
                         inertia = motion->M[(size_t)(motion->n + 1) * (size_t)k];
            if (inertia > 0) largest = fmax(largest, sqrt(dot3(n, n)) / inertia);
        }
    return largest;
}

/* Locked joints do not accelerate; prescribed ones have the accelerations of the state */
static struct input locked_input(struct small_motion *motion, const struct model *model, const struct input *in)
{
    struct input locked = *in;
    locked.prescribed_qdd = motion->prescribed_qdd;
    memset(motion->qdd, 0, (size_t)model->nv * sizeof(double));
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &motion->full.mechanism.model->link[i];
        if (lm->prescribed < 0) continue;
        const double *given = prescribed_acceleration(&model->link[i], in);
        for (int k = 0; k < lm->joint.nv; k++)
            motion->prescribed_qdd[lm->prescribed + k] = motion->qdd[lm->v + k] = given != NULL ? given[k] : 0;
    }
    return locked;
}

/* out = N' X N */
static void reduce(struct small_motion *motion, const double *X, double *out)
{
    const size_t n = (size_t)motion->n, r = (size_t)motion->r;
    memset(motion->product, 0, n * r * sizeof(double));
    for (size_t b = 0; b < r; b++)
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n && motion->N[r * j + b] != 0; i++)
                motion->product[n * b + i] += X[n * j + i] * motion->N[r * j + b];
    memset(out, 0, r * r * sizeof *out);
    for (size_t b = 0; b < r; b++)
        for (size_t i = 0; i < n; i++)
            for (size_t a = 0; a < r; a++) out[r * b + a] += motion->N[r * i + a] * motion->product[n * b + i];
}

/* Matrices of the independent motions. The rounding of K is that of the open tree, which may be stiffer. */
static enum status reduce_all(struct small_motion *motion)
{
    const struct constraints *loops = motion->full.mechanism.constraints;
    const size_t n = (size_t)motion->n, N = (size_t)motion->full.mechanism.model->nv, k = (size_t)loops->n_active;
    double sum = 0;
    for (size_t row = 0; row < k; row++)
        for (size_t j = 0; j < n; j++) motion->rows[n * row + j] = loops->G[N * row + (size_t)motion->coordinate[j]];
    motion->r = motion->n - loops->n_active;
    if (motion->r < 0 || !independent_coordinates(motion->n, loops->n_active, motion->rows, motion->wish,
                                                  motion->row_of, motion->free_one, motion->N))
        return STATUS_SINGULAR_LOOP;
    reduce(motion, motion->M, motion->reduced.M);
    reduce(motion, motion->G, motion->reduced.G);
    reduce(motion, motion->D, motion->reduced.D);
    reduce(motion, motion->K, motion->reduced.K);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            const double K = motion->K[n * j + i];
            sum += K * K / (motion->M[(n + 1) * j] * motion->M[(n + 1) * i]);
        }
    motion->moment_rate += sqrt(sum);
    return STATUS_OK;
}

/* M, G, D, K of the moving coordinates; false: not all numbers are finite */
static bool select_matrices(struct small_motion *motion)
{
    const size_t N = (size_t)motion->bare.mechanism.model->nv, n = (size_t)motion->n;
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            const size_t to = n * j + i, from = N * (size_t)motion->coordinate[j] + (size_t)motion->coordinate[i];
            motion->M[to] = motion->bare.mechanism.work->M[from];
            motion->K[to] = -motion->bare.by_q[from];
            motion->G[to] = -motion->bare.by_qd[from];
            motion->D[to] = motion->bare.by_qd[from] - motion->full.by_qd[from];
            sum += fabs(motion->M[to]) + fabs(motion->K[to]) + fabs(motion->G[to]) + fabs(motion->D[to]);
        }
    return isfinite(sum);
}

enum status small_motion_at(struct small_motion *motion, const struct model *model, const struct input *in,
                            struct report *report)
{
    const struct input locked = locked_input(motion, model, in);
    struct mechanism *full = &motion->full.mechanism;
    struct report silent = {0}; /* redundant equations are reported elsewhere */
    enum status status;

    /* the loads of lines, and of a closed robot lambda with its loads */
    if (full->constraints->n_rows == 0) {
        mechanism_set(full, &locked);
        status = mechanism_at(full, STAGE_FORCES);
    } else {
        status = constraints_choose(full, in->q, &silent);
        if (status == STATUS_OK) status = mechanism_forward(full, &locked, motion->force);
    }
    if (status != STATUS_OK) return failure_report(report, full, status);
    differentiate(&motion->full, full, &locked, motion->qdd, motion->force);
    differentiate(&motion->bare, full, &locked, motion->qdd, motion->force);
    dyn_mass_matrix(motion->bare.mechanism.model, motion->bare.mechanism.work);

    const bool finite = select_matrices(motion);
    motion->moment_rate = moment_rate(motion);
    if (full->constraints->n_rows > 0) status = reduce_all(motion);
    if (status != STATUS_OK) return failure_status(report, status);
    if (finite && isfinite(motion->moment_rate)) return STATUS_OK;
    return failure_not_finite(report, "the linearized equations of motion");
}

void small_motion_expand(const struct small_motion *motion, const double *y, double *x)
{
    memset(x, 0, (size_t)motion->full.mechanism.model->nv * sizeof *x);
    for (int i = 0; i < motion->n; i++) {
        double *to = &x[motion->coordinate[i]];
        if (motion->N == NULL) *to = y[i];
        for (int k = 0; motion->N != NULL && k < motion->r; k++) *to += motion->N[motion->r * i + k] * y[k];
    }
}
