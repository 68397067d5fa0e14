/* A linearized robot in coordinates of its kinetic energy, for one input and one output. */
#ifndef ANALYSIS_SECOND_ORDER_H
#define ANALYSIS_SECOND_ORDER_H

#include "analysis/linear.h"

/* z = L' q with M = L L':  z_ddot = A z + V z_dot + b u,  y = c z + e z_dot + d u. Every coordinate then counts by its kinetic
   energy, whatever its unit, and A is symmetric for a conservative robot at rest. */
struct second_order {
    int n;
    double *A, *V, *b, *c, *e, d;
    double fastest;        /* an upper bound of the frequencies                          [rad/s] */
    double size_b, size_c; /* of b and of c + fastest e: the largest of their vectors' components */
    double size_d;         /* likewise                                                            */
    double *L;             /* of M = L L', before coordinates are removed                           */
};

/* For input u and output y. Coordinates that are not coupled, by any chain, to both of them are removed. STATUS_NO_MEMORY,
   STATUS_NOT_POSITIVE. */
enum status second_order_make(const struct linear *linear, int u, int y, struct arena *arena, struct second_order *s);

#endif
