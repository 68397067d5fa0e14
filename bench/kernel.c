/* One algorithm, many calls, nothing else: what callgrind counts.
       kernel ROBOT forward|composite|inverse|derivatives CALLS [full|linear|ruthless [MODES]]
   MODES: in place of UPDATE_FROM (dyn/updated.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/random_state.h"
#include "dyn/dyn.h"
#include "dyn/updated.h"
#include "loop/loop.h"

static void print_line(void *context, enum report_level level, const char *text)
{
    (void)context;
    (void)level;
    fprintf(stderr, "%s\n", text);
}

/* The functions that are counted: callgrind toggles collection at them (--toggle-collect='measured_*'). */
enum status measured_forward(const struct model *model, struct work *work, const struct input *in, double *qdd);
enum status measured_composite(const struct model *model, struct work *work, const struct input *in, double *qdd);
enum status measured_inverse(const struct model *model, struct work *work, const struct input *in, double *qdd);
enum status measured_derivatives(const struct model *model, struct work *work, struct tangent *tangent,
                                 struct loops *loops, const struct input *in, double *qdd, double *by_q, double *by_qd);

__attribute__((noinline)) enum status measured_forward(const struct model *model, struct work *work,
                                                       const struct input *in, double *qdd)
{
    return dyn_forward(model, work, in, qdd);
}

__attribute__((noinline)) enum status measured_composite(const struct model *model, struct work *work,
                                                         const struct input *in, double *qdd)
{
    return dyn_forward_composite(model, work, in, qdd);
}

__attribute__((noinline)) enum status measured_inverse(const struct model *model, struct work *work,
                                                       const struct input *in, double *qdd)
{
    dyn_configuration(model, work, in->q);
    dyn_inverse(model, work, in, in->qd, qdd);
    return STATUS_OK;
}

/* qdd, d(qdd)/dq and d(qdd)/dqd of a state of which nothing is known yet */
__attribute__((noinline)) enum status measured_derivatives(const struct model *model, struct work *work,
                                                           struct tangent *tangent, struct loops *loops,
                                                           const struct input *in, double *qdd, double *by_q,
                                                           double *by_qd)
{
    return loops_forward_jacobian(model, work, tangent, loops, in, qdd, by_q, by_qd);
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    struct report report = {.line = print_line};
    struct robot *robot;
    struct model *model;
    struct work *work;
    struct tangent *tangent;
    struct loops *loops;
    if (robot_read_file(argv[1], &robot, &report) != STATUS_OK) return 1;
    if (argc > 4)
        robot->elastic_terms = strcmp(argv[4], "full") == 0     ? TERMS_FULL
                               : strcmp(argv[4], "linear") == 0 ? TERMS_LINEAR
                                                                : TERMS_RUTHLESS;
    const int update_from = argc > 5 ? atoi(argv[5]) : UPDATE_FROM;
    if (model_make_with(robot, update_from, &model, &report) != STATUS_OK || work_make(model, &work) != STATUS_OK ||
        tangent_make(model, &tangent) != STATUS_OK || loops_make(model, &loops) != STATUS_OK)
        return 1;

    const size_t n = (size_t)model->n;
    double *q = calloc(n, sizeof *q), *qd = calloc(n, sizeof *qd), *tau = calloc(n, sizeof *tau),
           *qdd = calloc(n, sizeof *qdd), *by_q = calloc(n * n, sizeof *by_q), *by_qd = calloc(n * n, sizeof *by_qd);
    const struct input in = {.q = q, .qd = qd, .tau = tau};
    uint64_t seed = 88172645463325252ULL;
    double sum = 0;
    for (int i = 0; i < atoi(argv[3]); i++) {
        random_state(model, &seed, q, qd, tau);
        if (argv[2][0] == 'f') (void)measured_forward(model, work, &in, qdd);
        else if (argv[2][0] == 'c') (void)measured_composite(model, work, &in, qdd);
        else if (argv[2][0] == 'i') (void)measured_inverse(model, work, &in, qdd);
        else (void)measured_derivatives(model, work, tangent, loops, &in, qdd, by_q, by_qd);
        sum += qdd[0] + by_q[0] + by_qd[0];
    }
    printf("%.17g\n", sum);
    free(q), free(qd), free(tau), free(qdd), free(by_q), free(by_qd);
    loops_free(loops), tangent_free(tangent), work_free(work), model_free(model), robot_free(robot);
    return 0;
}
