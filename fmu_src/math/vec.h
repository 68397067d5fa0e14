/* 3-vectors, 3x3 matrices (row major) and symmetric 3x3 matrices (xx yy zz xy xz yz): pure, inlined, no allocation. */
#ifndef MATH_VEC_H
#define MATH_VEC_H

#include <string.h>

static inline double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double dot6(const double *a, const double *b)
{
    return dot3(a, b) + dot3(a + 3, b + 3);
}

/* c = a x b */
static inline void cross3(const double *restrict a, const double *restrict b, double *restrict c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* c += a x b */
static inline void add_cross3(const double *restrict a, const double *restrict b, double *restrict c)
{
    c[0] += a[1] * b[2] - a[2] * b[1];
    c[1] += a[2] * b[0] - a[0] * b[2];
    c[2] += a[0] * b[1] - a[1] * b[0];
}

/* y += s x */
static inline void axpy3(double s, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < 3; i++) y[i] += s * x[i];
}

static inline void axpy6(double s, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < 6; i++) y[i] += s * x[i];
}

/* Number by number, because a wider load of numbers that were stored one by one just before waits for all of them */
static inline void copy3(const double *restrict a, double *restrict b)
{
    for (int i = 0; i < 3; i++) b[i] = a[i];
}
static inline void copy6(const double *restrict a, double *restrict b)
{
    for (int i = 0; i < 6; i++) b[i] = a[i];
}
static inline void copy9(const double *restrict a, double *restrict b)
{
    for (int i = 0; i < 9; i++) b[i] = a[i];
}

/* Outputs do not overlap inputs. */

/* y = M x */
static inline void mul3(const double *restrict M, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < 3; i++) y[i] = M[3 * i] * x[0] + M[3 * i + 1] * x[1] + M[3 * i + 2] * x[2];
}

/* y += M x */
static inline void add_mul3(const double *restrict M, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < 3; i++) y[i] += M[3 * i] * x[0] + M[3 * i + 1] * x[1] + M[3 * i + 2] * x[2];
}

/* y = M' x */
static inline void tmul3(const double *restrict M, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < 3; i++) y[i] = M[i] * x[0] + M[3 + i] * x[1] + M[6 + i] * x[2];
}

/* C = A B */
static inline void matmul3(const double *restrict A, const double *restrict B, double *restrict C)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/* y = S x, S symmetric */
static inline void symmul3(const double *restrict S, const double *restrict x, double *restrict y)
{
    y[0] = S[0] * x[0] + S[3] * x[1] + S[4] * x[2];
    y[1] = S[3] * x[0] + S[1] * x[1] + S[5] * x[2];
    y[2] = S[4] * x[0] + S[5] * x[1] + S[2] * x[2];
}

/* T = R S R', S and T symmetric: the same tensor in other axes */
static inline void rotate_sym3(const double *restrict R, const double *restrict S, double *restrict T)
{
    double W[9]; /* R S */
    for (int i = 0; i < 3; i++) symmul3(S, R + 3 * i, W + 3 * i);
    T[0] = dot3(W, R);
    T[1] = dot3(W + 3, R + 3);
    T[2] = dot3(W + 6, R + 6);
    T[3] = dot3(W, R + 3);
    T[4] = dot3(W, R + 6);
    T[5] = dot3(W + 3, R + 6);
}

static inline void identity3(double *restrict M)
{
    memset(M, 0, 9 * sizeof *M);
    M[0] = M[4] = M[8] = 1;
}

/* M = [a]x */
static inline void skew3(const double *restrict a, double *restrict M)
{
    M[0] = M[4] = M[8] = 0;
    M[1] = -a[2];
    M[2] = a[1];
    M[3] = a[2];
    M[5] = -a[0];
    M[6] = -a[1];
    M[7] = a[0];
}

#endif
