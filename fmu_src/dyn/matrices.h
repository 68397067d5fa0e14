/* Matrices of the equations of motion, for analyses:  M qdd + C qd + G + K (q - rest) + damping = B tau + tip wrench part.
   M is dyn_mass_matrix(). */
#ifndef DYN_MATRICES_H
#define DYN_MATRICES_H

#include "dyn/tangent.h"

/* A model of the same robot with inertia and gravity only: no strain, springs, stops, damping or friction. */
enum status model_make_bare(const struct robot *robot, struct model **model, struct report *report);

/* C at q, qd, nv x nv row major, for a bare model: that of the Christoffel symbols (of the Levi-Civita connection where a
   velocity is an angular velocity), C qd = the velocity terms, M_dot - 2 C skew-symmetric (with elastic terms
   full). `scratch` has nv x nv. M is left in `work`. */
void dyn_coriolis(const struct model *bare, struct work *work, struct tangent *tangent, const struct input *in,
                  double *C, double *scratch);

/* G at q, nv numbers, for a bare model. */
void dyn_gravity(const struct model *bare, struct work *work, const double *q, double *G);

/* K, nv x nv: strain, and joint springs on the diagonal (for a spherical joint at its rest position). */
void dyn_stiffness(const struct model *model, double *K);

/* B, nv x n_tau: 1 where a torque acts on its velocity; zero columns for passive and prescribed joints. */
void dyn_input_matrix(const struct model *model, double *B);

#endif
