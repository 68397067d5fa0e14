/* One algorithm, many calls, nothing else: what callgrind counts.
       kernel ROBOT forward|composite|inverse|derivatives CALLS [full|linear|ruthless [MODES]]
   MODES: in place of UPDATE_FROM (dyn/updated.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../analysis/random_state.h"
#include "dyn/dyn.h"
#include "dyn/updated.h"
#include "mech/mechanism.h"

static void print_line(void *context, enum report_level level, const char *text)
{
    (void)context;
    (void)level;
    fprintf(stderr, "%s\n", text);
}

/* The functions that are counted: callgrind toggles collection at them (--toggle-collect='measured_*'). */
enum status measured_forward(struct mechanism *m, const struct input *in, double *qdd);
enum status measured_composite(struct mechanism *m, const struct input *in, double *qdd);
enum status measured_inverse(struct mechanism *m, const struct input *in, double *qdd);
enum status measured_derivatives(struct mechanism *m, const struct input *in, double *qdd, double *by_q, double *by_qd);

__attribute__((noinline)) enum status measured_forward(struct mechanism *m, const struct input *in, double *qdd)
{
    return mechanism_forward(m, in, qdd);
}

__attribute__((noinline)) enum status measured_composite(struct mechanism *m, const struct input *in, double *qdd)
{
    return mechanism_forward_composite(m, in, qdd);
}

__attribute__((noinline)) enum status measured_inverse(struct mechanism *m, const struct input *in, double *qdd)
{
    dyn_configuration(m->model, m->work, in->q);
    dyn_inverse(m->model, m->work, in, in->qd, qdd);
    return STATUS_OK;
}

/* qdd, d(qdd)/dq and d(qdd)/dqd of a state of which nothing is known yet */
__attribute__((noinline)) enum status measured_derivatives(struct mechanism *m, const struct input *in, double *qdd,
                                                           double *by_q, double *by_qd)
{
    return mechanism_forward_jacobian(m, in, qdd, by_q, by_qd);
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    struct report report = {.line = print_line};
    struct robot *robot;
    struct mechanism mechanism, *m = &mechanism;
    if (robot_read_file(argv[1], &robot, &report) != STATUS_OK) return 1;
    if (argc > 4)
        robot->elastic_terms = strcmp(argv[4], "full") == 0     ? TERMS_FULL
                               : strcmp(argv[4], "linear") == 0 ? TERMS_LINEAR
                                                                : TERMS_RUTHLESS;
    const int update_from = argc > 5 ? atoi(argv[5]) : UPDATE_FROM;
    if (mechanism_make_with(robot, update_from, m, &report) != STATUS_OK) return 1;

    const size_t n = (size_t)m->model->n;
    double *q = calloc(n, sizeof *q), *qd = calloc(n, sizeof *qd), *tau = calloc(n, sizeof *tau),
           *qdd = calloc(n, sizeof *qdd), *by_q = calloc(n * n, sizeof *by_q), *by_qd = calloc(n * n, sizeof *by_qd);
    const struct input in = {.q = q, .qd = qd, .tau = tau};
    uint64_t seed = 88172645463325252ULL;
    double sum = 0;
    for (int i = 0; i < atoi(argv[3]); i++) {
        random_state(m->model, &seed, q, qd, tau);
        if (argv[2][0] == 'f') (void)measured_forward(m, &in, qdd);
        else if (argv[2][0] == 'c') (void)measured_composite(m, &in, qdd);
        else if (argv[2][0] == 'i') (void)measured_inverse(m, &in, qdd);
        else (void)measured_derivatives(m, &in, qdd, by_q, by_qd);
        sum += qdd[0] + by_q[0] + by_qd[0];
    }
    printf("%.17g\n", sum);
    free(q), free(qd), free(tau), free(qdd), free(by_q), free(by_qd);
    mechanism_free(m), robot_free(robot);
    return 0;
}
