/* Natural modes of a robot at its state. */
#include "analysis/modes.h"

#include <math.h>
#include <string.h>

#include "internal.h"

struct limber_modes {
    int n, nv;
    double *frequency, *growth, *damping_ratio; /* n                 */
    double *re, *im;                            /* n shapes of nv    */
    struct arena arena;                         /* the handle is in it */
};

/* Copies the modes that were found into a handle */
static enum status make_handle(const struct modes *found, int nv, limber_modes **made)
{
    struct arena arena = {0};
    const size_t n = (size_t)found->eigen.n, numbers = n * (size_t)nv;
    limber_modes *modes = arena_allocate(&arena, 1, sizeof *modes);
    double *frequency, *growth, *damping_ratio, *re, *im;
    arena_arrays(&arena, n, ARRAYS(&frequency, &growth, &damping_ratio));
    arena_arrays(&arena, numbers, ARRAYS(&re, &im));
    if (arena.failed) {
        arena_release(&arena);
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        const struct mode *mode = &found->eigen.mode[i];
        frequency[i] = mode->frequency;
        growth[i] = mode->growth;
        damping_ratio[i] = mode->damping_ratio;
        small_motion_expand(&found->motion, mode->re, re + (size_t)nv * i);
        small_motion_expand(&found->motion, mode->im, im + (size_t)nv * i);
    }
    *modes = (limber_modes){(int)n, nv, frequency, growth, damping_ratio, re, im, arena};
    *made = modes;
    return STATUS_OK;
}

int limber_robot_modes(limber_robot *robot, int options, limber_modes **made)
{
    if (made == NULL) return LIMBER_BAD_ARGUMENT;
    *made = NULL;
    if (robot == NULL || (options & ~LIMBER_JOINTS_FREE) != 0) return LIMBER_BAD_ARGUMENT;
    struct report *report = &robot->messages.report;
    struct modes found = {0};
    enum status status = modes_make(&robot->mechanism, (options & LIMBER_JOINTS_FREE) != 0, report, &found);
    if (status == STATUS_OK) status = modes_at(&found, &robot->in, report);
    if (status == STATUS_OK) status = make_handle(&found, robot->mechanism.model->nv, made);
    modes_free(&found);
    mechanism_set(&robot->mechanism, &robot->in);
    return (int)status;
}

void limber_modes_free(limber_modes *modes)
{
    if (modes == NULL) return;
    struct arena arena = modes->arena;
    arena_release(&arena);
}

int limber_modes_count(const limber_modes *modes)
{
    return modes->n;
}

double limber_modes_frequency(const limber_modes *modes, int i)
{
    return i >= 0 && i < modes->n ? modes->frequency[i] : NAN;
}

double limber_modes_growth(const limber_modes *modes, int i)
{
    return i >= 0 && i < modes->n ? modes->growth[i] : NAN;
}

double limber_modes_damping_ratio(const limber_modes *modes, int i)
{
    return i >= 0 && i < modes->n ? modes->damping_ratio[i] : NAN;
}

int limber_modes_shape(const limber_modes *modes, int i, double *re, double *im)
{
    if (modes == NULL || i < 0 || i >= modes->n) return LIMBER_BAD_ARGUMENT;
    const size_t nv = (size_t)modes->nv;
    if (re != NULL) memcpy(re, modes->re + nv * (size_t)i, nv * sizeof *re);
    if (im != NULL) memcpy(im, modes->im + nv * (size_t)i, nv * sizeof *im);
    return LIMBER_OK;
}
