/* Natural modes of a robot with drives inside the arm: eigenvalues of A of its linearization, so that oil springs and control loops are
   part of them. */
#ifndef ANALYSIS_DRIVEN_MODES_H
#define ANALYSIS_DRIVEN_MODES_H

#include "analysis/eigenmodes.h"
#include "analysis/linear.h"

/* exp(lambda t), one lambda of each conjugate pair. The damping ratio of a mode is -Re lambda/|lambda|, 0 if lambda is real; its shares are
   |l_i r_i| of the left and right eigenvector, divided by the sum of all, which does not depend on units; re and im are the right
   eigenvector, its states divided by their nominal values. */
struct driven_modes {
    int n_states, *state; /* states that move: indices in those of the linearization                    */
    int n;
    struct mode *mode; /* n with n_states numbers each, by frequency, then by falling growth            */
};

/* For a linearization in minimal coordinates, with memory of its point. Unless joints are free, joints that are not passive keep position
   and velocity. STATUS_NO_EIGENVALUES. */
enum status driven_modes_make(const struct linear *linear, bool joints_free, struct report *report,
                              struct driven_modes *modes);

#endif
