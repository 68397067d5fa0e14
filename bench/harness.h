/* The part of the measured programs that does not depend on the version of the library: command line, random states,
   checksums. kernel.c uses the library of this tree, baseline/kernel.c that of the commit it is compared with.
       PROGRAM ROBOT forward|composite|inverse|derivatives CALLS [full|linear|ruthless]
   prints two sums over all calls by which two versions are compared: of |q|, |qd|, |tau|, and of the absolute results. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Inputs and results of one call. by_q and by_qd are n_v x n_v; q has n_q entries, the others n_v. */
struct arrays {
    size_t n_q, n_v;
    double *q, *qd, *tau;
    double *qdd; /* accelerations; generalized forces of the inverse dynamics */
    double *by_q, *by_qd;
};

/* ---- defined by kernel.c ------------------------------------------------------------------------------------- */

struct subject; /* a robot ready for computation, and the inputs of the next call */

/* terms: the elastic terms, NULL for those of the robot file. Sets n_q and n_v. 0 on success. */
static int subject_make(struct subject *subject, const char *robot_file, const char *terms, struct arrays *arrays);
static void subject_free(struct subject *subject);

/* Draws a random state into the arrays. */
static void subject_draw(struct subject *subject, uint64_t *seed, struct arrays *arrays);

/* The measured functions: callgrind counts the instructions inside measured_*. 0 on success. */
typedef int measured_function(struct subject *subject, struct arrays *arrays);
static measured_function measured_forward;     /* qdd as an FMU computes it */
static measured_function measured_composite;   /* qdd by mass matrix and Cholesky factorization, for a tree of links */
static measured_function measured_inverse;     /* generalized forces for qdd = qd: any accelerations will do */
static measured_function measured_derivatives; /* qdd, d(qdd)/dq and d(qdd)/dqd, from the state alone */

/* ---- the program ------------------------------------------------------------------------------------------------- */

static measured_function *algorithm_called(const char *name)
{
    static const struct {
        const char *name;
        measured_function *function;
    } all[] = {{"forward", measured_forward},
               {"composite", measured_composite},
               {"inverse", measured_inverse},
               {"derivatives", measured_derivatives}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(name, all[i].name) == 0) return all[i].function;
    return NULL;
}

static double sum_of_magnitudes(size_t n, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += fabs(x[i]);
    return sum;
}

static int arrays_make(struct arrays *a)
{
    a->q = calloc(a->n_q, sizeof(double)), a->qd = calloc(a->n_v, sizeof(double));
    a->tau = calloc(a->n_v, sizeof(double)), a->qdd = calloc(a->n_v, sizeof(double));
    a->by_q = calloc(a->n_v * a->n_v, sizeof(double)), a->by_qd = calloc(a->n_v * a->n_v, sizeof(double));
    return a->q && a->qd && a->tau && a->qdd && a->by_q && a->by_qd ? 0 : -1;
}

static void arrays_free(struct arrays *a)
{
    free(a->q), free(a->qd), free(a->tau), free(a->qdd), free(a->by_q), free(a->by_qd);
}

static int call_and_sum(struct subject *subject, struct arrays *a, measured_function *algorithm, int calls)
{
    uint64_t seed = 88172645463325252ULL;
    double state = 0, result = 0;
    for (int i = 0; i < calls; i++) {
        subject_draw(subject, &seed, a);
        if (algorithm(subject, a) != 0) return 1;
        state += sum_of_magnitudes(a->n_q, a->q) + sum_of_magnitudes(a->n_v, a->qd) + sum_of_magnitudes(a->n_v, a->tau);
        result += sum_of_magnitudes(a->n_v, a->qdd) + sum_of_magnitudes(a->n_v * a->n_v, a->by_q) +
                  sum_of_magnitudes(a->n_v * a->n_v, a->by_qd);
    }
    printf("%.17g %.17g\n", state, result);
    return 0;
}

static int harness_main(int argc, char **argv, struct subject *subject)
{
    measured_function *algorithm = argc > 3 ? algorithm_called(argv[2]) : NULL;
    if (algorithm == NULL) return 2;
    struct arrays arrays = {0};
    if (subject_make(subject, argv[1], argc > 4 ? argv[4] : NULL, &arrays) != 0 || arrays_make(&arrays) != 0) return 1;
    const int code = call_and_sum(subject, &arrays, algorithm, atoi(argv[3]));
    arrays_free(&arrays);
    subject_free(subject);
    return code;
}

#endif
