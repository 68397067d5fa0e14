#include "actuated.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "closed.h"

/* B = dl/dq', a column for every actuator: generalised forces of a unit force along its line                             (59) */
static enum status unit_forces(struct cli_model *loaded, double *unit, double *B)
{
    const struct robot *robot = loaded->robot;
    const size_t n = (size_t)loaded->mechanism.model->n;
    const struct input in = {.actuator_force = unit};
    struct input actuated;
    for (int a = 0; a < robot->n_actuators; a++) unit[a] = 1;
    const enum status status = actuators_apply(&loaded->mechanism, &in, &actuated);
    for (int load = 0; load < 2 * robot->n_actuators && status == STATUS_OK; load++)
        dyn_frame_force(loaded->mechanism.model, loaded->mechanism.work, &actuated.load[load],
                        B + n * (size_t)(load / 2));
    return status;
}

/* Rows of B and of the forces that belong to passive joints; how many there are */
static int passive_rows(const struct model *model, int n_actuators, const double *B, const double *force, double *rows,
                        double *F)
{
    int count = 0, row = 0;
    for (int i = 0; i < model->n_links; i++) count += model->link[i].q >= 0 && model->link[i].passive;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->q < 0 || !lm->passive) continue;
        for (int a = 0; a < n_actuators; a++) rows[count * a + row] = B[model->n * a + lm->q];
        F[row++] = force[lm->q];
    }
    return count;
}

int actuated_forces(const char *command, struct cli_model *loaded, double *force, double *F)
{
    const size_t n = (size_t)loaded->mechanism.model->n, m = (size_t)loaded->robot->n_actuators;
    struct arena scratch = {0};
    double *B = arena_take(&scratch, n * m, sizeof *B), *rows = arena_take(&scratch, n * m, sizeof *rows),
           *x = arena_take(&scratch, n + m, sizeof *x);
    enum status status = scratch.failed ? STATUS_NO_MEMORY : unit_forces(loaded, F, B);
    if (status == STATUS_OK) {
        const int count = passive_rows(loaded->mechanism.model, (int)m, B, force, rows, x);
        if (least_squares(count, (int)m, rows, x, &scratch) < 0)
            status = scratch.failed ? STATUS_NO_MEMORY : STATUS_LINEAR_ALGEBRA;
        if (count == 0) memset(x, 0, m * sizeof *x);
    }
    for (size_t a = 0; a < m && status == STATUS_OK; a++) {
        F[a] = x[a];
        for (size_t i = 0; i < n; i++) force[i] -= B[n * a + i] * F[a];
    }
    if (status != STATUS_OK) cli_not_solved(command, &loaded->mechanism, status);
    arena_release(&scratch);
    return status == STATUS_OK ? EXIT_FINE : EXIT_COMPUTATION;
}
