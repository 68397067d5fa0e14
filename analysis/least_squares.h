/* Linear least squares. */
#ifndef ANALYSIS_LEAST_SQUARES_H
#define ANALYSIS_LEAST_SQUARES_H

#include "base/arena.h"
#include "base/status.h"

/* The least-squares solution of A x = b with the smallest norm, by singular values. A is stored by columns and overwritten; x
   holds b and then the solution, with room for the longer of the two. STATUS_NO_MEMORY, STATUS_LINEAR_ALGEBRA. */
enum status least_squares(int rows, int columns, double *A, double *x, struct arena *arena, int *rank);

#endif
