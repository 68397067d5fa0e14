/* Joints that lines move along a given motion: prescribed joints whose drive forces tau are zero, because the
   line forces F provide them. At a state tau is linear in F, and so is qdd:
       tau + T dF = 0,   qdd + X dF. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "sim/robot_instance.h"

enum status balance_make(struct sim *sim)
{
    struct balance *balance = &sim->balance;
    const size_t n = (size_t)sim->mechanism.model->nv, m = (size_t)sim->robot->n_lines;
    balance->coordinate = arena_allocate(&sim->instance.arena, m, sizeof(int));
    balance->X = arena_allocate(&sim->instance.arena, m * n, sizeof(double));
    arena_arrays(&sim->instance.arena, m, ARRAYS(&balance->F, &balance->dF));
    arena_arrays(&sim->instance.arena, m * m, ARRAYS(&balance->T, &balance->inverse));
    if (sim->instance.arena.failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < sim->mechanism.model->n_links; i++) {
        const struct link_model *lm = &sim->mechanism.model->link[i];
        for (int k = 0; joint_actuated(sim->robot, i) && k < lm->joint.nv; k++)
            balance->coordinate[balance->n++] = lm->v + k;
    }
    return STATUS_OK;
}

/* dF = -T^-1 tau, tau by coordinates; returns the norm of dF */
static double correct_forces(struct balance *balance, const double *tau)
{
    double sum = 0;
    for (int a = 0; a < balance->n; a++) {
        balance->dF[a] = 0;
        for (int i = 0; i < balance->n; i++)
            balance->dF[a] -= balance->inverse[balance->n * a + i] * tau[balance->coordinate[i]];
        sum += balance->dF[a] * balance->dF[a];
    }
    return sqrt(sum);
}

/* Prepares the tangent at the state, X and T^-1; tau is in sim->force. After mechanism_forward(). */
static enum status differentiate_by_forces(struct sim *sim, struct input *in)
{
    struct balance *balance = &sim->balance;
    const size_t n = (size_t)sim->mechanism.model->nv;
    *in = mechanism_loaded(&sim->mechanism, &sim->in);
    dyn_inverse(sim->mechanism.model, sim->mechanism.work, in, sim->qdd, sim->force);
    dyn_velocity(sim->mechanism.model, sim->mechanism.work, in);
    dyn_tangent_state(sim->mechanism.model, sim->mechanism.work, sim->mechanism.tangent, in, sim->qdd);
    for (int a = 0; a < balance->n; a++) {
        sim_clear_seed(sim);
        sim->seed.line_force[a] = 1;
        sim_tangent(sim, in);
        memcpy(balance->X + n * (size_t)a, sim->dqdd, n * sizeof(double));
        for (int i = 0; i < balance->n; i++)
            balance->T[balance->n * i + a] = sim->mechanism.tangent->force[balance->coordinate[i]];
    }
    return dense_invert(balance->n, balance->T, balance->inverse) == 0 ? STATUS_OK : STATUS_UNBALANCED;
}

enum status sim_balance(struct sim *sim)
{
    struct input in;
    const enum status status = differentiate_by_forces(sim, &in);
    if (status != STATUS_OK) return status;
    correct_forces(&sim->balance, sim->force);
    for (int a = 0; a < sim->balance.n; a++) sim->line_force[a] += sim->balance.dF[a];
    return mechanism_forward(&sim->mechanism, &sim->in, sim->qdd);
}

enum status balance_jacobian(struct sim *sim, double *A, double *B)
{
    struct input in;
    enum status status = sim_forward(sim);
    if (status == STATUS_OK) status = differentiate_by_forces(sim, &in);
    if (status != STATUS_OK) return status;
    const struct balance *balance = &sim->balance;
    const int n = sim->instance.stepper.ode.n_v;
    sim_clear_seed(sim);
    for (int j = 0; j < n; j++) {
        double *const seed[2] = {&sim->dx[sim->free_coordinate[j]], &sim->seed.qd[sim->free_coordinate[j]]};
        for (int rate = 0; rate < 2; rate++) {
            *seed[rate] = 1;
            sim_tangent(sim, &in);
            correct_forces(&sim->balance, sim->mechanism.tangent->force);
            for (int i = 0; i < n; i++) { /* d qdd + X dF of the free coordinates */
                const int c = sim->free_coordinate[i];
                double sum = sim->dqdd[c];
                for (int a = 0; a < balance->n; a++)
                    sum += balance->X[sim->mechanism.model->nv * a + c] * balance->dF[a];
                *(rate == 0 ? A++ : B++) = sum;
            }
            *seed[rate] = 0;
        }
    }
    return STATUS_OK;
}
