/* Natural modes of a robot at a state, and over the position of a joint. */
#ifndef ANALYSIS_MODES_H
#define ANALYSIS_MODES_H

#include "analysis/eigenmodes.h"
#include "analysis/linear.h"

struct modes {
    struct mechanism *mechanism;
    struct small_motion motion; /* moving coordinates, matrices       */
    struct eigenmodes eigen;    /* eigen.n modes by rising frequency  */
};

/* The mechanism must outlive the modes. With joints_free driven joints move too; otherwise they keep position and velocity. All
   problems are reported, here and below; modes_free() in any case. */
enum status modes_make(struct mechanism *mechanism, bool joints_free, struct report *report, struct modes *modes);
void modes_free(struct modes *modes);

/* Modes without damping at a state on the loops; then those with damping. */
enum status modes_at(struct modes *modes, const struct input *in, struct report *report);
enum status modes_damp(struct modes *modes, struct report *report);

/* ---- over the position of a joint -------------------------------------------------------------------------------------------- */

struct sweep_options {
    int link, k;     /* whose joint moves, its coordinate    */
    double from, to; /* its position            [rad or m]   */
    int poses;       /* 1 or more                            */
    int count;       /* modes at most; 0: all                */
    bool given;      /* the state is not the robot's start   */
};

/* Rows by pose, columns by mode. */
struct sweep {
    int poses, n_modes;
    double *position; /* poses */
    double *frequency, *damping_ratio, *growth;
    double *q, *qd; /* the state that the poses differ from */
};

/* The rest of the state stays, except that the loops follow to every pose from the start of the robot: closure_follow(). Driven
   joints follow only if the swept joint is passive, and links must not bend. The arrays exist until modes_free(). */
enum status modes_sweep_make(struct modes *modes, const struct sweep_options *options, struct state *state,
                             struct report *report, struct sweep *sweep);

/* ---- with drives inside the arm: eigenvalues of A of the linearization, so that oil springs and control loops are part of them ------- */

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
enum status modes_driven_make(const struct linear *linear, bool joints_free, struct report *report,
                              struct driven_modes *modes);

#endif
