#include "flex/tangent.h"

#include <string.h>

#include "flex/axes.h"
#include "flex/moments.h"
#include "math/lanes.h"
#include "math/vec.h"

enum status body_tangent_make(const struct body *body, struct arena *arena, struct body_tangent *t)
{
    const size_t m = (size_t)body->m, row = (size_t)PADDED(body->m), n = (size_t)body->n_shapes;
    t->Nq = arena_take(arena, m, sizeof *t->Nq);
    t->Nv = arena_take(arena, m, sizeof *t->Nv);
    t->Gq = arena_take(arena, m * row, sizeof(double));
    t->Gv = arena_take(arena, m * row, sizeof(double));
    t->Gw = arena_take(arena, m, sizeof *t->Gw);
    t->zetad = arena_take(arena, n, sizeof(double));
    t->zetadd = arena_take(arena, n, sizeof(double));
    t->rhodd = arena_take(arena, 3 * n, sizeof(double));
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* The state, in the form needed by the columns. */
struct point {
    const struct body *body;
    enum elastic_terms terms;
    const double *eta, *etad, *etadd, *omega, *a;
    double B[9], W[9]; /* [alpha]x + [omega]x^2,  2 [omega]x */
    const double *rho, *rhod;
    const int *place; /* index of a shape in the rows of rho: its mode in a plain beam; NULL: the shape itself */
    int stride;       /* length of those rows                                                  */
};

static inline bool is_quadratic(const struct body *body, int s)
{
    return body->l[s] >= 0;
}

static inline int axis_of(const struct body *body, int s)
{
    return s < body->axis_start[1] ? X : s < body->axis_start[2] ? Y : Z;
}

/* int phi_s (..) dm of shape s */
static inline void moment_of(const struct point *at, const double *rho, int s, double v[3])
{
    const int i = at->place == NULL ? s : at->place[s];
    for (int a = X; a <= Z; a++) v[a] = rho[at->stride * a + i];
}

/* Derivatives of shape s: zeta_s = -w eta_k eta_l has the derivatives -w eta_l with respect to eta_k and -w eta_k with respect to
   eta_l; likewise for rates. An ordinary shape has one derivative, and it is 1. */
struct slopes {
    int count, at[2];
    double q[2], v[2], a[2]; /* at eta, eta_dot, eta_ddot */
};

static struct slopes slopes_of(const struct point *at, int s)
{
    const int k = at->body->k[s], l = at->body->l[s];
    if (l < 0) return (struct slopes){.count = 1, .at = {k, k}, .q = {1}};
    const double w = -at->body->weight[s];
    return (struct slopes){.count = 2,
                           .at = {k, l},
                           .q = {w * at->eta[l], w * at->eta[k]},
                           .v = {w * at->etad[l], w * at->etad[k]},
                           .a = {w * at->etadd[l], w * at->etadd[k]}};
}

/* zeta_dot = S eta_dot,  zeta_ddot = S eta_ddot + S_dot eta_dot */
static void shape_rates(const struct point *at, struct body_tangent *t)
{
    for (int s = 0; s < at->body->n_shapes; s++) {
        const struct slopes S = slopes_of(at, s);
        t->zetad[s] = t->zetadd[s] = 0;
        for (int i = 0; i < S.count; i++) {
            t->zetad[s] += S.q[i] * at->etad[S.at[i]];
            t->zetadd[s] += S.q[i] * at->etadd[S.at[i]];
            t->zetadd[s] += S.v[i] * at->etad[S.at[i]];
        }
    }
}

/* rho_ddot_s = sum_t G_st zeta_ddot_t e_a(t); over the ordinary shapes t only in `linear` */
static void moment_rates(const struct point *at, struct body_tangent *t)
{
    const struct body *body = at->body;
    const int n = body->n_shapes;
    memset(t->rhodd, 0, 3 * (size_t)n * sizeof(double));
    for (int u = 0; u < n; u++) {
        if (at->terms == TERMS_LINEAR && is_quadratic(body, u)) continue;
        double *sum = t->rhodd + n * axis_of(body, u);
        for (int s = 0; s < n; s++) sum[s] += body->G[n * u + s] * t->zetadd[u];
    }
}

/* Derivatives of the wrench of r_ddot for a shape s along e_a, per zeta, zeta_dot and zeta_ddot. With p = int phi A dm,
   mu = int phi r dm and A the acceleration of the points:
       zeta:      (e_a x p + mu x B e_a;  s B e_a)
       zeta_dot:  (2 mu x (omega x e_a);  2 s omega x e_a)
       zeta_ddot: (mu x e_a;  s e_a) */
struct shape_wrenches {
    double q[6], v[6], a[6], p[3];
};

static void shape_wrenches(const struct point *at, const struct body_tangent *t, int s, struct shape_wrenches *w)
{
    const struct body *body = at->body;
    const int n = body->n_shapes, axis = axis_of(body, s);
    const double share = body->s[s];
    double mu[3], rhod[3] = {0}, e[3] = {0};
    e[axis] = 1;
    if (at->terms == TERMS_FULL) {
        moment_of(at, at->rho, s, mu);
        moment_of(at, at->rhod, s, rhod);
    } else {
        for (int a = X; a <= Z; a++) mu[a] = body->b[n * a + s];
    }
    const double Be[3] = {at->B[axis], at->B[3 + axis], at->B[6 + axis]},
                 We[3] = {at->W[axis], at->W[3 + axis], at->W[6 + axis]};
    for (int a = X; a <= Z; a++) w->p[a] = share * at->a[a] + t->rhodd[n * a + s];
    add_mul3(at->B, mu, w->p);
    add_mul3(at->W, rhod, w->p);
    cross3(e, w->p, w->q);
    add_cross3(mu, Be, w->q);
    cross3(mu, We, w->v);
    cross3(mu, e, w->a);
    for (int a = X; a <= Z; a++) {
        w->q[3 + a] = share * Be[a];
        w->v[3 + a] = share * We[a];
        w->a[3 + a] = share * e[a];
    }
}

/* Adds the shape's wrenches to the columns of its coordinates, without the second-order terms that `linear` drops */
static void add_wrenches(const struct point *at, const struct slopes *S, bool quadratic, const struct shape_wrenches *w,
                         struct body_tangent *t)
{
    const bool full = at->terms == TERMS_FULL;
    for (int i = 0; i < S->count; i++) {
        double *q = t->Nq[S->at[i]], *v = t->Nv[S->at[i]];
        if (full || !quadratic) {
            axpy6(S->q[i], w->q, q);
            axpy6(S->q[i], w->v, v);
        }
        if (!quadratic) continue;
        axpy6(S->a[i], w->a, q);
        if (full) {
            axpy6(S->v[i], w->v, q);
            axpy6(2 * S->v[i], w->a, v);
        }
    }
}

/* Derivative of a shape's modal force e_a . (s a + B rho + 2 omega x rho_dot) with respect to omega:
   (omega x rho + 2 rho_dot) x e_a + rho x (e_a x omega) */
static void spin_row(const struct point *at, int s, double row[3])
{
    double rho[3], u[3] = {0}, e[3] = {0}, ew[3];
    e[axis_of(at->body, s)] = 1;
    moment_of(at, at->rho, s, rho);
    if (at->rhod != NULL) moment_of(at, at->rhod, s, u);
    for (int a = X; a <= Z; a++) u[a] *= 2;
    add_cross3(at->omega, rho, u);
    cross3(e, at->omega, ew);
    cross3(u, e, row);
    add_cross3(rho, ew, row);
}

/* Modal forces per eta and eta_dot: with g_s the shape's force,
   dg_s = sum_t G_st (B_ab dzeta_t + 2 [omega]x_ab dzeta_dot_t + dzeta_ddot_t for a = b),  a, b the axes of s, t */
static void add_pair(const struct point *at, int s, const struct slopes *S, int u, const struct slopes *T,
                     struct body_tangent *t)
{
    const struct body *body = at->body;
    const int a = axis_of(body, s), b = axis_of(body, u), row = PADDED(body->m);
    const bool full = at->terms == TERMS_FULL, quadratic = is_quadratic(body, u);
    const double G = body->G[body->n_shapes * s + u], GB = G * at->B[3 * a + b], GW = G * at->W[3 * a + b],
                 GI = a == b && quadratic ? G : 0;
    for (int j = 0; j < T->count; j++) {
        double q = T->a[j] * GI, v = 0;
        if (full || !quadratic) {
            q += T->q[j] * GB + T->v[j] * GW;
            v += T->q[j] * GW;
        }
        if (full) v += 2 * T->v[j] * GI;
        for (int i = 0; i < S->count; i++) {
            t->Gq[row * T->at[j] + S->at[i]] += S->q[i] * q;
            t->Gv[row * T->at[j] + S->at[i]] += S->q[i] * v;
        }
    }
}

static void add_shape(const struct point *at, int s, struct body_tangent *t)
{
    const struct body *body = at->body;
    const bool quadratic = is_quadratic(body, s);
    const struct slopes S = slopes_of(at, s);
    double spin[3];
    spin_row(at, s, spin);
    for (int i = 0; i < S.count; i++) axpy3(S.q[i], spin, t->Gw[S.at[i]]);
    if (at->terms == TERMS_RUTHLESS) return;

    struct shape_wrenches w;
    shape_wrenches(at, t, s, &w);
    add_wrenches(at, &S, quadratic, &w, t);
    if (at->terms == TERMS_FULL || !quadratic) {
        for (int u = 0; u < body->n_shapes; u++) {
            const struct slopes T = slopes_of(at, u);
            add_pair(at, s, &S, u, &T, t);
        }
    }
    if (quadratic) { /* change of the derivatives: -w (deta_l g, deta_k g) */
        const int k = body->k[s], l = body->l[s], row = PADDED(body->m);
        t->Gq[row * l + k] -= body->weight[s] * w.p[X];
        t->Gq[row * k + l] -= body->weight[s] * w.p[X];
    }
}

/* M += s [v]x in rows of three */
static void add_skew(double s, const double *v, double *M)
{
    double K[9];
    skew3(v, K);
    for (int i = 0; i < 9; i++) M[i] += s * K[i];
}

/* Wrench per omega:  n: [omega]x J - [J omega]x + 2 (tr(Q) I - Q) - [hs]x,   f: -[omega x c]x - [omega]x [c]x - 2 [c_dot]x */
static void spin_columns(const struct point *at, const struct body_state *state, struct body_tangent *t)
{
    const struct body *body = at->body;
    const int n = body->n_shapes;
    double Jw[3], wc[3], cd[3] = {0}, hs[3] = {0}, Q[9] = {0}, S[9], P[9], *N = t->Nw, *F = t->Nw + 9;
    const double *J = state->J;
    if (at->terms != TERMS_RUTHLESS) {
        for (int k = 0; k < body->m; k++) axpy3(at->etad[k], body->JL + 3 * k, hs);
        for (int s = 0; s < n; s++) {
            const int a = axis_of(body, s);
            double mu[3] = {body->b[s], body->b[n + s], body->b[2 * n + s]};
            if (at->terms == TERMS_FULL) moment_of(at, at->rho, s, mu);
            else if (is_quadratic(body, s)) continue;
            cd[a] += body->s[s] * t->zetad[s];
            axpy3(t->zetad[s], mu, Q + 3 * a);
        }
    }
    symmul3(J, at->omega, Jw);
    cross3(at->omega, state->c, wc);
    const double full[9] = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]};
    skew3(at->omega, S);
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
    struct point at = {body,
                       terms,
                       eta,
                       etad,
                       etadd,
                       omega,
                       acc + 3,
                       .rho = state->rho,
                       .rhod = state->rhod,
                       .place = body->plain ? body->k : NULL,
                       .stride = body->plain ? PADDED(body->m) : body->n_shapes};
    if (terms == TERMS_RUTHLESS) {
        at.rho = body->b;
        at.rhod = NULL;
        at.place = NULL;
        at.stride = body->n_shapes;
    }
    point_acceleration(omega, acc, at.B);
    skew3((const double[3]){2 * omega[0], 2 * omega[1], 2 * omega[2]}, at.W);

    memset(t->Nq, 0, m * sizeof *t->Nq);
    memset(t->Nv, 0, m * sizeof *t->Nv);
    memset(t->Gq, 0, m * row * sizeof(double));
    memset(t->Gv, 0, m * row * sizeof(double));
    memset(t->Gw, 0, m * sizeof *t->Gw);
    if (terms != TERMS_RUTHLESS) {
        shape_rates(&at, t);
        moment_rates(&at, t);
        for (int k = 0; k < body->m; k++) add_cross3(omega, body->JL + 3 * k, t->Nv[k]); /* omega x hs */
    }
    for (int s = 0; s < body->n_shapes; s++) {
        if (terms == TERMS_RUTHLESS && is_quadratic(body, s)) continue;
        add_shape(&at, s, t);
    }
    spin_columns(&at, state, t);
}
