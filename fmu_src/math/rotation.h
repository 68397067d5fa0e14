/* Rotations by rotation vectors: Exp, its left Jacobian and the rate of that Jacobian, without cancellation at small angles. */
#ifndef MATH_ROTATION_H
#define MATH_ROTATION_H

/* a = (1 - cos phi)/phi^2, b = (phi - sin phi)/phi^3 and their derivatives with respect to y = phi^2. Exp and
   its Jacobian are built from these:  Exp = I + (1 - y b)[t]x + a [t]x^2,   Jl = I + a [t]x + b [t]x^2   (theory.md 4, 5). */
struct exp_coefficients {
    double a, b, da, db;
};
struct exp_coefficients rotation_exp_coefficients(double y);

/* R = Exp(theta) */
void rotation_exp(const struct exp_coefficients *e, const double theta[3], double R[9]);

/* Jl(theta) with d/dt Exp(theta) = [Jl(theta) theta_dot]x Exp(theta) */
void rotation_left_jacobian(const struct exp_coefficients *e, const double theta[3], double Jl[9]);

/* w = Jl(theta) td, and if wd is not NULL: wd = (d/dt Jl) td, the part of dw/dt for theta_ddot = 0 (theory.md 6) */
void rotation_rate(const struct exp_coefficients *e, const double theta[3], const double td[3], double w[3],
                   double wd[3]);

/* rho with Exp(rho) = Exp(-from) Exp(to), smooth up to a full turn */
void rotation_between(const double from[3], const double to[3], double rho[3]);

/* R = Rz(yaw) Ry(pitch) Rx(roll) */
void rotation_rpy(const double rpy[3], double R[9]);

#endif
