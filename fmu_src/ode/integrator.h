/* An integrator: one numerical method, behind a table of operations. policy.h chooses and configures one; an implementation
   (cvode.c) has struct integrator as its first member. */
#ifndef ODE_INTEGRATOR_H
#define ODE_INTEGRATOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "ode/ode.h"

struct integrator_options {
    double relative_tolerance;
    const double *nominal; /* n_x + n_v: absolute tolerances are relative_tolerance times these */
    double max_step;       /* 0: no limit                                                  [s]  */
    int max_order;         /* 1 to 5                                                            */
};

struct integrator_statistics {
    long steps, rhs, jacobians, restarts, newton_iterations, error_test_failures, newton_failures;
};

struct restart {
    double first_step; /* 0: the integrator chooses                                                     [s] */
    bool inputs_only;  /* the state is continuous, only inputs jumped: a Jacobian may be kept for a while   */
};

struct integrator;

struct integrator_ops {
    enum status (*configure)(struct integrator *integrator, const struct integrator_options *options);
    void (*forget)(struct integrator *integrator);
    enum status (*restart)(struct integrator *integrator, double t, const double *y, const struct restart *restart);
    enum status (*advance)(struct integrator *integrator, double end, double *y, double *reached);
    double (*step_size)(const struct integrator *integrator);
    double (*jump)(const struct integrator *integrator, double t, const double *y, const double *ydot);
    void (*statistics)(const struct integrator *integrator, struct integrator_statistics *statistics);
    void (*release)(struct integrator *integrator);
};

enum { FAILURE_SIZE = 256 };

struct integrator {
    const struct integrator_ops *ops;
    const struct ode *ode;      /* the owner's, as long as the integrator lives       */
    char failure[FAILURE_SIZE]; /* why the last advance failed, in words              */
};

/* Takes effect with the next restart. */
static inline enum status integrator_configure(struct integrator *integrator, const struct integrator_options *options)
{
    return integrator->ops->configure(integrator, options);
}

/* As if nothing was ever integrated: statistics are zero, and the next advance needs a restart. */
static inline void integrator_forget(struct integrator *integrator)
{
    integrator->ops->forget(integrator);
}

/* Starts from (t, y) without history. */
static inline enum status integrator_restart(struct integrator *integrator, double t, const double *y,
                                             const struct restart *restart)
{
    return integrator->ops->restart(integrator, t, y, restart);
}

/* Integrates to exactly `end` and never past it. y is the present state, then the state at `end`, or on failure the last good
   one, at time *reached. */
static inline enum status integrator_advance(struct integrator *integrator, double end, double *y, double *reached)
{
    return integrator->ops->advance(integrator, end, y, reached);
}

/* The step size of the next step; 0 before the first step. */
static inline double integrator_step_size(const struct integrator *integrator)
{
    return integrator->ops->step_size(integrator);
}

/* How far ydot at (t, y), where the last advance ended, is from the ydot that was integrated up to there: h |difference| over
   the next step h, in the weighted norm of the error test. 0 for a method without history. */
static inline double integrator_jump(const struct integrator *integrator, double t, const double *y, const double *ydot)
{
    return integrator->ops->jump(integrator, t, y, ydot);
}

/* Counts since integrator_forget(). */
static inline void integrator_statistics(const struct integrator *integrator, struct integrator_statistics *statistics)
{
    integrator->ops->statistics(integrator, statistics);
}

static inline void integrator_free(struct integrator *integrator)
{
    if (integrator != NULL) integrator->ops->release(integrator);
}

#endif
