/* Coordinates of a closed robot that can be chosen freely. */
#ifndef ANALYSIS_INDEPENDENT_H
#define ANALYSIS_INDEPENDENT_H

#include <stdbool.h>

/* Preference for solving the loops for a coordinate: never, if no other is left, first. */
enum solve_for { SOLVE_NEVER, SOLVE_IF_NEEDED, SOLVE_FIRST };

/* x = N y is all that G x = 0 leaves, y being n - k of the x themselves: free_one has their numbers, ascending. G is k x n, N n x
   (n - k), both row major; G is overwritten, row_of has n elements. Elimination with complete pivoting, so that uncoupled
   coordinates stay uncoupled. False: the rows of G are not independent in the coordinates that may be solved for. */
bool independent_coordinates(int n, int k, double *G, const enum solve_for *wish, int *row_of, int *free_one,
                             double *N);

#endif
