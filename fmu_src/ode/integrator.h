/* An integrator: one numerical method behind a table of operations. automatic.h makes all methods and chooses among them, policy.h
   sets their tolerances and orders. An implementation (cvode.c, onestep.c) has struct integrator as its first member. */
#ifndef ODE_INTEGRATOR_H
#define ODE_INTEGRATOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "ode/ode.h"

/* The methods, numbered as in `solver.method`: name on the command line, name in messages. */
#define METHOD_LIST(X)                  \
    X(AUTOMATIC, "auto", "automatic")   \
    X(CVODE, "cvode", "CVODE")          \
    X(ESDIRK, "esdirk", "ESDIRK")       \
    X(EXPLICIT, "explicit", "explicit") \
    X(SYMMETRIC, "symmetric", "symmetric")

enum method {
#define METHOD_NUMBER(method, word, name) METHOD_##method,
    METHOD_LIST(METHOD_NUMBER)
#undef METHOD_NUMBER
        METHODS
};

const char *integrator_method_word(enum method method);
const char *integrator_method_name(enum method method);

struct integrator_options {
    enum method method;
    double relative_tolerance;
    const double *nominal; /* n_x + n_v: absolute tolerances are relative_tolerance times these */
    double max_step;       /* 0: no limit                                                  [s]  */
    int max_order;         /* of CVODE, 1 to 5; 0: the policy decides                           */
    double fixed_step;     /* 0: steps by error control; else equal steps of at most this  [s]  */
    double max_steps;      /* internal steps per advance; 0: MOST_INTERNAL_STEPS                */
    bool dense;            /* Newton iterations with the dense Jacobian                         */
};

/* The default of max_steps. Also: an advance that would need more further steps than this makes no progress. */
#define MOST_INTERNAL_STEPS 1e8

/* Largest plausible rate of a state, as a multiple of its nominal value: above it an input or a parameter is wrong by orders of
   magnitude [1/s] */
#define MOST_RELATIVE_RATE 1e11

struct integrator_statistics {
    long steps, rhs, jacobians, restarts, newton_iterations, error_test_failures, newton_failures;
    long residuals, factorizations, events;
    double work; /* of one-step methods, in units of one evaluation of the right-hand side */
};

struct restart {
    double first_step;  /* 0: the integrator chooses                                                     [s] */
    bool values_jumped; /* with inputs_only: values of inputs jumped, not their slopes alone               */
    bool inputs_only;   /* the state is continuous, only inputs jumped: step size and Jacobian may be kept    */
    const struct integrator *from; /* one-step: continues with the pair of this other one (pairs.h); NULL: none */
};

/* Checks n rates: STATUS_TOO_FAST if one exceeds MOST_RELATIVE_RATE, STATUS_NOT_FINITE if one is NaN. `tolerance`: absolute
   tolerances, relative_tolerance times the nominal values. */
enum status integrator_check_rates(int n, const double *ydot, const double *tolerance, double relative_tolerance);

struct integrator;

struct integrator_ops {
    enum status (*configure)(struct integrator *integrator, const struct integrator_options *options);
    void (*reset)(struct integrator *integrator);
    enum status (*restart)(struct integrator *integrator, double t, const double *y, const struct restart *restart);
    /* One internal step from *t, not past `end`. Sets y and *t to those at its end; on failure they are unchanged. */
    enum status (*step)(struct integrator *integrator, double end, double *y, double *t);
    double (*step_size)(const struct integrator *integrator);
    bool (*has_history)(const struct integrator *integrator); /* NULL: no                                       */
    double (*jump)(const struct integrator *integrator, double t, const double *y, const double *ydot);
    void (*statistics)(const struct integrator *integrator, struct integrator_statistics *statistics);
    /* See integrator_save() and integrator_resume(); NULL: the method has no memory. */
    int (*memory_size)(const struct integrator *integrator);
    void (*save)(const struct integrator *integrator, double *memory);
    void (*resume)(struct integrator *integrator, const double *memory);
    /* Of one-step methods, which automatic.h compares: the rate of the fastest mode at y [1/s], see stage_fastest(); whether the pair
       of low order is in use. */
    double (*fastest)(struct integrator *integrator, double t, const double *y, double *scratch);
    bool (*low_order)(const struct integrator *integrator);
    void (*release)(struct integrator *integrator);
};

enum { FAILURE_SIZE = 256, CHOICE_SIZE = 256 };

struct integrator {
    const struct integrator_ops *ops;
    const struct ode *ode;      /* owned by the caller, outlives the integrator                      */
    double t;                   /* where the last restart or advance ended                           */
    double max_steps;           /* per advance                                                       */
    double fixed_step;          /* 0: none                                                           */
    char failure[FAILURE_SIZE]; /* why the last advance failed, as text                              */
    enum method used;           /* the method in use, possibly on trial                              */
    enum method chosen;         /* the method that was chosen                                        */
    char choice[CHOICE_SIZE];   /* why it was chosen, as text                                        */
};

/* Takes effect with the next restart. */
enum status integrator_configure(struct integrator *integrator, const struct integrator_options *options);

/* Resets the integrator: statistics are zero, and the next advance needs a restart. */
static inline void integrator_reset(struct integrator *integrator)
{
    integrator->ops->reset(integrator);
}

/* Starts from (t, y) without history. */
enum status integrator_restart(struct integrator *integrator, double t, const double *y, const struct restart *restart);

/* Integrates to exactly `end` and never past it. y is the present state on entry, and on return the state at `end` or, on failure,
   the last good state, at time *reached. STATUS_TOO_MANY_STEPS: max_steps were taken. STATUS_STEPS_TOO_SHORT: no progress, more
   than MOST_INTERNAL_STEPS further steps would be needed. */
enum status integrator_advance(struct integrator *integrator, double end, double *y, double *reached);

/* The step size of the next step; 0 before the first step. */
static inline double integrator_step_size(const struct integrator *integrator)
{
    return integrator->ops->step_size(integrator);
}

/* How far ydot at (t, y), where the last advance ended, is from the ydot that was integrated up to there: h |difference| over
   the next step h, in the weighted norm of the error test. Only for a method with history; the others restart at no cost. */
static inline bool integrator_has_history(const struct integrator *integrator)
{
    return integrator->ops->has_history != NULL && integrator->ops->has_history(integrator);
}
static inline double integrator_jump(const struct integrator *integrator, double t, const double *y, const double *ydot)
{
    return integrator->ops->jump(integrator, t, y, ydot);
}

/* Counts since integrator_reset(). */
static inline void integrator_statistics(const struct integrator *integrator, struct integrator_statistics *statistics)
{
    integrator->ops->statistics(integrator, statistics);
}

/* sum += counts, without `work`. */
void integrator_add_counts(const struct integrator_statistics *counts, struct integrator_statistics *sum);

/* A number of the memory as an integer from 0 to most; 0 if it is none of these, as in a forged state. */
static inline int saved_count(double number, int most)
{
    return number >= 0 && number <= most ? (int)number : 0;
}

/* The memory of an integrator: what the next step depends on besides t, y and the options, as numbers that are saved with a state.
   Its size is constant; 0 for a method with a history, which continues with a restart. */
static inline int integrator_memory_size(const struct integrator *integrator)
{
    return integrator->ops->memory_size != NULL ? integrator->ops->memory_size(integrator) : 0;
}
static inline void integrator_save(const struct integrator *integrator, double *memory)
{
    if (integrator->ops->save != NULL) integrator->ops->save(integrator, memory);
}

/* After integrator_configure() with the same options: continues from t exactly, bit for bit, as the integrator that saved this
   memory. */
static inline void integrator_resume(struct integrator *integrator, double t, const double *memory)
{
    integrator->t = t;
    if (integrator->ops->resume != NULL) integrator->ops->resume(integrator, memory);
}

static inline void integrator_free(struct integrator *integrator)
{
    if (integrator != NULL) integrator->ops->release(integrator);
}

#endif
