/* The static start: elastic coordinates at rest under gravity, payload and tip wrench, joints held; where there are loops, passive
   joints go along, so that the loops stay closed. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "sim/instance.h"

enum { MOST_ITERATIONS = 50 };

/* r = h(q, 0) - G' lambda = 0,  gap = 0 */
struct equilibrium {
    int n, rows;              /* unknown coordinates, kept equations of the loops */
    int *coordinate;          /* n                                                */
    double *q;                /* n: where a step begins                           */
    double *r, *trial;        /* n: generalised forces at rest                    */
    double *K;                /* n x n: dr/dq + rho G'G, then its factors         */
    double *inverse_d;        /* n                                                */
    double *step, *next_step; /* n                                                */
    double *G, *gap;          /* rows x n, rows                                   */
    double unit;              /* what a metre of gap counts [N]                   */
    double *G0, *X;           /* rows x n: G where K was made, and K^-1 G'        */
    double rho;
    double *S, *inverse_s;                                 /* rows x rows, rows: factors of G X */
    double *lambda, *next_lambda, *dlambda, *next_dlambda; /* rows                              */
};

static double *row_of(double *A, const struct equilibrium *e, int i)
{
    return A + (size_t)e->n * (size_t)i;
}

/* r into `out`, G and gap; the size of r and gap */
static double residual(struct sim *sim, struct equilibrium *e, const double *lambda, double *out)
{
    const struct input rest = {.q = sim->q, .qd = sim->qd, .tip_wrench = sim->tip_wrench}; /* prescribed joints too */
    double sum = 0;
    dyn_configuration(sim->model, sim->work, sim->q);
    dyn_inverse(sim->model, sim->work, &rest, NULL, sim->force);
    if (e->rows > 0) loops_rows(sim->model, sim->work, sim->loops, &rest);
    for (int i = 0; i < e->n; i++) out[i] = sim->force[e->coordinate[i]];
    for (int k = 0; k < e->rows; k++) {
        const double *G = sim->loops->G + (size_t)sim->model->n * (size_t)k;
        double *own = row_of(e->G, e, k);
        for (int i = 0; i < e->n; i++) {
            own[i] = G[e->coordinate[i]];
            out[i] -= own[i] * lambda[k];
        }
        e->gap[k] = sim->loops->gap[sim->loops->kept[k]];
        sum += e->unit * e->gap[k] * e->unit * e->gap[k];
    }
    for (int i = 0; i < e->n; i++) sum += out[i] * out[i];
    return sqrt(sum);
}

/* Central differences: only the speed of Newton's iteration depends on them, not where it ends */
static void stiffness(struct sim *sim, struct equilibrium *e, const double *lambda)
{
    for (int j = 0; j < e->n; j++) {
        double *x = &sim->q[e->coordinate[j]];
        const double kept = *x, h = 1e-6 * (1 + fabs(kept));
        *x = kept + h;
        residual(sim, e, lambda, e->trial);
        for (int i = 0; i < e->n; i++) e->K[e->n * i + j] = e->trial[i];
        *x = kept - h;
        residual(sim, e, lambda, e->trial);
        for (int i = 0; i < e->n; i++) e->K[e->n * i + j] = (e->K[e->n * i + j] - e->trial[i]) / (2 * h);
        *x = kept;
    }
    for (int i = 0; i < e->n; i++) /* it is symmetric: the Hessian of the potential */
        for (int j = 0; j < i; j++) e->K[e->n * j + i] = 0.5 * (e->K[e->n * j + i] + e->K[e->n * i + j]);
    residual(sim, e, e->lambda, e->r); /* G and gap back */
}

static double dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* K + rho G'G, which is positive wherever K is so along the loops */
static double stiffen(struct equilibrium *e)
{
    double most_K = 0, most_G = 0;
    for (int i = 0; i < e->n; i++) most_K = fmax(most_K, fabs(e->K[(e->n + 1) * i]));
    for (int k = 0; k < e->rows; k++) most_G = fmax(most_G, dot(e->n, row_of(e->G, e, k), row_of(e->G, e, k)));
    const double rho = most_G > 0 ? most_K / most_G : 0;
    for (int k = 0; k < e->rows; k++) {
        const double *G = row_of(e->G, e, k);
        for (int i = 0; i < e->n; i++)
            for (int j = i; j < e->n; j++) e->K[e->n * i + j] += rho * G[i] * G[j];
    }
    return rho;
}

/* X = K^-1 G' and S = G X, factored. False: there is no stable equilibrium near */
static bool factor(struct equilibrium *e)
{
    const int n = e->n, rows = e->rows;
    e->rho = stiffen(e);
    memcpy(e->G0, e->G, (size_t)rows * (size_t)n * sizeof *e->G);
    if (cholesky_factor(n, e->K, e->inverse_d) != 0) return false;
    for (int k = 0; k < rows; k++) {
        double *X = row_of(e->X, e, k);
        memcpy(X, row_of(e->G0, e, k), (size_t)n * sizeof *X);
        cholesky_solve(n, e->K, e->inverse_d, X);
        for (int j = 0; j <= k; j++) e->S[rows * j + k] = dot(n, row_of(e->G0, e, j), X);
    }
    return rows == 0 || cholesky_factor(rows, e->S, e->inverse_s) == 0;
}

/* Far from the equilibrium multipliers may be such that K is not positive: then without their part, which is slower */
static bool make_factors(struct sim *sim, struct equilibrium *e)
{
    stiffness(sim, e, e->lambda);
    if (factor(e)) return true;
    memset(e->next_lambda, 0, (size_t)e->rows * sizeof(double));
    stiffness(sim, e, e->next_lambda);
    return factor(e);
}

/* K step - G' dlambda = r,  G step = gap, by those factors; the size of the step */
static double solve(struct equilibrium *e, const double *r, double *step, double *dlambda)
{
    const int n = e->n, rows = e->rows;
    memcpy(step, r, (size_t)n * sizeof *step);
    for (int k = 0; k < rows; k++)
        for (int i = 0; i < n; i++) step[i] += e->rho * row_of(e->G0, e, k)[i] * e->gap[k];
    cholesky_solve(n, e->K, e->inverse_d, step);
    for (int k = 0; k < rows; k++) dlambda[k] = e->gap[k] - dot(n, row_of(e->G0, e, k), step);
    if (rows > 0) cholesky_solve(rows, e->S, e->inverse_s, dlambda);
    for (int k = 0; k < rows; k++)
        for (int i = 0; i < n; i++) step[i] += row_of(e->X, e, k)[i] * dlambda[k];
    return sqrt(dot(n, step, step));
}

/* q - share step, lambda - share dlambda, and the residual there */
static double try_step(struct sim *sim, struct equilibrium *e, double share)
{
    for (int i = 0; i < e->n; i++) sim->q[e->coordinate[i]] = e->q[i] - share * e->step[i];
    for (int k = 0; k < e->rows; k++) e->next_lambda[k] = e->lambda[k] - share * e->dlambda[k];
    return residual(sim, e, e->next_lambda, e->trial);
}

/* Newton with step halving until the next step would be shorter, which unlike forces tells soft from stiff directions (Deuflhard);
   the forces must balance to 1e-10 of what they were at first */
static enum status iterate(struct sim *sim, struct equilibrium *e)
{
    double norm = residual(sim, e, e->lambda, e->r);
    const double first = e->unit = norm;
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        if (norm <= 1e-10 * first && loops_open_by(sim->loops) < 1e-12) return STATUS_OK;
        if (!make_factors(sim, e)) break;
        for (int i = 0; i < e->n; i++) e->q[i] = sim->q[e->coordinate[i]];
        const double length = solve(e, e->r, e->step, e->dlambda);
        double share = 1, next = try_step(sim, e, share);
        while (!(solve(e, e->trial, e->next_step, e->next_dlambda) < length) && share > 1e-6)
            next = try_step(sim, e, share *= 0.5);
        if (share <= 1e-6) {
            try_step(sim, e, 0);
            break;
        }
        norm = next;
        memcpy(e->r, e->trial, (size_t)e->n * sizeof(double));
        memcpy(e->lambda, e->next_lambda, (size_t)e->rows * sizeof(double));
    }
    if (norm <= 1e-8 * first) return STATUS_OK; /* rounding is all that is left */
    report_add(sim->report, REPORT_ERROR,
               "%s: no static equilibrium found: forces of %.3g remain of %.3g; start with start_static = false",
               sim->name, norm, first);
    return STATUS_NO_EQUILIBRIUM;
}

static void list_coordinates(const struct sim *sim, struct equilibrium *e)
{
    for (int i = 0; i < sim->model->n_links; i++) {
        const struct link_model *lm = &sim->model->link[i];
        if (e->rows > 0 && lm->q >= 0 && lm->passive && lm->prescribed < 0) e->coordinate[e->n++] = lm->q;
        for (int k = 0; k < lm->m; k++) e->coordinate[e->n++] = lm->eta + k;
    }
}

enum status sim_find_equilibrium(struct sim *sim)
{
    struct arena scratch = {0};
    const size_t n = (size_t)sim->model->n, rows = (size_t)sim->loops->n_kept;
    struct equilibrium e = {.rows = sim->loops->n_kept};
    double **const by_n[] = {&e.q, &e.r, &e.trial, &e.inverse_d, &e.step, &e.next_step};
    double **const by_row[] = {&e.gap, &e.inverse_s, &e.lambda, &e.next_lambda, &e.dlambda, &e.next_dlambda};
    double **const by_both[] = {&e.G, &e.G0, &e.X};
    e.coordinate = arena_take(&scratch, n, sizeof(int));
    e.K = arena_take(&scratch, n * n, sizeof(double));
    e.S = arena_take(&scratch, rows * rows, sizeof(double));
    for (int i = 0; i < 6; i++) *by_n[i] = arena_take(&scratch, n, sizeof(double));
    for (int i = 0; i < 6; i++) *by_row[i] = arena_take(&scratch, rows, sizeof(double));
    for (int i = 0; i < 3; i++) *by_both[i] = arena_take(&scratch, rows * n, sizeof(double));
    enum status status = STATUS_NO_MEMORY;
    if (!scratch.failed) {
        list_coordinates(sim, &e);
        memset(sim->qd, 0, n * sizeof(double));
        status = e.n > 0 ? iterate(sim, &e) : STATUS_OK;
    }
    arena_release(&scratch);
    return status;
}
