#include "analysis/statics.h"

#include <string.h>

#include "analysis/failure.h"

const char *static_stability_text(const struct stability *stability)
{
    if (stability->unstable > 0) return "unstable";
    return stability->indifferent > 0 ? "indifferent" : "stable";
}

enum status static_answer_make(struct operating_point *point, bool given, struct report *report,
                               struct static_answer *answer)
{
    struct mechanism *m = point->mechanism;
    memset(answer, 0, sizeof *answer);
    answer->moved = arena_allocate(&point->arena, (size_t)m->model->nv, sizeof *answer->moved);
    answer->deflection = arena_allocate(&point->arena, (size_t)m->model->n_links, sizeof *answer->deflection);
    arena_arrays(&point->arena, (size_t)m->robot->n_couplings, ARRAYS(&answer->coupling_force, &answer->coupling_gap));
    if (point->arena.failed) return failure_status(report, STATUS_NO_MEMORY);
    enum status status = operating_point_move(point, given, true, report);
    if (status != STATUS_OK) return status;
    struct statics *found = sim_statics(point->sim);
    answer->found = found;
    status = statics_stability(m, found, &answer->stability);
    if (status != STATUS_OK) return failure_status(report, status);

    const struct model *model = m->model; /* which the move may have replaced */
    const struct input at_rest = {.q = found->q, .qd = found->zero};
    mechanism_set(m, &at_rest);
    mechanism_place(m, PLACED_AND_MOVING);
    dyn_tip(model, m->work, model->tip, &answer->tip);
    for (int i = 0; i < model->n_links; i++)
        dyn_deflection(model, m->work, i, answer->deflection[i], answer->deflection[i] + 3);
    elements_measure(m, &at_rest);
    mechanism_couplings(m, found->lambda, answer->coupling_force, answer->coupling_gap);
    sim_outdate_values(point->sim);
    model_difference(model, found->guess, found->q, answer->moved); /* `guess` starts with q */
    return STATUS_OK;
}
