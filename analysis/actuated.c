#include "analysis/actuated.h"

#include <string.h>

#include "analysis/failure.h"
#include "analysis/least_squares.h"

/* B = dl/dq', a column for every actuator, whose lines must have directions                                               (59) */
static enum status line_columns(struct mechanism *m, double *B)
{
    const struct input in = {0};
    struct input actuated;
    const enum status status = actuators_apply(m, &in, &actuated);
    for (int a = 0; a < m->robot->n_actuators && status == STATUS_OK; a++)
        actuators_row(m, a, B + (size_t)m->model->nv * (size_t)a);
    return status;
}

/* Rows of B and of the forces that belong to passive joints; how many there are */
static int passive_rows(const struct model *model, int n_actuators, const double *B, const double *force, double *rows,
                        double *F)
{
    int count = 0, row = 0;
    for (int i = 0; i < model->n_links; i++) count += model->link[i].passive ? model->link[i].joint.nv : 0;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; lm->passive && k < lm->joint.nv; k++, row++) {
            for (int a = 0; a < n_actuators; a++) rows[count * a + row] = B[model->nv * a + lm->v + k];
            F[row] = force[lm->v + k];
        }
    }
    return count;
}

static enum status solve(struct mechanism *m, double *force, double *F, struct arena *scratch)
{
    const size_t n = (size_t)m->model->nv, n_actuators = (size_t)m->robot->n_actuators;
    double *B = arena_allocate(scratch, n * n_actuators, sizeof *B),
           *x = arena_allocate(scratch, n + n_actuators, sizeof *x),
           *rows = arena_allocate(scratch, n * n_actuators, sizeof *rows);
    int rank;
    enum status status = scratch->failed ? STATUS_NO_MEMORY : line_columns(m, B);
    if (status != STATUS_OK) return status;
    const int count = passive_rows(m->model, (int)n_actuators, B, force, rows, x);
    status = least_squares(count, (int)n_actuators, rows, x, scratch, &rank);
    if (count == 0) memset(x, 0, n_actuators * sizeof *x);
    for (size_t a = 0; a < n_actuators && status == STATUS_OK; a++) {
        F[a] = x[a];
        for (size_t i = 0; i < n; i++) force[i] -= B[n * a + i] * F[a];
    }
    return status;
}

enum status actuated_forces(struct mechanism *m, double *force, double *F, struct report *report)
{
    struct arena scratch = {0};
    const enum status status = solve(m, force, F, &scratch);
    arena_release(&scratch);
    return failure_report(report, m, status);
}
