#include "math/eigen.h"

#include <float.h>
#include <math.h>

/* Jacobi's rotation that makes A_pq = 0: A <- R' A R, V <- V R with R = [c s; -s c] in rows and columns p, q.
   t = tan is the smaller root of t^2 + 2 tau t - 1 = 0, tau = (A_qq - A_pp) / (2 A_pq). */
static void rotate(int n, double *A, double *V, int p, int q)
{
    const double Apq = A[p * n + q];
    const double tau = (A[q * n + q] - A[p * n + p]) / (2 * Apq);
    const double t = copysign(1 / (fabs(tau) + sqrt(1 + tau * tau)), tau);
    const double c = 1 / sqrt(1 + t * t), s = t * c;

    A[p * n + p] -= t * Apq;
    A[q * n + q] += t * Apq;
    A[p * n + q] = A[q * n + p] = 0;
    for (int i = 0; i < n; i++) {
        if (i != p && i != q) {
            const double Aip = A[i * n + p], Aiq = A[i * n + q];
            A[i * n + p] = A[p * n + i] = c * Aip - s * Aiq;
            A[i * n + q] = A[q * n + i] = s * Aip + c * Aiq;
        }
        const double Vip = V[i * n + p], Viq = V[i * n + q];
        V[i * n + p] = c * Vip - s * Viq;
        V[i * n + q] = s * Vip + c * Viq;
    }
}

static void sort_ascending(int n, double *V, double *w)
{
    for (int i = 0; i < n; i++) {
        int least = i;
        for (int j = i + 1; j < n; j++)
            if (w[j] < w[least]) least = j;
        if (least == i) continue;
        const double wi = w[i];
        w[i] = w[least];
        w[least] = wi;
        for (int row = 0; row < n; row++) {
            const double v = V[row * n + i];
            V[row * n + i] = V[row * n + least];
            V[row * n + least] = v;
        }
    }
}

/* An element counts as zero if it changes neither eigenvalue by more than rounding: |A_pq| <= eps sqrt|A_pp A_qq| (Demmel and
   Veselic), so that small eigenvalues of a graded positive definite matrix have full relative precision. */
static int negligible(int n, const double *A, int p, int q)
{
    const double Apq = fabs(A[p * n + q]);
    return Apq < DBL_MIN || Apq <= DBL_EPSILON * sqrt(fabs(A[p * n + p])) * sqrt(fabs(A[q * n + q]));
}

void eigen_symmetric(int n, double *A, double *V, double *w)
{
    enum { MAX_SWEEPS = 60 }; /* convergence is quadratic: ten are more than enough */

    for (int i = 0; i < n * n; i++) V[i] = i % (n + 1) == 0;
    for (int sweep = 0, busy = 1; busy && sweep < MAX_SWEEPS; sweep++) {
        busy = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                if (!negligible(n, A, p, q)) {
                    rotate(n, A, V, p, q);
                    busy = 1;
                }
    }
    for (int i = 0; i < n; i++) w[i] = A[i * n + i];
    sort_ascending(n, V, w);
}

/* M = L L', L lower (its upper triangle is not written) */
static int cholesky(int n, const double *M, double *L)
{
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            double sum = M[i * n + j];
            for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            if (i > j) {
                L[i * n + j] = sum / L[j * n + j];
                continue;
            }
            if (!(sum > n * DBL_EPSILON * M[j * n + j])) return 1; /* the rest is rounding error (or NaN) */
            L[j * n + j] = sqrt(sum);
        }
    }
    return 0;
}

/* X <- L^-1 X, column by column */
static void solve_lower(int n, const double *L, double *X)
{
    for (int i = 0; i < n; i++)
        for (int column = 0; column < n; column++) {
            double sum = X[i * n + column];
            for (int k = 0; k < i; k++) sum -= L[i * n + k] * X[k * n + column];
            X[i * n + column] = sum / L[i * n + i];
        }
}

/* X <- L^-T X */
static void solve_upper(int n, const double *L, double *X)
{
    for (int i = n - 1; i >= 0; i--)
        for (int column = 0; column < n; column++) {
            double sum = X[i * n + column];
            for (int k = i + 1; k < n; k++) sum -= L[k * n + i] * X[k * n + column];
            X[i * n + column] = sum / L[i * n + i];
        }
}

int eigen_generalized(int n, const double *K, const double *M, double *work, double *V, double *w2)
{
    double *const L = work, *const A = work + n * n;

    if (cholesky(n, M, L) != 0) return 1;

    /* A = L^-1 K L^-T,  A U = U diag(w2),  V = L^-T U */
    for (int i = 0; i < n * n; i++) A[i] = K[i];
    solve_lower(n, L, A);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            const double Aij = A[i * n + j];
            A[i * n + j] = A[j * n + i];
            A[j * n + i] = Aij;
        }
    solve_lower(n, L, A);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) A[i * n + j] = A[j * n + i] = (A[i * n + j] + A[j * n + i]) / 2;
    eigen_symmetric(n, A, V, w2);
    solve_upper(n, L, V);
    return 0;
}
