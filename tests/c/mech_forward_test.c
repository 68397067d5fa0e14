/* Forward dynamics of closed robots and robots with couplings, by recursion and with the mass matrix, against the dense system of all unknowns. */
#include "oracle/closed.h"
#include "oracle/derivative.h"
#include "oracle/laws.h"
#include "test.h"

enum { ROBOTS = 600 };

/* Every type with one, two and three loops, closed or not; a third with couplings too, and some with these alone */
static int make(struct specimen *s, int seed)
{
    const int type = seed % 5, number = seed / 5;
    struct random random = {(uint64_t)seed + 23};
    const bool coupled = number / 2 % 3 == 2;
    return closed_random(s, number, type - 1, coupled ? number / 6 % 3 : 1 + number % 3, number % 2 == 0) &&
           (!coupled || closed_add_couplings(s, &random, number % 2 == 0));
}

static int make_closed(struct specimen *s, int seed)
{
    return make(s, seed % 5 + seed / 5 * 10);
}

static enum status forward(struct specimen *s, bool composite, double *qdd)
{
    return composite ? mechanism_forward_composite(&s->mechanism, &s->in, qdd)
                     : mechanism_forward(&s->mechanism, &s->in, qdd);
}

/* Multipliers row by row, in units of the acceleration that one makes */
static double lambda_distance(const struct specimen *s, const double *x, const double *y)
{
    double unit[MOST_ROWS], sum = 0;
    closed_units(s, unit);
    for (int i = 0; i < s->mechanism.constraints->n_rows; i++) sum += unit[i] * unit[i] * (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

static double lambda_norm(const struct specimen *s, const double *lambda)
{
    static const double zeros[MOST_ROWS];
    return lambda_distance(s, lambda, zeros);
}

/* Gaps, their rates, and how many of them are independent */
static double written_down(struct specimen *s)
{
    const struct constraints *loops = s->mechanism.constraints;
    double gap[MOST_ROWS], rate[MOST_ROWS];
    closed_gap(s, s->qd, NULL, gap, rate, NULL);
    constraints_gap(&s->mechanism, &s->in);
    const double error = distance(loops->n_rows, gap, loops->gap) +
                         0.1 * distance(loops->n_rows, rate, loops->rate) / (1 + norm(s->nv, s->qd));
    CHECK(loops->n_active == closed_rank(s));
    return error;
}

TEST(gap_rate_and_rank_are_those_written_down)
{
    CHECK(law_holds(test_sample(ROBOTS), make, written_down, 1e-13));
}

/* Accelerations to 1e-9; multipliers too, but where equations are nearly dependent, which takes that many digits. Below 1e-6 only G'lambda,
   which the accelerations show, is determined. */
static double dense_error(struct specimen *s)
{
    double qdd[MOST], want[MOST], lambda[MOST_ROWS], worst = 0;
    CHECK(closed_dense(s, want, lambda));
    for (int composite = 0; composite < 2; composite++) {
        CHECK(forward(s, composite, qdd) == STATUS_OK);
        dyn_mass_matrix(s->model, s->work);
        const double size = mass_norm(s, want) + lambda_norm(s, lambda), independence = closed_independence(s);
        const double digits = independence < 1e-6 ? 0 : fmin(1, 1e3 * independence);
        const double apart = lambda_distance(s, s->mechanism.constraints->lambda, lambda) * digits;
        worst = larger(worst, larger(mass_distance(s, qdd, want), apart) / size);
    }
    return worst;
}

TEST(both_algorithms_solve_the_dense_system)
{
    CHECK(law_holds(test_sample(ROBOTS), make, dense_error, 1e-9));
}

static void gaps(struct specimen *s, void *context, double *y)
{
    (void)context;
    closed_gap(s, s->qd, NULL, y, NULL, NULL);
}

/* Along the flow of oracle/derivative.h the kept gaps have no acceleration: by differences, which know nothing of frames; the better of
   two steps, as some robots whirl and others hardly move */
static double gap_acceleration(struct specimen *s)
{
    const struct constraints *loops = s->mechanism.constraints;
    double qdd[MOST], second[2][MOST_ROWS], worst = 0;
    CHECK(forward(s, chance(&s->random, 0.3), qdd) == STATUS_OK);
    const double speed = norm(s->nv, s->qd), h = flow_step(s->nv, qdd);
    for (int i = 0; i < 2; i++) flow_derivative(s, qdd, i == 0 ? h : 4 * h, gaps, NULL, loops->n_rows, NULL, second[i]);
    for (int k = 0; k < loops->n_active; k++) {
        const int row = loops->active[k];
        worst = larger(worst, fmin(fabs(second[0][row]), fabs(second[1][row])));
    }
    return worst / (1 + norm(s->nv, qdd) + speed * speed + lambda_norm(s, loops->lambda));
}

TEST(gaps_are_not_accelerated)
{
    CHECK(law_holds(test_sample(ROBOTS), make, gap_acceleration, 1e-9));
}

/* What drives, tip wrench, friction and prescribed joints do is all the energy there is: where loops are closed and their rates
   zero, multipliers do no work. d(kinetic + potential)/dt by differences along the motion. */
static double work_of_multipliers(struct specimen *s)
{
    double qdd[MOST], change[2];
    struct energy energy;
    CHECK(forward(s, false, qdd) == STATUS_OK);
    const double h = flow_step(s->nv, qdd);
    for (int i = 0; i < 2; i++) flow_derivative(s, qdd, i == 0 ? h : 4 * h, flow_energy, NULL, 1, &change[i], NULL);
    CHECK(forward(s, false, qdd) == STATUS_OK); /* back at the state */
    const struct input in = mechanism_loaded(&s->mechanism, &s->in);
    dyn_configuration(s->model, s->work, s->q);
    dyn_inverse(s->model, s->work, &in, qdd, s->force);
    dyn_velocity(s->model, s->work, &in);
    mechanism_energy(&s->mechanism, &in, &energy);
    double power = energy.power + energy.tip + energy.frames - energy.loss,
           size = 1 + fabs(power) + energy.kinetic + energy.elastic + fabs(energy.gravity);
    for (int i = 0; i < s->nv; i++) {
        if (velocity_prescribed(s, i) < 0) continue;
        power += s->force[i] * s->qd[i];
        size += fabs(s->force[i] * s->qd[i]);
    }
    return fmin(fabs(change[0] - power), fabs(change[1] - power)) /
           (size + norm(s->nv, qdd) + lambda_norm(s, s->mechanism.constraints->lambda));
}

TEST(multipliers_do_no_work)
{
    CHECK(law_holds(test_sample(ROBOTS / 2), make_closed, work_of_multipliers, 1e-8));
}

/* With the loads of the loops, inverse dynamics ask for no more than the drives give */
static double given_by_drives(struct specimen *s)
{
    double qdd[MOST], terms[MOST], error = 0;
    CHECK(forward(s, chance(&s->random, 0.3), qdd) == STATUS_OK);
    force_terms(s, qdd, terms);
    const struct input in = mechanism_loaded(&s->mechanism, &s->in);
    dyn_configuration(s->model, s->work, s->q);
    dyn_inverse(s->model, s->work, &in, qdd, s->force);
    for (int i = 0; i < s->nv; i++) {
        const int tau = velocity_tau(s, i);
        const double given = tau >= 0 ? s->tau[tau] : 0;
        if (velocity_prescribed(s, i) < 0) error = larger(error, fabs(s->force[i] - given));
    }
    return error / norm(s->nv, terms);
}

TEST(inverse_dynamics_with_the_loads_give_the_drives)
{
    CHECK(law_holds(test_sample(ROBOTS), make, given_by_drives, 1e-10));
}

SUITE(mech_forward_test)
