/* Equations of motion of a robot to read (limber equations): M qdd + C qd + K (q - rest) + G = B tau with names for the numbers,
   with J' lambda on the right and J qd = 0 where there are loops.
   Small robots have their entries multiplied out (generate/graph/fourier.h); others get intermediate variables. */
#ifndef GENERATE_EQUATIONS_H
#define GENERATE_EQUATIONS_H

#include "generate/graph/fourier.h"
#include "generate/names.h"

enum equation_format { FORMAT_TEXT, FORMAT_LATEX, FORMAT_SYMPY, FORMAT_MATLAB, FORMATS };

struct equations {
    struct graph g;
    struct robot_parts parts;
    struct names names;
    const struct mechanism *mechanism; /* of the robot                                          */
    struct mechanism bare;             /* the same without springs, damping and friction        */
    int n, n_tau;
    /* expressions, by rows */
    expr *M, *C, *K; /* n x n; C only where the entries are not multiplied out      */
    expr *bias, *G;  /* n: velocity terms and gravity; G as C                        */
    int n_rows;      /* constraints of a closed robot                                */
    expr *J;         /* n_rows x n: constraint Jacobian                              */
    double *B;       /* n x n_tau                                                    */
    /* entries multiplied out */
    bool expanded;
    struct sum *sum_M, *sum_C, *sum_K, *sum_G, *sum_J;
    struct fourier fourier;
    struct arena arena;
};

/* most_terms: of an entry that is multiplied out; 0: none is. equations_free() in any case. */
enum status equations_make(const struct mechanism *mechanism, int most_terms, struct equations *e);
void equations_free(struct equations *e);

/* Writes them; `command` is quoted in the head. False: out of memory. */
bool equations_write(FILE *file, struct equations *e, enum equation_format format, const char *command);

#endif
