#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "sim/instance.h"

/* A change of the inputs is a jump, and restarts the integrator, where it moves the right-hand side by more than this multiple
   of the error tolerance over the next step; smaller changes the error test takes care of (bench/integration.py). */
static const double JUMP = 10;

/* A loop that a step leaves open by more than this was tried too far ahead; less is how it begins to open [m, or cosine] */
static const double FAR_OFF = 1e-3;

/* ---- the right-hand side ------------------------------------------------------------------------------------------------ */

static void follow_motion(struct sim *sim, double t)
{
    for (int i = 0; i < sim->model->n_links; i++) {
        const struct link_model *lm = &sim->model->link[i];
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
    for (int i = 0; i < sim->n_inputs; i++) {
        const struct variable *variable = v->by_reference[sim->input[i]];
        const struct link_model *lm = &sim->model->link[variable->kind == KIND_ACTUATOR_FORCE ? 0 : variable->owner];
        const double u = held->u[i] + held->rate[i] * elapsed;
        switch (variable->kind) {
        case KIND_TAU_IN: sim->tau[lm->tau] = u; break;
        case KIND_TIP_FORCE: sim->tip_wrench[3 + variable->k] = u; break;
        case KIND_TIP_TORQUE: sim->tip_wrench[variable->k] = u; break;
        case KIND_ACTUATOR_FORCE: sim->actuator_force[variable->owner] = u; break;
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
    return loops_forward(sim->model, sim->work, sim->tangent, sim->loops, &sim->in, sim->qdd);
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
    return status == STATUS_OK && !isfinite(sum) ? STATUS_INTEGRATION : status;
}

static int rhs(void *context, double t, const double *y, double *ydot)
{
    struct sim *sim = context;
    const enum status status = sim_derivatives(sim, &sim->now, t, y, ydot);
    if (status != STATUS_OK) sim->failure = status;
    return (int)status;
}

/* Back onto the loops: positions, rates and the error estimate of a step, whose equation was evaluated just before */
static int project(void *context, double t, double *y, double *error)
{
    struct sim *sim = context;
    const int n = sim->n_free;
    double *error_q = NULL, *error_qd = NULL;
    scatter(sim, y);
    sim_apply_inputs(sim, &sim->now, t);
    if (error != NULL) {
        error_q = sim->seed.q, error_qd = sim->seed.qd;
        memset(error_q, 0, (size_t)sim->model->n * sizeof *error_q);
        memset(error_qd, 0, (size_t)sim->model->n * sizeof *error_qd);
        for (int i = 0; i < n; i++) {
            error_q[sim->free_coordinate[i]] = error[i];
            error_qd[sim->free_coordinate[i]] = error[n + i];
        }
    }
    const enum status status =
        loops_project(sim->model, sim->work, sim->tangent, sim->loops, true, sim->q, sim->qd, error_q, error_qd);
    gather(sim, y);
    for (int i = 0; error != NULL && i < n; i++) {
        error[i] = error_q[sim->free_coordinate[i]];
        error[n + i] = error_qd[sim->free_coordinate[i]];
    }
    if (status == STATUS_OK) return 0;
    sim->failure = status;
    double gap;
    const bool opening = status == STATUS_MISSED_LOOP && loops_missed(sim->loops, &gap) >= 0 && gap < FAR_OFF;
    return opening ? -1 : (int)status;
}

/* ---- life ------------------------------------------------------------------------------------------------------------------ */

static void make_guid(struct sim *sim, const char *text)
{
    const unsigned long long a = hash_bytes(HASH_START, text, strlen(text)), b = variables_hash(&sim->variables, a);
    sim->robot_hash = b;
    snprintf(sim->guid, sizeof sim->guid, "{%08llx-%04llx-%04llx-%04llx-%012llx}", a >> 32, (a >> 16) & 0xffff,
             a & 0xffff, b >> 48, b & 0xffffffffffffULL);
}

static enum status take_arrays(struct sim *sim)
{
    struct arena *arena = &sim->arena;
    const struct model *model = sim->model;
    const size_t n = (size_t)model->n, values = (size_t)sim->variables.n_values,
                 states = (size_t)sim->variables.n_states;
    double **const coordinate_arrays[] = {&sim->q,    &sim->qd,     &sim->qdd,    &sim->force,
                                          &sim->dqdd, &sim->seed.q, &sim->seed.qd};
    double **const state_arrays[] = {&sim->y, &sim->ydot, &sim->nominal};
    double **const input_arrays[] = {&sim->now.u, &sim->now.rate, &sim->before.u, &sim->before.rate};
    sim->value = arena_take(arena, values, sizeof(double));
    sim->input = arena_take(arena, values, sizeof(int));
    sim->input_place = arena_take(arena, values, sizeof(int));
    sim->free_coordinate = arena_take(arena, n, sizeof(int));
    sim->tau = arena_take(arena, (size_t)model->n_joints, sizeof(double));
    sim->actuator_force = arena_take(arena, (size_t)model->robot->n_actuators, sizeof(double));
    sim->seed.actuator_force = arena_take(arena, (size_t)model->robot->n_actuators, sizeof(double));
    sim->prescribed_qdd = arena_take(arena, (size_t)model->n_prescribed, sizeof(double));
    sim->seed.tau = arena_take(arena, (size_t)model->n_joints, sizeof(double));
    sim->seed.qdd = arena_take(arena, (size_t)model->n_prescribed, sizeof(double));
    sim->kept_rows = arena_take(arena, (size_t)sim->loops->n_rows, sizeof(double));
    sim->seed.payload_mass = arena_take(arena, (size_t)model->n_links, sizeof(double));
    sim->by_q = arena_take(arena, n * n, sizeof(double));
    sim->by_qd = arena_take(arena, n * n, sizeof(double));
    for (size_t i = 0; i < sizeof coordinate_arrays / sizeof coordinate_arrays[0]; i++)
        *coordinate_arrays[i] = arena_take(arena, n, sizeof(double));
    for (int i = 0; i < 3; i++) *state_arrays[i] = arena_take(arena, states, sizeof(double));
    for (int i = 0; i < 4; i++) *input_arrays[i] = arena_take(arena, values, sizeof(double));
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

static void number_inputs_and_states(struct sim *sim)
{
    const struct variables *v = &sim->variables;
    for (int r = 0; r < v->n_values; r++) {
        const bool is_input = v->by_reference[r]->causality == CAUSALITY_INPUT;
        sim->input_place[r] = is_input ? sim->n_inputs : -1;
        if (is_input) sim->input[sim->n_inputs++] = r;
    }
    for (int i = 0; i < sim->model->n_links; i++) {
        const struct link_model *lm = &sim->model->link[i];
        if (lm->q >= 0 && lm->prescribed < 0) sim->free_coordinate[sim->n_free++] = lm->q;
        for (int k = 0; k < lm->m; k++) sim->free_coordinate[sim->n_free++] = lm->eta + k;
    }
    for (int s = 0; s < v->n_states; s++) sim->nominal[s] = v->row[v->state[s]].nominal;
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
    enum status status = model_make(sim->robot, &sim->model, sim->report);
    if (status == STATUS_OK) status = work_make(sim->model, &sim->work);
    if (status == STATUS_OK) status = tangent_make(sim->model, &sim->tangent);
    if (status == STATUS_OK) status = loops_make(sim->model, &sim->loops);
    if (status == STATUS_OK) status = variables_make(sim->model, &sim->arena, &sim->variables);
    if (status == STATUS_OK) status = take_arrays(sim);
    if (status != STATUS_OK) return status;
    number_inputs_and_states(sim);
    make_guid(sim, text);
    const struct ode ode = {.n = sim->n_free,
                            .context = sim,
                            .rhs = rhs,
                            .jacobian = sim_jacobian,
                            .project = sim->loops->n_rows > 0 ? project : NULL};
    if (ode.n > 0) status = integrator_make(&ode, &sim->integrator);
    return status == STATUS_OK ? sim_reset(sim) : status;
}

static void prescribe_drives(struct robot *robot)
{
    for (int i = 0; i < robot->n_links; i++) {
        struct joint *joint = &robot->link[i].joint;
        joint->prescribed = joint_moves(joint) && !joint->passive;
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
    integrator_free(sim->integrator);
    loops_free(sim->loops);
    tangent_free(sim->tangent);
    work_free(sim->work);
    model_free(sim->model);
    if (sim->robot != NULL) robot_free(sim->robot);
    struct arena arena = sim->arena; /* the instance lives in it */
    arena_release(&arena);
}

enum status sim_reset(struct sim *sim)
{
    const struct variables *v = &sim->variables;
    for (int r = 0; r < v->n_values; r++) sim->value[r] = v->by_reference[r]->start;
    memset(sim->now.rate, 0, (size_t)sim->n_inputs * sizeof(double));
    memset(sim->before.rate, 0, (size_t)sim->n_inputs * sizeof(double));
    memset(sim->q, 0, (size_t)sim->model->n * sizeof(double));
    memset(sim->qd, 0, (size_t)sim->model->n * sizeof(double));
    sim->start_time = sim->local = sim->carry = 0;
    sim->restart = true;
    sim->fresh = false;
    if (sim->integrator != NULL) integrator_forget(sim->integrator);
    return STATUS_OK;
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
    return sim->model;
}
const char *sim_guid(const struct sim *sim)
{
    return sim->guid;
}

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

static double *state_place(struct sim *sim, const struct variable *variable)
{
    if (variable->owner >= sim->model->n_links) return NULL; /* of a loop or an actuator */
    const struct link_model *lm = &sim->model->link[variable->owner];
    switch (variable->kind) {
    case KIND_Q: return &sim->q[lm->q];
    case KIND_QD: return &sim->qd[lm->q];
    case KIND_ETA: return &sim->q[lm->eta + variable->k];
    case KIND_ETAD: return &sim->qd[lm->eta + variable->k];
    default: return NULL;
    }
}

/* Inputs as they are now, from the values */
static void hold_inputs(struct sim *sim, double t)
{
    for (int i = 0; i < sim->n_inputs; i++) sim->now.u[i] = sim->value[sim->input[i]];
    sim->now.from = t;
}

enum status sim_update(struct sim *sim)
{
    if (sim->fresh) return STATUS_OK;
    hold_inputs(sim, sim->local);
    sim_apply_inputs(sim, &sim->now, sim->local);
    const enum status status = sim_compute(sim);
    sim->fresh = status == STATUS_OK;
    sim->tangent_fresh = false;
    return status;
}

double sim_get(struct sim *sim, int reference)
{
    const double *state = state_place(sim, sim->variables.by_reference[reference]);
    return state != NULL ? *state : sim->value[reference];
}

void sim_set(struct sim *sim, int reference, double value)
{
    const struct variable *variable = sim->variables.by_reference[reference];
    double *state = state_place(sim, variable);
    sim->value[reference] = value;
    sim->fresh = false;
    if (state != NULL) {
        *state = value;
        sim->restart = true;
    } else if (variable->kind == KIND_PAYLOAD_MASS) {
        sim_apply_payloads(sim);
        sim->restart = true;
    }
}

const char *sim_reason(const struct sim *sim, enum status status, char text[REASON_SIZE])
{
    const struct loops *loops = sim->loops;
    const char *why = status_text(status);
    double gap;
    const int missed = status == STATUS_MISSED_LOOP ? loops_missed(loops, &gap) : -1;
    if (status == STATUS_NOT_POSITIVE)
        snprintf(text, REASON_SIZE, "link '%s': %s", sim->robot->link[sim->work->failed_link].name, why);
    else if (status == STATUS_SHORT_ACTUATOR)
        snprintf(text, REASON_SIZE, "actuators[%d] (%s): %s", loops->failed_actuator,
                 sim->robot->actuator[loops->failed_actuator].name, why);
    else if (status == STATUS_SINGULAR_LOOP)
        snprintf(text, REASON_SIZE, "loops[%d] (%s): %s", loops->failed_loop, sim->robot->loop[loops->failed_loop].name,
                 why);
    else if (missed >= 0)
        snprintf(
            text, REASON_SIZE,
            "loops[%d] (%s): %s, by %.3g m (or rad): the start is singular, or axes or prescribed motions do not fit",
            missed, sim->robot->loop[missed].name, why, gap);
    else snprintf(text, REASON_SIZE, "%s", why);
    return text;
}

/* ---- initialisation and steps ---------------------------------------------------------------------------------------------------- */

/* Orders 3 to 5 are unstable near the imaginary axis, where lightly damped modes sit: 2 is the cap where the tolerance is loose.
   At tight tolerances order 5 takes fewer steps, held inside its stable region by the error test, and is asked for a tenth of
   the tolerance, so that the error goes on falling where the cap changes (bench/integration.py). */
struct policy {
    int max_order;
    double tolerance; /* share of what was asked for */
};

static struct policy choose(const struct sim *sim, double tolerance)
{
    const int asked = (int)sim->value[sim->variables.first[KIND_MAX_ORDER][0]];
    if (asked > 0) return (struct policy){asked, 1};
    return tolerance > 2e-6 ? (struct policy){2, 1} : (struct policy){5, 0.1};
}

static enum status configure(struct sim *sim, double importer_tolerance)
{
    const struct variables *v = &sim->variables;
    const double own = sim->value[v->first[KIND_RELATIVE_TOLERANCE][0]];
    sim->tolerance = own > 0 ? own : importer_tolerance > 0 ? importer_tolerance : 1e-6;
    if (sim->integrator == NULL) return STATUS_OK;
    const struct policy policy = choose(sim, sim->tolerance);
    const struct integrator_options options = {.relative_tolerance = policy.tolerance * sim->tolerance,
                                               .nominal = sim->nominal,
                                               .max_step = sim->value[v->first[KIND_MAX_STEP][0]],
                                               .max_order = policy.max_order};
    return integrator_configure(sim->integrator, &options);
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
        for (int i = 0; i < sim->model->n_links; i++) {
            const struct link_model *lm = &sim->model->link[i];
            double *x = rate == 0 ? sim->q : sim->qd;
            if (v->first[KIND_Q][i] >= 0) x[lm->q] = sim->value[v->first[start[rate][0]][i]];
            for (int k = 0; k < lm->m; k++) x[lm->eta + k] = sim->value[v->first[start[rate][1]][i] + k];
        }
}

/* Start positions are a guess where there are loops: they are closed, with the rates projected */
static enum status close_loops(struct sim *sim)
{
    struct loops *loops = sim->loops;
    if (loops->n_rows == 0) return STATUS_OK;
    enum status status = loops_close(sim->model, sim->work, loops, sim->q, sim->report);
    if (status == STATUS_OK)
        status = loops_settle(sim->model, sim->work, sim->tangent, loops, sim->q, sim->qd, sim->report, sim->report);
    return status;
}

enum status sim_initialise(struct sim *sim, const struct sim_experiment *experiment)
{
    const int errors = sim->report->errors;
    enum status status = sim_apply_parameters(sim);
    if (status != STATUS_OK) return status;
    sim->start_time = experiment->start_time;
    sim->local = sim->carry = 0;
    start_states(sim);
    hold_inputs(sim, 0);
    sim_apply_inputs(sim, &sim->now, 0);
    status = configure(sim, experiment->tolerance);
    if (status == STATUS_OK) status = close_loops(sim);
    if (status == STATUS_OK && sim->value[sim->variables.first[KIND_START_STATIC][0]] != 0)
        status = sim_find_equilibrium(sim);
    char reason[REASON_SIZE];
    if (status != STATUS_OK && sim->report->errors == errors)
        report_add(sim->report, REPORT_ERROR, "%s: at the start: %s", sim->name, sim_reason(sim, status, reason));
    sim->restart = true;
    sim->first_step = 0;
    sim->fresh = false;
    return status;
}

double sim_time(const struct sim *sim)
{
    return sim->start_time + sim->local;
}

void sim_set_input_rate(struct sim *sim, int reference, double rate)
{
    sim->now.rate[sim->input_place[reference]] = rate;
}

/* Did the inputs jump? What the last step's inputs would have come to by now, against what is set. */
static bool inputs_jumped(struct sim *sim)
{
    bool changed = false;
    const double elapsed = sim->local - sim->before.from;
    for (int i = 0; i < sim->n_inputs; i++)
        changed = changed || sim->now.u[i] != sim->before.u[i] + sim->before.rate[i] * elapsed ||
                  sim->now.rate[i] != sim->before.rate[i];
    if (!changed) return false;
    if (sim_derivatives(sim, &sim->now, sim->local, sim->y, sim->ydot) != STATUS_OK) return true;
    return !(integrator_jump(sim->integrator, sim->local, sim->y, sim->ydot) <= JUMP);
}

static void keep_inputs(struct sim *sim)
{
    memcpy(sim->before.u, sim->now.u, (size_t)sim->n_inputs * sizeof(double));
    memcpy(sim->before.rate, sim->now.rate, (size_t)sim->n_inputs * sizeof(double));
    sim->before.from = sim->now.from;
    memset(sim->now.rate, 0, (size_t)sim->n_inputs * sizeof(double)); /* rates are given anew for every step */
}

/* Inputs at the end of the step become the values again, so that outputs there belong to them */
static void advance_inputs(struct sim *sim)
{
    for (int i = 0; i < sim->n_inputs; i++)
        sim->value[sim->input[i]] = sim->now.u[i] + sim->now.rate[i] * (sim->local - sim->now.from);
}

/* local += h, compensated: a million steps add up to their sum (Kahan) */
static void advance_time(struct sim *sim, double h)
{
    const double step = h - sim->carry, sum = sim->local + step;
    sim->carry = (sum - sim->local) - step;
    sim->local = sum;
}

/* A prescribed motion goes on as its rates say, where no other rate was given */
static void continue_prescribed(struct sim *sim)
{
    const struct variables *v = &sim->variables;
    for (int i = 0; i < sim->model->n_links; i++) {
        if (v->first[KIND_Q_IN][i] < 0) continue;
        double *rate = sim->now.rate;
        const int q = sim->input_place[v->first[KIND_Q_IN][i]], qd = sim->input_place[v->first[KIND_QD_IN][i]];
        const int qdd = sim->input_place[v->first[KIND_QDD_IN][i]];
        if (rate[qd] == 0) rate[qd] = sim->now.u[qdd];
        if (rate[q] == 0) rate[q] = sim->now.u[qd];
    }
}

/* From the local time to h later; on failure *reached is the last good time */
static enum status integrate(struct sim *sim, double h, double *reached)
{
    gather(sim, sim->y);
    if (sim->integrator != NULL && (sim->restart || inputs_jumped(sim))) {
        const struct restart restart = {.first_step = sim->first_step, .inputs_alone = !sim->restart};
        const enum status status = integrator_restart(sim->integrator, sim->local, sim->y, &restart);
        if (status != STATUS_OK) return status;
        sim->restart = false;
        sim->first_step = 0;
    }
    advance_time(sim, h);
    *reached = sim->local;
    if (sim->integrator != NULL) return integrator_advance(sim->integrator, sim->local, sim->y, reached);
    /* all joints are prescribed: they may leave the loops */
    return sim->loops->n_rows > 0 && project(sim, sim->local, sim->y, NULL) != 0 ? sim->failure : STATUS_OK;
}

/* What changes fastest against its scale, where it is beyond all reason; "" where nothing is */
static const char *runaway(const struct sim *sim, char text[128])
{
    const struct variables *v = &sim->variables;
    int fastest = 0;
    for (int s = 1; s < v->n_states; s++)
        if (!(fabs(sim->ydot[s]) / sim->nominal[s] <= fabs(sim->ydot[fastest]) / sim->nominal[fastest])) fastest = s;
    const struct variable *rate = v->by_reference[v->row[v->derivative[fastest]].reference];
    text[0] = '\0';
    if (!(fabs(sim->ydot[fastest]) <= 1e9 * sim->nominal[fastest]))
        snprintf(text, 128, "; the fastest is %s = %.3g %s", rate->name, sim->ydot[fastest], rate->unit);
    return text;
}

/* When it failed, why, and what is to blame: what kept the integrator from going on, or what runs away */
static void report_failure(struct sim *sim)
{
    char text[128], reason[REASON_SIZE];
    const char *trouble = sim->integrator != NULL ? integrator_trouble(sim->integrator) : "the loops cannot be closed";
    sim_reason(sim, sim->failure, reason);
    (void)sim_derivatives(sim, &sim->now, sim->local, sim->y, sim->ydot);
    if (sim->failure != STATUS_OK && sim->failure != STATUS_INTEGRATION)
        report_add(sim->report, REPORT_ERROR, "at t = %.9g s: %s; %s", sim_time(sim), trouble, reason);
    else report_add(sim->report, REPORT_ERROR, "at t = %.9g s: %s%s", sim_time(sim), trouble, runaway(sim, text));
}

enum status sim_step(struct sim *sim, double h)
{
    const double started = sim->local;
    double reached = started;
    sim->failure = STATUS_OK;
    hold_inputs(sim, sim->local);
    continue_prescribed(sim);
    const enum status status = integrate(sim, h, &reached);
    if (status != STATUS_OK) {
        sim->local = reached > started ? reached : started;
        sim->carry = 0;
        sim->restart = true;
        report_failure(sim);
    }
    scatter(sim, sim->y);
    advance_inputs(sim);
    keep_inputs(sim);
    sim->fresh = false;
    return status;
}

/* ---- model exchange --------------------------------------------------------------------------------------------------------------- */

void sim_set_time(struct sim *sim, double time)
{
    sim->local = time - sim->start_time;
    sim->carry = 0;
    sim->fresh = false;
    sim->restart = true;
}

void sim_get_states(const struct sim *sim, double *x)
{
    gather(sim, x);
}

void sim_set_states(struct sim *sim, const double *x)
{
    scatter(sim, x);
    sim->fresh = false;
    sim->restart = true;
}

enum status sim_get_derivatives(struct sim *sim, double *dx)
{
    const enum status status = sim_update(sim);
    double sum = 0;
    for (int s = 0; s < sim->variables.n_states; s++) {
        dx[s] = sim->value[sim->variables.row[sim->variables.derivative[s]].reference];
        sum += fabs(dx[s]);
    }
    return status == STATUS_OK && !isfinite(sum) ? STATUS_INTEGRATION : status;
}

bool sim_strayed(struct sim *sim)
{
    struct loops *loops = sim->loops;
    if (loops->n_rows == 0 || sim_update(sim) != STATUS_OK) return false;
    loops_gap(sim->model, sim->work, loops);
    for (int k = 0; k < loops->n_kept; k++) {
        const int row = loops->kept[k];
        if (fabs(loops->gap[row]) > sim->tolerance || fabs(loops->rate[row]) > 10 * sim->tolerance) return true;
    }
    double missed;
    return loops_missed(loops, &missed) >= 0 && missed > sim->tolerance;
}

enum status sim_return_to_loops(struct sim *sim)
{
    sim->fresh = false;
    sim->restart = true;
    return loops_project(sim->model, sim->work, sim->tangent, sim->loops, false, sim->q, sim->qd, NULL, NULL);
}

void sim_statistics(const struct sim *sim, struct integrator_statistics *statistics)
{
    memset(statistics, 0, sizeof *statistics);
    if (sim->integrator != NULL) integrator_statistics(sim->integrator, statistics);
}
