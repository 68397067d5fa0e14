/* Matrices of the equations of motion, for analyses:  M qdd + C qd + G + K (q - rest) + damping = B tau + tip wrench's share.
   M is dyn_mass_matrix(). */
#ifndef DYN_MATRICES_H
#define DYN_MATRICES_H

#include "dyn/tangent.h"

/* A model of the same robot with inertia and gravity alone: no strain, springs, damping or friction. */
enum status model_make_bare(const struct robot *robot, struct model **model, struct report *report);

/* C at q, qd, n x n row major, for a bare model: that of the Christoffel symbols, C qd = the velocity terms, M_dot - 2 C skew
   (with elastic terms full). `scratch` has n x n. */
void dyn_coriolis(const struct model *bare, struct work *work, struct tangent *tangent, const struct input *in,
                  double *C, double *scratch);

/* G at q, n numbers, for a bare model. */
void dyn_gravity(const struct model *bare, struct work *work, const double *q, double *G);

/* K, n x n: strain, and joint springs on the diagonal. */
void dyn_stiffness(const struct model *model, double *K);

/* B, n x n_joints: 1 where a torque acts on its coordinate; zero columns of passive and prescribed joints. */
void dyn_input_matrix(const struct model *model, double *B);

#endif
