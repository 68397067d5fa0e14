/* Plain beams: no foreshortening, F = O. Each mode is one shape, so the sums run over modes. The general code of inertia.c computes
   the same; the tests compare them. Called by body_inertia() and body_force(). */
#ifndef FLEX_PLAIN_H
#define FLEX_PLAIN_H

#include "flex/inertia.h"
#include "math/lanes.h"

void plain_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state);

void plain_force(const struct body *body, enum elastic_terms terms, const struct body_state *state, const double *etad,
                 const double omega[3], const double acc[6], double wrench[6], double *modal);

/* M_rf in the axes of R (columns are F's axes): R (rho_k x e_a + JL_k e_t) and R e_a s_k                (theory.md 12) */
void plain_coupling(const struct body *body, enum elastic_terms terms, const struct body_state *state,
                    const double R[9], double (*F)[SIX]);

#endif
