/* Elimination of modes: all modes of a link (articulated.c), or the few combinations that move its tip (updated.c). T is the frame of a section, P_T
   the inertia attached to it. */
#ifndef DYN_MODES_H
#define DYN_MODES_H

#include "dyn/dyn.h"
#include "math/dense.h"
#include "math/vec.h"

/* Z = P_T J of modes [first, last) that rotate about one axis and move along one: combinations of P_T (e; 0), P_T (0; e) */
INLINE void family_products(const struct section *restrict shape, int first, int last, const double *restrict RF,
                            const struct section_work *restrict s, double (*restrict Z)[SIX])
{
    const struct inertia *P = &s->P;
    const int a = shape->axis[first], t = shape->turn[first];
    const double e_turn[3] = {s->RJ[t], s->RJ[3 + t], s->RJ[6 + t]}, e_move[3] = {RF[a], RF[3 + a], RF[6 + a]};
    double turn[6], move[6];
    symmul3(P->A, e_turn, turn);
    tmul3(P->B, e_turn, turn + 3);
    mul3(P->B, e_move, move);
    symmul3(P->C, e_move, move + 3);
    for (int k = first; k < last; k++)
        for (int i = 0; i < 6; i++) Z[k][i] = shape->lambda[k] * turn[i] + shape->phi[k] * move[i];
}

/* Z -= P_T (0; e_x slope): the part of foreshortening in J */
static inline void shortening_products(int m, const double *restrict RF, const struct section_work *restrict s,
                                       double (*restrict Z)[SIX])
{
    const double e[3] = {RF[0], RF[3], RF[6]};
    double move[SIX] = {0};
    mul3(s->P.B, e, move);
    symmul3(s->P.C, e, move + 3);
    for (int k = 0; k < m; k++)
        for (int j = 0; j < SIX; j += LANES) store(Z[k] + j, load(Z[k] + j) - s->slope[k] * load(move + j));
}

/* P = what is attached to O + sum over the sections of X' P_T X + M_rr */
INLINE void sum_inertias(const struct link_model *lm, struct link_work *w)
{
    bool assigned = lm->has_child;
    for (int i = 0; i < lm->n_sections; i++) {
        const struct section_work *s = &w->section[i];
        if (!lm->section[i].has_inertia) continue;
        if (assigned) {
            struct inertia moved;
            inertia_shift(&s->P, s->r, &moved);
            inertia_add(&w->P, &moved);
        } else {
            inertia_shift(&s->P, s->r, &w->P);
            assigned = true;
        }
    }
    if (assigned) inertia_add_rigid(&w->P, &w->self);
    else inertia_rigid(&w->P, &w->self);
}

/* The inertia at T, moved to O and the modes:  F = M_rf + X' P_T J,  D_f = M_ff + J' P_T J                      (29, 30)
   In: P_T J in Z. Out: F in Z, D_f in L. */
INLINE void fold_tip(const int m, const double *restrict r, const double *restrict M0, const double *restrict Jt,
                     const double (*restrict F)[SIX], double (*restrict Z)[SIX], double *restrict L)
{
    const int row = PADDED(m);
    for (int k = 0; k < m; k++) {
        for (int l = LANE_START(k); l < row; l += LANES) {
            lanes sum = load(M0 + row * k + l);
            for (int a = 0; a < 6; a++) sum += Z[k][a] * load(Jt + row * a + l);
            store(L + row * k + l, sum);
        }
        add_cross3(r, Z[k] + 3, Z[k]);
        for (int i = 0; i < 6; i++) Z[k][i] += F[k][i];
    }
}

/* D_f = L Delta L',   Z = L^-1 F',   W = Delta^-1 Z,   P_r = P - Z' Delta^-1 Z                                      (31) */
INLINE int eliminate_modes(const int m, const double *restrict M0, double *restrict L, double *restrict inverse_d,
                           double (*restrict Z)[SIX], double (*restrict W)[SIX], struct inertia *restrict P)
{
    const int row = PADDED(m);
    for (int k = 0; k < m; k++) {
        const double d = L[(row + 1) * k], inverse = 1 / d;
        if (!(d > PIVOT_SHARE * M0[(row + 1) * k])) return -1;
        inverse_d[k] = inverse;
        for (int j = 0; j < SIX; j += LANES) store(W[k] + j, inverse * load(Z[k] + j));
        for (int i = k + 1; i < m; i++) {
            const double l = inverse * L[row * k + i];
            for (int j = LANE_START(i); j < row; j += LANES)
                store(L + row * i + j, load(L + row * i + j) - l * load(L + row * k + j));
            for (int j = 0; j < SIX; j += LANES) store(Z[i] + j, load(Z[i] + j) - l * load(Z[k] + j));
            L[row * k + i] = l;
        }
    }
    inertia_downdate_rows(m, P, (const double(*)[SIX])W, (const double(*)[SIX])Z);
    return 0;
}

/* sum += sum over k of c_k row_k */
INLINE void add_rows(const int m, const double *restrict c, const double (*restrict row)[SIX], double *restrict sum)
{
    for (int j = 0; j < SIX; j += LANES) {
        lanes s = load(sum + j);
        for (int k = 0; k < m; k++) s += c[k] * load(row[k] + j);
        store(sum + j, s);
    }
}

#endif
