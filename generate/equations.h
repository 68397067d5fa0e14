/* Equations of motion of a robot to read (limber equations): M qdd + C qd + K (q - rest) + G = B tau with names for the numbers,
   with J' lambda on the right and J qd = 0 where there are loops.
   Small robots have their entries multiplied out (generate/graph/fourier.h); others get intermediate variables. */
#ifndef GENERATE_EQUATIONS_H
#define GENERATE_EQUATIONS_H

#include "generate/formats.h"
#include "generate/graph/fourier.h"
#include "generate/names.h"

/* A matrix of the equations, by rows. */
struct matrix {
    const char *name, *what;
    int rows, columns;
    bool symmetric, vector;
    expr *e;
    struct sum *sum;    /* entries multiplied out                          */
    const char **entry; /* as text (equations_write.c)                     */
};
/* The constraint Jacobian J is last: it is not written if there are no loops. */
enum { MATRIX_M, MATRIX_C, MATRIX_K, MATRIX_G, MATRIX_B, MATRIX_J, MATRICES };

struct equations {
    struct graph g;
    struct robot_parts parts;
    struct names names;
    const struct mechanism *mechanism; /* of the robot                                          */
    struct mechanism bare;             /* the same without springs, damping and friction        */
    int n;
    struct matrix matrix[MATRICES];
    int n_entries;
    expr *entries, *bias; /* of all matrices, then the bias, n: velocity terms and gravity */
    struct sum *sums;     /* of all matrices */
    bool expanded;        /* entries are multiplied out */
    struct fourier fourier;
    struct arena arena;
};

/* most_terms: entries with more terms are not multiplied out; with 0 none is. Call equations_free() in any case. */
enum status equations_make(const struct mechanism *mechanism, int most_terms, struct equations *e);
void equations_free(struct equations *e);

/* Writes the equations; their head names `command`. False: out of memory. */
bool equations_write(FILE *file, struct equations *e, enum equation_format format, const char *command);

#endif
