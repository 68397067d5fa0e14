/* Foreshortening of a beam, as fmu_src/flex/shortening.h has it (theory.md 13, 13a, 16, 17). F axes. */
#ifndef GENERATE_SHORTENED_H
#define GENERATE_SHORTENED_H

#include "generate/parts.h"

/* Sums of the rates of a flexible body:  c_dot, Q omega, tr Q, spin momentum                                       (16) */
struct rates {
    expr cd[3], Q_omega[3], trace, spin[3];
};

/* At eta; rows of m. */
struct shortened {
    expr x_f;         /* int x f dm                          */
    expr *S_eta;      /* int H eta dm                        */
    expr *U;          /* U_kj = int phi_k (H eta)_j dm       */
    expr (*sigma)[3]; /* int chi_k r dm                      */
    expr *Q;          /* int chi chi' dm                     */
};

/* NULL: the body has no foreshortening, the elastic terms leave it out, or out of memory. */
struct shortened *shortened_make(struct robot_parts *parts, const struct link_part *part);

/* Integrals at eta. Adds their part to rho, which has its value without foreshortening. */
void shortened_integrals(struct robot_parts *parts, struct link_part *part);
/* Adds their part to c and N, to M_rf, to M_ff. */
void shortened_moments(struct robot_parts *parts, struct link_part *part);
void shortened_coupling(struct graph *g, struct link_part *part);
void shortened_mass(struct graph *g, struct link_part *part);
/* The part of foreshortening in int phi_k r_dot dm along x. */
expr shortened_rate(struct robot_parts *parts, const struct link_part *part, int k);
/* Adds its part to the inertia forces, and with elastic terms `full` to the sums of the rates. */
void shortened_force(struct robot_parts *parts, struct link_part *part, const expr omega[3], expr a_x, const expr B[9],
                     struct rates *rates);

#endif
