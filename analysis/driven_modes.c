#include "analysis/driven_modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/failure.h"
#include "analysis/lapack.h"
#include "analysis/names.h"

/* Eigenvalues and eigenvectors of A, states in units of their nominal values */
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

static enum status choose_states(const struct linear *linear, bool joints_free, struct driven_modes *modes)
{
    modes->state = arena_allocate(&modes->arena, (size_t)linear->n_states, sizeof *modes->state);
    if (modes->state == NULL) return STATUS_NO_MEMORY;
    for (int i = 0; i < linear->n_states; i++)
        if (joints_free || !is_locked(linear, i)) modes->state[modes->n_states++] = i;
    return STATUS_OK;
}

static enum status solve(const struct linear *linear, struct driven_modes *modes, struct eigensystem *e)
{
    struct arena *arena = &modes->arena;
    const int n = e->n = modes->n_states, *state = modes->state;
    const size_t N = (size_t)n;
    double **const matrices[] = {&e->A, &e->left, &e->right}, **const vectors[] = {&e->re, &e->im};
    for (int i = 0; i < 3; i++) *matrices[i] = arena_allocate(arena, N * N, sizeof(double));
    for (int i = 0; i < 2; i++) *vectors[i] = arena_allocate(arena, N, sizeof(double));
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            e->A[n * j + i] = linear->A[linear->n_states * state[i] + state[j]] * linear->x[state[j]].nominal /
                              linear->x[state[i]].nominal;
    const int info =
        n > 0 ? LAPACKE_dgeev(LAPACK_COL_MAJOR, 'V', 'V', n, e->A, n, e->re, e->im, e->left, n, e->right, n) : 0;
    return lapack_status(info, STATUS_NO_EIGENVALUES);
}

/* |l_i r_i|; the vectors of a pair are (re, im) in columns k and k + 1 */
static void participate(const struct eigensystem *e, int k, double *share)
{
    const double *l = e->left + e->n * k, *r = e->right + e->n * k;
    const bool pair = e->im[k] != 0;
    double sum = 0;
    for (int i = 0; i < e->n; i++) {
        share[i] = pair ? hypot(l[i], l[e->n + i]) * hypot(r[i], r[e->n + i]) : fabs(l[i] * r[i]);
        sum += share[i];
    }
    for (int i = 0; i < e->n && sum > 0; i++) share[i] /= sum;
}

static int by_frequency(const void *a, const void *b)
{
    const struct driven_mode *x = a, *y = b;
    if (x->frequency != y->frequency) return x->frequency < y->frequency ? -1 : 1;
    return (x->growth < y->growth) - (x->growth > y->growth);
}

static enum status take_modes(const struct eigensystem *e, struct driven_modes *modes)
{
    const size_t n = (size_t)e->n;
    double *share = arena_allocate(&modes->arena, n * n, sizeof *share);
    modes->mode = arena_allocate(&modes->arena, n, sizeof *modes->mode);
    if (modes->arena.failed) return STATUS_NO_MEMORY;
    const double *zeros = arena_allocate(&modes->arena, n, sizeof *zeros);
    if (zeros == NULL) return STATUS_NO_MEMORY;
    for (int k = 0; k < e->n; k += e->im[k] != 0 ? 2 : 1, share += n) {
        const double re = e->re[k], im = fabs(e->im[k]), *right = e->right + e->n * k;
        participate(e, k, share);
        modes->mode[modes->n++] = (struct driven_mode){.frequency = im / (8 * atan(1)),
                                                       .growth = re,
                                                       .damping_ratio = im > 0 ? -re / hypot(re, im) : 0,
                                                       .share = share,
                                                       .re = right,
                                                       .im = im > 0 ? right + e->n : zeros};
    }
    qsort(modes->mode, (size_t)modes->n, sizeof *modes->mode, by_frequency);
    return STATUS_OK;
}

enum status driven_modes_make(const struct linear *linear, bool joints_free, struct report *report,
                              struct driven_modes *modes)
{
    struct eigensystem e;
    memset(modes, 0, sizeof *modes);
    enum status status = choose_states(linear, joints_free, modes);
    if (status == STATUS_OK) status = solve(linear, modes, &e);
    if (status == STATUS_OK) status = take_modes(&e, modes);
    return failure_status(report, status);
}

void driven_modes_free(struct driven_modes *modes)
{
    arena_release(&modes->arena);
}
