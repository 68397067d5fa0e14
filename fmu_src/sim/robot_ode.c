/* The equation of motion of a robot as an integrator sees it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/robot_instance.h"

/* A redundant constraint that is violated by more than this: the trial step was too long. By less: a loop begins to open
   [m, or cosine] */
static const double FAR_OFF = 1e-3;

/* ---- the right-hand side ------------------------------------------------------------------------------------------------ */

void sim_apply_inputs(struct sim *sim, double t)
{
    stepper_apply_inputs(&sim->instance.stepper, t);
    for (int i = 0; i < sim->mechanism.model->n_links && sim->motion.at != NULL; i++) {
        const struct link_model *lm = &sim->mechanism.model->link[i];
        for (int k = 0; lm->prescribed >= 0 && k < lm->joint.nv; k++) {
            double x[3];
            sim->motion.at(sim->motion.context, t, i, k, x);
            sim->at.q[lm->q + k] = x[0];
            sim->at.qd[lm->v + k] = x[1];
            sim->at.prescribed_qdd[lm->prescribed + k] = x[2];
        }
    }
}

void sim_take(struct sim *sim, double t, const double *y)
{
    instance_scatter(&sim->instance, y);
    sim_apply_inputs(sim, t);
}

enum status sim_forward(struct sim *sim)
{
    const enum status status = mechanism_forward(&sim->mechanism, &sim->in, sim->qdd);
    return status == STATUS_OK && sim->balance.n > 0 ? sim_balance(sim) : status;
}

/* The same by generated code, if there is any. It leaves no factors in the work: those that a projection needs are computed by
   code_factors(). */
static enum status accelerations(struct sim *sim, double t, const double *y)
{
    struct sim_code *code = &sim->code;
    code->no_factors = false;
    if (!code->in_use) return sim_forward(sim);
    if (!code_forward(sim)) return mechanism_forward(&sim->mechanism, &sim->in, sim->qdd);
    code->no_factors = true;
    code->t = t;
    memcpy(code->y, y, (size_t)sim->instance.variables.n_states * sizeof *y);
    return STATUS_OK;
}

enum status sim_derivatives(struct sim *sim, double t, const double *y, double *ydot)
{
    const struct ode *ode = &sim->instance.stepper.ode;
    sim_take(sim, t, y);
    const enum status status = accelerations(sim, t, y);
    double sum = 0;
    ode_position_rates(ode, y, ydot);
    for (int i = 0; i < sim->n_free; i++) ydot[ode->n_x + i] = sim->qdd[sim->free_coordinate[i]];
    drives_rates(sim->robot, sim->at.drive, ydot + ode->n_x + sim->n_free);
    for (int i = 0; i < ode->n_v; i++) sum += fabs(ydot[ode->n_x + i]);
    return status == STATUS_OK && !isfinite(sum) ? STATUS_NOT_FINITE : status;
}

static enum status rhs(void *context, double t, const double *y, double *ydot)
{
    struct sim *sim = context;
    const enum status status = sim_derivatives(sim, t, y, ydot);
    sim->factors = BY_FORWARD_FACTORS;
    if (status != STATUS_OK) sim->failure = status;
    return status;
}

/* Projects positions, velocities and the error estimate of a step onto loops and unit quaternions, with the last factors of the step
   itself: it does not depend on what was evaluated before it */
static enum status project(void *context, double t, bool fixed, double *y, double *error)
{
    struct sim *sim = context;
    const int n_states = sim->instance.variables.n_states;
    const bool loops = sim->mechanism.constraints->n_rows > 0;
    double *error_q = error != NULL ? sim->dx : NULL, *error_qd = error != NULL ? sim->seed.qd : NULL;
    enum status status = loops && sim->factors == BY_FORWARD_FACTORS ? code_factors(sim) : STATUS_OK;
    sim_take(sim, t, y);
    model_normalize(sim->mechanism.model, sim->at.q);
    if (error != NULL) {
        sim_clear_seed(sim);
        for (int s = 0; s < n_states; s++) *sim->seed_state[s] = error[s];
        model_tangent(sim->mechanism.model, sim->at.q, sim->seed.q, sim->dx);
    }
    if (loops && status == STATUS_OK)
        status = fixed && sim->factors == BY_NEWTON_FACTORS
                     ? constraints_project_fixed(&sim->mechanism, sim->at.q, sim->at.qd)
                     : constraints_project(&sim->mechanism, sim->factors, sim->at.q, sim->at.qd, error_q, error_qd);
    instance_get_states(&sim->instance, y);
    if (error != NULL) model_position_change(sim->mechanism.model, sim->at.q, sim->dx, sim->seed.q);
    for (int s = 0; error != NULL && s < n_states; s++) error[s] = *sim->seed_state[s];
    if (status == STATUS_OK) return STATUS_OK;
    sim->failure = status;
    double gap;
    const bool opening =
        status == STATUS_MISSED_LOOP && constraints_missed(sim->mechanism.constraints, &gap) >= 0 && gap < FAR_OFF;
    return opening ? STATUS_LOOP_OPENS : status;
}

/* The last failure of the right-hand side in this step is the cause */
const char *sim_failure_cause(void *context, char text[CAUSE_SIZE])
{
    const struct sim *sim = context;
    char reason[REASON_SIZE];
    if (sim->failure == STATUS_OK || sim->failure == STATUS_NOT_FINITE) return NULL;
    snprintf(text, CAUSE_SIZE, "; %s", instance_reason(&sim->instance, sim->failure, reason));
    return text;
}

/* ---- the O(n) Newton iteration ----------------------------------------------------------------------------------------- */

/* Accelerations of all coordinates from those of the free ones */
static void spread_accelerations(struct sim *sim, const double *a)
{
    const struct model *model = sim->mechanism.model;
    for (int i = 0; model->n_prescribed > 0 && i < model->n_links; i++)
        if (model->link[i].prescribed >= 0) dyn_copy_prescribed(&model->link[i], &sim->in, sim->qdd);
    for (int i = 0; i < sim->n_free; i++) sim->qdd[sim->free_coordinate[i]] = a[i];
}

static enum status residual(void *context, double t, const double *y, const double *z, double *r)
{
    struct sim *sim = context;
    const int n_v = sim->instance.stepper.ode.n_v;
    double sum = 0;
    sim_take(sim, t, y);
    spread_accelerations(sim, z);
    enum status status = STATUS_OK;
    if (!code_residual(sim, z + n_v, r + n_v))
        status = mechanism_residual(&sim->mechanism, &sim->in, sim->qdd, z + n_v, sim->force, r + n_v);
    if (status != STATUS_OK) return sim->failure = status;
    drives_rates(sim->robot, sim->at.drive, r + sim->n_free);
    for (int i = sim->n_free; i < n_v; i++) r[i] = z[i] - r[i];
    for (int i = 0; i < sim->n_free; i++) r[i] = sim->force[sim->free_coordinate[i]];
    for (int i = 0; i < n_v; i++) sum += fabs(r[i]);
    return isfinite(sum) ? STATUS_OK : (sim->failure = STATUS_NOT_FINITE);
}

static enum status factor(void *context, double t, const double *y, double gamma)
{
    struct sim *sim = context;
    sim_take(sim, t, y);
    const enum status status = mechanism_newton_factor(&sim->mechanism, &sim->in, gamma);
    sim->factors = BY_NEWTON_FACTORS;
    if (status != STATUS_OK) sim->failure = status;
    return status;
}

/* Forces of the free coordinates; none on prescribed ones */
static void spread_forces(struct sim *sim, const double *r, double *force)
{
    if (sim->n_free < sim->mechanism.model->nv) memset(force, 0, (size_t)sim->mechanism.model->nv * sizeof *force);
    for (int i = 0; i < sim->n_free; i++) force[sim->free_coordinate[i]] = r[i];
}

static void gather_free(const struct sim *sim, const double *all, double *r)
{
    for (int i = 0; i < sim->n_free; i++) r[i] = all[sim->free_coordinate[i]];
}

static void solve(void *context, double *r)
{
    struct sim *sim = context;
    spread_forces(sim, r, sim->force);
    drives_reduce(&sim->mechanism, r + sim->n_free, sim->force);
    mechanism_newton_solve(&sim->mechanism, sim->force, r + sim->instance.stepper.ode.n_v);
    drives_expand(&sim->mechanism, sim->force, r + sim->n_free);
    gather_free(sim, sim->force, r);
}

static void stiffness(void *context, const double *dx, const double *dv, double *r)
{
    struct sim *sim = context;
    const struct ode *ode = &sim->instance.stepper.ode;
    spread_forces(sim, dx, sim->dx);
    spread_forces(sim, dv, sim->dqdd);
    mechanism_newton_force(&sim->mechanism, sim->dx, sim->dqdd, sim->force);
    drives_stiffness(&sim->mechanism, sim->dx, sim->dqdd, dv + sim->n_free, sim->force, r + sim->n_free);
    gather_free(sim, sim->force, r);
    memset(r + ode->n_v, 0, (size_t)ode->n_lambda * sizeof *r);
}

static void multipliers(void *context, double *lambda)
{
    const struct constraints *loops = ((struct sim *)context)->mechanism.constraints;
    memcpy(lambda, loops->lambda, (size_t)loops->n_rows * sizeof *lambda);
}

/* ---- stops and dry friction --------------------------------------------------------------------------------------------- */

static void switches(void *context, double t, const double *y, double *g)
{
    struct sim *sim = context;
    const struct model *model = sim->mechanism.model;
    (void)t; /* prescribed joints have none */
    instance_scatter(&sim->instance, y);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->prescribed >= 0) continue;
        joint_switches(&lm->joint, sim->at.q + lm->q, sim->at.qd + lm->v, g);
        g += joint_switch_count(&lm->joint);
    }
}

static double longest_step(void *context, const double *y, const double *ydot)
{
    struct sim *sim = context;
    const struct model *model = sim->mechanism.model;
    double longest = INFINITY;
    instance_scatter(&sim->instance, y);
    spread_accelerations(sim, ydot + sim->instance.stepper.ode.n_x);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->prescribed >= 0) continue;
        longest = fmin(longest, joint_longest_step(&lm->joint, sim->at.qd + lm->v, sim->qdd + lm->v));
    }
    return longest;
}

void robot_ode_adapt(struct sim *sim)
{
    const struct model *model = sim->mechanism.model;
    struct ode *ode = &sim->instance.stepper.ode;
    ode->n_switches = 0;
    ode->longest_step = NULL;
    for (int i = 0; i < model->n_links; i++) {
        const struct joint_model *joint = &model->link[i].joint;
        if (model->link[i].prescribed >= 0) continue;
        ode->n_switches += joint_switch_count(joint);
        for (int k = 0; k < MOST_COORDINATES_WITH_NUMBERS; k++)
            if (joint->number[k].coulomb > 0) ode->longest_step = longest_step;
    }
}

/* ---- the equation ------------------------------------------------------------------------------------------------------ */

/* Positions and velocities of the state vector, and the quaternions among them */
static void number_free_coordinates(struct sim *sim, struct ode *ode)
{
    const struct model *model = sim->mechanism.model;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct joint *joint = &sim->robot->link[i].joint;
        if (lm->prescribed < 0 && joint_quaternion(joint) >= 0)
            sim->quaternion[ode->n_quaternions++] =
                (struct quaternion_place){ode->n_x + joint_quaternion(joint), ode->n_v + joint_omega(joint)};
        ode->n_x += (lm->prescribed < 0 ? lm->joint.nq : 0) + lm->m;
        for (int k = 0; k < free_velocities(lm); k++) sim->free_coordinate[ode->n_v++] = lm->v + k;
        for (int k = 0; k < lm->m; k++) sim->free_coordinate[ode->n_v++] = lm->eta_v + k;
    }
    ode->quaternion = sim->quaternion;
    sim->n_free = ode->n_v;
    ode->n_v += robot_drive_states(sim->robot);
}

/* With as many switches as any parameters can make */
void robot_ode(struct sim *sim, struct ode *ode)
{
    const struct model *model = sim->mechanism.model;
    *ode = (struct ode){.context = sim,
                        .rhs = rhs,
                        .jacobian = sim_jacobian,
                        .n_lambda = sim->mechanism.constraints->n_rows,
                        .residual = residual,
                        .factor = factor,
                        .solve = solve,
                        .stiffness = stiffness,
                        .multipliers = multipliers,
                        .switches = switches};
    number_free_coordinates(sim, ode);
    for (int i = 0; i < model->n_links; i++) {
        if (model->link[i].prescribed < 0) ode->n_switches += joint_most_switches(&model->link[i].joint);
        if (model->link[i].m > 0) ode->accepted = guard_deflections;
    }
    if (ode->n_lambda > 0 || ode->n_quaternions > 0) ode->project = project;
    ode->matrix_of_state = ode->project == NULL && model->n_prescribed == 0 && sim->robot->n_drives == 0;
    if (sim->balance.n > 0)
        ode->residual = NULL; /* forces that depend on the state are in the dense Newton matrix alone */
}
