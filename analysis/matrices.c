#include "analysis/matrices.h"

#include <string.h>

#include "analysis/failure.h"
#include "dyn/matrices.h"

/* The same tree without strain, springs, damping and friction */
struct bare {
    struct model *model;
    struct work *work;
    struct tangent *tangent;
};

static enum status make_bare(const struct robot *robot, struct bare *bare)
{
    struct report silent = {0}; /* problems of the robot were reported when its own model was made */
    enum status status = model_make_bare(robot, &bare->model, &silent);
    if (status == STATUS_OK) status = work_make(bare->model, &bare->work);
    if (status == STATUS_OK) status = tangent_make(bare->model, &bare->tangent);
    return status;
}

static void free_bare(struct bare *bare)
{
    tangent_free(bare->tangent);
    work_free(bare->work);
    model_free(bare->model);
}

static bool allocate_arrays(const struct mechanism *m, struct matrices *matrices)
{
    struct arena *arena = &matrices->arena;
    const size_t n = (size_t)m->model->nv;
    matrices->n = m->model->nv;
    matrices->n_tau = m->model->n_tau;
    matrices->n_rows = m->constraints->n_rows;
    matrices->M = arena_allocate(arena, n * n, sizeof(double));
    matrices->C = arena_allocate(arena, n * n, sizeof(double));
    matrices->K = arena_allocate(arena, n * n, sizeof(double));
    matrices->G = arena_allocate(arena, n, sizeof(double));
    matrices->B = arena_allocate(arena, n * (size_t)matrices->n_tau, sizeof(double));
    matrices->constraint_jacobian = arena_allocate(arena, n * (size_t)matrices->n_rows, sizeof(double));
    return !arena->failed;
}

static void compute(struct mechanism *m, struct bare *bare, const struct input *in, double *scratch,
                    struct matrices *matrices)
{
    const size_t n = (size_t)m->model->nv;
    dyn_configuration(m->model, m->work, in->q);
    dyn_mass_matrix(m->model, m->work);
    memcpy(matrices->M, m->work->M, n * n * sizeof(double));
    dyn_coriolis(bare->model, bare->work, bare->tangent, in, matrices->C, scratch);
    dyn_stiffness(m->model, matrices->K);
    dyn_gravity(bare->model, bare->work, in->q, matrices->G);
    dyn_input_matrix(m->model, matrices->B);
    if (matrices->n_rows == 0) return;
    dyn_motion(m->model, m->work, in, NULL);
    dyn_velocity(m->model, m->work, in);
    constraints_rows(m);
    memcpy(matrices->constraint_jacobian, m->constraints->G, n * (size_t)matrices->n_rows * sizeof(double));
}

enum status matrices_at(struct mechanism *m, const struct input *in, struct report *report, struct matrices *matrices)
{
    struct bare bare = {0};
    struct arena scratch = {0};
    const size_t n = (size_t)m->model->nv;
    memset(matrices, 0, sizeof *matrices);
    double *product = arena_allocate(&scratch, n * n, sizeof *product);
    enum status status = product != NULL && allocate_arrays(m, matrices) ? STATUS_OK : STATUS_NO_MEMORY;
    if (status == STATUS_OK) status = make_bare(m->robot, &bare);
    if (status == STATUS_OK) compute(m, &bare, in, product, matrices);
    free_bare(&bare);
    arena_release(&scratch);
    return failure_status(report, status);
}

void matrices_free(struct matrices *matrices)
{
    arena_release(&matrices->arena);
}
