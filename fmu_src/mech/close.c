/* Closing the loops: from a guess at the start, and by projection after every step of the integration. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/dense.h"
#include "math/vec.h"
#include "mech/mechanism.h"

/* A gap below the first counts as closed; one below the second if rounding prevents a smaller one [m, or cosine] */
static const double CLOSED = 1e-13, NEARLY_CLOSED = 1e-11;
/* Largest gap of redundant constraints, which hold only as exactly as lengths and frames are given: at the start, and later */
static const double INEXACT = 1e-9, VIOLATED = 1e-7;
/* An iteration that leaves more than this fraction of a gap is slow */
static const double SLOW = 0.1;
enum { MOST_ITERATIONS = 100, MOST_PROJECTIONS = 10, FIXED_PROJECTIONS = 2 };

/* ---- at the start ------------------------------------------------------------------------------------------------ */

/* Coordinates that may move; prescribed joints never move */
enum stage { PASSIVE_JOINTS, ALL_JOINTS, ELASTIC_COORDINATES };

static void mark_movable(struct mechanism *m, enum stage stage, double *movable)
{
    const struct model *model = m->model;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const bool joint = lm->prescribed < 0 && (lm->passive || stage >= ALL_JOINTS);
        for (int k = 0; k < lm->joint.nv; k++) movable[lm->v + k] = joint;
        for (int k = 0; k < lm->m; k++) movable[lm->eta_v + k] = stage == ELASTIC_COORDINATES;
    }
}

static double norm_of_gap(struct mechanism *m, const double *q)
{
    const struct model *model = m->model;
    const struct constraints *loops = m->constraints;
    const struct input rest = {.q = q, .qd = loops->direction};
    memset(loops->direction, 0, (size_t)model->nv * sizeof(double));
    dyn_configuration(model, m->work, q);
    dyn_velocity(model, m->work, &rest);
    constraints_gap(m);
    return sqrt(dense_dot(loops->n_rows, loops->gap, loops->gap));
}

/* dq = -W G'(G W G' + mu)^-1 gap: the smallest step of the movable coordinates, damped (Levenberg-Marquardt) */
static bool newton_step(struct mechanism *m, const double *movable, double mu, double *dq)
{
    const struct model *model = m->model;
    struct constraints *loops = m->constraints;
    const size_t n = (size_t)model->nv;
    const int k = loops->n_rows;
    double trace = 0;
    for (int i = 0; i < k; i++) {
        double *G = loops->G + n * (size_t)i;
        constraints_row(m, i);
        for (size_t j = 0; j < n; j++) G[j] *= movable[j];
        for (int j = 0; j <= i; j++) loops->S[k * j + i] = dense_dot(model->nv, loops->G + n * (size_t)j, G);
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

/* Angle between directions that a loop keeps parallel [rad]: the axes of a pin, the frames of a weld. The rotational constraints
   are not sufficient: they are also satisfied at half a turn. */
static double misalignment(const struct loop *loop, const struct attachment *side)
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

static bool all_aligned(struct mechanism *m)
{
    for (int i = 0; i < m->robot->n_loops; i++)
        if (misalignment(&m->robot->loop[i], m->constraints->side[i]) > 1) return false;
    return true;
}

/* Elastic coordinates may close a gap that the joints leave, but not make up for a link of the wrong length: a tip may move by at
   most a tenth of the link's length */
static bool deflections_are_small(struct mechanism *m, const double *q, const double *found)
{
    const struct model *model = m->model;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &m->work->link[i];
        double moved[3] = {0};
        if (lm->m == 0) continue;
        const struct section_work *tip = &w->section[0];
        for (int k = 0; k < lm->m; k++) axpy3(found[lm->eta_q + k] - q[lm->eta_q + k], tip->J[k] + 3, moved);
        if (dot3(moved, moved) > 0.01 * dot3(tip->r, tip->r)) return false;
    }
    return true;
}

/* Damped Newton iteration from q; true if the gaps close. On return, gaps and frames are those of q. */
static bool close_with(struct mechanism *m, const double *movable, double *q, double *trial, double *dq)
{
    const struct model *model = m->model;
    const size_t bytes = (size_t)model->nq * sizeof *q;
    double norm = norm_of_gap(m, q), mu = 1e-6;
    for (int i = 0; i < MOST_ITERATIONS && norm > CLOSED && mu < 1e6; i++) {
        if (!newton_step(m, movable, mu, dq)) { /* redundant constraints need damping */
            mu *= 100;
            continue;
        }
        memcpy(trial, q, bytes);
        model_move(model, trial, dq, 1);
        const double next = norm_of_gap(m, trial);
        if (next < norm) {
            memcpy(q, trial, bytes);
            norm = next;
            mu = fmax(mu / 100, 1e-15);
            continue;
        }
        norm_of_gap(m, q);               /* restore gaps and frames */
        if (norm < NEARLY_CLOSED) break; /* only rounding errors remain */
        mu = 10 * mu + 1e-14;
    }
    return norm < INEXACT && all_aligned(m);
}

static double distance(struct mechanism *m, int i)
{
    const struct constraints *loops = m->constraints;
    double square = 0;
    for (int row = loops->first[i]; row < loops->first[i + 1]; row++)
        if (!loops->equation[row].rotational) square += loops->gap[row] * loops->gap[row];
    return sqrt(square);
}

static void report_open(struct mechanism *m, struct report *report)
{
    const struct constraints *loops = m->constraints;
    double widest = 0;
    for (int i = 0; i < m->robot->n_loops; i++)
        widest = fmax(widest, fmax(distance(m, i), misalignment(&m->robot->loop[i], loops->side[i])));
    for (int i = 0; i < m->robot->n_loops; i++) {
        const struct loop *loop = &m->robot->loop[i];
        const double angle = misalignment(loop, loops->side[i]), gap = distance(m, i);
        if (fmax(gap, angle) < fmin(INEXACT, widest)) continue;
        char angle_text[64] = " remains";
        if (loop->type == LOOP_PIN || loop->type == LOOP_WELD)
            snprintf(angle_text, sizeof angle_text, " and a misalignment of %.3g rad remain", angle);
        report_add(report, REPORT_ERROR,
                   "loops[%d] (%s): cannot be closed from the start positions: a gap of %.3g m%s; give start "
                   "positions nearer to a closed pose, or check lengths and frames",
                   i, loop->name, gap, angle_text);
    }
}

/* Closes with as few kinds of coordinates as possible; on failure `found` and the gaps are those reached by the joints */
static enum status close_by_stages(struct mechanism *m, const double *q, double *found, double *movable, double *trial,
                                   double *dq)
{
    const struct model *model = m->model;
    for (int stage = PASSIVE_JOINTS; stage <= ELASTIC_COORDINATES; stage++) {
        memcpy(found, q, (size_t)model->nq * sizeof *found);
        mark_movable(m, (enum stage)stage, movable);
        if (close_with(m, movable, found, trial, dq) &&
            (stage < ELASTIC_COORDINATES || deflections_are_small(m, q, found)))
            return STATUS_OK;
    }
    memcpy(found, q, (size_t)model->nq * sizeof *found);
    mark_movable(m, ALL_JOINTS, movable);
    close_with(m, movable, found, trial, dq);
    return STATUS_OPEN_LOOP;
}

enum status constraints_close(struct mechanism *m, double *q, struct report *report)
{
    struct constraints *loops = m->constraints;
    struct arena scratch = {0};
    const size_t nq = (size_t)m->model->nq, nv = (size_t)m->model->nv;
    if (loops->n_rows == 0) return STATUS_OK;
    double *movable = arena_take(&scratch, nv, sizeof *movable), *found = arena_take(&scratch, nq, sizeof *found),
           *trial = arena_take(&scratch, nq, sizeof *trial), *dq = arena_take(&scratch, nv, sizeof *dq);
    enum status status = STATUS_NO_MEMORY;
    loops->n_active = loops->n_rows;
    for (int i = 0; i < loops->n_rows; i++) loops->active[i] = i;
    if (!scratch.failed) status = close_by_stages(m, q, found, movable, trial, dq);
    if (status == STATUS_OK) memcpy(q, found, nq * sizeof *q);
    else if (status == STATUS_OPEN_LOOP) report_open(m, report);
    arena_release(&scratch);
    return status;
}

/* The largest gap of the dropped constraints of a loop; `active` is ascending */
static double largest_dropped_gap(const struct constraints *loops, int loop)
{
    double largest = 0;
    for (int row = loops->first[loop], k = 0; row < loops->first[loop + 1]; row++) {
        while (k < loops->n_active && loops->active[k] < row) k++;
        if (k == loops->n_active || loops->active[k] != row) largest = fmax(largest, fabs(loops->gap[row]));
    }
    return largest;
}

int constraints_missed(const struct constraints *loops, double *gap)
{
    int worst = -1;
    *gap = VIOLATED;
    for (int i = 0; i < loops->n_loops && loops->n_active < loops->n_rows; i++)
        if (largest_dropped_gap(loops, i) > *gap) {
            *gap = largest_dropped_gap(loops, i);
            worst = i;
        }
    return worst;
}

enum status constraints_settle(struct mechanism *m, double *q, double *qd, struct report *redundant,
                               struct report *report)
{
    enum status status = constraints_choose(m, q, redundant);
    if (status == STATUS_OK) status = constraints_project(m, BY_NEW_FACTORS, q, qd, NULL, NULL);
    if (status == STATUS_LOOP_NOT_CLOSED || status == STATUS_MISSED_LOOP) {
        report_open(m, report);
        return STATUS_OPEN_LOOP;
    }
    for (int i = 0; i < m->robot->n_loops && status == STATUS_OK; i++)
        if (largest_dropped_gap(m->constraints, i) > NEARLY_CLOSED)
            report_add(report, REPORT_WARNING,
                       "loops[%d] (%s): redundant constraints hold only to %.3g m (or rad): lengths and frames are not "
                       "exactly consistent",
                       i, m->robot->loop[i].name, largest_dropped_gap(m->constraints, i));
    return status;
}

/* ---- while integrating ------------------------------------------------------------------------------------------- */

/* G at the present state, of m; X and S of a state nearby, of `factors` */
struct projector {
    struct mechanism *m;
    struct mechanism factors;
};

/* x -= X S^-1 G x; returns the largest of G x. If X and S are not those of this G, a fraction of it remains. */
static double project_direction(struct projector *p, double *x)
{
    const int n = p->m->model->nv;
    const struct constraints *loops = p->m->constraints;
    double *rhs = p->factors.constraints->rhs, largest = 0;
    for (int k = 0; k < loops->n_active; k++) {
        rhs[k] = -dense_dot(n, loops->G + (size_t)n * (size_t)k, x);
        largest = fmax(largest, fabs(rhs[k]));
    }
    constraints_respond(&p->factors, x);
    return largest;
}

/* Makes the rates G qd zero to rounding */
static void project_velocity(struct projector *p, double *qd)
{
    double largest = INFINITY, before;
    do {
        before = largest;
        largest = project_direction(p, qd);
    } while (largest > CLOSED && largest < SLOW * before);
}

/* q -= X S^-1 gap */
static void project_position(struct projector *p, double *q)
{
    const struct model *model = p->m->model;
    const struct constraints *loops = p->m->constraints;
    for (int k = 0; k < loops->n_active; k++) p->factors.constraints->rhs[k] = -loops->gap[loops->active[k]];
    memset(loops->direction, 0, (size_t)model->nv * sizeof(double));
    constraints_respond(&p->factors, loops->direction);
    model_move(model, q, loops->direction, 1);
}

/* G, X and S at the present state. After dyn_position(). */
static enum status renew_factors(struct projector *p)
{
    struct mechanism *m = p->m;
    const enum status status = dyn_articulate(m->model, m->work);
    if (status != STATUS_OK) return status;
    p->factors = *m;
    constraints_frames(m, false);
    constraints_mobility(m);
    return constraints_factor(m);
}

static enum status project_rates(struct projector *p, double *qd, double *err_q, double *err_qd)
{
    double missed;
    if (constraints_missed(p->m->constraints, &missed) >= 0) return STATUS_MISSED_LOOP;
    project_velocity(p, qd);
    if (err_q != NULL) project_direction(p, err_q);
    if (err_qd != NULL) project_direction(p, err_qd);
    return STATUS_OK;
}

/* The frames and the rows of G at q */
static void place_rows(struct mechanism *m, const double *q)
{
    dyn_configuration(m->model, m->work, q);
    dyn_position(m->model, m->work); /* the rates come from G qd */
    constraints_rows(m);
}

/* Newton iteration. X and S of a nearby state are used as long as the gap shrinks fast enough; a step then costs only the frames
   and G. */
enum status constraints_project(struct mechanism *m, enum projection by, double *q, double *qd, double *err_q,
                                double *err_qd)
{
    struct projector p = {m, *m};
    double largest = INFINITY;
    if (by == BY_NEWTON_FACTORS) p.factors.constraints = m->newton_constraints;
    for (int iteration = 0; iteration < MOST_PROJECTIONS; iteration++) {
        const double before = largest;
        place_rows(m, q);
        largest = constraints_largest_gap(m->constraints);
        const bool closed = largest < CLOSED || (largest < NEARLY_CLOSED && largest >= SLOW * before);
        if (by == BY_NEW_FACTORS || (!closed && largest > SLOW * before)) {
            const enum status status = renew_factors(&p);
            if (status != STATUS_OK) return status;
        }
        if (closed) return project_rates(&p, qd, err_q, err_qd);
        project_position(&p, q);
    }
    return STATUS_LOOP_NOT_CLOSED;
}

enum status constraints_project_fixed(struct mechanism *m, double *q, double *qd)
{
    struct projector p = {m, *m};
    p.factors.constraints = m->newton_constraints;
    for (int i = 0; i < FIXED_PROJECTIONS; i++) {
        place_rows(m, q);
        project_position(&p, q);
    }
    place_rows(m, q);
    for (int i = 0; i < FIXED_PROJECTIONS; i++) project_direction(&p, qd);
    double missed;
    return constraints_missed(m->constraints, &missed) >= 0 ? STATUS_MISSED_LOOP : STATUS_OK;
}
