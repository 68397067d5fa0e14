/* Quaternions (w, x, y, z). A unit quaternion is an orientation: R(q) maps vectors from body axes to reference axes,
   and R(a o b) = R(a) R(b). Angular velocities and rotation vectors are in body axes. Outputs do not overlap inputs. */
#ifndef MATH_QUATERNION_H
#define MATH_QUATERNION_H

#include <math.h>

#include "math/vec.h"

/* c = a o b */
static inline void quaternion_multiply(const double *restrict a, const double *restrict b, double *restrict c)
{
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* c = conj(a) o b */
static inline void quaternion_conjugate_multiply(const double *restrict a, const double *restrict b, double *restrict c)
{
    const double conjugate[4] = {a[0], -a[1], -a[2], -a[3]};
    quaternion_multiply(conjugate, b, c);
}

/* dq/dt = 1/2 q o (0, omega) */
static inline void quaternion_rate(const double *restrict q, const double *restrict omega, double *restrict qd)
{
    const double half[4] = {0, 0.5 * omega[0], 0.5 * omega[1], 0.5 * omega[2]};
    quaternion_multiply(q, half, qd);
}

/* q = (cos |t|/2, t sin(|t|/2)/|t|) of a rotation vector t: R(q) = Exp(t) */
static inline void quaternion_exp(const double *restrict t, double *restrict q)
{
    const double angle = sqrt(dot3(t, t)), s = angle > 1e-8 ? sin(0.5 * angle) / angle : 0.5 - angle * angle / 48;
    q[0] = cos(0.5 * angle);
    for (int i = 0; i < 3; i++) q[1 + i] = s * t[i];
}

static inline double quaternion_square(const double *q)
{
    return q[0] * q[0] + dot3(q + 1, q + 1);
}

/* R(q) = 1 + 2 (w [v]x + [v]x [v]x)/|q|^2, row major, a rotation for any q that is not zero */
static inline void quaternion_to_matrix(const double *restrict q, double *restrict R)
{
    const double s = 2 / quaternion_square(q), w = s * q[0], x = s * q[1], y = s * q[2], z = s * q[3];
    R[0] = 1 - (y * q[2] + z * q[3]);
    R[1] = x * q[2] - w * q[3];
    R[2] = x * q[3] + w * q[2];
    R[3] = x * q[2] + w * q[3];
    R[4] = 1 - (x * q[1] + z * q[3]);
    R[5] = y * q[3] - w * q[1];
    R[6] = x * q[3] - w * q[2];
    R[7] = y * q[3] + w * q[1];
    R[8] = 1 - (x * q[1] + y * q[2]);
}

/* q of a rotation matrix, computed from its largest component */
static inline void quaternion_from_matrix(const double *restrict R, double *restrict q)
{
    const double trace = R[0] + R[4] + R[8],
                 four[4] = {1 + trace, 1 + 2 * R[0] - trace, 1 + 2 * R[4] - trace, 1 + 2 * R[8] - trace};
    const double pair[4][4] = {{four[0], R[7] - R[5], R[2] - R[6], R[3] - R[1]},
                               {R[7] - R[5], four[1], R[1] + R[3], R[2] + R[6]},
                               {R[2] - R[6], R[1] + R[3], four[2], R[5] + R[7]},
                               {R[3] - R[1], R[2] + R[6], R[5] + R[7], four[3]}};
    int largest = 0;
    for (int i = 1; i < 4; i++)
        if (four[i] > four[largest]) largest = i;
    const double scale = 0.5 / sqrt(four[largest]);
    for (int i = 0; i < 4; i++) q[i] = scale * pair[largest][i];
}

/* q = q/|q| */
static inline void quaternion_normalize(double *q)
{
    const double scale = 1 / sqrt(quaternion_square(q));
    for (int i = 0; i < 4; i++) q[i] *= scale;
}

#endif
