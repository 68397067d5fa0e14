/* Forward dynamics of closed robots, by recursion and with the mass matrix, against the dense system of all unknowns. */
#include "test.h"

#include <string.h>

#include "oracle/closed.h"
#include "oracle/derivative.h"

enum { ROBOTS = 120 };

static const char *const name[] = {"any", "ball", "planar-pin", "pin", "weld"};

/* What a robot of this number is: every type with one, two and three loops, closed or not */
static int make(struct closed *c, int type, int seed)
{
    return closed_random(c, seed, type, 1 + seed % 3, seed % 2 == 0);
}

static enum status forward(struct closed *c, bool composite, double *qdd)
{
    struct specimen *s = &c->s;
    return composite ? mechanism_forward_composite(&c->s.mechanism, &s->in, qdd)
                     : mechanism_forward(&c->s.mechanism, &s->in, qdd);
}

/* Multipliers row by row, in units of the acceleration that one makes */
static double lambda_distance(const struct closed *c, const double *x, const double *y)
{
    double unit[MOST_ROWS], sum = 0;
    closed_units(c, unit);
    for (int i = 0; i < c->s.mechanism.constraints->n_rows; i++)
        sum += unit[i] * unit[i] * (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

static double lambda_norm(const struct closed *c, const double *lambda)
{
    static const double zeros[MOST_ROWS];
    return lambda_distance(c, lambda, zeros);
}

/* Accelerations to 1e-9; multipliers too, but where equations are nearly dependent, which takes that many digits */
TEST(both_algorithms_solve_the_dense_system)
{
    double qdd[MOST], want[MOST], lambda[MOST_ROWS];
    for (int type = ANY_LOOP; type <= LOOP_WELD; type++) {
        double worst[2][2] = {{0}};
        int rows = 0, kept = 0;
        for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
            struct closed c;
            CHECK(make(&c, type, seed));
            CHECK(closed_dense(&c, want, lambda));
            for (int composite = 0; composite < 2; composite++) {
                CHECK(forward(&c, composite, qdd) == STATUS_OK);
                dyn_mass_matrix(c.s.model, c.s.work);
                const double size = mass_norm(&c.s, want) + lambda_norm(&c, lambda);
                const double error[2] = {mass_distance(&c.s, qdd, want) / size,
                                         lambda_distance(&c, c.s.mechanism.constraints->lambda, lambda) / size};
                const double digits = fmin(1, 1e3 * closed_independence(&c));
                if (!(error[0] <= 1e-9 && error[1] * digits <= 1e-9))
                    printf("     seed %d type %s\n", seed, name[type + 1]);
                CHECK_NEAR(error[0], 0, 1e-9);
                CHECK_NEAR(error[1] * digits, 0, 1e-9);
                for (int i = 0; i < 2; i++) worst[composite][i] = fmax(worst[composite][i], error[i]);
            }
            rows += c.s.mechanism.constraints->n_rows;
            kept += c.s.mechanism.constraints->n_active;
            closed_free(&c);
        }
        CHECK(kept > rows / 4);
        printf("     %-10s qdd %.1e %.1e, lambda %.1e %.1e (recursive, composite); %d of %d constraints active\n",
               name[type + 1], worst[0][0], worst[1][0], worst[0][1], worst[1][1], kept, rows);
    }
}

TEST(rank_is_that_of_the_jacobian)
{
    for (int type = ANY_LOOP; type <= LOOP_WELD; type++)
        for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
            struct closed c;
            CHECK(make(&c, type, seed));
            const int rank = closed_rank(&c);
            if (c.s.mechanism.constraints->n_active != rank) printf("     seed %d type %s\n", seed, name[type + 1]);
            CHECK(c.s.mechanism.constraints->n_active == rank);
            closed_free(&c);
        }
}

TEST(gap_and_rate_are_those_written_down)
{
    double gap[MOST_ROWS], rate[MOST_ROWS];
    for (int type = ANY_LOOP; type <= LOOP_WELD; type++)
        for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
            struct closed c;
            CHECK(make(&c, type, seed));
            closed_gap(&c, c.s.qd, NULL, gap, rate, NULL);
            constraints_gap(&c.s.mechanism);
            CHECK(distance(c.s.mechanism.constraints->n_rows, gap, c.s.mechanism.constraints->gap) < 1e-13);
            CHECK(distance(c.s.mechanism.constraints->n_rows, rate, c.s.mechanism.constraints->rate) <
                  1e-12 * (1 + norm(c.s.nv, c.s.qd)));
            if (seed % 2 == 0) CHECK(norm(c.s.mechanism.constraints->n_rows, gap) < 1e-12);
            closed_free(&c);
        }
}

static void gaps(struct specimen *s, void *context, double *y)
{
    struct closed *c = context;
    (void)s;
    closed_gap(c, c->s.qd, NULL, y, NULL, NULL);
}

/* Along the flow of oracle/derivative.h the kept gaps have no acceleration: by differences, which know nothing of frames; the better of
   two steps, as some robots whirl and others hardly move */
TEST(gaps_are_not_accelerated)
{
    double qdd[MOST], second[2][MOST_ROWS], worst = 0;
    for (int type = LOOP_BALL; type <= LOOP_WELD; type++)
        for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
            struct closed c;
            CHECK(make(&c, type, seed));
            CHECK(forward(&c, seed % 3 == 0, qdd) == STATUS_OK);
            const double speed = norm(c.s.nv, c.s.qd), h = flow_step(c.s.nv, qdd);
            for (int i = 0; i < 2; i++)
                flow_derivative(&c.s, qdd, i == 0 ? h : 4 * h, gaps, &c, c.s.mechanism.constraints->n_rows, NULL,
                                second[i]);
            for (int k = 0; k < c.s.mechanism.constraints->n_active; k++) {
                const int row = c.s.mechanism.constraints->active[k];
                const double error =
                    fmin(fabs(second[0][row]), fabs(second[1][row])) /
                    (1 + norm(c.s.nv, qdd) + speed * speed + lambda_norm(&c, c.s.mechanism.constraints->lambda));
                if (!(error <= 1e-9)) printf("     seed %d type %s\n", seed, name[type + 1]);
                CHECK_NEAR(error, 0, 1e-9);
                worst = fmax(worst, error);
            }
            closed_free(&c);
        }
    printf("     worst %.1e\n", worst);
}

/* What drives, tip wrench, friction and prescribed joints do is all the energy there is: where loops are closed and their rates
   zero, multipliers do no work. d(kinetic + potential)/dt by differences along the motion. */
static void energy_of(struct specimen *s, void *context, double *y)
{
    struct energy energy;
    (void)context;
    specimen_evaluate(s, NULL);
    dyn_energy(s->model, s->work, &s->in, &energy);
    y[0] = energy.kinetic + energy.elastic + energy.gravity;
}

TEST(multipliers_do_no_work)
{
    double qdd[MOST], change[2], worst = 0;
    for (int type = ANY_LOOP; type <= LOOP_WELD; type++)
        for (int seed = 0; seed < test_sample(ROBOTS); seed += 2) {
            struct closed c;
            struct energy energy;
            CHECK(make(&c, type, seed));
            struct specimen *s = &c.s;
            CHECK(forward(&c, false, qdd) == STATUS_OK);
            const double h = flow_step(s->nv, qdd);
            for (int i = 0; i < 2; i++)
                flow_derivative(s, qdd, i == 0 ? h : 4 * h, energy_of, NULL, 1, &change[i], NULL);
            const struct input in = mechanism_loaded(&c.s.mechanism, &s->in);
            dyn_configuration(s->model, s->work, s->q);
            dyn_inverse(s->model, s->work, &in, qdd, s->force);
            dyn_velocity(s->model, s->work, &in);
            dyn_energy(s->model, s->work, &in, &energy);
            double power = energy.power + energy.tip + energy.frames - energy.loss,
                   size = 1 + fabs(power) + energy.kinetic + energy.elastic + fabs(energy.gravity);
            for (int i = 0; i < s->nv; i++) {
                if (velocity_prescribed(s, i) < 0) continue;
                power += s->force[i] * s->qd[i];
                size += fabs(s->force[i] * s->qd[i]);
            }
            const double error = fmin(fabs(change[0] - power), fabs(change[1] - power)) /
                                 (size + norm(s->nv, qdd) + lambda_norm(&c, c.s.mechanism.constraints->lambda));
            if (!(error <= 1e-8)) printf("     seed %d type %s\n", seed, name[type + 1]);
            CHECK_NEAR(error, 0, 1e-8);
            worst = fmax(worst, error);
            closed_free(&c);
        }
    printf("     worst %.1e\n", worst);
}

/* With the loads of the loops, inverse dynamics ask for no more than the drives give */
TEST(inverse_dynamics_with_the_loads_give_the_drives)
{
    double qdd[MOST], terms[MOST], worst = 0;
    for (int type = ANY_LOOP; type <= LOOP_WELD; type++)
        for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
            struct closed c;
            CHECK(make(&c, type, seed));
            struct specimen *s = &c.s;
            CHECK(forward(&c, seed % 3 == 0, qdd) == STATUS_OK);
            force_terms(s, qdd, terms);
            const struct input in = mechanism_loaded(&c.s.mechanism, &s->in);
            dyn_configuration(s->model, s->work, s->q);
            dyn_inverse(s->model, s->work, &in, qdd, s->force);
            double error = 0, size = norm(s->nv, terms);
            for (int i = 0; i < s->nv; i++) {
                const int tau = velocity_tau(s, i);
                const double given = tau >= 0 ? s->tau[tau] : 0;
                if (velocity_prescribed(s, i) < 0) error = fmax(error, fabs(s->force[i] - given) / size);
            }
            if (!(error <= 1e-10)) printf("     seed %d type %s\n", seed, name[type + 1]);
            CHECK_NEAR(error, 0, 1e-10);
            worst = fmax(worst, error);
            closed_free(&c);
        }
    printf("     worst %.1e\n", worst);
}

SUITE(mech_forward_test)
