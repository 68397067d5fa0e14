#include "dyn/work.h"

static void make_flexible(const struct link_model *lm, bool newton, struct arena *arena, struct link_work *w)
{
    const struct body *body = lm->body;
    const size_t m = (size_t)body->m, row = (size_t)PADDED(body->m);
    w->section = arena_allocate(arena, (size_t)lm->n_all_sections, sizeof *w->section);
    for (int s = 0; !arena->failed && s < lm->n_all_sections; s++) {
        struct section_work *section = &w->section[s];
        section->J = arena_allocate(arena, m, sizeof *section->J);
        section->Jt = arena_allocate(arena, 6 * row, sizeof(double));
        if (lm->section[s].shape.H != NULL) section->H_eta = arena_allocate(arena, row, sizeof(double));
    }
    w->F = arena_allocate(arena, m, sizeof *w->F);
    w->W = arena_allocate(arena, m, sizeof *w->W);
    w->Z = arena_allocate(arena, m, sizeof *w->Z);
    arena_arrays(arena, row, ARRAYS(&w->b_eta, &w->e));
    w->L = arena_allocate(arena, m * row, sizeof(double));
    w->inverse_d = arena_allocate(arena, m, sizeof(double));
    w->RF = w->O.R;
    if (body->hinge_moves) {
        w->RF = arena_allocate(arena, 9, sizeof(double));
        w->JF = arena_allocate(arena, m, sizeof *w->JF);
    }
    body_state_make(body, arena, &w->body);
    w->M0 = body->hinge_moves ? arena_allocate(arena, m * row, sizeof(double)) : w->body.Mff;
    w->own_modes = newton ? arena_allocate(arena, m * row, sizeof(double)) : w->M0;
}

enum status work_make(const struct model *model, bool newton, struct work **made)
{
    struct arena arena = {0};
    *made = NULL;
    struct work *work = arena_allocate(&arena, 1, sizeof *work);
    if (work == NULL) return STATUS_NO_MEMORY;
    identity3(work->world.R);
    work->link = arena_allocate(&arena, (size_t)model->n_links, sizeof *work->link);
    const size_t n = (size_t)model->nv, padded = (size_t)PADDED(model->n_links);
    int most = 1;
    for (int i = 0; i < model->n_links && !arena.failed; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        if (lm->joint.nv + lm->m > most) most = lm->joint.nv + lm->m;
        if (lm->body != NULL) make_flexible(lm, newton, &arena, w);
        w->own_hinge = newton ? w->newton_hinge : lm->joint.motor_inertia;
    }
    arena_arrays(&arena, n * n, ARRAYS(&work->M, &work->factor));
    arena_arrays(&arena, n, ARRAYS(&work->inverse_d, &work->rhs));
    arena_arrays(&arena, padded, ARRAYS(&work->angles.angle, &work->angles.sine, &work->angles.cosine));
    work->column = arena_allocate(&arena, (size_t)most, sizeof *work->column);
    if (arena.failed) {
        arena_release(&arena);
        return STATUS_NO_MEMORY;
    }
    work->arena = arena;
    *made = work;
    return STATUS_OK;
}

void work_reset(const struct model *model, struct work *work, int link)
{
    if (model->link[link].body != NULL) body_state_reset(model->link[link].body, &work->link[link].body);
}

void work_free(struct work *work)
{
    if (work == NULL) return;
    struct arena arena = work->arena; /* the work struct is allocated in it */
    arena_release(&arena);
}
