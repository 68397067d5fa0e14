/* Derivatives of the inertia forces of a flexible body with respect to eta, eta_dot and omega, at a state and for given
   accelerations: columns computed once per state, so that a direction is only a sum of them. Frame F. The derivatives with respect
   to acc are the mass blocks (M_rr, M_rf). */
#ifndef FLEX_TANGENT_H
#define FLEX_TANGENT_H

#include "flex/inertia.h"
#include "math/rotation_tangent.h"

/* Matrices of a beam with foreshortening: m rows of PADDED(m), H as in shortening.h, A the acceleration of the points. */
struct shortening_tangent {
    double *K;        /* int H A_x dm                                                          */
    double *Cd, *Cdd; /* C eta_dot, C eta_ddot, as C_eta of the state                          */
    double *Ud, *Udd; /* int phi (H eta_dot)' dm, int phi (H eta_ddot)' dm: the last of those  */
    double *Qd, *Qdd; /* int (H eta_dot) (H eta)' dm, int (H eta_ddot) (H eta)' dm             */
    double *weight;   /* n_pairs + m: scratch                                                  */
    double *moment;   /* scratch of shortening_gram()                                          */
};

struct body_tangent {
    double (*Nq)[6]; /* m: wrench on F per eta_k                                             */
    double (*Nv)[6]; /* m: per eta_dot_k                                                     */
    double Nw[18];   /* 6 x 3: per omega                                                     */
    double *Gq;      /* m columns of PADDED(m): modal forces per eta_k                       */
    double *Gv;      /* the same per eta_dot_k                                               */
    double (*Gw)[3]; /* m: modal force k per omega                                           */
    double *rhodd;   /* 3 x n_shapes: int phi_s r_ddot dm                                    */
    struct shortening_tangent shortening;
    struct geometric_tangent geometric;
};

void body_tangent_make(const struct body *body, struct arena *arena, struct body_tangent *tangent);

/* Columns for the wrench and the modal forces of body_force(), with the terms in etadd. After body_force() at the same state; omega
   and acc = (alpha; a) are those of F. */
void body_tangent(const struct body *body, enum elastic_terms terms, const struct body_state *state, const double *eta,
                  const double *etad, const double *etadd, const double omega[3], const double acc[6],
                  struct body_tangent *tangent);

/* The motion of a body in F, in the form that the columns need. */
struct body_point {
    const double *eta, *etad, *etadd, *omega, *a;
    double B[9], W[9]; /* [alpha]x + [omega]x^2,  2 [omega]x */
};

/* Derivative of a shape's modal force e_a . (s a + B rho + 2 omega x rho_dot) with respect to omega. */
void body_spin_row(int axis, const double rho[3], const double rhod[3], const double omega[3], double row[3]);

/* Foreshortening (shortening_tangent.c): its part of rho_ddot along x in `full`, by shape, and its terms of all columns but Nw. */
void shortening_tangent_make(const struct body *body, struct arena *arena, struct shortening_tangent *tangent);
void shortening_moment_rates(const struct body *body, const double *eta, const double *etad, const double *etadd,
                             struct shortening_tangent *tangent, double *rhodd);
void shortening_tangent(const struct body *body, enum elastic_terms terms, const struct shortening_state *state,
                        const struct body_point *motion, struct body_tangent *tangent);

/* A section's motion in F and its derivatives with respect to eta and eta_dot. */
struct section_tangent {
    double r[3], rd[3], rdd[3];       /* position and its rates, eta_ddot included                   */
    double rate[3], rate_dot[3];      /* w and w_dot of the section relative to F, eta_ddot included */
    struct jacobian_rates turn;       /* of theta(t)                                                 */
    double *H_eta, *H_etad, *H_etadd; /* PADDED(m): H eta, H eta_dot, H eta_ddot; zeros without H    */
};

/* Effect of a unit of eta_k or eta_dot_k on a section: a small rotation psi and its rates, the change of r and of its rates. */
struct section_variation {
    double psi[3], psid[3], psidd[3];
    double r[3], rd[3], rdd[3];
};

void section_tangent_make(int m, struct arena *arena, struct section_tangent *tangent);
void section_tangent(const struct section *section, int m, const double *eta, const double *etad, const double *etadd,
                     struct section_tangent *tangent);
void section_vary_position(const struct section *section, const struct section_tangent *tangent, int k,
                           struct section_variation *variation);
void section_vary_rate(const struct section *section, const struct section_tangent *tangent, int k,
                       struct section_variation *variation);

/* Modal force k of a wrench (n; f) on the section, F axes: Lambda_k . Jl' n + (Phi_k - e_x (H eta)_k) . f; Jn = Jl' n */
double section_force(const struct section *section, const struct section_tangent *tangent, int k, const double Jn[3],
                     const double f[3]);

#endif
