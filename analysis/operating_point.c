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
/* If a joint of the equilibrium is farther than this from its start, a warning is reported [rad or m] */
static const double FAR = 0.5;

/* ---- a STATE and the variables of an instance -------------------------------------------------------------------------------- */

/* Prescribed motions and forces, also those on frames that have no inputs */
static void put_inputs(const struct point *at, struct instance *sim)
{
    const struct variables *v = instance_variables(sim);
    for (int r = 0; r < v->n_values; r++)
        if (v->by_reference[r]->causality == CAUSALITY_INPUT)
            instance_set(sim, r, *variable_place(v->by_reference[r], at));
    sim_set_frame_wrenches(sim, at->frame_wrench);
}

void state_to_start(const struct state *state, struct instance *sim)
{
    const struct variables *v = instance_variables(sim);
    for (int r = 0; r < v->n_values; r++) {
        const int started = v->by_reference[r]->start_of;
        if (started >= 0) instance_set(sim, r, *variable_place(&v->row[v->state[started]], &state->at));
    }
    put_inputs(&state->at, sim);
}

/* ---- make and free ------------------------------------------------------------------------------------------------------------- */

enum status operating_point_make(const char *name, const char *text, struct report *report,
                                 struct operating_point *point)
{
    memset(point, 0, sizeof *point);
    point->report = failure_errors_only(report);
    const enum status status = sim_make_loaded(name, text, &point->report, &point->sim);
    if (status != STATUS_OK) return point->report.errors == 0 ? failure_status(report, status) : status;
    point->mechanism = sim_mechanism(point->sim);
    sim_set_static_start(point->sim, STATIC_MOVES_FAR);
    point->qdd = arena_allocate(&point->arena, (size_t)point->mechanism->model->nv, sizeof(double));
    return point->qdd != NULL ? STATUS_OK : failure_status(report, STATUS_NO_MEMORY);
}

void operating_point_free(struct operating_point *point)
{
    state_free(&point->state);
    instance_free(point->sim);
    arena_release(&point->arena);
}

/* ---- equilibrium ---------------------------------------------------------------------------------------------------------------- */

/* Initializes the instance at the state, which then receives q and qd of the instance. With `at_rest` the instance finds the static
   equilibrium from there; otherwise its drives have the states that the STATE gives. */
static enum status initialize(struct operating_point *point, bool at_rest)
{
    const struct experiment experiment = {0};
    const struct variables *v = instance_variables(point->sim);
    const int n = robot_drive_states(point->mechanism->robot);
    struct point *at = &point->state.at;
    state_to_start(&point->state, point->sim);
    instance_set(point->sim, v->start_static, at_rest);
    const enum status status = instance_initialize(point->sim, &experiment);
    if (status != STATUS_OK) return status == STATUS_OPEN_LOOP ? STATUS_BAD_INPUT : status;
    for (int i = 0; i < n && point->state.w != NULL && !at_rest; i++)
        instance_set(point->sim, v->row[v->state[v->n_states - n + i]].reference, point->state.w[i]);
    at->model = sim_model(point->sim);
    for (int s = 0; s < v->n_states; s++) {
        const struct variable *state = &v->row[v->state[s]];
        *variable_place(state, at) = instance_get(point->sim, state->reference);
    }
    return STATUS_OK;
}

/* Reports joints whose equilibrium is far from their start, unless they are free to move */
static void report_far(const struct operating_point *point, struct report *report)
{
    const struct model *model = point->mechanism->model;
    const struct statics *found = sim_statics(point->sim);
    double *moved = point->qdd;                             /* filled later */
    model_difference(model, found->guess, found->q, moved); /* `guess` starts with q */
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct joint *joint = &model->robot->link[i].joint;
        for (int k = 0; k < lm->joint.nv; k++)
            if (fabs(moved[lm->v + k]) > FAR && joint->hold != HOLD_FREE)
                report_add(report, REPORT_WARNING,
                           "the static equilibrium is %.3g %s away from the start of joint '%s'", moved[lm->v + k],
                           lm->joint.part[k] == TURNS ? "rad" : "m", joint->name);
    }
}

/* The state becomes the equilibrium: velocities and accelerations zero, positions, torques, forces and commands of drives as found */
static enum status find_equilibrium(struct operating_point *point, struct report *report)
{
    const struct model *model = point->mechanism->model;
    struct point *at = &point->state.at;
    memset(at->qd, 0, (size_t)model->nv * sizeof(double));
    memset(at->prescribed_qdd, 0, (size_t)model->n_prescribed * sizeof(double));
    const enum status status = initialize(point, true);
    if (status != STATUS_OK) return status;
    const struct statics *found = sim_statics(point->sim);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; !lm->passive && k < free_velocities(lm); k++)
            if (!found->moves[lm->v + k]) at->tau[lm->tau + k] = found->holding[lm->v + k];
    }
    memcpy(at->actuator_force, found->F, (size_t)model->robot->n_actuators * sizeof(double));
    for (int d = 0; d < model->robot->n_drives; d++) {
        const struct robot_drive *drive = &model->robot->drive[d];
        const double command = sim_holding_command(point->sim, d);
        if (!isnan(command)) at->drive[drive->first + drive->drive->command] = command;
    }
    put_inputs(at, point->sim);
    report_far(point, report);
    if (found->ambiguous > 0)
        report_add(report, REPORT_WARNING,
                   "the forces of the actuators are not unique: those with the smallest norm are given");
    sim_guard_equilibrium(point->sim, report);
    return STATUS_OK;
}

/* Reports passive joints that are locked but would not be at rest if they were free. Joints that actuators balance are not checked: they
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
    const size_t nq = (size_t)point->mechanism->model->nq;
    struct state *state = &point->state;
    struct arena scratch = {0};
    double *before;
    arena_arrays(&scratch, nq, ARRAYS(&before));
    if (before == NULL) return failure_status(report, STATUS_NO_MEMORY);
    memcpy(before, state->at.q, nq * sizeof *before);
    enum status status = given ? closure_of_state(point->mechanism, true, state, report) : STATUS_OK;
    if (status == STATUS_OK) status = initialize(point, false);
    if (status == STATUS_OK && !given)
        closure_report_bending(point->mechanism->model, state->at.q, before, REPORT_WARNING, report);
    arena_release(&scratch);
    if (status == STATUS_OK && equilibrium) status = find_equilibrium(point, report);
    if (status != STATUS_OK) return status;

    status = instance_update(point->sim);
    if (status != STATUS_OK) {
        char text[REASON_SIZE];
        report_add(report, REPORT_ERROR, "%s", instance_reason(point->sim, status, text));
        return status;
    }
    const int nv = point->mechanism->model->nv;
    memcpy(point->qdd, sim_accelerations(point->sim), (size_t)nv * sizeof(double));
    if (!isfinite(euclidean_norm(nv, point->qdd))) return failure_not_finite(report, "the accelerations");
    if (equilibrium) report_unsupported(point, report);
    return STATUS_OK;
}
