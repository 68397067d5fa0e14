#include "analysis/driven_modes.h"

#include <math.h>

#include "analysis/failure.h"
#include "analysis/lapack.h"
#include "analysis/names.h"

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

/* Eigenvalues and eigenvectors of A, with states in units of their nominal values. The vectors of a pair are (re, im) in columns k and
   k + 1. */
static enum status solve(const struct linear *linear, struct driven_modes *modes)
{
    struct arena *arena = &linear->point->arena;
    const int n = modes->n_states, *state = modes->state;
    const size_t count = (size_t)n;
    double *A, *res, *ims, *lefts, *rights, *share, *zeros; /* matrices by columns */
    arena_arrays(arena, count * count, ARRAYS(&A, &lefts, &rights, &share));
    arena_arrays(arena, count, ARRAYS(&res, &ims, &zeros));
    modes->mode = arena_allocate(arena, count, sizeof *modes->mode);
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[n * j + i] = linear->A[linear->n_states * state[i] + state[j]] * linear->x[state[j]].nominal /
                           linear->x[state[i]].nominal;
    const int info = n > 0 ? LAPACKE_dgeev(LAPACK_COL_MAJOR, 'V', 'V', n, A, n, res, ims, lefts, n, rights, n) : 0;
    if (info != 0) return lapack_status(info, STATUS_NO_EIGENVALUES);
    for (int k = 0; k < n; k += ims[k] != 0 ? 2 : 1, share += n) {
        const double re = res[k], im = fabs(ims[k]), *left = lefts + n * k;
        double sum = 0, *right = rights + n * k;
        for (int i = 0; i < n; i++) {
            share[i] = im > 0 ? hypot(left[i], left[n + i]) * hypot(right[i], right[n + i]) : fabs(left[i] * right[i]);
            sum += share[i];
        }
        for (int i = 0; i < n && sum > 0; i++) share[i] /= sum;
        modes->mode[modes->n++] = (struct mode){.frequency = im / (8 * atan(1)),
                                                .growth = re,
                                                .damping_ratio = im > 0 ? -re / hypot(re, im) : 0,
                                                .share = share,
                                                .re = right,
                                                .im = im > 0 ? right + n : zeros};
    }
    eigenmodes_sort(modes->mode, modes->n);
    return STATUS_OK;
}

enum status driven_modes_make(const struct linear *linear, bool joints_free, struct report *report,
                              struct driven_modes *modes)
{
    *modes = (struct driven_modes){
        .state = arena_allocate(&linear->point->arena, (size_t)linear->n_states, sizeof *modes->state)};
    if (modes->state == NULL) return failure_status(report, STATUS_NO_MEMORY);
    for (int i = 0; i < linear->n_states; i++)
        if (joints_free || !is_locked(linear, i)) modes->state[modes->n_states++] = i;
    return failure_status(report, solve(linear, modes));
}
