/* The affine field of a nodal body's geometric stiffness (geometric.h). Mass moments alone do not determine the terms of third
 * and fourth order in the kinetic energy. Zeros would make the mass matrix indefinite at small deformations, so these terms are
 * those of the smallest displacement field with the given moments, which is affine in r0:
 *     1/2 eta' Q eta = X psi,   psi = (1; r0),   X_ij = 1/2 eta' Q_ij eta,   3 x 4                       (theory.md 13e to 13g, 17b)
 * 3 x 4 matrices are twelve numbers, row major. Called by inertia.c, tangent.c and geometric.c. */
#ifndef FLEX_GEOMETRIC_FIELD_H
#define FLEX_GEOMETRIC_FIELD_H

#include "base/arena.h"
#include "base/status.h"
#include "math/lanes.h"
#include "robot/robot.h"

struct body;
struct body_point;
struct body_state;
struct body_tangent;
struct coriolis;

struct geometric_field {
    double P[16];     /* int psi psi' dm                                                       */
    const double *Q;  /* m blocks of 12 rows of PADDED(m): block l, row ij, entry k is (Q_ij)_kl */
    const double *Pi; /* 12 rows of PADDED(m): column k is int Phi_k psi' dm                    */
};

/* What depends on the state: Xi_k = dX/deta_k in rows as Pi; Y = int (r - r0) psi' dm. */
struct field_state {
    double *Xi, *Xi_d;   /* Q eta, Q eta_dot                     */
    double X[12], Y[12]; /* by field_inertia(), zero in `linear` */
    struct field_rates {
        double Xd[12], Yd[12], Xdd[12];
    } * rates; /* by field_rates(); Xdd for eta_ddot = 0 */
};

struct field_tangent {
    double *Xi_dd;  /* Q eta_ddot                                */
    double *XiP;    /* rows as Pi: Pi_k + Xi_k P                 */
    double Xdd[12]; /* with eta_ddot                             */
};

enum status field_make(const struct nodal *nodal, const struct body *body, struct arena *arena,
                       struct geometric_field *field);

/* Twelve rows of PADDED(m), rows_i = D_i x, from m blocks of such rows; the forms rows_i' x; M += sum_i weight_i D_i. */
void geometric_contract(int m, const double *D, const double *x, double *rows);
void geometric_forms(int m, const double *rows, const double *x, double sum[12]);
void geometric_combine(int m, const double weight[12], const double *D, double *M);

/* Column k of twelve rows: the derivatives by eta_k. */
static inline void geometric_column(int m, const double *rows, int k, double x[12])
{
    for (int i = 0; i < 12; i++) x[i] = rows[PADDED(m) * i + k];
}

/* Xi, X, Y and M_ff; in `full` adds int phi_s X psi dm to rho. */
void field_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state);

/* Adds its terms to N, of which rho has some; to the angular part of M_rf. */
void field_moments(struct body_state *state);
void field_coupling(const struct body *body, struct body_state *state);

/* The rates of X and Y; adds int phi_s X_dot psi dm to rho_dot (`full`). */
void field_rates(const struct body *body, const double *etad, const struct body_state *state);

/* Adds its terms to the forces (`full`); after field_rates(). */
void field_force(const struct body *body, const struct body_state *state, const double omega[3], const double B[9],
                 struct coriolis *rates, double wrench[6], double *modal);

/* Adds int phi_s X_ddot psi dm to rho_ddot (`full`); its terms to all columns but Nw; and to Q of Nw (`full`). */
void field_moment_rates(const struct body *body, const struct body_state *state, const double *etadd,
                        struct body_tangent *tangent);
void field_tangent(const struct body *body, enum elastic_terms terms, const struct body_state *state,
                   const struct body_point *motion, struct body_tangent *tangent);
void field_rate_sums(const struct body_state *state, double Q[9]);

#endif
