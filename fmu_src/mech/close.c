/* Closing the loops: from a guess, and by projection after every step of the integration. */
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
/* The search for the least change ends when a step along the loops is below the first. G W G' is damped by the second times its trace,
   because redundant constraints make it singular. */
static const double LEAST_STEP = 1e-10, LEAST_DAMPING = 1e-13;
/* If closing moves a joint by more than the first, a note is reported; by more than the second, from the start of the robot file, an
   error [rad, m] */
static const double NOTED = 1e-6, FARTHEST = 0.3;
/* An iteration is slow if more than this fraction of a gap remains */
static const double SLOW = 0.1;
enum { MOST_ITERATIONS = 100, MOST_PROJECTIONS = 10, FIXED_PROJECTIONS = 2 };

/* ---- from a guess ------------------------------------------------------------------------------------------------ */

/* Coordinates that may move; prescribed joints never move */
enum movable { PASSIVE_JOINTS, ALL_JOINTS, ELASTIC_COORDINATES };

/* Loops that share joints, a group, are closed together, by joints of their own. Where links must bend, all loops are closed together,
   because loops without common joints may have common links. */
enum { ALL_GROUPS = -1 };
struct closer {
    struct mechanism *m;
    const struct closing *how;
    int group;
    double *movable;       /* nv: 1 or 0                                                                  */
    double *before;        /* nq: where the joints were before this group                                 */
    double *found;         /* nq: the positions                                                           */
    double *trial, *dq;    /* nq, nv                                                                      */
    double *change, *kept; /* nv: from the reference to the positions, and its part along the loops; nq   */
};

static bool in_group(const struct closer *c, const struct constraint *constraint)
{
    return c->group == ALL_GROUPS || constraint->group == c->group;
}

static void mark_movable(struct closer *c, enum movable stage)
{
    const struct model *model = c->m->model;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        bool joint = false, body = false;
        for (int k = 0; k < c->m->constraints->count; k++) {
            const struct constraint *constraint = &c->m->constraints->constraint[k];
            bool bends;
            if (!in_group(c, constraint)) continue;
            joint = constraint->kind->moved_by(model, constraint->part, i, &bends) || joint;
            body = body || bends;
        }
        const bool locked = lm->prescribed >= 0 || (c->how->locked != NULL && c->how->locked[i]);
        joint = joint && !locked && (lm->passive || stage >= ALL_JOINTS);
        for (int k = 0; k < lm->joint.nv; k++) c->movable[lm->v + k] = joint;
        for (int k = 0; k < lm->m; k++) c->movable[lm->eta_v + k] = body && stage == ELASTIC_COORDINATES;
    }
}

/* The constraints of a group */
static void activate_group(struct closer *c, int group)
{
    struct constraints *loops = c->m->constraints;
    c->group = group;
    loops->n_active = 0;
    for (int row = 0; row < loops->n_rows; row++)
        if (in_group(c, loops->of_row[row])) loops->active[loops->n_active++] = row;
}

/* |gap| of the active constraints */
static double norm_of_gap(struct mechanism *m, const double *q)
{
    const struct constraints *loops = m->constraints;
    double square = 0;
    dyn_configuration(m->model, m->work, q);
    dyn_position(m->model, m->work);
    constraints_gap(m, &(struct input){.q = q});
    for (int k = 0; k < loops->n_active; k++) {
        const double gap = loops->gap[loops->active[k]] / loops->size[loops->active[k]];
        square += gap * gap;
    }
    return sqrt(square);
}

/* G W of the active constraints and the factors of G W G' + mu trace(G W G'); W selects what may move */
static bool factor_movable(struct closer *c, double mu)
{
    struct constraints *loops = c->m->constraints;
    const int nv = c->m->model->nv, k = loops->n_active;
    double trace = 0;
    for (int i = 0; i < k; i++) {
        double *G = loops->G + (size_t)nv * (size_t)i;
        constraints_row(c->m, i);
        for (int j = 0; j < nv; j++) G[j] *= c->movable[j];
        for (int j = 0; j <= i; j++) loops->S[k * j + i] = dense_dot(nv, loops->G + (size_t)nv * (size_t)j, G);
        trace += loops->S[(k + 1) * i];
    }
    if (!(trace > 0)) return false;
    for (int i = 0; i < k; i++) loops->S[(k + 1) * i] += mu * trace;
    return cholesky_factor(k, loops->S, loops->inverse_d) == 0;
}

/* x -= W G'(G W G' + mu)^-1 rhs */
static void subtract_response(struct closer *c, double *x)
{
    struct constraints *loops = c->m->constraints;
    const int nv = c->m->model->nv;
    cholesky_solve(loops->n_active, loops->S, loops->inverse_d, loops->rhs);
    for (int i = 0; i < loops->n_active; i++) dense_add(nv, -loops->rhs[i], loops->G + (size_t)nv * (size_t)i, x);
}

static double misalignment(const struct mechanism *m, const struct constraint *c)
{
    return c->kind->misalignment != NULL ? c->kind->misalignment(m, c) : 0;
}

static bool all_aligned(const struct closer *c)
{
    for (int i = 0; i < c->m->constraints->count; i++) {
        const struct constraint *constraint = &c->m->constraints->constraint[i];
        if (in_group(c, constraint) && misalignment(c->m, constraint) > 1) return false;
    }
    return true;
}

/* Elastic coordinates may close a gap that the joints leave, but not make up for a link of the wrong length: a tip may move by at
   most a tenth of the link's length */
static bool deflections_are_small(const struct closer *c)
{
    const struct model *model = c->m->model;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &c->m->work->link[i];
        double moved[3] = {0};
        if (lm->m == 0) continue;
        const struct section_work *tip = &w->section[0];
        for (int k = 0; k < lm->m; k++) axpy3(c->found[lm->eta_q + k] - c->before[lm->eta_q + k], tip->J[k] + 3, moved);
        if (dot3(moved, moved) > 0.01 * dot3(tip->r, tip->r)) return false;
    }
    return true;
}

/* Damped Newton iteration from `found` (Levenberg-Marquardt) by the smallest step of the movable coordinates,
   dq = -W G'(G W G' + mu)^-1 gap; true if the gaps close. On return, gaps and frames are those of `found`. */
static bool close_gaps(struct closer *c)
{
    const struct model *model = c->m->model;
    const struct constraints *loops = c->m->constraints;
    const size_t bytes = (size_t)model->nq * sizeof(double);
    double norm = norm_of_gap(c->m, c->found), mu = 1e-6;
    for (int i = 0; i < MOST_ITERATIONS && norm > CLOSED && mu < 1e6; i++) {
        if (!factor_movable(c, mu)) { /* redundant constraints need damping */
            mu *= 100;
            continue;
        }
        for (int k = 0; k < loops->n_active; k++) loops->rhs[k] = loops->gap[loops->active[k]];
        memset(c->dq, 0, (size_t)model->nv * sizeof *c->dq);
        subtract_response(c, c->dq);
        memcpy(c->trial, c->found, bytes);
        model_move(model, c->trial, c->dq, 1);
        const double next = norm_of_gap(c->m, c->trial);
        if (next < norm) {
            memcpy(c->found, c->trial, bytes);
            norm = next;
            mu = fmax(mu / 100, 1e-15);
            continue;
        }
        norm_of_gap(c->m, c->found);     /* restore gaps and frames */
        if (norm < NEARLY_CLOSED) break; /* only rounding errors remain */
        mu = 10 * mu + 1e-14;
    }
    return norm < INEXACT && all_aligned(c);
}

/* The movable part of the change from the reference to `found`; its norm */
static double measure_change(struct closer *c)
{
    const struct model *model = c->m->model;
    model_difference(model, c->how->near != NULL ? c->how->near : c->before, c->found, c->change);
    for (int j = 0; j < model->nv; j++) c->change[j] *= c->movable[j];
    return sqrt(dense_dot(model->nv, c->change, c->change));
}

/* change -= W G'(G W G')^-1 G change: what remains moves along the loops, and is zero where the change is the least; its norm */
static double project_change(struct closer *c)
{
    struct constraints *loops = c->m->constraints;
    const int nv = c->m->model->nv;
    if (!factor_movable(c, LEAST_DAMPING)) return 0;
    for (int k = 0; k < loops->n_active; k++)
        loops->rhs[k] = dense_dot(nv, loops->G + (size_t)nv * (size_t)k, c->change);
    subtract_response(c, c->change);
    return sqrt(dense_dot(nv, c->change, c->change));
}

/* From a closed pose to the nearby one with the least change: steps along the loops, after each of which the loops are closed again,
   as long as the change shrinks */
static void minimize_change(struct closer *c)
{
    const size_t bytes = (size_t)c->m->model->nq * sizeof(double);
    const double gap = fmax(norm_of_gap(c->m, c->found), NEARLY_CLOSED);
    double norm = measure_change(c), fraction = 1;
    memcpy(c->kept, c->found, bytes);
    for (int i = 0; i < MOST_ITERATIONS && fraction * project_change(c) > LEAST_STEP; i++) {
        model_move(c->m->model, c->found, c->change, -fraction);
        const bool closed = close_gaps(c) && norm_of_gap(c->m, c->found) <= gap;
        const double next = measure_change(c);
        if (closed && next < norm) {
            memcpy(c->kept, c->found, bytes);
            norm = next;
            fraction = fmin(1, 2 * fraction);
            continue;
        }
        memcpy(c->found, c->kept, bytes);
        norm_of_gap(c->m, c->found);
        measure_change(c);
        fraction *= 0.5;
    }
}

static double distance(const struct mechanism *m, const struct constraint *c)
{
    double square = 0;
    for (int row = c->first; row < c->first + c->count; row++)
        if (constraints_row_sort(m->constraints, row) != ROW_ANGLE)
            square += m->constraints->gap[row] * m->constraints->gap[row];
    return sqrt(square);
}

static void report_open(struct mechanism *m, struct report *report)
{
    const struct constraints *all = m->constraints;
    double widest = 0;
    for (int i = 0; i < all->count; i++)
        widest = fmax(widest, fmax(distance(m, &all->constraint[i]), misalignment(m, &all->constraint[i])));
    for (int i = 0; i < all->count; i++) {
        const struct constraint *c = &all->constraint[i];
        const double angle = misalignment(m, c), gap = distance(m, c);
        if (fmax(gap, angle) < fmin(INEXACT, widest)) continue;
        char label[MOST_LABEL], angle_text[64] = " remains";
        if (c->count > 3) snprintf(angle_text, sizeof angle_text, " and a misalignment of %.3g rad remain", angle);
        report_add(report, REPORT_ERROR,
                   "%s: cannot be closed from the start positions: a gap of %.3g m%s%s; give start "
                   "positions nearer to a closed pose, or check %s",
                   constraint_label(c, label), gap, c->kind == &coupling_constraint ? " (or rad)" : "", angle_text,
                   c->kind == &coupling_constraint ? "offset and factors" : "lengths and frames");
    }
}

/* Closes the active loops by the least change of the coordinates that may move at this stage; on failure `found` is unchanged */
static bool close_by(struct closer *c, enum movable stage)
{
    const size_t bytes = (size_t)c->m->model->nq * sizeof(double);
    memcpy(c->before, c->found, bytes);
    mark_movable(c, stage);
    if (close_gaps(c) && (stage < ELASTIC_COORDINATES || deflections_are_small(c))) {
        minimize_change(c);
        return true;
    }
    memcpy(c->found, c->before, bytes);
    return false;
}

/* By as few kinds of coordinates as possible: first by joints, group by group. The plane of a planar pin makes a loop depend on joints
   below the plane, which another group may move: as many rounds as groups suffice. In the first round a group is left as it is if it
   is closed and no nearer pose is asked for; later, if no other group has opened it. On failure `found` and the gaps are those
   reached by the joints. */
static enum status close_loops(struct closer *c)
{
    const struct constraints *loops = c->m->constraints;
    bool moved = true;
    for (int round = 0; moved && round < loops->count; round++) {
        const double enough = round > 0 ? NEARLY_CLOSED : CLOSED;
        const bool may_stay = round > 0 || c->how->near == NULL;
        moved = false;
        for (int group = 0; group < loops->count; group++) {
            activate_group(c, group);
            if (loops->n_active == 0) continue;
            if (may_stay && norm_of_gap(c->m, c->found) <= enough && all_aligned(c)) continue;
            moved = close_by(c, PASSIVE_JOINTS) || close_by(c, ALL_JOINTS) || moved;
        }
    }
    activate_group(c, ALL_GROUPS);
    if (norm_of_gap(c->m, c->found) < INEXACT && all_aligned(c)) return STATUS_OK;
    if (!c->how->rigid && close_by(c, ELASTIC_COORDINATES)) return STATUS_OK;
    mark_movable(c, ALL_JOINTS);
    close_gaps(c);
    return STATUS_OPEN_LOOP;
}

enum status constraints_close(struct mechanism *m, const struct closing *how, double *q, struct report *report)
{
    const struct closing start = {0};
    struct arena scratch = {0};
    const size_t nq = (size_t)m->model->nq, nv = (size_t)m->model->nv;
    if (m->constraints->n_rows == 0) return STATUS_OK;
    struct closer c = {.m = m, .how = how != NULL ? how : &start};
    arena_arrays(&scratch, nq, ARRAYS(&c.before, &c.found, &c.trial, &c.kept));
    arena_arrays(&scratch, nv, ARRAYS(&c.movable, &c.dq, &c.change));
    enum status status = STATUS_NO_MEMORY;
    if (!scratch.failed) {
        memcpy(c.found, q, nq * sizeof *q);
        status = close_loops(&c);
    }
    if (status == STATUS_OK) memcpy(q, c.found, nq * sizeof *q);
    else if (status == STATUS_OPEN_LOOP) report_open(m, report);
    arena_release(&scratch);
    return status;
}

/* ---- the start of the robot file --------------------------------------------------------------------------------- */

/* A constraint of the joint; NULL: none, or the start of one of them is approximate ("start": "approximate") */
static const struct constraint *with_exact_start(const struct mechanism *m, int link)
{
    const struct constraint *found = NULL;
    for (int i = 0; i < m->constraints->count; i++) {
        const struct constraint *c = &m->constraints->constraint[i];
        if (!constraint_has_joint(m->model, c, link)) continue;
        if (c->approximate) return NULL;
        if (found == NULL) found = c;
    }
    return found;
}

/* One coordinate of a joint, and by how much closing has moved it */
struct move {
    int link, k;
    double change;
};

static void report_move(const struct mechanism *m, const struct move *move, bool too_far, struct report *report)
{
    const struct model *model = m->model;
    const struct joint_model *joint = &model->link[move->link].joint;
    const struct constraint *c = with_exact_start(m, move->link);
    const bool coupled = c != NULL && c->kind == &coupling_constraint;
    const char *what = coupled ? "couplings" : "loops";
    const char *name = model->robot->link[move->link].joint.name, *unit = joint->part[move->k] == TURNS ? "rad" : "m";
    char label[MOST_LABEL], coordinate[32] = "";
    if (joint->nv > 1) snprintf(coordinate, sizeof coordinate, ", coordinate %d,", move->k + 1);
    if (!too_far)
        report_note(report, "joint '%s'%s moves by %.6g %s from its start position to close the %s", name, coordinate,
                    move->change, unit, what);
    else
        report_add(report, REPORT_ERROR,
                   "%s: to close the %s from the start positions, joint '%s'%s would have to move by %.6g "
                   "%s, more than %g %s; %s",
                   constraint_label(c, label), what, name, coordinate, move->change, unit, FARTHEST, unit,
                   coupled ? "check offset and factors, or give start positions nearer to a closed pose"
                           : "check lengths and frames, give start positions nearer to a closed pose, or give the loop "
                             "\"start\": \"approximate\" (limber-robot/2)");
}

/* Reports all moves as notes; if `limited`, also an error for the largest of those that are too far */
static void report_moves(const struct mechanism *m, const double *change, bool limited, struct report *report)
{
    const struct model *model = m->model;
    struct move farthest = {.change = FARTHEST};
    for (int i = 0; i < model->n_links; i++)
        for (int k = 0; k < model->link[i].joint.nv; k++) {
            const struct move move = {i, k, change[model->link[i].v + k]};
            if (fabs(move.change) > NOTED) report_move(m, &move, false, report);
            if (fabs(move.change) > fabs(farthest.change) && with_exact_start(m, i) != NULL) farthest = move;
        }
    if (limited && fabs(farthest.change) > FARTHEST) report_move(m, &farthest, true, report);
}

enum status constraints_close_start(struct mechanism *m, double *q, struct report *report)
{
    const struct model *model = m->model;
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    struct arena scratch = {0};
    double *before = arena_allocate(&scratch, nq, sizeof *before), *start = arena_allocate(&scratch, nq, sizeof *start),
           *change = arena_allocate(&scratch, nv, sizeof *change), *rates = arena_allocate(&scratch, nv, sizeof *rates);
    const int errors = report->errors;
    enum status status = STATUS_NO_MEMORY;
    if (!scratch.failed) {
        memcpy(before, q, nq * sizeof *q);
        status = constraints_close(m, NULL, q, report);
    }
    if (status == STATUS_OK) {
        /* the limit applies if the guess is the start of the robot file, so that nobody else chose it */
        model_start(model, start, rates);
        model_difference(model, start, before, change);
        const bool own = dense_dot(model->nv, change, change) < CLOSED * CLOSED;
        model_difference(model, before, q, change);
        report_moves(m, change, own, report);
        if (report->errors > errors) status = STATUS_OPEN_LOOP;
    }
    arena_release(&scratch);
    return status;
}

/* The largest gap of the dropped rows of a constraint; `active` is ascending */
static double largest_dropped_gap(const struct constraints *loops, int i)
{
    const struct constraint *c = &loops->constraint[i];
    double largest = 0;
    for (int row = c->first, k = 0; row < c->first + c->count; row++) {
        while (k < loops->n_active && loops->active[k] < row) k++;
        if (k == loops->n_active || loops->active[k] != row)
            largest = fmax(largest, fabs(loops->gap[row]) / loops->size[row]);
    }
    return largest;
}

int constraints_missed(const struct constraints *loops, double *gap)
{
    int worst = -1;
    *gap = VIOLATED;
    for (int i = 0; i < loops->count && loops->n_active < loops->n_rows; i++)
        if (largest_dropped_gap(loops, i) > *gap) {
            *gap = largest_dropped_gap(loops, i);
            worst = i;
        }
    return worst;
}

enum status constraints_choose_and_project(struct mechanism *m, double *q, double *qd, struct report *redundant,
                                           struct report *report)
{
    enum status status = constraints_choose(m, q, redundant);
    if (status == STATUS_OK) status = constraints_project(m, BY_NEW_FACTORS, q, qd, NULL, NULL);
    if (status == STATUS_LOOP_NOT_CLOSED || status == STATUS_MISSED_LOOP) {
        report_open(m, report);
        return STATUS_OPEN_LOOP;
    }
    char label[MOST_LABEL];
    for (int i = 0; i < m->constraints->count && status == STATUS_OK; i++)
        if (largest_dropped_gap(m->constraints, i) > NEARLY_CLOSED)
            report_add(report, REPORT_WARNING,
                       "%s: redundant constraints hold only to %.3g m (or rad): lengths and frames are not "
                       "exactly consistent",
                       constraint_label(&m->constraints->constraint[i], label), largest_dropped_gap(m->constraints, i));
    return status;
}

/* ---- while integrating ------------------------------------------------------------------------------------------- */

/* G of the present state is in m; X and S, perhaps of a nearby state, are in `factors` */
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

/* G, X and S at the present state. */
static enum status factor_at_state(struct projector *p)
{
    struct mechanism *m = p->m;
    const enum status status = dyn_articulate(m->model, m->work);
    if (status != STATUS_OK) return status;
    p->factors = *m;
    constraints_frames(m, false);
    constraints_mobility(m, BY_ARTICULATED_FACTORS);
    return constraints_factor(m);
}

/* The frames and the rows of G at q */
static void place_rows(struct mechanism *m, const double *q)
{
    const struct input in = {.q = q};
    dyn_configuration(m->model, m->work, q);
    dyn_position(m->model, m->work); /* the rates come from G qd */
    constraints_rows(m, &in);
}

/* Newton iteration for q, then qd until the rates G qd are zero to rounding. X and S of a nearby state are used as long as the gap
   shrinks fast enough; a step then costs only the frames and G. */
enum status constraints_project(struct mechanism *m, enum projection by, double *q, double *qd, double *err_q,
                                double *err_qd)
{
    struct projector p = {m, *m};
    double largest = INFINITY, before, missed;
    bool closed = false;
    if (by == BY_NEWTON_FACTORS) p.factors.constraints = m->newton_constraints;
    for (int iteration = 0; iteration < MOST_PROJECTIONS && !closed; iteration++) {
        before = largest;
        place_rows(m, q);
        largest = constraints_largest_gap(m->constraints);
        closed = largest < CLOSED || (largest < NEARLY_CLOSED && largest >= SLOW * before);
        if (by == BY_NEW_FACTORS || (!closed && largest > SLOW * before)) {
            const enum status status = factor_at_state(&p);
            if (status != STATUS_OK) return status;
        }
        if (!closed) project_position(&p, q);
    }
    if (!closed) return STATUS_LOOP_NOT_CLOSED;
    if (constraints_missed(m->constraints, &missed) >= 0) return STATUS_MISSED_LOOP;
    largest = INFINITY;
    do {
        before = largest;
        largest = project_direction(&p, qd);
    } while (largest > CLOSED && largest < SLOW * before);
    if (err_q != NULL) project_direction(&p, err_q);
    if (err_qd != NULL) project_direction(&p, err_qd);
    return STATUS_OK;
}

enum status constraints_project_fixed(struct mechanism *m, double *q, double *qd)
{
    struct projector p = {m, *m};
    p.factors.constraints = m->newton_constraints;
    for (int i = 0; i < FIXED_PROJECTIONS; i++) {
        place_rows(m, q);
        for (int row = 0; row < m->constraints->n_rows; row++) /* rounding would excite stiff modes */
            if (fabs(m->constraints->gap[row]) < CLOSED * m->constraints->size[row]) m->constraints->gap[row] = 0;
        project_position(&p, q);
    }
    place_rows(m, q);
    for (int i = 0; i < FIXED_PROJECTIONS; i++) project_direction(&p, qd);
    double missed;
    return constraints_missed(m->constraints, &missed) >= 0 ? STATUS_MISSED_LOOP : STATUS_OK;
}
