#include "analysis/operating_point.h"

#include <math.h>
#include <string.h>

#include "analysis/actuated.h"
#include "analysis/closure.h"
#include "analysis/failure.h"
#include "analysis/names.h"
#include "analysis/norm.h"
#include "drive/drive.h"
#include "mech/statics.h"

/* Largest acceleration of a passive joint in an equilibrium: the effect of rounding q to seven digits [rad/s^2 or m/s^2] */
static const double LARGEST_ACCELERATION = 1e-5;

/* ---- a STATE and the variables of an instance -------------------------------------------------------------------------------- */

/* Prescribed motions and forces; also those on frames that have no inputs */
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

/* q and qd as the instance has them */
static void take_states(const struct instance *sim, struct point *at)
{
    const struct variables *v = instance_variables(sim);
    at->model = sim_model(sim);
    for (int s = 0; s < v->n_states; s++) {
        const struct variable *state = &v->row[v->state[s]];
        *variable_place(state, at) = instance_get(sim, state->reference);
    }
}

/* ---- life ---------------------------------------------------------------------------------------------------------------------- */

enum status operating_point_make(const char *name, const char *text, struct report *report,
                                 struct operating_point *point)
{
    memset(point, 0, sizeof *point);
    point->report = errors_only(report);
    const enum status status = sim_make_loaded(name, text, &point->report, &point->sim);
    if (status != STATUS_OK) return point->report.errors == 0 ? report_status(report, status) : status;
    point->mechanism = sim_mechanism(point->sim);
    sim_set_static_start(point->sim, STATIC_KEEPS_JOINTS);
    point->qdd = arena_take(&point->arena, (size_t)point->mechanism->model->nv, sizeof(double));
    return point->qdd != NULL ? STATUS_OK : report_status(report, STATUS_NO_MEMORY);
}

void operating_point_free(struct operating_point *point)
{
    state_free(&point->state);
    instance_free(point->sim);
    arena_release(&point->arena);
}

/* ---- moving to the state --------------------------------------------------------------------------------------------------------- */

/* States of drives that the STATE gives */
static void put_drive_states(const struct operating_point *point)
{
    const struct variables *v = instance_variables(point->sim);
    const int n = robot_drive_states(point->mechanism->robot);
    for (int i = 0; i < n; i++)
        instance_set(point->sim, v->row[v->state[v->n_states - n + i]].reference, point->state.w[i]);
}

/* The instance starts at the state; with `bend` its elastic coordinates are at rest there with the joints locked. The state
   follows. */
static enum status start(struct operating_point *point, bool bend)
{
    const struct experiment experiment = {0};
    state_to_start(&point->state, point->sim);
    instance_set(point->sim, instance_variables(point->sim)->start_static, bend);
    const enum status status = instance_initialize(point->sim, &experiment);
    if (status != STATUS_OK) return status == STATUS_OPEN_LOOP ? STATUS_BAD_INPUT : status;
    if (point->state.w != NULL && !bend) put_drive_states(point);
    take_states(point->sim, &point->state.at);
    return STATUS_OK;
}

static enum status start_at_state(struct operating_point *point, bool given, struct report *report)
{
    const size_t n = (size_t)point->mechanism->model->nq;
    struct arena scratch = {0};
    double *before = arena_take(&scratch, n, sizeof *before);
    if (before == NULL) return report_status(report, STATUS_NO_MEMORY);
    memcpy(before, point->state.at.q, n * sizeof *before);
    enum status status = STATUS_OK;
    if (given) status = closure_of_state(point->mechanism, true, &point->state, report);
    if (status == STATUS_OK) status = start(point, false);
    if (status == STATUS_OK && !given)
        closure_report_bending(point->mechanism->model, point->state.at.q, before, REPORT_WARNING, report);
    arena_release(&scratch);
    return status;
}

/* ---- equilibrium --------------------------------------------------------------------------------------------------------------- */

/* h(q, 0) minus the parts of wrenches and actuators: inverse dynamics at rest */
static enum status holding_forces(struct operating_point *point, double *force, struct report *report)
{
    struct mechanism *m = point->mechanism;
    struct input in;
    dyn_configuration(m->model, m->work, point->state.at.q);
    const enum status status = actuators_apply(m, &point->state.input, &in);
    if (status != STATUS_OK) return report_failure(report, m, status);
    dyn_inverse(m->model, m->work, &in, NULL, force);
    dyn_velocity(m->model, m->work, &in);
    return STATUS_OK;
}

/* tau = what remains of them without the part of the loops */
static enum status hold_by_drives(struct operating_point *point, struct report *report)
{
    const struct model *model = point->mechanism->model;
    double *force = point->qdd; /* filled later */
    enum status status = holding_forces(point, force, report);
    if (status == STATUS_OK) status = closure_subtract_forces(point->mechanism, false, force, report);
    for (int i = 0; i < model->n_links && status == STATUS_OK; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; !lm->passive && k < free_velocities(lm); k++)
            point->state.at.tau[lm->tau + k] = force[lm->v + k];
    }
    return status;
}

/* Actuators hold passive joints unless the state gives their forces; not in loops, where these joints are coupled to others */
static bool actuators_hold(const struct operating_point *point)
{
    const int n_actuators = point->mechanism->robot->n_actuators;
    return point->mechanism->constraints->n_rows == 0 && n_actuators > 0 &&
           euclidean_norm(n_actuators, point->state.at.actuator_force) == 0;
}

/* F that leaves passive joints without force, and the elastic coordinates that go with it: a fixed-point iteration, because bent
   links turn the lines of the actuators. What they cannot hold is found by check_equilibrium(). */
static enum status hold_by_actuators(struct operating_point *point, struct report *report)
{
    enum { MOST_ITERATIONS = 200 };
    const int n_actuators = point->mechanism->robot->n_actuators;
    double *F = point->state.at.actuator_force, *dF = arena_take(&point->arena, (size_t)n_actuators, sizeof *dF);
    if (dF == NULL) return report_status(report, STATUS_NO_MEMORY);
    enum status status = STATUS_OK;
    for (int i = 0; i < MOST_ITERATIONS && status == STATUS_OK; i++) {
        status = holding_forces(point, point->qdd, report);
        if (status == STATUS_OK) status = actuated_forces(point->mechanism, point->qdd, dF, report);
        if (status != STATUS_OK || euclidean_norm(n_actuators, dF) <= 1e-13 * euclidean_norm(n_actuators, F)) break;
        for (int a = 0; a < n_actuators; a++) F[a] += dF[a];
        status = start(point, true);
    }
    return status;
}

static enum status find_equilibrium(struct operating_point *point, struct report *report)
{
    struct mechanism *m = point->mechanism;
    struct report silent = {0};
    memset(point->state.at.qd, 0, (size_t)m->model->nv * sizeof(double));
    memset(point->state.at.prescribed_qdd, 0, (size_t)m->model->n_prescribed * sizeof(double));
    point->actuators_hold = actuators_hold(point);
    enum status status = start(point, true);
    if (status == STATUS_OK && point->actuators_hold) status = hold_by_actuators(point, report);
    if (status == STATUS_OK) status = hold_by_drives(point, report);
    if (status != STATUS_OK) return status;
    put_inputs(&point->state.at, point->sim);
    return report_failure(report, m, constraints_choose(m, point->state.at.q, &silent));
}

/* Commands of drives that hold */
static void take_commands(struct operating_point *point)
{
    const struct robot *robot = point->mechanism->robot;
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *of = &robot->drive[d];
        const double command = sim_holding_command(point->sim, d);
        if (!isnan(command)) point->state.at.drive[of->first + of->drive->command] = command;
    }
}

/* The same where joints settle: torques and forces are those that were found */
static enum status settle(struct operating_point *point)
{
    const struct model *model = point->mechanism->model;
    sim_set_static_start(point->sim, STATIC_MOVES_FAR);
    memset(point->state.at.qd, 0, (size_t)model->nv * sizeof(double));
    memset(point->state.at.prescribed_qdd, 0, (size_t)model->n_prescribed * sizeof(double));
    const enum status status = start(point, true);
    if (status != STATUS_OK) return status;
    const struct statics *found = sim_statics(point->sim);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; !lm->passive && k < free_velocities(lm); k++)
            if (!found->moves[lm->v + k]) point->state.at.tau[lm->tau + k] = found->holding[lm->v + k];
    }
    memcpy(point->state.at.actuator_force, found->F, (size_t)model->robot->n_actuators * sizeof(double));
    take_commands(point);
    put_inputs(&point->state.at, point->sim);
    return STATUS_OK;
}

static void report_moving(const struct operating_point *point, int link, int k, struct report *report)
{
    const struct link_model *lm = &point->mechanism->model->link[link];
    const char *joint = point->mechanism->robot->link[link].joint.name;
    const double a = point->qdd[lm->v + k];
    const char *unit = lm->joint.part[k] == TURNS ? "rad/s^2" : "m/s^2";
    const char *held = point->actuators_hold ? ", and no actuator forces can hold it" : "";
    if (lm->joint.nv == 1)
        report_add(
            report, REPORT_ERROR,
            "no equilibrium: passive joint '%s' at q = %.9g accelerates by %.3g %s%s; give the q at which it rests "
            "in the STATE",
            joint, point->state.at.q[lm->q + k], a, unit, held);
    else {
        char name[NAME_SIZE];
        coordinate_name(point->mechanism->model, ACCELERATION, lm->v + k, name);
        report_add(
            report, REPORT_ERROR,
            "no equilibrium: passive joint '%s' accelerates, %s = %.3g %s%s; give the q at which it rests in the "
            "STATE",
            joint, name, a, unit, held);
    }
}

/* A passive joint that was held on request */
static void report_held(const struct operating_point *point, int link, int k, struct report *report)
{
    const struct link_model *lm = &point->mechanism->model->link[link];
    const struct joint *joint = &point->mechanism->robot->link[link].joint;
    char name[NAME_SIZE];
    joint_force_name(joint, k, name);
    report_add(
        report, REPORT_WARNING,
        "passive joint '%s' is held by %s = %.6g %s, which nothing provides: with it free this is no equilibrium",
        joint->name, name, sim_statics(point->sim)->holding[lm->v + k], lm->joint.part[k] == TURNS ? "N.m" : "N");
}

/* Nothing but actuators holds passive joints. Joints that actuators balance accelerate too where a base that is held would fall */
static enum status check_equilibrium(const struct operating_point *point, struct report *report)
{
    const struct model *model = point->mechanism->model;
    const struct statics *found = point->settles ? sim_statics(point->sim) : NULL;
    enum status status = STATUS_OK;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; lm->passive && k < lm->joint.nv; k++) {
            if (fabs(point->qdd[lm->v + k]) <= LARGEST_ACCELERATION) continue;
            if (found != NULL) {
                if (!found->moves[lm->v + k] && !found->balanced[lm->v + k]) report_held(point, i, k, report);
                continue;
            }
            report_moving(point, i, k, report);
            status = STATUS_NO_EQUILIBRIUM;
        }
    }
    return status;
}

/* ---- accelerations ------------------------------------------------------------------------------------------------------------- */

static enum status accelerate(struct operating_point *point, struct report *report)
{
    const enum status status = instance_update(point->sim);
    char text[REASON_SIZE];
    if (status != STATUS_OK) {
        report_add(report, REPORT_ERROR, "%s", instance_reason(point->sim, status, text));
        return status;
    }
    const int nv = point->mechanism->model->nv;
    memcpy(point->qdd, sim_accelerations(point->sim), (size_t)nv * sizeof(double));
    return isfinite(euclidean_norm(nv, point->qdd)) ? STATUS_OK : report_not_finite(report, "the accelerations");
}

enum status operating_point_move(struct operating_point *point, bool given, bool equilibrium, struct report *report)
{
    if (point->mechanism->robot->n_drives > 0) point->settles = true; /* drives hold as in a static start */
    enum status status = start_at_state(point, given, report);
    if (status == STATUS_OK && equilibrium) status = point->settles ? settle(point) : find_equilibrium(point, report);
    if (status == STATUS_OK) status = accelerate(point, report);
    if (status == STATUS_OK && equilibrium) status = check_equilibrium(point, report);
    return status;
}
