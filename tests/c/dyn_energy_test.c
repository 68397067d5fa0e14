/* Power is the rate of energy. Only `full` elastic terms are a Lagrangian system, so only they are tried. */
#include "test.h"

#include "oracle/derivative.h"
#include "oracle/scatter.h"

enum { ROBOTS = 300, MOST = 200 };

static double terms[MOST];

static void total_energy(struct specimen *s, void *context, double *y)
{
    (void)context;
    struct energy energy;
    specimen_evaluate(s, NULL);
    dyn_energy(s->model, s->work, &s->in, &energy);
    y[0] = energy.kinetic + energy.elastic + energy.gravity;
}

/* dE/dt along the flow, and the powers at t = 0: forces M qdd + h - (share of the tip wrench) times qd, tip wrench, loss.
   Returns |dE/dt - powers| of the terms that add up to them. */
static double imbalance(struct specimen *s, const double *qdd)
{
    double rate;
    flow_derivative(s, qdd, flow_step(s->nv, qdd), total_energy, NULL, 1, &rate, NULL);
    struct energy energy;
    force_terms(s, qdd, terms);
    specimen_evaluate(s, qdd);
    dyn_energy(s->model, s->work, &s->in, &energy);
    CHECK(energy.loss >= 0);
    double power = energy.tip + energy.frames - energy.loss,
           size = fabs(energy.tip) + fabs(energy.frames) + energy.loss;
    for (int i = 0; i < s->nv; i++) {
        power += s->qd[i] * s->force[i];
        size += fabs(s->qd[i]) * terms[i];
    }
    CHECK_NEAR(rate, power, 1e-11 * size);
    return fabs(rate - power) / size;
}

/* For any accelerations: the identity is one of the equations, not of their solution. */
TEST(power_is_the_rate_of_energy_for_any_acceleration)
{
    double worst = 0;
    for (int seed = 0; seed < ROBOTS; seed++) {
        struct specimen s;
        CHECK(specimen_mixed(&s, seed));
        worst = fmax(worst, imbalance(&s, s.qdd));
        specimen_free(&s);
    }
    printf("     worst %.1e of the powers\n", worst);
}

/* For the accelerations of forward dynamics the forces are tau, and what prescribed joints answer. */
TEST(power_is_the_rate_of_energy_in_motion)
{
    double worst = 0;
    for (int seed = 0; seed < ROBOTS; seed++) {
        struct specimen s;
        CHECK(specimen_mixed(&s, seed));
        CHECK(dyn_forward(s.model, s.work, &s.in, s.qdd) == STATUS_OK);
        worst = fmax(worst, imbalance(&s, s.qdd));

        struct energy energy;
        specimen_evaluate(&s, s.qdd);
        dyn_energy(s.model, s.work, &s.in, &energy);
        double driven = 0, size = 1;
        for (int i = 0; i < s.model->n_links; i++) {
            const struct link_model *lm = &s.model->link[i];
            for (int k = 0; !lm->passive && k < free_velocities(lm); k++) {
                driven += s.tau[lm->tau + k] * s.qd[lm->v + k];
                size += fabs(s.tau[lm->tau + k] * s.qd[lm->v + k]);
            }
        }
        CHECK_NEAR(energy.power, driven, 1e-14 * size);
        specimen_free(&s);
    }
    printf("     worst %.1e of the powers\n", worst);
}

/* T = 1/2 qd' M qd;  M is recursive over composites, T a sum over bodies: n^2 terms of either sign, 1e-13 of them */
TEST(kinetic_energy_is_the_form_of_the_mass_matrix)
{
    double worst = 0;
    for (int seed = 0; seed < ROBOTS; seed++) {
        struct specimen s;
        CHECK(specimen_mixed(&s, seed));
        struct energy energy;
        specimen_evaluate(&s, NULL);
        dyn_energy(s.model, s.work, &s.in, &energy);
        dyn_mass_matrix(s.model, s.work);
        double T = 0, size = 0;
        for (int i = 0; i < s.nv; i++)
            for (int j = 0; j < s.nv; j++) {
                T += 0.5 * s.qd[i] * s.work->M[s.nv * i + j] * s.qd[j];
                size += fabs(0.5 * s.qd[i] * s.work->M[s.nv * i + j] * s.qd[j]);
            }
        CHECK_NEAR(energy.kinetic, T, 1e-13 * size);
        worst = fmax(worst, fabs(energy.kinetic - T) / size);
        specimen_free(&s);
    }
    printf("     worst %.1e of the terms\n", worst);
}

SUITE(dyn_energy_test)
