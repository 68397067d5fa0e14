/* Gauss-Legendre quadrature on [0, L], composite where the integrand oscillates. */
#ifndef FLEX_QUADRATURE_H
#define FLEX_QUADRATURE_H

enum { GAUSS_POINTS = 16 };

/* Nodes in (0, 1) ascending and weights (sum 1) of the 16-point rule, by Newton iteration on the Legendre polynomial. */
void gauss_legendre(double node[GAUSS_POINTS], double weight[GAUSS_POINTS]);

#endif
