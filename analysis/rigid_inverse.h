/* Inverse dynamics of rigid links along a joint motion: tau = M qdd + h with eta = 0. Loops determine the motion of passive
   joints. */
#ifndef ANALYSIS_RIGID_INVERSE_H
#define ANALYSIS_RIGID_INVERSE_H

#include "analysis/motion.h"
#include "mech/mechanism.h"

struct rigid_inverse {
    struct mechanism mechanism; /* all constraints are active */
    struct motion *motion;
    double *q, *qd, *qdd;    /* n: at a row; q of passive joints is the initial guess for the next one */
    double *force;           /* n                                                                      */
    double *F;               /* n_lines; if lines replace drives                               */
    int n_passive, *passive; /* velocities of the joints whose motion is not given                     */
    bool actuated;
    struct arena arena;
};

/* For a robot in which the joints whose motion is given are prescribed and all others are passive. It must outlive the struct, and
   so must the motion. Problems are reported, here and below; rigid_inverse_free() in any case. */
enum status rigid_inverse_make(const struct robot *robot, struct motion *motion, bool actuated, struct report *report,
                               struct rigid_inverse *r);
void rigid_inverse_free(struct rigid_inverse *r);

/* Forces at a row of the motion. STATUS_OPEN_LOOP: rigid links cannot follow; STATUS_NOT_DETERMINED, STATUS_CONTRADICTION: passive
   joints have no motion or no single one; STATUS_UNBALANCED: the lines cannot provide the forces. */
enum status rigid_inverse_at(struct rigid_inverse *r, int row, struct report *report);

#endif
