/* A pair of ESDIRK methods: k_1 = f(y_0), Y_i = y_0 + h sum_{j <= i} A_ij k_j with A_ii = gamma from the second stage on, y_1 = Y_s,
   and the error h sum e_j k_j, the difference to the embedded method. */
#ifndef ODE_TABLEAU_H
#define ODE_TABLEAU_H

enum { MOST_STAGES = 7 };

struct tableau {
    const char *name;
    int stages;
    double gamma;
    double c[MOST_STAGES], A[MOST_STAGES][MOST_STAGES], e[MOST_STAGES];
};

extern const struct tableau ESDIRK5, ESDIRK3;

#endif
