/* The equations of motion in residual form. */
#include "generate/loops.h"

enum status residual_forces(struct robot_parts *parts, expr *force, expr *gap)
{
    struct loop_parts loops;
    const enum status status = loops_make(parts, &loops);
    expr *lambda = arena_allocate(&parts->arena, (size_t)loops.n, sizeof *lambda);
    if (status != STATUS_OK || parts->arena.failed) return STATUS_NO_MEMORY;
    parts_motion(parts, parts->qdd);
    for (int i = 0; i < loops.n; i++) gap[i] = loops_gap_acceleration(parts, &loops.row[i]);
    for (int i = 0; i < loops.n; i++) lambda[i] = expr_input(parts->g, parts->first[ARG_LAMBDA] + i);
    loops_loads_apply(parts);
    loops_apply(parts, &loops, lambda);
    inverse_generalized_forces(parts, parts->qdd, force);
    return STATUS_OK;
}

enum status motion_residual(struct robot_parts *parts, expr *force)
{
    const enum status status = residual_forces(parts, force, force + parts->model->nv);
    for (int i = 0; status == STATUS_OK && i < parts->n; i++) {
        const struct link_model *lm = parts->part[i].lm;
        for (int k = 0; !lm->passive && k < lm->joint.nv; k++)
            force[lm->v + k] = expr_sub(parts->g, force[lm->v + k], parts->tau[lm->tau + k]);
    }
    return status;
}
