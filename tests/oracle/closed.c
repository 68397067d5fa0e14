#include "oracle/closed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drive/laws.h"
#include "dyn/sites.h"
#include "math/dense.h"
#include "math/vec.h"
#include "oracle/scatter.h"
#include "oracle/surgery.h"

/* ---- making ---------------------------------------------------------------------------------------------------------------- */

static void turn_about(const double *axis, double angle, double *R)
{
    const double t[3] = {angle * axis[0], angle * axis[1], angle * axis[2]};
    const struct exp_coefficients e = rotation_exp_coefficients(dot3(t, t));
    rotation_exp(&e, t, R);
}

static void random_loop(struct random *random, const struct robot *robot, enum loop_type type, bool scattered,
                        struct loop *loop)
{
    struct site *side = robot->site + loop->site;
    loop->name = "loop";
    loop->type = type;
    side[0] = robot_site_of_link(pick(random, robot->n_links));
    side[1] = robot_site_of_link((side[0].link + 1 + pick(random, robot->n_links - 1)) % robot->n_links);
    for (int s = 0; s < 2; s++) {
        if (chance(random, 0.6)) random_pose(random, &side[s].at);
    }
    random_direction(random, loop->axis);
    random_direction(random, loop->plane[0]);
    do random_direction(random, loop->plane[1]);
    while (fabs(dot3(loop->plane[0], loop->plane[1])) > 0.7);
    if (!scattered) return;
    for (int s = 0; s < 2; s++) side[s] = random_site(random, robot, side[s].link);
    side[SIDE_PLANE] = robot_site_of_link(pick(random, robot->n_links + 1) - 1);
    if (side[SIDE_PLANE].link >= 0) side[SIDE_PLANE].type = AT_HINGE;
}

static struct site *sides_of(const struct specimen *s, const struct loop *loop)
{
    return s->robot->site + loop->site;
}

/* What carries a joined frame: hinge, tip, station or node, without the offset */
static void carrier_motion(const struct specimen *s, const struct site *site, struct frame_motion *motion)
{
    struct site carrier = *site;
    memset(carrier.at.p, 0, sizeof carrier.at.p);
    identity3(carrier.at.R);
    const struct anchor anchor = sites_anchor(s->model, &carrier);
    dyn_frame(s->model, s->work, &anchor, motion);
}

/* A direction of the plane of a planar pin, world axes */
static void plane_direction(const struct specimen *s, const struct loop *loop, int k, double *u)
{
    if (sides_of(s, loop)[SIDE_PLANE].link < 0) copy3(loop->plane[k], u);
    else mul3(s->work->link[sides_of(s, loop)[SIDE_PLANE].link].O.R, loop->plane[k], u);
}

/* Moves the second joined frame until the loop is closed: ball at any turn, pin at any turn about its axis, planar-pin at any
   turn and distance across its plane */
static void meet(struct random *random, struct specimen *s, struct loop *loop)
{
    struct frame_motion A, B;
    double R[9], turn[9], p[3], axis[3];
    carrier_motion(s, &sides_of(s, loop)[0], &A);
    carrier_motion(s, &sides_of(s, loop)[1], &B);
    copy3(A.p, p);
    add_mul3(A.R, sides_of(s, loop)[0].at.p, p);
    if (loop->type == LOOP_PLANAR_PIN) {
        double u[2][3];
        for (int k = 0; k < 2; k++) plane_direction(s, loop, k, u[k]);
        cross3(u[0], u[1], axis);
        axpy3(uniform(random, -1, 1), axis, p);
    }
    for (int i = 0; i < 3; i++) p[i] -= B.p[i];
    tmul3(B.R, p, sides_of(s, loop)[1].at.p);

    random_direction(random, axis);
    turn_about(loop->type == LOOP_PIN ? loop->axis : axis, loop->type == LOOP_WELD ? 0 : uniform(random, -3, 3), turn);
    double AR[9], ARt[9];
    matmul3(A.R, sides_of(s, loop)[0].at.R, AR);
    matmul3(AR, turn, ARt);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] = 0;
            for (int k = 0; k < 3; k++) R[3 * i + j] += B.R[3 * k + i] * ARt[3 * k + j];
        }
    copy9(R, sides_of(s, loop)[1].at.R);
}

static int add_loops(struct specimen *s, struct random *random, int type, int count, bool met, bool scattered)
{
    struct robot *robot = s->robot;
    if (robot->n_links < 2 || chance(random, 0.3)) {
        if (append_fixed(robot, -1) == NULL || !specimen_remake(s)) return 0;
    }
    robot->loop = arena_allocate(&robot->arena, (size_t)count, sizeof *robot->loop);
    const int first = robot->n_sites;
    if (robot->loop == NULL || !robot_add_sites(robot, count, LOOP_SITES)) return 0;
    for (int i = 0; i < count; i++) robot->loop[i].site = first + LOOP_SITES * i;
    specimen_evaluate(s, NULL);
    for (int i = 0; i < count; i++) {
        random_loop(random, robot, (enum loop_type)(type == ANY_LOOP ? pick(random, LOOP_WELD + 1) : type), scattered,
                    &robot->loop[i]);
        robot->n_loops = i + 1;
        if (scattered) { /* with the sections of this loop */
            if (!specimen_remake(s)) return 0;
            specimen_evaluate(s, NULL);
        }
        if (met) meet(random, s, &robot->loop[i]);
    }
    return 1;
}

int closed_random(struct specimen *s, int seed, int type, int count, bool met)
{
    struct random random = {(uint64_t)seed * 7919u + (uint64_t)(type + 2)};
    struct report silent = {0};
    const bool scattered = seed % 2 == 1;
    if (!specimen_mixed(s, seed)) return 0;
    if (!add_loops(s, &random, type, count, met, scattered) || !specimen_remake(s)) return 0;
    if (constraints_choose(&s->mechanism, s->q, &silent) != STATUS_OK) return 0;
    return !met || constraints_project(&s->mechanism, BY_NEW_FACTORS, s->q, s->qd, NULL, NULL) == STATUS_OK;
}

static void random_point(struct random *random, const struct robot *robot, struct site *point)
{
    *point = robot_site_of_link(pick(random, robot->n_links + 1) - 1);
    if (point->link >= 0 && robot->n_frames > 0) *point = random_site(random, robot, point->link);
    else if (point->link >= 0 && chance(random, 0.5)) point->type = AT_HINGE;
    for (int i = 0; i < 3; i++) point->at.p[i] = uniform(random, -1, 1);
}

int closed_add_lines(struct specimen *s, struct random *random, int count)
{
    struct robot *robot = s->robot;
    struct report silent = {0};
    robot->line = arena_allocate(&robot->arena, (size_t)count, sizeof *robot->line);
    if (robot->line == NULL) return 0;
    const int first = robot->n_sites;
    if (!robot_add_sites(robot, count, 2)) return 0;
    robot->n_lines = count;
    for (int i = 0; i < count; i++) robot->line[i] = (struct line){.name = "line", .site = first + 2 * i};
    bool far;
    do {
        for (int i = 0; i < count; i++) {
            random_point(random, robot, &robot->site[robot->line[i].site]);
            random_point(random, robot, &robot->site[robot->line[i].site + 1]);
        }
        if (!specimen_remake(s)) return 0;
        specimen_evaluate(s, NULL);
        elements_measure(&s->mechanism, &s->in);
        far = true;
        for (int i = 0; i < count; i++) far &= s->mechanism.element[i].x >= 0.3;
    } while (!far);
    for (int i = 0; i < count; i++) s->line_force[i] = uniform(random, -30, 30);
    return constraints_choose(&s->mechanism, s->q, &silent) == STATUS_OK;
}

double closed_coupling(const struct specimen *s, const struct coupling *coupling, int derivative, const double *x)
{
    double sum = 0;
    for (int i = 0; i < coupling->n_terms; i++) {
        const struct coupling_term *term = &coupling->term[i];
        const struct link_model *lm = &s->model->link[term->link];
        sum += term->factor * x[(derivative == 0 ? lm->q : lm->v) + term->k];
    }
    return sum;
}

/* A coordinate of a joint, not in a quaternion; link -1: there is none */
static struct coupling_term random_term(struct random *random, const struct robot *robot)
{
    struct coupling_term term = {.link = -1};
    for (int i = 0, count = 0; i < robot->n_links; i++) {
        const struct joint *joint = &robot->link[i].joint;
        const int own = joint_quaternion(joint) >= 0 ? joint_quaternion(joint) : joint_positions(joint);
        for (int k = 0; k < own; k++)
            if (pick(random, ++count) == 0) term.link = i, term.k = k;
    }
    term.factor = uniform(random, 0.5, 2) * (chance(random, 0.5) ? 1 : -1);
    return term;
}

int closed_add_couplings(struct specimen *s, struct random *random, bool met)
{
    enum { COUPLINGS = 3, MOST_TERMS = 3 };
    struct robot *robot = s->robot;
    struct report silent = {0};
    if (random_term(random, robot).link < 0) return 1;
    robot->coupling = arena_allocate(&robot->arena, COUPLINGS, sizeof *robot->coupling);
    for (int i = 0; i < COUPLINGS && !robot->arena.failed; i++) {
        struct coupling *coupling = &robot->coupling[i];
        *coupling = (struct coupling){.name = "coupling",
                                      .n_terms = 1 + pick(random, MOST_TERMS),
                                      .elastic = i > 0,
                                      .stiffness = uniform(random, 10, 300),
                                      .damping = uniform(random, 0, 5),
                                      .backlash = i == 1 ? uniform(random, 0.5, 2) : 0};
        coupling->term = arena_allocate(&robot->arena, MOST_TERMS, sizeof *coupling->term);
        for (int k = 0; k < coupling->n_terms && !robot->arena.failed; k++)
            coupling->term[k] = random_term(random, robot);
        coupling->offset =
            closed_coupling(s, coupling, 0, s->q) + (coupling->elastic || !met ? uniform(random, -1, 1) : 0);
    }
    if (robot->arena.failed) return 0;
    robot->n_couplings = COUPLINGS;
    if (!specimen_remake(s) || constraints_choose(&s->mechanism, s->q, &silent) != STATUS_OK) return 0;
    return !met || constraints_project(&s->mechanism, BY_NEW_FACTORS, s->q, s->qd, NULL, NULL) == STATUS_OK;
}

/* ---- the equations of the loops, as they are written -------------------------------------------------------------------------- */

/* A vector fixed in a frame, and its first and second derivative */
struct jet {
    double x[3][3];
};

static struct jet fixed_vector(const struct frame_motion *f, const double *in_frame)
{
    struct jet a;
    double wwx[3];
    mul3(f->R, in_frame, a.x[0]);
    cross3(f->omega, a.x[0], a.x[1]);
    cross3(f->omega, a.x[1], wwx);
    cross3(f->alpha, a.x[0], a.x[2]);
    axpy3(1, wwx, a.x[2]);
    return a;
}

/* a'b and its derivatives */
static void product(const struct jet *a, const struct jet *b, double *y)
{
    y[0] = dot3(a->x[0], b->x[0]);
    y[1] = dot3(a->x[1], b->x[0]) + dot3(a->x[0], b->x[1]);
    y[2] = dot3(a->x[2], b->x[0]) + 2 * dot3(a->x[1], b->x[1]) + dot3(a->x[0], b->x[2]);
}

/* A direction of the plane of a planar pin, and its derivatives */
static struct jet plane_jet(const struct specimen *s, const struct loop *loop, int k)
{
    struct jet u = {0};
    copy3(loop->plane[k], u.x[0]);
    if (sides_of(s, loop)[SIDE_PLANE].link < 0) return u;
    struct frame_motion O;
    const struct anchor hinge = model_hinge(sides_of(s, loop)[SIDE_PLANE].link);
    dyn_frame(s->model, s->work, &hinge, &O);
    return fixed_vector(&O, loop->plane[k]);
}

/* p_A - p_B of the joined points, and its derivatives */
static struct jet difference_of(const struct frame_motion tip[2], const struct site *side)
{
    struct jet d = {0};
    for (int s = 0; s < 2; s++) {
        const struct jet r = fixed_vector(&tip[s], side[s].at.p);
        const double *const point[3] = {tip[s].p, tip[s].v, tip[s].a}, sign = s == 0 ? 1 : -1;
        for (int k = 0; k < 3; k++) {
            axpy3(sign, point[k], d.x[k]);
            axpy3(sign, r.x[k], d.x[k]);
        }
    }
    return d;
}

static int turning_rows(const struct loop *loop, const struct site *side, const struct frame_motion tip[2],
                        const struct equation *e, double (*y)[3])
{
    const int rows = loop_equations(loop->type) - 3;
    for (int i = 0; i < rows; i++) {
        double a[3], b[3];
        mul3(side[0].at.R, e[3 + i].a, a);
        mul3(side[1].at.R, e[3 + i].b, b);
        const struct jet A = fixed_vector(&tip[0], a), B = fixed_vector(&tip[1], b);
        product(&A, &B, y[i]);
    }
    return rows;
}

void closed_gap(struct specimen *s, const double *qd, const double *qdd, double *gap, double *rate,
                double *acceleration)
{
    struct input in = s->in;
    double *const out[3] = {gap, rate, acceleration};
    in.qd = qd;
    dyn_configuration(s->model, s->work, s->q);
    dyn_motion(s->model, s->work, &in, qdd);
    dyn_velocity(s->model, s->work, &in);
    int row = 0;
    double given[MOST]; /* accelerations of prescribed joints alone */
    for (int i = 0; i < s->nv; i++) {
        const int prescribed = velocity_prescribed(s, i);
        given[i] = prescribed >= 0 ? s->prescribed_qdd[prescribed] : 0;
    }
    for (int i = 0; i < s->robot->n_loops; i++) {
        const struct loop *loop = &s->robot->loop[i];
        struct frame_motion tip[2];
        double y[6][3];
        int rows = 3;
        for (int side = 0; side < 2; side++) carrier_motion(s, &sides_of(s, loop)[side], &tip[side]);
        const struct jet d = difference_of(tip, sides_of(s, loop));
        if (loop->type == LOOP_PLANAR_PIN) rows = 2;
        for (int r = 0; r < rows; r++) {
            for (int k = 0; k < 3; k++) y[r][k] = d.x[k][r];
            if (rows == 3) continue;
            const struct jet u = plane_jet(s, loop, r);
            product(&u, &d, y[r]);
        }
        if (rows == 3)
            rows += turning_rows(loop, sides_of(s, loop), tip, s->mechanism.constraints->loop[i].equation, y + 3);
        for (int r = 0; r < rows; r++, row++)
            for (int k = 0; k < 3; k++)
                if (out[k] != NULL) out[k][row] = y[r][k];
    }
    for (int i = 0; i < s->robot->n_couplings; i++) {
        const struct coupling *coupling = &s->robot->coupling[i];
        if (coupling->elastic) continue;
        if (gap != NULL) gap[row] = closed_coupling(s, coupling, 0, s->q) - coupling->offset;
        if (rate != NULL) rate[row] = closed_coupling(s, coupling, 1, qd);
        if (acceleration != NULL) acceleration[row] = closed_coupling(s, coupling, 1, qdd != NULL ? qdd : given);
        row++;
    }
}

void closed_jacobian(struct specimen *s, double *G)
{
    double one[MOST] = {0}, rate[MOST_ROWS];
    const int n = s->nv;
    for (int j = 0; j < n; j++) {
        one[j] = 1;
        closed_gap(s, one, NULL, NULL, rate, NULL);
        one[j] = 0;
        for (int i = 0; i < s->mechanism.constraints->n_rows; i++) G[n * i + j] = rate[i];
    }
}

/* ---- dense ---------------------------------------------------------------------------------------------------------------------- */

/* Gauss with row pivoting, N x (N + 1) */
static int eliminate(int N, long double *A)
{
    const int w = N + 1;
    for (int k = 0; k < N; k++) {
        int p = k;
        for (int i = k + 1; i < N; i++)
            if (fabsl(A[w * i + k]) > fabsl(A[w * p + k])) p = i;
        if (!(fabsl(A[w * p + k]) > 0)) return 0;
        for (int j = 0; j < w; j++) {
            const long double kept = A[w * k + j];
            A[w * k + j] = A[w * p + j];
            A[w * p + j] = kept;
        }
        for (int i = 0; i < N; i++) {
            const long double share = A[w * i + k] / A[w * k + k];
            for (int j = k; i != k && j < w; j++) A[w * i + j] -= share * A[w * k + j];
        }
    }
    for (int i = 0; i < N; i++) A[w * i + N] /= A[w * i + i];
    return 1;
}

static int list_free(const struct specimen *s, int *velocity)
{
    int count = 0;
    for (int i = 0; i < s->nv; i++)
        if (velocity_prescribed(s, i) < 0) velocity[count++] = i;
    return count;
}

/* Minus stiffness times gap and damping times rate, in z: the gap without the backlash */
static void add_springs(const struct specimen *s, double *force)
{
    for (int i = 0; i < s->robot->n_couplings; i++) {
        const struct coupling *coupling = &s->robot->coupling[i];
        if (!coupling->elastic) continue;
        const struct dead_zone z =
            dead_zone(closed_coupling(s, coupling, 0, s->q) - coupling->offset, coupling->backlash);
        const double rate = closed_coupling(s, coupling, 1, s->qd);
        for (int k = 0; k < coupling->n_terms; k++)
            force[s->model->link[coupling->term[k].link].v + coupling->term[k].k] -=
                coupling->term[k].factor * (coupling->stiffness * z.value + coupling->damping * z.slope * rate);
    }
}

/* tau - (M qdd + h - tip's share) for qdd = 0 but for prescribed joints */
static void open_forces(struct specimen *s, double *force)
{
    dyn_configuration(s->model, s->work, s->q);
    dyn_inverse(s->model, s->work, &s->in, NULL, force);
    for (int i = 0; i < s->nv; i++) {
        const int tau = velocity_tau(s, i);
        force[i] = (tau >= 0 ? s->tau[tau] : 0) - force[i];
    }
    add_springs(s, force);
}

int closed_dense(struct specimen *s, double *qdd, double *lambda)
{
    static double G[MOST_ROWS * MOST];
    const struct constraints *loops = s->mechanism.constraints;
    const int n = s->nv, rows = loops->n_active;
    int at[MOST];
    const int f = list_free(s, at), N = f + rows, w = N + 1;
    double force[MOST], bias[MOST_ROWS];
    long double *A = calloc((size_t)N * (size_t)w, sizeof *A);
    if (A == NULL) return 0;
    closed_jacobian(s, G);
    closed_gap(s, s->qd, NULL, NULL, NULL, bias);
    open_forces(s, force);
    dyn_mass_matrix(s->model, s->work);
    for (int i = 0; i < f; i++) {
        for (int j = 0; j < f; j++) A[w * i + j] = s->work->M[n * at[i] + at[j]];
        for (int k = 0; k < rows; k++) {
            A[w * i + f + k] = -G[n * loops->active[k] + at[i]];
            A[w * (f + k) + i] = G[n * loops->active[k] + at[i]];
        }
        A[w * i + N] = force[at[i]];
    }
    for (int k = 0; k < rows; k++) A[w * (f + k) + N] = -bias[loops->active[k]];
    const int regular = eliminate(N, A);
    memset(lambda, 0, (size_t)loops->n_rows * sizeof *lambda);
    for (int i = 0; i < s->nv; i++)
        if (velocity_prescribed(s, i) >= 0) qdd[i] = s->prescribed_qdd[velocity_prescribed(s, i)];
    for (int i = 0; i < f; i++) qdd[at[i]] = (double)A[w * i + N];
    for (int k = 0; k < rows; k++) lambda[loops->active[k]] = (double)A[w * (f + k) + N];
    free(A);
    return regular;
}

static double mobility(const struct specimen *s, int k)
{
    const struct constraints *loops = s->mechanism.constraints;
    double S = 0;
    for (int i = 0; i < s->nv; i++) S += loops->G[s->nv * k + i] * loops->X[s->nv * k + i];
    return S;
}

void closed_units(const struct specimen *s, double *unit)
{
    const struct constraints *loops = s->mechanism.constraints;
    memset(unit, 0, (size_t)loops->n_rows * sizeof *unit);
    for (int k = 0; k < loops->n_active; k++) unit[loops->active[k]] = sqrt(mobility(s, k));
}

double closed_independence(const struct specimen *s)
{
    const struct constraints *loops = s->mechanism.constraints;
    double least = 1;
    for (int k = 0; k < loops->n_active; k++) least = fmin(least, 1 / (loops->inverse_d[k] * mobility(s, k)));
    return least;
}

/* Orthogonalises the rows of B, largest first; those of length below `share` of the largest of all are nothing */
static int pivoted_rank(int rows, int n, long double *B, long double share)
{
    int rank = 0;
    bool taken[MOST_ROWS] = {0};
    for (; rank < rows; rank++) {
        int p = -1;
        long double most = share * share;
        for (int i = 0; i < rows; i++) {
            long double sum = 0;
            for (int j = 0; j < n; j++) sum += B[n * i + j] * B[n * i + j];
            if (!taken[i] && sum > most) p = i, most = sum;
        }
        if (p < 0) break;
        taken[p] = true;
        for (int i = 0; i < rows; i++) {
            long double along = 0;
            if (taken[i]) continue;
            for (int j = 0; j < n; j++) along += B[n * i + j] * B[n * p + j] / most;
            for (int j = 0; j < n; j++) B[n * i + j] -= along * B[n * p + j];
        }
    }
    return rank;
}

/* B = G L^-T of M = L L', free columns, so that B B' = G M^-1 G'; rows scaled to length 1 but where a row of its kind is 1e6
   times longer, or all are rounding: then it is nothing */
int closed_rank(struct specimen *s)
{
    static double G[MOST_ROWS * MOST];
    static long double L[MOST * MOST], B[MOST_ROWS * MOST];
    const struct constraints *loops = s->mechanism.constraints;
    const int n = s->nv, rows = loops->n_rows;
    int at[MOST];
    const int f = list_free(s, at);
    long double length[MOST_ROWS], largest[ROW_SORTS] = {1e-5L, 1e-5L, 1e-5L};
    closed_jacobian(s, G);
    dyn_mass_matrix(s->model, s->work);
    for (int i = 0; i < f; i++)
        for (int j = 0; j <= i; j++) {
            long double sum = s->work->M[n * at[i] + at[j]];
            for (int k = 0; k < j; k++) sum -= L[f * i + k] * L[f * j + k];
            L[f * i + j] = i == j ? sqrtl(sum) : sum / L[f * j + j];
        }
    for (int r = 0; r < rows; r++) {
        long double sum = 0;
        for (int i = 0; i < f; i++) {
            long double y = G[n * r + at[i]];
            for (int k = 0; k < i; k++) y -= L[f * i + k] * B[f * r + k];
            B[f * r + i] = y / L[f * i + i];
            sum += B[f * r + i] * B[f * r + i];
        }
        length[r] = sqrtl(sum);
        long double *longest = &largest[constraints_row_sort(loops, r)];
        *longest = fmaxl(*longest, length[r]);
    }
    for (int r = 0; r < rows; r++) {
        const long double most = largest[constraints_row_sort(loops, r)];
        const long double scale = length[r] > 1e-6L * most ? 1 / length[r] : 0;
        for (int i = 0; i < f; i++) B[f * r + i] *= scale;
    }
    return pivoted_rank(rows, f, B, 1e-5L);
}
