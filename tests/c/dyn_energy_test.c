/* Power is the rate of energy. Only `full` elastic terms are a Lagrangian system, so only they are tried. */
#include "oracle/derivative.h"
#include "oracle/laws.h"
#include "oracle/scatter.h"
#include "test.h"

enum { ROBOTS = 300, MOST = 200 };

/* dE/dt along the flow, and the powers at t = 0: forces M qdd + h - (share of the tip wrench) times qd, tip wrench, loss.
   Returns |dE/dt - powers| of the terms that add up to them. */
static double imbalance(struct specimen *s)
{
    double rate, terms[MOST];
    flow_derivative(s, s->qdd, flow_step(s->nv, s->qdd), flow_energy, NULL, 1, &rate, NULL);
    struct energy energy;
    force_terms(s, s->qdd, terms);
    specimen_evaluate(s, s->qdd);
    dyn_energy(s->model, s->work, &s->in, &energy);
    CHECK(energy.loss >= 0);
    double power = energy.tip + energy.frames - energy.loss,
           size = fabs(energy.tip) + fabs(energy.frames) + energy.loss;
    for (int i = 0; i < s->nv; i++) {
        power += s->qd[i] * s->force[i];
        size += fabs(s->qd[i]) * terms[i];
    }
    return fabs(rate - power) / size;
}

/* For any accelerations: the identity is one of the equations, not of their solution. */
TEST(power_is_the_rate_of_energy_for_any_acceleration)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_mixed, imbalance, 1e-11));
}

/* The power of the drives is tau times the rates of their joints. */
static double power_of_drives(struct specimen *s)
{
    struct energy energy;
    double driven = 0, size = 1;
    specimen_evaluate(s, s->qdd);
    dyn_energy(s->model, s->work, &s->in, &energy);
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_model *lm = &s->model->link[i];
        for (int k = 0; !lm->passive && k < free_velocities(lm); k++) {
            driven += s->tau[lm->tau + k] * s->qd[lm->v + k];
            size += fabs(s->tau[lm->tau + k] * s->qd[lm->v + k]);
        }
    }
    return fabs(energy.power - driven) / size;
}

TEST(drives_have_the_power_of_their_torques)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_mixed, power_of_drives, 1e-14));
}

/* T = 1/2 qd' M qd;  M is recursive over composites, T a sum over bodies: n^2 terms of either sign, 1e-13 of them */
static double kinetic_form(struct specimen *s)
{
    struct energy energy;
    double T = 0, size = 0;
    specimen_evaluate(s, NULL);
    dyn_energy(s->model, s->work, &s->in, &energy);
    dyn_mass_matrix(s->model, s->work);
    for (int i = 0; i < s->nv; i++)
        for (int j = 0; j < s->nv; j++) {
            T += 0.5 * s->qd[i] * s->work->M[s->nv * i + j] * s->qd[j];
            size += fabs(0.5 * s->qd[i] * s->work->M[s->nv * i + j] * s->qd[j]);
        }
    return fabs(energy.kinetic - T) / size;
}

TEST(kinetic_energy_is_the_form_of_the_mass_matrix)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_mixed, kinetic_form, 1e-13));
}

SUITE(dyn_energy_test)
