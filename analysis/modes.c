#include "analysis/modes.h"

#include <math.h>
#include <string.h>

#include "analysis/closure.h"
#include "analysis/failure.h"
#include "analysis/lapack.h"
#include "analysis/names.h"

/* ---- at a state ---------------------------------------------------------------------------------------------------------------- */

enum status modes_make(struct mechanism *mechanism, bool joints_free, struct report *report, struct modes *modes)
{
    memset(modes, 0, sizeof *modes);
    modes->mechanism = mechanism;
    const enum status status = small_motion_make(mechanism->robot, joints_free, report, &modes->motion);
    if (status != STATUS_OK) return status;
    return failure_status(report, eigenmodes_make(modes->motion.n, &modes->motion.arena, &modes->eigen));
}

void modes_free(struct modes *modes)
{
    small_motion_free(&modes->motion);
}

/* Names the coordinate that makes M singular */
static enum status report_modes(struct report *report, const struct modes *modes, enum status status)
{
    char name[NAME_SIZE];
    if (status == STATUS_NOT_POSITIVE) {
        const int moving = modes->motion.free_one[modes->eigen.singular];
        name_coordinate(modes->mechanism->model, TANGENT, modes->motion.coordinate[moving], name);
        report_add(report, REPORT_ERROR,
                   "%s: no inertia resists the motion of '%s': give its link, or what is attached to it, mass, inertia "
                   "or motor_inertia, or mode shapes that are less similar",
                   status_text(status), name);
        return status;
    }
    if (status == STATUS_NOT_FINITE) return failure_not_finite(report, "the matrices of the small motions");
    return failure_status(report, status);
}

enum status modes_at(struct modes *modes, const struct input *in, struct report *report)
{
    const enum status status = small_motion_at(&modes->motion, modes->mechanism->model, in, report);
    if (status != STATUS_OK) return status;
    return report_modes(report, modes, eigenmodes_solve(&modes->motion, &modes->eigen));
}

enum status modes_damp(struct modes *modes, struct report *report)
{
    return report_modes(report, modes, eigenmodes_damp(&modes->motion, &modes->eigen));
}

/* ---- over the position of a joint ------------------------------------------------------------------------------------------------ */

/* A pose and its modes. Their number must be `first`, that of the first pose: more modes mean that the loops are singular here. */
static enum status compute_pose(struct modes *modes, const struct sweep_options *options, int pose, struct state *state,
                                struct report *report, int *first, struct sweep *sweep)
{
    const struct model *model = modes->mechanism->model;
    memcpy(state->at.q, sweep->q, (size_t)model->nq * sizeof(double));
    memcpy(state->at.qd, sweep->qd, (size_t)model->nv * sizeof(double));
    state->at.q[model->link[options->link].q + options->k] = sweep->position[pose];
    enum status status = closure_follow(modes->mechanism, options->link, state, report);
    if (status == STATUS_OK) status = modes_at(modes, &state->input, report);
    if (status != STATUS_OK) return status;
    const int n = modes->eigen.n;
    if (pose == 0) {
        *first = n;
        sweep->n_modes = options->count > 0 && options->count < n ? options->count : n;
    } else if (n != *first) {
        report_add(report, REPORT_ERROR, "the loops leave %d independent motions here and %d at the first pose", n,
                   *first);
        return STATUS_SINGULAR_LOOP;
    }
    for (int k = 0; k < sweep->n_modes; k++) {
        const struct mode *mode = &modes->eigen.mode[k];
        const size_t at = (size_t)sweep->n_modes * (size_t)pose + (size_t)k;
        sweep->frequency[at] = mode->frequency;
        sweep->damping_ratio[at] = mode->damping_ratio;
        sweep->growth[at] = mode->growth;
    }
    return STATUS_OK;
}

enum status modes_sweep_make(struct modes *modes, const struct sweep_options *options, struct state *state,
                             struct report *report, struct sweep *sweep)
{
    const struct model *model = modes->mechanism->model;
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv, poses = (size_t)options->poses;
    struct arena *arena = &modes->motion.arena;
    int first = 0;
    *sweep = (struct sweep){.poses = options->poses};
    arena_arrays(arena, poses, ARRAYS(&sweep->position));
    arena_arrays(arena, poses * (size_t)modes->motion.n,
                 ARRAYS(&sweep->frequency, &sweep->damping_ratio, &sweep->growth));
    arena_arrays(arena, nq, ARRAYS(&sweep->q));
    arena_arrays(arena, nv, ARRAYS(&sweep->qd));
    if (arena->failed) return failure_status(report, STATUS_NO_MEMORY);
    memcpy(sweep->q, state->at.q, nq * sizeof(double));
    memcpy(sweep->qd, state->at.qd, nv * sizeof(double));
    enum status status = closure_of_state(modes->mechanism, options->given, state, report);
    for (int p = 0; p < options->poses && status == STATUS_OK; p++) {
        const double part = options->poses > 1 ? (double)p / (options->poses - 1) : 0;
        sweep->position[p] = (1 - part) * options->from + part * options->to;
        status = compute_pose(modes, options, p, state, report, &first, sweep);
        if (status != STATUS_OK) {
            char name[NAME_SIZE];
            name_coordinate(model, POSITION, model->link[options->link].q + options->k, name);
            report_add(report, REPORT_ERROR, "at %s = %.9g", name, sweep->position[p]);
        }
        if (p + 1 < options->poses) report_progress(report, "pose", p + 1, options->poses);
    }
    return status;
}

/* ---- with drives inside the arm ------------------------------------------------------------------------------------------------------- */

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

enum status modes_driven_make(const struct linear *linear, bool joints_free, struct report *report,
                              struct driven_modes *modes)
{
    *modes = (struct driven_modes){
        .state = arena_allocate(&linear->point->arena, (size_t)linear->n_states, sizeof *modes->state)};
    if (modes->state == NULL) return failure_status(report, STATUS_NO_MEMORY);
    for (int i = 0; i < linear->n_states; i++)
        if (joints_free || !is_locked(linear, i)) modes->state[modes->n_states++] = i;
    return failure_status(report, solve(linear, modes));
}
