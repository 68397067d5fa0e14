/* A flexible body at a state: its mass blocks and inertia forces in frame F, for each order of the elastic terms. */
#ifndef FLEX_INERTIA_H
#define FLEX_INERTIA_H

#include "flex/body.h"

/* The quantities of one body that depend on the state. body_state_make() sets the terms of zeroth order, which are all that
   `ruthless` keeps; body_inertia() and body_rates() update the rest. */
struct body_state {
    /* configuration, by body_inertia() */
    double c[3];  /* int r dm                                     [kg m]   */
    double N[6];  /* int r r' dm, with the spin inertia           [kg m^2] */
    double J[6];  /* tr(N) I - N: inertia about F's origin        [kg m^2] */
    double *zeta; /* n_shapes: shape coordinates                           */
    double *rho;  /* 3 x n_shapes: int phi_s r dm; plain: 3 x PADDED(m)    */
    double *ang;  /* m x 3: columns of M_rf, angular part                  */
    double *lin;  /* m x 3: linear part; unused for plain beams            */
    double *Mff;  /* m x m, foreshortening only; else body->Mff0           */
    double *Gt;   /* n_shapes x m: scratch for Mff, foreshortening only    */
    /* rates, by body_rates() */
    double hs[3];   /* spin momentum of the modes, JL eta_dot                */
    double *zetad;  /* n_shapes                                              */
    double *zetadd; /* n_shapes: zeta_ddot for eta_ddot = 0                  */
    double *rhod;   /* 3 x n_shapes: int phi_s r_dot dm                      */
};

enum status body_state_make(const struct body *body, struct arena *arena, struct body_state *state);

/* Mass blocks at eta (theory.md 9 to 13). */
void body_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state);

/* The modal mass block after body_inertia(). */
static inline const double *body_Mff(const struct body *body, const struct body_state *state)
{
    return body->quad_end > body->quad_start ? state->Mff : body->Mff0;
}

/* Rates at eta_dot. After body_inertia() at the same eta. */
void body_rates(const struct body *body, enum elastic_terms terms, const double *eta, const double *etad,
                struct body_state *state);

/* Inertia force for eta_ddot = 0 (theory.md 15 to 17): wrench = (moment about F's origin; force) and the modal forces,
   from omega, and acc = (alpha; a) of F, all in F axes. The equations of motion have them on the left-hand side. */
void body_force(const struct body *body, enum elastic_terms terms, const struct body_state *state, const double *eta,
                const double *etad, const double omega[3], const double acc[6], double wrench[6], double *modal);

#endif
