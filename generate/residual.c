/* The equations of motion in residual form. */
#include "generate/elements.h"
#include "generate/loops.h"

void motion_residual(struct robot_parts *parts, expr *force)
{
    struct loop_parts loops;
    loops_make(parts, &loops);
    expr *lambda = arena_allocate(&parts->arena, (size_t)loops.n, sizeof *lambda), *gap = force + parts->model->nv;
    if (parts->arena.failed) return;
    parts_motion(parts, parts->qdd);
    for (int i = 0; i < loops.n; i++) gap[i] = loops_gap_acceleration(parts, &loops.row[i], parts->qdd);
    for (int i = 0; i < loops.n; i++) lambda[i] = expr_input(parts->g, parts->first[ARG_LAMBDA] + i);
    elements_load(parts);
    loops_apply(parts, &loops, lambda);
    inverse_generalized_forces(parts, parts->qdd, force);
    for (int i = 0; i < loops.n; i++) /* those of loops are among the wrenches */
        if (loops.row[i].coupling != NULL) loops_add_row(parts, &loops.row[i], negative(lambda[i]), force);
    for (int i = 0; i < parts->n; i++) {
        const struct link_model *lm = parts->part[i].lm;
        for (int k = 0; !lm->passive && k < lm->joint.nv; k++)
            force[lm->v + k] = expr_sub(parts->g, force[lm->v + k], parts->tau[lm->tau + k]);
    }
}
