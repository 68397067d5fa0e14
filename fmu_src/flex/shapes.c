#include "flex/shapes.h"

#include <math.h>

#include "flex/beam_mass.h"

static const double pi = 3.14159265358979323846;

/* ---- double-double numbers: high + low with |low| far below |high| ---- */

struct pair {
    double high, low;
};

/* x / L */
static struct pair quotient(double x, double L)
{
    const double s = x / L;
    return (struct pair){s, fma(-s, L, x) / L};
}

static struct pair product(struct pair a, struct pair b)
{
    const double high = a.high * b.high;
    return (struct pair){high, fma(a.high, b.high, -high) + (a.high * b.low + a.low * b.high)};
}

static void sin_cos(struct pair angle, double *sine, double *cosine)
{
    const double s = sin(angle.high), c = cos(angle.high);
    *sine = s + angle.low * c;
    *cosine = c - angle.low * s;
}

/* sin and cos of pi t, reduced to |t| <= 1/4, so that zeros are exact */
static void sin_cos_pi(struct pair t, double *sine, double *cosine)
{
    const double quarter_turns = nearbyint(2 * t.high);
    const double angle = pi * ((t.high - quarter_turns / 2) + t.low);
    const double s = sin(angle), c = cos(angle);
    const int quadrant = (int)fmod(quarter_turns, 4);
    *sine = quadrant == 0 ? s : quadrant == 1 ? c : quadrant == 2 ? -s : -c;
    *cosine = quadrant == 0 ? c : quadrant == 1 ? -s : quadrant == 2 ? -c : s;
}

/* ---- roots of the characteristic equations ---- */

/* x^m/m! + q x^(m+4)/(m+4)! + q^2 x^(m+8)/(m+8)! + ... for x up to 2, to rounding */
static double every_fourth_term(double x, int m, double q)
{
    double term = 1, sum = 0;
    for (int i = 1; i <= m; i++) term *= x / i;
    for (int i = m; term != 0 && sum + term != sum; i += 4) {
        sum += term;
        term *= q * x * x * x * x / ((i + 1.0) * (i + 2.0) * (i + 3.0) * (i + 4.0));
    }
    return sum;
}

/* The four functions of b in the characteristic equations, all multiplied by the same positive factor (1 or 2 e^-b). */
struct characteristic {
    double free;    /* 1 + cosh cos              : clamped-free    */
    double clamped; /* 1 - cosh cos              : clamped-clamped */
    double pinned;  /* cosh sin - sinh cos       : clamped-pinned  */
    double sliding; /* cosh sin + sinh cos       : clamped-sliding */
};

static struct characteristic characteristic(double b)
{
    if (b < 2) /* (1 + i)^4 = -4:  the leading terms are b^4/6, 2 b^3/3, 2 b */
        return (struct characteristic){
            .free = 1 + cosh(b) * cos(b),
            .clamped = 4 * every_fourth_term(b, 4, -4),
            .pinned = 4 * every_fourth_term(b, 3, -4),
            .sliding = 2 * every_fourth_term(b, 1, -4),
        };
    const double e = exp(-b), c = cos(b), s = sin(b);
    return (struct characteristic){
        .free = 2 * e + (1 + e * e) * c,
        .clamped = 2 * e - (1 + e * e) * c,
        .pinned = (1 + e * e) * s - (1 - e * e) * c,
        .sliding = (1 + e * e) * s + (1 - e * e) * c,
    };
}

/* Number of clamped-clamped roots below b; the k-th is the only one in (k pi, (k+1) pi). */
static int count_clamped(double b, double clamped)
{
    const int n = (int)(b / pi);
    if (n == 0) return 0;
    const int passed = n % 2 == 1 ? clamped < 0 : clamped > 0;
    return n - 1 + passed;
}

/* Mass and inertia at the tip of the clamped beam: m/(rhoA L), j/(rhoA L^3). */
struct tip_load {
    double mass_ratio, inertia_ratio;
};

/* F(b) = (1 + cosh cos) - M (cosh sin - sinh cos) - J (cosh sin + sinh cos) + J M (1 - cosh cos), divided by (1 + M)(1 + J);
   M = b m/(rhoA L), J = b^3 j/(rhoA L^3) */
static double clamped_mass_equation(struct tip_load tip, double b, const struct characteristic *f)
{
    const double M = b * tip.mass_ratio, J = b * b * b * tip.inertia_ratio;
    const double m0 = 1 / (1 + M), m1 = M * m0, j0 = 1 / (1 + J), j1 = J * j0;
    return m0 * j0 * f->free - m1 * j0 * f->pinned - m0 * j1 * f->sliding + m1 * j1 * f->clamped;
}

/* Number of natural frequencies below b (Wittrick and Williams): those of the beam with its tip fixed, plus the negative
   eigenvalues of its dynamic stiffness D at the tip (deflection, slope), det D = F / (1 - cosh cos),
   D11 = (cosh sin + sinh cos) / (1 - cosh cos) - M. */
static int count_clamped_mass(struct tip_load tip, double b)
{
    const struct characteristic f = characteristic(b);
    const double F = clamped_mass_equation(tip, b, &f);
    const int det_negative = (F < 0) != (f.clamped < 0);
    const int D11_negative = f.sliding / f.clamped < b * tip.mass_ratio;
    return count_clamped(b, f.clamped) + (det_negative ? 1 : D11_negative ? 2 : 0);
}

/* The zero of the straight line through (a, Fa) and (b, Fb), where a and b are adjacent doubles, as a pair. */
static struct pair zero_between(double a, double Fa, double b, double Fb)
{
    double t = Fa / (Fa - Fb);
    if (!(t >= 0 && t <= 1)) t = 0.5; /* F is rounding error here */
    return t < 0.5 ? (struct pair){a, t * (b - a)} : (struct pair){b, (t - 1) * (b - a)};
}

/* A tip load only lowers the clamped-free root, which lies below k pi. */
static struct pair clamped_mass_pair(int k, struct tip_load tip)
{
    double a = 0, b = k * pi;
    for (double middle = b / 2; a < middle && middle < b; middle = a + (b - a) / 2) {
        if (count_clamped_mass(tip, middle) < k) a = middle;
        else b = middle;
    }
    const struct characteristic fa = characteristic(a), fb = characteristic(b);
    return zero_between(a, clamped_mass_equation(tip, a, &fa), b, clamped_mass_equation(tip, b, &fb));
}

static struct pair clamped_clamped_pair(int k)
{
    double a = k * pi, b = (k + 1) * pi;
    for (double middle = a + (b - a) / 2; a < middle && middle < b; middle = a + (b - a) / 2) {
        if (count_clamped(middle, characteristic(middle).clamped) < k) a = middle;
        else b = middle;
    }
    return zero_between(a, characteristic(a).clamped, b, characteristic(b).clamped);
}

/* ---- eigenfunctions: phi = P e^(-bs) + Q e^(-b(1-s)) - A cos bs - B sin bs ---- */

/* cosh x - cos x and sinh x - sin x for small x, where the leading terms are x^2 and x^3/3 */
static double cosh_minus_cos(double x)
{
    return 2 * every_fourth_term(x, 2, 1);
}

static double sinh_minus_sin(double x)
{
    return 2 * every_fourth_term(x, 3, 1);
}

/* phi(0) = phi'(0) = 0:  A = P + Q e^-b,  B = -P + Q e^-b;  here A = 1, from B for b < 2 and otherwise from Q/P. */
static void set_coefficients(struct shape_function *shape, struct pair b, double B, double Q_over_P)
{
    const double e = exp(-b.high);
    shape->formula = FORMULA_EIGENFUNCTION;
    shape->beta = b.high;
    shape->beta_low = b.low;
    shape->A = 1;
    if (b.high < 2) {
        shape->B = B;
        shape->P = (1 - B) / 2;
        shape->Q = (1 + B) / 2 / e;
    } else {
        shape->P = 1 / (1 + Q_over_P * e);
        shape->Q = Q_over_P * shape->P;
        shape->B = -shape->P + shape->Q * e;
    }
}

static void scale_shape(struct shape_function *shape, double factor)
{
    shape->A *= factor;
    shape->B *= factor;
    shape->P *= factor;
    shape->Q *= factor;
}

/* The tip is a node where sin b = 0; below this value sin b is dominated by the rounding of the numbers in the file. */
static const double tip_is_node = 1e-13;

/* The condition phi''' = -M phi at the tip (derivatives with respect to bs) gives the ratio of the coefficients, and with it
   phi(L) = 2 A sinh b sin b / ((cosh + cos) + M (sinh - sin)). */
static void make_clamped_mass(struct shape_function *shape, int k, struct tip_load tip)
{
    const struct pair b = clamped_mass_pair(k, tip);
    const double M = b.high * tip.mass_ratio;
    double s, c;
    sin_cos(b, &s, &c);
    if (b.high < 2) {
        const double even = cosh_minus_cos(b.high), odd = sinh_minus_sin(b.high);
        const double denominator = cosh(b.high) + c + M * odd;
        set_coefficients(shape, b, -(odd + M * even) / denominator, 0);
        scale_shape(shape, denominator / (2 * sinh(b.high) * s));
        return;
    }
    const double e = exp(-b.high);
    const double denominator = (1 - e * s + e * c) + M * (1 - e * c - e * s);
    set_coefficients(shape, b, 0, ((e + s + c) - M * (e - c + s)) / denominator);
    if (fabs(s) > tip_is_node) {
        scale_shape(shape, denominator / (2 * shape->P * s * (1 - e * e)));
    } else {
        const double slope = -shape->P * e + shape->Q + shape->A * s - shape->B * c;
        scale_shape(shape, 1 / (b.high * slope));
    }
}

/* phi(L) = 0:  Q/P = -(e - cos + sin) / (1 - e cos - e sin), e = e^-b */
static void make_clamped_clamped(struct shape_function *shape, int k)
{
    const struct pair b = clamped_clamped_pair(k);
    const double e = exp(-b.high);
    double s, c;
    sin_cos(b, &s, &c);
    set_coefficients(shape, b, 0, -(e - c + s) / (1 - e * c - e * s));
}

static void eigenfunction(const struct shape_function *shape, double x, double value[3])
{
    const struct pair s = quotient(x, shape->length);
    const struct pair angle = product((struct pair){shape->beta, shape->beta_low}, s);
    const double theta = angle.high, A = shape->A, B = shape->B;
    if (theta < 2) {
        const double even = cosh_minus_cos(theta), sum = sinh(theta) + sin(theta);
        value[0] = A * even + B * sinh_minus_sin(theta);
        value[1] = A * sum + B * even;
        value[2] = A * (cosh(theta) + cos(theta)) + B * sum;
    } else {
        const double root = shape->P * exp(-theta);
        const double tip = shape->Q * exp(-shape->beta * ((shape->length - x) / shape->length));
        double sine, cosine;
        sin_cos(angle, &sine, &cosine);
        value[0] = root + tip - A * cosine - B * sine;
        value[1] = -root + tip + A * sine - B * cosine;
        value[2] = root + tip + A * cosine + B * sine;
    }
    const double beta = shape->beta / shape->length;
    value[1] *= beta;
    value[2] *= beta * beta;
}

/* ---- the table ---- */

static void make_power(struct shape_function *shape, int power)
{
    shape->formula = FORMULA_POWER;
    shape->power = power;
}

static void make_hermite(struct shape_function *shape, int k)
{
    shape->formula = k == 1 ? FORMULA_HERMITE_DEFLECTION : FORMULA_HERMITE_SLOPE;
}

static void make_sine(struct shape_function *shape, double half_turns, double amplitude)
{
    shape->formula = FORMULA_SINE;
    shape->half_turns = half_turns;
    shape->A = amplitude;
}

void shape_make(const struct beam *beam, enum family family, int k, struct shape_function *shape)
{
    const struct mode_family *modes = &beam->family[family];
    const bool bending = family == FAMILY_Y || family == FAMILY_Z;
    const double L = beam->length, rhoA = beam_mean_mass_per_length(beam);
    const struct tip_load tip = {modes->tip_mass / (rhoA * L), modes->tip_inertia / (rhoA * L * L * L)};

    *shape = (struct shape_function){.length = L};
    switch (modes->shape) {
    case SHAPE_CLAMPED_FREE:
        if (bending) make_clamped_mass(shape, k, (struct tip_load){0});
        else make_sine(shape, k - 0.5, k % 2 == 1 ? 1 : -1);
        break;
    case SHAPE_CLAMPED_MASS: make_clamped_mass(shape, k, tip); break;
    case SHAPE_PINNED_PINNED: make_sine(shape, k, 1); break;
    case SHAPE_HERMITE: make_hermite(shape, k); break;
    case SHAPE_POLYNOMIAL: make_power(shape, k + 1); break;
    case SHAPE_CRAIG_BAMPTON: /* the static shapes of loads at the tip, then the modes of the beam with its tip fixed */
        if (bending && k <= 2) make_hermite(shape, k);
        else if (bending) make_clamped_clamped(shape, k - 2);
        else if (k == 1) make_power(shape, 1);
        else make_sine(shape, k - 1, 1);
        break;
    case SHAPE_LINEAR: make_power(shape, 1); break;
    }
}

void shape_value(const struct shape_function *shape, double x, double value[3])
{
    const double L = shape->length;
    const struct pair s = quotient(x, L);
    const double t = s.high, t_minus_1 = (x - L) / L;
    const int n = shape->power;
    double sine, cosine;

    switch (shape->formula) {
    case FORMULA_POWER:
        value[0] = pow(t, n);
        value[1] = n * pow(t, n - 1);
        value[2] = n > 1 ? n * (n - 1) * pow(t, n - 2) : 0;
        break;
    case FORMULA_HERMITE_DEFLECTION:
        value[0] = t * t * (3 - 2 * t);
        value[1] = -6 * t * t_minus_1;
        value[2] = 6 - 12 * t;
        break;
    case FORMULA_HERMITE_SLOPE:
        value[0] = L * t * t * t_minus_1;
        value[1] = L * t * (3 * t - 2);
        value[2] = L * (6 * t - 2);
        break;
    case FORMULA_SINE: {
        const double w = shape->half_turns * pi;
        sin_cos_pi(product((struct pair){shape->half_turns, 0}, s), &sine, &cosine);
        value[0] = shape->A * sine;
        value[1] = shape->A * w * cosine;
        value[2] = -shape->A * w * w * sine;
        break;
    }
    case FORMULA_EIGENFUNCTION: eigenfunction(shape, x, value); return;
    }
    value[1] /= L;
    value[2] /= L * L;
}
