/* An instance of a drive, behind the functions of sim/sim.h: what the FMI layer calls. LIMBER_DRIVE names the drive. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drive.h"
#include "sim/course.h"
#include "sim/sim.h"

struct sim {
    const struct drive *drive;
    struct report *report;
    struct variables variables;
    char guid[GUID_SIZE];
    struct course course; /* its y are the states                                          */
    double *v, *dv;       /* n_values: at a point that the integrator asks for; a direction */
    struct arena arena;
};

/* ---- the equations ----------------------------------------------------------------------------------------------------- */

static void put_states(const struct sim *sim, const double *y, double *v)
{
    for (int s = 0; s < sim->variables.n_states; s++) v[sim->variables.state[s]] = y[s];
}

/* All values at the states y and the inputs of a local time, into sim->v; false where the drive cannot be there */
static bool evaluate_at(struct sim *sim, double t, const double *y)
{
    const struct course *course = &sim->course;
    memcpy(sim->v, course->value, (size_t)sim->variables.n_values * sizeof *sim->v);
    for (int i = 0; i < course->n_inputs; i++)
        sim->v[course->input[i]] = course->now.u[i] + course->now.rate[i] * (t - course->now.from);
    put_states(sim, y, sim->v);
    if (sim->drive->fault(sim->v) != NULL) return false;
    sim->drive->evaluate(sim->v);
    return true;
}

static enum status rhs(void *context, double t, const double *y, double *ydot)
{
    struct sim *sim = context;
    if (!evaluate_at(sim, t, y)) return STATUS_DRIVE_FAULT;
    double sum = 0;
    for (int s = 0; s < sim->variables.n_states; s++) {
        ydot[s] = sim->v[sim->drive->n_rows + s];
        sum += fabs(ydot[s]);
    }
    return isfinite(sum) ? STATUS_OK : STATUS_NOT_FINITE;
}

static enum status jacobian(void *context, double t, const double *y, double *A, double *B)
{
    struct sim *sim = context;
    const int n = sim->variables.n_states;
    (void)A; /* of first order */
    if (!evaluate_at(sim, t, y)) return STATUS_DRIVE_FAULT;
    for (int j = 0; j < n; j++) {
        memset(sim->dv, 0, (size_t)sim->variables.n_values * sizeof *sim->dv);
        sim->dv[sim->variables.state[j]] = 1;
        sim->drive->tangent(sim->v, sim->dv);
        memcpy(B + n * j, sim->dv + sim->drive->n_rows, (size_t)n * sizeof *B);
    }
    return STATUS_OK;
}

/* ---- life -------------------------------------------------------------------------------------------------------------- */

static enum status build(struct sim *sim, const char *name, const char *text)
{
    const struct drive *drive = sim->drive;
    struct course *course = &sim->course;
    enum status status = drive_variables(drive, name, text, sim->report, &sim->arena, &sim->variables);
    if (status != STATUS_OK) return status;
    const size_t values = (size_t)sim->variables.n_values;
    sim->v = arena_take(&sim->arena, values, sizeof(double));
    sim->dv = arena_take(&sim->arena, values, sizeof(double));
    course->variables = &sim->variables;
    course->report = sim->report;
    variables_guid(&sim->variables, text, sim->guid);
    course->solver = (struct solver_references){solver_reference(drive, RELATIVE_TOLERANCE),
                                                solver_reference(drive, MAX_STEP), solver_reference(drive, MAX_ORDER)};
    const struct ode ode = {
        .n_v = drive->n_states, .oscillatory = true, .context = sim, .rhs = rhs, .jacobian = jacobian};
    status = course_make(course, &ode, &sim->arena);
    if (status != STATUS_OK) return status;
    course->state = course->y;
    course->n_numbers = drive->n_states;
    return sim_reset(sim);
}

enum status sim_make(const char *name, const char *text, struct report *report, struct sim **made)
{
    struct arena arena = {0};
    *made = NULL;
    struct sim *sim = arena_take(&arena, 1, sizeof *sim);
    if (sim == NULL) return STATUS_NO_MEMORY;
    sim->arena = arena;
    sim->report = report;
    sim->drive = &LIMBER_DRIVE;
    const enum status status = build(sim, name, text);
    if (status == STATUS_OK) *made = sim;
    else sim_free(sim);
    return status;
}

void sim_free(struct sim *sim)
{
    if (sim == NULL) return;
    course_free(&sim->course);
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
    return "drive";
}
const struct variables *sim_variables(const struct sim *sim)
{
    return &sim->variables;
}
const char *sim_guid(const struct sim *sim)
{
    return sim->guid;
}

/* ---- values ------------------------------------------------------------------------------------------------------------ */

/* Number among the states; -1: not one */
static int state_of(const struct sim *sim, int reference)
{
    for (int s = 0; s < sim->variables.n_states; s++)
        if (sim->variables.state[s] == reference) return s;
    return -1;
}

static enum status complain_of_fault(struct sim *sim, const double *v)
{
    const char *fault = sim->drive->fault(v);
    if (fault != NULL) report_add(sim->report, REPORT_ERROR, "at t = %.9g s: %s", sim_time(sim), fault);
    return fault != NULL ? STATUS_DRIVE_FAULT : STATUS_OK;
}

enum status sim_update(struct sim *sim)
{
    struct course *course = &sim->course;
    if (course->fresh) return STATUS_OK;
    course_hold_inputs(course);
    put_states(sim, course->y, course->value);
    sim->drive->evaluate(course->value);
    course->fresh = true;
    return STATUS_OK;
}

/* The same where time derivatives are wanted: forces are known at inputs where no motion is possible, as masters may have them
   before they have connected all */
static enum status update_rates(struct sim *sim)
{
    const enum status status = sim_update(sim);
    return status == STATUS_OK ? complain_of_fault(sim, sim->course.value) : status;
}

double sim_get(struct sim *sim, int reference)
{
    const int state = state_of(sim, reference);
    return state >= 0 ? sim->course.y[state] : sim->course.value[reference];
}

void sim_set(struct sim *sim, int reference, double value)
{
    const int state = state_of(sim, reference);
    sim->course.value[reference] = value;
    sim->course.fresh = false;
    if (state < 0) return;
    sim->course.y[state] = value;
    sim->course.restart = true;
}

const char *sim_complaint(const struct sim *sim, int reference, double value)
{
    return drive_complaint(sim->drive, reference, value);
}

const char *sim_reason(const struct sim *sim, enum status status, char text[REASON_SIZE])
{
    (void)sim;
    snprintf(text, REASON_SIZE, "%s", status_text(status));
    return text;
}

/* ---- initialisation and steps ------------------------------------------------------------------------------------------ */

static enum status check_parameters(struct sim *sim)
{
    const double *value = sim->course.value;
    const int before = sim->report->errors;
    for (int r = 0; r < sim->variables.n_values; r++) {
        const struct variable *variable = sim->variables.by_reference[r];
        if (variable->causality != CAUSALITY_PARAMETER) continue;
        const char *complaint = sim_complaint(sim, r, value[r]);
        if (complaint != NULL)
            report_add(sim->report, REPORT_ERROR, "%s = %.9g: %s [%s]", variable->name, value[r], complaint,
                       variable->unit != NULL ? variable->unit : "1");
    }
    if (sim->report->errors > before) return STATUS_BAD_DRIVE;
    char text[CONFLICT_SIZE];
    const char *conflict = sim->drive->conflict(value, text);
    if (conflict != NULL) report_add(sim->report, REPORT_ERROR, "%s: %s", sim->drive->name, conflict);
    return conflict == NULL ? STATUS_OK : STATUS_BAD_DRIVE;
}

enum status sim_initialise(struct sim *sim, const struct sim_experiment *experiment)
{
    struct course *course = &sim->course;
    const enum status status = check_parameters(sim);
    if (status != STATUS_OK) return status;
    sim->drive->start(course->value);
    for (int s = 0; s < sim->variables.n_states; s++) course->y[s] = course->value[sim->variables.state[s]];
    course_start(course, experiment->start_time);
    return course_configure(course, experiment->tolerance);
}

bool sim_acts_on_start(const struct sim *sim, int reference)
{
    (void)sim, (void)reference;
    return true; /* states start from parameters and inputs */
}

/* The driven motion goes on as its rate says */
static void continue_motion(struct sim *sim)
{
    for (int i = 0; i < sim->drive->n_driven; i++)
        course_go_on(&sim->course, sim->drive->position + i, sim->course.value[sim->drive->rate + i]);
}

/* What the inputs would have led to over all of the step that failed says more than the integrator */
static void explain_failure(struct sim *sim, double h)
{
    const struct course *course = &sim->course;
    memcpy(sim->v, course->value, (size_t)sim->variables.n_values * sizeof *sim->v);
    for (int i = 0; i < course->n_inputs; i++)
        sim->v[course->input[i]] = course->before.u[i] + course->before.rate[i] * h;
    put_states(sim, course->y, sim->v);
    (void)complain_of_fault(sim, sim->v);
}

enum status sim_step(struct sim *sim, double h)
{
    course_hold_inputs(&sim->course);
    continue_motion(sim);
    const enum status status = course_step(&sim->course, h);
    if (status != STATUS_OK) explain_failure(sim, h);
    return status;
}

double sim_time(const struct sim *sim)
{
    return sim->course.start_time + sim->course.local;
}

void sim_set_input_rate(struct sim *sim, int reference, double rate)
{
    course_give_rate(&sim->course, reference, rate);
}

/* ---- model exchange ---------------------------------------------------------------------------------------------------- */

void sim_set_time(struct sim *sim, double time)
{
    course_set_time(&sim->course, time);
}

void sim_get_states(const struct sim *sim, double *x)
{
    memcpy(x, sim->course.y, (size_t)sim->variables.n_states * sizeof *x);
}

void sim_set_states(struct sim *sim, const double *x)
{
    memcpy(sim->course.y, x, (size_t)sim->variables.n_states * sizeof *x);
    course_interrupt(&sim->course);
}

enum status sim_get_derivatives(struct sim *sim, double *dx)
{
    const enum status status = update_rates(sim);
    double sum = 0;
    for (int s = 0; s < sim->variables.n_states; s++) {
        dx[s] = sim->course.value[sim->drive->n_rows + s];
        sum += fabs(dx[s]);
    }
    return status == STATUS_OK && !isfinite(sum) ? STATUS_NOT_FINITE : status;
}

bool sim_strayed(struct sim *sim)
{
    (void)sim;
    return false; /* there are no loops */
}

enum status sim_return_to_loops(struct sim *sim)
{
    (void)sim;
    return STATUS_OK;
}

/* ---- derivatives ------------------------------------------------------------------------------------------------------- */

enum status sim_directional(struct sim *sim, int n_unknown, const int *unknown, int n_known, const int *known,
                            const double *seed, double *result)
{
    const enum status status = update_rates(sim);
    if (status != STATUS_OK) return status;
    memset(sim->dv, 0, (size_t)sim->variables.n_values * sizeof *sim->dv);
    for (int i = 0; i < n_known; i++) sim->dv[known[i]] += seed[i];
    sim->drive->tangent(sim->course.value, sim->dv);
    for (int i = 0; i < n_unknown; i++) result[i] = sim->dv[unknown[i]];
    return STATUS_OK;
}

/* The direction of time: states by their rates, inputs by those of the last step */
enum status sim_output_rate(struct sim *sim, int reference, double *rate)
{
    const struct course *course = &sim->course;
    const enum status status = update_rates(sim);
    if (status != STATUS_OK) return status;
    memset(sim->dv, 0, (size_t)sim->variables.n_values * sizeof *sim->dv);
    for (int s = 0; s < sim->variables.n_states; s++)
        sim->dv[sim->variables.state[s]] = course->value[sim->drive->n_rows + s];
    for (int i = 0; i < course->n_inputs; i++) sim->dv[course->input[i]] = course->before.rate[i];
    sim->drive->tangent(course->value, sim->dv);
    *rate = sim->dv[reference];
    return STATUS_OK;
}

/* ---- saved state ------------------------------------------------------------------------------------------------------- */

size_t sim_state_size(const struct sim *sim)
{
    return course_state_size(&sim->course);
}

void sim_save(struct sim *sim, unsigned char *bytes)
{
    course_save(&sim->course, bytes);
}

enum status sim_restore(struct sim *sim, const unsigned char *bytes, bool initialised)
{
    const double tolerance = course_restore(&sim->course, bytes);
    return initialised ? course_configure(&sim->course, tolerance) : STATUS_OK;
}

void sim_statistics(const struct sim *sim, struct integrator_statistics *statistics)
{
    integrator_statistics(sim->course.integrator, statistics);
}
