/* A flexible body at a state: its mass blocks and inertia forces in frame F, for each order of the elastic terms. */
#ifndef FLEX_INERTIA_H
#define FLEX_INERTIA_H

#include "flex/body.h"
#include "math/lanes.h"

/* The quantities of one body that depend on the state. body_state_make() sets the terms of zeroth order, which are all that
   `ruthless` keeps; body_inertia() and body_force() update the rest. */
struct body_state {
    /* configuration, by body_inertia() */
    double c[3];             /* int r dm                                     [kg m]   */
    double N[6];             /* int r r' dm, with the spin inertia           [kg m^2] */
    double J[6];             /* tr(N) I - N: inertia about F's origin        [kg m^2] */
    double *rho;             /* 3 x n_shapes: int phi_s r dm; beams: 3 x PADDED(m), by mode                         */
    double (*coupling)[SIX]; /* m: M_rf; unused for beams whose F is O, see beam_coupling()               */
    double *Mff;             /* m rows of PADDED(m): M_ff; constant without foreshortening                */
    struct shortening_state shortened;
    struct geometric_state geometric;
    /* rates, by body_force() */
    double *rhod; /* like rho: int phi_s r_dot dm                                                         */
};

void body_state_make(const struct body *body, struct arena *arena, struct body_state *state);

/* The terms of zeroth order again, after body_set_added_mass(). */
void body_state_reset(const struct body *body, struct body_state *state);

/* Mass blocks at eta (theory.md 9 to 13). */
void body_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state);

/* Inertia force for eta_ddot = 0 (theory.md 15 to 17): wrench = (moment about F's origin; force) and the modal forces,
   PADDED(m), from omega, and acc = (alpha; a) of F, all in F axes. The equations of motion have them on the left-hand side. After
   body_inertia() at the same eta. */
void body_force(const struct body *body, enum elastic_terms terms, const struct body_state *state, const double *eta,
                const double *etad, const double omega[3], const double acc[6], double wrench[6], double *modal);

#endif
