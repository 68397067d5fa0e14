/* Mode shapes of a straight uniform beam, scaled to value 1 at the tip if the tip moves. */
#ifndef FLEX_SHAPES_H
#define FLEX_SHAPES_H

#include "robot/robot.h"

/* The formulas of the shapes in the robot file; s = x/L. */
enum shape_formula {
    FORMULA_POWER,              /* s^n                                             */
    FORMULA_HERMITE_DEFLECTION, /* 3 s^2 - 2 s^3                                   */
    FORMULA_HERMITE_SLOPE,      /* L (s^3 - s^2)                                   */
    FORMULA_SINE,               /* A sin(h pi s)                                   */
    FORMULA_EIGENFUNCTION       /* A (cosh bs - cos bs) + B (sinh bs - sin bs)     */
};

/* One scalar shape function phi(x) on [0, L], set by shape_make(), evaluated without cancellation up to mode 50. */
struct shape_function {
    enum shape_formula formula;
    double length;     /* L                                                                  [m] */
    int power;         /* n                                                                      */
    double half_turns; /* h                                                                      */
    double beta;       /* b = beta L: wave number times length ...                               */
    double beta_low;   /* ... and its rounding error, so that b s is accurate to eps             */
    double A, B;       /* coefficients of the formula                                            */
    double P, Q;       /* A cosh bs + B sinh bs = P e^(-bs) + Q e^(-b(1-s)): no term grows       */
};

/* Sets shape function k (1-based) of a family of this beam. A clamped-mass mode whose tip is a node (one exists for some tip
   inertias) has no tip value to scale by; it is scaled to tip slope 1/L instead. */
void shape_make(const struct beam *beam, enum family family, int k, struct shape_function *shape);

/* value[d] = d-th derivative of phi at x, d = 0, 1, 2. */
void shape_value(const struct shape_function *shape, double x, double value[3]);

#endif
