/* Curves through columns of a table whose rows are at times t[0] < t[1] < ... */
#ifndef ANALYSIS_ROWS_H
#define ANALYSIS_ROWS_H

#include <stdbool.h>

/* First and second derivative of a column x at each row, from the polynomial through the five nearest rows (all rows if there are
   fewer). Their errors are of fourth and third order in the distance of rows. n numbers each; second may be NULL. */
void rows_differentiate(int n, const double *t, const double *x, double *first, double *second);

/* Slopes at the rows of the cubic spline through x: two continuous derivatives, and three at the second and the second-to-last row
   (not-a-knot). Up to three rows: slopes of the polynomial through them. work: n numbers. */
void rows_spline(int n, const double *t, const double *x, double *slope, double *work);

/* Positions x[1], x[2], ... from x[0], rates v and accelerations a: between rows v is the cubic through v and a. */
void rows_integrate(int n, const double *t, const double *v, const double *a, double *x);

/* Rates v[1], v[2], ... from v[0] and accelerations a, which are linear between rows. */
void rows_integrate_linear(int n, const double *t, const double *a, double *v);

/* The cubic over an interval h with values y0, y1 and slopes d0, d1 at its ends, at the fraction s of it. */
double rows_cubic_at(double h, double s, double y0, double y1, double d0, double d1);

/* The quintic over an interval h from (position, rate, acceleration) A to B, at the fraction s of it: x = (position, rate,
   acceleration). Exactly A and B at the ends. */
void rows_quintic_at(double h, double s, const double A[3], const double B[3], double x[3]);

/* Sets kink[i] at rows where the polygon through all rows has a kink that an integrator should not step over. First, consecutive
   rows are joined into straight pieces: a piece passes through its first and last row, and every row between is within
   tolerance / 4 of it. There is a kink between two pieces whose slopes differ by d if |d| L / 8 > tolerance, L being the length of
   the longer one: the polygon then differs by more than the tolerance from a smooth curve. A smooth curve given by many rows has
   no kink. */
void rows_kinks(int n, const double *t, const double *x, double tolerance, bool *kink);

#endif
