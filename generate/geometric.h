/* Geometric stiffness of a nodal body, as fmu_src/flex/geometric.h and geometric_field.h have it (theory.md 13b to 13g, 17a, 17b). */
#ifndef GENERATE_GEOMETRIC_H
#define GENERATE_GEOMETRIC_H

#include "generate/shortened.h"

enum { MOMENTS = 12 }; /* c 3, N 6, g 3; and numbers of a 3 x 4 matrix */

struct geometric_part {
    expr (*slope)[MOMENTS];      /* m: d mu/d eta_k = D eta                              */
    expr (*Xi)[MOMENTS];         /* m: dX/d eta_k = Q eta                                */
    expr X[MOMENTS], Y[MOMENTS]; /* the field, int (r - r0) psi' dm; zero in `linear`    */
};

/* NULL: the body has no geometric stiffness, the elastic terms leave it out, or out of memory. */
struct geometric_part *geometric_part_make(struct robot_parts *parts, const struct link_part *part);

/* Slopes and field at eta. With elastic terms `full` adds its part to rho, which has its value without geometric stiffness. */
void geometric_field_at(struct robot_parts *parts, struct link_part *part);
/* Add their parts to c and N, to M_rf, to M_ff. */
void geometric_moments(struct robot_parts *parts, struct link_part *part);
void geometric_couplings(struct graph *g, struct link_part *part);
void geometric_mass(struct robot_parts *parts, struct link_part *part);
/* Adds its part to int phi_s r_dot dm of shape s. */
void geometric_shape_rate(struct robot_parts *parts, const struct link_part *part, int s, expr rhod[3]);
/* Adds its part to the inertia forces, and with elastic terms `full` to the sums of the rates. */
void geometric_forces(struct robot_parts *parts, struct link_part *part, const expr omega[3], const expr acc[6],
                      const expr B[9], struct rates *rates);

#endif
