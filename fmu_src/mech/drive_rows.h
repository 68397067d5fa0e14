/* The terms of drives in the Newton matrix. A drive acts along one coordinate, a joint or the length of a line, with
   J = d coordinate/dq; after its states have been eliminated, its term is J' s J with one scalar s (theory.md 102). For a drive on a
   joint, s is added to the diagonal, like motor inertia. Lines change the matrix by a term of low rank: with Y = N^-1 J' of the matrix
   without them, loops included,

       (N + J' s J) x = f:   x = N^-1 f - Y (1/s + J Y)^-1 J N^-1 f                                           (Woodbury) */
#ifndef MECH_DRIVE_ROWS_H
#define MECH_DRIVE_ROWS_H

#include "robot/robot.h"

struct mechanism;
struct model;

struct drive_rows {
    double *s;             /* n_drives, set by the owner before mechanism_newton_factor()               */
    double *J;             /* n_drives x nv: of those on lines, by mechanism_newton_factor()            */
    int n_active, *active; /* drives on lines with s != 0                                               */
    double *Y, *mu;        /* in that order, n_active x nv and n_active x n_rows: N^-1 J' and its multipliers */
    double *T;             /* n_active x n_active: factors of 1/s + J Y                                 */
    int *pivot;            /* n_drives                                                                  */
    double *rhs;           /* n_drives                                                                  */
};

/* Arrays for the drives of the robot, from the arena; the caller checks whether it failed. n_rows: constraints of its loops. */
struct drive_rows *drive_rows_make(const struct model *model, int n_rows, struct arena *arena);

/* The velocity of the drive's coordinate for generalized velocities x (or a change of it), and force += J' F, at the state of the
   last mechanism_newton_factor(). */
double drive_rows_velocity(const struct mechanism *m, int drive, const double *x);
void drive_rows_add_force(const struct mechanism *m, int drive, double F, double *force);

#endif
