#include "flex/section.h"

#include <string.h>

#include "math/lanes.h"
#include "math/rotation.h"
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

void section_sum(const struct section *section, int m, const double *z, double u[3], double theta[3])
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

/* y = H x */
INLINE void multiply(const int m, const double *restrict H, const double *restrict x, double *restrict y)
{
    for (int l = 0; l < PADDED(m); l += LANES) {
        lanes sum = x[0] * load(H + l);
        for (int k = 1; k < m; k++) sum += x[k] * load(H + PADDED(m) * k + l);
        store(y + l, sum);
    }
}

void section_H_times(const struct section *section, int m, const double *eta, double *H_eta)
{
    const double *H = section->H;
    WITH_CONSTANT_COUNT(M, m, multiply(M, H, eta, H_eta))
}

/* x' H y */
INLINE double bilinear_form(const int m, const double *restrict H, const double *restrict x, const double *restrict y)
{
    double sum = 0;
    for (int k = 0; k < m; k++) {
        double H_y = 0;
        for (int l = 0; l < m; l++) H_y += H[PADDED(m) * k + l] * y[l];
        sum += x[k] * H_y;
    }
    return sum;
}

/* x' H x, with the diagonal and the lower triangle of the symmetric H */
INLINE double quadratic_form(const int m, const double *restrict H, const double *restrict x)
{
    double sum = 0;
    for (int k = 0; k < m; k++) {
        double H_x = 0;
        for (int l = 0; l < k; l++) H_x += H[PADDED(m) * k + l] * x[l];
        sum += x[k] * (2 * H_x + H[(PADDED(m) + 1) * k] * x[k]);
    }
    return sum;
}

double section_form(const struct section *section, int m, const double *x)
{
    double value = 0;
    WITH_CONSTANT_COUNT(M, m, value = quadratic_form(M, section->H, x))
    return value;
}

void section_displacement(const struct section *section, int m, const double *eta, double r[3], double theta[3])
{
    section_sum(section, m, eta, r, theta);
    if (section->H != NULL) r[0] -= 0.5 * section_form(section, m, eta);
    for (int i = 0; i < 3; i++) r[i] += section->x[i];
}

void section_rates(const struct section *section, int m, const double *eta, const double *etad, double rd[3],
                   double td[3], double rdd[3])
{
    section_sum(section, m, etad, rd, td);
    memset(rdd, 0, 3 * sizeof *rdd);
    if (section->H != NULL) {
        rd[0] -= bilinear_form(m, section->H, eta, etad);
        rdd[0] = -section_form(section, m, etad);
    }
}

void body_deflection(const struct body *body, const double *eta, double deflection[3], double rotation[3])
{
    double r[3], theta[3];
    section_displacement(&body->tip, body->m, eta, r, theta);
    if (body->hinge_moves) { /* r = Exp(-theta_H) (r_T - r_H) */
        double r_H[3], theta_H[3], R_H[9], relative[3];
        section_displacement(&body->hinge, body->m, eta, r_H, theta_H);
        const struct exp_coefficients e = rotation_exp_coefficients(dot3(theta_H, theta_H));
        rotation_exp(&e, theta_H, R_H);
        for (int i = 0; i < 3; i++) relative[i] = r[i] - r_H[i];
        tmul3(R_H, relative, r);
        rotation_between(theta_H, theta, rotation);
    } else copy3(theta, rotation);
    for (int i = 0; i < 3; i++) deflection[i] = r[i] - (body->tip.x[i] - body->hinge.x[i]);
}
