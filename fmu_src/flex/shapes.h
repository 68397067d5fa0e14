/* Mode shapes of a straight uniform beam and their integrals. Shapes are scaled as model.md says. */
#ifndef FLEX_SHAPES_H
#define FLEX_SHAPES_H

#include "robot/robot.h"

/* One scalar shape function phi(x) on [0, L], ready to be evaluated without cancellation for any mode number up to 50. */
struct shape_function {
    enum shape shape; /* which formula                                            */
    int bending;      /* 1: bending family, 0: twist or axial                     */
    int index;        /* k = 1, 2, ... within its family                          */
    double length;    /* L                                                   [m]  */
    double beta;      /* dimensionless wave number (beta L) where there is one    */
    double scale;     /* factor that makes the tip value 1 where the table says so */
    double sigma_minus_1; /* eigenfunctions: whatever constants the stable form needs */
    double aux[4];
};

/* Makes shape function k (1-based) of a family of this beam. */
void shape_make(const struct beam *beam, enum family family, int k, struct shape_function *shape);

/* value[d] = d-th derivative of phi at x, d = 0, 1, 2. */
void shape_value(const struct shape_function *shape, double x, double value[3]);

/* beta_k L of the clamped-free (m = j = 0) or clamped-mass beam: k-th positive root, k = 1.., to full double precision.
   mass_ratio = tip_mass/(rhoA L), inertia_ratio = tip_inertia/(rhoA L^3). */
double clamped_mass_root(int k, double mass_ratio, double inertia_ratio);
/* k-th root of cos cosh = 1 (clamped-clamped). */
double clamped_clamped_root(int k);

#endif
