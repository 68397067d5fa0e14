/* The equations of motion in residual form and their Newton matrix N = M + gamma D + gamma^2 K, against dense matrices: random robots
   with every joint and body, trees, prescribed joints, loops, lines. */
#include "test.h"

#include <float.h>
#include <string.h>

#include "drive/drive.h"
#include "drive/laws.h"
#include "oracle/closed.h"
#include "oracle/laws.h"

enum { ROBOTS = 150 };

static const double gammas[] = {0, 1e-5, 1e-3, 0.1};
enum { GAMMAS = sizeof gammas / sizeof *gammas };

static double N[MOST * MOST], K[MOST * MOST], D[MOST * MOST], G[MOST_ROWS * MOST], J[3][MOST];

/* ---- the dense matrices ------------------------------------------------------------------------------------------------ */

/* K and D of elastic couplings: minus the derivatives of their forces */
static void add_couplings(const struct specimen *s)
{
    for (int i = 0; i < s->robot->n_couplings; i++) {
        const struct coupling *coupling = &s->robot->coupling[i];
        const struct dead_zone z =
            dead_zone(closed_coupling(s, coupling, 0, s->q) - coupling->offset, coupling->backlash);
        const double rate = closed_coupling(s, coupling, 1, s->qd), d = coupling->damping * z.slope,
                     k = coupling->stiffness * z.slope + coupling->damping * z.curvature * rate;
        for (int a = 0; a < coupling->n_terms && coupling->elastic; a++)
            for (int b = 0; b < coupling->n_terms; b++) {
                const struct coupling_term *row = &coupling->term[a], *column = &coupling->term[b];
                const int at =
                    s->nv * (s->model->link[row->link].v + row->k) + s->model->link[column->link].v + column->k;
                K[at] += row->factor * k * column->factor;
                D[at] += row->factor * d * column->factor;
            }
    }
}

/* K and D: modal ones of every body, slopes of the forces of every joint where they are stiff, elastic couplings */
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
    add_couplings(s);
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

/* ---- parts ---------------------------------------------------------------------------------------------------------------- */

static double matrix_force(struct specimen *s)
{
    double dx[MOST], dv[MOST], force[MOST], by_x[MOST], by_v[MOST], worst = 0;
    CHECK(mechanism_newton_factor(&s->mechanism, &s->in, 1e-3) == STATUS_OK);
    stiffness_and_damping(s);
    random_vector(s, &s->random, dx);
    random_vector(s, &s->random, dv);
    multiply(s, K, dx, by_x);
    multiply(s, D, dv, by_v);
    mechanism_newton_force(&s->mechanism, dx, dv, force);
    for (int i = 0; i < s->nv; i++)
        if (is_free(s, i))
            worst = larger(worst, fabs(force[i] - by_x[i] - by_v[i]) / (fabs(by_x[i]) + fabs(by_v[i]) + 1e-3));
    return worst;
}

TEST(forces_of_the_newton_matrix_are_those_of_its_parts)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_random, matrix_force, 1e-12));
}

/* Where a coordinate has numbers of its own they are minus the slopes, never negative */
static double stiff_slopes(struct specimen *s)
{
    double k[MOST_VELOCITIES], d[MOST_VELOCITIES], worst = 0;
    double by_q[MOST_VELOCITIES][MOST_VELOCITIES], by_qd[MOST_VELOCITIES][MOST_VELOCITIES];
    for (int l = 0; l < s->model->n_links; l++) {
        const struct link_model *lm = &s->model->link[l];
        joint_stiff_slopes(&lm->joint, s->q + lm->q, s->qd + lm->v, k, d);
        joint_force_slopes(&lm->joint, s->q + lm->q, s->qd + lm->v, by_q, by_qd);
        for (int i = 0; i < lm->joint.nv; i++) {
            worst = larger(worst, fabs(d[i] - larger(0, -by_qd[i][i])));
            if (lm->joint.coordinates) worst = larger(worst, fabs(k[i] - larger(0, -by_q[i][i])));
        }
    }
    return worst;
}

TEST(stiff_slopes_are_slopes)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_random, stiff_slopes, 0));
}

/* Evaluations elsewhere leave the factors alone */
static double change_of_solution(struct specimen *s)
{
    double x[MOST], y[2][MOST];
    CHECK(mechanism_newton_factor(&s->mechanism, &s->in, 1e-2) == STATUS_OK);
    random_vector(s, &s->random, x);
    for (int i = 0; i < 2; i++) {
        memcpy(y[i], x, sizeof x);
        mechanism_newton_solve(&s->mechanism, y[i], NULL);
        specimen_random_state(s, &s->random);
        make_positive(s);
        CHECK(mechanism_forward(&s->mechanism, &s->in, s->qdd) == STATUS_OK);
    }
    return distance(s->nv, y[0], y[1]);
}

TEST(factors_last)
{
    CHECK(law_holds(test_sample(20), specimen_random, change_of_solution, 0));
}

/* ---- the linear system, with loops and drives ------------------------------------------------------------------------------ */

static int make_closed(struct specimen *s, int seed)
{
    struct random random = {(uint64_t)seed};
    return closed_random(s, seed, ANY_LOOP, 1 + seed % 3, seed % 2 == 0) &&
           (seed % 4 != 0 || closed_add_lines(s, &random, 1 + seed % 2)) &&
           (seed % 3 != 1 || closed_add_couplings(s, &random, seed % 2 == 0));
}

static int make_coupled(struct specimen *s, int seed)
{
    struct random random = {(uint64_t)seed + 29};
    return closed_random(s, seed, ANY_LOOP, 0, false) && closed_add_couplings(s, &random, seed % 2 == 0);
}

static int driven_loops, driven_joints; /* of the robots that make_driven() has made */

static struct force_kind damped_line, damped_hinge;
static double damping[3]; /* dF/drate of the drives */

static void damping_law(struct mechanism *m, const struct input *in, struct force_element *e)
{
    (void)m, (void)in;
    e->by_rate = damping[e->drive];
}

/* Drives on two lines and, where there is one, on a free revolute joint */
static int make_driven(struct specimen *s, int seed)
{
    static struct robot_drive drives[3];
    struct random random = {(uint64_t)seed};
    if (!closed_random(s, seed, ANY_LOOP, seed % 3, true)) return 0;
    for (int d = 0; d < 2; d++) drives[d] = (struct robot_drive){.drive = &spring_drive, .link = -1, .line = d};
    s->robot->drive = drives;
    s->robot->n_drives = 2;
    for (int i = 0; i < s->robot->n_links && s->robot->n_drives == 2; i++)
        if (s->robot->link[i].joint.type == JOINT_REVOLUTE && s->model->link[i].prescribed < 0)
            drives[s->robot->n_drives++] = (struct robot_drive){.drive = &spring_drive, .link = i, .line = -1};
    driven_loops += s->robot->n_loops > 0;
    driven_joints += s->robot->n_drives > 2;
    if (!closed_add_lines(s, &random, 2)) return 0;
    damped_line = line_element, damped_hinge = hinge_element;
    damped_line.force = damped_hinge.force = damping_law;
    for (int i = 0; i < s->mechanism.n_elements; i++)
        s->mechanism.element[i].kind = i < 2 ? &damped_line : &damped_hinge;
    return 1;
}

/* y -= G'mu of the active rows */
static void subtract_constraint_forces(const struct specimen *s, const double *mu, double *y)
{
    const struct constraints *loops = s->mechanism.constraints;
    for (int k = 0; k < loops->n_active; k++)
        for (int i = 0; i < s->nv; i++)
            if (is_free(s, i)) y[i] -= G[s->nv * loops->active[k] + i] * mu[loops->active[k]];
}

/* G x of the active rows; 0 of the others */
static void constraint_rates(const struct specimen *s, const double *x, double *rate)
{
    const struct constraints *loops = s->mechanism.constraints;
    memset(rate, 0, (size_t)loops->n_rows * sizeof *rate);
    for (int k = 0; k < loops->n_active; k++)
        for (int i = 0; i < s->nv; i++) rate[loops->active[k]] += G[s->nv * loops->active[k] + i] * x[i];
}

static void random_multipliers(const struct specimen *s, struct random *random, double *mu)
{
    const struct constraints *loops = s->mechanism.constraints;
    memset(mu, 0, (size_t)loops->n_rows * sizeof *mu);
    for (int k = 0; k < loops->n_active; k++) mu[loops->active[k]] = uniform(random, -1, 1);
}

/* J of every drive: the rate of its coordinate for qd = e_j */
static void drive_rates(struct specimen *s)
{
    double qd[MOST];
    memcpy(qd, s->qd, (size_t)s->nv * sizeof *qd);
    memset(s->qd, 0, (size_t)s->nv * sizeof *qd);
    for (int j = 0; j < s->nv && s->robot->n_drives > 0; j++) {
        s->qd[j] = 1;
        specimen_evaluate(s, NULL);
        elements_measure(&s->mechanism, &s->in);
        for (int d = 0; d < s->robot->n_drives; d++) {
            const int link = s->robot->drive[d].link;
            J[d][j] = link >= 0 ? s->qd[s->model->link[link].v] : s->mechanism.element[d].rate;
        }
        s->qd[j] = 0;
    }
    memcpy(s->qd, qd, (size_t)s->nv * sizeof *qd);
}

/* y += J's J x; s of a line may have any sign */
static void add_drives(struct specimen *s, struct random *random, double gamma, const double *x, double *y)
{
    for (int d = 0; d < s->robot->n_drives; d++) {
        double along = 0;
        const double stiffness = chance(random, 0.1) ? 0 : uniform(random, d == 1 ? -1e-2 : 0, 1e4);
        damping[d] = gamma > 0 ? -stiffness / gamma : 0;
        for (int j = 0; j < s->nv; j++) along += J[d][j] * x[j];
        for (int i = 0; i < s->nv; i++) y[i] -= is_free(s, i) ? J[d][i] * gamma * damping[d] * along : 0;
    }
}

/* [N + J's J, -G'; G 0] (x; mu) for random x and mu, solved again, in the norm of N, which rounding changes by the root of its
   condition. Nearly dependent constraints cost as many digits of mu; x, which they determine together, keeps its own. */
static double solution_error(struct specimen *s)
{
    double x[MOST], y[MOST], mu[MOST_ROWS], rate[MOST_ROWS], worst = 0;
    const struct constraints *loops = s->mechanism.constraints;
    const int n_rows = loops == NULL ? 0 : loops->n_rows;
    if (n_rows > 0) closed_jacobian(s, G);
    drive_rates(s);
    for (int g = 0; g < GAMMAS; g++) {
        newton_matrix(s, gammas[g]);
        random_vector(s, &s->random, x);
        multiply(s, N, x, y);
        add_drives(s, &s->random, gammas[g], x, y);
        if (n_rows > 0) {
            random_multipliers(s, &s->random, mu);
            subtract_constraint_forces(s, mu, y);
            constraint_rates(s, x, rate);
        }
        CHECK(mechanism_newton_factor(&s->mechanism, &s->in, gammas[g]) == STATUS_OK);
        for (int d = 0; d < s->robot->n_drives; d++) {
            double along = 0;
            for (int j = 0; j < s->nv; j++) along += J[d][j] * x[j];
            CHECK_NEAR(element_velocity(&s->mechanism, &s->mechanism.element[d], x), along,
                       1e-11 * (1 + norm(s->nv, x)));
        }
        mechanism_newton_solve(&s->mechanism, y, n_rows > 0 ? rate : NULL);
        for (int i = 0; i < s->nv; i++) CHECK(is_free(s, i) || y[i] == 0);
        for (int i = 0; i < s->nv; i++) y[i] -= x[i];
        CHECK(mechanism_forward(&s->mechanism, &s->in, s->qdd) == STATUS_OK);
        const double digits = n_rows > 0 ? fmin(1, 1e3 * closed_independence(s)) : 1, of_mu = norm(n_rows, mu);
        worst = larger(worst, newton_norm(s, y) / (newton_norm(s, x) + of_mu + DBL_MIN) * digits);
        if (n_rows > 0 && s->robot->n_drives == 0)
            CHECK_NEAR(distance(n_rows, rate, mu) * digits, 0, 1e-8 * (1 + of_mu));
    }
    return worst;
}

TEST(the_recursion_solves_with_the_newton_matrix)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_random, solution_error, 1e-10));
    CHECK(law_holds(test_sample(ROBOTS), make_closed, solution_error, 1e-10));
    CHECK(law_holds(test_sample(ROBOTS), make_coupled, solution_error, 1e-10));
    CHECK(law_holds(test_sample(ROBOTS), make_coupled, matrix_force, 1e-12));
    CHECK(law_holds(test_sample(ROBOTS), make_driven, solution_error, 1e-8)); /* s is up to 1e4 times the masses */
    CHECK(driven_loops > 0 && driven_joints > 0);
}

/* ---- the residual ------------------------------------------------------------------------------------------------------------ */

/* Sizes of the terms that cancel */
static double force_size(struct specimen *s, const double *qdd)
{
    double sum[MOST];
    force_terms(s, qdd, sum);
    return norm(s->nv, sum) + norm(s->mechanism.constraints->n_rows, s->mechanism.constraints->lambda);
}

/* Zero at the solution of forward dynamics, and linear in its unknowns:
   residual(qdd + x, lambda + mu) - residual(qdd, lambda) = (M x - G'mu; G x) */
static double residual_error(struct specimen *s)
{
    const struct constraints *loops = s->mechanism.constraints;
    double qdd[MOST], x[MOST], force[2][MOST], y[MOST], lambda[MOST_ROWS], mu[MOST_ROWS], gap[2][MOST_ROWS],
        rate[MOST_ROWS], worst = 0;
    CHECK(mechanism_forward(&s->mechanism, &s->in, qdd) == STATUS_OK);
    memcpy(lambda, loops->lambda, (size_t)loops->n_rows * sizeof *lambda);
    const double size = force_size(s, qdd), fast = 1 + norm(s->nv, qdd) + pow(norm(s->nv, s->qd), 2);
    random_multipliers(s, &s->random, mu);
    random_vector(s, &s->random, x);
    for (int i = 0; i < 2; i++) {
        CHECK(mechanism_residual(&s->mechanism, &s->in, qdd, lambda, force[i], gap[i]) == STATUS_OK);
        for (int j = 0; j < s->nv; j++) qdd[j] += x[j];
        for (int j = 0; j < loops->n_rows; j++) lambda[j] += mu[j];
    }
    closed_jacobian(s, G);
    newton_matrix(s, 0);
    multiply(s, N, x, y);
    subtract_constraint_forces(s, mu, y);
    constraint_rates(s, x, rate);
    for (int i = 0; i < s->nv; i++)
        if (is_free(s, i))
            worst = larger(worst, larger(fabs(force[0][i]), 10 * fabs(force[1][i] - force[0][i] - y[i])) / size);
    for (int i = 0; i < loops->n_rows; i++)
        worst = larger(worst, larger(fabs(gap[0][i]), 10 * fabs(gap[1][i] - gap[0][i] - rate[i])) / fast);
    return worst;
}

TEST(forward_dynamics_leaves_no_residual)
{
    CHECK(law_holds(test_sample(ROBOTS), make_closed, residual_error, 1e-10));
    CHECK(law_holds(test_sample(ROBOTS), make_coupled, residual_error, 1e-10));
}

/* ---- projection with the Newton factors ---------------------------------------------------------------------------------------- */

/* Gaps, rates and errors vanish with the factors of a state nearby, and where it is too far with new ones */
TEST(newton_factors_project)
{
    const double distances[] = {1e-6, 1e-4, 1e-2};
    double gap[MOST_ROWS], rate[MOST_ROWS], dx[MOST], error[2][MOST];
    int closed_again = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed += 2)
        for (int d = 0; d < 3; d++) {
            struct random random = {(uint64_t)seed};
            struct specimen s;
            CHECK(make_closed(&s, seed));
            const struct constraints *loops = s.mechanism.constraints;
            CHECK(mechanism_newton_factor(&s.mechanism, &s.in, 1e-3) == STATUS_OK);
            random_vector(&s, &random, dx);
            for (int i = 0; i < 2; i++) random_vector(&s, &random, error[i]);
            model_move(s.model, s.q, dx, distances[d]);
            const enum status status =
                constraints_project(&s.mechanism, BY_NEWTON_FACTORS, s.q, s.qd, error[0], error[1]);
            CHECK(status == STATUS_OK || d == 2 || status == STATUS_MISSED_LOOP);
            closed_again += status == STATUS_OK;
            closed_gap(&s, s.qd, NULL, gap, rate, NULL);
            for (int k = 0; k < loops->n_active && status == STATUS_OK; k++) {
                CHECK_NEAR(gap[loops->active[k]], 0, 2e-11);
                CHECK_NEAR(rate[loops->active[k]], 0, 1e-9 * (1 + norm(s.nv, s.qd)));
            }
            closed_jacobian(&s, G);
            for (int i = 0; i < 2 && status == STATUS_OK; i++) {
                constraint_rates(&s, error[i], rate);
                CHECK(norm(loops->n_rows, rate) < 0.2 * (1 + norm(s.nv, error[i])));
            }
            specimen_free(&s);
        }
    printf("     %d of %d\n", closed_again, 3 * ROBOTS / 2);
    CHECK_COVERAGE(closed_again > ROBOTS);
}

SUITE(mech_newton_test)
