/* `linear` and `ruthless` elastic terms: what they leave out is of second and of first order in eta and eta_dot. */
#include "test.h"

#include <float.h>
#include <string.h>

#include "oracle/laws.h"

enum { ROBOTS = 200, MOST = 200, HALVINGS = 4, ANSWERS = 2 }; /* answers: mass matrix and bias */

/* Mass matrix and bias with the modes at s times their place and speed. */
struct answers {
    double M[MOST * MOST], bias[MOST];
};

static struct answers full, reduced;

static void answer(struct specimen *s, const double *q, const double *qd, double factor, struct answers *out)
{
    memcpy(s->q, q, (size_t)s->nq * sizeof *q);
    memcpy(s->qd, qd, (size_t)s->nv * sizeof *qd);
    shrink_modes(s, factor);
    dyn_configuration(s->model, s->work, s->q);
    dyn_mass_matrix(s->model, s->work);
    memcpy(out->M, s->work->M, (size_t)(s->nv * s->nv) * sizeof *out->M);
    const struct input alone = {.q = s->q, .qd = s->qd};
    dyn_inverse(s->model, s->work, &alone, NULL, out->bias);
}

static void sizes(int n, double size[ANSWERS])
{
    size[0] = norm(n * n, full.M);
    size[1] = norm(n, full.bias);
}

static void compare(int n, const double size[ANSWERS], double error[ANSWERS])
{
    error[0] = distance(n * n, full.M, reduced.M) / size[0];
    error[1] =
        distance(n, full.bias, reduced.bias) / (size[1] + DBL_MIN); /* a robot at rest without gravity has none */
}

/* error(s/2) <= 2^-order error(s) for every robot, up to a part of s that the next order adds, and exactly of that order in
   the sum over all robots: were it better, the terms that are left out would be too few. */
static void check_slope(enum elastic_terms terms, int order)
{
    double sum[HALVINGS][ANSWERS] = {{0}};
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen a, b;
        double q[MOST], qd[MOST], size[ANSWERS], before[ANSWERS] = {INFINITY, INFINITY}, error[ANSWERS];
        CHECK(specimen_random(&a, seed));
        CHECK(specimen_random(&b, seed));
        b.robot->elastic_terms = terms;
        CHECK(specimen_remake(&b));
        memcpy(q, a.q, (size_t)a.nq * sizeof *q);
        memcpy(qd, a.qd, (size_t)a.nv * sizeof *qd);
        double factor = 1.0 / 512;
        for (int halving = 0; halving < HALVINGS; halving++, factor /= 2) {
            answer(&a, q, qd, factor, &full);
            answer(&b, q, qd, factor, &reduced);
            if (halving == 0) sizes(a.nv, size); /* fixed: strain falls with the modes, too */
            compare(a.nv, size, error);
            for (int k = 0; k < ANSWERS; k++) {
                CHECK_NEAR(error[k], 0, 1.15 * before[k] / (1 << order) + 1e-12);
                before[k] = error[k];
                sum[halving][k] += error[k];
            }
        }
        specimen_free(&a);
        specimen_free(&b);
    }
    for (int k = 0; k < ANSWERS; k++) {
        const double slope = log2(sum[HALVINGS - 2][k] / sum[HALVINGS - 1][k]);
        CHECK_NEAR(slope, order, 0.02);
        printf("     slope of %s: %.4f\n", k == 0 ? "mass matrix" : "bias", slope);
    }
}

TEST(what_is_left_out_is_of_second_and_of_first_order)
{
    check_slope(TERMS_LINEAR, 2);
    check_slope(TERMS_RUTHLESS, 1);
}

/* The undeformed robot is the same, to rounding. */
static double undeformed(struct specimen *s)
{
    double q[MOST], qd[MOST], size[ANSWERS], error[ANSWERS], worst = 0;
    memcpy(q, s->q, (size_t)s->nq * sizeof *q);
    memcpy(qd, s->qd, (size_t)s->nv * sizeof *qd);
    answer(s, q, qd, 0, &full);
    sizes(s->nv, size);
    for (int terms = TERMS_LINEAR; terms <= TERMS_RUTHLESS; terms++) {
        s->robot->elastic_terms = (enum elastic_terms)terms;
        CHECK(specimen_remake(s));
        answer(s, q, qd, 0, &reduced);
        compare(s->nv, size, error);
        worst = larger(worst, larger(error[0], error[1]));
    }
    return worst;
}

TEST(all_agree_without_deformation)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_random, undeformed, 1e-13));
}

/* One foreshortened beam on a turning hinge: nothing but the body's own terms, which are of the kept order and no more.
   With modes and their rates at s times theirs, joint and gravity fixed, whatever is of first order is affine in s. */
TEST(nothing_beyond_the_kept_order)
{
    struct specimen s;
    struct random random = {9};
    CHECK(specimen_read(&s,
                        "{\"format\": \"limber-robot/1\", \"name\": \"beam\", \"gravity\": [1, -9, 2], \"links\": [{"
                        "\"name\": \"beam\", \"joint\": {\"type\": \"revolute\", \"axis\": [1, 2, 3]}, \"beam\": "
                        "{\"length\": 1.5, \"mass_per_length\": 2, \"EIy\": 40, \"EIz\": 30, \"GJ\": 20, \"EA\": 50, "
                        "\"inertia_per_length\": [0.03, 0.02, 0.01], \"foreshortening\": true, \"modes\": {\"y\": "
                        "{\"shape\": \"hermite\"}, \"z\": {\"shape\": \"clamped-free\", \"count\": 2}, \"twist\": "
                        "{\"shape\": \"linear\"}, \"axial\": {\"shape\": \"linear\"}}}}]}"));
    specimen_random_state(&s, &random);
    double q[MOST], qd[MOST];
    memcpy(q, s.q, (size_t)s.nq * sizeof *q);
    memcpy(qd, s.qd, (size_t)s.nv * sizeof *qd);
    for (int kept = TERMS_LINEAR; kept <= TERMS_RUTHLESS; kept++) {
        static struct answers at[3];
        s.robot->elastic_terms = (enum elastic_terms)kept;
        CHECK(specimen_remake(&s));
        for (int k = 0; k < 3; k++) answer(&s, q, qd, k, &at[k]);
        const double *K = s.model->link[0].body->K;
        const int n = s.nv, m = n - 1;
        for (int i = 0; i < n * n; i++) {
            CHECK_NEAR(at[2].M[i] - 2 * at[1].M[i] + at[0].M[i], 0, 1e-13 * norm(n * n, at[0].M));
            if (kept == TERMS_RUTHLESS) CHECK(at[1].M[i] == at[0].M[i]);
        }
        for (int i = 0; i < n; i++) {
            CHECK_NEAR(at[2].bias[i] - 2 * at[1].bias[i] + at[0].bias[i], 0, 1e-13 * norm(n, at[2].bias));
            double strain = 0;
            for (int k = 0; i > 0 && k < m; k++) strain += K[m * (i - 1) + k] * q[1 + k];
            if (kept == TERMS_RUTHLESS) CHECK_NEAR(at[1].bias[i] - at[0].bias[i], strain, 1e-13 * norm(n, at[1].bias));
        }
    }
    specimen_free(&s);
}

SUITE(dyn_terms_test)
