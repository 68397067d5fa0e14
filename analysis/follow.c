#include "analysis/follow.h"

#include <math.h>
#include <string.h>

#include "analysis/closure.h"
#include "analysis/failure.h"

/* Longest step of a joint on the way [rad or m]; near a singular pose passive joints may exceed it after so many halvings */
static const double LONGEST_STEP = 0.05;
enum { MOST_HALVINGS = 10 };
/* A joint that is no farther from its start has not been moved: digits of a printed STATE [rad or m] */
static const double SAME_POSITION = 1e-6;

struct way {
    struct mechanism *m;
    const double *target;    /* nq: positions of the state                                */
    double *file, *start;    /* nq: start of the robot file, and closed                   */
    double *here, *next;     /* nq                                                        */
    double *line;            /* nq: the point of the straight way                         */
    double *toward, *change; /* nv: from start to target; of a step                       */
    bool *held, *follows;    /* n_links: reaches its position; moves as the loops require */
    double *rates;           /* nv                                                        */
};

static enum status take_arrays(struct way *w, struct arena *scratch)
{
    const size_t nq = (size_t)w->m->model->nq, nv = (size_t)w->m->model->nv, n = (size_t)w->m->model->n_links;
    double **const by_position[] = {&w->file, &w->start, &w->here, &w->next, &w->line};
    double **const by_velocity[] = {&w->toward, &w->change, &w->rates};
    for (int i = 0; i < 5; i++) *by_position[i] = arena_allocate(scratch, nq, sizeof(double));
    for (int i = 0; i < 3; i++) *by_velocity[i] = arena_allocate(scratch, nv, sizeof(double));
    w->held = arena_allocate(scratch, n, sizeof(bool));
    w->follows = arena_allocate(scratch, n, sizeof(bool));
    return scratch->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* ---- who follows whom -------------------------------------------------------------------------------------------------------- */

static bool in_a_loop(const struct model *model, int link)
{
    for (int i = 0; i < model->robot->n_loops; i++)
        if (constraints_loop_has_joint(model, i, link)) return true;
    return false;
}

/* Largest velocity of a joint in a tangent */
static double largest(const struct link_model *lm, const double *dx)
{
    double most = 0;
    for (int k = 0; k < lm->joint.nv; k++) most = fmax(most, fabs(dx[lm->v + k]));
    return most;
}

/* Marks in `held` the joints of which the target is neither the start of the file nor the closed start */
static void mark_moved(struct way *w)
{
    const struct model *model = w->m->model;
    model_difference(model, w->file, w->target, w->change);
    for (int i = 0; i < model->n_links; i++)
        w->held[i] =
            largest(&model->link[i], w->change) > SAME_POSITION && largest(&model->link[i], w->toward) > SAME_POSITION;
}

static void mark_followers(struct way *w)
{
    for (int i = 0; i < w->m->model->n_links; i++)
        w->follows[i] = !w->held[i] && w->m->model->link[i].prescribed < 0 && in_a_loop(w->m->model, i);
}

/* What the state moves is held, and driven joints too unless a passive joint of a loop is moved */
static void hold_moved(struct way *w, int swept)
{
    const struct model *model = w->m->model;
    bool passive_moved = false;
    mark_moved(w);
    for (int i = 0; i < model->n_links; i++) {
        if (i == swept) w->held[i] = true;
        passive_moved = passive_moved || (w->held[i] && model->link[i].passive && in_a_loop(model, i));
    }
    for (int i = 0; i < model->n_links; i++) w->held[i] = w->held[i] || (!model->link[i].passive && !passive_moved);
    mark_followers(w);
}

/* Driven joints are held, or a swept one that is passive */
static void hold_driven(struct way *w, int swept)
{
    const struct model *model = w->m->model;
    const bool drives_follow = swept >= 0 && model->link[swept].passive;
    for (int i = 0; i < model->n_links; i++) w->held[i] = i == swept || (!model->link[i].passive && !drives_follow);
    mark_followers(w);
}

/* ---- the way ------------------------------------------------------------------------------------------------------------------- */

/* line = start + share (target - start), at the end the target itself */
static void place_line(struct way *w, double share)
{
    const size_t bytes = (size_t)w->m->model->nq * sizeof(double);
    memcpy(w->line, share < 1 ? w->start : w->target, bytes);
    if (share < 1) model_move(w->m->model, w->line, w->toward, share);
}

/* next = the closed pose at a share of the way: the line, but for joints that follow, which begin where they are */
static enum status place_next(struct way *w, double share, const struct closing *closing, struct report *report)
{
    const struct model *model = w->m->model;
    place_line(w, share);
    memcpy(w->next, w->line, (size_t)model->nq * sizeof(double));
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (w->follows[i]) memcpy(w->next + lm->q, w->here + lm->q, (size_t)lm->joint.nq * sizeof(double));
    }
    return constraints_close(w->m, closing, w->next, report);
}

/* The largest change of a joint from `here` to `next` */
static double longest_move(struct way *w)
{
    double most = 0;
    model_difference(w->m->model, w->here, w->next, w->change);
    for (int i = 0; i < w->m->model->n_links; i++) most = fmax(most, largest(&w->m->model->link[i], w->change));
    return most;
}

/* A step is halved where a joint that follows would move too far, or a loop does not close. On return `here` is the pose. */
static enum status walk(struct way *w, const struct closing *closing, struct report *report)
{
    const struct model *model = w->m->model;
    double farthest = LONGEST_STEP;
    for (int i = 0; i < model->n_links; i++)
        if (!w->follows[i]) farthest = fmax(farthest, largest(&model->link[i], w->toward));
    const double step = 1 / ceil(farthest / LONGEST_STEP * (1 - 1e-12)), shortest = ldexp(step, -MOST_HALVINGS);
    double done = 0, h = step;
    struct report silent = {0};
    memcpy(w->here, w->start, (size_t)model->nq * sizeof(double));
    while (done < 1) {
        const double share = done + h < 1 - 0.5 * shortest ? done + h : 1;
        const bool last = h <= shortest;
        const enum status status = place_next(w, share, closing, last ? report : &silent);
        if (status != STATUS_OK && (last || status != STATUS_OPEN_LOOP)) return status;
        if (!last && (status != STATUS_OK || longest_move(w) > LONGEST_STEP * (1 + 1e-9))) {
            h *= 0.5;
            continue;
        }
        memcpy(w->here, w->next, (size_t)model->nq * sizeof(double));
        done = share;
        h = fmin(step, 2 * h);
    }
    return STATUS_OK;
}

/* First what the state moves, by joints only; then what drives move */
static enum status walk_to_target(struct way *w, const struct following *how, struct report *report)
{
    struct report silent = {0};
    const struct closing by_joints = {.locked = w->held, .rigid = true};
    const struct closing by_drives = {.locked = w->held, .near = w->line, .rigid = how->bending == REPORT_ERROR};
    model_start(w->m->model, w->file, w->rates);
    memcpy(w->start, w->file, (size_t)w->m->model->nq * sizeof(double));
    enum status status = constraints_close(w->m, NULL, w->start, report);
    if (status != STATUS_OK) return status;
    model_difference(w->m->model, w->start, w->target, w->toward);
    hold_moved(w, how->swept);
    status = walk(w, &by_joints, &silent);
    if (status != STATUS_OPEN_LOOP) return status;
    hold_driven(w, how->swept);
    return walk(w, &by_drives, report);
}

/* By a branch from the start; a state that no branch leads to is closed where it is, all joints of its loops moving */
static enum status reach_target(struct way *w, const struct following *how, struct report *report)
{
    struct report silent = {0};
    const bool sweep = how->swept >= 0;
    const enum status status = walk_to_target(w, how, sweep ? report : &silent);
    if (sweep || status != STATUS_OPEN_LOOP) return status;
    report_add(
        report, REPORT_WARNING,
        "no branch of closed poses leads from the start of the robot to the state: its loops are closed from the "
        "positions of the state itself");
    memcpy(w->here, w->target, (size_t)w->m->model->nq * sizeof(double));
    return constraints_close(w->m, NULL, w->here, report);
}

enum status closure_follow(struct mechanism *m, const struct following *how, struct state *state, struct report *report)
{
    struct arena scratch = {0};
    struct report silent = {0};
    struct way w = {.m = m, .target = state->at.q};
    const int errors_before = report->errors;
    if (closure_open_loop(m, state->at.q, state->at.qd, GAP_OF_DIGITS) == NULL)
        return closure_close(m, state, NULL, report);
    enum status status = take_arrays(&w, &scratch);
    if (status == STATUS_OK) status = reach_target(&w, how, report);
    if (status == STATUS_OK) {
        closure_report_bending(m->model, w.here, state->at.q, how->bending, report);
        memcpy(state->at.q, w.here, (size_t)m->model->nq * sizeof(double));
        status = constraints_choose_and_project(m, state->at.q, state->at.qd, &silent, report);
    }
    arena_release(&scratch);
    if (status != STATUS_OK && report->errors == errors_before) failure_report(report, m, status);
    return status == STATUS_OPEN_LOOP ? STATUS_BAD_INPUT : status;
}
