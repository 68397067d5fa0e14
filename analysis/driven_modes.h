/* Natural modes of a robot with drives inside the arm: eigenvalues of A of its linearization, so that oil springs and control loops are
   part of them. */
#ifndef ANALYSIS_DRIVEN_MODES_H
#define ANALYSIS_DRIVEN_MODES_H

#include "analysis/linear.h"

/* exp(lambda t); one lambda of each conjugate pair. */
struct driven_mode {
    double frequency;      /* |Im lambda| / 2 pi                                                             [Hz]  */
    double growth;         /* Re lambda                                                                      [1/s] */
    double damping_ratio;  /* -Re lambda/|lambda|; 0 if lambda is real                                             */
    const double *share;   /* n_states of struct driven_modes: |l_i r_i| of the left and right eigenvector, divided by
                             the sum of all; it does not depend on units */
    const double *re, *im; /* n_states: the right eigenvector, its states divided by their nominal values        */
};

struct driven_modes {
    int n_states, *state; /* states that move: indices in those of the linearization                    */
    int n;
    struct driven_mode *mode; /* n, by frequency, then by falling growth                                    */
    struct arena arena;
};

/* For a linearization in minimal coordinates. Unless joints are free, joints that are not passive keep position and velocity.
   driven_modes_free() in any case. STATUS_NO_EIGENVALUES. */
enum status driven_modes_make(const struct linear *linear, bool joints_free, struct report *report,
                              struct driven_modes *modes);
void driven_modes_free(struct driven_modes *modes);

#endif
