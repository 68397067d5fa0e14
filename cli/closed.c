#include "closed.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

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

const char *closed_worst(struct cli_model *loaded, const struct state *state, double most)
{
    double gap;
    const struct input in = {.q = state->q, .qd = state->qd};
    if (loaded->mechanism.constraints->n_rows == 0) return NULL;
    dyn_configuration(loaded->mechanism.model, loaded->mechanism.work, state->q);
    dyn_motion(loaded->mechanism.model, loaded->mechanism.work, &in, NULL);
    dyn_velocity(loaded->mechanism.model, loaded->mechanism.work, &in);
    constraints_gap(&loaded->mechanism);
    const int loop = widest(loaded->mechanism.constraints, &gap);
    return gap <= most ? NULL : loaded->robot->loop[loop].name;
}

/* Joints that do not suffice leave it to the links, which are then bent */
static void tell_bending(const struct model *model, const double *q, const double *before, enum report_level level,
                         struct report *report)
{
    int worst = -1;
    for (int i = 0; i < model->n_links; i++)
        for (int k = model->link[i].eta; k < model->link[i].eta + model->link[i].m; k++)
            if (q[k] != before[k] && (worst < 0 || fabs(q[k] - before[k]) > fabs(q[worst] - before[worst]))) worst = k;
    if (worst < 0) return;
    char name[NAME_SIZE];
    int i = 0;
    while (worst >= model->link[i].eta + model->link[i].m) i++;
    cli_coordinate_name(&model->robot->link[i], worst - model->link[i].eta + (model->link[i].q >= 0), name);
    report_add(report, level,
               "the loops do not close by moving joints alone: links are deformed, most of all %s = %.3g", name,
               q[worst]);
}

/* constraints_close(), with a word on what it took */
static enum status close_loops(struct cli_model *loaded, double *q, enum report_level bending, struct report *report)
{
    const size_t n = (size_t)loaded->mechanism.model->n;
    struct arena scratch = {0};
    double *before = arena_take(&scratch, n, sizeof *before);
    if (before == NULL) return STATUS_NO_MEMORY;
    memcpy(before, q, n * sizeof *before);
    const enum status status = constraints_close(&loaded->mechanism, q, report);
    if (status == STATUS_OK) tell_bending(loaded->mechanism.model, q, before, bending, report);
    arena_release(&scratch);
    return status;
}

static enum status close_state(struct cli_model *loaded, struct state *state, enum report_level bending,
                               struct report *report, struct report *redundant)
{
    struct constraints *loops = loaded->mechanism.constraints;
    if (loops->n_rows == 0) return STATUS_OK;
    enum status status = close_loops(loaded, state->q, bending, report);
    if (status == STATUS_OK && report->errors > 0) status = STATUS_OPEN_LOOP;
    if (status == STATUS_OK) status = constraints_settle(&loaded->mechanism, state->q, state->qd, redundant, report);
    return status == STATUS_OPEN_LOOP ? STATUS_BAD_STATE : status; /* the state is an input */
}

enum status closed_report(struct cli_model *loaded, struct state *state, struct report *report)
{
    return close_state(loaded, state, REPORT_WARNING, report, report);
}

/* For the command line: what went wrong, and the exit code */
static int tell(const char *command, struct cli_model *loaded, enum status status, const struct report *report)
{
    if (status == STATUS_NOT_POSITIVE) cli_not_positive(command, loaded->mechanism.model, loaded->mechanism.work);
    else if (status != STATUS_OK && report->errors == 0)
        fprintf(stderr, "limber: %s: %s\n", command, status_text(status));
    return cli_exit_code(status);
}

int closed_state(const char *command, struct cli_model *loaded, bool given, struct state *state)
{
    struct report report = {.line = cli_print_warning}, silent = {0}; /* redundant equations are for `limber check` */
    const char *open = given ? closed_worst(loaded, state, GAP_OF_DIGITS) : NULL;
    if (open != NULL)
        fprintf(stderr,
                "limber: %s: the state leaves loop '%s' open: it is taken as a guess and closed, passive joints "
                "first\n",
                command, open);
    return tell(command, loaded, close_state(loaded, state, REPORT_WARNING, &report, &silent), &report);
}

int closed_pose(const char *command, struct cli_model *loaded, struct state *state)
{
    struct report report = {.line = cli_print_error}, silent = {0};
    return tell(command, loaded, close_state(loaded, state, REPORT_ERROR, &report, &silent), &report);
}

/* ---- forces ------------------------------------------------------------------------------------------------------------------ */

/* Coordinates without a drive; their number */
static int list_undriven(const struct model *model, bool stiff, int *undriven)
{
    int count = 0;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->q >= 0 && lm->passive && lm->prescribed < 0) undriven[count++] = lm->q;
        for (int k = 0; k < lm->m && !stiff; k++) undriven[count++] = lm->eta + k;
    }
    return count;
}

int least_squares(int rows, int columns, double *A, double *x, struct arena *arena)
{
    double *singular = arena_take(arena, (size_t)(rows < columns ? rows : columns), sizeof *singular);
    const int longest = rows > columns ? rows : columns;
    lapack_int rank = 0;
    if (arena->failed) return -1;
    if (rows == 0 || columns == 0) return 0;
    const int info = LAPACKE_dgelsd(LAPACK_COL_MAJOR, rows, columns, 1, A, rows, x, longest, singular, 1e-10, &rank);
    return info == 0 ? (int)rank : -1;
}

int closed_forces(const char *command, struct cli_model *loaded, bool stiff, double *force)
{
    const struct model *model = loaded->mechanism.model;
    struct constraints *loops = loaded->mechanism.constraints;
    const size_t n = (size_t)model->n, k = (size_t)loops->n_kept;
    struct arena scratch = {0};
    if (k == 0) return EXIT_FINE;
    int *undriven = arena_take(&scratch, n, sizeof *undriven);
    double *A = arena_take(&scratch, n * k, sizeof *A), *lambda = arena_take(&scratch, n + k, sizeof *lambda);
    int rank = -1;
    if (!scratch.failed) {
        const int count = list_undriven(model, stiff, undriven);
        constraints_rows(&loaded->mechanism);
        for (size_t row = 0; row < k; row++)
            for (int i = 0; i < count; i++)
                A[(size_t)count * row + (size_t)i] = loops->G[n * row + (size_t)undriven[i]];
        for (int i = 0; i < count; i++) lambda[i] = force[undriven[i]];
        rank = least_squares(count, (int)k, A, lambda, &scratch);
        for (size_t row = 0; row < k && rank >= 0 && count > 0; row++)
            for (size_t j = 0; j < n; j++) force[j] -= loops->G[n * row + j] * lambda[row];
    }
    arena_release(&scratch);
    if (rank < 0) fprintf(stderr, "limber: %s: the forces of the loops could not be computed\n", command);
    return rank < 0 ? EXIT_COMPUTATION : EXIT_FINE;
}
