#ifndef ROBOT_SEMIDEFINITE_H
#define ROBOT_SEMIDEFINITE_H

#include <stdbool.h>

enum { SEMIDEFINITE_MOST = 50 }; /* largest n */

/* Is the symmetric n x n matrix positive semidefinite, up to rounding (1e-9 of its largest entry)? */
bool semidefinite_matrix(int n, const double *A);

/* The same of a tensor xx yy zz xy xz yz. */
bool semidefinite_tensor(const double S[6]);

#endif
