/* limber zeros ROBOT: transmission zeros from one input to one output of the linearised robot, as JSON. */
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "invariant_zeros.h"
#include "json_out.h"
#include "linear.h"
#include "robot/nearest.h"

struct options {
    struct linear_options linear;
    const char *input, *output;
};

static int parse_options(int argc, char **argv, struct options *options)
{
    int code = EXIT_FINE;
    for (int i = 1; i < argc && code == EXIT_FINE; i++) {
        const char **name = strcmp(argv[i], "--input") == 0    ? &options->input
                            : strcmp(argv[i], "--output") == 0 ? &options->output
                                                               : NULL;
        if (name == NULL) code = linear_option("zeros", argc, argv, &i, &options->linear);
        else if (i + 1 >= argc) code = cli_usage("zeros", "%s takes the name of a variable", argv[i]);
        else *name = argv[++i];
    }
    if (code == EXIT_FINE && options->linear.robot == NULL) code = cli_usage("zeros", "expected ROBOT");
    if (code == EXIT_FINE && (options->input == NULL || options->output == NULL))
        code = cli_usage("zeros", "--input NAME and --output NAME are needed");
    return code;
}

/* Index of the variable of that name; -1, with a message, where there is none */
static int find(const char *role, const char *name, const struct variable *const *variable, int count,
                struct arena *arena)
{
    const char **names = arena_take(arena, (size_t)count, sizeof *names);
    for (int i = 0; i < count && names != NULL; i++) {
        names[i] = variable[i]->name;
        if (strcmp(name, names[i]) == 0) return i;
    }
    const char *meant = names != NULL ? nearest(name, count, names) : NULL;
    fprintf(stderr, "limber: zeros: --%s: this robot has no %s '%s'", role, role, name);
    if (meant != NULL) fprintf(stderr, ", did you mean '%s'?\n", meant);
    else fprintf(stderr, "; `limber linearize` lists them\n");
    return -1;
}

/* ---- the robot in coordinates of its kinetic energy ---------------------------------------------------------------------- */

/* z = L' q with M = L L':  z_ddot = A z + V z_dot + b u,  y = c z + e z_dot + d u. Every coordinate then counts by its kinetic
   energy, whatever its unit, and A is symmetric for a conservative robot at rest. */
struct second_order {
    int n;
    double *A, *V, *b, *c, *e, d;
    double fastest;        /* an upper bound of the frequencies [rad/s]                       */
    double size_b, size_c; /* of b and (fastest c, e) that belong to vectors such as a position */
    double size_d;
    double *L;
};

/* x <- x L'^-1 */
static void divide_row(int n, const double *L, double *x)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) x[i] -= L[n * i + j] * x[j];
        x[i] /= L[n * i + i];
    }
}

/* X <- L' X, `count` columns */
static void multiply(int n, const double *L, int count, double *X)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < count; j++) {
            double sum = 0;
            for (int k = i; k < n; k++) sum += L[n * k + i] * X[count * k + j];
            X[count * i + j] = sum;
        }
}

/* The coordinate in q of the i-th position among the states */
static int coordinate(const struct linear *linear, int i)
{
    const struct link_model *lm = &linear->model->link[linear->x[i]->owner];
    return linear->x[i]->kind == KIND_Q ? lm->q : lm->eta + linear->x[i]->k;
}

/* L of the mass matrix without prescribed joints */
static int factor(const struct linear *linear, struct second_order *s)
{
    const int n = s->n, N = linear->model->n;
    dyn_configuration(linear->model, linear->work, linear->at.q);
    dyn_mass_matrix(linear->model, linear->work);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s->L[n * i + j] = linear->work->M[N * coordinate(linear, i) + coordinate(linear, j)];
    return n > 0 ? LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, s->L, n) : 0;
}

/* Row of C in these coordinates, split into positions and rates */
static void take_output(const struct linear *linear, const struct second_order *s, int y, double *c, double *e)
{
    const double *row = linear->C + (size_t)linear->n_states * (size_t)y;
    memcpy(c, row, (size_t)s->n * sizeof *c);
    memcpy(e, row + s->n, (size_t)s->n * sizeof *e);
    divide_row(s->n, s->L, c);
    divide_row(s->n, s->L, e);
}

static void take_input(const struct linear *linear, const struct second_order *s, int u, double *b)
{
    for (int i = 0; i < s->n; i++) b[i] = linear->B[(size_t)linear->n_inputs * (size_t)(s->n + i) + (size_t)u];
    multiply(s->n, s->L, 1, b);
}

/* Components of one vector (tip.position[1..3]) share their rounding: which of two variables are such */
static bool alike(const struct variable *a, const struct variable *b)
{
    return a->kind == b->kind && a->owner == b->owner;
}

/* Sizes of b, c, d: the largest among the components of their vectors. What is small against them is rounding: zero. */
static void measure(const struct linear *linear, int u, int y, struct second_order *s)
{
    const int n = s->n;
    for (int j = 0; j < linear->n_inputs; j++) {
        if (!alike(linear->u[j], linear->u[u])) continue;
        take_input(linear, s, j, s->b);
        s->size_b = fmax(s->size_b, length(n, s->b));
    }
    for (int i = 0; i < linear->n_outputs; i++) {
        if (!alike(linear->y[i], linear->y[y])) continue;
        take_output(linear, s, i, s->c, s->e);
        s->size_c = fmax(s->size_c, length(n, s->c) + s->fastest * length(n, s->e));
        for (int j = 0; j < linear->n_inputs; j++)
            if (alike(linear->u[j], linear->u[u]))
                s->size_d = fmax(s->size_d, fabs(linear->D[linear->n_inputs * i + j]));
    }
    s->size_d = fmax(s->size_d, s->size_c * s->size_b / (s->fastest * s->fastest));
}

static void clear_small(int n, double *x, double size)
{
    if (length(n, x) <= COEFFICIENT_SHARE * size) memset(x, 0, (size_t)n * sizeof *x);
}

static int take_second_order(const struct linear *linear, int u, int y, struct arena *arena, struct second_order *s)
{
    const int n = s->n = linear->n_states / 2;
    const size_t square = (size_t)n * (size_t)n;
    double **const matrices[] = {&s->A, &s->V, &s->L}, **const vectors[] = {&s->b, &s->c, &s->e};
    for (int i = 0; i < 3; i++) {
        *matrices[i] = arena_take(arena, square, sizeof(double));
        *vectors[i] = arena_take(arena, (size_t)n, sizeof(double));
    }
    if (arena->failed || factor(linear, s) != 0) return EXIT_COMPUTATION;
    for (int i = 0; i < n; i++) {
        const double *row = linear->A + 2 * (size_t)n * (size_t)(n + i);
        memcpy(s->A + n * i, row, (size_t)n * sizeof(double));
        memcpy(s->V + n * i, row + n, (size_t)n * sizeof(double));
        divide_row(n, s->L, s->A + n * i);
        divide_row(n, s->L, s->V + n * i);
    }
    multiply(n, s->L, n, s->A);
    multiply(n, s->L, n, s->V);
    s->fastest = fmax(sqrt(length(n * n, s->A)), length(n * n, s->V));
    if (s->fastest == 0) s->fastest = 1; /* nothing but integrators: any unit of time does */
    measure(linear, u, y, s);
    take_input(linear, s, u, s->b);
    take_output(linear, s, y, s->c, s->e);
    s->d = linear->D[(size_t)linear->n_inputs * (size_t)y + (size_t)u];
    clear_small(n, s->b, s->size_b);
    clear_small(n, s->c, s->size_c);
    clear_small(n, s->e, s->size_c / s->fastest);
    clear_small(1, &s->d, s->size_d);
    return EXIT_FINE;
}

/* ---- zeros --------------------------------------------------------------------------------------------------------------- */

struct answer {
    int count, relative_degree;
    struct complex_number *zero; /* 2 n */
    double gain;
    bool minimum_phase;
};

/* +-sqrt(z), as exactly as z is known: a negative number gives a pair on the imaginary axis */
static struct complex_number root(struct complex_number z)
{
    const double modulus = hypot(z.re, z.im), larger = sqrt(0.5 * (modulus + fabs(z.re)));
    const double smaller = larger > 0 ? 0.5 * fabs(z.im) / larger : 0;
    const double sign = z.im < 0 ? -1 : 1;
    return z.re >= 0 ? (struct complex_number){larger, sign * smaller}
                     : (struct complex_number){smaller, sign * larger};
}

/* Without rates in the equations (V = 0) everything is a function of s^2, but for a factor s where the output is a rate:
   c (s^2 - A)^-1 b + d,  or  s e (s^2 - A)^-1 b. Half the order, and zeros come as exact pairs. */
static enum zeros_result zeros_of_square(struct second_order *s, bool rate, double *work, struct answer *answer)
{
    struct siso system = {.n = s->n, .A = s->A, .b = s->b, .c = rate ? s->e : s->c, .d = rate ? 0 : s->d};
    system.size_A = s->fastest * s->fastest;
    system.size_b = s->size_b;
    system.size_c = rate ? s->size_c / s->fastest : s->size_c;
    int count;
    const enum zeros_result result =
        invariant_zeros(&system, work, answer->zero, &count, &answer->relative_degree, &answer->gain);
    if (result != ZEROS_FOUND) return result;
    for (int i = 0; i < count; i++) {
        const struct complex_number z = root(answer->zero[i]);
        answer->zero[i] = z;
        answer->zero[count + i] = (struct complex_number){-z.re, -z.im};
    }
    answer->count = 2 * count + rate;
    if (rate) answer->zero[2 * count] = (struct complex_number){0, 0};
    answer->relative_degree = 2 * answer->relative_degree - rate;
    return ZEROS_FOUND;
}

/* The first-order system of (W z, z_dot), W the fastest frequency:  [0 W; A/W V],  (0; b),  (c/W, e),  d */
static enum zeros_result zeros_of_first_order(const struct second_order *s, struct arena *arena, double *work,
                                              struct answer *answer)
{
    const int n = s->n, N = 2 * n;
    const double W = s->fastest;
    struct siso system = {.n = N,
                          .A = arena_take(arena, (size_t)N * (size_t)N, sizeof(double)),
                          .b = arena_take(arena, (size_t)N, sizeof(double)),
                          .c = arena_take(arena, (size_t)N, sizeof(double)),
                          .d = s->d,
                          .size_A = W,
                          .size_b = s->size_b,
                          .size_c = s->size_c / W};
    if (arena->failed) return ZEROS_FAILED;
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
    return invariant_zeros(&system, work, answer->zero, &answer->count, &answer->relative_degree, &answer->gain);
}

static int by_modulus(const void *a, const void *b)
{
    const struct complex_number *x = a, *y = b;
    const double key[2][3] = {{hypot(x->re, x->im), x->re, x->im}, {hypot(y->re, y->im), y->re, y->im}};
    for (int i = 0; i < 3; i++)
        if (key[0][i] != key[1][i]) return key[0][i] < key[1][i] ? -1 : 1;
    return 0;
}

/* What rounding leaves of a zero at the origin becomes 0; minimum phase: no zero with re > 1e-6 |z| */
static void judge(const struct second_order *s, struct answer *answer)
{
    const double origin = sqrt(10 * 2 * s->n * DBL_EPSILON) * s->fastest;
    answer->minimum_phase = true;
    for (int i = 0; i < answer->count; i++) {
        struct complex_number *z = &answer->zero[i];
        if (hypot(z->re, z->im) <= origin) *z = (struct complex_number){0, 0};
        z->re += 0; /* -0 to 0 */
        z->im += 0;
        if (z->re > 1e-6 * hypot(z->re, z->im)) answer->minimum_phase = false;
    }
    qsort(answer->zero, (size_t)answer->count, sizeof *answer->zero, by_modulus);
}

static enum zeros_result find_zeros(struct second_order *s, struct arena *arena, struct answer *answer)
{
    const int n = s->n;
    const size_t N = 2 * (size_t)n;
    double *work = arena_take(arena, 2 * N * N + 5 * N + 5, sizeof *work);
    answer->zero = arena_take(arena, N + 1, sizeof *answer->zero);
    if (arena->failed) return ZEROS_FAILED;
    const bool rate = length(n, s->e) > 0, position = length(n, s->c) > 0 || s->d != 0;
    const enum zeros_result result = length(n * n, s->V) == 0 && !(rate && position)
                                         ? zeros_of_square(s, rate, work, answer)
                                         : zeros_of_first_order(s, arena, work, answer);
    if (result == ZEROS_FOUND) judge(s, answer);
    return result;
}

/* ---- the command ------------------------------------------------------------------------------------------------------------ */

static int print_answer(const struct options *options, const struct linear *linear, const struct answer *answer)
{
    struct json_object *out = json_object_new_object(), *zeros = json_object_new_array_ext(answer->count);
    for (int i = 0; i < answer->count; i++)
        json_object_array_add(zeros, json_numbers((const double[2]){answer->zero[i].re, answer->zero[i].im}, 2));
    json_object_object_add(out, "input", json_object_new_string(options->input));
    json_object_object_add(out, "output", json_object_new_string(options->output));
    json_object_object_add(out, "zeros", zeros);
    json_object_object_add(out, "minimum_phase", json_object_new_boolean(answer->minimum_phase));
    json_object_object_add(out, "relative_degree", json_object_new_int(answer->relative_degree));
    json_object_object_add(out, "gain", json_object_new_double(answer->gain));
    json_object_object_add(out, "operating_point", linear_operating_point(linear));
    const int code = json_print_finite("zeros", out);
    json_object_put(out);
    return code;
}

static int analyse(const struct options *options, struct linear *linear)
{
    const int u = find("input", options->input, linear->u, linear->n_inputs, &linear->arena),
              y = find("output", options->output, linear->y, linear->n_outputs, &linear->arena);
    if (u < 0 || y < 0) return EXIT_INPUT;
    struct second_order s = {0};
    struct answer answer = {0};
    int code = take_second_order(linear, u, y, &linear->arena, &s);
    const enum zeros_result result = code == EXIT_FINE ? find_zeros(&s, &linear->arena, &answer) : ZEROS_FAILED;
    if (result == ZEROS_FOUND) return print_answer(options, linear, &answer);
    if (result == ZEROS_EVERYWHERE)
        fprintf(stderr,
                "limber: zeros: '%s' does not act on '%s' at this operating point: the transfer function is "
                "identically zero\n",
                options->input, options->output);
    else fprintf(stderr, "limber: zeros: the eigenvalues could not be computed\n");
    return EXIT_COMPUTATION;
}

int command_zeros(int argc, char **argv)
{
    struct options options = {0};
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_FINE) return code;
    struct linear linear;
    code = linear_make("zeros", &options.linear, &linear);
    if (code == EXIT_FINE) code = analyse(&options, &linear);
    linear_free(&linear);
    return code;
}
