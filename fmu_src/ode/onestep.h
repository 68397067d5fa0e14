/* What one-step methods have in common: the present state and its accelerations, error norm and step control, steps that end at the
   communication point and at switches, fixed steps, and the memory that is saved with a state. A method (esdirk.c, explicit.c,
   gauss.c) has struct one_step as its first member and provides an attempt at one step. */
#ifndef ODE_ONESTEP_H
#define ODE_ONESTEP_H

#include "ode/events.h"
#include "ode/integrator.h"
#include "ode/stage.h"

struct one_step;

struct one_step_method {
    const char *name;
    /* An attempt ends without ydot1 and z1. */
    bool open_end;
    /* A step of h from (t, y, z): y1, z1, ydot1 and the error of y1 in `error`. In fixed steps the error may be left out, and the
       amount of work must not depend on the numbers. A recoverable status asks for a smaller step. */
    enum status (*attempt)(struct one_step *s, double h);
    /* The attempt became a step, before t, y and z move on. */
    void (*accept)(struct one_step *s, double h);
    /* The order of the error estimate plus one: error ~ h^k. */
    double (*exponent)(const struct one_step *s);
    /* Forgets what earlier steps left for the next one (predictors). NULL: nothing. */
    void (*forget)(struct one_step *s);
    /* The step size for the time that remains until the end, from the one that the error allows. */
    double (*plan)(struct one_step *s, double h, double remains);
};

/* The scalars of the memory; in it as doubles. */
struct one_step_scalars {
    double h;              /* the step size that the error allows; 0: to be chosen                 */
    double last_error;     /* of the last step, for the step control; 0: none                      */
    double has_rates;      /* ydot and z belong to (t, y)                                          */
    double short_steps;    /* steps in a row that switches made very short                         */
    double low, other_h;   /* pairs.h: the pair in use, and the step size of the other             */
    double end, times_cut; /* pairs.h: the communication point ahead; how often it was near */
    double jumped, jumps;  /* pairs.h: inputs jumped at the start of this communication step; how often in a row */
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
    double *weight;                  /* 1/(rtol max|y| + atol)                                 */
    double *tolerance;               /* atol                                                   */
    bool has_end;                    /* ydot1 and z1 belong to y1 */
    struct events events;
    double relative_tolerance, max_step;
    double longest; /* the longest step from here: max_step, struct ode.longest_step */
    struct integrator_statistics count;
    struct arena arena;
};

/* Fills the struct at the start of an arena that was taken for it; own: how many numbers of memory the method needs. */
enum status one_step_make(struct one_step *s, const struct one_step_method *method, const struct ode *ode, int own,
                          struct arena *arena);

/* The weighted RMS norm of the error test, of a change of y, n numbers. */
double one_step_norm(const struct one_step *s, const double *change);

extern const struct integrator_ops one_step_ops;

#endif
