/* What one-step methods have in common: the present state and its accelerations, error norm and step control, steps that end at the
   communication point and at switches, fixed steps, and the memory that is saved with a state. A method (esdirk.c, explicit.c,
   gauss.c) has struct one_step as its first member and provides an attempt at one step. */
#ifndef ODE_ONESTEP_H
#define ODE_ONESTEP_H

#include "ode/events.h"
#include "ode/integrator.h"
#include "ode/stage.h"

struct one_step;

/* A formula with an error estimate. */
struct pair {
    double exponent; /* error ~ h^exponent: the order of the estimate plus one */
    double work;     /* of a step, for pairs.h                                 */
};

struct one_step_method {
    struct pair pair[2]; /* [now->low]: of high order, and of low order if the method has one (pairs.h) */
    bool open_end;       /* no stage is at the end of a step: an attempt does not compute ydot1 and z1 */
    /* A step of h from (t, y, z): sets y1, z1, ydot1, and `error` to the error of y1. In fixed steps the error may be left out, and
       the work must not depend on the data. A recoverable status asks for a smaller step. */
    enum status (*attempt)(struct one_step *s, double h);
    /* The attempt is accepted. Called before t, y and z change. */
    void (*accept)(struct one_step *s, double h);
    /* Clears what earlier steps left for the next one (predictors). NULL: nothing to clear. */
    void (*clear)(struct one_step *s);
    /* The size of the next step: h is what the error allows, `remains` the time to the communication point. */
    double (*plan)(struct one_step *s, double h, double remains);
};

/* The scalars of the memory, all of them doubles. */
struct one_step_scalars {
    double h;              /* the step size that the error allows; 0: to be chosen                 */
    double last_error;     /* of the last step, for the step control; 0: none                      */
    double has_rates;      /* 1: ydot and z belong to (t, y); -1: but inputs have changed; 0: no   */
    double short_steps;    /* consecutive steps that switches made very short                      */
    double low, other_h;   /* pairs.h: the pair in use, and the step size of the other             */
    double end, times_cut; /* pairs.h: the next communication point; how many in a row cut a step  */
    double jumped, jumps;  /* pairs.h: inputs jumped before this communication step; how many in a row */
    double rate;           /* contraction of the last Newton iterations                            */
    double own[8];         /* the method's                                                         */
};

struct one_step {
    struct integrator base;
    const struct one_step_method *method;
    struct stage stage;
    int n, n_z; /* numbers of y and of z                                                           */

    /* the memory */
    struct one_step_scalars *now;
    double *ydot, *z; /* at (t, y)                                                                  */
    double *own;      /* the method's                                                              */
    int n_memory;

    double t;
    const double *y;                 /* at the start of the step                               */
    double *y1, *ydot1, *z1, *error; /* of an attempt                                          */
    double *weight;                  /* 1/(rtol |y| + atol)                     (theory.md 86) */
    double *tolerance;               /* atol                                                   */
    bool has_end;                    /* ydot1 and z1 belong to y1                              */
    bool far;                        /* the attempt crosses no switch */
    struct events events;
    double relative_tolerance, max_step;
    double longest; /* the longest step from here: the smaller of max_step and struct ode.longest_step */
    struct arena arena;
};

/* Fills a struct that was allocated in this arena. own: numbers of memory that the method needs. */
enum status one_step_make(struct one_step *s, const struct one_step_method *method, const struct ode *ode, int own,
                          struct arena *arena);

/* The integrator in *made, after all arrays were taken from the arena; on failure the arena is released. */
enum status one_step_finish(struct one_step *s, struct arena *arena, struct integrator **made);

/* The weighted RMS norm of the error test of a change of y, n numbers                                        (theory.md 86) */
double one_step_norm(const struct one_step *s, const double *change);

extern const struct integrator_ops one_step_ops;

#endif
