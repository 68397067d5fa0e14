/* Quantities that are given at rows (times t[0] < t[1] < ...) as curves between the rows. */
#ifndef ANALYSIS_ROWS_H
#define ANALYSIS_ROWS_H

#include <stdbool.h>

/* First and second derivative of a column x at its rows, of the polynomial through the five rows nearest to each (all rows where
   there are fewer): errors of fourth and third order in the distance of rows. n numbers each; second may be NULL. */
void rows_differentiate(int n, const double *t, const double *x, double *first, double *second);

/* Slopes at the rows of the cubic spline through x: two continuous derivatives, and at the first and the last row but one
   three (not-a-knot). Up to three rows: those of the polynomial through them. work: n numbers. */
void rows_spline(int n, const double *t, const double *x, double *slope, double *work);

/* Positions whose rates v and accelerations a are given, from the first one on: the integral of the cubic through v and a
   between rows. */
void rows_integrate(int n, const double *t, const double *v, const double *a, double *x);

/* Rates whose accelerations a are given, from the first one on: a is linear between rows. */
void rows_integrate_linear(int n, const double *t, const double *a, double *v);

/* The cubic over an interval h with values y0, y1 and slopes d0, d1 at its ends, at the fraction s of it. */
double cubic_at(double h, double s, double y0, double y1, double d0, double d1);

/* The quintic over an interval h with position, rate and acceleration A and B at its ends, and its derivatives, at the fraction s
   of it: x = (position, rate, acceleration), exactly A and B at the ends. */
void quintic_at(double h, double s, const double A[3], const double B[3], double x[3]);

/* Rows at which a polygon through all rows has a kink that an integrator should not step over; marks them in kink. They are found
   in two steps. Rows are joined to straight pieces that pass through their first and last row and are no further than
   tolerance / 4 from each row between. Between two pieces there is a kink if, with a change of slope d and the longer length L,
   |d| L / 8 > tolerance: the distance of a polygon from a smooth curve. A smooth curve that is given by many rows has no kink. */
void rows_kinks(int n, const double *t, const double *x, double tolerance, bool *kink);

#endif
