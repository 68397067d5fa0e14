/* Where a step of a one-step method crosses a switch: a zero of struct ode.switches, where the right-hand side has a kink or a
   jump. The path within a step is the cubic through y and ydot at its ends (theory.md 88). */
#ifndef ODE_EVENTS_H
#define ODE_EVENTS_H

#include "base/arena.h"
#include "ode/ode.h"

/* A step from t to t + h; arrays of n_x + n_v numbers. */
struct event_step {
    double t, h;
    const double *y, *ydot, *y1, *ydot1;
};

/* Values g of the switches just after the start (0) and at the end (1) of a step, and their slopes by the fraction of the step. */
struct events {
    const struct ode *ode;
    double *g0, *slope0, *g1, *slope1, *g; /* n_switches        */
    double *y, *rate;                      /* scratch: a state  */
};

/* Arrays from the arena; the caller checks whether it failed. */
void events_make(struct events *events, const struct ode *ode, struct arena *arena);

/* Are all switches far from zero at both ends of a step, relative to their change? Then none is crossed between. */
bool events_far(struct events *events, double t, const double *y, double t1, const double *y1);

/* Does the path cross a switch, possibly there and back? Then *fraction is that of h just before the first crossing. A switch at the
   start of the step counts as passed. `failed`: only the start of the step is known; the path is x + s dx/dt + s^2/2 d2x/dt2,
   v + s dv/dt. */
bool events_crossed(struct events *events, const struct event_step *step, bool failed, double *fraction);

/* The time from the end of a step to the next switch, from values and slopes there [s]; INFINITY: none. After events_crossed(). */
double events_ahead(const struct events *events, const struct event_step *step);

#endif
