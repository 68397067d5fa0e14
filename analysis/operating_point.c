#include "analysis/operating_point.h"

#include <math.h>
#include <string.h>

#include "analysis/closure.h"
#include "analysis/failure.h"
#include "analysis/names.h"
#include "analysis/norm.h"
#include "drive/drive.h"
#include "mech/statics.h"

/* Largest acceleration of a passive joint in an equilibrium: the effect of rounding q to seven digits [rad/s^2 or m/s^2] */
static const double LARGEST_ACCELERATION = 1e-5;

/* ---- make and free ------------------------------------------------------------------------------------------------------------- */

enum status operating_point_make(const char *name, const char *text, const char *file, struct report *report,
                                 struct operating_point *point)
{
    memset(point, 0, sizeof *point);
    point->report = failure_errors_only(report);
    const enum status status = sim_make_loaded(name, text, &point->report, &point->sim);
    if (status != STATUS_OK) return point->report.errors == 0 ? failure_status(report, status) : status;
    point->mechanism = sim_mechanism(point->sim);
    point->qdd = sim_accelerations(point->sim);
    arena_arrays(&point->arena, (size_t)point->mechanism->model->n_tau, ARRAYS(&point->tau));
    if (point->arena.failed) return failure_status(report, STATUS_NO_MEMORY);
    state_place(sim_point(point->sim), &point->state);
    return state_read(file, report, &point->state);
}

void operating_point_free(struct operating_point *point)
{
    arena_release(&point->state.arena);
    instance_free(point->sim);
    arena_release(&point->arena);
}

/* ---- equilibrium ---------------------------------------------------------------------------------------------------------------- */

/* The state becomes the equilibrium: velocities and accelerations zero, positions, torques, forces and commands of drives as found */
static enum status find_equilibrium(struct operating_point *point, struct report *report)
{
    const struct model *model = point->mechanism->model;
    const struct point *at = &point->state.at;
    memset(at->qd, 0, (size_t)model->nv * sizeof(double));
    memset(at->prescribed_qdd, 0, (size_t)model->n_prescribed * sizeof(double));
    enum status status = sim_start_drives(point->sim);
    if (status == STATUS_OK) status = sim_settle(point->sim, report);
    if (status != STATUS_OK) return status;
    const struct statics *found = sim_statics(point->sim);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; !lm->passive && k < free_velocities(lm); k++) {
            if (found->moves[lm->v + k]) continue;
            point->tau[lm->tau + k] = found->holding[lm->v + k];
            if (robot_drive_of_link(model->robot, i) == NULL) at->tau[lm->tau + k] = found->holding[lm->v + k];
        }
    }
    memcpy(at->line_force, found->F, (size_t)model->robot->n_lines * sizeof(double));
    return STATUS_OK;
}

/* Reports passive joints that are locked but would not be at rest if they were free. Joints that lines balance are not checked: they
   accelerate too if a locked base would fall. */
static void report_unsupported(const struct operating_point *point, struct report *report)
{
    const struct model *model = point->mechanism->model;
    const struct statics *found = sim_statics(point->sim);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; lm->passive && k < lm->joint.nv; k++) {
            const struct joint *joint = &model->robot->link[i].joint;
            const int c = lm->v + k;
            char name[NAME_SIZE];
            if (found->moves[c] || found->balanced[c] || !(fabs(point->qdd[c]) > LARGEST_ACCELERATION)) continue;
            name_joint_force(joint, k, name);
            report_add(
                report, REPORT_WARNING,
                "passive joint '%s' is held by %s = %.6g %s, which no drive provides: if the joint is free, this "
                "is not an equilibrium",
                joint->name, name, found->holding[c], lm->joint.part[k] == TURNS ? "N.m" : "N");
        }
    }
}

/* ---- moving to the state --------------------------------------------------------------------------------------------------------- */

enum status operating_point_move(struct operating_point *point, bool given, bool equilibrium, struct report *report)
{
    struct state *state = &point->state;
    const int errors = report->errors;
    memcpy(point->tau, state->at.tau, (size_t)state->at.model->n_tau * sizeof *point->tau);
    enum status status = sim_use_parameters(point->sim);
    const struct model *model = state->at.model = point->mechanism->model;
    if (status == STATUS_OK) status = closure_of_state(point->mechanism, given, state, report);
    if (status == STATUS_OK) status = equilibrium ? find_equilibrium(point, report) : sim_start_drives(point->sim);
    if (!equilibrium) state_set_drives(state);
    if (status == STATUS_OK) status = instance_update(point->sim);
    if (status != STATUS_OK) {
        char text[REASON_SIZE];
        if (report->errors == errors) report_add(report, REPORT_ERROR, "%s", instance_reason(point->sim, status, text));
        return status;
    }
    if (!isfinite(euclidean_norm(model->nv, point->qdd))) return failure_not_finite(report, "the accelerations");
    if (equilibrium) report_unsupported(point, report);
    return STATUS_OK;
}
