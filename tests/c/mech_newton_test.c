/* The equations of motion in residual form and their Newton matrix N = M + gamma D + gamma^2 K, against dense matrices: random robots
   with every joint and body, trees, prescribed joints, loops, actuators. */
#include "test.h"

#include <float.h>
#include <string.h>

#include "support/closed.h"

enum { ROBOTS = 150 };

static const double gammas[] = {0, 1e-5, 1e-3, 0.1};
enum { GAMMAS = sizeof gammas / sizeof *gammas };

static double N[MOST * MOST], K[MOST * MOST], D[MOST * MOST], G[MOST_ROWS * MOST];

/* ---- the dense matrices ------------------------------------------------------------------------------------------------ */

/* K and D: modal ones of every body, slopes of the forces of every joint where they are stiff */
static void stiffness_and_damping(const struct specimen *s)
{
    const int n = s->nv;
    memset(K, 0, sizeof K);
    memset(D, 0, sizeof D);
    for (int l = 0; l < s->model->n_links; l++) {
        const struct link_model *lm = &s->model->link[l];
        double k[MOST_VELOCITIES], d[MOST_VELOCITIES];
        joint_stiff_slopes(&lm->joint, s->q + lm->q, s->qd + lm->v, k, d);
        for (int i = 0; i < lm->joint.nv; i++) {
            K[(n + 1) * (lm->v + i)] = k[i];
            D[(n + 1) * (lm->v + i)] = d[i];
        }
        for (int i = 0; i < lm->m; i++)
            for (int j = 0; j < lm->m; j++) {
                K[n * (lm->eta_v + i) + lm->eta_v + j] = lm->body->K[lm->m * i + j];
                D[n * (lm->eta_v + i) + lm->eta_v + j] = lm->body->D[lm->m * i + j];
            }
    }
}

static bool is_free(const struct specimen *s, int i)
{
    return velocity_prescribed(s, i) < 0;
}

static void newton_matrix(struct specimen *s, double gamma)
{
    dyn_configuration(s->model, s->work, s->q);
    dyn_mass_matrix(s->model, s->work);
    stiffness_and_damping(s);
    for (int i = 0; i < s->nv * s->nv; i++) N[i] = s->work->M[i] + gamma * (D[i] + gamma * K[i]);
}

/* y = A x of free coordinates; 0 for the others */
static void multiply(const struct specimen *s, const double *A, const double *x, double *y)
{
    for (int i = 0; i < s->nv; i++) {
        y[i] = 0;
        for (int j = 0; j < s->nv && is_free(s, i); j++) y[i] += A[s->nv * i + j] * x[j];
    }
}

/* sqrt(x'N x) of free coordinates */
static double newton_norm(const struct specimen *s, const double *x)
{
    double y[MOST], sum = 0;
    multiply(s, N, x, y);
    for (int i = 0; i < s->nv; i++) sum += x[i] * y[i];
    return sqrt(sum);
}

static void random_vector(const struct specimen *s, struct random *random, double *x)
{
    for (int i = 0; i < s->nv; i++) x[i] = is_free(s, i) ? uniform(random, -1, 1) : 0;
}

/* ---- without loops -------------------------------------------------------------------------------------------------------- */

/* N^-1 N x = x in the norm of N, which rounding changes by the root of its condition */
TEST(the_recursion_solves_with_the_newton_matrix)
{
    double x[MOST], y[MOST], worst = 0;
    int types[JOINT_FREE + 1] = {0}, trees = 0, prescribed = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct random random = {(uint64_t)seed};
        struct specimen s;
        CHECK(specimen_random(&s, seed));
        for (int i = 0; i < s.robot->n_links; i++) types[s.robot->link[i].joint.type]++;
        trees += s.model->branched;
        prescribed += s.model->n_prescribed > 0;
        for (int g = 0; g < GAMMAS; g++) {
            newton_matrix(&s, gammas[g]);
            random_vector(&s, &random, x);
            multiply(&s, N, x, y);
            CHECK(mechanism_newton_factor(&s.mechanism, s.q, s.qd, gammas[g]) == STATUS_OK);
            mechanism_newton_solve(&s.mechanism, y, NULL);
            for (int i = 0; i < s.nv; i++) y[i] -= x[i];
            const double error = newton_norm(&s, y) / (newton_norm(&s, x) + DBL_MIN); /* of some no joint is free */
            if (!(error <= 1e-10)) printf("     seed %d gamma %g\n", seed, gammas[g]);
            CHECK_NEAR(error, 0, 1e-10);
            for (int i = 0; i < s.nv; i++) CHECK(is_free(&s, i) || y[i] == 0);
            worst = fmax(worst, error);
        }
        specimen_free(&s);
    }
    for (int type = JOINT_FIXED; type <= JOINT_FREE; type++) CHECK(types[type] > 0);
    CHECK(trees > 0 && prescribed > 0);
    printf("     worst %.1e\n", worst);
}

TEST(forces_of_the_newton_matrix_are_those_of_its_parts)
{
    double dx[MOST], dv[MOST], force[MOST], by_x[MOST], by_v[MOST];
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct random random = {(uint64_t)seed};
        struct specimen s;
        CHECK(specimen_random(&s, seed));
        CHECK(mechanism_newton_factor(&s.mechanism, s.q, s.qd, 1e-3) == STATUS_OK);
        stiffness_and_damping(&s);
        random_vector(&s, &random, dx);
        random_vector(&s, &random, dv);
        multiply(&s, K, dx, by_x);
        multiply(&s, D, dv, by_v);
        mechanism_newton_force(&s.mechanism, dx, dv, force);
        for (int i = 0; i < s.nv; i++)
            if (is_free(&s, i)) CHECK_NEAR(force[i], by_x[i] + by_v[i], 1e-12 * (fabs(by_x[i]) + fabs(by_v[i]) + 1e-3));
        specimen_free(&s);
    }
}

/* Where a coordinate has numbers of its own they are minus the slopes, never negative */
TEST(stiff_slopes_are_slopes)
{
    double k[MOST_VELOCITIES], d[MOST_VELOCITIES];
    double by_q[MOST_VELOCITIES][MOST_VELOCITIES], by_qd[MOST_VELOCITIES][MOST_VELOCITIES];
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen s;
        CHECK(specimen_random(&s, seed));
        for (int l = 0; l < s.model->n_links; l++) {
            const struct link_model *lm = &s.model->link[l];
            joint_stiff_slopes(&lm->joint, s.q + lm->q, s.qd + lm->v, k, d);
            joint_force_slopes(&lm->joint, s.q + lm->q, s.qd + lm->v, by_q, by_qd);
            for (int i = 0; i < lm->joint.nv; i++) {
                CHECK_NEAR(d[i], fmax(0, -by_qd[i][i]), 0);
                if (lm->joint.coordinates) CHECK_NEAR(k[i], fmax(0, -by_q[i][i]), 0);
            }
        }
        specimen_free(&s);
    }
}

/* Evaluations elsewhere leave the factors alone */
TEST(factors_last)
{
    double x[MOST], y[2][MOST];
    for (int seed = 0; seed < test_sample(20); seed++) {
        struct random random = {(uint64_t)seed};
        struct specimen s;
        CHECK(specimen_random(&s, seed));
        CHECK(mechanism_newton_factor(&s.mechanism, s.q, s.qd, 1e-2) == STATUS_OK);
        random_vector(&s, &random, x);
        for (int i = 0; i < 2; i++) {
            memcpy(y[i], x, sizeof x);
            mechanism_newton_solve(&s.mechanism, y[i], NULL);
            specimen_random_state(&s, &random);
            make_positive(&s);
            CHECK(mechanism_forward(&s.mechanism, &s.in, s.qdd) == STATUS_OK);
        }
        CHECK(memcmp(y[0], y[1], (size_t)s.nv * sizeof(double)) == 0);
        specimen_free(&s);
    }
}

/* ---- with loops ------------------------------------------------------------------------------------------------------------ */

static int make_closed(struct closed *c, int seed, bool met)
{
    struct random random = {(uint64_t)seed};
    return closed_random(c, seed, ANY_LOOP, 1 + seed % 3, met) &&
           (seed % 4 != 0 || closed_add_actuators(c, &random, 1 + seed % 2));
}

/* y -= G'mu of the active rows */
static void subtract_constraint_forces(const struct closed *c, const double *mu, double *y)
{
    const struct constraints *loops = c->s.mechanism.constraints;
    for (int k = 0; k < loops->n_active; k++)
        for (int i = 0; i < c->s.nv; i++)
            if (is_free(&c->s, i)) y[i] -= G[c->s.nv * loops->active[k] + i] * mu[loops->active[k]];
}

/* G x of the active rows; 0 of the others */
static void constraint_rates(const struct closed *c, const double *x, double *rate)
{
    const struct constraints *loops = c->s.mechanism.constraints;
    memset(rate, 0, (size_t)loops->n_rows * sizeof *rate);
    for (int k = 0; k < loops->n_active; k++)
        for (int i = 0; i < c->s.nv; i++) rate[loops->active[k]] += G[c->s.nv * loops->active[k] + i] * x[i];
}

/* [N -G'; G 0] (x; mu), solved again. Nearly dependent constraints cost as many digits of mu; x, which they determine together, keeps
   its own. */
TEST(loops_are_solved_with_the_newton_matrix)
{
    double x[MOST], y[MOST], mu[MOST_ROWS], c_rate[MOST_ROWS], worst = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct random random = {(uint64_t)seed};
        struct closed c;
        CHECK(make_closed(&c, seed, seed % 2 == 0));
        struct constraints *loops = c.s.mechanism.constraints;
        closed_jacobian(&c, G);
        for (int g = 0; g < GAMMAS; g++) {
            newton_matrix(&c.s, gammas[g]);
            random_vector(&c.s, &random, x);
            memset(mu, 0, sizeof mu);
            for (int k = 0; k < loops->n_active; k++) mu[loops->active[k]] = uniform(&random, -1, 1);
            multiply(&c.s, N, x, y);
            subtract_constraint_forces(&c, mu, y);
            constraint_rates(&c, x, c_rate);
            CHECK(mechanism_newton_factor(&c.s.mechanism, c.s.q, c.s.qd, gammas[g]) == STATUS_OK);
            mechanism_newton_solve(&c.s.mechanism, y, c_rate);
            for (int i = 0; i < c.s.nv; i++) y[i] -= x[i];
            for (int i = 0; i < loops->n_rows; i++) c_rate[i] -= mu[i];
            CHECK(mechanism_forward(&c.s.mechanism, &c.s.in, c.s.qdd) == STATUS_OK);
            const double digits = fmin(1, 1e3 * closed_independence(&c));
            const double error =
                newton_norm(&c.s, y) / (newton_norm(&c.s, x) + norm(loops->n_rows, mu) + DBL_MIN) * digits;
            if (!(error <= 1e-10)) printf("     seed %d gamma %g\n", seed, gammas[g]);
            CHECK_NEAR(error, 0, 1e-10);
            CHECK_NEAR(norm(loops->n_rows, c_rate) * digits, 0, 1e-8 * (1 + norm(loops->n_rows, mu)));
            worst = fmax(worst, error);
        }
        closed_free(&c);
    }
    printf("     worst %.1e\n", worst);
}

/* ---- with drives ------------------------------------------------------------------------------------------------------------- */

/* Drives on two lines and, where there is one, on a free revolute joint */
static int make_driven(struct closed *c, int seed)
{
    static struct robot_drive drives[3];
    struct random random = {(uint64_t)seed};
    if (!closed_random(c, seed, ANY_LOOP, seed % 3, true)) return 0;
    for (int d = 0; d < 2; d++) drives[d] = (struct robot_drive){.link = -1, .actuator = d};
    c->s.robot->drive = drives;
    c->s.robot->n_drives = 2;
    for (int i = 0; i < c->s.robot->n_links && c->s.robot->n_drives == 2; i++)
        if (c->s.robot->link[i].joint.type == JOINT_REVOLUTE && c->s.model->link[i].prescribed < 0)
            drives[c->s.robot->n_drives++] = (struct robot_drive){.link = i, .actuator = -1};
    return closed_add_actuators(c, &random, 2);
}

/* J of every drive: the rate of its coordinate for qd = e_j */
static void drive_rates(struct closed *c, double (*J)[MOST])
{
    struct specimen *s = &c->s;
    double qd[MOST];
    memcpy(qd, s->qd, (size_t)s->nv * sizeof *qd);
    memset(s->qd, 0, (size_t)s->nv * sizeof *qd);
    for (int j = 0; j < s->nv; j++) {
        s->qd[j] = 1;
        specimen_evaluate(s, NULL);
        actuators_measure(&s->mechanism);
        for (int d = 0; d < s->robot->n_drives; d++) {
            const int link = s->robot->drive[d].link;
            J[d][j] = link >= 0 ? s->qd[s->model->link[link].v] : s->mechanism.actuators->line[d].rate;
        }
        s->qd[j] = 0;
    }
    memcpy(s->qd, qd, (size_t)s->nv * sizeof *qd);
}

/* [N + J's J, -G'; G 0] (x; mu), solved again. s of a line may have any sign. */
TEST(drives_are_solved_with_the_newton_matrix)
{
    static double J[3][MOST];
    double x[MOST], y[MOST], mu[MOST_ROWS], c_rate[MOST_ROWS], worst = 0;
    int loops = 0, joints = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct random random = {(uint64_t)seed};
        struct closed c;
        CHECK(make_driven(&c, seed));
        struct drive_rows *rows = c.s.mechanism.drive_rows;
        const int n_rows = c.s.mechanism.constraints->n_rows, drives = c.s.robot->n_drives;
        drive_rates(&c, J);
        if (n_rows > 0) closed_jacobian(&c, G);
        newton_matrix(&c.s, 1e-3);
        random_vector(&c.s, &random, x);
        multiply(&c.s, N, x, y);
        for (int d = 0; d < drives; d++) {
            rows->s[d] = uniform(&random, d == 1 ? -1e-2 : 0, 1e4);
            if (seed % 5 == 0 && d == 1) rows->s[d] = 0;
            double along = 0;
            for (int j = 0; j < c.s.nv; j++) along += J[d][j] * x[j];
            for (int i = 0; i < c.s.nv; i++) y[i] += is_free(&c.s, i) ? J[d][i] * rows->s[d] * along : 0;
        }
        memset(mu, 0, sizeof mu);
        const struct constraints *all = c.s.mechanism.constraints;
        for (int k = 0; k < all->n_active; k++) mu[all->active[k]] = uniform(&random, -1, 1);
        if (n_rows > 0) subtract_constraint_forces(&c, mu, y);
        constraint_rates(&c, x, c_rate);
        CHECK(mechanism_newton_factor(&c.s.mechanism, c.s.q, c.s.qd, 1e-3) == STATUS_OK);
        for (int d = 0; d < drives; d++) {
            double along = 0;
            for (int j = 0; j < c.s.nv; j++) along += J[d][j] * x[j];
            CHECK_NEAR(drive_rows_velocity(&c.s.mechanism, d, x), along, 1e-11 * (1 + norm(c.s.nv, x)));
        }
        mechanism_newton_solve(&c.s.mechanism, y, c_rate);
        for (int i = 0; i < c.s.nv; i++) y[i] -= x[i];
        CHECK(mechanism_forward(&c.s.mechanism, &c.s.in, c.s.qdd) == STATUS_OK);
        const double digits = n_rows > 0 ? fmin(1, 1e3 * closed_independence(&c)) : 1;
        const double error = newton_norm(&c.s, y) / (newton_norm(&c.s, x) + norm(n_rows, mu) + DBL_MIN) * digits;
        if (!(error <= 1e-8)) printf("     seed %d\n", seed);
        CHECK_NEAR(error, 0, 1e-8); /* s is up to 1e4 times the masses */
        worst = fmax(worst, error);
        loops += n_rows > 0;
        joints += drives > 2;
        closed_free(&c);
    }
    CHECK(loops > 0 && joints > 0);
    printf("     worst %.1e\n", worst);
}

/* ---- the residual ------------------------------------------------------------------------------------------------------------ */

/* Sizes of the terms that cancel */
static double force_size(struct closed *c, const double *qdd)
{
    double sum[MOST];
    force_terms(&c->s, qdd, sum);
    return norm(c->s.nv, sum) + norm(c->s.mechanism.constraints->n_rows, c->s.mechanism.constraints->lambda);
}

TEST(forward_dynamics_leaves_no_residual)
{
    double qdd[MOST], force[MOST], lambda[MOST_ROWS], gap[MOST_ROWS], worst = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct closed c;
        CHECK(make_closed(&c, seed, seed % 2 == 0));
        const struct constraints *loops = c.s.mechanism.constraints;
        CHECK(mechanism_forward(&c.s.mechanism, &c.s.in, qdd) == STATUS_OK);
        memcpy(lambda, loops->lambda, (size_t)loops->n_rows * sizeof *lambda);
        const double size = force_size(&c, qdd), speed = norm(c.s.nv, c.s.qd);
        CHECK(mechanism_residual(&c.s.mechanism, &c.s.in, qdd, lambda, force, gap) == STATUS_OK);
        for (int i = 0; i < c.s.nv; i++) force[i] *= is_free(&c.s, i);
        const double error = norm(c.s.nv, force) / size;
        const double gap_error = norm(loops->n_rows, gap) / (1 + norm(c.s.nv, qdd) + speed * speed);
        if (!(error <= 1e-10 && gap_error <= 1e-10)) printf("     seed %d\n", seed);
        CHECK_NEAR(error, 0, 1e-10);
        CHECK_NEAR(gap_error, 0, 1e-10);
        worst = fmax(worst, fmax(error, gap_error));
        closed_free(&c);
    }
    printf("     worst %.1e\n", worst);
}

/* residual(qdd + x, lambda + mu) - residual(qdd, lambda) = (M x - G'mu; G x) */
TEST(the_residual_is_linear_in_its_unknowns)
{
    double qdd[MOST], x[MOST], force[2][MOST], y[MOST], lambda[MOST_ROWS], mu[MOST_ROWS], gap[2][MOST_ROWS],
        rate[MOST_ROWS];
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct random random = {(uint64_t)seed};
        struct closed c;
        CHECK(make_closed(&c, seed, seed % 2 == 0));
        const struct constraints *loops = c.s.mechanism.constraints;
        CHECK(mechanism_forward(&c.s.mechanism, &c.s.in, qdd) == STATUS_OK);
        memcpy(lambda, loops->lambda, (size_t)loops->n_rows * sizeof *lambda);
        memset(mu, 0, sizeof mu);
        random_vector(&c.s, &random, x);
        for (int k = 0; k < loops->n_active; k++) mu[loops->active[k]] = uniform(&random, -1, 1);
        for (int i = 0; i < 2; i++) {
            CHECK(mechanism_residual(&c.s.mechanism, &c.s.in, qdd, lambda, force[i], gap[i]) == STATUS_OK);
            for (int j = 0; j < c.s.nv; j++) qdd[j] += x[j];
            for (int j = 0; j < loops->n_rows; j++) lambda[j] += mu[j];
        }
        const double size = force_size(&c, qdd), speed = norm(c.s.nv, c.s.qd);
        closed_jacobian(&c, G);
        newton_matrix(&c.s, 0);
        multiply(&c.s, N, x, y);
        subtract_constraint_forces(&c, mu, y);
        constraint_rates(&c, x, rate);
        for (int i = 0; i < c.s.nv; i++)
            if (is_free(&c.s, i)) CHECK_NEAR(force[1][i] - force[0][i], y[i], 1e-11 * size);
        for (int i = 0; i < loops->n_rows; i++)
            CHECK_NEAR(gap[1][i] - gap[0][i], rate[i], 1e-11 * (1 + norm(c.s.nv, qdd) + speed * speed));
        closed_free(&c);
    }
}

/* ---- projection with the Newton factors ---------------------------------------------------------------------------------------- */

/* Gaps, rates and errors vanish with the factors of a state nearby, and where it is too far with new ones */
TEST(newton_factors_project)
{
    const double distances[] = {1e-6, 1e-4, 1e-2};
    double gap[MOST_ROWS], rate[MOST_ROWS], error[2][MOST];
    int closed_again = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed += 2)
        for (int d = 0; d < 3; d++) {
            struct random random = {(uint64_t)seed};
            struct closed c;
            CHECK(make_closed(&c, seed, true));
            const struct constraints *loops = c.s.mechanism.constraints;
            double dx[MOST];
            CHECK(mechanism_newton_factor(&c.s.mechanism, c.s.q, c.s.qd, 1e-3) == STATUS_OK);
            random_vector(&c.s, &random, dx);
            random_vector(&c.s, &random, error[0]);
            random_vector(&c.s, &random, error[1]);
            model_move(c.s.model, c.s.q, dx, distances[d]);
            const enum status status =
                constraints_project(&c.s.mechanism, BY_NEWTON_FACTORS, c.s.q, c.s.qd, error[0], error[1]);
            if (status == STATUS_OK) {
                closed_again++;
                closed_gap(&c, c.s.qd, NULL, gap, rate, NULL);
                for (int k = 0; k < loops->n_active; k++) {
                    CHECK_NEAR(gap[loops->active[k]], 0, 2e-11);
                    CHECK_NEAR(rate[loops->active[k]], 0, 1e-9 * (1 + norm(c.s.nv, c.s.qd)));
                }
                closed_jacobian(&c, G);
                for (int i = 0; i < 2; i++) {
                    constraint_rates(&c, error[i], rate);
                    CHECK(norm(loops->n_rows, rate) < 0.2 * (1 + norm(c.s.nv, error[i])));
                }
            } else CHECK(d == 2 || status == STATUS_MISSED_LOOP);
            closed_free(&c);
        }
    printf("     %d of %d\n", closed_again, 3 * ROBOTS / 2);
    CHECK_COVERAGE(closed_again > ROBOTS);
}

int mech_newton_test(void)
{
    RUN(the_recursion_solves_with_the_newton_matrix);
    RUN(forces_of_the_newton_matrix_are_those_of_its_parts);
    RUN(stiff_slopes_are_slopes);
    RUN(factors_last);
    RUN(loops_are_solved_with_the_newton_matrix);
    RUN(drives_are_solved_with_the_newton_matrix);
    RUN(forward_dynamics_leaves_no_residual);
    RUN(the_residual_is_linear_in_its_unknowns);
    RUN(newton_factors_project);
    return test_summary();
}
