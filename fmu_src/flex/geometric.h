/* Geometric stiffness of a nodal body. Its points move by 1/2 eta' Q eta in addition to Phi eta; of Q only twelve mass moments
 * are known (geometric_stiffness in a robot file), the matrices D_i:
 *     mu = (c; N; g),   mu_i = ... + 1/2 eta' D_i eta,   c = int r dm,  N = int r r' dm,  g = int r0 x (r - r0) dm
 * They determine the Lagrangian to second order in (eta, eta_dot)                                 (theory.md 13b to 13d, 17a)
 * The terms of higher order are in geometric_field.h.
 * Called by inertia.c and tangent.c, for bodies whose `geometric` is not NULL. */
#ifndef FLEX_GEOMETRIC_H
#define FLEX_GEOMETRIC_H

#include "base/arena.h"
#include "base/status.h"
#include "flex/geometric_field.h"
#include "robot/robot.h"

struct body;
struct body_point;
struct body_state;
struct body_tangent;
struct coriolis;

struct geometric {
    const double *D; /* m blocks of 12 rows of PADDED(m): block l, row i, entry k is (D_i)_kl */
    struct geometric_field field;
};

/* Twelve rows of PADDED(m) each. */
struct geometric_state {
    double *D_eta;  /* D eta, by geometric_inertia()   */
    double *D_etad; /* D eta_dot, by geometric_force() */
    struct field_state field;
};

struct geometric_tangent {
    double *D_etadd; /* D eta_ddot */
    struct field_tangent field;
};

enum status geometric_make(const struct nodal *nodal, const struct body *body, struct arena *arena,
                           const struct geometric **made);
void geometric_state_make(const struct body *body, struct arena *arena, struct geometric_state *state);
void geometric_tangent_make(const struct body *body, struct arena *arena, struct geometric_tangent *tangent);

/* D eta; in `full` adds 1/2 eta' D eta to c and N. */
void geometric_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state);

/* Adds the derivatives of g and c by eta to M_rf. */
void geometric_coupling(const struct body *body, struct body_state *state);

/* Adds the modal forces, and in `full` the terms of the rates to the sums of add_coriolis() and to the wrench. */
void geometric_force(const struct body *body, enum elastic_terms terms, const struct body_state *state,
                     const double *etad, const double omega[3], const double acc[6], struct coriolis *rates,
                     double wrench[6], double *modal);

/* Adds its terms to all columns but Nw. */
void geometric_tangent(const struct body *body, enum elastic_terms terms, const struct body_state *state,
                       const struct body_point *motion, const double alpha[3], struct body_tangent *tangent);

/* Adds the rates of the moments, (D eta)' eta_dot, to hs, c_dot and Q = int r_dot r' dm of the column Nw (`full`). */
void geometric_rate_sums(const struct body *body, const struct body_state *state, const double *etad, double hs[3],
                         double cd[3], double Q[9]);

#endif
