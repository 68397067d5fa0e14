/* Laws that forward dynamics, inverse dynamics and mass matrix obey together, for any robot in any state. */
#include "test.h"

#include <string.h>

#include "math/dense.h"
#include "oracle/laws.h"
#include "oracle/scatter.h"

enum { ROBOTS = 300, MOST = 200 }; /* MOST: coordinates a random robot may have */

/* The generator leaves nothing out. */
TEST(random_robots_have_everything)
{
    int joints[JOINT_FREE + 1] = {0}, bodies[BODY_NODAL + 1] = {0}, passive = 0, prescribed = 0, trees = 0;
    for (int seed = 0; seed < ROBOTS; seed++) {
        struct specimen s;
        CHECK(specimen_random(&s, seed) && s.nv <= MOST);
        for (int i = 0; i < s.robot->n_links; i++) {
            const struct link *link = &s.robot->link[i];
            joints[link->joint.type]++;
            bodies[link->type]++;
            passive += link->joint.passive;
            prescribed += link->joint.prescribed;
        }
        trees += s.model->branched;
        specimen_free(&s);
    }
    for (int type = JOINT_FIXED; type <= JOINT_FREE; type++) CHECK(joints[type] > ROBOTS / 10);
    for (int type = BODY_RIGID; type <= BODY_NODAL; type++) CHECK(bodies[type] > ROBOTS / 10);
    CHECK(passive > ROBOTS / 10 && prescribed > ROBOTS / 10 && trees > ROBOTS / 10);
}

/* inverse(qdd) is what forward dynamics was given, tau, or zero at a mode, of the terms that add up to it; a prescribed joint has the
   acceleration that was prescribed. */
static double inverse_error(struct specimen *s, const double *qdd)
{
    double worst = 0, terms[MOST];
    force_terms(s, qdd, terms);
    dyn_inverse(s->model, s->work, &s->in, qdd, s->force);
    for (int i = 0; i < s->nv; i++) {
        const int prescribed = velocity_prescribed(s, i), tau = velocity_tau(s, i);
        if (prescribed >= 0) CHECK(qdd[i] == s->prescribed_qdd[prescribed]);
        else worst = larger(worst, fabs(s->force[i] - (tau >= 0 ? s->tau[tau] : 0)) / terms[i]);
    }
    return worst;
}

/* inverse(forward(tau)) = tau for both algorithms and all elastic terms. The two algorithms are two eliminations of one
   matrix, so they differ by cond(M) eps, and cond(M) is below 1e8 for these robots. */
static double forward_and_back(struct specimen *s)
{
    double worst = 0, composite[MOST];
    for (int t = TERMS_FULL; t <= TERMS_RUTHLESS; t++) {
        s->robot->elastic_terms = (enum elastic_terms)t;
        CHECK(specimen_remake(s));
        if (t == TERMS_LINEAR) make_positive(s);
        CHECK(tree_forward(s->model, s->work, &s->in, s->qdd) == STATUS_OK);
        worst = larger(worst, inverse_error(s, s->qdd));
        CHECK(dyn_forward_composite(s->model, s->work, &s->in, composite) == STATUS_OK);
        worst = larger(worst, inverse_error(s, composite));
        worst = larger(worst, 1e-2 * distance(s->nv, s->qdd, composite) / norm(s->nv, composite));
    }
    return worst;
}

TEST(inverse_undoes_forward_and_both_algorithms_agree)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_mixed, forward_and_back, 1e-10));
}

/* dyn_solve_forces() with the factors of before adds the accelerations of other torques: linear in tau */
static double solve_again(struct specimen *s)
{
    double qdd[MOST], change[MOST];
    CHECK(tree_forward(s->model, s->work, &s->in, s->qdd) == STATUS_OK);
    memset(s->force, 0, (size_t)s->nv * sizeof *s->force);
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_model *lm = &s->model->link[i];
        for (int k = 0; !lm->passive && k < lm->joint.nv; k++) s->force[lm->v + k] = -3 * s->tau[lm->tau + k];
    }
    dyn_solve_forces(s->model, s->work, s->force, change);
    for (int i = 0; i < s->nv; i++) s->qdd[i] += change[i];
    for (int i = 0; i < s->model->n_tau; i++) s->tau[i] *= -2;
    CHECK(tree_forward(s->model, s->work, &s->in, qdd) == STATUS_OK);
    return distance(s->nv, s->qdd, qdd) / norm(s->nv, qdd);
}

TEST(solve_reuses_the_factors)
{
    CHECK(law_holds(test_sample(50), specimen_mixed, solve_again, 1e-10));
}

/* M is symmetric, positive definite, and its columns are inverse(e_j) - inverse(0): to 1e-12 of sqrt(M_ii M_jj), which
   bounds every element of a positive definite matrix, plus the rounding of the bias that the difference cancels. */
static double mass_by_columns(struct specimen *s)
{
    static double copy[MOST * MOST];
    double worst = 0, bias[MOST], column[MOST], inverse_d[MOST];
    const int n = s->nv;
    memset(s->qd, 0, (size_t)n * sizeof *s->qd);
    dyn_configuration(s->model, s->work, s->q);
    dyn_mass_matrix(s->model, s->work);
    const double *M = s->work->M;
    const struct input still = {.q = s->q, .qd = s->qd};
    dyn_inverse(s->model, s->work, &still, NULL, bias);
    for (int j = 0; j < n; j++) {
        double one[MOST] = {0};
        one[j] = 1;
        dyn_inverse(s->model, s->work, &still, one, column);
        for (int i = 0; i < n; i++) {
            const double size = sqrt(M[n * i + i] * M[n * j + j]);
            CHECK_NEAR(M[n * i + j], M[n * j + i], 1e-14 * size);
            worst = larger(worst, fabs(M[n * i + j] - (column[i] - bias[i])) / (size + fabs(bias[i])));
        }
    }
    memcpy(copy, M, (size_t)(n * n) * sizeof *copy);
    CHECK(cholesky_factor(n, copy, inverse_d) == 0);
    return worst;
}

TEST(mass_matrix_is_columns_of_the_inverse)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_mixed, mass_by_columns, 1e-12));
}

/* With no forces and nothing moving NULL is zero: the pointers of struct input are optional. */
static double without_inputs(struct specimen *s)
{
    const struct input bare = {.q = s->q, .qd = s->qd};
    double qdd[MOST];
    memset(s->tau, 0, (size_t)s->model->n_tau * sizeof *s->tau);
    memset(s->prescribed_qdd, 0, (size_t)s->model->n_prescribed * sizeof *s->tau);
    memset(s->tip_wrench, 0, sizeof s->tip_wrench);
    memset(s->frame_wrench, 0, 6 * (size_t)s->n_frames * sizeof *s->frame_wrench);
    CHECK(tree_forward(s->model, s->work, &s->in, s->qdd) == STATUS_OK);
    CHECK(tree_forward(s->model, s->work, &bare, qdd) == STATUS_OK);
    CHECK(distance(s->nv, s->qdd, qdd) == 0);
    CHECK(dyn_forward_composite(s->model, s->work, &bare, qdd) == STATUS_OK);
    return distance(s->nv, s->qdd, qdd) / norm(s->nv, s->qdd);
}

TEST(absent_inputs_are_zeros)
{
    CHECK(law_holds(test_sample(50), specimen_mixed, without_inputs, 1e-8));
}

SUITE(dyn_laws_test)
