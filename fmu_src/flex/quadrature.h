/* Gauss-Legendre quadrature along a beam, composite: between stations of its tables, and where the integrand oscillates. */
#ifndef FLEX_QUADRATURE_H
#define FLEX_QUADRATURE_H

#include "base/arena.h"
#include "base/status.h"
#include "robot/beam.h"

enum { GAUSS_POINTS = 16 };

/* Nodes in (0, 1) ascending and weights (sum 1) of the 16-point rule, by Newton iteration on the Legendre polynomial. */
void quadrature_gauss_legendre(double node[GAUSS_POINTS], double weight[GAUSS_POINTS]);

/* Panels on each of which the 16-point rule integrates products of four shapes with a property of the beam to rounding: two per half
   wave of the highest mode, none across a station, and more where a section tapers strongly. */
struct panels {
    int n;
    const double *x; /* n + 1: ends of the panels, from 0 to the length [m] */
};
enum status quadrature_panels_make(const struct beam *beam, struct arena *arena, struct panels *panels);

/* Panels for shapes alone on the whole length. */
int quadrature_panels_for_shapes(const struct beam *beam);

#endif
