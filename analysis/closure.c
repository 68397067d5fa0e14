#include "analysis/closure.h"

#include <math.h>
#include <string.h>

#include "analysis/failure.h"
#include "analysis/names.h"

/* ---- gaps ----------------------------------------------------------------------------------------------------------------- */

const char *closure_open_loop(struct mechanism *m, const double *q, const double *qd, double most)
{
    const struct constraints *loops = m->constraints;
    const struct input in = {.q = q, .qd = qd};
    double gap = 0;
    int widest = 0;
    if (loops->n_rows == 0) return NULL;
    mechanism_set(m, &in);
    mechanism_place(m, PLACED_AND_MOVING);
    constraints_gap(m, &in);
    for (int row = 0; row < loops->n_rows; row++)
        if (!(fabs(loops->gap[row]) <= gap)) {
            gap = fabs(loops->gap[row]);
            widest = row;
        }
    return gap <= most ? NULL : loops->of_row[widest]->name;
}

/* ---- closing ---------------------------------------------------------------------------------------------------------------- */

void closure_report_bending(const struct model *model, const double *q, const double *before, enum report_level level,
                            struct report *report)
{
    int worst = -1;
    for (int i = 0; i < model->n_links; i++)
        for (int k = model->link[i].eta_q; k < model->link[i].eta_q + model->link[i].m; k++)
            if (q[k] != before[k] && (worst < 0 || fabs(q[k] - before[k]) > fabs(q[worst] - before[worst]))) worst = k;
    if (worst < 0) return;
    char name[NAME_SIZE];
    name_coordinate(model, POSITION, worst, name);
    report_add(report, level,
               "the loops do not close by moving joints alone: links are deformed, most of all %s = %.3g", name,
               q[worst]);
}

enum status closure_close(struct mechanism *m, struct state *state, struct report *redundant, struct report *report)
{
    const size_t n = (size_t)m->model->nq;
    struct arena scratch = {0};
    struct report silent = {0};
    const int errors_before = report->errors;
    if (m->constraints->n_rows == 0) return STATUS_OK;
    double *before = arena_allocate(&scratch, n, sizeof *before);
    if (before == NULL) return failure_status(report, STATUS_NO_MEMORY);
    memcpy(before, state->at.q, n * sizeof *before);
    enum status status = constraints_close_start(m, state->at.q, report);
    if (status == STATUS_OK) closure_report_bending(m->model, state->at.q, before, REPORT_WARNING, report);
    arena_release(&scratch);
    if (status == STATUS_OK)
        status = constraints_choose_and_project(m, state->at.q, state->at.qd, redundant != NULL ? redundant : &silent,
                                                report);
    if (status != STATUS_OK && report->errors == errors_before) failure_report(report, m, status);
    return status == STATUS_OPEN_LOOP ? STATUS_BAD_INPUT : status;
}

enum status closure_of_state(struct mechanism *m, bool given, struct state *state, struct report *report)
{
    if (!given) return closure_close(m, state, NULL, report);
    const char *open = closure_open_loop(m, state->at.q, state->at.qd, GAP_OF_DIGITS);
    if (open != NULL)
        report_add(report, REPORT_WARNING,
                   "the state leaves loop '%s' open: the joints of loops that it does not move, or that are passive, "
                   "follow from the start of the robot",
                   open);
    return closure_follow(m, -1, state, report);
}
