#include "analysis/modes.h"

#include <string.h>

#include "analysis/closure.h"
#include "analysis/failure.h"
#include "analysis/names.h"

/* ---- at a state ---------------------------------------------------------------------------------------------------------------- */

enum status modes_make(struct mechanism *mechanism, bool joints_free, struct report *report, struct modes *modes)
{
    memset(modes, 0, sizeof *modes);
    modes->mechanism = mechanism;
    const enum status status = small_motion_make(mechanism->robot, joints_free, report, &modes->motion);
    if (status != STATUS_OK) return status;
    return report_status(report, eigenmodes_make(modes->motion.n, &modes->eigen));
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
        tangent_name(modes->mechanism->model, modes->motion.coordinate[moving], name);
        report_add(report, REPORT_ERROR,
                   "%s: no inertia resists the motion of '%s': give its link, or what is attached to it, mass, inertia "
                   "or motor_inertia, or mode shapes that are less similar",
                   status_text(status), name);
        return status;
    }
    if (status == STATUS_NOT_FINITE) return report_not_finite(report, "the matrices of the small motions");
    return report_status(report, status);
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

/* A closed robot with the swept joint prescribed, so that closing moves the rest: passive joints, and driven joints where the
   swept one is passive */
struct closing {
    struct robot *robot; /* NULL: an open robot */
    struct mechanism mechanism;
};

static enum status make_closing(const struct robot *robot, int link, struct report *report, struct closing *closing)
{
    if (robot->n_loops == 0) return STATUS_OK;
    enum status status = robot_clone(robot, &closing->robot);
    if (status != STATUS_OK) return report_status(report, status);
    const bool drives_follow = robot->link[link].joint.passive;
    for (int i = 0; i < robot->n_links; i++) {
        struct joint *joint = &closing->robot->link[i].joint;
        if (i == link || (joint_moves(joint) && !joint->passive && !drives_follow)) joint->prescribed = true;
    }
    const int errors_before = report->errors;
    status = mechanism_make(closing->robot, &closing->mechanism, report);
    return report->errors == errors_before ? report_status(report, status) : status;
}

static void free_closing(struct closing *closing)
{
    mechanism_free(&closing->mechanism);
    robot_free(closing->robot);
}

static bool take_rows(const struct sweep_options *options, int n_modes, struct sweep *sweep)
{
    const size_t poses = (size_t)options->poses, count = poses * (size_t)n_modes;
    sweep->poses = options->poses;
    sweep->position = arena_take(&sweep->arena, poses, sizeof(double));
    sweep->frequency = arena_take(&sweep->arena, count, sizeof(double));
    sweep->damping_ratio = arena_take(&sweep->arena, count, sizeof(double));
    sweep->growth = arena_take(&sweep->arena, count, sizeof(double));
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
    coordinate_name(modes->mechanism->model, POSITION, q, name);
    report_add(report, REPORT_ERROR, "at %s = %.9g", name, position);
}

static enum status visit_poses(struct modes *modes, const struct sweep_options *options, struct closing *closing,
                               struct state *state, struct report *report, struct sweep *sweep)
{
    const int q = modes->mechanism->model->link[options->link].q + options->k;
    double *position = &state->at.q[q];
    enum status status = STATUS_OK;
    int n_modes = 0;
    for (int p = 0; p < options->poses && status == STATUS_OK; p++) {
        const double part = options->poses > 1 ? (double)p / (options->poses - 1) : 0;
        sweep->position[p] = *position = (1 - part) * options->from + part * options->to;
        if (closing->robot != NULL) status = closure_close(&closing->mechanism, state, REPORT_ERROR, NULL, report);
        if (status == STATUS_OK) status = modes_at(modes, &state->input, report);
        if (p == 0 && status == STATUS_OK) {
            n_modes = modes->eigen.n;
            sweep->n_modes = options->count > 0 && options->count < n_modes ? options->count : n_modes;
        }
        if (status == STATUS_OK) status = check_count(modes, n_modes, report);
        if (status == STATUS_OK) keep_modes(&modes->eigen, p, sweep);
        else report_pose(modes, q, *position, report);
        if (options->progress != NULL) options->progress(options->context, p + 1, options->poses);
    }
    return status;
}

enum status sweep_make(struct modes *modes, const struct sweep_options *options, struct state *state,
                       struct report *report, struct sweep *sweep)
{
    struct closing closing = {0};
    memset(sweep, 0, sizeof *sweep);
    if (!take_rows(options, modes->motion.n, sweep)) return report_status(report, STATUS_NO_MEMORY);
    enum status status = make_closing(modes->mechanism->robot, options->link, report, &closing);
    if (status == STATUS_OK) status = visit_poses(modes, options, &closing, state, report, sweep);
    free_closing(&closing);
    return status;
}

void sweep_free(struct sweep *sweep)
{
    arena_release(&sweep->arena);
}
