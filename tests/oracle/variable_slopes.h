/* Directional derivatives of all variables of an instance against differences, and declared dependencies against derivatives. */
#ifndef ORACLE_VARIABLE_SLOPES_H
#define ORACLE_VARIABLE_SLOPES_H

#include "oracle/random.h"
#include "sim/sim.h"

/* Moves states and inputs, by up to 0.3 nominal values or units. */
void move_at_random(struct instance *instance, struct random *random);

/* Slopes of all values with one of them, by differences of step h. */
void slopes_by(struct instance *instance, int known, double h, double *slope);

/* For every known and every parameter that may change between steps: derivatives of all unknowns as differences say, to 1e-6 of the largest, and zero where no dependency is declared.
   Prints what is not so and returns how often. `worst` becomes the largest error, if that is larger. */
int count_wrong_slopes(struct instance *instance, double *worst);

/* The largest of n numbers, or 1. */
double largest_slope(const double *slope, int n);

#endif
