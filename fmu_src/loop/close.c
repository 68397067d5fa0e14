/* Closing the loops: from a guess at the start, and back onto them after every step of the integration. */
#include <math.h>
#include <string.h>

#include "loop/internal.h"
#include "math/dense.h"
#include "math/vec.h"

/* Gaps that count as closed [m, or cosine] */
static const double CLOSED = 1e-13;
/* An iteration that leaves more than this share of a gap is slow */
static const double SLOW = 0.1;
enum { MOST_ITERATIONS = 100, MOST_PROJECTIONS = 10 };

/* ---- at the start ------------------------------------------------------------------------------------------------------------ */

/* What may move: 0 passive joints, 1 all joints but prescribed ones, 2 elastic coordinates too */
static bool may_move(const struct link_model *lm, int coordinate, int stage)
{
    if (coordinate != lm->q) return stage == 2;
    return lm->prescribed < 0 && (lm->passive || stage > 0);
}

static void mark_movable(const struct model *model, int stage, double *movable)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->q >= 0) movable[lm->q] = may_move(lm, lm->q, stage);
        for (int k = lm->eta; k < lm->eta + lm->m; k++) movable[k] = may_move(lm, k, stage);
    }
}

static double norm_of_gap(const struct model *model, struct work *work, struct loops *loops, const double *q)
{
    const struct input rest = {.q = q, .qd = loops->direction};
    memset(loops->direction, 0, (size_t)model->n * sizeof(double));
    dyn_configuration(model, work, q);
    dyn_velocity(model, work, &rest);
    loops_gap(model, work, loops);
    return sqrt(dot(loops->n_rows, loops->gap, loops->gap));
}

/* dq = -W G'(G W G' + mu)^-1 gap: the shortest step of what may move, damped (Levenberg and Marquardt) */
static bool newton_step(const struct model *model, const struct work *work, struct loops *loops, const double *movable,
                        double mu, double *dq)
{
    const size_t n = (size_t)model->n;
    const int k = loops->n_rows;
    double trace = 0;
    for (int i = 0; i < k; i++) {
        double *G = loops->G + n * (size_t)i;
        jacobian_row(model, work, loops, i);
        for (size_t j = 0; j < n; j++) G[j] *= movable[j];
        for (int j = 0; j <= i; j++) loops->S[k * j + i] = dot(model->n, loops->G + n * (size_t)j, G);
        trace += loops->S[(k + 1) * i];
    }
    if (!(trace > 0)) return false;
    for (int i = 0; i < k; i++) loops->S[(k + 1) * i] += mu * trace;
    if (cholesky_factor(k, loops->S, loops->inverse_d) != 0) return false;
    memcpy(loops->rhs, loops->gap, (size_t)k * sizeof(double));
    cholesky_solve(k, loops->S, loops->inverse_d, loops->rhs);
    memset(dq, 0, n * sizeof *dq);
    for (int i = 0; i < k; i++)
        for (size_t j = 0; j < n; j++) dq[j] -= loops->rhs[i] * loops->G[n * (size_t)i + j];
    return true;
}

/* Damped Newton iteration from q; true where the gaps close */
static bool close_with(const struct model *model, struct work *work, struct loops *loops, const double *movable,
                       double *q, double *trial, double *dq)
{
    const size_t bytes = (size_t)model->n * sizeof *q;
    double norm = norm_of_gap(model, work, loops, q), mu = 1e-6;
    for (int i = 0; i < MOST_ITERATIONS && norm > CLOSED; i++) {
        if (!newton_step(model, work, loops, movable, mu, dq)) return false;
        for (int j = 0; j < model->n; j++) trial[j] = q[j] + dq[j];
        const double next = norm_of_gap(model, work, loops, trial);
        if (next < norm) {
            memcpy(q, trial, bytes);
            norm = next;
            mu = fmax(mu / 100, 1e-15);
        } else if (norm < 1e-11) {
            break; /* rounding is all that is left */
        } else {
            mu = 10 * mu + 1e-14;
            if (mu > 1e6) return false;
            norm_of_gap(model, work, loops, q); /* back */
        }
    }
    return norm < 1e-11;
}

static void report_open(const struct loops *loops, struct report *report)
{
    for (int i = 0; i < loops->robot->n_loops; i++) {
        double distance = 0, turn = 0;
        for (int row = loops->first[i]; row < loops->first[i + 1]; row++) {
            double *sum = loops->equation[row].turning ? &turn : &distance;
            *sum = fmax(*sum, fabs(loops->gap[row]));
        }
        if (distance < 1e-9 && turn < 1e-9) continue;
        report_add(
            report, REPORT_ERROR,
            "loops[%d] (%s): cannot be closed from the start positions: a gap of %.3g m%s%.3g remains; give start "
            "positions nearer to a closed pose, or check lengths and frames",
            i, loops->robot->loop[i].name, distance, turn > 0 ? " and a misalignment of " : ", misalignment ", turn);
    }
}

enum status loops_close(const struct model *model, struct work *work, struct loops *loops, double *q,
                        struct report *report)
{
    struct arena scratch = {0};
    const size_t n = (size_t)model->n;
    if (loops->n_rows == 0) return STATUS_OK;
    double *movable = arena_take(&scratch, n, sizeof *movable), *try = arena_take(&scratch, n, sizeof *try),
           *trial = arena_take(&scratch, n, sizeof *trial), *dq = arena_take(&scratch, n, sizeof *dq);
    const int kept = loops->n_kept;
    enum status status = scratch.failed ? STATUS_NO_MEMORY : STATUS_OPEN_LOOP;
    for (int i = 0; i < loops->n_rows; i++) loops->kept[i] = i;
    for (int stage = 0; stage <= 2 && status == STATUS_OPEN_LOOP; stage++) {
        memcpy(try, q, n * sizeof *try);
        mark_movable(model, stage, movable);
        if (close_with(model, work, loops, movable, try, trial, dq)) status = STATUS_OK;
    }
    if (status == STATUS_OK) memcpy(q, try, n * sizeof *q);
    else if (status == STATUS_OPEN_LOOP) report_open(loops, report);
    loops->n_kept = kept;
    arena_release(&scratch);
    return status;
}

/* ---- while integrating --------------------------------------------------------------------------------------------------------- */

/* x -= X S^-1 G x; returns the largest of G x. Where X and S are not those of this G, a share of it is left. */
static double stay_on_loops(const struct model *model, struct loops *loops, double *x)
{
    double largest = 0;
    for (int k = 0; k < loops->n_kept; k++) {
        loops->rhs[k] = -dot(model->n, loops->G + (size_t)model->n * (size_t)k, x);
        largest = fmax(largest, fabs(loops->rhs[k]));
    }
    add_response(model->n, loops, x);
    return largest;
}

/* The rates G qd, to rounding */
static void stop_gaps(const struct model *model, struct loops *loops, double *qd)
{
    double largest = INFINITY, before;
    do {
        before = largest;
        largest = stay_on_loops(model, loops, qd);
    } while (largest > CLOSED && largest < SLOW * before);
}

/* Newton's iteration with X and S of a state near by for as long as they serve: the gap shrinks by the share that they are off,
   and a step costs no more than the frames and G. */
enum status loops_project(const struct model *model, struct work *work, struct tangent *tangent, struct loops *loops,
                          bool near, double *q, double *qd, double *err_q, double *err_qd)
{
    double largest = INFINITY;
    for (int iteration = 0; iteration < MOST_PROJECTIONS; iteration++) {
        const double before = largest;
        dyn_configuration(model, work, q);
        dyn_position(model, work); /* the rates are G qd */
        loops_constraints(model, work, loops);
        largest = 0;
        for (int k = 0; k < loops->n_kept; k++) largest = fmax(largest, fabs(loops->gap[loops->kept[k]]));
        const bool closed = largest < CLOSED || (largest < 1e-11 && largest >= SLOW * before);
        if (!near || (!closed && largest > SLOW * before)) {
            enum status status = dyn_articulate(model, work);
            if (status == STATUS_OK) status = loops_mobility(model, work, tangent, loops);
            if (status != STATUS_OK) return status;
            near = true;
        }
        if (closed) {
            stop_gaps(model, loops, qd);
            if (err_q != NULL) stay_on_loops(model, loops, err_q);
            if (err_qd != NULL) stay_on_loops(model, loops, err_qd);
            return STATUS_OK;
        }
        for (int k = 0; k < loops->n_kept; k++) loops->rhs[k] = -loops->gap[loops->kept[k]];
        add_response(model->n, loops, q);
    }
    return STATUS_OPEN_LOOP;
}
