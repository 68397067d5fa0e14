/* Inverse dynamics along a joint motion: the inputs of a robot that make its driven joints follow it. The accompanying elastic motion
   is integrated, or the links are rigid. */
#ifndef ANALYSIS_INVERSE_H
#define ANALYSIS_INVERSE_H

#include "analysis/motion.h"
#include "analysis/rigid_inverse.h"
#include "sim/sim.h"

struct inverse_options {
    bool rigid;       /* elastic coordinates locked at zero                                          */
    bool start_zero;  /* elastic coordinates at the start: zero, instead of at rest under gravity     */
    double tolerance; /* relative; 0: 1e-8                                                            */
};

struct inverse {
    const struct robot *robot; /* as its file describes it                                           */
    struct motion *motion;
    struct instance *sim; /* the same robot with every driven joint following the motion                  */
    struct inverse_options options;
    struct rigid_inverse links; /* with `rigid`                                                      */
    int row;                    /* of the motion, at which `input` is                                */
    int n_forces;               /* lines that move joints in place of drives: all, or none       */
    double *F;                  /* n_lines                                                       */
    int n_inputs;               /* inputs of the robot: tau, or q, qd, qdd where prescribed, A.force */
    char **name;                /* n_inputs                                                          */
    double *input;              /* n_inputs, at this row                                             */
    struct report report;       /* of the instance: forwards errors to the caller's report           */
    struct arena arena;
};

/* For the robot of this text (a robot file), which messages call `name`. Robot, motion and report must outlive the struct, which
   must not be moved. Afterwards the caller may set parameters of the instance. STATUS_BAD_INPUT: nothing drives the robot. Problems
   are reported, here and below; inverse_free() in any case. */
enum status inverse_make(const char *name, const char *text, const struct robot *robot, struct motion *motion,
                         const struct inverse_options *options, struct report *report, struct inverse *inverse);
void inverse_free(struct inverse *inverse);

/* Inputs at the first row. */
enum status inverse_start(struct inverse *inverse, struct report *report);
/* Inputs at the next row, as long as row + 1 < motion->n_rows. */
enum status inverse_next(struct inverse *inverse, struct report *report);

#endif
