#include "analysis/closure.h"

#include <math.h>
#include <string.h>

#include "analysis/failure.h"
#include "analysis/follow.h"
#include "analysis/least_squares.h"
#include "analysis/names.h"

/* ---- gaps ----------------------------------------------------------------------------------------------------------------- */

/* The loop with the largest gap, and that gap */
static int widest(const struct constraints *loops, double *gap)
{
    int loop = 0;
    *gap = 0;
    for (int i = 0; i < loops->n_loops; i++)
        for (int row = loops->first[i]; row < loops->first[i + 1]; row++)
            if (!(fabs(loops->gap[row]) <= *gap)) {
                *gap = fabs(loops->gap[row]);
                loop = i;
            }
    return loop;
}

const char *closure_open_loop(struct mechanism *m, const double *q, const double *qd, double most)
{
    double gap;
    const struct input in = {.q = q, .qd = qd};
    if (m->constraints->n_rows == 0) return NULL;
    dyn_configuration(m->model, m->work, q);
    dyn_motion(m->model, m->work, &in, NULL);
    dyn_velocity(m->model, m->work, &in);
    constraints_gap(m);
    const int loop = widest(m->constraints, &gap);
    return gap <= most ? NULL : m->robot->loop[loop].name;
}

void closure_report_open(struct mechanism *m, const struct state *state, struct report *report)
{
    const char *open = closure_open_loop(m, state->at.q, state->at.qd, GAP_OF_DIGITS);
    if (open == NULL) return;
    report_add(
        report, REPORT_WARNING,
        "the state leaves loop '%s' open: the joints of loops that it does not move, or that are passive, follow "
        "from the start of the robot",
        open);
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
    const struct following following = {.swept = -1, .bending = REPORT_WARNING};
    if (!given) return closure_close(m, state, NULL, report);
    closure_report_open(m, state, report);
    return closure_follow(m, &following, state, report);
}

/* ---- forces ------------------------------------------------------------------------------------------------------------------ */

/* Coordinates without a drive; their number */
static int list_undriven(const struct model *model, bool stiff, int *undriven)
{
    int count = 0;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; lm->passive && k < free_velocities(lm); k++) undriven[count++] = lm->v + k;
        for (int k = 0; k < lm->m && !stiff; k++) undriven[count++] = lm->eta_v + k;
    }
    return count;
}

static enum status subtract_forces(struct mechanism *m, bool stiff, double *force, struct arena *scratch)
{
    struct constraints *loops = m->constraints;
    const size_t n = (size_t)m->model->nv, k = (size_t)loops->n_active;
    int rank, *undriven = arena_allocate(scratch, n, sizeof *undriven);
    double *A = arena_allocate(scratch, n * k, sizeof *A), *lambda = arena_allocate(scratch, n + k, sizeof *lambda);
    if (scratch->failed) return STATUS_NO_MEMORY;
    const int count = list_undriven(m->model, stiff, undriven);
    constraints_rows(m);
    for (size_t row = 0; row < k; row++)
        for (int i = 0; i < count; i++) A[(size_t)count * row + (size_t)i] = loops->G[n * row + (size_t)undriven[i]];
    for (int i = 0; i < count; i++) lambda[i] = force[undriven[i]];
    const enum status status = least_squares(count, (int)k, A, lambda, scratch, &rank);
    for (size_t row = 0; row < k && status == STATUS_OK && count > 0; row++)
        for (size_t j = 0; j < n; j++) force[j] -= loops->G[n * row + j] * lambda[row];
    return status;
}

enum status closure_subtract_forces(struct mechanism *m, bool stiff, double *force, struct report *report)
{
    if (m->constraints->n_active == 0) return STATUS_OK;
    struct arena scratch = {0};
    const enum status status = subtract_forces(m, stiff, force, &scratch);
    arena_release(&scratch);
    if (status != STATUS_OK)
        report_add(report, REPORT_ERROR, "the forces of the loops could not be computed: %s", status_text(status));
    return status;
}
