/* Roots of the characteristic equations of a uniform beam, as its shape functions have them. */
#ifndef ORACLE_ROOTS_H
#define ORACLE_ROOTS_H

#include "flex/shapes.h"

static inline double shape_root(struct mode_family modes, int k)
{
    struct beam beam = {.length = 1, .mass_per_length = {.factor = 1}, .family = {[FAMILY_Y] = modes}};
    struct shape_function shape;
    shape_make(&beam, FAMILY_Y, k, &shape);
    return shape.beta;
}

/* beta_k L of the clamped-free (m = j = 0) or clamped-mass beam: k-th positive root, k = 1.., to full double precision.
   mass_ratio = tip_mass/(rhoA L), inertia_ratio = tip_inertia/(rhoA L^3). */
static inline double clamped_mass_root(int k, double mass_ratio, double inertia_ratio)
{
    return shape_root((struct mode_family){SHAPE_CLAMPED_MASS, k, mass_ratio, inertia_ratio}, k);
}

/* k-th root of cos cosh = 1 (clamped-clamped). */
static inline double clamped_clamped_root(int k)
{
    return shape_root((struct mode_family){.shape = SHAPE_CRAIG_BAMPTON, .count = k + 2}, k + 2);
}

#endif
