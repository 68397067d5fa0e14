/* limber zeros ROBOT: transmission zeros from one input to one output of the linearised robot, as JSON. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "invariant_zeros.h"
#include "json_out.h"
#include "linear.h"
#include "robot/nearest.h"
#include "second_order.h"

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

/* ---- zeros --------------------------------------------------------------------------------------------------------------- */

struct answer {
    int n_zeros, n_poles, relative_degree;
    struct complex_number *zero, *pole; /* 2 n + 1 */
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

/* `count` numbers become the 2 count roots of them */
static int take_roots(struct complex_number *z, int count)
{
    for (int i = 0; i < count; i++) {
        z[i] = root(z[i]);
        z[count + i] = (struct complex_number){-z[i].re, -z[i].im};
    }
    return 2 * count;
}

static enum zeros_result solve(struct siso *system, double *work, struct answer *answer)
{
    answer->n_poles = system->n;
    if (eigenvalues(system, work, answer->pole) != 0) return ZEROS_FAILED;
    return invariant_zeros(system, work, answer->zero, &answer->n_zeros, &answer->gain);
}

/* Without rates in the equations (V = 0) everything is a function of s^2, but for a factor s where the output is a rate:
   c (s^2 - A)^-1 b + d,  or  s e (s^2 - A)^-1 b. Half the order, and zeros come as exact pairs. */
static enum zeros_result zeros_of_square(struct second_order *s, bool rate, double *work, struct answer *answer)
{
    struct siso system = {.n = s->n, .A = s->A, .b = s->b, .c = rate ? s->e : s->c, .d = rate ? 0 : s->d};
    system.size_A = s->fastest * s->fastest;
    system.size_b = s->size_b;
    system.size_c = rate ? s->size_c / s->fastest : s->size_c;
    const enum zeros_result result = solve(&system, work, answer);
    if (result != ZEROS_FOUND) return result;
    answer->n_poles = take_roots(answer->pole, answer->n_poles);
    answer->n_zeros = take_roots(answer->zero, answer->n_zeros);
    if (rate) answer->zero[answer->n_zeros++] = (struct complex_number){0, 0};
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
    return solve(&system, work, answer);
}

static int by_modulus(const void *a, const void *b)
{
    const struct complex_number *x = a, *y = b;
    const double key[2][3] = {{hypot(x->re, x->im), x->re, x->im}, {hypot(y->re, y->im), y->re, y->im}};
    for (int i = 0; i < 3; i++)
        if (key[0][i] != key[1][i]) return key[0][i] < key[1][i] ? -1 : 1;
    return 0;
}

/* What rounding leaves of a number at the origin becomes 0 */
static void tidy(const struct second_order *s, struct complex_number *z, int count)
{
    const double origin = sqrt(10 * 2 * s->n * DBL_EPSILON) * s->fastest;
    for (int i = 0; i < count; i++) {
        if (hypot(z[i].re, z[i].im) <= origin) z[i] = (struct complex_number){0, 0};
        z[i].re += 0; /* -0 to 0 */
        z[i].im += 0;
    }
    qsort(z, (size_t)count, sizeof *z, by_modulus);
}

/* Zeros and poles at the origin cancel: an arm that turns freely has rates and accelerations without them */
static void cancel(struct answer *answer)
{
    int count = 0; /* they stand first */
    while (count < answer->n_zeros && count < answer->n_poles && answer->zero[count].re == 0 &&
           answer->zero[count].im == 0 && answer->pole[count].re == 0 && answer->pole[count].im == 0)
        count++;
    answer->zero += count;
    answer->pole += count;
    answer->n_zeros -= count;
    answer->n_poles -= count;
}

/* Minimum phase: no zero with re > 1e-6 |z| */
static void judge(const struct second_order *s, struct answer *answer)
{
    tidy(s, answer->zero, answer->n_zeros);
    tidy(s, answer->pole, answer->n_poles);
    cancel(answer);
    answer->relative_degree = answer->n_poles - answer->n_zeros;
    answer->minimum_phase = true;
    for (int i = 0; i < answer->n_zeros; i++) {
        const struct complex_number z = answer->zero[i];
        if (z.re > 1e-6 * hypot(z.re, z.im)) answer->minimum_phase = false;
    }
}

static enum zeros_result find_zeros(struct second_order *s, struct arena *arena, struct answer *answer)
{
    const int n = s->n;
    const size_t N = 2 * (size_t)n;
    double *work = arena_take(arena, 2 * N * N + 5 * N + 5, sizeof *work);
    answer->zero = arena_take(arena, N + 1, sizeof *answer->zero);
    answer->pole = arena_take(arena, N + 1, sizeof *answer->pole);
    if (arena->failed) return ZEROS_FAILED;
    const bool rate = length(n, s->e) > 0, position = length(n, s->c) > 0 || s->d != 0;
    const enum zeros_result result = length(n * n, s->V) == 0 && !(rate && position)
                                         ? zeros_of_square(s, rate, work, answer)
                                         : zeros_of_first_order(s, arena, work, answer);
    if (result == ZEROS_FOUND) judge(s, answer);
    return result;
}

/* ---- the command ------------------------------------------------------------------------------------------------------------ */

static struct json_object *pairs(const struct complex_number *z, int count)
{
    struct json_object *array = json_object_new_array_ext(count);
    for (int i = 0; i < count; i++) json_object_array_add(array, json_numbers((const double[2]){z[i].re, z[i].im}, 2));
    return array;
}

static int print_answer(const struct options *options, const struct linear *linear, const struct answer *answer)
{
    struct json_object *out = json_object_new_object();
    json_object_object_add(out, "input", json_object_new_string(options->input));
    json_object_object_add(out, "output", json_object_new_string(options->output));
    json_object_object_add(out, "zeros", pairs(answer->zero, answer->n_zeros));
    json_object_object_add(out, "minimum_phase", json_object_new_boolean(answer->minimum_phase));
    json_object_object_add(out, "relative_degree", json_object_new_int(answer->relative_degree));
    json_object_object_add(out, "gain", json_object_new_double(answer->gain));
    json_object_object_add(out, "poles", pairs(answer->pole, answer->n_poles));
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
    struct second_order s;
    struct answer answer = {0};
    const int failed = second_order_make(linear, u, y, &linear->arena, &s);
    const enum zeros_result result = failed ? ZEROS_FAILED : find_zeros(&s, &linear->arena, &answer);
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
    if (code == EXIT_FINE) code = linear_minimal("zeros", &linear);
    if (code == EXIT_FINE) code = analyse(&options, &linear);
    linear_free(&linear);
    return code;
}
