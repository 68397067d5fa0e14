/* Static equilibrium: the question, its equations and their tangent, Newton's method. (theory.md 97 to 100) */
#include "mech/statics.h"

#include <math.h>
#include <string.h>

#include "drive/drive.h"
#include "math/dense.h"
#include "math/vec.h"

/* Forces below the first fraction of the load are rounding errors; an equilibrium is accepted if they are below the second */
static const double EXACT = 1e-15, ACCEPTED = 1e-10;
/* Gaps and changes of held lengths that are accepted [m, or cosine] */
static const double CLOSED = 1e-10;
/* The unit of a coordinate comes from its stiffness, but the stiffness counts as at least this fraction of the load */
static const double LEAST_UNIT = 1e-6;
/* Pivots of J below this fraction of the largest are rounding errors: the equation repeats others, the unknown is indifferent */
static const double DEPENDENT = 1e-12;
/* The longest step of a joint [rad or m], and the smallest fraction of a step that is tried */
static const double LONGEST = 0.5, SHORTEST = 1e-5;
enum { MOST_ITERATIONS = 60 };

/* ---- life ---------------------------------------------------------------------------------------------------------------- */

enum status statics_make(const struct mechanism *m, struct statics *s)
{
    const size_t nv = (size_t)m->model->nv, nq = (size_t)m->model->nq, lines = (size_t)m->robot->n_lines,
                 rows = (size_t)m->constraints->n_rows, N = nv + rows + lines + 1;
    memset(s, 0, sizeof *s);
    struct arena *arena = &s->arena;
    s->point_size = nq + rows + lines;
    arena_arrays(arena, nv, ARRAYS(&s->holding, &s->zero, &s->f, &s->terms));
    arena_arrays(arena, N,
                 ARRAYS(&s->r, &s->r_unit, &s->x_unit, &s->start, &s->step, &s->along, &s->scratch, &s->path_unit[0],
                        &s->path_unit[1]));
    arena_arrays(arena, nv * nv, ARRAYS(&s->by_q, &s->by_qd));
    arena_arrays(arena, lines, ARRAYS(&s->dF, &s->length));
    arena_arrays(arena, s->point_size, ARRAYS(&s->q, &s->kept, &s->guess, &s->begin, &s->before));
    s->moves = arena_allocate(arena, nv, sizeof *s->moves);
    s->balanced = arena_allocate(arena, nv, sizeof *s->balanced);
    s->line = arena_allocate(arena, lines, sizeof *s->line);
    s->gap_acceleration = arena_allocate(arena, rows, sizeof *s->gap_acceleration);
    s->coordinate = arena_allocate(arena, nv, sizeof *s->coordinate);
    s->force = arena_allocate(arena, lines, sizeof *s->force);
    s->row_of = arena_allocate(arena, lines, sizeof *s->row_of);
    s->B = arena_allocate(arena, lines * nv, sizeof *s->B);
    s->J = arena_allocate(arena, N * N, sizeof *s->J);
    s->tau = arena_allocate(arena, (size_t)m->model->n_tau, sizeof *s->tau);
    for (int i = 0; i < 2; i++) s->pivot[i] = arena_allocate(arena, N, sizeof(int));
    if (arena->failed) {
        statics_free(s);
        return STATUS_NO_MEMORY;
    }
    s->lambda = s->q + nq;
    s->F = s->lambda + rows;
    s->in = (struct input){.q = s->q, .qd = s->zero, .tau = s->tau, .line_force = s->F};
    return STATUS_OK;
}

void statics_free(struct statics *s)
{
    arena_release(&s->arena);
    memset(s, 0, sizeof *s);
}

/* ---- the question ----------------------------------------------------------------------------------------------------------- */

/* A passive joint of six degrees of freedom has no force of its own that could hold it in equilibrium: it is held */
void statics_ask(const struct mechanism *m, struct statics *s)
{
    const struct robot *robot = m->robot;
    bool usual = true,
         lines_balance = false; /* usual: the file says nothing about lines and the joints that they move */
    for (int a = 0; a < robot->n_lines; a++) usual = usual && robot->line[a].hold == HOLD_USUAL;
    for (int i = 0; i < robot->n_links; i++)
        usual = usual && (!joint_actuated(robot, i) || robot->link[i].joint.hold == HOLD_USUAL);
    for (int i = 0; i < m->model->n_links; i++) {
        const struct link_model *lm = &m->model->link[i];
        const struct joint *joint = &robot->link[i].joint;
        const bool actuated = usual && joint_actuated(robot, i);
        bool held = lm->prescribed >= 0 || joint->hold == HOLD_HELD;
        if (!held && joint->hold == HOLD_USUAL) held = !joint->passive || joint_velocities(joint) == MOST_VELOCITIES;
        lines_balance = lines_balance || actuated;
        for (int k = 0; k < lm->joint.nv; k++) {
            s->balanced[lm->v + k] = actuated;
            s->moves[lm->v + k] = !actuated && !held;
        }
        for (int k = 0; k < lm->m; k++) s->moves[lm->eta_v + k] = true;
    }
    for (int a = 0; a < robot->n_lines; a++)
        s->line[a] = robot_line_is_spring(robot, a)     ? LINE_SPRING
                     : robot->line[a].hold == HOLD_FREE ? LINE_GIVEN
                     : lines_balance                    ? LINE_BALANCES
                                                        : LINE_KEPT;
}

/* Numbers of equations and unknowns */
static void number_unknowns(const struct mechanism *m, struct statics *s)
{
    int balanced = 0;
    s->n = s->h = 0;
    s->k = m->constraints->n_active;
    for (int i = 0; i < m->model->nv; i++)
        if (s->moves[i]) s->coordinate[s->n++] = i;
    for (int a = 0; a < m->robot->n_lines; a++) {
        if (s->line[a] <= LINE_SPRING) continue;
        s->row_of[s->h] = -1;
        if (s->line[a] == LINE_BALANCES) {
            while (!s->balanced[balanced]) balanced++;
            s->row_of[s->h] = balanced++;
        }
        s->force[s->h++] = a;
    }
    s->N = s->n + s->k + s->h;
    for (int i = 0; i < m->model->n_links; i++) {
        const struct link_model *lm = &m->model->link[i];
        for (int k = 0; k < lm->joint.nv; k++)
            if (!s->moves[lm->v + k]) s->tau[lm->tau + k] = 0;
    }
}

/* ---- the equations ------------------------------------------------------------------------------------------------------------ */

/* Row of an unknown force: G of an active row of the loops, then B of the lines */
static const double *force_row(const struct mechanism *m, const struct statics *s, int j)
{
    const size_t nv = (size_t)m->model->nv;
    return j < s->k ? m->constraints->G + nv * (size_t)j : s->B + nv * (size_t)(j - s->k);
}

/* Forces of springs at the point, and their derivatives with the length */
static void evaluate_springs(struct mechanism *m, struct statics *s)
{
    bool measured = false;
    const struct input at = {.q = s->q};
    for (int a = 0; a < m->robot->n_lines; a++) {
        if (s->line[a] != LINE_SPRING) continue;
        const struct robot_drive *spring = robot_drive_of_line(m->robot, a);
        double v[MOST_VALUES], dv[MOST_VALUES] = {0};
        if (!measured) {
            dyn_configuration(m->model, m->work, s->q);
            dyn_position(m->model, m->work);
            elements_measure(m, &at);
            measured = true;
        }
        robot_drive_values(m->robot, spring, v);
        v[spring->drive->position] = m->element[a].x;
        v[spring->drive->rate] = 0;
        dv[spring->drive->position] = 1;
        spring->drive->evaluate(v);
        spring->drive->tangent(v, dv);
        s->F[a] = v[spring->drive->effort];
        s->dF[a] = dv[spring->drive->effort];
    }
}

/* Forces, gaps and lengths at the point. Positions of the lines and rows of G are then those of the point. */
static enum status evaluate_point(struct mechanism *m, struct statics *s)
{
    evaluate_springs(m, s);
    const enum status status = mechanism_residual(m, &s->in, NULL, s->lambda, s->f, s->gap_acceleration);
    if (status != STATUS_OK) return status;
    dyn_velocity(m->model, m->work, &s->in);
    constraints_rows(m, &s->in);
    for (int i = 0; i < s->n; i++) s->r[i] = s->f[s->coordinate[i]];
    for (int k = 0; k < s->k; k++) s->r[s->n + k] = m->constraints->gap[m->constraints->active[k]];
    for (int j = 0; j < s->h; j++) {
        const int a = s->force[j];
        s->r[s->n + s->k + j] = s->row_of[j] >= 0 ? s->f[s->row_of[j]] : m->element[a].x - s->length[a];
    }
    return STATUS_OK;
}

double statics_released(const struct statics *s, int i)
{
    if (i >= s->n) return s->start[i];
    const double unit = s->path_unit[0][i];
    return s->start[i] - s->spring * s->holding[s->coordinate[i]] / (unit * unit);
}

static double weighted_norm(int n, const double *x, const double *weight)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * weight[i] * x[i] * weight[i];
    return sqrt(sum);
}

double statics_residual(struct mechanism *m, struct statics *s)
{
    if (evaluate_point(m, s) != STATUS_OK) return INFINITY;
    model_difference(m->model, s->begin, s->q, s->holding); /* `begin` starts with q */
    for (int i = 0; i < s->N && s->fraction != 0; i++) s->r[i] -= s->fraction * statics_released(s, i);
    const double norm = weighted_norm(s->N, s->r, s->r_unit);
    return isfinite(norm) ? norm : INFINITY;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------------------ */

/* Adds the size of a moment n and a force f at p on a link to the terms of the joints that move it: of rotations n, and f times the
   distance of p from the joint, whatever the direction of f */
static void add_force_size(const struct mechanism *m, struct statics *s, int link, const double *p, double n, double f)
{
    const struct link_model *links = m->model->link;
    for (int i = links[link].mover; i >= 0; i = links[i].parent >= 0 ? links[links[i].parent].mover : -1) {
        const struct link_model *lm = &links[i];
        const double *O = m->work->link[i].O.p, d[3] = {p[0] - O[0], p[1] - O[1], p[2] - O[2]};
        for (int k = 0; k < lm->joint.nv; k++)
            s->terms[lm->v + k] += lm->joint.part[k] == TURNS ? n + f * sqrt(dot3(d, d)) : f;
    }
}

static void add_wrench_size(const struct mechanism *m, struct statics *s, const struct anchor *at, const double *wrench)
{
    if (at->link < 0 || wrench == NULL) return;
    add_force_size(m, s, at->link, dyn_anchor_frame(m->work, at)->p, sqrt(dot3(wrench, wrench)),
                   sqrt(dot3(wrench + 3, wrench + 3)));
}

static void add_weight_size(const struct mechanism *m, struct statics *s, int link, const struct rigid *body,
                            const double *p)
{
    const double g = sqrt(dot3(m->model->gravity, m->model->gravity));
    if (!(body->m > 0)) return;
    const double com[3] = {p[0] + body->h[0] / body->m, p[1] + body->h[1] / body->m, p[2] + body->h[2] / body->m};
    add_force_size(m, s, link, com, 0, body->m * g);
}

/* Of elastic coordinates the absolute values of weight, wrenches and strain; of joints those of springs and torques */
static void measure_own_terms(struct mechanism *m, struct statics *s)
{
    const struct input unloaded = {.q = s->q, .qd = s->zero};
    dyn_inverse(m->model, m->work, &unloaded, NULL, s->terms);
    dyn_inverse(m->model, m->work, &s->in, NULL, s->holding);
    for (int i = 0; i < m->model->n_links; i++) {
        const struct link_model *lm = &m->model->link[i];
        double spring[MOST_VELOCITIES] = {0};
        joint_forces(&lm->joint, s->q + lm->q, s->zero + lm->v, spring);
        for (int k = 0; k < lm->joint.nv; k++)
            s->terms[lm->v + k] = fabs(spring[k]) + (lm->passive ? 0 : fabs(s->tau[lm->tau + k]));
        for (int j = 0, c = lm->eta_v; j < lm->m; j++, c++) {
            const double strain = dense_dot(lm->m, lm->body->K + lm->m * j, s->q + lm->eta_q);
            s->terms[c] = fabs(s->terms[c] - strain) + fabs(strain) + fabs(s->holding[c] - s->terms[c]);
        }
    }
}

/* Sizes of the terms that add up to f, coordinate by coordinate, none of them smaller because forces cancel or because they pass
   through a joint: weight, strain and springs, wrenches, torques, couplings, loops and lines */
static void measure_terms(struct mechanism *m, struct statics *s)
{
    const struct model *model = m->model;
    measure_own_terms(m, s);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_work *w = &m->work->link[i];
        add_weight_size(m, s, i, &w->self, w->O.p);
        if (model->link[i].has_payload) add_weight_size(m, s, i, &w->load, w->section[0].T.p);
    }
    for (int c = 0; c < model->nv && m->joint_force != NULL; c++)
        s->terms[c] += fabs(m->joint_force[c]) + fabs(m->multiplier_force[c]);
    for (int l = 0; l < m->n_loads; l++) {
        const struct load *load = &m->load[l];
        const struct anchor at = {.link = load->link, .section = load->section};
        if (load->link < 0) continue;
        add_wrench_size(m, s, &at, load->wrench);
        memset(s->scratch, 0, (size_t)model->nv * sizeof *s->scratch);
        dyn_frame_force(model, m->work, load, s->scratch);
        for (int i = 0; i < model->n_links; i++) /* on elastic coordinates |generalized force| */
            for (int c = model->link[i].eta_v, end = c + model->link[i].m; c < end; c++)
                s->terms[c] += fabs(s->scratch[c]);
    }
    add_wrench_size(m, s, &model->tip_frame, s->in.tip_wrench);
    for (int i = 0; i < m->robot->n_frames && s->in.frame_wrench != NULL; i++)
        if (model_frame_acts(model, i)) add_wrench_size(m, s, &model->frame[i], s->in.frame_wrench + 6 * i);
    s->load = sqrt(dense_dot(model->nv, s->terms, s->terms));
}

/* ---- the tangent ---------------------------------------------------------------------------------------------------------------- */

void statics_derivatives(struct mechanism *m, struct statics *s)
{
    const struct input loaded = mechanism_loaded(m, &s->in);
    const size_t nv = (size_t)m->model->nv;
    s->iterations++;
    measure_terms(m, s);
    dyn_inverse(m->model, m->work, &loaded, NULL, s->holding);
    dyn_velocity(m->model, m->work, &s->in);
    dyn_tangent_state(m->model, m->work, m->tangent, &loaded, s->zero);
    mechanism_force_jacobian(m, &loaded, s->by_q, s->by_qd);
    for (int a = 0; a < m->robot->n_lines; a++) { /* by_q += J' dF/dl J of springs */
        if (s->line[a] != LINE_SPRING) continue;
        element_row(m, &m->element[a], s->scratch);
        for (size_t j = 0; j < nv; j++)
            for (size_t i = 0; i < nv; i++) s->by_q[nv * j + i] += s->scratch[i] * s->dF[a] * s->scratch[j];
    }
    for (int j = 0; j < s->h; j++) element_row(m, &m->element[s->force[j]], s->B + nv * (size_t)j);
}

/* d_i = 1/sqrt(K_ii): in these units K has a unit diagonal, and rows of loops and lines get length 1. If nothing that moves changes a
   gap or a length, its row contains only rounding errors and has the unit 0: the equation is ignored, and its force does not change. */
static void find_units(struct mechanism *m, struct statics *s)
{
    const size_t nv = (size_t)m->model->nv;
    const double floor = s->load > 0 ? LEAST_UNIT * s->load : 1;
    double least = 0;
    for (int i = 0; i < s->n; i++) {
        const size_t c = (size_t)s->coordinate[i];
        s->r_unit[i] = s->x_unit[i] = 1 / sqrt(fmax(fabs(s->by_q[(nv + 1) * c]), s->terms[c] + floor));
        least = fmax(least, DEPENDENT * s->x_unit[i]);
    }
    for (int j = 0; j < s->k + s->h; j++) {
        const int row = j < s->k ? -1 : s->row_of[j - s->k];
        const double *G = force_row(m, s, j);
        double sum = 0; /* over the coordinates that move, in their units */
        for (int i = 0; i < s->n; i++) sum += G[s->coordinate[i]] * s->x_unit[i] * G[s->coordinate[i]] * s->x_unit[i];
        double size = sqrt(sum);
        s->r_unit[s->n + j] = s->x_unit[s->n + j] = size > least ? 1 / size : 0;
        if (row < 0) continue;
        s->r_unit[s->n + j] = 1 / sqrt(s->terms[row] + floor);
        size = fmax(size, fabs(G[row]) * s->r_unit[s->n + j]);
        s->x_unit[s->n + j] = size > least ? 1 / size : 0;
    }
}

enum status statics_linearize(struct mechanism *m, struct statics *s)
{
    if (isinf(statics_residual(m, s))) {
        const enum status status = evaluate_point(m, s);
        return status != STATUS_OK ? status : STATUS_OVERLOAD;
    }
    statics_derivatives(m, s);
    find_units(m, s);
    return STATUS_OK;
}

/* (98) in units */
void statics_matrix(const struct mechanism *m, struct statics *s, bool border)
{
    const int size = s->N + border, n = s->n, k = s->k;
    for (int i = 0; i < s->N; i++) {
        const int c = i < n        ? s->coordinate[i]
                      : i >= n + k ? s->row_of[i - n - k]
                                   : -1; /* -1: the row is a gap or a length */
        for (int j = 0; j < s->N; j++) {
            double derivative = 0;
            if (j < n && c >= 0) derivative = -s->by_q[(size_t)m->model->nv * (size_t)s->coordinate[j] + (size_t)c];
            else if (j < n) derivative = force_row(m, s, i - n)[s->coordinate[j]];
            else if (c >= 0) derivative = -force_row(m, s, j - n)[c];
            s->J[size * j + i] = s->r_unit[i] * derivative * s->x_unit[j];
        }
    }
}

/* ---- moving ------------------------------------------------------------------------------------------------------------------------ */

void statics_move(struct mechanism *m, struct statics *s, const double *step, double fraction)
{
    memset(s->holding, 0, (size_t)m->model->nv * sizeof *s->holding);
    for (int i = 0; i < s->n; i++) s->holding[s->coordinate[i]] = step[i] * s->x_unit[i];
    model_move(m->model, s->q, s->holding, fraction);
    for (int k = 0; k < s->k; k++)
        s->lambda[m->constraints->active[k]] += fraction * step[s->n + k] * s->x_unit[s->n + k];
    for (int j = 0; j < s->h; j++) s->F[s->force[j]] += fraction * step[s->n + s->k + j] * s->x_unit[s->n + s->k + j];
}

double statics_longest(const struct mechanism *m, const struct statics *s, const double *step, double most)
{
    double largest = 0;
    for (int link = 0, i = 0; link < m->model->n_links; link++) {
        const struct link_model *lm = &m->model->link[link];
        for (; i < s->n && s->coordinate[i] < lm->v + lm->joint.nv; i++)
            largest = fmax(largest, fabs(step[i] * s->x_unit[i]));
        while (i < s->n && s->coordinate[i] < lm->eta_v + lm->m) i++;
    }
    return largest > most ? most / largest : 1;
}

/* ---- Newton's method ----------------------------------------------------------------------------------------------------------------- */

/* The residual as a fraction of the terms that balance, both in units of the rows */
static double fraction_of_load(const struct statics *s)
{
    double load = 0;
    for (int i = 0; i < s->n; i++) {
        const double term = (s->terms[s->coordinate[i]] + LEAST_UNIT * s->load) * s->r_unit[i];
        load += term * term;
    }
    const double rest = weighted_norm(s->n, s->r, s->r_unit);
    return rest > 0 ? rest / sqrt(load) : 0;
}

static bool constraints_hold(const struct statics *s)
{
    for (int j = 0; j < s->k + s->h; j++) {
        const bool force = j >= s->k && s->row_of[j - s->k] >= 0;
        if (!(fabs(s->r[s->n + j]) <= (force ? ACCEPTED * s->load : CLOSED))) return false;
    }
    return true;
}

/* Halves the step until the residual decreases; false: it does not */
static bool search_along(struct mechanism *m, struct statics *s)
{
    const double norm = weighted_norm(s->N, s->r, s->r_unit);
    statics_keep(s, s->kept);
    for (double fraction = statics_longest(m, s, s->step, LONGEST); fraction > SHORTEST; fraction *= 0.5) {
        statics_move(m, s, s->step, fraction);
        if (statics_residual(m, s) < (1 - 1e-4 * fraction) * norm) return true;
        statics_return(s, s->kept);
    }
    statics_residual(m, s);
    return false;
}

enum status statics_newton(struct mechanism *m, struct statics *s)
{
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        const enum status status = statics_linearize(m, s);
        if (status != STATUS_OK) return status;
        if (!isfinite(s->load)) return STATUS_OVERLOAD;
        if (fraction_of_load(s) <= EXACT && constraints_hold(s)) break;
        statics_matrix(m, s, false);
        s->rank = lu_ranked_factor(s->N, s->J, s->pivot[0], s->pivot[1], DEPENDENT);
        for (int j = 0; j < s->N; j++) s->step[j] = -s->r[j] * s->r_unit[j];
        lu_ranked_solve(s->N, s->rank, s->J, s->pivot[0], s->pivot[1], s->scratch, s->step);
        if (!search_along(m, s)) break; /* at a minimum, or only rounding errors are left */
    }
    s->residual = sqrt(dense_dot(s->n, s->r, s->r));
    return fraction_of_load(s) <= ACCEPTED && constraints_hold(s) ? STATUS_OK : STATUS_NO_EQUILIBRIUM;
}

/* ---- solving ----------------------------------------------------------------------------------------------------------------------------- */

/* Multipliers and forces that leave the least residual at the start:  A'A y = A' f,  A = [G' B'] in units */
static void estimate_forces(struct mechanism *m, struct statics *s)
{
    const int c = s->k + s->h;
    for (int i = 0; i < c; i++) {
        const double *a = force_row(m, s, i);
        s->step[s->n + i] = 0;
        for (int l = 0; l < s->n; l++)
            s->step[s->n + i] += a[s->coordinate[l]] * s->r[l] * s->r_unit[l] * s->r_unit[l] * s->x_unit[s->n + i];
        for (int j = 0; j < c; j++) {
            const double *b = force_row(m, s, j);
            double sum = 0;
            for (int l = 0; l < s->n; l++)
                sum += a[s->coordinate[l]] * b[s->coordinate[l]] * s->x_unit[l] * s->x_unit[l];
            s->J[c * j + i] = sum * s->x_unit[s->n + i] * s->x_unit[s->n + j];
        }
    }
    memset(s->step, 0, (size_t)s->n * sizeof *s->step);
    const int rank = lu_ranked_factor(c, s->J, s->pivot[0], s->pivot[1], DEPENDENT);
    lu_ranked_solve(c, rank, s->J, s->pivot[0], s->pivot[1], s->scratch, s->step + s->n);
    statics_move(m, s, s->step, 1);
}

void statics_estimate(struct mechanism *m, struct statics *s)
{
    s->fraction = 0;
    memset(s->lambda, 0, (size_t)m->constraints->n_rows * sizeof *s->lambda);
    for (int j = 0; j < s->h; j++) s->F[s->force[j]] = 0;
    if (statics_linearize(m, s) == STATUS_OK) estimate_forces(m, s);
    (void)statics_linearize(m, s); /* without a residual there is no equilibrium either */
}

/* Whether lines have lever arms about the joints that they balance: the rows of B at these joints are independent */
static bool lines_have_lever_arms(const struct mechanism *m, struct statics *s)
{
    const int h = s->h;
    if (s->k > 0) return true; /* loops connect the joints */
    for (int j = 0; j < h; j++)
        for (int i = 0; i < h; i++) {
            if (s->row_of[i] < 0) return true;
            s->J[h * j + i] = force_row(m, s, j)[s->row_of[i]];
        }
    return lu_ranked_factor(h, s->J, s->pivot[0], s->pivot[1], DEPENDENT) == h;
}

enum status statics_solve(struct mechanism *m, struct statics *s)
{
    number_unknowns(m, s);
    s->iterations = 0;
    s->followed_a_path = false;
    s->fraction = 0;
    memset(s->lambda, 0, (size_t)m->constraints->n_rows * sizeof *s->lambda);
    memset(s->r_unit, 0, (size_t)s->N * sizeof *s->r_unit);
    enum status status = evaluate_point(m, s);
    if (status != STATUS_OK) return status;
    for (int a = 0; a < m->robot->n_lines; a++) s->length[a] = m->element[a].x;
    status = statics_linearize(m, s);
    if (status != STATUS_OK) return status;
    if (!lines_have_lever_arms(m, s)) return STATUS_UNBALANCED;
    estimate_forces(m, s);
    statics_keep(s, s->guess);
    statics_keep(s, s->begin);
    status = statics_newton(m, s);
    if (status == STATUS_NO_EQUILIBRIUM) status = statics_follow(m, s);
    if (status == STATUS_NO_EQUILIBRIUM) { /* for the report: the residual at the guess */
        statics_return(s, s->guess);
        statics_residual(m, s);
        s->residual = sqrt(dense_dot(s->n, s->r, s->r));
        measure_terms(m, s);
    }
    if (status == STATUS_OK) status = statics_minimize_forces(m, s);
    if (status == STATUS_OK) memcpy(s->holding, s->f, (size_t)m->model->nv * sizeof *s->holding);
    return status;
}
