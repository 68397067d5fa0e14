/* Derivatives of the left Jacobian of Exp with respect to time and to the rotation vector. */
#ifndef MATH_ROTATION_TANGENT_H
#define MATH_ROTATION_TANGENT_H

#include "math/rotation.h"

/* Jl and its first two rates along theta(t). A small rotation of Exp(theta) is psi = Jl dtheta; its rates are
   psi_dot = Jl dtheta_dot + Jl_dot dtheta  and  psi_ddot = Jl dtheta_ddot + 2 Jl_dot dtheta_dot + Jl_ddot dtheta. */
struct jacobian_rates {
    double J[9], Jd[9], Jdd[9];
};
void rotation_jacobian_rates(const struct exp_coefficients *e, const double theta[3], const double td[3],
                             const double tdd[3], struct jacobian_rates *rates);

/* Y with  d(Jl(theta)' n) = Y dtheta  for a constant n */
void rotation_force_derivative(const struct exp_coefficients *e, const double theta[3], const double n[3], double Y[9]);

/* drho = Jl(rho)^-1 psi: change of the rotation vector of Exp(rho) for a small rotation psi */
void rotation_vector_rate(const double rho[3], const double psi[3], double drho[3]);

#endif
