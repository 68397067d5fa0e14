#include "flex/tangent.h"

#include <string.h>

#include "flex/axes.h"
#include "flex/moments.h"
#include "math/lanes.h"
#include "math/vec.h"

void body_tangent_make(const struct body *body, struct arena *arena, struct body_tangent *t)
{
    const size_t m = (size_t)body->m, row = (size_t)PADDED(body->m), n = (size_t)body->n_shapes;
    t->Nq = arena_allocate(arena, m, sizeof *t->Nq);
    t->Nv = arena_allocate(arena, m, sizeof *t->Nv);
    arena_arrays(arena, m * row, ARRAYS(&t->Gq, &t->Gv));
    t->Gw = arena_allocate(arena, m, sizeof *t->Gw);
    t->rhodd = arena_allocate(arena, 3 * n, sizeof(double));
    if (body->geometric != NULL) geometric_tangent_make(body, arena, &t->geometric);
    if (body->shortening != NULL) shortening_tangent_make(body, arena, &t->shortening);
}

/* The state, in the form needed by the columns. */
struct tangent_input {
    const struct body *body;
    enum elastic_terms terms;
    struct body_point motion;
    const struct body_state *state;
    const double *rho, *rhod;
    const int *place; /* index of a shape in the rows of rho: its mode in a beam; NULL: the shape itself */
    int stride;       /* length of those rows                                                            */
};

static inline int axis_of(const struct body *body, int s)
{
    return s < body->axis_start[1] ? X : s < body->axis_start[2] ? Y : Z;
}

/* int phi_s (..) dm of shape s */
static inline void moment_of(const struct tangent_input *at, const double *rho, int s, double v[3])
{
    const int i = at->place == NULL ? s : at->place[s];
    for (int a = X; a <= Z; a++) v[a] = rho[at->stride * a + i];
}

/* rho_ddot_s = int phi_s r_ddot dm = sum_t G_st eta_ddot_k(t) e_a(t), minus the part of f */
static void moment_rates(const struct tangent_input *at, struct body_tangent *t)
{
    const struct body *body = at->body;
    const struct body_point *motion = &at->motion;
    const int n = body->n_shapes;
    memset(t->rhodd, 0, 3 * (size_t)n * sizeof(double));
    for (int u = 0; u < n; u++) {
        double *sum = t->rhodd + n * axis_of(body, u);
        for (int s = 0; s < n; s++) sum[s] += body->G[n * u + s] * motion->etadd[body->k[u]];
    }
    if (body->shortening != NULL && at->terms == TERMS_FULL)
        shortening_moment_rates(body, motion->eta, motion->etad, motion->etadd, &t->shortening, t->rhodd);
    if (body->geometric != NULL && at->terms == TERMS_FULL) field_moment_rates(body, at->state, motion->etadd, t);
}

/* Columns of a shape s along e_a. With p = int phi A dm, mu = int phi r dm and A the acceleration of the points, the wrench changes by
       eta:      (e_a x p + mu x B e_a;  s B e_a)
       eta_dot:  (2 mu x (omega x e_a);  2 s omega x e_a) */
static void add_wrenches(const struct tangent_input *at, int s, struct body_tangent *t)
{
    const struct body *body = at->body;
    const int n = body->n_shapes, axis = axis_of(body, s);
    const double s_s = body->s[s], *B = at->motion.B, *W = at->motion.W;
    double mu[3], rhod[3] = {0}, e[3] = {0}, p[3], *q = t->Nq[body->k[s]], *v = t->Nv[body->k[s]];
    e[axis] = 1;
    if (at->terms == TERMS_FULL) {
        moment_of(at, at->rho, s, mu);
        moment_of(at, at->rhod, s, rhod);
    } else {
        for (int a = X; a <= Z; a++) mu[a] = body->b[n * a + s];
    }
    const double Be[3] = {B[axis], B[3 + axis], B[6 + axis]}, We[3] = {W[axis], W[3 + axis], W[6 + axis]};
    for (int a = X; a <= Z; a++) p[a] = s_s * at->motion.a[a] + t->rhodd[n * a + s];
    add_mul3(B, mu, p);
    add_mul3(W, rhod, p);
    add_cross3(e, p, q);
    add_cross3(mu, Be, q);
    add_cross3(mu, We, v);
    axpy3(s_s, Be, q + 3);
    axpy3(s_s, We, v + 3);
}

/* (omega x rho + 2 rho_dot) x e_a + rho x (e_a x omega) */
void body_spin_row(int axis, const double rho[3], const double rhod[3], const double omega[3], double row[3])
{
    double u[3] = {2 * rhod[0], 2 * rhod[1], 2 * rhod[2]}, e[3] = {0}, ew[3];
    e[axis] = 1;
    add_cross3(omega, rho, u);
    cross3(e, omega, ew);
    cross3(u, e, row);
    add_cross3(rho, ew, row);
}

static void add_shape(const struct tangent_input *at, int s, struct body_tangent *t)
{
    const struct body *body = at->body;
    const int n = body->n_shapes, row = PADDED(body->m), a = axis_of(body, s), k = body->k[s];
    double rho[3], rhod[3] = {0}, spin[3];
    moment_of(at, at->rho, s, rho);
    if (at->rhod != NULL) moment_of(at, at->rhod, s, rhod);
    body_spin_row(a, rho, rhod, at->motion.omega, spin);
    axpy3(1, spin, t->Gw[k]);
    if (at->terms == TERMS_RUTHLESS) return;

    add_wrenches(at, s, t);
    /* modal forces per eta_j and eta_dot_j: sum over the shapes u of eta_j of G_su B_ab and G_su 2 [omega]x_ab, a, b the axes of s, u */
    for (int b = X; b <= Z; b++) {
        const double B = at->motion.B[3 * a + b], W = at->motion.W[3 * a + b];
        for (int u = body->axis_start[b]; u < body->axis_start[b + 1]; u++) {
            const double G = body->G[n * s + u];
            t->Gq[row * body->k[u] + k] += G * B;
            t->Gv[row * body->k[u] + k] += G * W;
        }
    }
}

/* M += s [v]x in rows of three */
static void add_skew(double s, const double *v, double *M)
{
    double K[9];
    skew3(v, K);
    for (int i = 0; i < 9; i++) M[i] += s * K[i];
}

/* hs = JL eta_dot,  c_dot = int r_dot dm,  Q = int r_dot r' dm */
static void rate_sums(const struct tangent_input *at, const struct body_state *state, double *hs, double *cd, double *Q)
{
    const struct body *body = at->body;
    const int n = body->n_shapes, row = PADDED(body->m);
    const double *etad = at->motion.etad;
    for (int k = 0; k < body->m; k++) axpy3(etad[k], body->JL + 3 * k, hs);
    for (int s = 0; s < n; s++) {
        const int a = axis_of(body, s);
        double mu[3] = {body->b[s], body->b[n + s], body->b[2 * n + s]};
        if (at->terms == TERMS_FULL) moment_of(at, at->rho, s, mu);
        cd[a] += body->s[s] * etad[body->k[s]];
        axpy3(etad[body->k[s]], mu, Q + 3 * a);
    }
    if (at->terms != TERMS_FULL) return;
    if (body->geometric != NULL) geometric_rate_sums(body, state, etad, hs, cd, Q);
    if (body->shortening == NULL) return;
    const struct shortening_state *shortened = &state->shortened;
    for (int k = 0; k < body->m; k++) {
        cd[X] -= shortened->C_eta[k] * etad[k];
        for (int a = X; a <= Z; a++) Q[3 * X + a] += shortened->sigma[row * a + k] * etad[k];
    }
}

/* Wrench per omega:  n: [omega]x J - [J omega]x + 2 (tr(Q) I - Q) - [hs]x,   f: -[omega x c]x - [omega]x [c]x - 2 [c_dot]x */
static void spin_columns(const struct tangent_input *at, const struct body_state *state, struct body_tangent *t)
{
    const double *omega = at->motion.omega;
    double Jw[3], wc[3], cd[3] = {0}, hs[3] = {0}, Q[9] = {0}, S[9], P[9], *N = t->Nw, *F = t->Nw + 9;
    const double *J = state->J;
    if (at->terms != TERMS_RUTHLESS) rate_sums(at, state, hs, cd, Q);
    symmul3(J, omega, Jw);
    cross3(omega, state->c, wc);
    const double full[9] = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]};
    skew3(omega, S);
    matmul3(S, full, N);
    const double trace = Q[0] + Q[4] + Q[8];
    for (int i = 0; i < 9; i++) N[i] += 2 * ((i % 4 == 0 ? trace : 0) - Q[i]);
    add_skew(-1, Jw, N);
    add_skew(-1, hs, N);
    skew3(state->c, P);
    matmul3(S, P, F);
    for (int i = 0; i < 9; i++) F[i] = -F[i];
    add_skew(-1, wc, F);
    add_skew(-2, cd, F);
}

void body_tangent(const struct body *body, enum elastic_terms terms, const struct body_state *state, const double *eta,
                  const double *etad, const double *etadd, const double omega[3], const double acc[6],
                  struct body_tangent *t)
{
    const size_t m = (size_t)body->m, row = (size_t)PADDED(body->m);
    const bool current = terms != TERMS_RUTHLESS, by_mode = current && body->beam; /* else the moments at eta = 0 */
    struct tangent_input at = {.body = body,
                               .terms = terms,
                               .state = state,
                               .motion = {.eta = eta, .etad = etad, .etadd = etadd, .omega = omega, .a = acc + 3},
                               .rho = current ? state->rho : body->b,
                               .rhod = current ? state->rhod : NULL,
                               .place = by_mode ? body->k : NULL,
                               .stride = by_mode ? PADDED(body->m) : body->n_shapes};
    point_acceleration(omega, acc, at.motion.B);
    skew3((const double[3]){2 * omega[0], 2 * omega[1], 2 * omega[2]}, at.motion.W);

    memset(t->Nq, 0, m * sizeof *t->Nq);
    memset(t->Nv, 0, m * sizeof *t->Nv);
    memset(t->Gq, 0, m * row * sizeof(double));
    memset(t->Gv, 0, m * row * sizeof(double));
    memset(t->Gw, 0, m * sizeof *t->Gw);
    if (current) {
        moment_rates(&at, t);
        for (int k = 0; k < body->m; k++) add_cross3(omega, body->JL + 3 * k, t->Nv[k]); /* omega x hs */
    }
    for (int s = 0; s < body->n_shapes; s++) add_shape(&at, s, t);
    if (body->shortening != NULL && current) shortening_tangent(body, terms, &state->shortened, &at.motion, t);
    if (body->geometric != NULL && current) geometric_tangent(body, terms, state, &at.motion, acc, t);
    spin_columns(&at, state, t);
}
