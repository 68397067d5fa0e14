#include "analysis/modes.h"

#include <string.h>

#include "analysis/closure.h"
#include "analysis/failure.h"
#include "analysis/follow.h"
#include "analysis/names.h"

/* ---- at a state ---------------------------------------------------------------------------------------------------------------- */

enum status modes_make(struct mechanism *mechanism, bool joints_free, struct report *report, struct modes *modes)
{
    memset(modes, 0, sizeof *modes);
    modes->mechanism = mechanism;
    const enum status status = small_motion_make(mechanism->robot, joints_free, report, &modes->motion);
    if (status != STATUS_OK) return status;
    return failure_status(report, eigenmodes_make(modes->motion.n, &modes->eigen));
}

void modes_free(struct modes *modes)
{
    eigenmodes_free(&modes->eigen);
    small_motion_free(&modes->motion);
}

/* Which coordinate makes M singular, and why the others fail */
static enum status report_modes(struct report *report, const struct modes *modes, enum status status)
{
    char name[NAME_SIZE];
    if (status == STATUS_NOT_POSITIVE) {
        const int moving = modes->motion.free_one[modes->eigen.singular];
        name_tangent(modes->mechanism->model, modes->motion.coordinate[moving], name);
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

static bool take_rows(const struct model *model, const struct sweep_options *options, int n_modes, struct sweep *sweep)
{
    const size_t poses = (size_t)options->poses, count = poses * (size_t)n_modes;
    sweep->poses = options->poses;
    sweep->position = arena_allocate(&sweep->arena, poses, sizeof(double));
    sweep->frequency = arena_allocate(&sweep->arena, count, sizeof(double));
    sweep->damping_ratio = arena_allocate(&sweep->arena, count, sizeof(double));
    sweep->growth = arena_allocate(&sweep->arena, count, sizeof(double));
    sweep->q = arena_allocate(&sweep->arena, (size_t)model->nq, sizeof(double));
    sweep->qd = arena_allocate(&sweep->arena, (size_t)model->nv, sizeof(double));
    return !sweep->arena.failed;
}

/* All poses have as many modes as the first one: where loops leave more, a motion is free there and nowhere else */
static enum status check_count(const struct modes *modes, int first, struct report *report)
{
    const int n = modes->eigen.n;
    if (n == first) return STATUS_OK;
    report_add(report, REPORT_ERROR, "the loops leave %d independent motions here and %d at the first pose", n, first);
    return STATUS_SINGULAR_LOOP;
}

static void keep_modes(const struct eigenmodes *eigen, int pose, struct sweep *sweep)
{
    for (int k = 0; k < sweep->n_modes; k++) {
        const size_t at = (size_t)sweep->n_modes * (size_t)pose + (size_t)k;
        sweep->frequency[at] = eigen->mode[k].frequency;
        sweep->damping_ratio[at] = eigen->mode[k].damping_ratio;
        sweep->growth[at] = eigen->mode[k].growth;
    }
}

static void report_pose(const struct modes *modes, int q, double position, struct report *report)
{
    char name[NAME_SIZE];
    name_coordinate(modes->mechanism->model, POSITION, q, name);
    report_add(report, REPORT_ERROR, "at %s = %.9g", name, position);
}

/* The state at a pose, its loops closed */
static enum status place_pose(struct modes *modes, const struct sweep_options *options, double position,
                              const struct sweep *sweep, struct state *state, struct report *report)
{
    const struct model *model = modes->mechanism->model;
    const struct following following = {.swept = options->link, .bending = REPORT_ERROR};
    memcpy(state->at.q, sweep->q, (size_t)model->nq * sizeof(double));
    memcpy(state->at.qd, sweep->qd, (size_t)model->nv * sizeof(double));
    state->at.q[model->link[options->link].q + options->k] = position;
    return closure_follow(modes->mechanism, &following, state, report);
}

static enum status visit_poses(struct modes *modes, const struct sweep_options *options, struct state *state,
                               struct report *report, struct sweep *sweep)
{
    enum status status = STATUS_OK;
    int n_modes = 0;
    for (int p = 0; p < options->poses && status == STATUS_OK; p++) {
        const double part = options->poses > 1 ? (double)p / (options->poses - 1) : 0;
        sweep->position[p] = (1 - part) * options->from + part * options->to;
        status = place_pose(modes, options, sweep->position[p], sweep, state, report);
        if (status == STATUS_OK) status = modes_at(modes, &state->input, report);
        if (p == 0 && status == STATUS_OK) {
            n_modes = modes->eigen.n;
            sweep->n_modes = options->count > 0 && options->count < n_modes ? options->count : n_modes;
        }
        if (status == STATUS_OK) status = check_count(modes, n_modes, report);
        if (status == STATUS_OK) keep_modes(&modes->eigen, p, sweep);
        else
            report_pose(modes, modes->mechanism->model->link[options->link].q + options->k, sweep->position[p], report);
        if (options->progress != NULL) options->progress(options->context, p + 1, options->poses);
    }
    return status;
}

enum status modes_sweep_make(struct modes *modes, const struct sweep_options *options, struct state *state,
                             struct report *report, struct sweep *sweep)
{
    const struct model *model = modes->mechanism->model;
    memset(sweep, 0, sizeof *sweep);
    if (!take_rows(model, options, modes->motion.n, sweep)) return failure_status(report, STATUS_NO_MEMORY);
    memcpy(sweep->q, state->at.q, (size_t)model->nq * sizeof(double));
    memcpy(sweep->qd, state->at.qd, (size_t)model->nv * sizeof(double));
    const enum status status = closure_of_state(modes->mechanism, options->given, state, report);
    if (status != STATUS_OK) return status;
    return visit_poses(modes, options, state, report, sweep);
}

void modes_sweep_free(struct sweep *sweep)
{
    arena_release(&sweep->arena);
}
