#include "analysis/driven_modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/failure.h"
#include "analysis/lapack.h"
#include "analysis/names.h"

/* Eigenvalues and eigenvectors of A, with states in units of their nominal values */
struct eigensystem {
    int n;
    double *A, *re, *im, *left, *right; /* by columns */
};

/* Position or velocity of a joint with a drive, or a state of such a drive */
static bool is_locked(const struct linear *linear, int state)
{
    const struct model *model = linear->point->mechanism->model;
    const int half = linear->n_positions;
    if (state >= 2 * half) {
        int d = model->robot->n_drives - 1;
        while (model->robot->drive[d].first_w > state - 2 * half) d--;
        return model->robot->drive[d].link >= 0;
    }
    const int coordinate = linear->coordinate[state % half], link = name_velocity_link(model, coordinate);
    return coordinate < model->link[link].v + model->link[link].joint.nv && !model->link[link].passive;
}

static enum status solve(const struct linear *linear, struct driven_modes *modes, struct eigensystem *e)
{
    struct arena *arena = &modes->arena;
    const int n = e->n = modes->n_states, *state = modes->state;
    arena_arrays(arena, (size_t)n * (size_t)n, ARRAYS(&e->A, &e->left, &e->right));
    arena_arrays(arena, (size_t)n, ARRAYS(&e->re, &e->im));
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            e->A[n * j + i] = linear->A[linear->n_states * state[i] + state[j]] * linear->x[state[j]].nominal /
                              linear->x[state[i]].nominal;
    const int info =
        n > 0 ? LAPACKE_dgeev(LAPACK_COL_MAJOR, 'V', 'V', n, e->A, n, e->re, e->im, e->left, n, e->right, n) : 0;
    return lapack_status(info, STATUS_NO_EIGENVALUES);
}

static int by_frequency(const void *a, const void *b)
{
    const struct driven_mode *x = a, *y = b;
    if (x->frequency != y->frequency) return x->frequency < y->frequency ? -1 : 1;
    return (x->growth < y->growth) - (x->growth > y->growth);
}

/* share = |l_i r_i| over its sum; the vectors of a pair are (re, im) in columns k and k + 1 */
static enum status describe(const struct eigensystem *e, struct driven_modes *modes)
{
    const size_t n = (size_t)e->n;
    double *share, *zeros;
    arena_arrays(&modes->arena, n * n, ARRAYS(&share));
    arena_arrays(&modes->arena, n, ARRAYS(&zeros));
    modes->mode = arena_allocate(&modes->arena, n, sizeof *modes->mode);
    if (modes->arena.failed) return STATUS_NO_MEMORY;
    for (int k = 0; k < e->n; k += e->im[k] != 0 ? 2 : 1, share += n) {
        const double re = e->re[k], im = fabs(e->im[k]), *left = e->left + e->n * k, *right = e->right + e->n * k;
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            share[i] = im > 0 ? hypot(left[i], left[n + i]) * hypot(right[i], right[n + i]) : fabs(left[i] * right[i]);
            sum += share[i];
        }
        for (size_t i = 0; i < n && sum > 0; i++) share[i] /= sum;
        modes->mode[modes->n++] = (struct driven_mode){.frequency = im / (8 * atan(1)),
                                                       .growth = re,
                                                       .damping_ratio = im > 0 ? -re / hypot(re, im) : 0,
                                                       .share = share,
                                                       .re = right,
                                                       .im = im > 0 ? right + n : zeros};
    }
    qsort(modes->mode, (size_t)modes->n, sizeof *modes->mode, by_frequency);
    return STATUS_OK;
}

enum status driven_modes_make(const struct linear *linear, bool joints_free, struct report *report,
                              struct driven_modes *modes)
{
    struct eigensystem e;
    memset(modes, 0, sizeof *modes);
    modes->state = arena_allocate(&modes->arena, (size_t)linear->n_states, sizeof *modes->state);
    if (modes->state == NULL) return failure_status(report, STATUS_NO_MEMORY);
    for (int i = 0; i < linear->n_states; i++)
        if (joints_free || !is_locked(linear, i)) modes->state[modes->n_states++] = i;
    enum status status = solve(linear, modes, &e);
    if (status == STATUS_OK) status = describe(&e, modes);
    return failure_status(report, status);
}

void driven_modes_free(struct driven_modes *modes)
{
    arena_release(&modes->arena);
}
