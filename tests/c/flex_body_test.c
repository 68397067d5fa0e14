/* Frequencies of single links against closed forms: bare, and with a load at the tip that the mode shapes know. */
#include "test.h"

#include <float.h>
#include <string.h>

#include "flex/frequencies.h"
#include "flex/inertia.h"
#include "flex/moments.h"
#include "flex/quadrature.h"
#include "flex/shapes.h"
#include "math/eigen.h"
#include "oracle/roots.h"
#include "oracle/specimen.h"

enum { MOST = 20 };

static const double two_pi = 6.283185307179586;

/* One beam of length, mass per length and EI, on a fixed joint, with a point load at its tip. */
static int make_beam(struct specimen *s, double L, double rhoA, double EI, const char *modes, double mass,
                     double inertia)
{
    char text[2000];
    snprintf(
        text, sizeof text,
        "{\"format\": \"limber-robot/1\", \"name\": \"one\", \"links\": [{\"name\": \"beam\", \"joint\": {\"type\": "
        "\"fixed\"}, \"beam\": {\"length\": %.17g, \"mass_per_length\": %.17g, \"EIz\": %.17g, \"GJ\": 3, \"EA\": 7, "
        "\"inertia_per_length\": [0.01, 0, 0], \"modes\": {%s}}, \"payload\": {\"mass\": %.17g, \"inertia\": "
        "[0, 0, %.17g, 0, 0, 0]}}]}",
        L, rhoA, EI, modes, mass, inertia);
    return specimen_read(s, text);
}

/* w of K v = w^2 M v, M the mass matrix of the robot at rest: with payload, joint fixed */
static void loaded_frequencies(struct specimen *s, double *w)
{
    double V[MOST * MOST], work[2 * MOST * MOST];
    dyn_configuration(s->model, s->work, s->q);
    dyn_mass_matrix(s->model, s->work);
    CHECK(eigen_generalized(s->nv, s->model->link[0].body->K, s->work->M, work, V, w) == 0);
    for (int i = 0; i < s->nv; i++) w[i] = sqrt(w[i]);
}

/* First two dimensionless frequencies beta^2 of the clamped beam with a tip mass of this many beams. */
static const double tip_mass_table[][3] = {{0, 3.51602, 22.03449}, {0.1, 2.96784, 19.35580}, {0.5, 2.01630, 16.90142},
                                           {1, 1.55730, 16.25009}, {2, 1.15820, 15.86089},   {5, 0.75694, 15.60235},
                                           {10, 0.54138, 15.51151}};

/* The clamped-mass shapes are the modes of that beam, so every frequency is exact, not only a bound. Any complete family comes there
   from above. */
TEST(a_mass_at_the_tip)
{
    for (int i = 0; i < 7; i++) {
        const double L = 1.3, rhoA = 2.1, EI = 55, mass = tip_mass_table[i][0] * rhoA * L,
                     unit = sqrt(EI / rhoA) / (L * L);
        char modes[200];
        double own[MOST], w[MOST];
        struct specimen s;
        snprintf(modes, sizeof modes, "\"y\": {\"shape\": \"clamped-mass\", \"count\": 5, \"tip_mass\": %.17g}", mass);
        CHECK(make_beam(&s, L, rhoA, EI, modes, mass, 0));
        loaded_frequencies(&s, own);
        specimen_free(&s);
        CHECK(make_beam(&s, L, rhoA, EI, "\"y\": {\"shape\": \"craig-bampton\", \"count\": 12}", mass, 0));
        loaded_frequencies(&s, w);
        specimen_free(&s);
        for (int k = 0; k < 2; k++) {
            CHECK_NEAR(own[k] / unit, tip_mass_table[i][k + 1], 0.51e-5);
            CHECK(w[k] >= own[k] * (1 - 1e-12) && w[k] < own[k] * (1 + 1e-4));
        }
        for (int k = 0; k < 5; k++) {
            const double b = clamped_mass_root(k + 1, tip_mass_table[i][0], 0);
            CHECK_NEAR(own[k] / unit, b * b, 1e-11 * b * b);
        }
    }
}

/* De Luca and Siciliano's two-link arm: each link with what it carries at its tip (hub 1 kg, link .1 kg and payload .1 kg;
   .1 + .2 .5^3/3 + .1 .5^2 + 5e-4 kg m^2). The paper prints two decimals. */
TEST(two_link_arm_of_de_luca_and_siciliano)
{
    const double load[2][2] = {{1.2, 0.133833333333333333}, {0.1, 5e-4}};
    const double printed[2][2] = {{0.48, 1.80}, {2.18, 15.91}};
    for (int link = 0; link < 2; link++) {
        char modes[200];
        double w[MOST];
        struct specimen s;
        snprintf(modes, sizeof modes,
                 "\"y\": {\"shape\": \"clamped-mass\", \"count\": 2, \"tip_mass\": %.17g, \"tip_inertia\": %.17g}",
                 load[link][0], load[link][1]);
        CHECK(make_beam(&s, 0.5, 0.2, 1, modes, load[link][0], load[link][1]));
        loaded_frequencies(&s, w);
        for (int k = 0; k < 2; k++) CHECK_NEAR(w[k] / two_pi, printed[link][k], 0.0051);
        specimen_free(&s);
    }
}

/* The bare link in its own modes: bending (beta_k/L)^2 sqrt(EI/rhoA); twisting and stretching (2k-1) pi/(2L) times sqrt(GJ/Jx) and
   sqrt(EA/rhoA). */
TEST(clamped_free_frequencies_are_exact)
{
    const double L = 0.9, rhoA = 1.7, EI = 42;
    static const char *const family[] = {"y", "twist", "axial"};
    for (int f = 0; f < 3; f++) {
        char modes[100];
        double hz[MOST];
        struct specimen s;
        snprintf(modes, sizeof modes, "\"%s\": {\"shape\": \"clamped-free\", \"count\": 10}", family[f]);
        CHECK(make_beam(&s, L, rhoA, EI, modes, 0, 0));
        CHECK(frequencies_of_link(&s.robot->link[0], hz, MOST) == 10);
        for (int k = 0; k < 10; k++) {
            const double b = clamped_mass_root(k + 1, 0, 0), bending = b * b / (L * L) * sqrt(EI / rhoA) / two_pi;
            const double rod = (2 * k + 1) / (4 * L) * sqrt(f == 1 ? 3 / 0.01 : 7 / rhoA);
            CHECK_NEAR(hz[k] / (f == 0 ? bending : rod), 1, 1e-12);
        }
        CHECK(frequencies_of_link(&s.robot->link[0], hz, 3) == 3);
        specimen_free(&s);
    }
}

/* Lin and Lewis's link: squares (k pi/L)^4 EI/rhoA, 2312.8, 3.700e4, 1.873e5, 5.921e5 ... 1.171e8 */
TEST(pinned_pinned_squares_of_lin_and_lewis)
{
    struct robot *robot;
    struct report report = {0};
    double hz[MOST];
    CHECK(robot_read_file(TEST_DATA "/../../resources/lin-lewis.json", &robot, &report) == STATUS_OK);
    const struct link *link = &robot->link[0];
    const int count = frequencies_of_link(link, hz, MOST);
    CHECK(count == 15);
    for (int k = 1; k <= count; k++) {
        const double wave = k * two_pi / 2 / link->beam.length;
        const double exact = wave * wave * wave * wave * link->beam.EIz.factor / link->beam.mass_per_length.factor;
        CHECK_NEAR(pow(two_pi * hz[k - 1], 2), exact, 1e-12 * exact);
    }
    const double printed[4] = {2312.8, 3.700e4, 1.873e5, 5.921e5};
    for (int k = 0; k < 4; k++) CHECK_NEAR(pow(two_pi * hz[k], 2), printed[k], 5e-4 * printed[k]);
    CHECK_NEAR(pow(two_pi * hz[14], 2), 1.171e8, 5e-4 * 1.171e8);
    robot_free(robot);
}

/* k-th root of b tan b = r: a rod with 1/r of its own mass (inertia) at the tip */
static double loaded_rod_root(int k, double r)
{
    double low = (k - 1) * two_pi / 2, high = low + two_pi / 4;
    for (int i = 0; i < 100; i++) {
        const double b = 0.5 * (low + high);
        if ((b * sin(b) < r * cos(b)) == (k % 2 == 1)) low = b;
        else high = b;
    }
    return low;
}

/* A rod of these modes with a load at the tip, its frequencies over sqrt(stiffness/mass)/L */
static int loaded_rod(const char *modes, double r, double *w)
{
    const double L = 0.8, rhoA = 3, J = 0.04, EA = 50, GJ = 7;
    const bool twist = strstr(modes, "twist") != NULL;
    char text[2000];
    struct specimen s;
    snprintf(
        text, sizeof text,
        "{\"format\": \"limber-robot/2\", \"name\": \"rod\", \"links\": [{\"name\": \"beam\", \"joint\": {\"type\": "
        "\"fixed\"}, \"beam\": {\"length\": %.17g, \"mass_per_length\": %.17g, \"GJ\": %.17g, \"EA\": %.17g, "
        "\"inertia_per_length\": [%.17g, 0, 0], \"modes\": {%s}}, \"payload\": {\"mass\": %.17g, \"inertia\": "
        "[%.17g, 0, 0, 0, 0, 0]}}]}",
        L, rhoA, GJ, EA, J, modes, rhoA * L / r, J * L / r);
    if (!specimen_read(&s, text)) return 0;
    loaded_frequencies(&s, w);
    const int n = s.nv;
    for (int i = 0; i < n; i++) w[i] *= L * sqrt(twist ? J / GJ : rhoA / EA);
    specimen_free(&s);
    return n;
}

/* One linear shape is Rayleigh's quotient, sqrt(r/(1 + r/3)); with sines the frequencies converge from above. */
TEST(craig_bampton_rods_with_a_load_at_the_tip)
{
    static const char *const one[] = {"\"twist\": {\"shape\": \"craig-bampton\", \"count\": 1}",
                                      "\"axial\": {\"shape\": \"craig-bampton\", \"count\": 1}"};
    static const char *const ten[] = {"\"twist\": {\"shape\": \"craig-bampton\", \"count\": 10}",
                                      "\"axial\": {\"shape\": \"craig-bampton\", \"count\": 10}"};
    for (int family = 0; family < 2; family++)
        for (double r = 0.05; r < 5; r *= 2) {
            double w[MOST];
            CHECK(loaded_rod(one[family], r, w) == 1);
            CHECK_NEAR(w[0], sqrt(r / (1 + r / 3)), 1e-14 * w[0]);
            CHECK(w[0] > loaded_rod_root(1, r));
            CHECK(loaded_rod(ten[family], r, w) == 10);
            for (int k = 1; k <= 3; k++) {
                const double b = loaded_rod_root(k, r);
                CHECK(w[k - 1] > b * (1 - 1e-12));
                CHECK_NEAR(w[k - 1], b, 1e-3 * b);
            }
        }
}

/* Damping ratio zeta in every mode, and alpha Mff + beta K: in the bare link's own modes D is diagonal. */
TEST(damping_is_what_the_file_says)
{
    const double zeta = 0.03, alpha = 0.2, beta = 1e-3;
    struct specimen s;
    CHECK(make_beam(&s, 0.9, 1.7, 42, "\"y\": {\"shape\": \"polynomial\", \"count\": 3}", 0, 0));
    s.robot->link[0].beam.damping_ratio = zeta;
    s.robot->link[0].beam.rayleigh[0] = alpha;
    s.robot->link[0].beam.rayleigh[1] = beta;
    CHECK(specimen_remake(&s));
    const struct body *body = s.model->link[0].body;
    const int m = body->m;
    double V[MOST * MOST], work[2 * MOST * MOST], w2[MOST];
    CHECK(eigen_generalized(m, body->K, body->Mff0, work, V, w2) == 0);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double d = 0;
            for (int k = 0; k < m; k++)
                for (int l = 0; l < m; l++) d += V[m * k + i] * body->D[m * k + l] * V[m * l + j];
            const double expected = i == j ? 2 * zeta * sqrt(w2[i]) + alpha + beta * w2[i] : 0;
            CHECK_NEAR(d, expected, 1e-10 * (2 * zeta * sqrt(w2[m - 1]) + alpha + beta * w2[m - 1]));
        }
    specimen_free(&s);
}

/* ---- foreshortening ---- */

/* The mass blocks and inertia forces of a beam, as integrals over its points */
struct integrals {
    double c[3], N[9], Mff[MOST * MOST], coupling[MOST][6], wrench[6], modal[MOST];
};

/* r, its derivatives psi_k by eta_k, and the acceleration of a section */
static void add_point(const struct section *section, int m, const double *eta, const double *etad, const double *omega,
                      const double *acc, double dm, struct integrals *sum)
{
    double psi[MOST][3], r[3] = {section->x[0], 0, 0}, rd[3] = {0}, A[3], B[9], moment[3];
    for (int k = 0; k < m; k++) {
        copy3(section->Phi + 3 * k, psi[k]);
        axpy3(eta[k], psi[k], r);
        double slope = 0;
        for (int l = 0; l < m; l++) slope += section->H[PADDED(m) * k + l] * eta[l];
        psi[k][0] -= slope;
        r[0] -= 0.5 * eta[k] * slope;
        axpy3(etad[k], psi[k], rd);
    }
    point_acceleration(omega, acc, B);
    copy3(acc + 3, A);
    add_mul3(B, r, A);
    cross3(omega, rd, moment);
    axpy3(2, moment, A);
    for (int k = 0; k < m; k++)
        for (int l = 0; l < m; l++) A[0] -= etad[k] * section->H[PADDED(m) * k + l] * etad[l];
    axpy3(dm, r, sum->c);
    for (int i = 0; i < 9; i++) sum->N[i] += dm * r[i / 3] * r[i % 3];
    cross3(r, A, moment);
    axpy3(dm, moment, sum->wrench);
    axpy3(dm, A, sum->wrench + 3);
    for (int k = 0; k < m; k++) {
        cross3(r, psi[k], moment);
        axpy3(dm, moment, sum->coupling[k]);
        axpy3(dm, psi[k], sum->coupling[k] + 3);
        sum->modal[k] += dm * dot3(psi[k], A);
        for (int l = 0; l < m; l++) sum->Mff[m * k + l] += dm * dot3(psi[k], psi[l]);
    }
}

static void integrate(const struct link *link, int m, const double *eta, const double *etad, const double *omega,
                      const double *acc, struct integrals *sum)
{
    enum { PANELS = 12 };
    double node[GAUSS_POINTS], weight[GAUSS_POINTS];
    const double h = link->beam.length / PANELS;
    quadrature_gauss_legendre(node, weight);
    memset(sum, 0, sizeof *sum);
    for (int i = 0; i < PANELS * GAUSS_POINTS; i++) {
        struct arena arena = {0};
        struct section section;
        const int g = i % GAUSS_POINTS;
        CHECK(body_section(link, h * (i / GAUSS_POINTS + node[g]), 0, &arena, &section) == STATUS_OK);
        add_point(&section, m, eta, etad, omega, acc, link->beam.mass_per_length.factor * h * weight[g], sum);
        arena_release(&arena);
    }
}

static void check_all_near(int n, const double *x, const double *expected)
{
    double size = 0;
    for (int i = 0; i < n; i++) size = larger(size, fabs(expected[i]));
    for (int i = 0; i < n; i++) CHECK_NEAR(x[i], expected[i], 1e-13 * size);
}

static void check_foreshortening(const char *modes)
{
    struct specimen s;
    struct random random = {4};
    char text[1000];
    snprintf(
        text, sizeof text,
        "{\"format\": \"limber-robot/2\", \"name\": \"one\", \"links\": [{\"name\": \"beam\", \"joint\": {\"type\": "
        "\"revolute\", \"axis\": [0, 0, 1]}, \"beam\": {\"length\": 1.5, \"mass_per_length\": 2, \"EIy\": 4, \"EIz\": "
        "3, "
        "\"GJ\": 3, \"EA\": 7, \"foreshortening\": true, \"modes\": {%s}}}]}",
        modes);
    CHECK(specimen_read(&s, text));
    const struct body *body = s.model->link[0].body;
    const int m = body->m;
    struct body_state *state = &s.work->link[0].body;
    struct integrals expected;
    double eta[MOST], etad[MOST], omega[3], acc[6], wrench[6], modal[MOST], Mff[MOST * MOST];
    for (int k = 0; k < m; k++) {
        eta[k] = uniform(&random, -0.5, 0.5);
        etad[k] = uniform(&random, -2, 2);
    }
    for (int i = 0; i < 3; i++) omega[i] = uniform(&random, -2, 2);
    for (int i = 0; i < 6; i++) acc[i] = uniform(&random, -5, 5);
    integrate(&s.robot->link[0], m, eta, etad, omega, acc, &expected);
    body_inertia(body, TERMS_FULL, eta, state);
    body_force(body, TERMS_FULL, state, eta, etad, omega, acc, wrench, modal);
    const double N[6] = {expected.N[0], expected.N[4], expected.N[8], expected.N[1], expected.N[2], expected.N[5]};
    for (int i = 0; i < m * m; i++) Mff[i] = state->Mff[PADDED(m) * (i / m) + i % m];
    check_all_near(3, state->c, expected.c);
    check_all_near(6, state->N, N);
    check_all_near(m * m, Mff, expected.Mff);
    check_all_near(6, wrench, expected.wrench);
    check_all_near(m, modal, expected.modal);
    for (int k = 0; body->hinge_moves && k < m; k++) check_all_near(6, state->coupling[k], expected.coupling[k]);
    specimen_free(&s);
}

/* The contracted integrals of foreshortening are those over the points of the beam, in one plane and in two, with axial modes, with a
   hinge node that moves. */
TEST(foreshortening_is_an_integral_over_the_points)
{
    check_foreshortening("\"y\": {\"shape\": \"craig-bampton\", \"count\": 6}");
    check_foreshortening(
        "\"y\": {\"shape\": \"clamped-free\", \"count\": 3}, \"z\": {\"shape\": \"craig-bampton\", \"count\": 2}");
    check_foreshortening(
        "\"z\": {\"shape\": \"clamped-free\", \"count\": 1}, \"axial\": {\"shape\": \"craig-bampton\", \"count\": 2}");
    check_foreshortening(
        "\"y\": {\"shape\": \"pinned-pinned\", \"count\": 2}, \"z\": {\"shape\": \"clamped-free\", \"count\": 3}, "
        "\"axial\": {\"shape\": \"linear\"}");
}

SUITE(flex_body_test)
