#include <math.h>
#include <string.h>

#include "analysis/closure.h"
#include "analysis/failure.h"

/* Longest step of a joint on the path [rad or m]; near a singular pose passive joints may exceed it after so many halvings */
static const double LONGEST_STEP = 0.05;
enum { MOST_HALVINGS = 10 };
/* A joint that is no farther from its start has not been moved: digits of a printed STATE [rad or m] */
static const double SAME_POSITION = 1e-6;

struct path {
    struct mechanism *m;
    const double *target;    /* nq: positions of the state                                       */
    double *file, *start;    /* nq: start of the robot file, and closed                          */
    double *here, *next;     /* nq                                                               */
    double *line;            /* nq: the point of the straight path                               */
    double *toward, *change; /* nv: from start to target; of a step                              */
    bool *placed, *follows;  /* n_links: reaches its target; moves as the loops require          */
    double *rates;           /* nv                                                               */
};

/* ---- which joints follow ----------------------------------------------------------------------------------------------------- */

static bool in_a_loop(const struct mechanism *m, int link)
{
    for (int i = 0; i < m->constraints->count; i++)
        if (constraint_has_joint(m->model, &m->constraints->constraint[i], link)) return true;
    return false;
}

/* Largest velocity of a joint in a tangent */
static double largest(const struct link_model *lm, const double *dx)
{
    double most = 0;
    for (int k = 0; k < lm->joint.nv; k++) most = fmax(most, fabs(dx[lm->v + k]));
    return most;
}

static void mark_followers(struct path *path)
{
    const struct model *model = path->m->model;
    for (int i = 0; i < model->n_links; i++)
        path->follows[i] = !path->placed[i] && model->link[i].prescribed < 0 && in_a_loop(path->m, i);
}

/* Joints that the state moves reach their targets: those of which the target is neither the start of the file nor the closed start.
   So do driven joints, unless the state moves a passive joint of a loop. */
static void place_moved(struct path *path, int swept)
{
    const struct model *model = path->m->model;
    bool passive_moved = false;
    model_difference(model, path->file, path->target, path->change);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        path->placed[i] =
            i == swept || (largest(lm, path->change) > SAME_POSITION && largest(lm, path->toward) > SAME_POSITION);
        passive_moved = passive_moved || (path->placed[i] && lm->passive && in_a_loop(path->m, i));
    }
    for (int i = 0; i < model->n_links && !passive_moved; i++)
        path->placed[i] = path->placed[i] || !model->link[i].passive;
    mark_followers(path);
}

/* Driven joints reach their targets, or only a swept joint that is passive */
static void place_driven(struct path *path, int swept)
{
    const struct model *model = path->m->model;
    const bool drives_follow = swept >= 0 && model->link[swept].passive;
    for (int i = 0; i < model->n_links; i++)
        path->placed[i] = i == swept || (!model->link[i].passive && !drives_follow);
    mark_followers(path);
}

/* ---- the path ------------------------------------------------------------------------------------------------------------------ */

/* next = the closed pose at a fraction of the path: the line start + fraction (target - start), or the target itself at the end;
   joints that follow begin where they are */
static enum status close_next(struct path *path, double fraction, const struct closing *closing, struct report *report)
{
    const struct model *model = path->m->model;
    const size_t bytes = (size_t)model->nq * sizeof(double);
    memcpy(path->line, fraction < 1 ? path->start : path->target, bytes);
    if (fraction < 1) model_move(model, path->line, path->toward, fraction);
    memcpy(path->next, path->line, bytes);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (path->follows[i]) memcpy(path->next + lm->q, path->here + lm->q, (size_t)lm->joint.nq * sizeof(double));
    }
    return constraints_close(path->m, closing, path->next, report);
}

/* The largest change of a joint from `here` to `next` */
static double longest_move(struct path *path)
{
    const struct model *model = path->m->model;
    double most = 0;
    model_difference(model, path->here, path->next, path->change);
    for (int i = 0; i < model->n_links; i++) most = fmax(most, largest(&model->link[i], path->change));
    return most;
}

/* Steps are halved if a joint that follows would move too far, or if a loop does not close. On return `here` is the pose. */
static enum status walk(struct path *path, const struct closing *closing, struct report *report)
{
    const struct model *model = path->m->model;
    double farthest = LONGEST_STEP;
    for (int i = 0; i < model->n_links; i++)
        if (!path->follows[i]) farthest = fmax(farthest, largest(&model->link[i], path->toward));
    const double step = 1 / ceil(farthest / LONGEST_STEP * (1 - 1e-12)), shortest = ldexp(step, -MOST_HALVINGS);
    double done = 0, h = step;
    struct report silent = {0};
    memcpy(path->here, path->start, (size_t)model->nq * sizeof(double));
    while (done < 1) {
        const double fraction = done + h < 1 - 0.5 * shortest ? done + h : 1;
        const bool last = h <= shortest;
        const enum status status = close_next(path, fraction, closing, last ? report : &silent);
        if (status != STATUS_OK && (last || status != STATUS_OPEN_LOOP)) return status;
        if (!last && (status != STATUS_OK || longest_move(path) > LONGEST_STEP * (1 + 1e-9))) {
            h *= 0.5;
            continue;
        }
        memcpy(path->here, path->next, (size_t)model->nq * sizeof(double));
        done = fraction;
        h = fmin(step, 2 * h);
    }
    return STATUS_OK;
}

/* First the joints that the state moves reach their targets, and only joints follow. If that fails, the driven joints reach theirs. */
static enum status walk_to_target(struct path *path, int swept, struct report *report)
{
    struct report silent = {0};
    const struct closing by_joints = {.locked = path->placed, .rigid = true};
    const struct closing by_drives = {.locked = path->placed, .near = path->line, .rigid = swept >= 0};
    model_start(path->m->model, path->file, path->rates);
    memcpy(path->start, path->file, (size_t)path->m->model->nq * sizeof(double));
    enum status status = constraints_close(path->m, NULL, path->start, report);
    if (status != STATUS_OK) return status;
    model_difference(path->m->model, path->start, path->target, path->toward);
    place_moved(path, swept);
    status = walk(path, &by_joints, &silent);
    if (status != STATUS_OPEN_LOOP) return status;
    place_driven(path, swept);
    return walk(path, &by_drives, report);
}

enum status closure_follow(struct mechanism *m, int swept, struct state *state, struct report *report)
{
    struct arena scratch = {0};
    struct report silent = {0};
    struct path path = {.m = m, .target = state->at.q};
    const size_t nq = (size_t)m->model->nq, nv = (size_t)m->model->nv, n_links = (size_t)m->model->n_links;
    const int errors_before = report->errors;
    if (closure_open_loop(m, state->at.q, state->at.qd, GAP_OF_DIGITS) == NULL)
        return closure_close(m, state, NULL, report);
    arena_arrays(&scratch, nq, ARRAYS(&path.file, &path.start, &path.here, &path.next, &path.line));
    arena_arrays(&scratch, nv, ARRAYS(&path.toward, &path.change, &path.rates));
    path.placed = arena_allocate(&scratch, n_links, sizeof(bool));
    path.follows = arena_allocate(&scratch, n_links, sizeof(bool));
    const bool sweep = swept >= 0;
    enum status status = scratch.failed ? STATUS_NO_MEMORY : walk_to_target(&path, swept, sweep ? report : &silent);
    if (status == STATUS_OPEN_LOOP && !sweep) {
        report_add(
            report, REPORT_WARNING,
            "no branch of closed poses leads from the start of the robot to the state: its loops are closed from the "
            "positions of the state itself");
        memcpy(path.here, path.target, nq * sizeof(double));
        status = constraints_close(m, NULL, path.here, report); /* all joints of its loops move */
    }
    if (status == STATUS_OK) {
        closure_report_bending(m->model, path.here, state->at.q, sweep ? REPORT_ERROR : REPORT_WARNING, report);
        memcpy(state->at.q, path.here, nq * sizeof(double));
        status = constraints_choose_and_project(m, state->at.q, state->at.qd, &silent, report);
    }
    arena_release(&scratch);
    if (status != STATUS_OK && report->errors == errors_before) failure_report(report, m, status);
    return status == STATUS_OPEN_LOOP ? STATUS_BAD_INPUT : status;
}
