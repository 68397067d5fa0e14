#include "ode/methods.h"

#include <cvode/cvode.h>
#include <float.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <string.h>
#include <sundials/sundials_config.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "base/arena.h"
#include "base/vendor.h"
#include "ode/newton.h"

/* Steps after which CVODE computes a new Jacobian (its default). CVODE does not count across a restart, so it is done here. */
enum { JACOBIAN_LASTS = 51 };

/* A restart begins with order 1, and with many restarts the errors of the low orders accumulate. So until the order reaches
   RISEN, if max_order allows that, errors must meet START times the tolerance (bench/coupling.py: a state saved at every step). */
enum { RISEN = 3 };
static const double START = 0.1;

struct cvode {
    struct integrator base;
    SUNContext context;    /* one per instance: nothing is shared with other instances or other copies of SUNDIALS */
    void *memory;          /* CVODE's                                                */
    N_Vector y, tolerance; /* n_x + n_v                                              */
    struct newton newton;  /* A, B and the reduction of the Newton system to n_v     */
    long age_from;         /* steps when A and B were computed                       */
    bool articulated;      /* the O(n) matrix of struct ode instead of A and B       */
    double *force;         /* n_v + n_lambda: scratch                                */
    bool keep;             /* A and B remain valid across the next restart           */
    SUNMatrix N;           /* n_v x n_v: the reduced Newton matrix, then its factors */
    N_Vector v;            /* n_v                                                    */
    SUNLinearSolver dense; /* of size n_v                                            */
    SUNLinearSolver solver;
    double relative_tolerance;
    int max_order;
    bool too_fast;                       /* the last right-hand side was too fast          */
    bool starting;                       /* the order has not RISEN since the last restart */
    struct integrator_statistics before; /* counts up to the last restart                  */
    struct vendor_memory sundials;
    struct arena arena;
};

/* ---- SUNDIALS 6 and 7 ---------------------------------------------------------------------------------------------- */

/* The handlers keep CVODE's text, for errors that have no status of their own */

#if SUNDIALS_VERSION_MAJOR < 7

static int create_context(SUNContext *context)
{
    return SUNContext_Create(NULL, context);
}

static void handle_error(int code, const char *module, const char *function, char *message, void *user)
{
    (void)code, (void)module, (void)function;
    snprintf(((struct cvode *)user)->base.failure, FAILURE_SIZE, "%s", message);
}

static int set_error_handler(struct cvode *cvode)
{
    return CVodeSetErrHandlerFn(cvode->memory, handle_error, cvode);
}

#else

static int create_context(SUNContext *context)
{
    return SUNContext_Create(SUN_COMM_NULL, context);
}

static void handle_error(int line, const char *function, const char *file, const char *message, SUNErrCode code,
                         void *user, SUNContext context)
{
    (void)line, (void)function, (void)file, (void)code, (void)context;
    snprintf(((struct cvode *)user)->base.failure, FAILURE_SIZE, "%s", message);
}

static int set_error_handler(struct cvode *cvode)
{
    const SUNErrCode code = SUNContext_ClearErrHandlers(cvode->context);
    return code != 0 ? code : SUNContext_PushErrHandler(cvode->context, handle_error, cvode);
}

#endif

/* ---- callbacks of CVODE ------------------------------------------------------------------------------------------- */

/* CVODE's return values: 0 success, positive recoverable (a smaller step), negative final */
static int cvode_code(enum status status)
{
    return status == STATUS_OK ? 0 : status_is_recoverable(status) ? 1 : -1;
}

/* Rates that are too fast are rejected here: CVODE's norms would overflow, and it would take them for zero */
static int rhs(sunrealtype t, N_Vector y, N_Vector ydot, void *user)
{
    struct cvode *cvode = user;
    const struct ode *ode = cvode->base.ode;
    const double *derivative = N_VGetArrayPointer(ydot), *tolerance = N_VGetArrayPointer(cvode->tolerance);
    enum status status = ode->rhs(ode->context, t, N_VGetArrayPointer(y), N_VGetArrayPointer(ydot));
    if (status == STATUS_OK)
        status = integrator_check_rates(ode_states(cvode->base.ode), derivative, tolerance, cvode->relative_tolerance);
    cvode->too_fast = status == STATUS_TOO_FAST;
    return cvode_code(status);
}

/* 1/w = rtol |y| + atol, and a fraction of it at the start */
static int weigh(N_Vector y, N_Vector weight, void *user)
{
    const struct cvode *cvode = user;
    const double *tolerance = N_VGetArrayPointer(cvode->tolerance), *x = N_VGetArrayPointer(y);
    const double fraction = cvode->starting ? START : 1;
    double *w = N_VGetArrayPointer(weight);
    for (int i = 0; i < ode_states(cvode->base.ode); i++)
        w[i] = 1 / (fraction * (cvode->relative_tolerance * fabs(x[i]) + tolerance[i]));
    return 0;
}

/* The O(n) matrix of struct ode is factored at every call because it is cheap */
static int make_newton_matrix(sunrealtype t, N_Vector y, N_Vector fy, SUNMatrix matrix, sunbooleantype jacobian_is_good,
                              sunbooleantype *jacobian_is_new, sunrealtype gamma, void *user, N_Vector u, N_Vector v,
                              N_Vector w)
{
    struct cvode *cvode = user;
    const struct ode *ode = cvode->base.ode;
    struct newton *newton = &cvode->newton;
    (void)fy, (void)u, (void)v, (void)w;
    *jacobian_is_new = !jacobian_is_good;
    if (cvode->articulated) {
        newton_at(newton, gamma, N_VGetArrayPointer(y));
        cvode->before.factorizations++;
        return cvode_code(ode->factor(ode->context, t, N_VGetArrayPointer(y), gamma));
    }
    struct integrator_statistics count;
    integrator_statistics(&cvode->base, &count);
    const bool keep = cvode->keep && count.steps - cvode->age_from < JACOBIAN_LASTS;
    cvode->keep = false;
    *jacobian_is_new = !jacobian_is_good && !keep;
    if (*jacobian_is_new) {
        const enum status status = ode->jacobian(ode->context, t, N_VGetArrayPointer(y), newton->A, newton->B);
        if (status != STATUS_OK) return cvode_code(status);
        cvode->age_from = count.steps;
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
    const struct cvode *cvode = solver->content;
    return cvode->articulated ? 0 : SUNLinSolSetup(cvode->dense, matrix);
}

/* The same system with A = -M^-1 K, B = -M^-1 D of the O(n) matrix N = M + gamma D + gamma^2 K: since M = N - gamma D - gamma^2 K,
       dv = b - N^-1 gamma (D b + K (gamma b + E P a)),                                                       (theory.md 77) */
static void solve_articulated(const struct cvode *cvode, const double *r, double *dv)
{
    const struct ode *ode = cvode->base.ode;
    const double *b = r + ode->n_x, gamma = cvode->newton.gamma;
    double *dx = cvode->newton.dx, *force = cvode->force;
    newton_tangent(&cvode->newton, r, dx);
    for (int i = 0; i < ode->n_v; i++) dx[i] += gamma * b[i];
    ode->stiffness(ode->context, dx, b, force);
    ode->solve(ode->context, force);
    for (int i = 0; i < ode->n_v; i++) dv[i] = b[i] - gamma * force[i];
}

static int solve_newton(SUNLinearSolver solver, SUNMatrix matrix, N_Vector solution, N_Vector rhs_vector,
                        sunrealtype tolerance)
{
    const struct cvode *cvode = solver->content;
    const double *r = N_VGetArrayPointer(rhs_vector);
    double *v = N_VGetArrayPointer(cvode->v);
    int code = 0;
    if (cvode->articulated) {
        solve_articulated(cvode, r, v);
    } else {
        newton_reduce(&cvode->newton, r, v);
        code = SUNLinSolSolve(cvode->dense, matrix, cvode->v, cvode->v, tolerance);
    }
    newton_expand(&cvode->newton, r, v, N_VGetArrayPointer(solution));
    return code;
}

static int project(sunrealtype t, N_Vector y, N_Vector correction, sunrealtype tolerance, N_Vector error, void *user)
{
    struct cvode *cvode = user;
    const struct ode *ode = cvode->base.ode;
    (void)tolerance; /* to rounding */
    N_VScale(1, y, correction);
    const enum status status = ode->project(ode->context, t, false, N_VGetArrayPointer(correction),
                                            error != NULL ? N_VGetArrayPointer(error) : NULL);
    N_VLinearSum(1, correction, -1, y, correction);
    return cvode_code(status);
}

static int switches(sunrealtype t, N_Vector y, sunrealtype *g, void *user)
{
    const struct ode *ode = ((struct cvode *)user)->base.ode;
    ode->switches(ode->context, t, N_VGetArrayPointer(y), g);
    return 0;
}

/* ---- memory and set-up --------------------------------------------------------------------------------------------- */

/* A call of SUNDIALS that may allocate memory */
struct work {
    struct cvode *cvode;
    const struct integrator_options *options;
    double end, reached;
    int code; /* of CVODE */
    enum status status;
};

static enum status in_its_memory(struct work *work, void (*function)(void *))
{
    return vendor_run(&work->cvode->sundials, function, work) ? work->status : STATUS_NO_MEMORY;
}

/* Warnings are off: the only one, t + h = t, is followed by an error, and an FMU must not print */
static void make_objects(void *context)
{
    struct work *work = context;
    struct cvode *cvode = work->cvode;
    const struct ode *ode = cvode->base.ode;
    const int states = ode_states(cvode->base.ode);
    work->status = STATUS_NO_MEMORY;
    if (create_context(&cvode->context) != 0) return;
    cvode->y = N_VNew_Serial(states, cvode->context);
    cvode->tolerance = N_VNew_Serial(states, cvode->context);
    cvode->memory = CVodeCreate(CV_BDF, cvode->context);
    if (cvode->y == NULL || cvode->tolerance == NULL || cvode->memory == NULL) return;
    N_VConst(0, cvode->y);
    cvode->N = SUNDenseMatrix(ode->n_v, ode->n_v, cvode->context);
    cvode->v = N_VNew_Serial(ode->n_v, cvode->context);
    cvode->solver = SUNLinSolNewEmpty(cvode->context);
    if (cvode->N == NULL || cvode->v == NULL || cvode->solver == NULL) return;
    cvode->dense = SUNLinSol_Dense(cvode->v, cvode->N, cvode->context);
    if (cvode->dense == NULL) return;
    cvode->solver->content = cvode;
    cvode->solver->ops->gettype = is_direct;
    cvode->solver->ops->setup = factor_newton_matrix;
    cvode->solver->ops->solve = solve_newton;
    void *memory = cvode->memory;
    const bool failed = set_error_handler(cvode) != 0 || CVodeInit(memory, rhs, 0, cvode->y) != 0 ||
                        CVodeWFtolerances(memory, weigh) != 0 || CVodeSetUserData(memory, cvode) != 0 ||
                        CVodeSetLinearSolver(memory, cvode->solver, cvode->N) != 0 ||
                        CVodeSetLinSysFn(memory, make_newton_matrix) != 0 || CVodeSetMaxNumSteps(memory, -1) != 0 ||
                        CVodeSetMaxHnilWarns(memory, -1) != 0 ||
                        (ode->project != NULL && CVodeSetProjFn(memory, project) != 0) ||
                        CVodeSetNoInactiveRootWarn(memory) != 0;
    work->status = failed ? STATUS_SOLVER_SETUP : STATUS_OK;
}

/* Unfinished objects, left when memory ran out, cannot be freed: their blocks can */
static void cvode_release(struct integrator *integrator)
{
    struct cvode *cvode = (struct cvode *)integrator;
    if (!cvode->sundials.failed) {
        if (cvode->memory != NULL) CVodeFree(&cvode->memory);
        if (cvode->solver != NULL) SUNLinSolFreeEmpty(cvode->solver);
        if (cvode->dense != NULL) SUNLinSolFree(cvode->dense);
        if (cvode->v != NULL) N_VDestroy(cvode->v);
        if (cvode->N != NULL) SUNMatDestroy(cvode->N);
        if (cvode->tolerance != NULL) N_VDestroy(cvode->tolerance);
        if (cvode->y != NULL) N_VDestroy(cvode->y);
        if (cvode->context != NULL) SUNContext_Free(&cvode->context);
    }
    vendor_release(&cvode->sundials);
    struct arena arena = cvode->arena; /* it is allocated in its own arena */
    arena_release(&arena);
}

/* ---- operations ---------------------------------------------------------------------------------------------------- */

static void set_options(void *context)
{
    struct work *work = context;
    void *memory = work->cvode->memory;
    const bool failed = CVodeSetMaxStep(memory, work->options->max_step) != 0 ||
                        CVodeSetMaxOrd(memory, work->options->max_order) != 0 ||
                        CVodeRootInit(memory, work->cvode->base.ode->n_switches, switches) != 0;
    work->status = failed ? STATUS_SOLVER_SETUP : STATUS_OK;
}

static enum status cvode_configure(struct integrator *integrator, const struct integrator_options *options)
{
    struct cvode *cvode = (struct cvode *)integrator;
    double *tolerance = N_VGetArrayPointer(cvode->tolerance);
    for (int i = 0; i < ode_states(cvode->base.ode); i++)
        tolerance[i] = options->relative_tolerance * options->nominal[i];
    cvode->relative_tolerance = options->relative_tolerance;
    cvode->articulated = integrator->ode->residual != NULL && !options->dense;
    cvode->max_order = options->max_order;
    return in_its_memory(&(struct work){.cvode = cvode, .options = options}, set_options);
}

static void cvode_reset(struct integrator *integrator)
{
    struct cvode *cvode = (struct cvode *)integrator;
    CVodeReInit(cvode->memory, 0, cvode->y); /* resets its counts */
    memset(&cvode->before, 0, sizeof cvode->before);
}

static enum status cvode_restart(struct integrator *integrator, double t, const double *y,
                                 const struct restart *restart)
{
    struct cvode *cvode = (struct cvode *)integrator;
    integrator_statistics(integrator, &cvode->before);
    cvode->before.restarts++;
    cvode->keep = restart->inputs_only;
    cvode->starting = cvode->max_order >= RISEN;
    memcpy(N_VGetArrayPointer(cvode->y), y, (size_t)ode_states(cvode->base.ode) * sizeof *y);
    const int failed =
        CVodeReInit(cvode->memory, t, cvode->y) != 0 || CVodeSetInitStep(cvode->memory, restart->first_step) != 0;
    return failed ? STATUS_SOLVER_SETUP : STATUS_OK;
}

static enum status status_of(const struct cvode *cvode, int code)
{
    switch (code) {
    case CV_TOO_MUCH_WORK: return STATUS_STEPS_TOO_SHORT;
    case CV_TOO_MUCH_ACC: return STATUS_TOO_ACCURATE;
    case CV_ERR_FAILURE: return STATUS_ERROR_TEST;
    case CV_CONV_FAILURE: return STATUS_NEWTON;
    case CV_LSETUP_FAIL: return STATUS_NEWTON_MATRIX;
    case CV_RHSFUNC_FAIL:
    case CV_FIRST_RHSFUNC_ERR:
    case CV_REPTD_RHSFUNC_ERR:
    case CV_UNREC_RHSFUNC_ERR: return cvode->too_fast ? STATUS_TOO_FAST : STATUS_NO_RATES;
    case CV_PROJFUNC_FAIL:
    case CV_REPTD_PROJFUNC_ERR: return STATUS_NOT_PROJECTED;
    default: return STATUS_INTEGRATION;
    }
}

/* The text of the failure; CVODE's own text if the status is unspecific */
static enum status explain_failure(struct cvode *cvode, int code)
{
    const enum status status = status_of(cvode, code);
    const double h = integrator_step_size(&cvode->base);
    char *text = cvode->base.failure, step[64] = "";
    if (h > 0) snprintf(step, sizeof step, " (last step %.3g s)", h);
    if (status != STATUS_INTEGRATION || *text == '\0') snprintf(text, FAILURE_SIZE, "%s%s", status_text(status), step);
    return status;
}

/* At a switch: the state is interpolated, so it is projected, and CVODE discards its history */
static enum status restart_at_switch(struct cvode *cvode, double t, double *y)
{
    const struct ode *ode = cvode->base.ode;
    const struct restart restart = {.inputs_only = true};
    const enum status status = ode->project != NULL ? ode->project(ode->context, t, false, y, NULL) : STATUS_OK;
    if (status != STATUS_OK) return status;
    cvode->before.events++;
    return cvode_restart(&cvode->base, t, y, &restart);
}

static void take_step(void *context)
{
    struct work *work = context;
    struct cvode *cvode = work->cvode;
    work->code = CVodeSetStopTime(cvode->memory, work->end);
    if (work->code == CV_SUCCESS) work->code = CVode(cvode->memory, work->end, cvode->y, &work->reached, CV_ONE_STEP);
}

static enum status cvode_step(struct integrator *integrator, double end, double *y, double *t)
{
    struct cvode *cvode = (struct cvode *)integrator;
    struct work work = {.cvode = cvode, .end = end, .reached = *t};
    if (in_its_memory(&work, take_step) != STATUS_OK) return STATUS_NO_MEMORY;
    const double reached = work.reached;
    const int code = work.code;
    if (code < 0) return explain_failure(cvode, code);
    memcpy(y, N_VGetArrayPointer(cvode->y), (size_t)ode_states(cvode->base.ode) * sizeof *y);
    *t = reached;
    if (code == CV_ROOT_RETURN) return restart_at_switch(cvode, reached, y);
    if (!cvode->starting) return STATUS_OK;
    int order = 0;
    CVodeGetCurrentOrder(cvode->memory, &order);
    cvode->starting = order < RISEN;
    return STATUS_OK;
}

static double cvode_step_size(const struct integrator *integrator)
{
    const struct cvode *cvode = (const struct cvode *)integrator;
    sunrealtype step = 0;
    CVodeGetCurrentStep(cvode->memory, &step);
    return step;
}

static bool cvode_has_history(const struct integrator *integrator)
{
    (void)integrator;
    return true;
}

static double cvode_jump(const struct integrator *integrator, double t, const double *y, const double *ydot)
{
    const struct cvode *cvode = (const struct cvode *)integrator;
    const double h = integrator_step_size(integrator), *tolerance = N_VGetArrayPointer(cvode->tolerance);
    const double *past = N_VGetArrayPointer(cvode->y);
    const int states = ode_states(cvode->base.ode);
    if (CVodeGetDky(cvode->memory, t, 1, cvode->y) != CV_SUCCESS) return HUGE_VAL;
    double sum = 0;
    for (int i = 0; i < states; i++) {
        const double error = h * (ydot[i] - past[i]) / (cvode->relative_tolerance * fabs(y[i]) + tolerance[i]);
        sum += error * error;
    }
    return sqrt(sum / states);
}

static void cvode_statistics(const struct integrator *integrator, struct integrator_statistics *statistics)
{
    const struct cvode *cvode = (const struct cvode *)integrator;
    struct integrator_statistics now = {0};
    void *memory = cvode->memory;
    CVodeGetNumSteps(memory, &now.steps);
    CVodeGetNumRhsEvals(memory, &now.rhs);
    if (now.rhs > 0 && !cvode->articulated)
        CVodeGetNumJacEvals(memory, &now.jacobians); /* before its first step it counts those before the restart */
    CVodeGetNumNonlinSolvIters(memory, &now.newton_iterations);
    CVodeGetNumErrTestFails(memory, &now.error_test_failures);
    CVodeGetNumNonlinSolvConvFails(memory, &now.newton_failures);
    *statistics = cvode->before;
    integrator_add_counts(&now, statistics);
}

/* ---- making ----------------------------------------------------------------------------------------------------- */

static const struct integrator_ops cvode_ops = {.configure = cvode_configure,
                                                .reset = cvode_reset,
                                                .restart = cvode_restart,
                                                .step = cvode_step,
                                                .step_size = cvode_step_size,
                                                .has_history = cvode_has_history,
                                                .jump = cvode_jump,
                                                .statistics = cvode_statistics,
                                                .release = cvode_release};

enum status cvode_make(const struct ode *ode, struct integrator **made)
{
    struct arena arena = {0};
    struct cvode *cvode = arena_allocate(&arena, 1, sizeof *cvode);
    if (cvode != NULL) newton_make(&cvode->newton, ode, &arena);
    double *force = arena_allocate(&arena, (size_t)(ode->n_v + ode->n_lambda), sizeof *force);
    *made = NULL;
    if (arena.failed) {
        arena_release(&arena);
        return STATUS_NO_MEMORY;
    }
    cvode->base.ops = &cvode_ops;
    cvode->base.ode = ode;
    cvode->force = force;
    cvode->arena = arena;
    const enum status status = in_its_memory(&(struct work){.cvode = cvode}, make_objects);
    if (status == STATUS_OK) *made = &cvode->base;
    else cvode_release(&cvode->base);
    return status;
}
