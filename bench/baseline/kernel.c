/* The measured program for the commit that baseline.py compares this tree with. It uses the interface of that commit, so it does
   not change with this tree. Include paths: the root and fmu_src of that commit. */
#include "../harness.h"

#include "cli/random_state.h"
#include "dyn/dyn.h"
#include "loop/loop.h"

struct subject {
    struct robot *robot;
    struct model *model;
    struct work *work;
    struct tangent *tangent;
    struct loops *loops;
    struct input in;
};

/* ---- the measured functions ----------------------------------------------------------------------------------------- */

static __attribute__((noinline)) int measured_forward(struct subject *s, struct arrays *a)
{
    return loops_forward(s->model, s->work, s->tangent, s->loops, &s->in, a->qdd);
}

static __attribute__((noinline)) int measured_composite(struct subject *s, struct arrays *a)
{
    return dyn_forward_composite(s->model, s->work, &s->in, a->qdd);
}

static __attribute__((noinline)) int measured_inverse(struct subject *s, struct arrays *a)
{
    dyn_configuration(s->model, s->work, s->in.q);
    dyn_inverse(s->model, s->work, &s->in, s->in.qd, a->qdd);
    return 0;
}

static __attribute__((noinline)) int measured_derivatives(struct subject *s, struct arrays *a)
{
    return loops_forward_jacobian(s->model, s->work, s->tangent, s->loops, &s->in, a->qdd, a->by_q, a->by_qd);
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
    (void)terms;
    if (model_make(s->robot, &s->model, &report) != STATUS_OK || work_make(s->model, &s->work) != STATUS_OK ||
        tangent_make(s->model, &s->tangent) != STATUS_OK || loops_make(s->model, &s->loops) != STATUS_OK)
        return 1;
    arrays->n_q = arrays->n_v = (size_t)s->model->n;
    return 0;
}

static void subject_free(struct subject *s)
{
    loops_free(s->loops), tangent_free(s->tangent), work_free(s->work), model_free(s->model), robot_free(s->robot);
}

static void subject_draw(struct subject *s, uint64_t *seed, struct arrays *a)
{
    random_state(s->model, seed, a->q, a->qd, a->tau);
    s->in = (struct input){.q = a->q, .qd = a->qd, .tau = a->tau};
}

int main(int argc, char **argv)
{
    struct subject subject = {0};
    return harness_main(argc, argv, &subject);
}
