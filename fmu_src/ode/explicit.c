#include "ode/methods.h"

#include <math.h>
#include <string.h>

#include "ode/combination.h"
#include "ode/pairs.h"

/* ---- DOP853: order 8, error estimates of order 5 and 3 ------------------------------------------------------------------- */

/* Coefficients: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, 2nd ed., II.5 and the appendix. */
enum { STAGES = 12 };

/* The last row has the weights of the result. */
static const double A[STAGES + 1][STAGES] = {
    {0},
    {0.05260015195876773},
    {0.0197250569845379, 0.059175170953613701},
    {0.029587585476806851, 0, 0.088762756430420545},
    {0.24136513415926669, 0, -0.88454947932828609, 0.92483400326179199},
    {0.037037037037037035, 0, 0, 0.17082860872947386, 0.12546768756682242},
    {0.037109375, 0, 0, 0.17025221101954405, 0.060216538980455959, -0.017578125},
    {0.037092000118504789, 0, 0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
     0.0082737891638140233},
    {0.62411095871607569, 0, 0, -3.3608926294469414, -0.86821934684172597, 27.59209969944671, 20.154067550477894,
     -43.489884181069961},
    {0.47766253643826434, 0, 0, -2.4881146199716677, -0.59029082683684297, 21.230051448181193, 15.279233632882423,
     -33.288210968984863, -0.020331201708508627},
    {-0.9371424300859873, 0, 0, 5.1863724288440638, 1.0914373489967295, -8.1497870107469268, -18.520065659996959,
     22.739487099350505, 2.4936055526796523, -3.0467644718982196},
    {2.273310147516538, 0, 0, -10.534495466737249, -2.0008720582248625, -17.958931863118799, 27.94888452941996,
     -2.8589982771350235, -8.8728569335306293, 12.360567175794303, 0.64339274601576357},
    {0.054293734116568765, 0, 0, 0, 0, 4.4503128927524092, 1.8915178993145003, -5.8012039600105849, 0.3111643669578199,
     -0.15216094966251609, 0.20136540080403034, 0.044710615727772587}};

static const double C[STAGES] = {
    0,    0.05260015195876773, 0.078900227938151601, 0.1183503419072274,  0.28164965809277259, 0.33333333333333331,
    0.25, 0.30769230769230771, 0.6512820512820513,   0.59999999999999998, 0.8571428571428571,  1};

/* Weights of the error estimates of order 5 and of order 3 */
enum { ORDER_5, ORDER_3 };
static const double E[2][STAGES] = {
    {0.01312004499419488, 0, 0, 0, 0, -1.2251564463762044, -0.4957589496572502, 1.6643771824549864,
     -0.35032884874997366, 0.33417911871301748, 0.08192320648511571, -0.022355307863886294},
    {-0.18980075407240762, 0, 0, 0, 0, 4.4503128927524092, 1.8915178993145003, -5.8012039600105849,
     -0.42268232132379191, -0.15216094966251609, 0.20136540080403034, 0.022651792198360821}};

struct explicit_pair {
    struct one_step s;
    double *k; /* STAGES x n: rates of the stages; the first are those at the start of the step */
    double *e3;
};

/* sum = start + h sum_j weight_j k_j; start = NULL: 0 */
static void sum_stages(const struct explicit_pair *e, int stages, const double *weight, double h, const double *start,
                       double *sum)
{
    struct combination terms;
    terms.count = 0;
    for (int j = 0; j < stages; j++) combination_add(&terms, h * weight[j], e->k + e->s.n * j);
    if (start != NULL) combination_add(&terms, 1, start); /* the largest term last: less is lost to rounding */
    combination_sum(&terms, e->s.n, sum);
}

/* ---- Nystroem's method, for steps that communication points cut short ----------------------------------------------------- */

/* Kutta's method of order 3, with the midpoint rule for the error and with Nystroem's positions of the stages, which give order 4 if
   forces do not depend on velocities:  X_2 = x + h/2 v + h^2/8 a_1,  X_3 = x + h v + h^2/2 a_2
   (theory.md 85; Hairer, Norsett, Wanner II.14) */
enum { LOW_STAGES = 3 };
static const double LOW_A[LOW_STAGES + 1][LOW_STAGES] = {{0}, {0.5}, {-1, 2}, {1.0 / 6, 2.0 / 3, 1.0 / 6}};
static const double LOW_C[LOW_STAGES] = {0, 0.5, 1};
static const double LOW_E[LOW_STAGES] = {1.0 / 6, -1.0 / 3, 1.0 / 6};
/* The error of the midpoint rule is far larger than that of the step: with this factor the errors of both pairs are of the same size
   (bench/integration.py) */
static const double LOW_FACTOR = 0.3;
/* Nystroem's positions minus Kutta's at stage i: h^2 (LOW_BEND[i][0] a_1 + LOW_BEND[i][1] a_2) */
static const double LOW_BEND[LOW_STAGES][2] = {{0}, {0.125, 0}, {-1, 0.5}};

/* ---- a step ---------------------------------------------------------------------------------------------------------------- */

struct formula {
    int stages;
    const double *A, *c;     /* (stages + 1) x stages; stages                  */
    const double (*bend)[2]; /* stages: added to positions, as LOW_BEND; NULL: 0 */
};
static const struct formula HIGH = {STAGES, A[0], C, NULL}, LOW = {LOW_STAGES, LOW_A[0], LOW_C, LOW_BEND};

static enum status find_stages(struct explicit_pair *e, const struct formula *f, double h)
{
    struct one_step *s = &e->s;
    const struct ode *ode = s->base.ode;
    const double *a1 = e->k + ode->n_x, *a2 = a1 + s->n;
    memcpy(e->k, s->ydot, (size_t)s->n * sizeof(double));
    for (int i = 1; i < f->stages; i++) {
        sum_stages(e, i, f->A + f->stages * i, h, s->y, s->y1);
        /* from Kutta's positions to Nystroem's; not if there are quaternions */
        for (int k = 0; k < ode->n_x && f->bend != NULL && ode->n_quaternions == 0; k++)
            s->y1[k] += h * h * (f->bend[i][0] * a1[k] + f->bend[i][1] * a2[k]);
        const enum status status = stage_rhs(&s->stage, s->t + f->c[i] * h, s->y1, e->k + s->n * i);
        if (status != STATUS_OK) return status;
    }
    sum_stages(e, f->stages, f->A + f->stages * f->stages, h, s->y, s->y1);
    return STATUS_OK;
}

/* The method's scalars of the memory. Where stability limits the step, it fails soon after it has grown: after a failure the step size
   is at most BELOW times the one that failed, for CALM steps. */
enum { TRIED, CEILING, CALM_LEFT };
static const double BELOW = 0.95;
enum { CALM = 60 };

static double plan(struct one_step *s, double allowed, double remains)
{
    double *own = s->now->own;
    if (own[TRIED] > 0 && !pairs_low(s)) { /* not accepted */
        own[CEILING] = BELOW * own[TRIED];
        own[CALM_LEFT] = CALM;
    }
    own[TRIED] = 0;
    return pairs_plan(s, own[CALM_LEFT] > 0 && !pairs_low(s) ? fmin(allowed, own[CEILING]) : allowed, remains);
}

static void accept(struct one_step *s, double h)
{
    double *own = s->now->own;
    (void)h;
    own[TRIED] = 0;
    if (own[CALM_LEFT] > 0) own[CALM_LEFT]--;
    pairs_accept(s);
}

/* The error of the high order is e5 |e5| / sqrt(|e5|^2 + 0.01 |e3|^2), of the size of h^8
   (theory.md 84; Hairer, Norsett, Wanner, II.10) */
static enum status attempt(struct one_step *s, double h)
{
    struct explicit_pair *e = (struct explicit_pair *)(void *)s;
    s->now->own[TRIED] = h;
    const enum status status = find_stages(e, pairs_low(s) ? &LOW : &HIGH, h);
    if (status != STATUS_OK) return status;
    if (pairs_low(s)) {
        sum_stages(e, LOW_STAGES, LOW_E, LOW_FACTOR * h, NULL, s->error);
        return STATUS_OK;
    }
    sum_stages(e, STAGES, E[ORDER_5], h, NULL, s->error);
    sum_stages(e, STAGES, E[ORDER_3], h, NULL, e->e3);
    const double n5 = one_step_norm(s, s->error), n3 = one_step_norm(s, e->e3), ratio = n5 > 0 ? 0.1 * n3 / n5 : 0;
    for (int i = 0; i < s->n; i++) s->error[i] /= sqrt(1 + ratio * ratio);
    return STATUS_OK;
}

static const struct one_step_method explicit_method = {
    .pair = {{8, STAGES}, {3, LOW_STAGES}}, .open_end = true, .attempt = attempt, .accept = accept, .plan = plan};

enum status explicit_make(const struct ode *ode, struct integrator **made)
{
    struct arena arena = {0};
    struct explicit_pair *e = arena_allocate(&arena, 1, sizeof *e);
    *made = NULL;
    if (arena.failed) return STATUS_NO_MEMORY;
    one_step_make(&e->s, &explicit_method, ode, 0, &arena);
    e->k = arena_allocate(&arena, STAGES * (size_t)e->s.n, sizeof(double));
    e->e3 = arena_allocate(&arena, (size_t)e->s.n, sizeof(double));
    return one_step_finish(&e->s, &arena, made);
}
