/* Coordinates of a closed robot that can be chosen freely. */
#ifndef ANALYSIS_INDEPENDENT_H
#define ANALYSIS_INDEPENDENT_H

#include <stdbool.h>

/* Preference for solving the loops for a coordinate: never, only if no other remains, before others. */
enum solve_for { SOLVE_NEVER, SOLVE_IF_NEEDED, SOLVE_FIRST };

/* All solutions of G x = 0 as x = N y, where y are n - k of the x; free_one receives their indices, ascending. G is k x n, N is
   n x (n - k), both row major; G is overwritten, row_of has n elements. The elimination pivots completely, so that uncoupled
   coordinates stay uncoupled. False: the rows of G are not independent in the coordinates that may be solved for. */
bool independent_coordinates(int n, int k, double *G, const enum solve_for *wish, int *row_of, int *free_one,
                             double *N);

#endif
