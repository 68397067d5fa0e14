/* The inertia wrench of a moving mass distribution from its moments, for all flexible bodies. Pure, inlined. */
#ifndef FLEX_MOMENTS_H
#define FLEX_MOMENTS_H

#include "math/vec.h"

/* J = tr(N) I - N */
static inline void inertia_from_moments(const double *restrict N, double *restrict J)
{
    const double trace = N[0] + N[1] + N[2];
    for (int i = 0; i < 3; i++) J[i] = trace - N[i];
    for (int i = 3; i < 6; i++) J[i] = -N[i];
}

/* B = [alpha]x + [omega]x^2: the acceleration of a point of F is a + B r */
static inline void point_acceleration(const double *restrict omega, const double *restrict alpha, double *restrict B)
{
    const double xx = omega[0] * omega[0], yy = omega[1] * omega[1], zz = omega[2] * omega[2];
    const double xy = omega[0] * omega[1], xz = omega[0] * omega[2], yz = omega[1] * omega[2];
    B[0] = -(yy + zz);
    B[1] = xy - alpha[2];
    B[2] = xz + alpha[1];
    B[3] = xy + alpha[2];
    B[4] = -(xx + zz);
    B[5] = yz - alpha[0];
    B[6] = xz - alpha[1];
    B[7] = yz + alpha[0];
    B[8] = -(xx + yy);
}

/* Wrench of the acceleration a + B r: force = m a + B c, moment = vee(Z) with Z = int r_ddot r' dm = B N + a c'  (theory.md 15) */
static inline void wrench_of_moments(double m, const double *restrict c, const double *restrict N,
                                     const double *restrict B, const double *restrict a, double *restrict wrench)
{
    mul3(B, c, wrench + 3);
    axpy3(m, a, wrench + 3);
    const double Zzy = B[6] * N[3] + B[7] * N[1] + B[8] * N[5] + a[2] * c[1];
    const double Zyz = B[3] * N[4] + B[4] * N[5] + B[5] * N[2] + a[1] * c[2];
    const double Zxz = B[0] * N[4] + B[1] * N[5] + B[2] * N[2] + a[0] * c[2];
    const double Zzx = B[6] * N[0] + B[7] * N[3] + B[8] * N[4] + a[2] * c[0];
    const double Zyx = B[3] * N[0] + B[4] * N[3] + B[5] * N[4] + a[1] * c[0];
    const double Zxy = B[0] * N[3] + B[1] * N[1] + B[2] * N[5] + a[0] * c[1];
    wrench[0] = Zzy - Zyz;
    wrench[1] = Zxz - Zzx;
    wrench[2] = Zyx - Zxy;
}

/* Terms of the rates: r_ddot = 2 omega x r_dot gives the force 2 omega x c_dot and, with Q = int r_dot r' dm, the moment
   2 (tr(Q) omega - Q omega); the spin of the modes, hs = JL eta_dot, adds omega x hs                  (theory.md 16) */
struct coriolis {
    double cd[3], Q_omega[3], trace, hs[3];
};

static inline void add_coriolis(const struct coriolis *restrict rates, const double *restrict omega,
                                double *restrict wrench)
{
    double momentum[3] = {2 * rates->cd[0], 2 * rates->cd[1], 2 * rates->cd[2]};
    add_cross3(omega, rates->hs, wrench);
    add_cross3(omega, momentum, wrench + 3);
    for (int i = 0; i < 3; i++) wrench[i] += 2 * (rates->trace * omega[i] - rates->Q_omega[i]);
}

#endif
