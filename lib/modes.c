/* Natural modes of a robot at its state. */
#include "analysis/modes.h"

#include <math.h>

#include "internal.h"

struct limber_modes {
    struct modes found;
    struct arena arena; /* the handle is in it */
};

int limber_robot_modes(limber_robot *robot, int options, limber_modes **made)
{
    struct arena arena = {0};
    if (made != NULL) *made = NULL;
    if (made == NULL || robot == NULL || (options & ~LIMBER_JOINTS_FREE) != 0) return LIMBER_BAD_ARGUMENT;
    limber_modes *modes = arena_allocate(&arena, 1, sizeof *modes);
    if (modes == NULL) return LIMBER_NO_MEMORY;
    modes->arena = arena;
    struct report *report = &robot->messages.report;
    enum status status = modes_make(&robot->mechanism, (options & LIMBER_JOINTS_FREE) != 0, report, &modes->found);
    if (status == STATUS_OK) status = modes_at(&modes->found, &robot->in, report);
    if (status == STATUS_OK) *made = modes;
    else limber_modes_free(modes);
    mechanism_set(&robot->mechanism, &robot->in);
    return (int)status;
}

void limber_modes_free(limber_modes *modes)
{
    if (modes == NULL) return;
    modes_free(&modes->found);
    struct arena arena = modes->arena;
    arena_release(&arena);
}

int limber_modes_count(const limber_modes *modes)
{
    return modes->found.eigen.n;
}

/* NULL: there is none */
static const struct mode *mode_of(const limber_modes *modes, int i)
{
    return i >= 0 && i < modes->found.eigen.n ? &modes->found.eigen.mode[i] : NULL;
}

double limber_modes_frequency(const limber_modes *modes, int i)
{
    const struct mode *mode = mode_of(modes, i);
    return mode != NULL ? mode->frequency : NAN;
}

double limber_modes_growth(const limber_modes *modes, int i)
{
    const struct mode *mode = mode_of(modes, i);
    return mode != NULL ? mode->growth : NAN;
}

double limber_modes_damping_ratio(const limber_modes *modes, int i)
{
    const struct mode *mode = mode_of(modes, i);
    return mode != NULL ? mode->damping_ratio : NAN;
}

int limber_modes_shape(const limber_modes *modes, int i, double *re, double *im)
{
    const struct mode *mode = modes != NULL ? mode_of(modes, i) : NULL;
    if (mode == NULL) return LIMBER_BAD_ARGUMENT;
    if (re != NULL) small_motion_expand(&modes->found.motion, mode->re, re);
    if (im != NULL) small_motion_expand(&modes->found.motion, mode->im, im);
    return LIMBER_OK;
}
