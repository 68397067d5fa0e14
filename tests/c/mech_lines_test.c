/* Lines: their rates are those of their lengths, and their forces do the work that these say, for any robot. */
#include "test.h"

#include <string.h>

#include "oracle/closed.h"
#include "oracle/derivative.h"
#include "oracle/laws.h"

enum { ROBOTS = 150, MOST_LINES = 3 };

/* Robots without loops, with a few lines */
static int make(struct specimen *s, int seed)
{
    struct random random = {(uint64_t)seed + 23};
    return closed_random(s, seed, LOOP_BALL, 0, false) && closed_add_lines(s, &random, 1 + seed % MOST_LINES);
}

static void measure(struct specimen *s)
{
    specimen_evaluate(s, NULL);
    elements_measure(&s->mechanism, &s->in);
}

static void lengths(struct specimen *s, void *context, double *y)
{
    (void)context;
    measure(s);
    for (int i = 0; i < s->robot->n_lines; i++) y[i] = s->mechanism.element[i].x;
}

/* Differences of eighth order leave 1e-12 or so: the better of two steps, as some lines turn fast */
static double rate_error(struct specimen *s)
{
    double change[2][MOST_LINES], worst = 0;
    const double h = flow_step(s->nv, s->qdd), speed = 1 + norm(s->nv, s->qd);
    for (int i = 0; i < 2; i++)
        flow_derivative(s, s->qdd, i == 0 ? h : h / 4, lengths, NULL, s->robot->n_lines, change[i], NULL);
    measure(s);
    for (int i = 0; i < s->robot->n_lines; i++) {
        const double rate = s->mechanism.element[i].rate;
        worst = larger(worst, fmin(fabs(change[0][i] - rate), fabs(change[1][i] - rate)) / (speed * speed));
    }
    return worst;
}

TEST(rates_are_those_of_the_lengths)
{
    CHECK(law_holds(test_sample(ROBOTS), make, rate_error, 1e-11));
}

/* Sum of F times the rate of its line for qd = e_j: the generalized forces of the lines */
static void shares(struct specimen *s, double *share, double *size)
{
    double qd[MOST];
    memcpy(qd, s->qd, (size_t)s->nv * sizeof *qd);
    *size = 1;
    for (int j = 0; j < s->nv; j++) {
        memset(s->qd, 0, (size_t)s->nv * sizeof *qd);
        s->qd[j] = 1;
        share[j] = 0;
        measure(s);
        for (int i = 0; i < s->robot->n_lines; i++) {
            share[j] += s->line_force[i] * s->mechanism.element[i].rate;
            *size += fabs(s->line_force[i] * s->mechanism.element[i].rate);
        }
    }
    memcpy(s->qd, qd, (size_t)s->nv * sizeof *qd);
}

/* inverse(qdd) without loads = tau + F rate(e_j), for the qdd of both algorithms */
static double work_error(struct specimen *s)
{
    double worst = 0, share[MOST], terms[MOST], size;
    shares(s, share, &size);
    for (int composite = 0; composite < 2; composite++) {
        CHECK((composite ? mechanism_forward_composite(&s->mechanism, &s->in, s->qdd)
                         : mechanism_forward(&s->mechanism, &s->in, s->qdd)) == STATUS_OK);
        force_terms(s, s->qdd, terms);
        dyn_inverse(s->model, s->work, &s->in, s->qdd, s->force);
        for (int i = 0; i < s->nv; i++) {
            const int tau = velocity_tau(s, i);
            if (velocity_prescribed(s, i) >= 0) continue;
            const double given = share[i] + (tau >= 0 ? s->tau[tau] : 0);
            worst = larger(worst, fabs(s->force[i] - given) / (terms[i] + size));
        }
    }
    return worst;
}

TEST(forces_do_the_work_of_their_rates)
{
    CHECK(law_holds(test_sample(ROBOTS), make, work_error, 1e-10));
}

SUITE(mech_lines_test)
