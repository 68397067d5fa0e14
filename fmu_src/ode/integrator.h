/* Stiff integration with error control: CVODE (BDF, Newton) behind five functions. The only layer that knows SUNDIALS. */
#ifndef ODE_INTEGRATOR_H
#define ODE_INTEGRATOR_H

#include <stdbool.h>

#include "base/status.h"
#include "ode/ode.h"

struct integrator_options {
    double relative_tolerance;
    const double *nominal; /* n_x + n_v: absolute tolerances are relative_tolerance times these */
    double max_step;       /* 0: none                                                   */
    int max_order;         /* 1 to 5                                                    */
};

struct integrator_statistics {
    long steps, rhs, jacobians, restarts, newton_iterations, error_test_failures, newton_failures;
};

struct integrator;

enum status integrator_make(const struct ode *ode, struct integrator **integrator);
void integrator_free(struct integrator *integrator);

/* Takes effect with the next restart. */
enum status integrator_configure(struct integrator *integrator, const struct integrator_options *options);

/* Nothing was ever integrated: the next advance needs a restart. */
void integrator_forget(struct integrator *integrator);

struct restart {
    double first_step; /* 0: chosen anew                                                                 */
    bool inputs_alone; /* the state goes on, only inputs have jumped: the Jacobian may be kept for a while */
};

/* Forgets the past and starts from (t, y). */
enum status integrator_restart(struct integrator *integrator, double t, const double *y, const struct restart *restart);

/* Integrates to exactly `end` and never past it. y, on entry the state that is gone on from, is the state there, or on failure the
   last good one, at time *reached. */
enum status integrator_advance(struct integrator *integrator, double end, double *y, double *reached);

/* Why the last advance failed, in words. */
const char *integrator_trouble(const struct integrator *integrator);

/* The step size the integrator would take next; 0 before the first step. */
double integrator_step_size(const struct integrator *integrator);

/* How far the right-hand side ydot at (t, y), where the last advance ended, has come away from what was integrated up to there:
   over the step that lies ahead, |h difference| in the weighted norm of the error test. */
double integrator_jump(const struct integrator *integrator, double t, const double *y, const double *ydot);

/* Counted from the last integrator_forget() on. */
void integrator_statistics(const struct integrator *integrator, struct integrator_statistics *statistics);

#endif
