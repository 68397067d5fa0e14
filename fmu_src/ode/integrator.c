#include "ode/integrator.h"

#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "base/arena.h"

struct integrator {
    struct ode ode;
    struct report *report;
    SUNContext context; /* one per instance: nothing is shared with other instances or other copies of SUNDIALS */
    void *cvode;
    N_Vector y, tolerance;
    SUNMatrix J;
    SUNLinearSolver solver;
    double relative_tolerance;
    const char *trouble; /* what CVODE said last */
    char text[512];
    struct integrator_statistics before; /* what earlier restarts had counted */
    struct arena arena;
};

/* ---- CVODE calls back -------------------------------------------------------------------------------------------- */

static int rhs(realtype t, N_Vector y, N_Vector ydot, void *user)
{
    struct integrator *integrator = user;
    const struct ode *ode = &integrator->ode;
    return ode->rhs(ode->context, t, N_VGetArrayPointer(y), N_VGetArrayPointer(ydot));
}

static int jacobian(realtype t, N_Vector y, N_Vector fy, SUNMatrix J, void *user, N_Vector a, N_Vector b, N_Vector c)
{
    struct integrator *integrator = user;
    const struct ode *ode = &integrator->ode;
    (void)fy, (void)a, (void)b, (void)c;
    return ode->jacobian(ode->context, t, N_VGetArrayPointer(y), SUNDenseMatrix_Data(J));
}

static void remember_trouble(int code, const char *module, const char *function, char *message, void *user)
{
    struct integrator *integrator = user;
    (void)code, (void)module, (void)function;
    strncpy(integrator->text, message, sizeof integrator->text - 1);
    integrator->trouble = integrator->text;
}

/* ---- making and freeing -------------------------------------------------------------------------------------------- */

static enum status attach(struct integrator *integrator)
{
    const struct ode *ode = &integrator->ode;
    if (SUNContext_Create(NULL, &integrator->context) != 0) return STATUS_NO_MEMORY;
    SUNContext context = integrator->context;
    integrator->y = N_VNew_Serial(ode->n, context);
    integrator->tolerance = N_VNew_Serial(ode->n, context);
    integrator->J = SUNDenseMatrix(ode->n, ode->n, context);
    integrator->cvode = CVodeCreate(CV_BDF, context);
    if (integrator->y == NULL || integrator->tolerance == NULL || integrator->J == NULL || integrator->cvode == NULL)
        return STATUS_NO_MEMORY;
    integrator->solver = SUNLinSol_Dense(integrator->y, integrator->J, context);
    void *cvode = integrator->cvode;
    N_VConst(0, integrator->y);
    const int failed = integrator->solver == NULL || CVodeSetErrHandlerFn(cvode, remember_trouble, integrator) != 0 ||
                       CVodeInit(cvode, rhs, 0, integrator->y) != 0 || CVodeSStolerances(cvode, 1e-6, 1e-6) != 0 ||
                       CVodeSetUserData(cvode, integrator) != 0 ||
                       CVodeSetLinearSolver(cvode, integrator->solver, integrator->J) != 0 ||
                       CVodeSetJacFn(cvode, jacobian) != 0 || CVodeSetMaxNumSteps(cvode, -1) != 0;
    return failed ? STATUS_NO_MEMORY : STATUS_OK;
}

enum status integrator_make(const struct ode *ode, struct report *report, struct integrator **made)
{
    struct arena arena = {0};
    struct integrator *integrator = arena_take(&arena, 1, sizeof *integrator);
    *made = NULL;
    if (integrator == NULL) return STATUS_NO_MEMORY;
    integrator->ode = *ode;
    integrator->report = report;
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
    if (integrator->solver != NULL) SUNLinSolFree(integrator->solver);
    if (integrator->J != NULL) SUNMatDestroy(integrator->J);
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
    for (int i = 0; i < integrator->ode.n; i++) tolerance[i] = options->relative_tolerance * options->nominal[i];
    integrator->relative_tolerance = options->relative_tolerance;
    const int failed = CVodeSVtolerances(integrator->cvode, options->relative_tolerance, integrator->tolerance) != 0 ||
                       CVodeSetMaxStep(integrator->cvode, options->max_step) != 0 ||
                       CVodeSetMaxOrd(integrator->cvode, options->max_order) != 0;
    return failed ? STATUS_INTEGRATION : STATUS_OK;
}

enum status integrator_restart(struct integrator *integrator, double t, const double *y, double first_step)
{
    integrator_statistics(integrator, &integrator->before);
    integrator->before.restarts++;
    memcpy(N_VGetArrayPointer(integrator->y), y, (size_t)integrator->ode.n * sizeof *y);
    const int failed =
        CVodeReInit(integrator->cvode, t, integrator->y) != 0 || CVodeSetInitStep(integrator->cvode, first_step) != 0;
    return failed ? STATUS_INTEGRATION : STATUS_OK;
}

enum status integrator_advance(struct integrator *integrator, double end, double *y, double *reached)
{
    integrator->trouble = NULL;
    int code = CVodeSetStopTime(integrator->cvode, end);
    realtype t = end;
    if (code >= 0) code = CVode(integrator->cvode, end, integrator->y, &t, CV_NORMAL);
    if (code < 0) { /* the last good state */
        CVodeGetCurrentTime(integrator->cvode, &t);
        CVodeGetDky(integrator->cvode, t, 0, integrator->y);
        report_add(integrator->report, REPORT_ERROR, "at t = %.9g s: %s", t,
                   integrator->trouble != NULL ? integrator->trouble : "the integration failed");
    }
    memcpy(y, N_VGetArrayPointer(integrator->y), (size_t)integrator->ode.n * sizeof *y);
    *reached = t;
    return code < 0 ? STATUS_INTEGRATION : STATUS_OK;
}

double integrator_step_size(const struct integrator *integrator)
{
    realtype step = 0;
    CVodeGetCurrentStep(integrator->cvode, &step);
    return step;
}

double integrator_jump(const struct integrator *integrator, const double *y, const double *difference)
{
    const double h = integrator_step_size(integrator), *tolerance = N_VGetArrayPointer(integrator->tolerance);
    double sum = 0;
    for (int i = 0; i < integrator->ode.n; i++) {
        const double share = h * difference[i] / (integrator->relative_tolerance * fabs(y[i]) + tolerance[i]);
        sum += share * share;
    }
    return sqrt(sum / integrator->ode.n);
}

void integrator_statistics(const struct integrator *integrator, struct integrator_statistics *statistics)
{
    struct integrator_statistics now = {0};
    void *cvode = integrator->cvode;
    CVodeGetNumSteps(cvode, &now.steps);
    CVodeGetNumRhsEvals(cvode, &now.rhs);
    CVodeGetNumJacEvals(cvode, &now.jacobians);
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
