/* The measured program: calls one algorithm at random states (harness.h). */
#include "harness.h"

#include "../analysis/random_state.h"
#include "dyn/dyn.h"
#include "mech/mechanism.h"

struct subject {
    struct robot *robot;
    struct mechanism mechanism;
    struct input in;
};

/* ---- the measured functions ----------------------------------------------------------------------------------------- */

static __attribute__((noinline)) int measured_forward(struct subject *s, struct arrays *a)
{
    return mechanism_forward(&s->mechanism, &s->in, a->qdd);
}

static __attribute__((noinline)) int measured_composite(struct subject *s, struct arrays *a)
{
    return dyn_forward_composite(s->mechanism.model, s->mechanism.work, &s->in, a->qdd);
}

static __attribute__((noinline)) int measured_inverse(struct subject *s, struct arrays *a)
{
    dyn_configuration(s->mechanism.model, s->mechanism.work, s->in.q);
    dyn_inverse(s->mechanism.model, s->mechanism.work, &s->in, s->in.qd, a->qdd);
    return 0;
}

static __attribute__((noinline)) int measured_derivatives(struct subject *s, struct arrays *a)
{
    return mechanism_forward_jacobian(&s->mechanism, &s->in, a->qdd, a->by_q, a->by_qd);
}

/* ---- the robot ---------------------------------------------------------------------------------------------------- */

static void print_line(void *context, enum report_level level, const char *text)
{
    (void)context;
    (void)level;
    fprintf(stderr, "%s\n", text);
}

static int subject_make(struct subject *s, const char *robot_file, const char *terms, struct arrays *arrays)
{
    struct report report = {.line = print_line};
    if (robot_read_file(robot_file, &s->robot, &report) != STATUS_OK) return 1;
    if (terms != NULL)
        s->robot->elastic_terms = strcmp(terms, "full") == 0     ? TERMS_FULL
                                  : strcmp(terms, "linear") == 0 ? TERMS_LINEAR
                                                                 : TERMS_RUTHLESS;
    if (mechanism_make(s->robot, &s->mechanism, &report) != STATUS_OK) return 1;
    arrays->n_q = (size_t)s->mechanism.model->nq;
    arrays->n_v = (size_t)s->mechanism.model->nv;
    return 0;
}

static void subject_free(struct subject *s)
{
    mechanism_free(&s->mechanism), robot_free(s->robot);
}

static void subject_draw(struct subject *s, uint64_t *seed, struct arrays *a)
{
    random_state(s->mechanism.model, seed, a->q, a->qd, a->tau);
    s->in = (struct input){.q = a->q, .qd = a->qd, .tau = a->tau};
}

int main(int argc, char **argv)
{
    struct subject subject = {0};
    return harness_main(argc, argv, &subject);
}
