/* Strains of a beam at a station: what strain gauges show. */
#ifndef FLEX_STRAIN_H
#define FLEX_STRAIN_H

#include "robot/robot.h"

/* Column k: (psi', -w'', v'', a') at x per elastic coordinate k; 4 numbers each. */
void beam_strain(const struct beam *beam, double x, double *columns);

/* curvature = theta'(x) = (psi', -w'', v'') and elongation a' = the sum of m columns times eta; linear, so the same function gives
   their changes. */
void strain_sum(const double *columns, int m, const double *eta, double curvature[3], double *elongation);

#endif
