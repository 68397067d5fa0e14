#include "inputs.h"

#include <math.h>
#include <stdio.h>

#include "analysis/rows.h"
#include "cli.h"
#include "instance.h"

enum { POSITION, RATE, ACCELERATION };

static const double SAME_TIME = 1e-12; /* times that differ by this fraction differ by rounding only */

/* ---- the columns of a file ----------------------------------------------------------------------------------------------- */

/* Column c of the file as an array */
static double *copy_column(const struct csv *csv, int c, struct arena *arena)
{
    double *x = arena_allocate(arena, (size_t)csv->n_rows, sizeof *x);
    for (int i = 0; x != NULL && i < csv->n_rows; i++)
        x[i] = csv->number[(size_t)csv->n_columns * (size_t)i + (size_t)c];
    return x;
}

/* Value references of q, qd, qdd of the motion that an input belongs to. False: it belongs to none. */
static bool motion_of(const struct stepper *stepper, int reference, int motion[3])
{
    int i = stepper->input_number[reference];
    for (int moved = 1; moved;) { /* from any of the three to the position */
        moved = 0;
        for (int k = 0; k < stepper->n_inputs && !moved; k++)
            if (stepper->derivative[k] == i) i = k, moved = 1;
    }
    const int rate = stepper->derivative[i];
    if (rate < 0) return false;
    motion[POSITION] = stepper->input[i];
    motion[RATE] = stepper->input[rate];
    motion[ACCELERATION] = stepper->input[stepper->derivative[rate]];
    return true;
}

static int find_columns(struct inputs *inputs, const struct instance *sim, const struct csv *csv, struct arena *arena)
{
    const struct variables *v = &sim->variables;
    inputs->t = copy_column(csv, 0, arena);
    inputs->column = arena_allocate(arena, (size_t)csv->n_columns, sizeof *inputs->column);
    inputs->place = arena_allocate(arena, (size_t)v->n_values, sizeof *inputs->place);
    inputs->ends_step = arena_allocate(arena, (size_t)csv->n_rows, sizeof *inputs->ends_step);
    if (arena->failed) return cli_no_memory("simulate");
    for (int r = 0; r < v->n_values; r++) inputs->place[r] = -1;
    for (int c = 1; c < csv->n_columns; c++) {
        const int row = cli_find_variable(csv->file, v, CAUSALITY_INPUT, csv->name[c], arena);
        if (row < 0) return EXIT_INPUT;
        const int reference = v->row[row].reference;
        int motion[3] = {reference, reference, reference}, *place = inputs->place;
        const bool is_motion = motion_of(&sim->stepper, reference, motion);
        if (place[reference] < 0) { /* the first column of its motion */
            for (int d = 0; d < (is_motion ? 3 : 1); d++) place[motion[d]] = 3 * inputs->n_columns + d;
            inputs->column[inputs->n_columns++].is_motion = is_motion;
        }
        inputs->column[place[reference] / 3].x[place[reference] % 3] = copy_column(csv, c, arena);
    }
    return arena->failed ? cli_no_memory("simulate") : EXIT_OK;
}

/* ---- missing columns ---------------------------------------------------------------------------------------------------- */

/* Derives those of q, qd, qdd that are missing. A derivative is computed from the column before it. Without q, it is the integral of qd, starting
   at the constant value; without q and qd, qd likewise that of qdd. */
static void complete_motion(const struct inputs *inputs, struct input_rows *motion, const double constant[3],
                            struct arena *arena)
{
    const int n = inputs->n_rows;
    const double *t = inputs->t;
    double **x = motion->x;
    const bool given[3] = {x[0] != NULL, x[1] != NULL, x[2] != NULL};
    for (int d = 0; d < 3; d++) {
        if (!given[d]) x[d] = arena_allocate(arena, (size_t)n, sizeof *x[d]);
        if (x[d] == NULL) return;
        if (!given[d]) x[d][0] = constant[d];
    }
    if (given[POSITION] && !given[RATE])
        rows_differentiate(n, t, x[POSITION], x[RATE], given[ACCELERATION] ? NULL : x[ACCELERATION]);
    else if (!given[RATE]) rows_integrate_linear(n, t, x[ACCELERATION], x[RATE]);
    else if (!given[ACCELERATION]) rows_differentiate(n, t, x[RATE], x[ACCELERATION], NULL);
    if (!given[POSITION]) rows_integrate(n, t, x[RATE], x[ACCELERATION], x[POSITION]);
}

static int complete_columns(struct inputs *inputs, const struct instance *sim, struct arena *arena)
{
    const size_t n = (size_t)inputs->n_rows;
    double *work = arena_allocate(arena, n, sizeof *work);
    for (int r = 0; r < sim->variables.n_values && !arena->failed; r++) {
        const int place = inputs->place[r];
        int motion[3];
        if (place < 0 || place % 3 != POSITION) continue;
        struct input_rows *column = &inputs->column[place / 3];
        if (motion_of(&sim->stepper, r, motion)) {
            double constant[3];
            for (int d = 0; d < 3; d++) constant[d] = instance_get(sim, motion[d]);
            complete_motion(inputs, column, constant, arena);
        } else if (inputs->between == BETWEEN_CUBIC) {
            column->x[1] = arena_allocate(arena, n, sizeof *work);
            if (!arena->failed) rows_spline(inputs->n_rows, inputs->t, column->x[0], column->x[1], work);
        }
    }
    return arena->failed ? cli_no_memory("simulate") : EXIT_OK;
}

/* ---- between rows -------------------------------------------------------------------------------------------------------- */

/* x = q, qd, qdd of a motion at time t, on the piece that starts at row i */
static void motion_at(const struct inputs *inputs, const struct input_rows *motion, int i, double t, double x[3])
{
    const int n = inputs->n_rows, next = i < 0 ? 0 : i < n - 1 ? i + 1 : n - 1, row = i < 0 ? 0 : i;
    const double *rows[3] = {motion->x[0], motion->x[1], motion->x[2]}, s = t - inputs->t[row];
    double A[3], B[3];
    for (int d = 0; d < 3; d++) A[d] = rows[d][row], B[d] = rows[d][next];
    if (inputs->between == BETWEEN_HELD && i >= 0) {
        x[POSITION] = A[POSITION] + s * (A[RATE] + s * A[ACCELERATION] / 2);
        x[RATE] = A[RATE] + s * A[ACCELERATION];
        x[ACCELERATION] = A[ACCELERATION];
    } else if (row == next) { /* constant before the first and after the last row */
        x[POSITION] = A[POSITION];
        x[RATE] = x[ACCELERATION] = 0;
    } else {
        const double h = inputs->t[next] - inputs->t[row];
        rows_quintic_at(h, s / h, A, B, x);
    }
}

/* All inputs are evaluated at the same t in turn, so the piece is usually that of the last call. The instance's clock differs by
   rounding; values at the ends of a step must not, or they would look like a jump. */
static const struct piece *piece_at(struct inputs *inputs, double t)
{
    struct piece *piece = &inputs->piece;
    if (piece->asked == t) return piece;
    const bool first = t <= inputs->from * (1 + SAME_TIME), last = t >= inputs->to * (1 - SAME_TIME);
    const double within = first ? inputs->from : last ? inputs->to : t;
    const double *row = inputs->t;
    int i = piece->row; /* becomes the last row before that time, or at it if the step begins there */
    while (i >= 0 && (row[i] > within || (!first && row[i] == within))) i--;
    while (i < inputs->n_rows - 1 && (row[i + 1] < within || (first && row[i + 1] == within))) i++;
    *piece = (struct piece){.asked = t, .t = within, .row = i};
    if (i < 0 || i == inputs->n_rows - 1) return piece;
    piece->h = inputs->t[i + 1] - inputs->t[i];
    piece->s = (within - inputs->t[i]) / piece->h;
    return piece;
}

static void inputs_at(void *context, int reference, double t, double *u)
{
    struct inputs *inputs = context;
    const int place = inputs->place[reference];
    if (place < 0) return;
    const struct input_rows *column = &inputs->column[place / 3];
    const struct piece *piece = piece_at(inputs, t);
    const double *value = column->x[0], *slope = column->x[1], s = piece->s;
    const int i = piece->row;
    double x[3];
    if (column->is_motion) {
        motion_at(inputs, column, i, piece->t, x);
        *u = x[place % 3];
    } else if (i < 0 || i == inputs->n_rows - 1 || inputs->between == BETWEEN_HELD) {
        *u = value[i < 0 ? 0 : i];
    } else if (inputs->between == BETWEEN_CUBIC) {
        *u = rows_cubic_at(piece->h, s, value[i], value[i + 1], slope[i], slope[i + 1]);
    } else {
        *u = (1 - s) * value[i] + s * value[i + 1];
    }
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

/* Between cubic rows steps end only where a straight line misses them by more than this fraction of their range, so that no step passes
   over a pulse */
static const double FEATURE = 0.05;

void inputs_choose_ends(struct inputs *inputs, double tolerance)
{
    if (inputs->n_rows == 0) return;
    inputs->ends_step[0] = inputs->ends_step[inputs->n_rows - 1] = true; /* before and after them: constant */
    for (int c = 0; c < inputs->n_columns; c++) {
        const struct input_rows *column = &inputs->column[c];
        const double *x = column->x[0];
        double least = x[0], most = x[0];
        for (int i = 1; i < inputs->n_rows; i++) {
            bool jumps = false; /* a held input; a motion, in every row in which it does not rest */
            for (int d = 0; d < (column->is_motion ? 3 : 1) && inputs->between == BETWEEN_HELD; d++)
                jumps = jumps || column->x[d][i] != column->x[d][i - 1] || (d > 0 && column->x[d][i] != 0);
            if (jumps) inputs->ends_step[i] = true;
            if (x[i] < least) least = x[i];
            if (x[i] > most) most = x[i];
        }
        if (inputs->between == BETWEEN_HELD || column->is_motion) continue;
        rows_kinks(inputs->n_rows, inputs->t, x,
                   (inputs->between == BETWEEN_LINEAR ? tolerance : FEATURE) * (most - least), inputs->ends_step);
    }
}

/* A start or end of a step that differs from the time of a row by rounding only is taken as that time. */
double inputs_begin_step(struct inputs *inputs, double t, double end)
{
    const double *row = inputs->t, before_end = end * (1 - SAME_TIME);
    int *next = &inputs->next;
    inputs->piece.asked = NAN;
    inputs->from = t;
    for (; *next < inputs->n_rows && row[*next] <= t * (1 + SAME_TIME); ++*next)
        if (row[*next] >= t * (1 - SAME_TIME)) inputs->from = row[*next];
    int stop = *next;
    while (stop < inputs->n_rows && !inputs->ends_step[stop] && row[stop] < before_end) stop++;
    const bool at_row = stop < inputs->n_rows && row[stop] <= end * (1 + SAME_TIME);
    inputs->to = at_row ? row[stop] : end;
    return at_row && row[stop] < before_end ? row[stop] : end;
}

/* ---- making ------------------------------------------------------------------------------------------------------------- */

int inputs_read(const char *file, enum between between, struct instance *sim, struct arena *arena,
                struct report *report, struct inputs *inputs)
{
    struct csv csv;
    *inputs = (struct inputs){
        .between = between, .piece = {.asked = NAN, .row = -1}, .curve = {.context = inputs, .at = inputs_at}};
    if (file == NULL) return EXIT_OK;
    const enum status status = csv_read(file, TIMES_INCREASE, arena, report, &csv);
    if (status != STATUS_OK) return cli_exit_code(status);
    inputs->n_rows = csv.n_rows;
    int code = find_columns(inputs, sim, &csv, arena);
    if (code == EXIT_OK) code = complete_columns(inputs, sim, arena);
    inputs->curve.place = inputs->place;
    if (code == EXIT_OK) instance_follow(sim, &inputs->curve);
    return code;
}
