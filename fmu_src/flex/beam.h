/* Beams. Each mode moves along one axis and rotates about one, so the sums run over modes; foreshortening adds its terms
   (shortening.h). Called by body_inertia() and body_force(). */
#ifndef FLEX_BEAM_H
#define FLEX_BEAM_H

#include "flex/inertia.h"
#include "math/lanes.h"

void beam_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state);

void beam_force(const struct body *body, enum elastic_terms terms, const struct body_state *state, const double *eta,
                const double *etad, const double omega[3], const double acc[6], double wrench[6], double *modal);

/* M_rf in the axes of R (columns are F's axes): R (rho_k x e_a + JL_k e_t) and R e_a s_k                (theory.md 12) */
void beam_coupling(const struct body *body, enum elastic_terms terms, const struct body_state *state, const double R[9],
                   double (*F)[SIX]);

#endif
