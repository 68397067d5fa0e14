#include <string.h>

#include "flex/section.h"
#include "flex/tangent.h"
#include "math/vec.h"

void section_tangent_make(int m, struct arena *arena, struct section_tangent *t)
{
    arena_arrays(arena, (size_t)PADDED(m), ARRAYS(&t->H_eta, &t->H_etad, &t->H_etadd));
}

void section_tangent(const struct section *section, int m, const double *eta, const double *etad, const double *etadd,
                     struct section_tangent *t)
{
    double theta[3], td[3], tdd[3], u[3], unused[3], along[3];
    section_displacement(section, m, eta, t->r, theta);
    section_rates(section, m, eta, etad, t->rd, td, t->rdd);
    section_rates(section, m, eta, etadd, u, tdd, unused); /* the terms in eta_ddot have the form of a rate */
    const struct exp_coefficients e = rotation_exp_coefficients(dot3(theta, theta));
    rotation_rate(&e, theta, td, t->rate, t->rate_dot);
    rotation_jacobian_rates(&e, theta, td, tdd, &t->turn);
    mul3(t->turn.J, tdd, along);
    for (int i = 0; i < 3; i++) {
        t->rdd[i] += u[i];
        t->rate_dot[i] += along[i];
    }
    if (section->H == NULL) return;
    section_H_times(section, m, eta, t->H_eta);
    section_H_times(section, m, etad, t->H_etad);
    section_H_times(section, m, etadd, t->H_etadd);
}

/* r = x + Phi eta - 1/2 eta' H eta e_x and its rates, differentiated by eta_k */
void section_vary_position(const struct section *section, const struct section_tangent *t, int k,
                           struct section_variation *v)
{
    const double *lambda = section->Lambda + 3 * k;
    mul3(t->turn.J, lambda, v->psi);
    mul3(t->turn.Jd, lambda, v->psid);
    mul3(t->turn.Jdd, lambda, v->psidd);
    copy3(section->Phi + 3 * k, v->r);
    memset(v->rd, 0, sizeof v->rd);
    memset(v->rdd, 0, sizeof v->rdd);
    v->r[0] -= t->H_eta[k];
    v->rd[0] = -t->H_etad[k];
    v->rdd[0] = -t->H_etadd[k];
}

/* and by eta_dot_k */
void section_vary_rate(const struct section *section, const struct section_tangent *t, int k,
                       struct section_variation *v)
{
    const double *lambda = section->Lambda + 3 * k;
    memset(v, 0, sizeof *v);
    mul3(t->turn.J, lambda, v->psid);
    mul3(t->turn.Jd, lambda, v->psidd);
    for (int i = 0; i < 3; i++) v->psidd[i] *= 2;
    copy3(section->Phi + 3 * k, v->rd);
    v->rd[0] -= t->H_eta[k];
    v->rdd[0] = -2 * t->H_etad[k];
}

double section_force(const struct section *section, const struct section_tangent *t, int k, const double Jn[3],
                     const double f[3])
{
    return dot3(section->Lambda + 3 * k, Jn) + dot3(section->Phi + 3 * k, f) - t->H_eta[k] * f[0];
}
