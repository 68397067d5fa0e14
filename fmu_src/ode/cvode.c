#include "ode/integrator.h"

#include <cvode/cvode.h>
#include <float.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "base/arena.h"
#include "ode/newton.h"

/* Steps after which CVODE makes a Jacobian anew (its own default); across a restart it does not ask, so we do. */
enum { JACOBIAN_LASTS = 51 };

/* A restart begins with order 1, and where restarts are many what the low orders err by adds up: until the order is RISEN, where
   it may rise, they have to meet a tenth of the tolerance (bench/coupling.py: states that are saved at every step). */
enum { RISEN = 3 };
static const double START = 0.1;

/* After every PACE steps their mean length tells how many lie ahead: more than MOST come to no end. No motion of a robot needs
   steps as short as SHORTEST for long, so of these FEWER are too many. A short while, as behind a jump, is no matter. */
enum { PACE = 10000 };
static const double MOST = 1e12, FEWER = 1e8, SHORTEST = 1e-10 /* s */;

struct integrator {
    struct ode ode;
    SUNContext context; /* one per instance: nothing is shared with other instances or other copies of SUNDIALS */
    void *cvode;
    N_Vector y, tolerance; /* n_x + n_v                                              */
    struct newton newton;  /* A, B and the reduction of the Newton system to n_v     */
    long age_from;         /* steps when A and B were made                           */
    bool keep;             /* they hold across the restart that comes                */
    SUNMatrix N;           /* n_v x n_v: the reduced Newton matrix, then its factors */
    N_Vector v;            /* n_v                                                    */
    SUNLinearSolver dense; /* of size n_v                                            */
    SUNLinearSolver solver;
    double relative_tolerance;
    int max_order;
    bool starting;                       /* a restart, and the order has not RISEN since                    */
    char trouble[512];                   /* why the last advance failed; before that, what CVODE said last */
    struct integrator_statistics before; /* what earlier restarts had counted */
    struct arena arena;
};

static int count_states(const struct integrator *integrator)
{
    return ode_states(&integrator->ode);
}

/* ---- CVODE calls back -------------------------------------------------------------------------------------------- */

/* Norms square their entries: a derivative whose square against the tolerance overflows would pass for no motion at all */
static int rhs(realtype t, N_Vector y, N_Vector ydot, void *user)
{
    struct integrator *integrator = user;
    const struct ode *ode = &integrator->ode;
    const double *derivative = N_VGetArrayPointer(ydot), *tolerance = N_VGetArrayPointer(integrator->tolerance);
    const int code = ode->rhs(ode->context, t, N_VGetArrayPointer(y), N_VGetArrayPointer(ydot));
    double sum = 0;
    for (int i = 0; i < count_states(integrator); i++)
        sum += derivative[i] / tolerance[i] * (derivative[i] / tolerance[i]);
    return code == 0 && !isfinite(sum) ? 1 : code;
}

/* 1/w = rtol |y| + atol, of which a share has to do at the start */
static int weigh(N_Vector y, N_Vector weight, void *user)
{
    const struct integrator *integrator = user;
    const double *tolerance = N_VGetArrayPointer(integrator->tolerance), *x = N_VGetArrayPointer(y);
    const double share = integrator->starting ? START : 1;
    double *w = N_VGetArrayPointer(weight);
    for (int i = 0; i < count_states(integrator); i++)
        w[i] = 1 / (share * (integrator->relative_tolerance * fabs(x[i]) + tolerance[i]));
    return 0;
}

static int make_newton_matrix(realtype t, N_Vector y, N_Vector fy, SUNMatrix matrix, booleantype jacobian_is_good,
                              booleantype *jacobian_is_new, realtype gamma, void *user, N_Vector u, N_Vector v,
                              N_Vector w)
{
    struct integrator *integrator = user;
    const struct ode *ode = &integrator->ode;
    struct newton *newton = &integrator->newton;
    (void)fy, (void)u, (void)v, (void)w;
    struct integrator_statistics count;
    integrator_statistics(integrator, &count);
    const bool keep = integrator->keep && count.steps - integrator->age_from < JACOBIAN_LASTS;
    integrator->keep = false;
    *jacobian_is_new = !jacobian_is_good && !keep;
    if (*jacobian_is_new) {
        const int code = ode->jacobian(ode->context, t, N_VGetArrayPointer(y), newton->A, newton->B);
        if (code != 0) return code;
        integrator->age_from = count.steps;
    }
    newton_matrix(newton, gamma, N_VGetArrayPointer(y), SUNDenseMatrix_Data(matrix));
    return 0;
}

static SUNLinearSolver_Type is_direct(SUNLinearSolver solver)
{
    (void)solver;
    return SUNLINEARSOLVER_DIRECT;
}

static int factor_newton_matrix(SUNLinearSolver solver, SUNMatrix matrix)
{
    const struct integrator *integrator = solver->content;
    return SUNLinSolSetup(integrator->dense, matrix);
}

static int solve_newton(SUNLinearSolver solver, SUNMatrix matrix, N_Vector solution, N_Vector rhs_vector,
                        realtype tolerance)
{
    const struct integrator *integrator = solver->content;
    const double *r = N_VGetArrayPointer(rhs_vector);
    double *v = N_VGetArrayPointer(integrator->v);
    newton_reduce(&integrator->newton, r, v);
    const int code = SUNLinSolSolve(integrator->dense, matrix, integrator->v, integrator->v, tolerance);
    newton_expand(&integrator->newton, r, v, N_VGetArrayPointer(solution));
    return code;
}

static int project(realtype t, N_Vector y, N_Vector correction, realtype tolerance, N_Vector error, void *user)
{
    struct integrator *integrator = user;
    const struct ode *ode = &integrator->ode;
    (void)tolerance; /* to rounding */
    N_VScale(1, y, correction);
    const int code =
        ode->project(ode->context, t, N_VGetArrayPointer(correction), error != NULL ? N_VGetArrayPointer(error) : NULL);
    N_VLinearSum(1, correction, -1, y, correction);
    return code;
}

static void remember_trouble(int code, const char *module, const char *function, char *message, void *user)
{
    struct integrator *integrator = user;
    (void)code, (void)module, (void)function;
    strncpy(integrator->trouble, message, sizeof integrator->trouble - 1);
}

/* ---- making and freeing -------------------------------------------------------------------------------------------- */

static enum status make_solver(struct integrator *integrator)
{
    const int n = integrator->ode.n_v;
    SUNContext context = integrator->context;
    integrator->N = SUNDenseMatrix(n, n, context);
    integrator->v = N_VNew_Serial(n, context);
    integrator->solver = SUNLinSolNewEmpty(context);
    if (integrator->N == NULL || integrator->v == NULL || integrator->solver == NULL) return STATUS_NO_MEMORY;
    integrator->dense = SUNLinSol_Dense(integrator->v, integrator->N, context);
    if (integrator->dense == NULL) return STATUS_NO_MEMORY;
    integrator->solver->content = integrator;
    integrator->solver->ops->gettype = is_direct;
    integrator->solver->ops->setup = factor_newton_matrix;
    integrator->solver->ops->solve = solve_newton;
    return STATUS_OK;
}

static enum status attach(struct integrator *integrator)
{
    const int states = count_states(integrator);
    if (SUNContext_Create(NULL, &integrator->context) != 0) return STATUS_NO_MEMORY;
    integrator->y = N_VNew_Serial(states, integrator->context);
    integrator->tolerance = N_VNew_Serial(states, integrator->context);
    void *cvode = integrator->cvode = CVodeCreate(CV_BDF, integrator->context);
    if (integrator->y == NULL || integrator->tolerance == NULL || cvode == NULL) return STATUS_NO_MEMORY;
    N_VConst(0, integrator->y);
    const int failed = make_solver(integrator) != STATUS_OK ||
                       CVodeSetErrHandlerFn(cvode, remember_trouble, integrator) != 0 ||
                       CVodeInit(cvode, rhs, 0, integrator->y) != 0 || CVodeWFtolerances(cvode, weigh) != 0 ||
                       CVodeSetUserData(cvode, integrator) != 0 ||
                       CVodeSetLinearSolver(cvode, integrator->solver, integrator->N) != 0 ||
                       CVodeSetLinSysFn(cvode, make_newton_matrix) != 0 || CVodeSetMaxNumSteps(cvode, -1) != 0 ||
                       (integrator->ode.project != NULL && CVodeSetProjFn(cvode, project) != 0);
    return failed ? STATUS_NO_MEMORY : STATUS_OK;
}

enum status integrator_make(const struct ode *ode, struct integrator **made)
{
    struct arena arena = {0};
    struct integrator *integrator = arena_take(&arena, 1, sizeof *integrator);
    struct newton newton;
    newton_make(&newton, ode, &arena);
    *made = NULL;
    if (arena.failed) {
        arena_release(&arena);
        return STATUS_NO_MEMORY;
    }
    integrator->ode = *ode;
    integrator->newton = newton;
    integrator->arena = arena;
    const enum status status = attach(integrator);
    if (status == STATUS_OK) *made = integrator;
    else integrator_free(integrator);
    return status;
}

void integrator_free(struct integrator *integrator)
{
    if (integrator == NULL) return;
    if (integrator->cvode != NULL) CVodeFree(&integrator->cvode);
    if (integrator->solver != NULL) SUNLinSolFreeEmpty(integrator->solver);
    if (integrator->dense != NULL) SUNLinSolFree(integrator->dense);
    if (integrator->v != NULL) N_VDestroy(integrator->v);
    if (integrator->N != NULL) SUNMatDestroy(integrator->N);
    if (integrator->tolerance != NULL) N_VDestroy(integrator->tolerance);
    if (integrator->y != NULL) N_VDestroy(integrator->y);
    if (integrator->context != NULL) SUNContext_Free(&integrator->context);
    struct arena arena = integrator->arena; /* the integrator lives in it */
    arena_release(&arena);
}

/* ---- using it -------------------------------------------------------------------------------------------------------- */

enum status integrator_configure(struct integrator *integrator, const struct integrator_options *options)
{
    double *tolerance = N_VGetArrayPointer(integrator->tolerance);
    for (int i = 0; i < count_states(integrator); i++) tolerance[i] = options->relative_tolerance * options->nominal[i];
    integrator->relative_tolerance = options->relative_tolerance;
    integrator->max_order = options->max_order;
    const int failed = CVodeSetMaxStep(integrator->cvode, options->max_step) != 0 ||
                       CVodeSetMaxOrd(integrator->cvode, options->max_order) != 0;
    return failed ? STATUS_INTEGRATION : STATUS_OK;
}

void integrator_forget(struct integrator *integrator)
{
    CVodeReInit(integrator->cvode, 0, integrator->y); /* its counts begin anew */
    memset(&integrator->before, 0, sizeof integrator->before);
}

enum status integrator_restart(struct integrator *integrator, double t, const double *y, const struct restart *restart)
{
    integrator_statistics(integrator, &integrator->before);
    integrator->before.restarts++;
    integrator->keep = restart->inputs_alone;
    integrator->starting = integrator->max_order >= RISEN;
    memcpy(N_VGetArrayPointer(integrator->y), y, (size_t)count_states(integrator) * sizeof *y);
    const int failed = CVodeReInit(integrator->cvode, t, integrator->y) != 0 ||
                       CVodeSetInitStep(integrator->cvode, restart->first_step) != 0;
    return failed ? STATUS_INTEGRATION : STATUS_OK;
}

/* CVODE's reasons in words; what is not here it says itself */
static void explain(struct integrator *integrator, int code)
{
    static const struct {
        int code;
        const char *reason;
    } reasons[] = {{CV_TOO_MUCH_WORK, "the motion is too fast to follow, with steps too short to get to the end"},
                   {CV_TOO_MUCH_ACC, "the tolerance asks for more digits than there are"},
                   {CV_ERR_FAILURE, "the error test fails with any step"},
                   {CV_CONV_FAILURE, "Newton's iteration finds no solution with any step"},
                   {CV_LSETUP_FAIL, "the Newton matrix cannot be made"},
                   {CV_RHSFUNC_FAIL, "the time derivatives cannot be computed"},
                   {CV_FIRST_RHSFUNC_ERR, "the time derivatives cannot be computed"},
                   {CV_REPTD_RHSFUNC_ERR, "the time derivatives cannot be computed with any step"},
                   {CV_PROJFUNC_FAIL, "the loops cannot be closed"},
                   {CV_REPTD_PROJFUNC_ERR, "the loops cannot be closed with any step"},
                   {CV_UNREC_RHSFUNC_ERR, "the time derivatives cannot be computed"}};
    const double h = integrator_step_size(integrator);
    char *text = integrator->trouble, steps[64] = "";
    if (h > 0) snprintf(steps, sizeof steps, " (the last of %.3g s)", h);
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].code == code) snprintf(text, sizeof integrator->trouble, "%s%s", reasons[i].reason, steps);
    if (*text == '\0') strcpy(text, "the integration failed");
}

static bool has_risen(const struct integrator *integrator)
{
    int order = 0;
    CVodeGetCurrentOrder(integrator->cvode, &order);
    return order >= RISEN;
}

/* Would it take for ever? By the time that the last PACE steps have gone */
static bool too_slow(double gone, double ahead)
{
    const double mean = gone / PACE;
    return ahead > (mean < SHORTEST ? FEWER : MOST) * mean;
}

enum status integrator_advance(struct integrator *integrator, double end, double *y, double *reached)
{
    realtype t = end;
    CVodeGetCurrentTime(integrator->cvode, &t);
    *integrator->trouble = '\0';
    *reached = end;
    if (fabs(end - t) <= fmax(4 * DBL_EPSILON * fabs(end), 1e-100))
        return STATUS_OK; /* by rounding it is there already */

    double since = *reached = t;
    int code = CVodeSetStopTime(integrator->cvode, end);
    for (long steps = 1; code == CV_SUCCESS; steps++) {
        code = CVode(integrator->cvode, end, integrator->y, &t, CV_ONE_STEP);
        if (code < 0) break;
        memcpy(y, N_VGetArrayPointer(integrator->y), (size_t)count_states(integrator) * sizeof *y);
        *reached = t;
        if (integrator->starting) integrator->starting = !has_risen(integrator);
        if (steps % PACE != 0) continue;
        if (too_slow(t - since, end - t)) code = CV_TOO_MUCH_WORK;
        since = t;
    }
    if (code < 0) explain(integrator, code);
    return code < 0 ? STATUS_INTEGRATION : STATUS_OK;
}

const char *integrator_trouble(const struct integrator *integrator)
{
    return integrator->trouble;
}

double integrator_step_size(const struct integrator *integrator)
{
    realtype step = 0;
    CVodeGetCurrentStep(integrator->cvode, &step);
    return step;
}

double integrator_jump(const struct integrator *integrator, double t, const double *y, const double *ydot)
{
    const double h = integrator_step_size(integrator), *tolerance = N_VGetArrayPointer(integrator->tolerance);
    const double *past = N_VGetArrayPointer(integrator->y);
    const int states = count_states(integrator);
    if (CVodeGetDky(integrator->cvode, t, 1, integrator->y) != CV_SUCCESS) return HUGE_VAL;
    double sum = 0;
    for (int i = 0; i < states; i++) {
        const double share = h * (ydot[i] - past[i]) / (integrator->relative_tolerance * fabs(y[i]) + tolerance[i]);
        sum += share * share;
    }
    return sqrt(sum / states);
}

void integrator_statistics(const struct integrator *integrator, struct integrator_statistics *statistics)
{
    struct integrator_statistics now = {0};
    void *cvode = integrator->cvode;
    CVodeGetNumSteps(cvode, &now.steps);
    CVodeGetNumRhsEvals(cvode, &now.rhs);
    if (now.rhs > 0) CVodeGetNumJacEvals(cvode, &now.jacobians); /* until it starts it tells those before the restart */
    CVodeGetNumNonlinSolvIters(cvode, &now.newton_iterations);
    CVodeGetNumErrTestFails(cvode, &now.error_test_failures);
    CVodeGetNumNonlinSolvConvFails(cvode, &now.newton_failures);
    const struct integrator_statistics *before = &integrator->before;
    *statistics = (struct integrator_statistics){before->steps + now.steps,
                                                 before->rhs + now.rhs,
                                                 before->jacobians + now.jacobians,
                                                 before->restarts,
                                                 before->newton_iterations + now.newton_iterations,
                                                 before->error_test_failures + now.error_test_failures,
                                                 before->newton_failures + now.newton_failures};
}
