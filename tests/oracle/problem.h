/* Initial value problems for integrators: a robot as its ordinary differential equation, and an integrator that advances it. */
#ifndef ORACLE_PROBLEM_H
#define ORACLE_PROBLEM_H

#include "ode/integrator.h"
#include "sim/sim.h"

enum { MOST_STATES = 200 };

struct problem {
    const struct ode *ode;
    double y[MOST_STATES]; /* at t = 0                              */
    double nominal[MOST_STATES];
    struct instance *instance; /* whose equation it is; NULL: its own   */
    struct report report;
};

/* From a robot file, or from its text, at its start. Nonzero when it worked. */
int problem_load(struct problem *problem, const char *file);
int problem_read(struct problem *problem, const char *text);
/* An equation with these states at t = 0 and nominal values 1. */
void problem_make(struct problem *problem, const struct ode *ode, const double *y);
void problem_free(struct problem *problem);

typedef enum status integrator_maker(const struct ode *ode, struct integrator **integrator);

/* An integrator of the problem at t = 0; the nominal values of the options are the problem's. */
struct integrator *problem_start(const struct problem *problem, integrator_maker *make,
                                 struct integrator_options options);

/* y at `end` in communication steps of H; the statistics may be NULL. */
enum status problem_solve(const struct problem *problem, integrator_maker *make, struct integrator_options options,
                          double end, double H, double *y, struct integrator_statistics *statistics);

/* max |x_i - y_i|/nominal_i */
double problem_distance(const struct problem *problem, const double *x, const double *y);

#endif
