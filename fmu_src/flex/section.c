#include "flex/section.h"

#include <string.h>

#include "math/lanes.h"
#include "math/spatial.h"
#include "math/vec.h"

/* u_a += phi_k z_k, theta_t += lambda_k z_k */
INLINE void beam_sum(const int m, const struct section *restrict section, const double *restrict z, double *restrict u,
                     double *restrict theta)
{
    for (int k = 0; k < m; k++) {
        u[section->axis[k]] += section->phi[k] * z[k];
        theta[section->turn[k]] += section->lambda[k] * z[k];
    }
}

/* u = Phi z, theta = Lambda z */
static void modal_sum(const struct section *section, int m, const double *z, double u[3], double theta[3])
{
    memset(u, 0, 3 * sizeof *u);
    memset(theta, 0, 3 * sizeof *theta);
    if (section->phi != NULL) {
        WITH_CONSTANT_COUNT(M, m, beam_sum(M, section, z, u, theta))
    } else {
        for (int k = 0; k < m; k++) {
            axpy3(z[k], section->Phi + 3 * k, u);
            axpy3(z[k], section->Lambda + 3 * k, theta);
        }
    }
}

/* x' H y */
static double form(const double *H, int m, const double *x, const double *y)
{
    double sum = 0;
    for (int k = 0; k < m; k++)
        for (int l = 0; l < m; l++) sum += x[k] * H[m * k + l] * y[l];
    return sum;
}

void section_displacement(const struct section *section, int m, const double *eta, double r[3], double theta[3])
{
    modal_sum(section, m, eta, r, theta);
    if (section->H != NULL) r[0] -= 0.5 * form(section->H, m, eta, eta);
    for (int i = 0; i < 3; i++) r[i] += section->x[i];
}

void section_rates(const struct section *section, int m, const double *eta, const double *etad, double rd[3],
                   double td[3], double rdd[3])
{
    modal_sum(section, m, etad, rd, td);
    memset(rdd, 0, 3 * sizeof *rdd);
    if (section->H != NULL) {
        rd[0] -= form(section->H, m, eta, etad);
        rdd[0] = -form(section->H, m, etad, etad);
    }
}

void section_motion(const double rd[3], const double rdd[3], const double r[3], const double w[3], const double wd[3],
                    const double omega[3], const double acc[6], double omega_t[3], double acc_t[6])
{
    acceleration_shift(omega, acc, r, acc_t);
    double coriolis[3];
    cross3(omega, rd, coriolis);
    for (int i = 0; i < 3; i++) {
        omega_t[i] = omega[i] + w[i];
        acc_t[i] += wd[i];
        acc_t[3 + i] += 2 * coriolis[i] + rdd[i];
    }
    add_cross3(omega, w, acc_t);
}
