/* Following a path to an equilibrium: forces that hold the start are released along the path,
       r(x) = (1 - t) (r(x_start) - S (x - x_start)),   from t = 0 to t = 1, S the stiffness of springs, or 0,
   in steps of arc length, so that t may also decrease: the path passes turning points where the load has an extremum. (theory.md 99)
   Predictor along the tangent, corrector perpendicular to it (Keller; Allgower and Georg, Numerical Continuation Methods). */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/statics.h"

/* The corrector has converged at this fraction of the first residual */
static const double ON_THE_PATH = 1e-6;
/* The longest and the shortest step [fraction of the path's unit], and how far a joint may move in a step [rad or m] */
static const double LONGEST = 1e6, SHORTEST = 1e-7, LONGEST_MOVE = 0.2;
/* How far joints move across the end of a path [rad or m] */
static const double CROSSING = 0.02;
/* The largest distance of scattered points from the guess [rad or m] */
static const double SCATTER = 0.5;
static const double DEPENDENT = 1e-13;
enum { MOST_STEPS = 200, MOST_PATHS = 4, MOST_POINTS = 100, MOST_CORRECTIONS = 6, FAST = 3 };

struct path {
    double t, t_before;
    double unit; /* norm of the first residual: t is measured in it */
    double length;
};

/* [J r_0; along'] with r_0 = r(x_start): the unknown beside x is t, in units of the first residual */
static void factor_bordered(struct mechanism *m, struct statics *s, const struct path *path)
{
    const int size = s->N + 1;
    for (int i = 0; i < s->N; i++) s->step[i] = statics_released(s, i) * s->r_unit[i] / path->unit;
    statics_derivatives(m, s);
    statics_matrix(m, s, true);
    for (int i = 0; i < s->N; i++) {
        s->J[size * s->N + i] = s->step[i];
        s->J[size * i + s->N] = s->along[i];
        if (i < s->n) s->J[(size + 1) * i] += s->fraction * s->spring;
    }
    s->J[size * s->N + s->N] = s->along[s->N];
    s->rank = lu_ranked_factor(size, s->J, s->pivot[0], s->pivot[1], DEPENDENT);
}

static void solve_bordered(struct statics *s)
{
    lu_ranked_solve(s->N + 1, s->rank, s->J, s->pivot[0], s->pivot[1], s->scratch, s->step);
}

static void move_to(struct mechanism *m, struct statics *s, struct path *path, double fraction)
{
    statics_move(m, s, s->step, fraction);
    path->t += fraction * s->step[s->N] / path->unit;
    s->fraction = 1 - path->t;
}

/* From a prediction back to the path; returns the number of corrections, 0 if the path was not reached */
static int correct_to_path(struct mechanism *m, struct statics *s, struct path *path)
{
    double before = INFINITY;
    for (int i = 1; i <= MOST_CORRECTIONS; i++) {
        const double norm = statics_residual(m, s);
        if (norm <= ON_THE_PATH * path->unit) return i;
        if (!(norm < 2 * before)) return 0;
        before = norm;
        factor_bordered(m, s, path);
        for (int j = 0; j < s->N; j++) s->step[j] = -s->r[j] * s->r_unit[j];
        s->step[s->N] = 0;
        solve_bordered(s);
        if (statics_longest(m, s, s->step, LONGEST_MOVE) < 1) return 0;
        move_to(m, s, path, 1);
    }
    return 0;
}

/* Back to where the last step began */
static void return_to_path(struct statics *s, struct path *path)
{
    statics_return(s, s->before);
    path->t = path->t_before;
    s->fraction = 1 - path->t;
}

/* The end of the path: Newton's method for the equilibrium itself. On failure back to where the last step began, and to the units of
   the path, in which its length is measured: Newton's method chooses others. */
static bool arrive_at_equilibrium(struct mechanism *m, struct statics *s, struct path *path)
{
    const size_t bytes = (size_t)s->N * sizeof(double);
    s->fraction = 0;
    if (statics_newton(m, s) == STATUS_OK) return true;
    memcpy(s->r_unit, s->path_unit[0], bytes);
    memcpy(s->x_unit, s->path_unit[1], bytes);
    return_to_path(s, path);
    path->length *= 0.25;
    return false;
}

static bool advance_along_path(struct mechanism *m, struct statics *s, struct path *path)
{
    for (; path->length > SHORTEST * path->unit; path->length *= 0.5) {
        memcpy(s->step, s->along, (size_t)(s->N + 1) * sizeof *s->step);
        move_to(m, s, path, path->length * statics_longest(m, s, s->step, LONGEST_MOVE / path->length));
        const int corrections = correct_to_path(m, s, path);
        if (corrections > 0) {
            if (corrections <= FAST) path->length = fmin(2 * path->length, LONGEST * path->unit);
            return true;
        }
        return_to_path(s, path);
    }
    return false;
}

/* Where a path begins: at the guess, at the guess with undeformed links, or at the equilibrium without given forces of lines, found from
   the guess */
enum beginning { GUESSED, UNDEFORMED, UNLOADED };

/* A path begins at the point, with the multipliers and forces that leave the least residual there */
static bool begin_path(struct mechanism *m, struct statics *s, double spring, struct path *path)
{
    statics_estimate(m, s);
    statics_keep(s, s->begin);
    s->spring = spring;
    *path = (struct path){.unit = statics_residual(m, s)};
    if (!isfinite(path->unit) || path->unit == 0) return false;
    memcpy(s->start, s->r, (size_t)s->N * sizeof *s->start);
    path->length = 0.1 * path->unit;
    memset(s->along, 0, (size_t)(s->N + 1) * sizeof *s->along);
    s->along[s->N] = 1;
    s->fraction = 1;
    memcpy(s->path_unit[0], s->r_unit, (size_t)s->N * sizeof(double));
    memcpy(s->path_unit[1], s->x_unit, (size_t)s->N * sizeof(double));
    return true;
}

/* Paths, one after the other, each of at most MOST_STEPS steps. Where one ends, forces jump (the spring of a spherical joint at half a
   turn, a line of no length), or grow beyond all bounds: the next path begins on the other side. */
static bool follow_from(struct mechanism *m, struct statics *s, double spring)
{
    struct path path;
    for (int i = 0; i < MOST_PATHS && begin_path(m, s, spring, &path); i++) {
        bool stuck = false;
        for (int j = 0; j < MOST_STEPS && !stuck; j++) {
            statics_residual(m, s);
            factor_bordered(m, s, &path);
            memset(s->step, 0, (size_t)s->N * sizeof *s->step);
            s->step[s->N] = 1;
            solve_bordered(s);
            const double norm = sqrt(dense_dot(s->N + 1, s->step, s->step));
            for (int k = 0; k <= s->N; k++)
                s->along[k] = s->step[k] / norm; /* tangent, in the direction of the last one */
            statics_keep(s, s->before);
            path.t_before = path.t;
            stuck = !advance_along_path(m, s, &path);
            if (!stuck && (path.t - 1) * (path.t_before - 1) <= 0 && arrive_at_equilibrium(m, s, &path)) return true;
        }
        const double far = LONGEST * path.unit;
        if (stuck) statics_move(m, s, s->along, far * statics_longest(m, s, s->along, CROSSING / far));
    }
    return false;
}

/* The equilibrium without given forces of lines; then these forces are applied again. False: there is none, or no such force. */
static bool find_unloaded(struct mechanism *m, struct statics *s)
{
    const double *F = s->guess + m->model->nq + m->constraints->n_rows;
    bool found = false;
    for (int a = 0; a < m->robot->n_lines; a++) {
        if (s->line[a] != LINE_GIVEN) continue;
        found = found || s->F[a] != 0;
        s->F[a] = 0;
    }
    found = found && (statics_newton(m, s) == STATUS_OK || follow_from(m, s, 0));
    for (int a = 0; a < m->robot->n_lines; a++)
        if (s->line[a] == LINE_GIVEN) s->F[a] = F[a];
    return found;
}

/* spring: stiffness of springs to the point where the path begins, which are released with the forces */
static bool follow(struct mechanism *m, struct statics *s, enum beginning from, double spring)
{
    statics_return(s, s->guess);
    s->fraction = 0;
    for (int i = 0; i < m->model->n_links && from == UNDEFORMED; i++)
        for (int k = 0; k < m->model->link[i].m; k++) s->q[m->model->link[i].eta_q + k] = 0;
    if (from == UNLOADED) {
        if (!find_unloaded(m, s)) return false;
        statics_keep(s, s->begin);
        if (statics_newton(m, s) == STATUS_OK) return true;
        statics_return(s, s->begin);
    }
    return follow_from(m, s, spring);
}

/* Newton's method from points around the guess: joints up to SCATTER away, elastic coordinates by the deflections under their loads,
   times 2 frac(i c / golden ratio) - 1 */
static bool try_scattered(struct mechanism *m, struct statics *s)
{
    for (int i = 1; i <= MOST_POINTS; i++) {
        statics_return(s, s->guess);
        statics_estimate(m, s);
        for (int link = 0, c = 0; link < m->model->n_links; link++) {
            const struct link_model *lm = &m->model->link[link];
            for (; c < s->n && s->coordinate[c] < lm->eta_v + lm->m; c++) {
                const double x = i * (c + 1) * 0.6180339887498949, u = 2 * (x - floor(x)) - 1;
                const bool joint = s->coordinate[c] < lm->v + lm->joint.nv;
                s->step[c] = u * (joint ? SCATTER / s->x_unit[c] : s->terms[s->coordinate[c]] * s->x_unit[c]);
            }
        }
        memset(s->step + s->n, 0, (size_t)(s->N - s->n) * sizeof *s->step);
        statics_move(m, s, s->step, 1);
        statics_estimate(m, s);
        if (statics_newton(m, s) == STATUS_OK) return true;
    }
    return false;
}

enum status statics_follow(struct mechanism *m, struct statics *s)
{
    s->followed_a_path = true;
    const bool arrived = follow(m, s, GUESSED, 0) || follow(m, s, UNLOADED, 0) || follow(m, s, GUESSED, 1) ||
                         follow(m, s, UNDEFORMED, 0) || try_scattered(m, s);
    s->fraction = 0;
    statics_residual(m, s);
    return arrived ? STATUS_OK : STATUS_NO_EQUILIBRIUM;
}
