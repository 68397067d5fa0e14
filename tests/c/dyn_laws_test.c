/* Laws that forward dynamics, inverse dynamics and mass matrix obey together, for any robot in any state. */
#include "test.h"

#include <string.h>

#include "math/dense.h"
#include "oracle/scatter.h"
#include "oracle/specimen.h"

enum { ROBOTS = 300, MOST = 200 }; /* MOST: coordinates a random robot may have */

static double scale[MOST], moved[MOST], other[MOST], column[MOST], copy[MOST * MOST], inverse_d[MOST];

/* What forward dynamics was given at velocity i: tau, or zero at a mode. */
static double given(const struct specimen *s, int i)
{
    const int tau = velocity_tau(s, i);
    return tau >= 0 ? s->tau[tau] : 0;
}

/* inverse(qdd) is what forward dynamics was given, to 1e-10 of the terms that add up to it; a prescribed joint has the
   acceleration that was prescribed. Returns the worst of them. */
static double check_inverse(struct specimen *s, const double *qdd)
{
    double worst = 0;
    force_terms(s, qdd, scale);
    dyn_inverse(s->model, s->work, &s->in, qdd, s->force);
    for (int i = 0; i < s->nv; i++) {
        const int prescribed = velocity_prescribed(s, i);
        if (prescribed >= 0) {
            CHECK(qdd[i] == s->prescribed_qdd[prescribed]);
            continue;
        }
        CHECK_NEAR(s->force[i], given(s, i), 1e-10 * scale[i]);
        worst = fmax(worst, fabs(s->force[i] - given(s, i)) / scale[i]);
    }
    return worst;
}

/* inverse(forward(tau)) = tau for both algorithms and all elastic terms. The two algorithms are two eliminations of one
   matrix, so they differ by cond(M) eps, and cond(M) is below 1e8 for these robots. */
TEST(inverse_undoes_forward_and_both_algorithms_agree)
{
    double worst_recursive = 0, worst_composite = 0, apart = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen s;
        CHECK(specimen_mixed(&s, seed));
        CHECK(s.nv <= MOST);
        for (int t = TERMS_FULL; t <= TERMS_RUTHLESS; t++) {
            s.robot->elastic_terms = (enum elastic_terms)t;
            CHECK(specimen_remake(&s));
            if (t == TERMS_LINEAR) make_positive(&s);

            CHECK(dyn_forward(s.model, s.work, &s.in, s.qdd) == STATUS_OK);
            worst_recursive = fmax(worst_recursive, check_inverse(&s, s.qdd));
            CHECK(dyn_forward_composite(s.model, s.work, &s.in, moved) == STATUS_OK);
            worst_composite = fmax(worst_composite, check_inverse(&s, moved));
            CHECK_NEAR(distance(s.nv, s.qdd, moved), 0, 1e-8 * norm(s.nv, moved));
            apart = fmax(apart, distance(s.nv, s.qdd, moved) / norm(s.nv, moved));
        }
        specimen_free(&s);
    }
    printf("     worst: recursive %.1e, composite %.1e of the terms; apart %.1e of |qdd|\n", worst_recursive,
           worst_composite, apart);
}

/* dyn_solve() for other forces, with the factors of before: linear in tau */
TEST(solve_reuses_the_factors)
{
    for (int seed = 0; seed < test_sample(50); seed++) {
        struct specimen s;
        CHECK(specimen_mixed(&s, seed));
        CHECK(dyn_forward(s.model, s.work, &s.in, other) == STATUS_OK);
        for (int i = 0; i < s.model->n_tau; i++) s.tau[i] *= -2;
        dyn_solve(s.model, s.work, &s.in, s.qdd);
        CHECK(dyn_forward(s.model, s.work, &s.in, other) == STATUS_OK);
        CHECK(memcmp(s.qdd, other, (size_t)s.nv * sizeof *other) == 0);
        specimen_free(&s);
    }
}

/* M is symmetric, positive definite, and its columns are inverse(e_j) - inverse(0): to 1e-12 of sqrt(M_ii M_jj), which
   bounds every element of a positive definite matrix, plus the rounding of the bias that the difference cancels. */
TEST(mass_matrix_is_columns_of_the_inverse)
{
    double worst = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen s;
        CHECK(specimen_mixed(&s, seed));
        const int n = s.nv;
        memset(s.qd, 0, (size_t)n * sizeof *s.qd);
        dyn_configuration(s.model, s.work, s.q);
        dyn_mass_matrix(s.model, s.work);
        const double *M = s.work->M;
        const struct input still = {.q = s.q, .qd = s.qd};
        dyn_inverse(s.model, s.work, &still, NULL, other);
        for (int j = 0; j < n; j++) {
            memset(moved, 0, sizeof moved);
            moved[j] = 1;
            dyn_inverse(s.model, s.work, &still, moved, column);
            for (int i = 0; i < n; i++) {
                const double size = sqrt(M[n * i + i] * M[n * j + j]);
                CHECK_NEAR(M[n * i + j], column[i] - other[i], 1e-12 * (size + fabs(other[i])));
                CHECK_NEAR(M[n * i + j], M[n * j + i], 1e-14 * size);
                worst = fmax(worst, fabs(M[n * i + j] - (column[i] - other[i])) / (size + fabs(other[i])));
            }
        }
        memcpy(copy, M, (size_t)(n * n) * sizeof *copy);
        CHECK(cholesky_factor(n, copy, inverse_d) == 0);
        specimen_free(&s);
    }
    printf("     worst %.1e\n", worst);
}

/* With no forces and nothing moving NULL is zero: the pointers of struct input are optional. */
TEST(absent_inputs_are_zeros)
{
    for (int seed = 0; seed < test_sample(50); seed++) {
        struct specimen s;
        CHECK(specimen_mixed(&s, seed));
        const struct input bare = {.q = s.q, .qd = s.qd};
        memset(s.tau, 0, (size_t)s.model->n_tau * sizeof *s.tau);
        memset(s.prescribed_qdd, 0, (size_t)s.model->n_prescribed * sizeof *s.tau);
        memset(s.tip_wrench, 0, sizeof s.tip_wrench);
        memset(s.frame_wrench, 0, 6 * (size_t)s.n_frames * sizeof *s.frame_wrench);
        CHECK(dyn_forward(s.model, s.work, &s.in, s.qdd) == STATUS_OK);
        CHECK(dyn_forward(s.model, s.work, &bare, other) == STATUS_OK);
        CHECK(distance(s.nv, s.qdd, other) == 0);
        CHECK(dyn_forward_composite(s.model, s.work, &bare, other) == STATUS_OK);
        CHECK_NEAR(distance(s.nv, s.qdd, other), 0, 1e-8 * norm(s.nv, s.qdd));
        specimen_free(&s);
    }
}

SUITE(dyn_laws_test)
