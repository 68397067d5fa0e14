/* Time stepping of an instance, whatever is integrated: its values, its clock, its inputs over a step, when the
   integrator restarts, and all of it saved and restored. */
#ifndef SIM_STEPPER_H
#define SIM_STEPPER_H

#include "base/arena.h"
#include "base/report.h"
#include "sim/solver.h"

/* Inputs as functions of the local time, in place of their values: sets *u to the value of an input at a time in the present
   step, or leaves it where the function does not cover the input. */
struct input_curve {
    void *context;
    void (*at)(void *context, int reference, double t, double *u);
    const int *place; /* [value reference]: negative where the curve has no such input */
};

/* Inputs over a step, or over the last one until the next begins, with s = t - from: u(t) = u + rate s; u + u1 s + u2 s^2/2 + rate2 s^3/6 where the time derivatives u1 and u2
   are inputs too (prescribed motion: one curve for position, rate and acceleration); or a curve. */
struct step_inputs {
    double *u, *rate;                /* n_inputs, in the order of stepper->input                         */
    double from;                     /* local time                                                  [s]  */
    const int *reference;            /* n_inputs: value references                                       */
    const int *derivative;           /* n_inputs: number of the input that is the time derivative, -1    */
    const struct input_curve *curve; /* NULL: none                                                       */
};

/* Numbers that are part of a saved state. */
struct saved_part {
    double *numbers;
    int count;
};

enum { CAUSE_SIZE = 512, OWN_PARTS = 2 };

struct stepper {
    const struct variables *variables;
    struct report *report;

    double *value;  /* n_values: parameters as set, the rest computed                                    */
    double **place; /* [value reference]: where it is: in `value`, or where the owner has its states and inputs */
    int n_inputs;
    int *input;        /* value references of the inputs                                                 */
    int *input_number; /* [value reference]: number among the inputs, -1                                 */
    int *derivative;   /* n_inputs: see struct step_inputs                                               */
    bool up_to_date;   /* the computed values belong to time, states and inputs                          */

    /* time: local time counts from the start of the experiment, so that a late start costs no digits */
    double start_time, local, carry; /* carry: the remainder of compensated summation                    */
    struct step_inputs inputs;
    bool moving;                     /* in a step in which the inputs change; else they are as set       */
    double *given;                   /* n_inputs: rates that were given for the next step; NAN: none     */
    const struct input_curve *curve; /* that the inputs follow from the start on; NULL: their values     */

    /* After a failed step: the link, loop or line that it is traced to, as the end of a message; NULL: none. A function of
       the owner; NULL: it has none. */
    const char *(*cause)(void *context, char text[CAUSE_SIZE]);

    struct ode ode;                   /* its right-hand side takes `inputs`; the owner updates its facts */
    struct integrator *integrator;    /* NULL: there is nothing to integrate                                */
    double tolerance;                 /* relative, as asked for                                             */
    double *y, *ydot, *nominal;       /* n_states                                                           */
    struct saved_part own[OWN_PARTS]; /* the owner's part of a saved state                               */
    enum method reported;             /* the method that was last reported; METHOD_AUTOMATIC: none yet   */
    double *memory;                   /* of the integrator, in a saved state                             */
    int n_memory;
    bool restart;      /* the next step begins with a restart                             */
    double first_step; /* of that restart; 0: the integrator chooses                      */
};

/* Arrays from the arena and an integrator of the ode; variables, report, own and other places are for the owner to fill. */
enum status stepper_make(struct stepper *stepper, const struct ode *ode, struct arena *arena);

/* Values at their start, time zero. */
void stepper_reset(struct stepper *stepper);

/* Configures the integrator by the values of the parameters. The relative tolerance is that of solver.relative_tolerance, otherwise that
   of the importer, otherwise 1e-6. */
enum status stepper_configure(struct stepper *stepper, double importer_tolerance);

/* Time and inputs at the start of an experiment. */
void stepper_start(struct stepper *stepper, double start_time);

/* The i-th input at a local time: of any kind, and the common case u + rate s without a call. */
double stepper_input_series(const struct step_inputs *inputs, int i, double t);
static inline double step_input(const struct step_inputs *inputs, int i, double t)
{
    double u = inputs->derivative[i] >= 0 ? stepper_input_series(inputs, i, t)
                                          : inputs->u[i] + inputs->rate[i] * (t - inputs->from);
    if (inputs->curve != NULL && inputs->curve->place[inputs->reference[i]] >= 0)
        inputs->curve->at(inputs->curve->context, inputs->reference[i], t, &u);
    return u;
}

/* Its time derivative there (without a curve). */
double stepper_input_rate(const struct step_inputs *inputs, int i, double t);

/* In a step: all inputs at a local time to their places. */
void stepper_apply_inputs(struct stepper *stepper, double t);

/* One step of exactly h from the state y at the local time: y becomes the state there, or the last good one. Inputs are as struct
   step_inputs says; an input whose rate was not given is extrapolated with the input that is its time derivative, if there is one.
   The values of the inputs are then those at the end. */
enum status stepper_step(struct stepper *stepper, double h);

/* States were changed: computed values and the integrator's history are invalid. */
void stepper_interrupt(struct stepper *stepper);

/* ---- saved (snapshot.c) ----------------------------------------------------------------------------------------------------- */

size_t stepper_saved_size(const struct stepper *stepper);
void stepper_save(struct stepper *stepper, unsigned char *bytes);
/* Bytes that an instance made from the same file has saved, and the tolerance that it had. STATUS_BAD_INPUT, and nothing restored: a
   time or the tolerance is not finite. */
enum status stepper_restore(struct stepper *stepper, const unsigned char *bytes, double *tolerance);

#endif
