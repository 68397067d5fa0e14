#include "ode/gauss_solver.h"

#include <math.h>
#include <string.h>

#include "math/lanes.h"

/* An eigenvalue of A with its eigenvectors, left' right = 1; of a pair `right` is doubled, for d = Re(sum_k right_k d_k) */
struct group {
    int parts; /* 1: real, 2: complex */
    double lambda[2];
    double left[GAUSS_STAGES][2], right[GAUSS_STAGES][2];
};

static const struct group GROUP[GAUSS_GROUPS] = {
    {1,
     {0.13710881296519228, 0},
     {{0.88661729702091108, 0},
      {0.45277802013680851, 0},
      {0.093847216557537722, 0},
      {-0.005118420061941787, 0},
      {0.0082664880570557254, 0}},
     {{0.51562304992716834, 0},
      {-0.15803847873730015, 0},
      {2.4379206735421231, 0},
      {13.980163535261109, 0},
      {55.302845858212265, 0}}},
    {2,
     {0.11742725435969859, 0.061049703818538165},
     {{-0.28662561146266263, -0.80364687057320905},
      {0.16734946213931975, -0.487011422640451},
      {0.072564804954652881, -0.02414072797451482},
      {0.029290431108964992, 0.00057940482800469622},
      {-0.0074526694298012452, 0.0070189030173527121}},
     {{-0.77861149497496174, 0.36112197499800364},
      {1.1458132968365753, 0.4065281420686277},
      {2.6701752004769048, 0},
      {12.969891852259126, -16.985298507903092},
      {-1.5329136659274505, -71.515483385914919}}},
    {2,
     {0.06401833915770525, 0.09834106917310913},
     {{-0.51157120964407565, 0.50053535376178859},
      {-0.56819192089188897, -0.28342968008793024},
      {0.21158386228936366, -0.17585502790120086},
      {-0.024085128668801224, 0.088904411655413948},
      {-9.2742314845812589e-05, -0.020198923757364661}},
     {{0.30582001850398516, -0.37141005056439746},
      {-0.88840336813226495, 0.62462634625063018},
      {2.7291646051574365, 0},
      {-3.0160564287287501, -6.8520689047584664},
      {-16.991223426414383, 1.3802388282040849}}},
};

void gauss_solver_make(struct gauss_solver *solver, struct stage *stage, const double *square, struct arena *arena)
{
    const size_t n_v = (size_t)stage->ode->n_v, n_z = (size_t)stage->n_z;
    *solver = (struct gauss_solver){.stage = stage, .n_v = (int)n_v, .n_z = (int)n_z, .square = square};
    for (int k = 0; k < GAUSS_DIRECTIONS; k++) arena_arrays(arena, 2 * n_z, ARRAYS(&solver->p[k], &solver->q[k]));
    for (int k = 0; k < GAUSS_GROUPS; k++) solver->x[k] = arena_allocate(arena, 2 * n_z, sizeof(double));
    solver->rho = arena_allocate(arena, 2 * n_z, sizeof(double));
    arena_arrays(arena, n_v, ARRAYS(&solver->dx, &solver->dv));
}

double gauss_norm(const struct gauss_solver *solver, double h, const double *a)
{
    double sum = 0;
    for (int i = 0; i < solver->n_v; i++) sum += solver->square[i] * a[i] * a[i];
    return fabs(h) * sqrt(sum / solver->n_v);
}

/* ---- complex vectors ------------------------------------------------------------------------------------------------ */

/* y += c x, of n complex numbers */
static void add_multiple(int n, int parts, const double c[2], const double *restrict x, double *restrict y)
{
    if (parts == 1) {
        for (int i = 0; i < n; i++) y[i] += c[0] * x[i];
        return;
    }
    for (int i = 0; i < n; i++) {
        y[i] += c[0] * x[i] - c[1] * x[n + i];
        y[n + i] += c[0] * x[n + i] + c[1] * x[i];
    }
}

/* sum_i square_i x_i y_i over the accelerations */
static double weighted_sum(const struct gauss_solver *s, const double *x, const double *y)
{
    const double *w = s->square;
    double part[LANES], sum = 0;
    lanes vector = {0};
    int i = 0;
    for (; i + LANES <= s->n_v; i += LANES) vector += load(w + i) * load(x + i) * load(y + i);
    for (; i < s->n_v; i++) sum += w[i] * x[i] * y[i];
    store(part, vector);
    for (int k = 0; k < LANES; k++) sum += part[k];
    return sum;
}

/* c = sum_i square_i conj(x_i) y_i over the accelerations */
static void weighted_product(const struct gauss_solver *s, int parts, const double *x, const double *y, double c[2])
{
    const double *xi = x + s->n_z, *yi = y + s->n_z;
    c[0] = weighted_sum(s, x, y);
    c[1] = 0;
    if (parts == 1) return;
    c[0] += weighted_sum(s, xi, yi);
    c[1] = weighted_sum(s, x, yi) - weighted_sum(s, xi, y);
}

static double squared_norm(const struct gauss_solver *s, int parts, const double *x)
{
    const double *xi = x + s->n_z;
    return weighted_sum(s, x, x) + (parts == 2 ? weighted_sum(s, xi, xi) : 0);
}

/* ---- one group ------------------------------------------------------------------------------------------------------ */

/* q = N^-1 P p = p + N^-1 [ h^2 (lambda^2 - g^2) K p + h (lambda - g) D p ] */
static void multiply_preconditioned(struct gauss_solver *s, const struct group *group, double h, const double *p,
                                    double *q)
{
    const int n = s->n_z;
    const double l = group->lambda[0], m = group->lambda[1];
    const double k[2] = {h * h * (l * l - m * m - GAUSS_G * GAUSS_G), h * h * 2 * l * m},
                 d[2] = {h * (l - GAUSS_G), h * m};
    for (int part = 0; part < group->parts; part++) {
        const double *same = p + part * n, *other = p + (1 - part) * n;
        const double sign = part == 0 ? -1 : 1;
        for (int i = 0; i < s->n_v; i++) {
            s->dx[i] = k[0] * same[i];
            s->dv[i] = d[0] * same[i];
        }
        for (int i = 0; group->parts == 2 && i < s->n_v; i++) {
            s->dx[i] += sign * k[1] * other[i];
            s->dv[i] += sign * d[1] * other[i];
        }
        stage_forces(s->stage, s->dx, s->dv, q + part * n);
        stage_solve(s->stage, q + part * n);
        for (int i = 0; i < n; i++) q[part * n + i] += same[i];
    }
}

/* p_k and q_k = N^-1 P p_k, orthonormal to the earlier q; false if there is no new direction */
static bool new_direction(struct gauss_solver *s, const struct group *group, double h, int k)
{
    const int parts = group->parts;
    double *p = s->p[k], *q = s->q[k], c[2];
    memcpy(p, s->rho, (size_t)(parts * s->n_z) * sizeof *p);
    multiply_preconditioned(s, group, h, p, q);
    for (int j = 0; j < k; j++) {
        weighted_product(s, parts, s->q[j], q, c);
        c[0] = -c[0], c[1] = -c[1];
        add_multiple(s->n_z, parts, c, s->q[j], q);
        add_multiple(s->n_z, parts, c, s->p[j], p);
    }
    const double length = sqrt(squared_norm(s, parts, q));
    if (!(length > 0)) return false;
    for (int i = 0; i < parts * s->n_z; i++) {
        p[i] /= length;
        q[i] /= length;
    }
    return true;
}

/* Solves P x = r of a group, from rho = N^-1 r. K and D do not act on multipliers, so the rest of rho is added to their part of x;
   to all of x if there is no direction, because rho is zero or not finite. */
static void solve_group(struct gauss_solver *s, const struct group *group, double h, const struct gauss_effort *effort,
                        double *x)
{
    const int parts = group->parts, n = s->n_z;
    const double small = fmax(effort->absolute * effort->absolute * s->n_v / (h * h),
                              effort->relative * effort->relative * squared_norm(s, parts, s->rho));
    double c[2];
    int first = s->n_v;
    memset(x, 0, 2 * (size_t)n * sizeof *x);
    for (int k = 0; k < effort->most && first > 0; k++) {
        if (!effort->exactly && squared_norm(s, parts, s->rho) <= small) break;
        if (!new_direction(s, group, h, k)) {
            first = 0;
            continue;
        }
        weighted_product(s, parts, s->q[k], s->rho, c);
        add_multiple(n, parts, c, s->p[k], x);
        c[0] = -c[0], c[1] = -c[1];
        add_multiple(n, parts, c, s->q[k], s->rho);
    }
    for (int part = 0; part < parts; part++)
        for (int i = first; i < n; i++) x[part * n + i] += s->rho[part * n + i];
}

void gauss_solve(struct gauss_solver *s, double h, const struct gauss_effort *effort, double *r)
{
    const int n = s->n_z;
    for (int k = 0; k < GAUSS_GROUPS; k++) {
        const struct group *group = &GROUP[k];
        for (int part = 0; part < group->parts; part++) {
            double *rho = s->rho + part * n;
            memset(rho, 0, (size_t)n * sizeof *rho);
            for (int j = 0; j < GAUSS_STAGES; j++)
                for (int i = 0; i < n; i++) rho[i] += group->left[j][part] * r[j * n + i];
            stage_solve(s->stage, rho);
        }
        solve_group(s, group, h, effort, s->x[k]);
    }
    memset(r, 0, (size_t)(GAUSS_STAGES * n) * sizeof *r);
    for (int k = 0; k < GAUSS_GROUPS; k++)
        for (int j = 0; j < GAUSS_STAGES; j++)
            for (int i = 0; i < n; i++)
                r[j * n + i] += GROUP[k].right[j][0] * s->x[k][i] - GROUP[k].right[j][1] * s->x[k][n + i];
}
