#include "robot/semidefinite.h"

#include <math.h>

#include "math/eigen.h"

bool semidefinite_matrix(int n, const double *A)
{
    double scaled[SEMIDEFINITE_MOST * SEMIDEFINITE_MOST], V[SEMIDEFINITE_MOST * SEMIDEFINITE_MOST],
        w[SEMIDEFINITE_MOST];
    double largest = 0;
    for (int i = 0; i < n * n; i++) largest = fmax(largest, fabs(A[i]));
    for (int i = 0; i < n; i++)
        if (A[(n + 1) * i] < 0) return false;
    if (largest == 0) return true;
    for (int i = 0; i < n * n; i++) scaled[i] = A[i] / largest;
    eigen_symmetric(n, scaled, V, w);
    return w[0] >= -1e-9;
}

bool semidefinite_tensor(const double S[6])
{
    const double A[9] = {S[0], S[3], S[4], S[3], S[1], S[5], S[4], S[5], S[2]};
    return semidefinite_matrix(3, A);
}
