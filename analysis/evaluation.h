/* The equations of motion evaluated at one state. */
#ifndef ANALYSIS_EVALUATION_H
#define ANALYSIS_EVALUATION_H

#include "analysis/state.h"
#include "mech/mechanism.h"

struct frame_evaluation {
    struct frame_motion motion;
    double curvature[3], elongation; /* of those at a station of a beam */
};

struct evaluation {
    int n, n_prescribed, n_rows;
    double *qdd;            /* n                                                                   */
    double *M;              /* n x n                                                               */
    double *bias;           /* n: h of M qdd + h, with springs of couplings, no forces acting      */
    double *inverse;        /* n: forces for the qdd of the state; NULL if it has none             */
    double *prescribed_tau; /* n_prescribed                                                        */
    struct energy energy;
    struct frame_motion tip;
    struct frame_evaluation *frame;        /* n_frames                                          */
    double *gap, *gap_rate, *lambda;       /* n_rows                                            */
    double *line_length, *line_rate;       /* n_lines                                       */
    double *coupling_force, *coupling_gap; /* n_couplings; the gap of elastic ones              */
    struct arena arena;
};

/* Torques and forces of drives inside the arm, from their inputs and from the states that the STATE gives, otherwise those of a start
   there, become forces of the state. */
enum status evaluation_drives(struct mechanism *m, struct state *state, struct report *report);

/* The state is used as it is: loops may be open. With `composite` qdd is computed from the dense mass matrix. Redundant equations of
   loops are reported as warnings. The arena of the evaluation is to be released in any case. */
enum status evaluation_at(struct mechanism *m, const struct state *state, bool composite, struct report *report,
                          struct evaluation *e);

#endif
