#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/instance.h"

/* A loop that a step leaves open by more than this was tried too far ahead; less is how it begins to open [m, or cosine] */
static const double FAR_OFF = 1e-3;

/* ---- the right-hand side ------------------------------------------------------------------------------------------------ */

static void follow_motion(struct sim *sim, double t)
{
    for (int i = 0; i < sim->mechanism.model->n_links; i++) {
        const struct link_model *lm = &sim->mechanism.model->link[i];
        double x[3];
        if (lm->prescribed < 0) continue;
        sim->motion.at(sim->motion.context, t, i, x);
        sim->q[lm->q] = x[0];
        sim->qd[lm->q] = x[1];
        sim->prescribed_qdd[lm->prescribed] = x[2];
    }
}

void sim_apply_inputs(struct sim *sim, const struct held_inputs *held, double t)
{
    const struct variables *v = &sim->variables;
    const double elapsed = t - held->from;
    for (int i = 0; i < sim->course.n_inputs; i++) {
        const struct variable *variable = v->by_reference[sim->course.input[i]];
        const struct link_model *lm =
            &sim->mechanism.model->link[variable->kind == KIND_ACTUATOR_FORCE ? 0 : variable->owner];
        const double u = held->u[i] + held->rate[i] * elapsed;
        switch (variable->kind) {
        case KIND_TAU_IN: sim->tau[lm->tau] = u; break;
        case KIND_TIP_FORCE: sim->tip_wrench[3 + variable->k] = u; break;
        case KIND_TIP_TORQUE: sim->tip_wrench[variable->k] = u; break;
        case KIND_ACTUATOR_FORCE:
            if (sim->balance.n == 0) sim->actuator_force[variable->owner] = u;
            break;
        case KIND_Q_IN: sim->q[lm->q] = u; break;
        case KIND_QD_IN: sim->qd[lm->q] = u; break;
        default: sim->prescribed_qdd[lm->prescribed] = u; break; /* KIND_QDD_IN */
        }
    }
    if (sim->motion.at != NULL) follow_motion(sim, t);
}

static void scatter(struct sim *sim, const double *y)
{
    for (int i = 0; i < sim->n_free; i++) {
        sim->q[sim->free_coordinate[i]] = y[i];
        sim->qd[sim->free_coordinate[i]] = y[sim->n_free + i];
    }
}

static void gather(const struct sim *sim, double *y)
{
    for (int i = 0; i < sim->n_free; i++) {
        y[i] = sim->q[sim->free_coordinate[i]];
        y[sim->n_free + i] = sim->qd[sim->free_coordinate[i]];
    }
}

void sim_take(struct sim *sim, const struct held_inputs *held, double t, const double *y)
{
    scatter(sim, y);
    sim_apply_inputs(sim, held, t);
}

enum status sim_forward(struct sim *sim)
{
    const enum status status = mechanism_forward(&sim->mechanism, &sim->in, sim->qdd);
    return status == STATUS_OK && sim->balance.n > 0 ? sim_balance(sim) : status;
}

/* ydot = (qd; qdd) with given inputs */
enum status sim_derivatives(struct sim *sim, const struct held_inputs *held, double t, const double *y, double *ydot)
{
    sim_take(sim, held, t, y);
    const enum status status = sim_forward(sim);
    double sum = 0;
    for (int i = 0; i < sim->n_free; i++) {
        ydot[i] = y[sim->n_free + i];
        ydot[sim->n_free + i] = sim->qdd[sim->free_coordinate[i]];
        sum += fabs(ydot[sim->n_free + i]);
    }
    return status == STATUS_OK && !isfinite(sum) ? STATUS_NOT_FINITE : status;
}

static enum status rhs(void *context, double t, const double *y, double *ydot)
{
    struct sim *sim = context;
    const enum status status = sim_derivatives(sim, &sim->course.now, t, y, ydot);
    if (status != STATUS_OK) sim->failure = status;
    return status;
}

/* Back onto the loops: positions, rates and the error estimate of a step, whose equation was evaluated just before */
static enum status project(void *context, double t, double *y, double *error)
{
    struct sim *sim = context;
    const int n = sim->n_free;
    double *error_q = NULL, *error_qd = NULL;
    scatter(sim, y);
    sim_apply_inputs(sim, &sim->course.now, t);
    if (error != NULL) {
        error_q = sim->seed.q, error_qd = sim->seed.qd;
        memset(error_q, 0, (size_t)sim->mechanism.model->n * sizeof *error_q);
        memset(error_qd, 0, (size_t)sim->mechanism.model->n * sizeof *error_qd);
        for (int i = 0; i < n; i++) {
            error_q[sim->free_coordinate[i]] = error[i];
            error_qd[sim->free_coordinate[i]] = error[n + i];
        }
    }
    const enum status status = constraints_project(&sim->mechanism, true, sim->q, sim->qd, error_q, error_qd);
    gather(sim, y);
    for (int i = 0; error != NULL && i < n; i++) {
        error[i] = error_q[sim->free_coordinate[i]];
        error[n + i] = error_qd[sim->free_coordinate[i]];
    }
    if (status == STATUS_OK) return STATUS_OK;
    sim->failure = status;
    double gap;
    const bool opening =
        status == STATUS_MISSED_LOOP && constraints_missed(sim->mechanism.constraints, &gap) >= 0 && gap < FAR_OFF;
    return opening ? STATUS_LOOP_OPENS : status;
}

/* What kept the integrator from going on is to blame */
static const char *blame(void *context, char text[BLAME_SIZE])
{
    const struct sim *sim = context;
    char reason[REASON_SIZE];
    if (sim->failure == STATUS_OK || sim->failure == STATUS_NOT_FINITE) return NULL;
    snprintf(text, BLAME_SIZE, "; %s", sim_reason(sim, sim->failure, reason));
    return text;
}

/* ---- life ------------------------------------------------------------------------------------------------------------------ */

static enum status take_arrays(struct sim *sim)
{
    struct arena *arena = &sim->arena;
    const struct model *model = sim->mechanism.model;
    const size_t n = (size_t)model->n;
    double **const coordinate_arrays[] = {&sim->qdd, &sim->force, &sim->dqdd, &sim->seed.q, &sim->seed.qd};
    sim->free_coordinate = arena_take(arena, n, sizeof(int));
    sim->tau = arena_take(arena, (size_t)model->n_joints, sizeof(double));
    sim->actuator_force = arena_take(arena, (size_t)model->robot->n_actuators, sizeof(double));
    sim->seed.actuator_force = arena_take(arena, (size_t)model->robot->n_actuators, sizeof(double));
    sim->prescribed_qdd = arena_take(arena, (size_t)model->n_prescribed, sizeof(double));
    sim->seed.tau = arena_take(arena, (size_t)model->n_joints, sizeof(double));
    sim->seed.qdd = arena_take(arena, (size_t)model->n_prescribed, sizeof(double));
    sim->seed.payload_mass = arena_take(arena, (size_t)model->n_links, sizeof(double));
    sim->by_q = arena_take(arena, n * n, sizeof(double));
    sim->by_qd = arena_take(arena, n * n, sizeof(double));
    sim->q = arena_take(arena, 2 * n + (size_t)sim->mechanism.constraints->n_rows, sizeof(double));
    for (size_t i = 0; i < sizeof coordinate_arrays / sizeof coordinate_arrays[0]; i++)
        *coordinate_arrays[i] = arena_take(arena, n, sizeof(double));
    if (arena->failed) return STATUS_NO_MEMORY;
    sim->qd = sim->q + n;
    sim->kept_rows = sim->qd + n;
    return STATUS_OK;
}

static void number_states(struct sim *sim)
{
    for (int i = 0; i < sim->mechanism.model->n_links; i++) {
        const struct link_model *lm = &sim->mechanism.model->link[i];
        if (lm->q >= 0 && lm->prescribed < 0) sim->free_coordinate[sim->n_free++] = lm->q;
        for (int k = 0; k < lm->m; k++) sim->free_coordinate[sim->n_free++] = lm->eta + k;
    }
    sim->in = (struct input){.q = sim->q,
                             .qd = sim->qd,
                             .tau = sim->tau,
                             .tip_wrench = sim->tip_wrench,
                             .prescribed_qdd = sim->prescribed_qdd,
                             .actuator_force = sim->actuator_force};
}

/* The model, the work and the table of a robot that has been read */
static enum status build(struct sim *sim, const char *text)
{
    enum status status = mechanism_make(sim->robot, &sim->mechanism, sim->report);
    if (status == STATUS_OK) status = variables_make(sim->mechanism.model, &sim->arena, &sim->variables);
    if (status == STATUS_OK) status = take_arrays(sim);
    if (status == STATUS_OK && sim->motion.at != NULL) status = balance_make(sim);
    if (status != STATUS_OK) return status;
    number_states(sim);
    sim->course.variables = &sim->variables;
    sim->course.report = sim->report;
    variables_guid(&sim->variables, text, sim->guid);
    sim->course.solver =
        (struct solver_references){sim->variables.first[KIND_RELATIVE_TOLERANCE][0],
                                   sim->variables.first[KIND_MAX_STEP][0], sim->variables.first[KIND_MAX_ORDER][0]};
    sim->course.state = sim->q;
    sim->course.n_numbers = 2 * sim->mechanism.model->n + sim->mechanism.constraints->n_rows;
    sim->course.blame = blame;
    const struct ode ode = {.n_x = sim->n_free,
                            .n_v = sim->n_free,
                            .context = sim,
                            .rhs = rhs,
                            .jacobian = sim_jacobian,
                            .project = sim->mechanism.constraints->n_rows > 0 ? project : NULL};
    status = course_make(&sim->course, &ode, &sim->arena);
    return status == STATUS_OK ? sim_reset(sim) : status;
}

/* Drives, and actuators in place of drives */
static void prescribe_drives(struct robot *robot)
{
    for (int i = 0; i < robot->n_links; i++) {
        struct joint *joint = &robot->link[i].joint;
        joint->prescribed = joint_moves(joint) && (!joint->passive || joint_actuated(robot, i));
    }
}

enum status sim_make_moved(const char *name, const char *text, const struct sim_motion *motion, struct report *report,
                           struct sim **made)
{
    struct arena arena = {0};
    *made = NULL;
    struct sim *sim = arena_take(&arena, 1, sizeof *sim);
    const char *own_name = arena_string(&arena, name);
    if (arena.failed) {
        arena_release(&arena);
        return STATUS_NO_MEMORY;
    }
    sim->arena = arena;
    sim->name = own_name;
    sim->report = report;
    if (motion != NULL) sim->motion = *motion;
    enum status status = robot_read_text(name, text, &sim->robot, report);
    if (status == STATUS_OK && motion != NULL) prescribe_drives(sim->robot);
    if (status == STATUS_OK) status = build(sim, text);
    if (status == STATUS_OK) *made = sim;
    else sim_free(sim);
    return status;
}

enum status sim_make(const char *name, const char *text, struct report *report, struct sim **made)
{
    return sim_make_moved(name, text, NULL, report, made);
}

void sim_free(struct sim *sim)
{
    if (sim == NULL) return;
    course_free(&sim->course);
    mechanism_free(&sim->mechanism);
    if (sim->robot != NULL) robot_free(sim->robot);
    struct arena arena = sim->arena; /* the instance lives in it */
    arena_release(&arena);
}

enum status sim_reset(struct sim *sim)
{
    course_reset(&sim->course);
    return STATUS_OK;
}

const char *sim_kind(void)
{
    return "robot";
}

const struct variables *sim_variables(const struct sim *sim)
{
    return &sim->variables;
}
const struct robot *sim_robot(const struct sim *sim)
{
    return sim->robot;
}
const struct model *sim_model(const struct sim *sim)
{
    return sim->mechanism.model;
}
const char *sim_guid(const struct sim *sim)
{
    return sim->guid;
}

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

static double *state_place(struct sim *sim, const struct variable *variable)
{
    if (variable->owner >= sim->mechanism.model->n_links) return NULL; /* of a loop or an actuator */
    const struct link_model *lm = &sim->mechanism.model->link[variable->owner];
    switch (variable->kind) {
    case KIND_Q: return &sim->q[lm->q];
    case KIND_QD: return &sim->qd[lm->q];
    case KIND_ETA: return &sim->q[lm->eta + variable->k];
    case KIND_ETAD: return &sim->qd[lm->eta + variable->k];
    default: return NULL;
    }
}

enum status sim_update(struct sim *sim)
{
    if (sim->course.fresh) return STATUS_OK;
    course_hold_inputs(&sim->course);
    sim_apply_inputs(sim, &sim->course.now, sim->course.local);
    const enum status status = sim_compute(sim);
    sim->course.fresh = status == STATUS_OK;
    sim->tangent_fresh = false;
    return status;
}

double sim_get(struct sim *sim, int reference)
{
    const double *state = state_place(sim, sim->variables.by_reference[reference]);
    return state != NULL ? *state : sim->course.value[reference];
}

void sim_set(struct sim *sim, int reference, double value)
{
    const struct variable *variable = sim->variables.by_reference[reference];
    double *state = state_place(sim, variable);
    sim->course.value[reference] = value;
    sim->course.fresh = false;
    if (state != NULL) {
        *state = value;
        sim->course.restart = true;
    } else if (variable->kind == KIND_PAYLOAD_MASS) {
        sim_apply_payloads(sim);
        sim->course.restart = true;
    }
}

double sim_actuator_force(const struct sim *sim, int actuator)
{
    return sim->actuator_force[actuator];
}

const char *sim_reason(const struct sim *sim, enum status status, char text[REASON_SIZE])
{
    const struct constraints *loops = sim->mechanism.constraints;
    const char *why = status_text(status);
    double gap;
    const int missed = status == STATUS_MISSED_LOOP ? constraints_missed(loops, &gap) : -1;
    if (status == STATUS_NOT_POSITIVE)
        snprintf(text, REASON_SIZE, "link '%s': %s", sim->robot->link[sim->mechanism.work->failed_link].name, why);
    else if (status == STATUS_SHORT_ACTUATOR)
        snprintf(text, REASON_SIZE, "actuators[%d] (%s): %s", sim->mechanism.actuators->failed,
                 sim->robot->actuator[sim->mechanism.actuators->failed].name, why);
    else if (status == STATUS_SINGULAR_LOOP)
        snprintf(text, REASON_SIZE, "loops[%d] (%s): %s", loops->failed, sim->robot->loop[loops->failed].name, why);
    else if (missed >= 0)
        snprintf(
            text, REASON_SIZE,
            "loops[%d] (%s): %s, by %.3g m (or rad): the start is singular, or axes or prescribed motions do not fit",
            missed, sim->robot->loop[missed].name, why, gap);
    else snprintf(text, REASON_SIZE, "%s", why);
    return text;
}

/* ---- initialisation and steps ---------------------------------------------------------------------------------------------------- */

/* Lightly damped oscillations come from links that bend, springs and stops */
static bool is_oscillatory(const struct model *model)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->m > 0 || lm->stiffness > 0 || lm->limits != NULL) return true;
    }
    return false;
}

static enum status configure(struct sim *sim, double tolerance)
{
    sim->course.ode.oscillatory = is_oscillatory(sim->mechanism.model);
    return course_configure(&sim->course, tolerance);
}

enum status sim_adopt_parameters(struct sim *sim, double tolerance)
{
    const enum status status = sim_apply_parameters(sim);
    return status == STATUS_OK ? configure(sim, tolerance) : status;
}

static void start_states(struct sim *sim)
{
    static const enum kind start[2][2] = {{KIND_Q_START, KIND_ETA_START}, {KIND_QD_START, KIND_ETAD_START}};
    const struct variables *v = &sim->variables;
    for (int rate = 0; rate < 2; rate++)
        for (int i = 0; i < sim->mechanism.model->n_links; i++) {
            const struct link_model *lm = &sim->mechanism.model->link[i];
            double *x = rate == 0 ? sim->q : sim->qd;
            if (v->first[KIND_Q][i] >= 0) x[lm->q] = sim->course.value[v->first[start[rate][0]][i]];
            for (int k = 0; k < lm->m; k++) x[lm->eta + k] = sim->course.value[v->first[start[rate][1]][i] + k];
        }
}

/* Start positions are a guess where there are loops: they are closed, with the rates projected */
static enum status close_loops(struct sim *sim)
{
    struct constraints *loops = sim->mechanism.constraints;
    if (loops->n_rows == 0) return STATUS_OK;
    enum status status = constraints_close(&sim->mechanism, sim->q, sim->report);
    if (status == STATUS_OK) status = constraints_settle(&sim->mechanism, sim->q, sim->qd, sim->report, sim->report);
    return status;
}

enum status sim_initialise(struct sim *sim, const struct sim_experiment *experiment)
{
    const int errors = sim->report->errors;
    enum status status = sim_apply_parameters(sim);
    if (status != STATUS_OK) return status;
    start_states(sim);
    course_start(&sim->course, experiment->start_time);
    sim_apply_inputs(sim, &sim->course.now, 0);
    status = configure(sim, experiment->tolerance);
    if (status == STATUS_OK) status = close_loops(sim);
    if (status == STATUS_OK && sim->course.value[sim->variables.first[KIND_START_STATIC][0]] != 0)
        status = sim_find_equilibrium(sim);
    char reason[REASON_SIZE];
    if (status != STATUS_OK && sim->report->errors == errors)
        report_add(sim->report, REPORT_ERROR, "%s: at the start: %s", sim->name, sim_reason(sim, status, reason));
    return status;
}

bool sim_acts_on_start(const struct sim *sim, int reference)
{
    if (sim->variables.by_reference[reference]->causality == CAUSALITY_PARAMETER) return true;
    return sim->course.value[sim->variables.first[KIND_START_STATIC][0]] != 0;
}

double sim_time(const struct sim *sim)
{
    return sim->course.start_time + sim->course.local;
}

void sim_set_input_rate(struct sim *sim, int reference, double rate)
{
    course_give_rate(&sim->course, reference, rate);
}

/* A prescribed motion goes on as its rates say */
static void continue_prescribed(struct sim *sim)
{
    const struct variables *v = &sim->variables;
    for (int i = 0; i < sim->mechanism.model->n_links; i++) {
        if (v->first[KIND_Q_IN][i] < 0) continue;
        const int qd = v->first[KIND_QD_IN][i], qdd = v->first[KIND_QDD_IN][i];
        course_go_on(&sim->course, qd, sim->course.value[qdd]);
        course_go_on(&sim->course, v->first[KIND_Q_IN][i], sim->course.value[qd]);
    }
}

enum status sim_step(struct sim *sim, double h)
{
    sim->failure = STATUS_OK;
    course_hold_inputs(&sim->course);
    continue_prescribed(sim);
    gather(sim, sim->course.y);
    const enum status status = course_step(&sim->course, h);
    scatter(sim, sim->course.y);
    return status;
}

/* ---- model exchange --------------------------------------------------------------------------------------------------------------- */

void sim_set_time(struct sim *sim, double time)
{
    course_set_time(&sim->course, time);
}

void sim_get_states(const struct sim *sim, double *x)
{
    gather(sim, x);
}

void sim_set_states(struct sim *sim, const double *x)
{
    scatter(sim, x);
    course_interrupt(&sim->course);
}

enum status sim_get_derivatives(struct sim *sim, double *dx)
{
    const enum status status = sim_update(sim);
    double sum = 0;
    for (int s = 0; s < sim->variables.n_states; s++) {
        dx[s] = sim->course.value[sim->variables.row[sim->variables.derivative[s]].reference];
        sum += fabs(dx[s]);
    }
    return status == STATUS_OK && !isfinite(sum) ? STATUS_NOT_FINITE : status;
}

bool sim_strayed(struct sim *sim)
{
    struct constraints *loops = sim->mechanism.constraints;
    if (loops->n_rows == 0 || sim_update(sim) != STATUS_OK) return false;
    constraints_gap(&sim->mechanism);
    for (int k = 0; k < loops->n_kept; k++) {
        const int row = loops->kept[k];
        if (fabs(loops->gap[row]) > sim->course.tolerance || fabs(loops->rate[row]) > 10 * sim->course.tolerance)
            return true;
    }
    double missed;
    return constraints_missed(loops, &missed) >= 0 && missed > sim->course.tolerance;
}

enum status sim_return_to_loops(struct sim *sim)
{
    course_interrupt(&sim->course);
    return constraints_project(&sim->mechanism, false, sim->q, sim->qd, NULL, NULL);
}

void sim_statistics(const struct sim *sim, struct integrator_statistics *statistics)
{
    memset(statistics, 0, sizeof *statistics);
    if (sim->course.integrator != NULL) integrator_statistics(sim->course.integrator, statistics);
}

/* ---- saved state ------------------------------------------------------------------------------------------------------------------- */

/* Which equations of the loops are kept: 1, the others 0 */
static void note_kept(struct sim *sim)
{
    const struct constraints *loops = sim->mechanism.constraints;
    for (int i = 0; i < loops->n_rows; i++) sim->kept_rows[i] = 0;
    for (int k = 0; k < loops->n_kept; k++) sim->kept_rows[loops->kept[k]] = 1;
}

static void keep_noted(struct sim *sim)
{
    struct constraints *loops = sim->mechanism.constraints;
    loops->n_kept = 0;
    for (int i = 0; i < loops->n_rows; i++)
        if (sim->kept_rows[i] != 0) loops->kept[loops->n_kept++] = i;
}

size_t sim_state_size(const struct sim *sim)
{
    return course_state_size(&sim->course);
}

void sim_save(struct sim *sim, unsigned char *bytes)
{
    note_kept(sim);
    course_save(&sim->course, bytes);
}

enum status sim_restore(struct sim *sim, const unsigned char *bytes, bool initialised)
{
    const double tolerance = course_restore(&sim->course, bytes);
    keep_noted(sim);
    return initialised ? sim_adopt_parameters(sim, tolerance) : STATUS_OK;
}
