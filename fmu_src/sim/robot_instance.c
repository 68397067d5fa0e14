/* An instance of a robot: its life, its values, its start, its steps. */
#include "sim/robot_instance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drive/drive.h"
#include "math/quaternion.h"
#include "sim/variables_row.h"

/* ---- life ------------------------------------------------------------------------------------------------------------------ */

static const struct instance_ops robot_ops;

static enum status allocate_arrays(struct sim *sim)
{
    struct arena *arena = &sim->instance.arena;
    const struct model *model = sim->mechanism.model;
    const size_t n = (size_t)model->nv;
    point_make(model, arena, &sim->at);
    point_make(model, arena, &sim->seed);
    outputs_make(sim, &sim->outputs);
    outputs_make(sim, &sim->changes);
    sim->free_coordinate = arena_allocate(arena, n, sizeof(int));
    sim->bent_too_far = arena_allocate(arena, (size_t)model->n_links, sizeof(bool));
    sim->quaternion = arena_allocate(arena, (size_t)model->n_links, sizeof *sim->quaternion);
    sim->active_rows = arena_allocate(arena, (size_t)sim->mechanism.constraints->n_rows, sizeof(double));
    sim->seed_state = arena_allocate(arena, (size_t)sim->instance.variables.n_states, sizeof *sim->seed_state);
    sim->kept = arena_allocate(arena, (size_t)sim->instance.variables.n_states, sizeof(double));
    arena_arrays(arena, n * n, ARRAYS(&sim->by_q, &sim->by_qd));
    arena_arrays(arena, n, ARRAYS(&sim->qdd, &sim->force, &sim->dx, &sim->dqdd));
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Where states and inputs are in the point, states in the seed, free coordinates in qd */
static void find_places(struct sim *sim)
{
    const struct variables *v = &sim->instance.variables;
    for (int r = 0; r < v->n_values; r++) {
        const struct variable *variable = v->by_reference[r];
        if (variable->state < 0 && variable->causality != CAUSALITY_INPUT) continue;
        double *place = variable_place(variable, &sim->at);
        if (variable->state >= 0) sim->seed_state[variable->state] = variable_place(variable, &sim->seed);
        else if (sim->motion.at != NULL && place < sim->at.drive) continue; /* that of the motion */
        sim->instance.stepper.place[r] = place;
    }
    instance_states_placed(&sim->instance);
}

/* Absolute tolerances of elastic coordinates are a fraction of those that follow from their nominal values: links bend less than these,
   and accelerations and reactions follow from the bending (bench/integration.py) */
static void tighten_elastic(struct instance *instance)
{
    static const double FRACTION = 0.1;
    const struct variables *v = &instance->variables;
    for (int s = 0; s < v->n_states; s++)
        if (v->row[v->state[s]].row->owner == FLEXIBLE) instance->stepper.nominal[s] *= FRACTION;
}

/* The mechanism and the variable table of a robot that has been read */
static enum status build_robot(struct sim *sim, const char *text)
{
    struct instance *instance = &sim->instance;
    struct stepper *stepper = &instance->stepper;
    enum status status = mechanism_make(sim->robot, &sim->mechanism, instance->report);
    if (status == STATUS_OK) status = variables_make(sim->mechanism.model, &instance->arena, &instance->variables);
    if (status == STATUS_OK) status = allocate_arrays(sim);
    if (status == STATUS_OK && sim->motion.at != NULL) status = balance_make(sim);
    if (status != STATUS_OK) return status;
    drives_take_parameters(sim->robot, sim->at.drive);
    sim->line_force = sim->balance.n > 0 ? sim->balance.F : sim->at.line_force;
    sim->in = point_input(&sim->at);
    sim->in.line_force = sim->line_force;
    if (sim->robot->n_drives > 0) sim->in.drive = sim->at.drive;
    const int n_rows = sim->mechanism.constraints->n_rows;
    stepper->own[0] = (struct saved_part){sim->at.q, (int)(sim->at.payload_mass - sim->at.q)};
    stepper->own[1] = (struct saved_part){sim->active_rows, n_rows};
    stepper->cause = sim_failure_cause;
    struct ode ode = {0};
    robot_ode(sim, &ode);
    status = instance_build(instance, &ode, text);
    if (status != STATUS_OK) return status;
    tighten_elastic(instance);
    find_places(sim);
    instance_reset(instance);
    return STATUS_OK;
}

/* The motion of driven joints is given, and of joints that lines move: torques and forces of drives are computed. But the forces of
   springs would be known. */
static enum status prescribe_drives(struct robot *robot, struct report *report)
{
    for (int i = 0; i < robot->n_links; i++) {
        struct joint *joint = &robot->link[i].joint;
        joint->prescribed = joint_may_be_prescribed(joint) && (!joint->passive || joint_actuated(robot, i));
    }
    for (int a = 0; a < robot->n_lines; a++) {
        if (!robot_line_is_spring(robot, a)) continue;
        report_add(report, REPORT_ERROR,
                   "%s[%d].drive: the inverse dynamics of a robot with springs as drives is not "
                   "provided: remove the spring, or apply the spring's force as a load",
                   line_element.part, a);
        return STATUS_BAD_ROBOT;
    }
    robot->n_drives = robot->n_supplies = 0;
    return STATUS_OK;
}

/* motion: NULL for none */
static enum status make_robot(const char *name, const char *text, const struct sim_motion *motion,
                              bool every_frame_loaded, struct report *report, struct instance **made)
{
    *made = NULL;
    struct instance *instance = instance_allocate(sizeof(struct sim), name, report, &robot_ops);
    if (instance == NULL) return STATUS_NO_MEMORY;
    struct sim *sim = sim_of(instance);
    if (motion != NULL) sim->motion = *motion;
    enum status status = robot_read_text(name, text, &sim->robot, report);
    if (status == STATUS_OK && motion != NULL) status = prescribe_drives(sim->robot, report);
    if (status == STATUS_OK) {
        sim->robot->every_frame_loaded = every_frame_loaded;
        status = build_robot(sim, text);
    }
    if (status == STATUS_OK) *made = instance;
    else instance_free(instance);
    return status;
}

enum status sim_make(const char *name, const char *text, struct report *report, struct instance **made)
{
    return make_robot(name, text, NULL, false, report, made);
}

enum status sim_make_loaded(const char *name, const char *text, struct report *report, struct instance **made)
{
    return make_robot(name, text, NULL, true, report, made);
}

enum status sim_make_moved(const char *name, const char *text, const struct sim_motion *motion, struct report *report,
                           struct instance **made)
{
    return make_robot(name, text, motion, false, report, made);
}

static void release_robot(struct instance *instance)
{
    struct sim *sim = sim_of(instance);
    statics_free(&sim->statics);
    mechanism_free(&sim->mechanism);
    if (sim->robot != NULL) robot_free(sim->robot);
}

/* ---- what it offers ---------------------------------------------------------------------------------------------------------- */

static const struct sim *const_sim_of(const struct instance *instance)
{
    return (const struct sim *)(const void *)instance;
}

/* A function that returns a part */
#define OF_SIM(result, function, part)                  \
    result function(const struct instance *instance)    \
    {                                                   \
        const struct sim *sim = const_sim_of(instance); \
        return part;                                    \
    }
OF_SIM(struct robot *, sim_robot, sim->robot)
OF_SIM(const struct model *, sim_model, sim->mechanism.model)
OF_SIM(const struct point *, sim_point, &sim->at)
OF_SIM(const double *, sim_accelerations, sim->qdd)
OF_SIM(const double *, sim_drive_forces, sim->force)

struct mechanism *sim_mechanism(struct instance *instance)
{
    return &sim_of(instance)->mechanism;
}

void sim_outdate_values(struct instance *instance)
{
    instance->stepper.up_to_date = false;
}

enum status sim_use_parameters(struct instance *instance)
{
    stepper_interrupt(&instance->stepper);
    return sim_apply_parameters(sim_of(instance));
}

enum status sim_start_drives(struct instance *instance)
{
    struct sim *sim = sim_of(instance);
    return drives_start(&sim->mechanism, &sim->in, instance->report);
}

struct statics *sim_statics(struct instance *instance)
{
    return &sim_of(instance)->statics;
}

double sim_line_force(const struct instance *instance, int line)
{
    return const_sim_of(instance)->line_force[line];
}

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

static enum status update(struct instance *instance)
{
    struct sim *sim = sim_of(instance);
    sim_apply_inputs(sim, instance->stepper.local);
    sim->tangent_up_to_date = false;
    const enum status status = sim_check_tuned(sim);
    return status == STATUS_OK ? outputs_compute(sim) : status;
}

static void tune(struct instance *instance, const struct variable *variable, double value)
{
    sim_tune(sim_of(instance), variable, value);
}

/* A model-exchange importer may set the quaternion of a joint to 0, which is then the cause */
static const char *reason(const struct instance *instance, enum status status, char text[REASON_SIZE])
{
    const struct sim *sim = const_sim_of(instance);
    const struct model *model = sim->mechanism.model;
    char name[MOST_NAME];
    if (status == STATUS_DRIVE_ERROR) {
        const struct robot_drive *rd = &sim->robot->drive[sim->mechanism.drives.failed];
        const char *error = drive_error(rd->drive, sim->at.drive + rd->first);
        snprintf(text, REASON_SIZE, "%s: %s", robot_drive_name(sim->robot, sim->mechanism.drives.failed, name),
                 error != NULL ? error : status_text(status));
        return text;
    }
    for (int i = 0; i < model->n_links && status == STATUS_NOT_POSITIVE; i++) {
        const struct joint *joint = &sim->robot->link[i].joint;
        const int first = joint_quaternion(joint);
        if (first < 0 || quaternion_square(sim->at.q + model->link[i].q + first) != 0) continue;
        snprintf(text, REASON_SIZE, "joint '%s': its quaternion is 0 and has no orientation", joint->name);
        return text;
    }
    return mechanism_reason(&sim->mechanism, status, text);
}

/* ---- initialization and steps -------------------------------------------------------------------------------------------------- */

/* Lightly damped oscillations come from links that bend, springs, stops and drives */
static enum status configure(struct sim *sim, double tolerance)
{
    const struct model *model = sim->mechanism.model;
    bool oscillatory = sim->robot->n_drives > 0;
    for (int i = 0; i < model->n_links; i++) {
        const struct joint_numbers *number = model->link[i].joint.number;
        oscillatory = oscillatory || model->link[i].m > 0;
        for (int k = 0; k < MOST_COORDINATES_WITH_NUMBERS; k++)
            oscillatory = oscillatory || number[k].stiffness > 0 || number[k].has_limits;
    }
    robot_ode_adapt(sim);
    sim->instance.stepper.ode.oscillatory = oscillatory;
    return stepper_configure(&sim->instance.stepper, tolerance);
}

static enum status adopt_parameters(struct instance *instance, double tolerance)
{
    struct sim *sim = sim_of(instance);
    const enum status status = sim_apply_parameters(sim);
    return status == STATUS_OK ? configure(sim, tolerance) : status;
}

/* Start positions are a guess where there are loops: they are closed, with the velocities projected */
static enum status close_loops(struct sim *sim)
{
    struct report *report = sim->instance.report;
    if (sim->mechanism.constraints->n_rows == 0) return STATUS_OK;
    struct report silent = {0};
    enum status status = constraints_close_start(&sim->mechanism, sim->at.q, report);
    if (status != STATUS_OK) return status;
    status = constraints_choose_and_project(&sim->mechanism, sim->at.q, sim->at.qd,
                                            sim->redundancy_reported ? &silent : report, report);
    if (status == STATUS_OK) sim->redundancy_reported = true;
    return status;
}

static bool starts_static(const struct instance *instance)
{
    return instance->stepper.value[instance->variables.start_static] != 0;
}

static enum status initialize(struct instance *instance, const struct experiment *experiment)
{
    struct sim *sim = sim_of(instance);
    const int errors = instance->report->errors;
    enum status status = sim_apply_parameters(sim);
    if (status != STATUS_OK) return status;
    for (int r = 0; r < instance->variables.n_values; r++) {
        const int state = instance->variables.by_reference[r]->start_of;
        if (state >= 0) *instance_state(instance, state) = instance->stepper.value[r];
    }
    model_normalize(sim->mechanism.model, sim->at.q);
    memset(sim->bent_too_far, 0, (size_t)sim->robot->n_links * sizeof(bool));
    stepper_start(&instance->stepper, experiment->start_time);
    sim_apply_inputs(sim, 0);
    status = configure(sim, experiment->tolerance);
    if (status == STATUS_OK) status = close_loops(sim);
    if (status == STATUS_OK) status = sim_start_drives(instance);
    if (status == STATUS_OK && starts_static(instance)) status = sim_settle(instance, NULL);
    char text[REASON_SIZE];
    if (status != STATUS_OK && instance->report->errors == errors)
        report_add(instance->report, REPORT_ERROR, "%s: at the start: %s", instance->name,
                   reason(instance, status, text));
    return status;
}

/* Parameters and inputs of drives act on the start, and with a static start all inputs do */
static bool acts_on_start(const struct instance *instance, const struct variable *variable)
{
    return variable->causality == CAUSALITY_PARAMETER || variable->in_drive != NULL || starts_static(instance);
}

static enum status step(struct instance *instance, double h)
{
    sim_of(instance)->failure = STATUS_OK;
    const enum status status = sim_check_tuned(sim_of(instance));
    return status == STATUS_OK ? instance_integrate(instance, h) : status;
}

/* ---- constraints ----------------------------------------------------------------------------------------------------------------- */

/* The norm of a quaternion has no effect on the motion, so its tolerance is loose */
static bool drifted(struct instance *instance)
{
    struct sim *sim = sim_of(instance);
    struct constraints *loops = sim->mechanism.constraints;
    const double tolerance = instance->stepper.tolerance;
    for (int i = 0; i < sim->mechanism.model->n_links; i++) {
        const double *q = sim->at.q + sim->mechanism.model->link[i].q;
        if (fabs(joint_quaternion_error(&sim->robot->link[i].joint, q)) > QUATERNION_ERROR) return true;
    }
    if (loops->n_rows == 0 || instance_update(instance) != STATUS_OK) return false;
    constraints_gap(&sim->mechanism, &sim->in);
    for (int k = 0; k < loops->n_active; k++) {
        const int row = loops->active[k];
        const double most = tolerance * loops->size[row];
        if (fabs(loops->gap[row]) > most || fabs(loops->rate[row]) > 10 * most) return true;
    }
    double missed;
    return constraints_missed(loops, &missed) >= 0 && missed > tolerance;
}

/* On failure the states are as before */
static enum status project_states(struct instance *instance)
{
    struct sim *sim = sim_of(instance);
    instance_get_states(instance, sim->kept);
    stepper_interrupt(&instance->stepper);
    model_normalize(sim->mechanism.model, sim->at.q);
    if (sim->mechanism.constraints->n_rows == 0) return STATUS_OK;
    const enum status status = constraints_project(&sim->mechanism, BY_NEW_FACTORS, sim->at.q, sim->at.qd, NULL, NULL);
    if (status != STATUS_OK) instance_set_states(instance, sim->kept);
    return status;
}

/* Saves which constraints are active: 1, the others 0 */
static void save_active(struct instance *instance)
{
    struct sim *sim = sim_of(instance);
    const struct constraints *loops = sim->mechanism.constraints;
    for (int i = 0; i < loops->n_rows; i++) sim->active_rows[i] = 0;
    for (int k = 0; k < loops->n_active; k++) sim->active_rows[loops->active[k]] = 1;
}

static void restore_active(struct instance *instance)
{
    struct sim *sim = sim_of(instance);
    struct constraints *loops = sim->mechanism.constraints;
    loops->n_active = 0;
    for (int i = 0; i < loops->n_rows; i++)
        if (sim->active_rows[i] != 0) loops->active[loops->n_active++] = i;
}

static const struct instance_ops robot_ops = {.update = update,
                                              .tune = tune,
                                              .initialize = initialize,
                                              .acts_on_start = acts_on_start,
                                              .step = step,
                                              .reason = reason,
                                              .directional = sim_directional,
                                              .start_directional = sim_start_directional,
                                              .drifted = drifted,
                                              .project = project_states,
                                              .before_save = save_active,
                                              .after_restore = restore_active,
                                              .adopt_parameters = adopt_parameters,
                                              .release = release_robot};
