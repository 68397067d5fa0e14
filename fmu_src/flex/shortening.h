/* Foreshortening of a beam. A bent beam moves its points by -f e_x, f = 1/2 eta' H(x) eta, H_kl = int_0^x phi'_k phi'_l ds for modes
 * k, l of one bending plane. So coordinate k moves a point by phi_k e_a + chi_k e_x with chi = -H eta, and all integrals are
 * polynomials in eta. Their coefficients are stored so that each is contracted with eta once: U, then M_ff (theory.md 13a).
 * Called by beam.c and inertia.c. */
#ifndef FLEX_SHORTENING_H
#define FLEX_SHORTENING_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "math/lanes.h"
#include "robot/robot.h"

struct body;
struct body_state;
struct coriolis;

/* Coordinates of a bending plane: those along y come first in eta, then those along z. */
struct bending_plane {
    int first, n; /* first coordinate, number of coordinates            */
    int pair;     /* first of its n (n + 1) / 2 pairs, ordered by rows of the lower triangle */
};

/* The products eta_i eta_j of coordinates i of plane a and j of plane b, by rows; of its lower triangle if a = b. */
struct pair_group {
    int a, b, n;
    double *W; /* n columns of PADDED(n): int chi_i chi_j dm = W times the products      */
};

struct shortening {
    int n_pairs;      /* coordinates i >= j of one plane                                     */
    const int *i, *j; /* n_pairs                                                             */
    /* m columns of (2 + m) PADDED(m): C eta is int (H eta) (1, x, phi_1 ...) dm, a row of PADDED(m) for each factor;
       column l: int h_jl (1, x, phi_1 ...) dm */
    double *C;
    /* n_pairs columns of PADDED(n_pairs + m + 1): int h (h_1 ...; phi_1 ...; 1) dm, doubled where i > j, so that G times the products
       eta_i eta_j is int eta'H eta (h; phi; 1) dm */
    double *G;
    double *Mff0; /* m rows of PADDED(m): M_ff at eta = 0                                */
    struct bending_plane plane[2];
    int n_groups; /* y with y, z with z, y with z                                        */
    struct pair_group group[3];
    bool axial; /* the beam has axial modes                                            */
};

/* What foreshortening adds to a body's state, by shortening_inertia(). Rows of PADDED(m). */
struct shortening_state {
    double x_f;       /* int x f dm                                                              */
    double *C_eta;    /* 2 + m rows: S eta = int H eta dm, B eta = int x H eta dm, U             */
    double *U;        /* m rows: U_kj = int phi_k (H eta)_j dm; the last of C_eta                */
    double *sigma;    /* 3 rows: int chi_k r dm                                                  */
    double *Q;        /* m rows: int chi chi' dm                                                 */
    double *product;  /* products of coordinates                                                 */
    double *integral; /* PADDED(n_pairs + m + 1), or of the largest group: their integrals           */
};

/* Integrals over the beam of the pairs i >= j of one bending plane, while they are summed. */
struct pair_integrals {
    int n, *i, *j;
    double *s, *b;   /* n: int h dm, int h x dm                                                  */
    double *T, *G;   /* n x m: int h phi_k dm;  n rows of PADDED(n): int h h dm, upper triangle  */
    double *row;     /* GAUSS_POINTS rows of PADDED(n): h at the points of a panel              */
    double *h;       /* n: h at a point, one of the rows                                        */
    double *h_panel; /* n: at the start of the panel                                            */
};

/* The pairs of a beam, integrals zero. */
enum status shortening_pairs_make(const struct beam *beam, int m, struct arena *arena, struct pair_integrals *pairs);
/* Adds the points of a panel with these masses, GAUSS_POINTS of them, to G. */
void shortening_pairs_add_gram(const struct pair_integrals *pairs, const double *dm);
enum status shortening_make(const struct beam *beam, const struct body *body, const struct pair_integrals *pairs,
                            struct arena *arena, struct shortening **made);
void shortening_state_make(const struct body *body, struct arena *arena, struct shortening_state *state);

/* C x, (2 + m) PADDED(m) numbers: S x, B x, U x with U_kj = int phi_k (H x)_j dm */
void shortening_contract(const struct body *body, const double *x, double *C_x);

/* Q_jk = int (H y)_j (H x)_k dm, m rows of PADDED(m); moment: scratch, m rows of PADDED(n_pairs + m + 1) */
void shortening_gram(const struct body *body, const double *x, const double *y, double *moment, double *Q);

/* All of the state above, M_ff, and the part of f in rho. After rho is set to its value without foreshortening. */
void shortening_inertia(const struct body *body, enum elastic_terms terms, const double *eta, struct body_state *state);

/* Adds the part of f to c and N (`full`). */
void shortening_moments(const struct body *body, const double *eta, struct body_state *state);

/* Adds the part of f to rho_dot (`full`). */
void shortening_rates(const struct body *body, const double *etad, const struct body_state *state);

/* Adds the part of chi to M_rf in the axes of R: R (sigma_k x e_x) and -R e_x (S eta)_k. */
void shortening_coupling(const struct body *body, const struct shortening_state *state, const double R[9],
                         double (*F)[SIX]);

/* Adds int chi_k A dm to the modal forces, A the acceleration a + B r + W r_dot + r_ddot for eta_ddot = 0, and in `full` the parts of
   f in the Coriolis sums and in the wrench. */
void shortening_force(const struct body *body, enum elastic_terms terms, const struct body_state *state,
                      const double *eta, const double *etad, const double omega[3], const double acc[6],
                      const double B[9], struct coriolis *rates, double wrench[6], double *modal);

#endif
