#include "analysis/matrices.h"

#include <string.h>

#include "analysis/failure.h"
#include "dyn/matrices.h"

/* K += k c c' of elastic couplings, without backlash                                                                 (113) */
static void add_couplings(const struct model *model, double *K)
{
    const struct robot *robot = model->robot;
    for (int i = 0; i < robot->n_couplings; i++) {
        const struct coupling *c = &robot->coupling[i];
        for (int s = 0; c->elastic && s < c->n_terms; s++)
            for (int t = 0; t < c->n_terms; t++)
                K[model->nv * (model->link[c->term[s].link].v + c->term[s].k) + model->link[c->term[t].link].v +
                  c->term[t].k] += c->stiffness * c->term[s].factor * c->term[t].factor;
    }
}

/* `bare` becomes the same tree without strain, springs, damping and friction. */
static enum status compute(struct mechanism *m, struct mechanism *bare, const struct input *in, double *scratch,
                           struct matrices *matrices)
{
    struct report silent = {0}; /* problems of the robot were reported when its own model was made */
    const size_t n = (size_t)m->model->nv;
    enum status status = model_make_bare(m->robot, &bare->model, &silent);
    if (status == STATUS_OK) status = work_make(bare->model, false, &bare->work);
    if (status == STATUS_OK) status = tangent_make(bare->model, &bare->tangent);
    if (status != STATUS_OK) return status;
    dyn_configuration(m->model, m->work, in->q);
    dyn_mass_matrix(m->model, m->work);
    memcpy(matrices->M, m->work->M, n * n * sizeof(double));
    dyn_coriolis(bare->model, bare->work, bare->tangent, in, matrices->C, scratch);
    dyn_stiffness(m->model, matrices->K);
    add_couplings(m->model, matrices->K);
    dyn_gravity(bare->model, bare->work, in->q, matrices->G);
    dyn_input_matrix(m->model, matrices->B);
    if (matrices->n_rows == 0) return STATUS_OK;
    mechanism_set(m, in);
    mechanism_place(m, PLACED_AND_MOVING);
    constraints_rows(m, in);
    memcpy(matrices->constraint_jacobian, m->constraints->G, n * (size_t)matrices->n_rows * sizeof(double));
    return STATUS_OK;
}

enum status matrices_at(struct mechanism *m, const struct input *in, struct report *report, struct matrices *matrices)
{
    struct mechanism bare = {0};
    struct arena *arena = &matrices->arena;
    const size_t n = (size_t)m->model->nv;
    double *product;
    *matrices = (struct matrices){.n = m->model->nv, .n_tau = m->model->n_tau, .n_rows = m->constraints->n_rows};
    arena_arrays(arena, n * n, ARRAYS(&product, &matrices->M, &matrices->C, &matrices->K));
    arena_arrays(arena, n, ARRAYS(&matrices->G));
    arena_arrays(arena, n * (size_t)matrices->n_tau, ARRAYS(&matrices->B));
    arena_arrays(arena, n * (size_t)matrices->n_rows, ARRAYS(&matrices->constraint_jacobian));
    const enum status status = arena->failed ? STATUS_NO_MEMORY : compute(m, &bare, in, product, matrices);
    tangent_free(bare.tangent);
    work_free(bare.work);
    model_free(bare.model);
    return failure_status(report, status);
}
