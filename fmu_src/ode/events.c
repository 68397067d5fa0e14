#include "ode/events.h"

#include <math.h>

/* Fractions of a step: a switch within PASSED of its start counts as passed; slopes are differences over DIFFERENCE */
static const double PASSED = 1e-9, DIFFERENCE = 1e-6;
/* A switch that changes by less than this fraction of its value in a step is far from zero */
static const double FAR = 0.25;
/* Enough to reach rounding errors */
enum { MOST_BISECTIONS = 50 };

void events_make(struct events *events, const struct ode *ode, struct arena *arena)
{
    events->ode = ode;
    arena_arrays(arena, (size_t)ode->n_switches,
                 ARRAYS(&events->g0, &events->slope0, &events->g1, &events->slope1, &events->g));
    arena_arrays(arena, (size_t)ode_states(ode), ARRAYS(&events->y, &events->rate));
}

/* ---- paths ------------------------------------------------------------------------------------------------------------------- */

/* A path puts the state at t + theta h into events->y */
typedef void path(struct events *events, const struct event_step *step, double theta);

/* The cubic through y and ydot at both ends                                                                   (theory.md 88) */
static void cubic(struct events *events, const struct event_step *step, double theta)
{
    const double a = theta, b = 1 - theta, p1 = a * a * (3 - 2 * a), r0 = a * b * b * step->h,
                 r1 = -a * a * b * step->h;
    for (int i = 0; i < ode_states(events->ode); i++)
        events->y[i] = step->y[i] + p1 * (step->y1[i] - step->y[i]) + r0 * step->ydot[i] + r1 * step->ydot1[i];
}

/* (x + s dx/dt + s^2/2 T a; v + s a),  s = theta h; the rate of T is neglected */
static void parabola(struct events *events, const struct event_step *step, double theta)
{
    const struct ode *ode = events->ode;
    const double s = theta * step->h, *a = step->ydot + ode->n_x;
    double *y = events->y, *rate = events->rate;
    for (int i = 0; i < ode->n_x; i++) y[i] = step->y[i];
    for (int i = 0; i < ode->n_v; i++) y[ode->n_x + i] = a[i];
    ode_position_rates(ode, y, rate);
    for (int i = 0; i < ode->n_x; i++) y[i] += s * (step->ydot[i] + s / 2 * rate[i]);
    for (int i = 0; i < ode->n_v; i++) y[ode->n_x + i] = step->y[ode->n_x + i] + s * a[i];
}

static void switches_along(struct events *events, const struct event_step *step, path *along, double theta, double *g)
{
    along(events, step, theta);
    events->ode->switches(events->ode->context, step->t + theta * step->h, events->y, g);
}

/* ---- crossings --------------------------------------------------------------------------------------------------------------- */

static bool changed(const struct events *events, const double *g)
{
    for (int i = 0; i < events->ode->n_switches; i++)
        if ((events->g0[i] > 0) != (g[i] > 0)) return true;
    return false;
}

static void difference(const struct events *events, const double *from, const double *to, double over, double *slope)
{
    for (int i = 0; i < events->ode->n_switches; i++) slope[i] = (to[i] - from[i]) / over;
}

/* Where the cubic g0 + s0 x + b x^2 + a/3 x^3 has its extremum: s0 + 2 b x + a x^2 = 0, of which one root is in (0, 1) where s0 and
   s1 differ in sign */
static double extremum(double g0, double s0, double g1, double s1)
{
    const double b = 3 * (g1 - g0) - 2 * s0 - s1, a = 3 * (s0 + s1 - 2 * (g1 - g0));
    return s0 / (copysign(sqrt(fmax(b * b - a * s0, 0)), s0) - b);
}

/* A fraction of the step at which a switch has changed its sign; 0: none has. One that moves towards zero and returns is also
   evaluated at its extremum. */
static double some_change(struct events *events, const struct event_step *step, path *along)
{
    double first = changed(events, events->g1) ? 1 : 0;
    for (int i = 0; i < events->ode->n_switches; i++) {
        const double g0 = events->g0[i], s0 = events->slope0[i], g1 = events->g1[i], s1 = events->slope1[i];
        if (!(g0 * s0 < 0 && g1 * s1 > 0)) continue;
        const double x = extremum(g0, s0, g1, s1);
        if (!(x > PASSED && x < 1)) continue;
        switches_along(events, step, along, x, events->g);
        if (changed(events, events->g) && (first == 0 || x < first)) first = x;
    }
    return first;
}

/* By bisection */
bool events_crossed(struct events *events, const struct event_step *step, bool failed, double *fraction)
{
    path *const along = failed ? parabola : cubic;
    if (events->ode->n_switches == 0) return false;
    /* values and slopes at both ends */
    switches_along(events, step, along, PASSED, events->g0);
    switches_along(events, step, along, PASSED + DIFFERENCE, events->g);
    difference(events, events->g0, events->g, DIFFERENCE, events->slope0);
    switches_along(events, step, along, 1 - DIFFERENCE, events->g);
    switches_along(events, step, along, 1, events->g1);
    difference(events, events->g, events->g1, DIFFERENCE, events->slope1);
    double before = PASSED, after = some_change(events, step, along);
    if (after == 0) return false;
    for (int i = 0; i < MOST_BISECTIONS; i++) {
        const double middle = (before + after) / 2;
        switches_along(events, step, along, middle, events->g);
        if (changed(events, events->g)) after = middle;
        else before = middle;
    }
    *fraction = before;
    return true;
}

bool events_far(struct events *events, double t, const double *y, double t1, const double *y1)
{
    const struct ode *ode = events->ode;
    ode->switches(ode->context, t, y, events->g0);
    ode->switches(ode->context, t1, y1, events->g1);
    for (int i = 0; i < ode->n_switches; i++)
        if (!(fabs(events->g1[i] - events->g0[i]) < FAR * fmin(fabs(events->g0[i]), fabs(events->g1[i])))) return false;
    return true;
}

double events_ahead(const struct events *events, const struct event_step *step)
{
    double ahead = INFINITY;
    for (int i = 0; i < events->ode->n_switches; i++) {
        const double g = events->g1[i], slope = events->slope1[i];
        if (g * slope < 0 || (g == 0 && slope != 0)) ahead = fmin(ahead, -g / slope);
    }
    return ahead * step->h;
}
