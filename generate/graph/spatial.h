/* Spatial inertias, wrenches and motions of expressions, and how they change from frame to frame. A frame follows from another by
   elementary moves: turns about one axis and slides along one axis. So a general change of frame costs a few plane rotations, in
   place of products with dense matrices, and right angles cost nothing. Spatial vectors are (angular; linear). */
#ifndef SYMBOLIC_SPATIAL_H
#define SYMBOLIC_SPATIAL_H

#include "generate/graph/vector.h"

/* moment = A alpha + B a,  force = B' alpha + C a */
struct spatial {
    expr A[6], B[9], C[6];
};

/* Mass, first moment and inertia of a rigid body about the origin of its frame. */
struct solid {
    expr m, h[3], J[6];
};

/* A turn about an axis: columns of its matrix are the new axes in the old frame. */
struct turn {
    int axis;
    expr c, s; /* cosine and sine of the angle */
};

/* A vector of the new frame in axes of the old one. */
struct vector spatial_turned_back(struct graph *g, const struct turn *turn, const expr *x);

/* Those of the new frame in axes of the old one: R S R', R B R' */
void spatial_turn(struct graph *g, const struct turn *turn, struct spatial *P);
void spatial_turn_solid(struct graph *g, const struct turn *turn, struct solid *solid);

/* About a point that is -r away: the inertia of the new frame about the origin of the old one. */
void spatial_shift(struct graph *g, const expr r[3], struct spatial *P);
void spatial_shift_solid(struct graph *g, const expr r[3], struct solid *solid);

void spatial_add(struct graph *g, const struct spatial *P, struct spatial *to);
void spatial_add_solid(struct graph *g, const struct solid *solid, struct solid *to);
struct spatial spatial_of(const struct solid *solid);

/* M = [r]x */
void spatial_skew(const expr r[3], expr M[9]);

/* P x of a spatial vector. */
void spatial_times(struct graph *g, const struct spatial *P, const expr x[6], expr y[6]);
/* P -= U U'/D with G = U/D */
void spatial_downdate(struct graph *g, const expr G[6], const expr U[6], struct spatial *P);

/* B = [alpha]x + [omega]x^2: the acceleration of a point of a frame is a + B r */
void spatial_point_accelerations(struct graph *g, const expr omega[3], const expr alpha[3], expr B[9]);
/* The inertia wrench of a mass distribution with first moment c and second moment N = int r r' dm:  force = m a + B c,
   moment = vee(B N + a c')                                                                               (theory.md 15) */
void spatial_wrench_of(struct graph *g, expr m, const expr c[3], const expr N[6], const expr B[9], const expr a[3],
                       expr wrench[6]);
/* That of a solid, about the origin of its frame, which moves with omega and acc. */
void spatial_solid_wrench(struct graph *g, const struct solid *solid, const expr omega[3], const expr acc[6],
                          expr wrench[6]);

#endif
