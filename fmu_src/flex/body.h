/* A flexible body as the dynamics needs it: modal integrals, computed once from the link's beam or nodes.
 *
 * Every body is described by scalar shapes with an axis: a point at r0 moves to
 *     r = r0 + sum_s e_a(s) phi_s eta_k(s) - f(eta) e_x                                                (theory.md 8)
 * where f is the foreshortening of a beam (shortening.h); of a nodal body only mass moments of such a term are known (geometric.h).
 * A mode of a nodal body is three shapes with the same eta_k; a mode of a beam is one shape, or none for twist. All mass blocks are
 * polynomials in eta; their coefficients are stored here. Frame F, SI units. */
#ifndef FLEX_BODY_H
#define FLEX_BODY_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "flex/geometric.h"
#include "flex/shortening.h"
#include "robot/robot.h"

/* A material frame of the body: hinge, tip, a node, a beam section. u = Phi eta - f e_x,  theta = Lambda eta,
   f = 1/2 eta' H eta. */
struct section {
    double x[3];          /* undeformed position              [m] */
    const double *Phi;    /* translations, m columns of 3         */
    const double *Lambda; /* rotation vectors, m columns of 3     */
    const double *H;      /* int_0^x phi'_k phi'_l ds, m rows of PADDED(m); NULL: no foreshortening, or x = 0 */
    /* beams, where a mode moves along one axis and rotates about one: the nonzero entries of Phi and Lambda */
    const double *phi, *lambda; /* m; NULL: dense                                     */
    const int *axis, *turn;     /* m: axis of phi and axis of lambda; X if there is none */
};

struct body;

/* The integrals of a beam with added mass are those of the beam alone plus a factor times those of the added mass alone. */
struct added_mass {
    const struct body *unit;   /* the added mass with factor 1; no stiffness, no damping */
    double *const *bare;       /* integrals of the beam alone, in the order of added_mass.c */
    double mass, c0[3], N0[6]; /* of the beam alone                                       */
};

struct body {
    int m;             /* elastic coordinates                                          */
    int n_shapes;      /* scalar shapes, sorted: along x, y, z                         */
    int axis_start[4]; /* shapes [axis_start[a], axis_start[a+1]) move along axis a    */
    int *k;            /* n_shapes: coordinate of the shape                            */

    double mass;        /*                                                          [kg]        */
    double c0[3];       /* int r0 dm                                                [kg m]      */
    double N0[6];       /* int r0 r0' dm, with the spin inertia as tr(Js)/2 I - Js  [kg m^2]    */
    double *s;          /* n_shapes: int phi_s dm                                               */
    double *b;          /* 3 x n_shapes: int phi_s r0 dm                                        */
    double *G;          /* n_shapes x n_shapes: int phi_s phi_t dm                              */
    double *JL;         /* m x 3: int J Lambda dx, spin momentum of the modes                   */
    double *Mff0;       /* m x m: int Phi'Phi dm + int Lambda' J Lambda dx, at eta = 0          */
    double *K;          /* m x m stiffness                                                      */
    double *D;          /* m x m damping                                                        */
    bool damped;        /* D is not zero                                                        */
    bool diagonal;      /* K is diagonal: the shapes are eigenfunctions                         */
    int n_blocks;       /* K, D and Mff0 are block diagonal in eta: blocks are                  */
    int block_start[5]; /* [block_start[i], block_start[i+1])                                   */

    double independence; /* smallest pivot of Mff0 over its diagonal: small if the shapes are nearly dependent */

    bool hinge_moves; /* F differs from O                                                                    */
    bool beam;        /* a beam, with its own code (beam.h); else a nodal body                               */
    /* beams: the integrals by mode, 0 for twist */
    double *mode_s, *mode_b, *mode_JL;   /* PADDED(m): s, first row of b, JL           */
    double *zeros;                       /* PADDED(m)                                  */
    double *mode_G;                      /* m rows of PADDED(m): G                     */
    const struct shortening *shortening; /* NULL: no foreshortening                    */
    const struct geometric *geometric;   /* nodal bodies; NULL: no geometric stiffness */
    const struct added_mass *added;      /* NULL: none                                 */
    struct section hinge, tip;
};

/* Computes the body of a beam or nodal link. Positive status: the modal mass is not positive definite. */
enum status body_make(const struct link *link, struct arena *arena, struct body *body);

/* Adds this added mass to a beam alone; its factor is 0 until body_set_added_mass(). */
enum status added_mass_make(const struct body *unit, struct arena *arena, struct body *body);
/* The factor of the added mass: only the owner of the body may call it. No memory is allocated. */
void body_set_added_mass(struct body *body, double factor);

/* Reports problems with the modes of links[index], from the status of body_make() and the resulting body. */
void body_report(const struct link *link, int index, enum status status, const struct body *body,
                 struct report *report);

/* The section of a beam at x, or node number `node` of a nodal body; the other argument is ignored. */
enum status body_section(const struct link *link, double x, int node, struct arena *arena, struct section *section);

#endif
