#include "analysis/zeros.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/failure.h"
#include "analysis/norm.h"
#include "analysis/second_order.h"

/* `count` numbers become the 2 count numbers +-sqrt(z): a negative number gives a pair on the imaginary axis */
static int take_roots(struct complex_number *z, int count)
{
    for (int i = 0; i < count; i++) {
        const double modulus = hypot(z[i].re, z[i].im), larger = sqrt(0.5 * (modulus + fabs(z[i].re)));
        const double smaller = larger > 0 ? 0.5 * fabs(z[i].im) / larger : 0, sign = z[i].im < 0 ? -1 : 1;
        z[i] = z[i].re >= 0 ? (struct complex_number){larger, sign * smaller}
                            : (struct complex_number){smaller, sign * larger};
        z[count + i] = (struct complex_number){-z[i].re, -z[i].im};
    }
    return 2 * count;
}

/* Zeros and poles of a system, in arrays for `most` of each */
static enum status solve(struct siso *system, int most, struct arena *arena, struct zeros *zeros)
{
    zeros->n_poles = system->n;
    zeros->zero = arena_allocate(arena, (size_t)most + 1, sizeof *zeros->zero);
    zeros->pole = arena_allocate(arena, (size_t)most + 1, sizeof *zeros->pole);
    if (arena->failed) return STATUS_NO_MEMORY;
    const enum status status = zeros_eigenvalues(system->n, system->A, arena, zeros->pole);
    if (status != STATUS_OK) return status;
    return invariant_zeros(system, arena, zeros->zero, &zeros->n_zeros, &zeros->gain);
}

/* Without rates in the equations (V = 0) the transfer function depends on s^2 only, but for a factor s if the output is a rate:
   c (s^2 - A)^-1 b + d,  or  s e (s^2 - A)^-1 b. Half the order, and zeros come as exact pairs. */
static enum status zeros_of_square(struct second_order *s, bool rate, struct arena *arena, struct zeros *zeros)
{
    struct siso system = {.n = s->n, .A = s->A, .b = s->b, .c = rate ? s->e : s->c, .d = rate ? 0 : s->d};
    system.size_A = s->fastest * s->fastest;
    system.size_b = s->size_b;
    system.size_c = rate ? s->size_c / s->fastest : s->size_c;
    const enum status status = solve(&system, 2 * s->n, arena, zeros);
    if (status != STATUS_OK) return status;
    zeros->n_poles = take_roots(zeros->pole, zeros->n_poles);
    zeros->n_zeros = take_roots(zeros->zero, zeros->n_zeros);
    if (rate) zeros->zero[zeros->n_zeros++] = (struct complex_number){0, 0};
    return STATUS_OK;
}

/* The first-order system of (W z, z_dot), W the fastest frequency:  [0 W; A/W V],  (0; b),  (c/W, e),  d */
static enum status zeros_of_first_order(const struct second_order *s, struct arena *arena, struct zeros *zeros)
{
    const int n = s->n, N = 2 * n;
    const double W = s->fastest;
    struct siso system = {.n = N, .d = s->d, .size_A = W, .size_b = s->size_b, .size_c = s->size_c / W};
    arena_arrays(arena, (size_t)N * (size_t)N, ARRAYS(&system.A));
    arena_arrays(arena, (size_t)N, ARRAYS(&system.b, &system.c));
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < n; i++) {
        system.A[N * i + n + i] = W;
        for (int j = 0; j < n; j++) {
            system.A[N * (n + i) + j] = s->A[n * i + j] / W;
            system.A[N * (n + i) + n + j] = s->V[n * i + j];
        }
        system.b[n + i] = s->b[i];
        system.c[i] = s->c[i] / W;
        system.c[n + i] = s->e[i];
    }
    return solve(&system, system.n, arena, zeros);
}

static int by_modulus(const void *a, const void *b)
{
    const struct complex_number *x = a, *y = b;
    const double key[2][3] = {{hypot(x->re, x->im), x->re, x->im}, {hypot(y->re, y->im), y->re, y->im}};
    for (int i = 0; i < 3; i++)
        if (key[0][i] != key[1][i]) return key[0][i] < key[1][i] ? -1 : 1;
    return 0;
}

void zeros_sort(struct complex_number *z, int count)
{
    qsort(z, (size_t)count, sizeof *z, by_modulus);
}

/* Numbers below `origin` become 0 */
static void clear_small(double origin, struct complex_number *z, int count)
{
    for (int i = 0; i < count; i++) {
        if (hypot(z[i].re, z[i].im) <= origin) z[i] = (struct complex_number){0, 0};
        z[i].re += 0; /* -0 to 0 */
        z[i].im += 0;
    }
    zeros_sort(z, count);
}

/* Numbers at rounding level become zero. Zeros and poles at the origin cancel: those of velocity and acceleration of an arm that rotates
   freely. Then the relative degree and the phase. */
static void conclude(int n, double fastest, struct zeros *zeros)
{
    const double origin = sqrt(10 * 2 * n * DBL_EPSILON) * fastest;
    int count = 0; /* numbers at the origin come first */
    clear_small(origin, zeros->zero, zeros->n_zeros);
    clear_small(origin, zeros->pole, zeros->n_poles);
    while (count < zeros->n_zeros && count < zeros->n_poles && zeros->zero[count].re == 0 &&
           zeros->zero[count].im == 0 && zeros->pole[count].re == 0 && zeros->pole[count].im == 0)
        count++;
    zeros->zero += count;
    zeros->pole += count;
    zeros->n_zeros -= count;
    zeros->n_poles -= count;
    zeros->relative_degree = zeros->n_poles - zeros->n_zeros;
    zeros->minimum_phase = true;
    for (int i = 0; i < zeros->n_zeros; i++) {
        const struct complex_number z = zeros->zero[i];
        if (z.re > 1e-6 * hypot(z.re, z.im)) zeros->minimum_phase = false;
    }
}

static enum status find_zeros(const struct linear *linear, int u, int y, struct arena *arena, struct zeros *zeros)
{
    struct second_order s;
    enum status status = second_order_make(linear, u, y, arena, &s);
    if (status != STATUS_OK) return status;
    const int n = s.n;
    const bool rate = euclidean_norm(n, s.e) > 0, position = euclidean_norm(n, s.c) > 0 || s.d != 0;
    status = euclidean_norm(n * n, s.V) == 0 && !(rate && position) ? zeros_of_square(&s, rate, arena, zeros)
                                                                    : zeros_of_first_order(&s, arena, zeros);
    if (status == STATUS_OK) conclude(n, s.fastest, zeros);
    return status;
}

/* With drives: the first-order system with states in units of their nominal values */
static enum status find_zeros_with_drives(const struct linear *linear, int u, int y, struct arena *arena,
                                          struct zeros *zeros)
{
    const int n = linear->n_states, m = linear->n_inputs;
    struct siso system = {.n = n, .d = linear->D[m * y + u]};
    arena_arrays(arena, (size_t)n * (size_t)n, ARRAYS(&system.A));
    arena_arrays(arena, (size_t)n, ARRAYS(&system.b, &system.c));
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < n; i++) {
        const double unit = linear->x[i].nominal;
        for (int j = 0; j < n; j++) system.A[n * i + j] = linear->A[n * i + j] * linear->x[j].nominal / unit;
        system.b[i] = linear->B[m * i + u] / unit;
        system.c[i] = linear->C[n * y + i] * unit;
    }
    system.size_A = euclidean_norm(n * n, system.A);
    system.size_b = euclidean_norm(n, system.b);
    system.size_c = euclidean_norm(n, system.c);
    const double fastest = system.size_A;
    const enum status status = solve(&system, system.n, arena, zeros);
    if (status == STATUS_OK) conclude(n, fastest, zeros);
    return status;
}

enum status zeros_make(const struct linear *linear, int u, int y, struct report *report, struct zeros *zeros)
{
    memset(zeros, 0, sizeof *zeros);
    const enum status status = linear->n_states > 2 * linear->n_positions
                                   ? find_zeros_with_drives(linear, u, y, &linear->point->arena, zeros)
                                   : find_zeros(linear, u, y, &linear->point->arena, zeros);
    if (status != STATUS_ZERO_TRANSFER) return failure_status(report, status);
    report_add(report, REPORT_ERROR, "'%s' does not act on '%s' at this operating point: %s", linear->u[u].name,
               linear->y[y].name, status_text(status));
    return status;
}

/* ---- frequency response -------------------------------------------------------------------------------------------------------------- */

/* The argument of i w - z, continuous in w */
static double argument(const struct complex_number *z, double omega)
{
    const double y = omega - z->im;
    return z->re <= 0 ? atan2(y, -z->re) : 2 * acos(0) - atan(y / z->re);
}

/* Logarithms: the products of many numbers would overflow */
void zeros_bode(const struct zeros *zeros, double omega, double *magnitude, double *phase)
{
    double sum = log(fabs(zeros->gain)), turn = zeros->gain < 0 ? 2 * acos(0) : 0;
    for (int i = 0; i < zeros->n_zeros; i++) {
        sum += log(hypot(zeros->zero[i].re, omega - zeros->zero[i].im));
        turn += argument(&zeros->zero[i], omega);
    }
    for (int i = 0; i < zeros->n_poles; i++) {
        sum -= log(hypot(zeros->pole[i].re, omega - zeros->pole[i].im));
        turn -= argument(&zeros->pole[i], omega);
    }
    *magnitude = exp(sum);
    *phase = turn;
}
