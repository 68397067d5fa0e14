/* Mode shapes: every formula against its definition, its derivatives, its boundary conditions and a judge of more digits. */
#include "flex/shapes.h"

#include <float.h>

#include "flex/quadrature.h"
#include "oracle/random.h"
#include "oracle/roots.h"
#include "test.h"

static const double pi = 3.14159265358979323846;
enum { MODES = 50 };

/* ---- beams and random numbers ---- */

static struct random numbers;

/* 0 one time in eight, else spread evenly over the decades */
static double random_ratio(double lowest_decade, double highest_decade)
{
    const double decade = uniform(&numbers, lowest_decade, highest_decade);
    return uniform(&numbers, 0, 8) < 1 ? 0 : pow(10, decade);
}

static struct shape_function make(enum shape name, enum family family, int k, double L, double mass_ratio,
                                  double inertia_ratio)
{
    const double rhoA = 1.3;
    struct beam beam = {.length = L, .mass_per_length = {.factor = rhoA}};
    struct shape_function shape;
    beam.family[family] = (struct mode_family){
        .shape = name, .count = k, .tip_mass = mass_ratio * rhoA * L, .tip_inertia = inertia_ratio * rhoA * L * L * L};
    shape_make(&beam, family, k, &shape);
    return shape;
}

static struct shape_function bending(enum shape name, int k, double L)
{
    return make(name, FAMILY_Y, k, L, 0, 0);
}

static double at(const struct shape_function *shape, double x, int derivative)
{
    double value[3];
    shape_value(shape, x, value);
    return value[derivative];
}

/* max |phi|, |phi'|, |phi''|: what errors are measured against */
static void largest(const struct shape_function *shape, double size[3])
{
    size[0] = size[1] = size[2] = 0;
    for (int i = 0; i <= 1000; i++) {
        double value[3];
        shape_value(shape, shape->length * i / 1000, value);
        for (int d = 0; d < 3; d++) size[d] = larger(size[d], fabs(value[d]));
    }
}

/* ---- the judge: the same eigenfunctions in long double and in another form ---- */

/* The characteristic equation over cosh b, with mass m/(rhoA L) and inertia j/(rhoA L^3) at the tip. */
static long double clamped_mass_residual(long double b, long double m, long double j)
{
    const long double M = b * m, J = b * b * b * j, c = cosl(b), s = sinl(b), T = tanhl(b), I = 1 / coshl(b);
    return ((I + c) - M * (s - T * c) - J * (s + T * c) + J * M * (I - c)) / ((1 + M) * (1 + J));
}

static long double clamped_clamped_residual(long double b, long double m, long double j)
{
    (void)m, (void)j;
    return 1 / coshl(b) - cosl(b);
}

typedef long double residual_function(long double b, long double m, long double j);

/* Two secant steps from a root that is good to double. */
static long double polish(residual_function *F, double root, long double m, long double j)
{
    long double b = root, previous = b * (1 + 1e-10L);
    for (int step = 0; step < 2; step++) {
        const long double Fb = F(b, m, j), slope = (Fb - F(previous, m, j)) / (b - previous);
        previous = b;
        b -= Fb / slope;
        if (previous == b) break;
    }
    return b;
}

/* phi = e^-t + (1 + B) sinh t - cos t - B sin t with t = b s, times scale: the classical form with B = -sigma, and 1 + B known
   without cancellation */
struct judge {
    long double b, B, one_plus_B, scale;
};

static long double judge_value(const struct judge *judge, double L, double x, int derivative)
{
    const long double t = judge->b * (long double)x / L, e = expl(-t), c = cosl(t), s = sinl(t), B = judge->B;
    const long double G = judge->one_plus_B, scale = judge->scale;
    switch (derivative) {
    case 0: return scale * (e + G * sinhl(t) - c - B * s);
    case 1: return scale * (judge->b / L) * (-e + G * coshl(t) + s - B * c);
    default: return scale * (judge->b / L) * (judge->b / L) * (e + G * sinhl(t) + c + B * s);
    }
}

static struct judge judge_clamped_mass(int k, double m, double j)
{
    const long double b = polish(clamped_mass_residual, clamped_mass_root(k, m, j), m, j);
    const long double M = b * m, c = cosl(b), s = sinl(b), C = coshl(b), S = sinhl(b), e = expl(-b);
    const long double denominator = (C + c) + M * (S - s);
    struct judge judge = {.b = b, .scale = denominator / (2 * S * s)};
    judge.B = -((S - s) + M * (C - c)) / denominator;
    judge.one_plus_B = ((e + c + s) - M * (e + s - c)) / denominator;
    return judge;
}

static struct judge judge_clamped_clamped(int k)
{
    const long double b = polish(clamped_clamped_residual, clamped_clamped_root(k), 0, 0);
    const long double c = cosl(b), s = sinl(b), C = coshl(b), S = sinhl(b);
    return (struct judge){.b = b, .B = -(C - c) / (S - s), .one_plus_B = (c - s - expl(-b)) / (S - s), .scale = 1};
}

/* Largest difference, relative to max |phi|, max |phi'|, max |phi''|; on the ends, near them and between. */
static double distance(const struct shape_function *shape, const struct judge *judge)
{
    enum { POINTS = 60 };
    const double L = shape->length;
    double size[3], worst = 0;
    largest(shape, size);
    for (int i = 0; i < POINTS; i++) {
        const double near[] = {0, 1e-9 * L, 1e-3 * L, L * (1 - 1e-3), L * (1 - 1e-12), L};
        const double x = i < 6 ? near[i] : uniform(&numbers, 0, L);
        for (int d = 0; d < 3; d++) {
            const double error = (double)fabsl(at(shape, x, d) - judge_value(judge, L, x, d)) / size[d];
            if (!(error <= worst)) worst = error;
        }
    }
    return worst;
}

/* ---- integrals ---- */

/* Derivatives of this order, a's times b's (NULL: 1), over [from, to] in panels of 16 Gauss points: exact to rounding while a panel spans
   a few radians */
static double integral(int derivative, const struct shape_function *a, const struct shape_function *b, double from,
                       double to, int panels)
{
    double node[GAUSS_POINTS], weight[GAUSS_POINTS], sum = 0;
    quadrature_gauss_legendre(node, weight);
    const double h = (to - from) / panels;
    for (int i = 0; i < panels * GAUSS_POINTS; i++) {
        const double x = from + (i / GAUSS_POINTS + node[i % GAUSS_POINTS]) * h;
        sum += h * weight[i % GAUSS_POINTS] * at(a, x, derivative) * (b == NULL ? 1 : at(b, x, derivative));
    }
    return sum;
}

/* ---- roots ---- */

/* Blevins' and everybody's numbers, here with more digits; a correctly rounded root is off by half an ulp, two are allowed. */
TEST(roots_are_the_known_ones)
{
    const double ulps = 4.5e-16;
    const double clamped_free[] = {1.8751040687119611664, 4.6940911329741745764, 7.8547574382376125648,
                                   10.995540734875466990};
    const double clamped_clamped[] = {4.7300407448627040260, 7.8532046240958375565, 10.995607838001670907};
    for (int k = 1; k <= 4; k++)
        CHECK_NEAR(clamped_mass_root(k, 0, 0), clamped_free[k - 1], ulps * clamped_free[k - 1]);
    for (int k = 1; k <= 3; k++)
        CHECK_NEAR(clamped_clamped_root(k), clamped_clamped[k - 1], ulps * clamped_clamped[k - 1]);
}

/* A root in double is a root when F changes sign within two ulps of it (judged in long double). */
TEST(random_tip_loads_give_roots)
{
    numbers.state = 1;
    for (int i = 0; i < 2000; i++) {
        const double m = random_ratio(-6, 4), j = random_ratio(-8, 4);
        const int k = 1 + (int)uniform(&numbers, 0, i % 2 == 0 ? 4 : MODES);
        const double b = clamped_mass_root(k, m, j), margin = 4.5e-16 * b;
        const long double below = clamped_mass_residual((long double)b - margin, m, j);
        const long double above = clamped_mass_residual((long double)b + margin, m, j);
        if (below * above < 0) continue;
        printf("k = %d, m = %.17g, j = %.17g: b = %.17g\n", k, m, j, b);
        CHECK(below * above < 0);
    }
}

/* Holding the tip takes two freedoms, freeing it of mass only raises frequencies: clamped-clamped_(k-2) <= b_k <= clamped-free_k,
   and b_k increases; for any load, however absurd. An ulp for loads so large that the left two are one number. */
TEST(roots_increase_and_interlace)
{
    numbers.state = 2;
    for (int i = 0; i < 300; i++) {
        const double m = random_ratio(-12, 30), j = random_ratio(-12, 30);
        double previous = 0;
        for (int k = 1; k <= MODES; k++) {
            const double b = clamped_mass_root(k, m, j), ulp = DBL_EPSILON * b;
            CHECK(b > previous);
            CHECK(b <= clamped_mass_root(k, 0, 0) + ulp);
            CHECK(k <= 2 || b >= clamped_clamped_root(k - 2) - ulp);
            previous = b;
        }
    }
}

/* As many roots as sign changes of F, seen by walking the axis; the walk is finer than any two roots are close. */
TEST(no_root_is_missed)
{
    enum { STEPS = 40000 };
    numbers.state = 3;
    for (int i = 0; i < 30; i++) {
        const double m = random_ratio(-6, 6), j = random_ratio(-8, 6), first = 1e-3, last = 100;
        int changes = 0, roots = 0;
        long double previous = clamped_mass_residual(first, m, j);
        for (int step = 1; step <= STEPS; step++) {
            const double b = first * pow(last / first, (double)step / STEPS);
            const long double F = clamped_mass_residual(b, m, j);
            if ((F < 0) != (previous < 0)) changes++;
            previous = F;
        }
        while (roots < MODES && clamped_mass_root(roots + 1, m, j) < last) roots++;
        CHECK(roots == changes);
        CHECK(roots >= 30);
    }
}

/* A load that dwarfs the beam: two masses on a massless beam, b^4 an eigenvalue of [12 -6; -6 4] against diag(m, j);
   the beam's own mass changes that by 1/m. */
TEST(huge_tip_load_is_a_massless_beam)
{
    for (double m = 1e12; m <= 1e20; m *= 10)
        for (double r = 0.01; r <= 100; r *= 10) {
            const double j = m * r, half = (12 / m + 4 / j) / 2, product = 12 / (m * j);
            const double high = half + sqrt(half * half - product), low = product / high;
            const double tolerance = 1e-15 + 10 * (1 / m + 1 / j);
            CHECK_NEAR(clamped_mass_root(1, m, j) / sqrt(sqrt(low)), 1, tolerance);
            CHECK_NEAR(clamped_mass_root(2, m, j) / sqrt(sqrt(high)), 1, tolerance);
        }
}

/* ---- eigenfunctions ---- */

/* The stable form has about ten roundings of numbers no larger than max |phi|: 16 eps. */
static const double form_roundings = 16 * DBL_EPSILON;

TEST(eigenfunctions_agree_with_more_digits)
{
    numbers.state = 4;
    for (int k = 1; k <= MODES; k++) {
        const struct shape_function free = bending(SHAPE_CLAMPED_FREE, k, 0.7371);
        const struct judge free_judge = judge_clamped_mass(k, 0, 0);
        CHECK(distance(&free, &free_judge) < form_roundings);
        if (k > MODES - 2) continue;
        const struct shape_function clamped = bending(SHAPE_CRAIG_BAMPTON, k + 2, 7.371);
        const struct judge clamped_judge = judge_clamped_clamped(k);
        CHECK(distance(&clamped, &clamped_judge) < form_roundings);
    }
}

/* A beam of length 1 and mass 1, so that the ratios reach shape_make unrounded: the tip value, sin b, is as sensitive to them as
   it is small. */
TEST(clamped_mass_shapes_agree_with_more_digits)
{
    numbers.state = 5;
    for (int i = 0; i < 300; i++) {
        const double m = random_ratio(-6, 3), j = random_ratio(-8, 3);
        const int k = 1 + (int)uniform(&numbers, 0, i % 2 == 0 ? 4 : MODES);
        struct beam beam = {.length = 1, .mass_per_length = {.factor = 1}};
        struct shape_function shape;
        beam.family[FAMILY_Z] = (struct mode_family){SHAPE_CLAMPED_MASS, k, m, j};
        shape_make(&beam, FAMILY_Z, k, &shape);
        const struct judge judge = judge_clamped_mass(k, m, j);
        const double node = (double)fabsl(sinl(judge.b)) / fmin(1, (double)judge.b);
        const double error = distance(&shape, &judge), tolerance = form_roundings * (1 + 0.1 / node);
        if (error < tolerance) continue;
        printf("k = %d, m = %.17g, j = %.17g: b = %.17g\n", k, m, j, shape.beta);
        CHECK_NEAR(error, 0, tolerance);
    }
}

/* Between neighbouring panels phi'(b) - phi'(a) = int phi'' and phi(b) - phi(a) = int phi': for every name in the table. */
TEST(derivatives_are_derivatives)
{
    const struct {
        enum shape shape;
        enum family family;
        int count;
    } table[] = {{SHAPE_CLAMPED_FREE, FAMILY_Y, MODES},
                 {SHAPE_CLAMPED_MASS, FAMILY_Z, MODES},
                 {SHAPE_PINNED_PINNED, FAMILY_Y, MODES},
                 {SHAPE_HERMITE, FAMILY_Z, 2},
                 {SHAPE_POLYNOMIAL, FAMILY_Y, MODES},
                 {SHAPE_CRAIG_BAMPTON, FAMILY_Z, MODES},
                 {SHAPE_CLAMPED_FREE, FAMILY_TWIST, MODES},
                 {SHAPE_CLAMPED_FREE, FAMILY_AXIAL, MODES},
                 {SHAPE_LINEAR, FAMILY_TWIST, 1},
                 {SHAPE_LINEAR, FAMILY_AXIAL, 1},
                 {SHAPE_CRAIG_BAMPTON, FAMILY_TWIST, MODES},
                 {SHAPE_CRAIG_BAMPTON, FAMILY_AXIAL, MODES}};
    enum { STEPS = 64 };
    const double L = 3.3;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (int k = 1; k <= table[i].count; k++) {
            const struct shape_function shape = make(table[i].shape, table[i].family, k, L, 0.7, 0.02);
            double size[3];
            largest(&shape, size);
            for (int step = 0; step < STEPS; step++) {
                const double a = L * step / STEPS, b = L * (step + 1) / STEPS;
                const double D = at(&shape, b, 0) - at(&shape, a, 0), D1 = at(&shape, b, 1) - at(&shape, a, 1);
                const double I = integral(1, &shape, NULL, a, b, 1);
                const double I1 = integral(2, &shape, NULL, a, b, 1);
                CHECK_NEAR(D, I, form_roundings * (size[0] + size[1] * (b - a)));
                CHECK_NEAR(D1, I1, form_roundings * (size[1] + size[2] * (b - a)));
            }
        }
}

/* One mode of the beam L = rhoA = EI = 1 and what its integrals are measured against. */
struct mode {
    struct shape_function shape;
    double size[3], tip[3];
    double norm, strain; /* roots of modal mass and stiffness */
};

enum { PANELS = 64 }; /* two waves of mode 50 in a panel, at most */

/* int phi_i phi_k + m phi_i phi_k + j phi_i' phi_k', the latter two at the tip */
static double modal_mass(const struct mode *i, const struct mode *k, double m, double j)
{
    return integral(0, &i->shape, &k->shape, 0, 1, PANELS) + m * i->tip[0] * k->tip[0] + j * i->tip[1] * k->tip[1];
}

static double modal_stiffness(const struct mode *i, const struct mode *k)
{
    return integral(2, &i->shape, &k->shape, 0, 1, PANELS);
}

/* What the roundings of phi(L) and phi'(L), small against the maxima under a large load, make of the tip's terms. */
static double tip_roundings(const struct mode *i, const struct mode *k, double m, double j)
{
    return form_roundings * (m * (fabs(i->tip[0]) * k->size[0] + fabs(k->tip[0]) * i->size[0]) +
                             j * (fabs(i->tip[1]) * k->size[1] + fabs(k->tip[1]) * i->size[1]));
}

static struct mode make_mode(int k, double m, double j)
{
    struct mode mode = {.shape = make(SHAPE_CLAMPED_MASS, FAMILY_Y, k, 1, m, j)};
    shape_value(&mode.shape, 1, mode.tip);
    largest(&mode.shape, mode.size);
    mode.norm = sqrt(modal_mass(&mode, &mode, m, j));
    mode.strain = sqrt(modal_stiffness(&mode, &mode));
    return mode;
}

/* Different modes are orthogonal in mass and stiffness; of one mode stiffness / mass = b^4. The first ten and the last ten.
   The sums hold a thousand terms: 32 eps is their random walk. */
TEST(eigenfunctions_are_orthogonal)
{
    enum { COUNT = 20 };
    const double load[][2] = {{0, 0}, {0.1, 0}, {12, 5.35}, {0.5, 0.001}}, sum_roundings = 32 * DBL_EPSILON;
    for (int l = 0; l < 4; l++) {
        const double m = load[l][0], j = load[l][1];
        struct mode mode[COUNT];
        for (int i = 0; i < COUNT; i++) mode[i] = make_mode(i < COUNT / 2 ? i + 1 : i + 1 + MODES - COUNT, m, j);
        for (int i = 0; i < COUNT; i++) {
            const struct mode *a = &mode[i];
            const double tolerance = sum_roundings + tip_roundings(a, a, m, j) / (a->norm * a->norm);
            CHECK_NEAR(pow(a->strain / a->norm, 2) / pow(a->shape.beta, 4), 1, tolerance);
            for (int k = 0; k < i; k++) {
                const struct mode *b = &mode[k];
                const double norms = a->norm * b->norm;
                CHECK_NEAR(modal_mass(a, b, m, j) / norms, 0, sum_roundings + tip_roundings(a, b, m, j) / norms);
                CHECK_NEAR(modal_stiffness(a, b) / (a->strain * b->strain), 0, sum_roundings);
            }
        }
    }
}

/* Under a huge tip mass the first mode is the static deflection (3 s^2 - s^3)/2, up to 1/m of it. */
TEST(first_mode_under_a_huge_mass_is_static)
{
    for (double m = 1e15; m <= 1e30; m *= 10) {
        const struct shape_function shape = make(SHAPE_CLAMPED_MASS, FAMILY_Y, 1, 1, m, 0);
        for (double s = 0; s <= 1; s += 0.0625) {
            CHECK_NEAR(at(&shape, s, 0), s * s * (3 - s) / 2, form_roundings);
            CHECK_NEAR(at(&shape, s, 1), s * (6 - 3 * s) / 2, 2 * form_roundings);
            CHECK_NEAR(at(&shape, s, 2), 3 - 3 * s, 3 * form_roundings);
        }
    }
}

/* j = coth(n pi) / (2 n pi)^3 makes the tip a node of the mode b = 2 n pi, for any mass: nothing to scale by but the slope. Next
   to it the tip moves a little and its value is 1. */
TEST(tip_that_is_a_node)
{
    struct beam beam = {.length = 2, .mass_per_length = {.factor = 0.5}}; /* mass 1, rhoA L^3 = 4: exact ratios */
    struct shape_function shape;
    const double b = 2 * pi, j = 1 / tanh(pi) / (b * b * b);
    for (int i = 0; i < 4; i++) {
        const double m = i, moved = i % 2 == 0 ? 1 : 1 + 1e-6;
        int k = 1;
        while (clamped_mass_root(k, m, j) < b - 0.1) k++;
        beam.family[FAMILY_Y] = (struct mode_family){SHAPE_CLAMPED_MASS, k, m, 4 * j * moved};
        shape_make(&beam, FAMILY_Y, k, &shape);
        CHECK_NEAR(shape.beta, b, 1e-5);
        if (moved > 1) CHECK_NEAR(at(&shape, 2, 0), 1, 1e-7); /* max |phi| is 1e6 or more: its eps is 1e-9 */
        else CHECK_NEAR(fabs(at(&shape, 2, 1)), 0.5, 1e-14);
        if (moved == 1) CHECK_NEAR(at(&shape, 2, 0), 0, 1e-13);
    }
}

/* ---- the plain formulas ---- */

TEST(plain_shapes_are_their_formulas)
{
    const double L = 2; /* so that x/L is s without a rounding */
    for (int i = 0; i <= 16; i++) {
        const double s = i / 16.0, x = s * L;
        struct shape_function shape = bending(SHAPE_HERMITE, 1, L);
        CHECK_NEAR(at(&shape, x, 0), 3 * s * s - 2 * s * s * s, form_roundings);
        shape = bending(SHAPE_CRAIG_BAMPTON, 2, L);
        CHECK_NEAR(at(&shape, x, 0), L * (s * s * s - s * s), form_roundings);
        shape = make(SHAPE_LINEAR, FAMILY_AXIAL, 1, L, 0, 0);
        CHECK_NEAR(at(&shape, x, 0), s, form_roundings);
        shape = make(SHAPE_CRAIG_BAMPTON, FAMILY_TWIST, 1, L, 0, 0);
        CHECK_NEAR(at(&shape, x, 0), s, form_roundings);
        for (int k = 1; k <= MODES; k++) {
            shape = bending(SHAPE_POLYNOMIAL, k, L);
            CHECK_NEAR(at(&shape, x, 0), pow(s, k + 1), form_roundings);
            shape = bending(SHAPE_PINNED_PINNED, k, L);
            CHECK_NEAR(at(&shape, x, 0), sin(pi * (k * i % 32) / 16), form_roundings);
            shape = make(SHAPE_CLAMPED_FREE, FAMILY_TWIST, k, L, 0, 0);
            CHECK_NEAR(at(&shape, x, 0), (k % 2 == 1 ? 1 : -1) * sin(pi * ((2 * k - 1) * i % 64) / 32), form_roundings);
            if (k == 1) continue;
            shape = make(SHAPE_CRAIG_BAMPTON, FAMILY_AXIAL, k, L, 0, 0);
            CHECK_NEAR(at(&shape, x, 0), sin(pi * ((k - 1) * i % 32) / 16), form_roundings);
        }
    }
}

SUITE(flex_shapes_test)
