/* Static equilibria of random closed robots with lines. The rule of the sample: seeds from 0 in ascending order; 1 or 2 loops
   of any type, closed at a random pose with random elastic coordinates; joints of six degrees of freedom stay; at least one joint
   coordinate is independent; as many lines as independent joint coordinates, drawn until forces that hold the pose are found, none of
   them above 20 times the load without lines. A draw whose levers give no such forces while links do not bend further is not tried.
   After 100 draws a seed is left out, and counted; but not if no equilibrium was found with its joints held: that is a failure.
   The suite takes SAMPLE poses; in the environment LIMBER_STATICS_SAMPLE sets another number, LIMBER_STATICS_FIRST another first seed. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/independent.h"
#include "math/dense.h"
#include "mech/statics.h"
#include "oracle/closed.h"

enum { SAMPLE = 40, MOST_DRAWS = 100, MOST_SEEDS = 3000 };

static const double MOVED = 0.3, LARGEST_FORCE = 20, SHARE = 1e-9;

struct held_pose {
    struct specimen closed;
    struct statics statics;
    struct random random;
    bool movable[MOST], independent[MOST]; /* joint coordinates */
    bool held;                             /* an equilibrium was found with the joints held, without lines */
    double load, holding[MOST];            /* there                                                        */
    double drawn[MOST];                    /* positions before                                             */
};

/* ---- making ------------------------------------------------------------------------------------------------------------------ */

/* Coordinates that may move, in order: joints and elastic coordinates. `chosen`: independent joints are known. */
static int list_coordinates(struct held_pose *p, bool chosen, int *at, enum solve_for *wish)
{
    const struct model *model = p->closed.model;
    int n = 0;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const bool movable = lm->prescribed < 0 && lm->joint.nv < MOST_VELOCITIES;
        for (int k = 0; k < lm->joint.nv + lm->m; k++) {
            const bool joint = k < lm->joint.nv;
            const int c = joint ? lm->v + k : lm->eta_v + k - lm->joint.nv;
            p->movable[c] = joint && movable;
            if (joint && !movable) continue;
            wish[n] = !joint ? SOLVE_IF_NEEDED : chosen && p->independent[c] ? SOLVE_NEVER : SOLVE_FIRST;
            at[n++] = c;
        }
    }
    return n;
}

/* x = N y on the closed poses near this one: N of n rows, for coordinates at[], and the number of y; 0: none */
static int find_directions(struct held_pose *p, bool chosen, int *at, int *n, int *free_one, double *N)
{
    static double G[MOST_ROWS * MOST];
    struct mechanism *m = &p->closed.mechanism;
    enum solve_for wish[MOST];
    int row_of[MOST];
    *n = list_coordinates(p, chosen, at, wish);
    dyn_configuration(m->model, m->work, p->closed.q);
    dyn_position(m->model, m->work);
    constraints_rows(m, &(struct input){.q = p->closed.q});
    const int k = m->constraints->n_active;
    for (int r = 0; r < k; r++)
        for (int j = 0; j < *n; j++) G[*n * r + j] = m->constraints->G[m->model->nv * r + at[j]];
    if (k >= *n || !independent_coordinates(*n, k, G, wish, row_of, free_one, N)) return 0;
    return *n - k;
}

static int find_independent(struct held_pose *p)
{
    static double N[MOST * MOST];
    int at[MOST], free_one[MOST], n, found = 0;
    const int count = find_directions(p, false, at, &n, free_one, N);
    for (int j = 0; j < count; j++)
        if (p->movable[at[free_one[j]]]) p->independent[at[free_one[j]]] = true, found++;
    return found;
}

/* What is asked: independent joints held, balanced by lines, or free */
enum question { HELD, BALANCED, FREE };

static void ask(struct held_pose *p, enum question question)
{
    const struct mechanism *m = &p->closed.mechanism;
    struct statics *s = &p->statics;
    for (int i = 0; i < m->model->n_links; i++) {
        const struct link_model *lm = &m->model->link[i];
        for (int c = lm->v; c < lm->v + lm->joint.nv; c++) {
            s->moves[c] = p->movable[c] && (question == FREE || !p->independent[c]);
            s->balanced[c] = question == BALANCED && p->independent[c];
        }
        for (int k = 0; k < lm->m; k++) s->moves[lm->eta_v + k] = true;
    }
    for (int a = 0; a < m->robot->n_lines; a++) s->line[a] = question == BALANCED ? LINE_BALANCES : LINE_GIVEN;
    s->in.tip_wrench = p->closed.tip_wrench;
}

static enum status solve(struct held_pose *p, enum question question)
{
    ask(p, question);
    return statics_solve(&p->closed.mechanism, &p->statics);
}

/* Levers of the lines about the independent joints, N' B, count x count, and the forces at these joints; false: the loops do not
   close with these joints chosen */
static bool find_levers(struct held_pose *p, int count, double *A, double *force)
{
    static double N[MOST * MOST];
    struct mechanism *m = &p->closed.mechanism;
    int at[MOST], free_one[MOST], n, joints = 0;
    double B[MOST];
    const int free_ones = find_directions(p, true, at, &n, free_one, N);
    elements_measure(m, &p->closed.in);
    for (int a = 0; a < count; a++) {
        joints = 0;
        element_row(m, &m->element[a], B);
        for (int j = 0; j < free_ones; j++) {
            if (!p->independent[at[free_one[j]]]) continue;
            force[joints] = p->holding[at[free_one[j]]];
            double lever = 0;
            for (int i = 0; i < n; i++) lever += N[free_ones * i + j] * B[at[i]];
            A[count * a + joints++] = lever;
        }
    }
    return joints == count;
}

/* Forces that hold the independent joints if links do not bend further:  (N' B) F = holding */
static bool lines_can_hold(struct held_pose *p, int count)
{
    static double A[MOST * MOST], LU[MOST * MOST];
    int row[MOST], column[MOST];
    double F[MOST], room[MOST], wanted[MOST];
    if (!find_levers(p, count, A, wanted)) return false;
    memcpy(LU, A, (size_t)(count * count) * sizeof *A);
    memcpy(F, wanted, (size_t)count * sizeof *F);
    const int rank = lu_ranked_factor(count, LU, row, column, 1e-9);
    lu_ranked_solve(count, rank, LU, row, column, room, F);
    for (int a = 0; a < count; a++)
        for (int j = 0; j < count; j++) wanted[j] -= A[count * a + j] * F[a];
    for (int a = 0; a < count; a++)
        if (!(fabs(F[a]) <= LARGEST_FORCE * p->load && fabs(wanted[a]) <= SHARE * p->load)) return false;
    return true;
}

/* New lines, and the forces of them that hold the pose */
static bool draw_lines(struct held_pose *p, int count)
{
    struct specimen *s = &p->closed;
    statics_free(&p->statics);
    if (!closed_add_lines(&p->closed, &p->random, count) || !lines_can_hold(p, count)) return false;
    if (statics_make(&s->mechanism, &p->statics) != STATUS_OK) return false;
    memcpy(p->statics.q, s->q, (size_t)s->nq * sizeof(double));
    if (solve(p, BALANCED) != STATUS_OK) return false;
    for (int a = 0; a < count; a++)
        if (!(fabs(p->statics.F[a]) <= LARGEST_FORCE * p->load)) return false;
    return true;
}

/* Elastic coordinates and dependent joints of the pose come to rest, independent joints held: p->held */
static bool hold_pose(struct held_pose *p)
{
    struct specimen *s = &p->closed;
    if (statics_make(&s->mechanism, &p->statics) != STATUS_OK) return false;
    memcpy(p->drawn, s->q, (size_t)s->nq * sizeof(double));
    memcpy(p->statics.q, s->q, (size_t)s->nq * sizeof(double));
    p->held = solve(p, HELD) == STATUS_OK && p->statics.residual <= SHARE * p->statics.load;
    p->load = p->statics.load;
    memcpy(s->q, p->statics.q, (size_t)s->nq * sizeof(double));
    memcpy(p->holding, p->statics.holding, (size_t)s->nv * sizeof(double));
    return true;
}

enum seed_gives { NOTHING, NO_LINES, A_POSE };

static enum seed_gives pose_make(struct held_pose *p, int seed)
{
    memset(p, 0, sizeof *p);
    p->random.state = (uint64_t)seed * 104729u + 17;
    if (!closed_random(&p->closed, seed, ANY_LOOP, 1 + seed % 2, true)) return NOTHING;
    struct specimen *s = &p->closed;
    memset(s->qd, 0, (size_t)s->nv * sizeof(double));
    const int count = find_independent(p);
    if (count == 0 || !hold_pose(p)) return NOTHING;
    for (int draw = 0; draw < MOST_DRAWS; draw++)
        if (draw_lines(p, count)) return A_POSE;
    return NO_LINES;
}

static void pose_free(struct held_pose *p)
{
    statics_free(&p->statics);
    specimen_free(&p->closed);
}

/* ---- laws -------------------------------------------------------------------------------------------------------------------- */

/* 0.3 rad (0.3 m) away, loops closed there; false: they do not close, and the constraints stay those of the pose */
static bool move_away(struct held_pose *p)
{
    struct mechanism *m = &p->closed.mechanism;
    struct report silent = {0};
    double dx[MOST] = {0}, moved[MOST];
    for (int c = 0; c < m->model->nv; c++)
        if (p->independent[c]) dx[c] = chance(&p->random, 0.5) ? MOVED : -MOVED;
    model_move(m->model, p->statics.q, dx, 1);
    memcpy(moved, p->statics.q, (size_t)m->model->nq * sizeof *moved);
    if (constraints_close(m, NULL, p->statics.q, &silent) == STATUS_OK &&
        constraints_choose_and_project(m, p->statics.q, p->closed.qd, &silent, &silent) == STATUS_OK)
        return true;
    memcpy(p->statics.q, moved, (size_t)m->model->nq * sizeof *moved);
    CHECK(constraints_choose(m, p->closed.q, &silent) == STATUS_OK);
    return false;
}

static bool is_found(struct held_pose *p, enum question question)
{
    return solve(p, question) == STATUS_OK && p->statics.residual <= SHARE * p->statics.load;
}

/* Forward dynamics at the point agree: accelerations, times the mass matrix without loops, are a share of the load. Not where joints
   are held, which it does not know; -1 there */
static double left_in_motion(struct held_pose *p)
{
    struct specimen *s = &p->closed;
    const struct model *model = s->model;
    double qdd[MOST], force[MOST], still[MOST], sum = 0;
    for (int c = 0; c < model->nv; c++)
        if (!p->statics.moves[c]) return -1;
    if (mechanism_forward(&s->mechanism, &p->statics.in, qdd) != STATUS_OK) return INFINITY;
    const struct input rest = {.q = p->statics.q, .qd = p->statics.zero};
    dyn_inverse(model, s->mechanism.work, &rest, qdd, force);
    dyn_inverse(model, s->mechanism.work, &rest, NULL, still);
    for (int c = 0; c < model->nv; c++) sum += (force[c] - still[c]) * (force[c] - still[c]);
    return sqrt(sum) / p->statics.load;
}

struct tally {
    int poses, found, by_path, held, held_loaded, held_there, open, left_out, nothing, compared;
    double most_motion;
};

/* With the joints held where they were moved to, without the lines, whose forces are those of another pose */
static bool hold_there(struct held_pose *p, const double *moved, int seed)
{
    struct mechanism *m = &p->closed.mechanism;
    struct report silent = {0};
    double F[MOST];
    const size_t bytes = (size_t)m->robot->n_lines * sizeof *F;
    memcpy(F, p->statics.F, bytes);
    memset(p->statics.F, 0, bytes);
    memcpy(p->statics.q, moved, (size_t)m->model->nq * sizeof *moved);
    CHECK(constraints_choose(m, moved, &silent) == STATUS_OK);
    const bool found = is_found(p, HELD);
    if (!found) printf("     seed %d: not found with the joints held 0.3 away\n", seed);
    memcpy(p->statics.F, F, bytes);
    return found;
}

static void try_pose(struct held_pose *p, int seed, struct tally *tally)
{
    struct mechanism *m = &p->closed.mechanism;
    struct statics *s = &p->statics;
    struct report silent = {0};
    const bool closes = move_away(p);
    double moved[MOST];
    memcpy(moved, s->q, (size_t)m->model->nq * sizeof *moved);
    const bool found = is_found(p, FREE);
    const double motion = found ? left_in_motion(p) : -1;
    tally->compared += motion >= 0, tally->most_motion = larger(tally->most_motion, motion);
    if (!found)
        printf("     seed %d: %.2e of %.2e is left, %d loops, %d lines, %d tangents%s\n", seed, s->residual, s->load,
               m->robot->n_loops, m->robot->n_lines, s->iterations, closes ? "" : "; the loops do not close at 0.3");
    if (motion > SHARE) printf("     seed %d: forward dynamics leave %.2e of the load\n", seed, motion);
    tally->found += found, tally->by_path += found && s->followed_a_path, tally->open += !closes;
    if (closes) tally->held_there += hold_there(p, moved, seed);
    memcpy(s->q, p->drawn, (size_t)m->model->nq * sizeof(double));
    CHECK(constraints_choose(m, p->drawn, &silent) == STATUS_OK);
    const bool loaded = is_found(p, HELD);
    if (!loaded) printf("     seed %d: not found with the joints held and the forces given\n", seed);
    tally->held_loaded += loaded;
}

/* With the joints held an equilibrium is found from the random elastic coordinates of the pose, without lines and with the forces
   that hold the pose; and 0.3 rad (0.3 m) away, without lines. With these forces given and the joints free, one is found from 0.3 rad (0.3 m) away. */
TEST(equilibria_are_found_from_afar)
{
    static struct held_pose p;
    const char *wanted = getenv("LIMBER_STATICS_SAMPLE"), *from = getenv("LIMBER_STATICS_FIRST");
    const int sample = wanted != NULL ? atoi(wanted) : test_sample(SAMPLE);
    struct tally tally = {0};
    for (int seed = from != NULL ? atoi(from) : 0; seed < MOST_SEEDS && tally.poses < sample; seed++) {
        const enum seed_gives gives = pose_make(&p, seed);
        const bool failed = gives != NOTHING && !p.held;
        if (failed) printf("     seed %d: no equilibrium found with the joints held\n", seed);
        if (gives == A_POSE) try_pose(&p, seed, &tally);
        tally.left_out += gives == NO_LINES && !failed, tally.nothing += gives == NOTHING;
        tally.poses += gives == A_POSE || failed, tally.held += gives == A_POSE && p.held;
        pose_free(&p);
    }
    printf("     of %d: found %d, %d of them by a path; with the joints held %d, with the forces given %d, 0.3 away %d "
           "of %d "
           "whose loops close there\n",
           tally.poses, tally.found, tally.by_path, tally.held, tally.held_loaded, tally.held_there,
           sample - tally.open);
    printf("     forward dynamics leave at most %.1e of the load in %d; seeds left out: %d without lines that hold, %d "
           "with "
           "loops that leave no joint free or do not close\n",
           tally.most_motion, tally.compared, tally.left_out, tally.nothing);
    CHECK(tally.poses == sample && tally.held == sample && tally.held_loaded == sample);
    CHECK(tally.held_there >= 0.99 * (sample - tally.open)); /* where forces may have no equilibrium to hold */
    CHECK(tally.most_motion <= SHARE && tally.compared >= sample / 5);
    CHECK(tally.found >= 0.95 * sample);
}

SUITE(mech_statics_test)
