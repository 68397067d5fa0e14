/* limber bench ROBOT: nanoseconds per call at random states, best of many batches. */
#include <float.h>
#include <stdio.h>
#include <time.h>

#include "analysis/closure.h"
#include "analysis/failure.h"
#include "analysis/random_state.h"
#include "cli.h"
#include "json_out.h"
#include "load.h"

static const struct option rows[] = {OPTION_ROBOT, OPTION_JSON("JSON instead of a table"), OPTION_OUTPUT, {0}};

enum { STATES = 32, BATCHES = 200 };

struct bench {
    struct mechanism *mechanism;
    struct input in[STATES];
    double *qdd, *force, *by_q, *by_qd;
};

static void run_forward(struct bench *bench, const struct input *in)
{
    (void)mechanism_forward(bench->mechanism, in, bench->qdd); /* prepare() has computed all states */
}

static void run_composite(struct bench *bench, const struct input *in)
{
    (void)mechanism_forward_composite(bench->mechanism, in, bench->qdd);
}

static void run_inverse(struct bench *bench, const struct input *in)
{
    dyn_configuration(bench->mechanism->model, bench->mechanism->work, in->q);
    dyn_inverse(bench->mechanism->model, bench->mechanism->work, in, in->qd,
                bench->force); /* any accelerations will do */
}

static void run_derivatives(struct bench *bench, const struct input *in)
{
    (void)mechanism_forward_jacobian(bench->mechanism, in, bench->qdd, bench->by_q, bench->by_qd);
}

static const struct {
    const char *key, *what;
    void (*run)(struct bench *bench, const struct input *in);
} measured[] = {
    {"forward_ns", "forward dynamics, articulated body", run_forward},
    {"composite_ns", "forward dynamics, mass matrix and Cholesky", run_composite},
    {"inverse_ns", "inverse dynamics", run_inverse},
    {"derivatives_ns", "full Jacobian of qdd, forward dynamics included", run_derivatives},
};
enum { MEASURED = sizeof measured / sizeof measured[0] };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* A batch takes at least about 50 us, enough for the clock; the best batch is the one that was disturbed least. */
static double best_ns(struct bench *bench, void (*run)(struct bench *, const struct input *))
{
    double best = DBL_MAX;
    int repeats = 1;
    for (int batch = 0; batch < BATCHES; batch++) {
        const double start = now_ns();
        for (int r = 0; r < repeats; r++)
            for (int i = 0; i < STATES; i++) run(bench, &bench->in[i]);
        const double spent = now_ns() - start;
        const double ns = spent / (repeats * STATES);
        if (ns < best) best = ns;
        if (spent < 5e4) repeats *= 2;
    }
    return best;
}

static int make_states(struct bench *bench, struct arena *arena)
{
    const struct model *model = bench->mechanism->model;
    uint64_t seed = 88172645463325252ULL;
    double *none = arena_allocate(arena, (size_t)model->n_prescribed, sizeof *none);
    bench->qdd = arena_allocate(arena, (size_t)model->nv, sizeof(double));
    bench->force = arena_allocate(arena, (size_t)model->nv, sizeof(double));
    bench->by_q = arena_allocate(arena, (size_t)model->nv * (size_t)model->nv, sizeof(double));
    bench->by_qd = arena_allocate(arena, (size_t)model->nv * (size_t)model->nv, sizeof(double));
    for (int i = 0; i < STATES; i++) {
        double *q = arena_allocate(arena, (size_t)model->nq, sizeof *q),
               *qd = arena_allocate(arena, (size_t)model->nv, sizeof *qd);
        double *tau = arena_allocate(arena, (size_t)model->n_tau, sizeof *tau);
        if (arena->failed) return -1;
        random_state(model, &seed, q, qd, tau);
        bench->in[i] = (struct input){.q = q, .qd = qd, .tau = tau, .prescribed_qdd = none};
    }
    return 0;
}

/* The constraints are those that are independent at the start; the random states leave loops open, which costs the same. */
static enum status prepare(struct bench *bench, struct state *start, struct arena *arena, struct report *report)
{
    enum status status = closure_of_state(bench->mechanism, false, start, report);
    if (status == STATUS_OK && make_states(bench, arena) != 0) status = failure_status(report, STATUS_NO_MEMORY);
    if (status != STATUS_OK) return status;
    for (int i = 0; i < STATES && status == STATUS_OK; i++)
        status = mechanism_forward(bench->mechanism, &bench->in[i], bench->qdd);
    return failure_report(report, bench->mechanism, status);
}

static int run(const void *given, struct cli_model *loaded, struct report *report)
{
    const struct common *options = given;
    struct bench bench = {.mechanism = &loaded->mechanism};
    struct json_object *out = json_object_new_object();
    const enum status status = prepare(&bench, &loaded->state, options->arena, report);
    for (int i = 0; status == STATUS_OK && i < MEASURED; i++) {
        cli_progress_show(measured[i].what, 0, 1);
        const double ns = best_ns(&bench, measured[i].run);
        if (options->json) json_add_number(out, measured[i].key, ns);
        else printf("%-14s %12.0f   %s\n", measured[i].key, ns, measured[i].what);
    }
    cli_progress_end();
    if (status == STATUS_OK && options->json) json_print(out);
    else json_object_put(out);
    return cli_exit_code(status);
}

const struct command command_bench = {.name = "bench",
                                      .summary = "measures nanoseconds per call at random states, best of many batches",
                                      .option = rows,
                                      .size = sizeof(struct common),
                                      .run_model = run};
