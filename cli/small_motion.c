#include "small_motion.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"

/* ---- making ------------------------------------------------------------------------------------------------------------- */

/* A copy of the robot with every number of damping and friction at zero. */
static bool undamp(const struct robot *robot, struct arena *arena, struct robot *undamped)
{
    *undamped = *robot;
    undamped->link = arena_take(arena, (size_t)robot->n_links, sizeof *undamped->link);
    if (arena->failed) return false;
    for (int i = 0; i < robot->n_links; i++) {
        struct link *link = &undamped->link[i];
        *link = robot->link[i];
        link->joint.viscous = link->joint.coulomb = link->joint.limits.damping = 0;
        link->beam.damping_ratio = link->beam.rayleigh[0] = link->beam.rayleigh[1] = 0;
        if (link->type != BODY_NODAL) continue;
        const size_t m = (size_t)link->nodal.modes;
        link->nodal.damping = arena_take(arena, m * m, sizeof(double));
    }
    return !arena->failed;
}

static enum status prepare(const struct model *model, struct arena *arena, struct differentiated *d)
{
    const size_t n = (size_t)model->n;
    d->model = model;
    d->by_q = arena_take(arena, n * n, sizeof(double));
    d->by_qd = arena_take(arena, n * n, sizeof(double));
    enum status status = arena->failed ? STATUS_NO_MEMORY : work_make(model, &d->work);
    if (status == STATUS_OK) status = tangent_make(model, &d->tangent);
    return status;
}

static void choose_coordinates(const struct model *model, bool joints_free, struct small_motion *motion)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->q >= 0 && lm->prescribed < 0 && (joints_free || lm->passive)) motion->coordinate[motion->n++] = lm->q;
        for (int k = 0; k < lm->m; k++) motion->coordinate[motion->n++] = lm->eta + k;
    }
}

enum status small_motion_make(const struct model *model, bool joints_free, struct small_motion *motion)
{
    memset(motion, 0, sizeof *motion);
    struct arena *arena = &motion->arena;
    motion->coordinate = arena_take(arena, (size_t)model->n, sizeof(int));
    motion->qdd = arena_take(arena, (size_t)model->n, sizeof(double));
    motion->force = arena_take(arena, (size_t)model->n, sizeof(double));
    if (arena->failed) return STATUS_NO_MEMORY;
    choose_coordinates(model, joints_free, motion);
    const size_t n = (size_t)motion->n;
    double **const matrix[] = {&motion->M, &motion->G, &motion->D, &motion->K};
    for (int i = 0; i < 4; i++) *matrix[i] = arena_take(arena, n * n, sizeof(double));

    struct report silent = {0}; /* the robot itself has passed */
    if (!undamp(model->robot, arena, &motion->undamped)) return STATUS_NO_MEMORY;
    enum status status = model_make(&motion->undamped, &motion->made, &silent);
    if (status == STATUS_OK) status = prepare(model, arena, &motion->full);
    if (status == STATUS_OK) status = prepare(motion->made, arena, &motion->bare);
    return status;
}

void small_motion_free(struct small_motion *motion)
{
    tangent_free(motion->full.tangent);
    tangent_free(motion->bare.tangent);
    work_free(motion->full.work);
    work_free(motion->bare.work);
    model_free(motion->made);
    arena_release(&motion->arena);
}

/* ---- at a state ----------------------------------------------------------------------------------------------------------- */

/* Change of Q - ID with q and qd, ID at the accelerations qdd */
static void differentiate(struct differentiated *d, const struct input *in, const double *qdd, double *force)
{
    dyn_configuration(d->model, d->work, in->q);
    dyn_inverse(d->model, d->work, in, qdd, force);
    dyn_velocity(d->model, d->work, in);
    dyn_tangent_state(d->model, d->work, d->tangent, in, qdd);
    dyn_force_jacobian(d->model, d->work, d->tangent, in, d->by_q, d->by_qd);
}

/* largest |n| / M_jj of the kept hinges, n the moment that the hinge passes on */
static double moment_rate(const struct small_motion *motion)
{
    const struct model *model = motion->bare.model;
    double largest = 0;
    for (int k = 0; k < motion->n; k++)
        for (int i = 0; i < model->n_links; i++) {
            if (model->link[i].q != motion->coordinate[k] || model->link[i].joint != JOINT_REVOLUTE) continue;
            const double *n = motion->bare.work->link[i].f, inertia = motion->M[(size_t)(motion->n + 1) * (size_t)k];
            if (inertia > 0) largest = fmax(largest, sqrt(dot3(n, n)) / inertia);
        }
    return largest;
}

bool small_motion_at(struct small_motion *motion, const struct input *in)
{
    const struct model *model = motion->full.model;
    const size_t N = (size_t)model->n, n = (size_t)motion->n;
    for (int i = 0; i < model->n_links; i++)
        if (model->link[i].prescribed >= 0)
            motion->qdd[model->link[i].q] = prescribed_acceleration(&model->link[i], in);
    differentiate(&motion->full, in, motion->qdd, motion->force);
    differentiate(&motion->bare, in, motion->qdd, motion->force);
    dyn_mass_matrix(motion->bare.model, motion->bare.work);

    double sum = 0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            const size_t to = n * j + i, from = N * (size_t)motion->coordinate[j] + (size_t)motion->coordinate[i];
            motion->M[to] = motion->bare.work->M[from];
            motion->K[to] = -motion->bare.by_q[from];
            motion->G[to] = -motion->bare.by_qd[from];
            motion->D[to] = motion->bare.by_qd[from] - motion->full.by_qd[from];
            sum += fabs(motion->M[to]) + fabs(motion->K[to]) + fabs(motion->G[to]) + fabs(motion->D[to]);
        }
    motion->moment_rate = moment_rate(motion);
    return isfinite(sum) && isfinite(motion->moment_rate);
}
