/* Where a step of a one-step method crosses a switch of the equation: a zero of struct ode.switches, at which the right-hand side has
   a kink. The path within a step is the cubic through y and ydot at its ends. */
#ifndef ODE_EVENTS_H
#define ODE_EVENTS_H

#include "base/arena.h"
#include "ode/ode.h"

/* A step from t to t + h; arrays of n_x + n_v numbers. */
struct event_step {
    double t, h;
    const double *y, *ydot, *y1, *ydot1;
};

/* Values of the switches just after the start and at the end of a step, and their changes at these rates over the whole step. */
struct events {
    const struct ode *ode;
    double *g0, *slope0, *g1, *slope1, *g; /* n_switches        */
    double *y, *rate;                      /* a state between   */
};

/* Arrays from the arena; the caller checks whether it failed. */
void events_make(struct events *events, const struct ode *ode, struct arena *arena);

/* Does the path cross a switch, perhaps there and back? Then *share is the part of h after which it does, just before it. A switch
   from which the step starts counts as passed. */
bool events_crossed(struct events *events, const struct event_step *step, double *share);

/* The same for a path that is known at its start alone, y + h ydot + h^2/2 d2x/dt2: for a step that failed. */
bool events_expected(struct events *events, const struct event_step *step, double *share);

/* The time from the end of a step to the next switch, by the rates there [s]. After events_crossed(); INFINITY: none. */
double events_ahead(const struct events *events, const struct event_step *step);

#endif
