/* Closing the loops: from a guess at the start, and back onto them after every step of the integration. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "loop/internal.h"
#include "math/dense.h"
#include "math/vec.h"

/* Gaps that count as closed, and those that do where rounding keeps them [m, or cosine] */
static const double CLOSED = 1e-13, NEARLY_CLOSED = 1e-11;
/* Equations that follow from others are met as exactly as lengths and frames are given: at the start, and later on */
static const double NEARLY_MET = 1e-9, MISSED = 1e-7;
/* An iteration that leaves more than this share of a gap is slow */
static const double SLOW = 0.1;
enum { MOST_ITERATIONS = 100, MOST_PROJECTIONS = 10 };

/* ---- at the start ------------------------------------------------------------------------------------------------------------ */

/* What may move; prescribed joints never do */
enum stage { PASSIVE_JOINTS, ALL_JOINTS, ELASTIC_COORDINATES };

static void mark_movable(const struct model *model, enum stage stage, double *movable)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->q >= 0) movable[lm->q] = lm->prescribed < 0 && (lm->passive || stage >= ALL_JOINTS);
        for (int k = lm->eta; k < lm->eta + lm->m; k++) movable[k] = stage == ELASTIC_COORDINATES;
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

/* Angle between what a loop keeps parallel [rad]: the axes of a pin, the frames of a weld. Right angles alone do not tell: they
   are right at half turns too. */
static double misalignment(const struct loop *loop, const struct side *side)
{
    const double *A = side[0].frame.R, *B = side[1].frame.R;
    if (loop->type == LOOP_PIN) {
        double a[3], b[3], c[3];
        mul3(A, loop->axis, a);
        mul3(B, loop->axis, b);
        cross3(a, b, c);
        return atan2(sqrt(dot3(c, c)), dot3(a, b));
    }
    if (loop->type != LOOP_WELD) return 0;
    double distance = 0; /* |A - B| = 2 sqrt(2) sin(angle/2) */
    for (int i = 0; i < 9; i++) distance += (A[i] - B[i]) * (A[i] - B[i]);
    return 2 * asin(fmin(1, sqrt(distance / 8)));
}

static bool all_aligned(const struct loops *loops)
{
    for (int i = 0; i < loops->robot->n_loops; i++)
        if (misalignment(&loops->robot->loop[i], loops->side[i]) > 1) return false;
    return true;
}

/* Elastic coordinates may close what joints leave open, but not replace a link of the wrong length: tips may move by a tenth of
   it at most */
static bool hardly_bent(const struct model *model, const struct work *work, const double *q, const double *found)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        double moved[3] = {0};
        for (int k = 0; k < lm->m; k++) axpy3(found[lm->eta + k] - q[lm->eta + k], w->J[k] + 3, moved);
        if (lm->m > 0 && dot3(moved, moved) > 0.01 * dot3(w->r, w->r)) return false;
    }
    return true;
}

/* Damped Newton iteration from q; true where the gaps close. Gaps and frames are those of q at the end. */
static bool close_with(const struct model *model, struct work *work, struct loops *loops, const double *movable,
                       double *q, double *trial, double *dq)
{
    const size_t bytes = (size_t)model->n * sizeof *q;
    double norm = norm_of_gap(model, work, loops, q), mu = 1e-6;
    for (int i = 0; i < MOST_ITERATIONS && norm > CLOSED && mu < 1e6; i++) {
        if (!newton_step(model, work, loops, movable, mu, dq)) { /* equations that follow from others need some */
            mu *= 100;
            continue;
        }
        for (int j = 0; j < model->n; j++) trial[j] = q[j] + dq[j];
        const double next = norm_of_gap(model, work, loops, trial);
        if (next < norm) {
            memcpy(q, trial, bytes);
            norm = next;
            mu = fmax(mu / 100, 1e-15);
            continue;
        }
        norm_of_gap(model, work, loops, q); /* back */
        if (norm < NEARLY_CLOSED) break;    /* rounding is all that is left */
        mu = 10 * mu + 1e-14;
    }
    return norm < NEARLY_MET && all_aligned(loops);
}

static double distance(const struct loops *loops, int i)
{
    double square = 0;
    for (int row = loops->first[i]; row < loops->first[i + 1]; row++)
        if (!loops->equation[row].turning) square += loops->gap[row] * loops->gap[row];
    return sqrt(square);
}

static void report_open(const struct loops *loops, struct report *report)
{
    double widest = 0;
    for (int i = 0; i < loops->robot->n_loops; i++)
        widest = fmax(widest, fmax(distance(loops, i), misalignment(&loops->robot->loop[i], loops->side[i])));
    for (int i = 0; i < loops->robot->n_loops; i++) {
        const struct loop *loop = &loops->robot->loop[i];
        const double turn = misalignment(loop, loops->side[i]), gap = distance(loops, i);
        if (fmax(gap, turn) < fmin(NEARLY_MET, widest)) continue;
        char and_turn[64] = " remains";
        if (loop->type == LOOP_PIN || loop->type == LOOP_WELD)
            snprintf(and_turn, sizeof and_turn, " and a misalignment of %.3g rad remain", turn);
        report_add(report, REPORT_ERROR,
                   "loops[%d] (%s): cannot be closed from the start positions: a gap of %.3g m%s; give start "
                   "positions nearer to a closed pose, or check lengths and frames",
                   i, loop->name, gap, and_turn);
    }
}

/* Closes with as little as possible; where nothing helps, `found` and the gaps are what the joints come to */
static enum status close_by_stages(const struct model *model, struct work *work, struct loops *loops, const double *q,
                                   double *found, double *movable, double *trial, double *dq)
{
    for (int stage = PASSIVE_JOINTS; stage <= ELASTIC_COORDINATES; stage++) {
        memcpy(found, q, (size_t)model->n * sizeof *found);
        mark_movable(model, (enum stage)stage, movable);
        if (close_with(model, work, loops, movable, found, trial, dq) &&
            (stage < ELASTIC_COORDINATES || hardly_bent(model, work, q, found)))
            return STATUS_OK;
    }
    memcpy(found, q, (size_t)model->n * sizeof *found);
    mark_movable(model, ALL_JOINTS, movable);
    close_with(model, work, loops, movable, found, trial, dq);
    return STATUS_OPEN_LOOP;
}

enum status loops_close(const struct model *model, struct work *work, struct loops *loops, double *q,
                        struct report *report)
{
    struct arena scratch = {0};
    const size_t n = (size_t)model->n;
    if (loops->n_rows == 0) return STATUS_OK;
    double *movable = arena_take(&scratch, n, sizeof *movable), *found = arena_take(&scratch, n, sizeof *found),
           *trial = arena_take(&scratch, n, sizeof *trial), *dq = arena_take(&scratch, n, sizeof *dq);
    enum status status = STATUS_NO_MEMORY;
    loops->n_kept = loops->n_rows;
    for (int i = 0; i < loops->n_rows; i++) loops->kept[i] = i;
    if (!scratch.failed) status = close_by_stages(model, work, loops, q, found, movable, trial, dq);
    if (status == STATUS_OK) memcpy(q, found, n * sizeof *q);
    else if (status == STATUS_OPEN_LOOP) report_open(loops, report);
    arena_release(&scratch);
    return status;
}

/* The largest gap of the equations of a loop that are not kept; those that are come in order */
static double left_open(const struct loops *loops, int loop)
{
    double largest = 0;
    for (int row = loops->first[loop], k = 0; row < loops->first[loop + 1]; row++) {
        while (k < loops->n_kept && loops->kept[k] < row) k++;
        if (k == loops->n_kept || loops->kept[k] != row) largest = fmax(largest, fabs(loops->gap[row]));
    }
    return largest;
}

int loops_missed(const struct loops *loops, double *gap)
{
    int worst = -1;
    *gap = MISSED;
    for (int i = 0; i < loops->robot->n_loops && loops->n_kept < loops->n_rows; i++)
        if (left_open(loops, i) > *gap) {
            *gap = left_open(loops, i);
            worst = i;
        }
    return worst;
}

enum status loops_settle(const struct model *model, struct work *work, struct tangent *tangent, struct loops *loops,
                         double *q, double *qd, struct report *redundant, struct report *report)
{
    enum status status = loops_choose(model, work, tangent, loops, q, redundant);
    if (status == STATUS_OK) status = loops_project(model, work, tangent, loops, false, q, qd, NULL, NULL);
    if (status == STATUS_OPEN_LOOP || status == STATUS_MISSED_LOOP) {
        report_open(loops, report);
        return STATUS_OPEN_LOOP;
    }
    for (int i = 0; i < loops->robot->n_loops && status == STATUS_OK; i++)
        if (left_open(loops, i) > NEARLY_CLOSED)
            report_add(report, REPORT_WARNING,
                       "loops[%d] (%s): equations that follow from the others are met to %.3g m (or rad) only: lengths "
                       "and frames do not fit exactly",
                       i, loops->robot->loop[i].name, left_open(loops, i));
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

/* Newton's iteration. With X and S of a state near by, for as long as they serve, the gap shrinks by the share that they are off,
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
        largest = loops_open_by(loops);
        const bool closed = largest < CLOSED || (largest < NEARLY_CLOSED && largest >= SLOW * before);
        if (!near || (!closed && largest > SLOW * before)) {
            enum status status = dyn_articulate(model, work);
            if (status == STATUS_OK) status = loops_mobility(model, work, tangent, loops);
            if (status != STATUS_OK) return status;
        }
        if (closed) {
            double missed;
            if (loops_missed(loops, &missed) >= 0) return STATUS_MISSED_LOOP;
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
