/* The course of an instance through time, whatever it is that is integrated: its values, its clock, its inputs over a step,
   when the integrator starts anew, and all of it saved and put back. A robot's instance and a drive's stand on it. */
#ifndef SIM_COURSE_H
#define SIM_COURSE_H

#include "base/arena.h"
#include "base/report.h"
#include "ode/policy.h"
#include "sim/variables.h"

/* Inputs over a step: u(t) = u + rate (t - from). */
struct held_inputs {
    double *u, *rate; /* n_inputs, in the order of course->input */
    double from;      /* local time                     [s]      */
};

/* Value references of the parameters of the integration. */
struct solver_references {
    int relative_tolerance, max_step, max_order;
};

enum { BLAME_SIZE = 512 };

struct course {
    const struct variables *variables;
    struct report *report;
    struct solver_references solver;

    double *value; /* n_values: all variables; inputs and parameters as set, the rest computed           */
    int n_inputs;
    int *input;       /* value references of the inputs                                                  */
    int *input_place; /* [value reference]: number among the inputs, -1                                  */
    bool fresh;       /* values are up to date                                                           */

    /* time: local time counts from the start of the experiment, so that a late start costs no digits */
    double start_time, local, carry; /* carry: what compensated summation keeps                          */
    struct held_inputs now, before;  /* of this step and of the last one                                 */
    double *given;                   /* n_inputs: 1 where the rate of this step was given, 0: not        */

    /* a step failed: who is to blame; NULL: nobody in particular. By the owner, or NULL */
    const char *(*blame)(void *context, char text[BLAME_SIZE]);

    struct ode ode;                /* its right-hand side takes the inputs of `now`; the owner updates its facts */
    struct integrator *integrator; /* NULL: there is nothing to integrate                           */
    double tolerance;              /* relative, as asked for                                        */
    double *y, *ydot, *nominal;    /* n_states                                                      */
    double *state;                 /* n_numbers: the state as it is saved; by the owner             */
    int n_numbers;
    bool restart;      /* the next step begins with a restart                                            */
    double first_step; /* of that restart; 0: chosen anew                                                */
};

/* Arrays from the arena and an integrator of the ode; variables, report, solver and state are the owner's to fill. */
enum status course_make(struct course *course, const struct ode *ode, struct arena *arena);
void course_free(struct course *course);

/* Values at their start, time zero. */
void course_reset(struct course *course);

/* Tolerance, step and order limits as the values of the parameters say, else the importer's tolerance, else 1e-6. */
enum status course_configure(struct course *course, double importer_tolerance);

/* Time and inputs at the start of an experiment. */
void course_start(struct course *course, double start_time);

/* Inputs as they are now, from the values. */
void course_hold_inputs(struct course *course);

/* The rate of an input over the next step. */
void course_give_rate(struct course *course, int reference, double rate);
/* The input goes on by this rate over the next step, unless one was given, were it 0. */
void course_go_on(struct course *course, int reference, double rate);

/* From the state y at the local time, with the inputs held, over exactly h: y is the state there, or the last good one. The
   values of the inputs are those at the end. */
enum status course_step(struct course *course, double h);

void course_set_time(struct course *course, double time);
/* States were changed: nothing computed before holds. */
void course_interrupt(struct course *course);

/* ---- saved ------------------------------------------------------------------------------------------------------------------ */

size_t course_state_size(const struct course *course);
void course_save(struct course *course, unsigned char *bytes);
/* Bytes that an instance made from the same file has saved. The result is the tolerance that it had. */
double course_restore(struct course *course, const unsigned char *bytes);

#endif
