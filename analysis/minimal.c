/* A closed robot in minimal coordinates. */
#include <string.h>

#include "analysis/failure.h"
#include "analysis/independent.h"
#include "analysis/linear.h"
#include "analysis/names.h"

/* dq = N dy: all coordinates as functions of those that the loops leave free, which include prescribed joints */
struct freedom {
    int n;         /* free coordinates                                                             */
    int *free_one; /* n: their indices in q                                                        */
    double *N;     /* n of the model x n                                                           */
    int *of_state; /* n_states: the free coordinate that it is the position or the rate of; -1: none; of a drive 0 */
    int *of_input; /* n_inputs: likewise                                                           */
    bool *is_rate; /* n_inputs                                                                     */
};

/* ---- free coordinates --------------------------------------------------------------------------------------------------------- */

/* Finds the free coordinate, or its rate, that each state and each input is */
static enum status number_free(struct linear *linear, struct freedom *f)
{
    const struct model *model = linear->point->mechanism->model;
    const int half = linear->n_positions;
    f->of_state = arena_allocate(&linear->point->arena, (size_t)linear->n_states, sizeof(int));
    f->of_input = arena_allocate(&linear->point->arena, (size_t)linear->n_inputs, sizeof(int));
    f->is_rate = arena_allocate(&linear->point->arena, (size_t)linear->n_inputs, sizeof(bool));
    if (linear->point->arena.failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < 2 * half; i++) f->of_state[i] = -1;
    for (int j = 0; j < linear->n_inputs; j++) f->of_input[j] = -1;
    for (int c = 0; c < f->n; c++) {
        for (int i = 0; i < half; i++)
            if (f->free_one[c] == linear->coordinate[i]) f->of_state[i] = f->of_state[half + i] = c;
        for (int d = POSITION; d <= VELOCITY; d++) {
            char name[NAME_SIZE];
            name_coordinate(model, d == POSITION ? TANGENT : VELOCITY, f->free_one[c], name);
            for (int j = 0; j < linear->n_inputs; j++) {
                if (strcmp(linear->u[j].name, name) != 0) continue;
                f->of_input[j] = c;
                f->is_rate[j] = d == VELOCITY;
            }
        }
    }
    return STATUS_OK;
}

/* ---- the matrices ----------------------------------------------------------------------------------------------------------------- */

/* Change of a row of A or C while a free coordinate, or its rate, changes and all states follow */
static double along(const struct linear *linear, const struct freedom *f, const double *row, int c, bool rate)
{
    const int half = linear->n_positions;
    double sum = 0;
    for (int i = 0; i < half; i++) sum += row[rate ? half + i : i] * f->N[f->n * linear->coordinate[i] + c];
    return sum;
}

/* A row of (A B) or (C D) in minimal coordinates; `state` lists the remaining states */
static void reduce_row(const struct linear *linear, const struct freedom *f, const double *row, const double *by_input,
                       int count, const int *state, double *out, double *out_input)
{
    const int half = linear->n_positions;
    for (int j = 0; j < count; j++)
        out[j] = state[j] < 2 * half ? along(linear, f, row, f->of_state[state[j]], state[j] >= half) : row[state[j]];
    for (int j = 0; j < linear->n_inputs; j++) {
        const int c = f->of_input[j];
        out_input[j] = by_input[j] + (c >= 0 ? along(linear, f, row, c, f->is_rate[j]) : 0);
    }
}

static enum status reduce(struct linear *linear, const struct freedom *f)
{
    const size_t n = (size_t)linear->n_states, m = (size_t)linear->n_inputs, p = (size_t)linear->n_outputs;
    const int nv = linear->point->mechanism->model->nv;
    struct arena *arena = &linear->point->arena;
    int *state = arena_allocate(arena, n, sizeof *state), count = 0;
    double *A, *B, *C, *D;
    arena_arrays(arena, n * n, ARRAYS(&A));
    arena_arrays(arena, n * m, ARRAYS(&B));
    arena_arrays(arena, p * n, ARRAYS(&C));
    arena_arrays(arena, p * m, ARRAYS(&D));
    arena_arrays(arena, (size_t)nv * n, ARRAYS(&linear->basis));
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < linear->n_states; i++)
        if (f->of_state[i] >= 0) state[count++] = i;
    const size_t left = (size_t)count;
    for (size_t i = 0; i < left; i++) {
        const size_t from = (size_t)state[i];
        reduce_row(linear, f, linear->A + n * from, linear->B + m * from, count, state, A + left * i, B + m * i);
    }
    for (size_t i = 0; i < p; i++)
        reduce_row(linear, f, linear->C + n * i, linear->D + m * i, count, state, C + left * i, D + m * i);
    for (int i = 0; i < count; i++) linear->x[i] = linear->x[state[i]];

    /* columns of N that belong to the remaining states */
    const int half = (count - (linear->n_states - 2 * linear->n_positions)) / 2;
    for (int j = 0; j < half; j++) {
        const int c = f->of_state[state[j]];
        for (int i = 0; i < nv; i++) linear->basis[half * i + j] = f->N[f->n * i + c];
        linear->coordinate[j] = f->free_one[c];
    }
    linear->n_states = count;
    linear->n_positions = half;
    linear->A = A, linear->B = B, linear->C = C, linear->D = D;
    return STATUS_OK;
}

enum status linear_minimal(struct linear *linear, struct report *report)
{
    const struct mechanism *m = linear->point->mechanism;
    const struct constraints *loops = m->constraints;
    struct arena *arena = &linear->point->arena;
    const int n = m->model->nv, k = loops->n_active;
    const size_t count = (size_t)n;
    struct freedom freedom = {.n = n - k};
    if (k == 0) return STATUS_OK;
    double *G;
    arena_arrays(arena, count * (size_t)k, ARRAYS(&G));
    arena_arrays(arena, count * count, ARRAYS(&freedom.N));
    freedom.free_one = arena_allocate(arena, count, sizeof(int));
    int *row_of = arena_allocate(arena, count, sizeof *row_of);
    enum solve_for *wish = arena_allocate(arena, count, sizeof *wish);
    if (arena->failed) return failure_status(report, STATUS_NO_MEMORY);
    memcpy(G, loops->G, count * (size_t)k * sizeof *G);
    for (int i = 0; i < n; i++) wish[i] = SOLVE_IF_NEEDED;
    for (int i = 0; i < m->model->n_links; i++) {
        const struct link_model *lm = &m->model->link[i];
        for (int c = lm->v; c < lm->v + lm->joint.nv; c++)
            wish[c] = lm->prescribed >= 0 ? SOLVE_NEVER : lm->passive ? SOLVE_FIRST : SOLVE_IF_NEEDED;
    }
    const bool independent = independent_coordinates(n, k, G, wish, row_of, freedom.free_one, freedom.N);
    enum status status = independent ? number_free(linear, &freedom) : STATUS_SINGULAR_LOOP;
    if (status == STATUS_OK) status = reduce(linear, &freedom);
    return failure_status(report, status);
}
