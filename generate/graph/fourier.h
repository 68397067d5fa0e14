/* Sums of terms c x y^2 ... cos(a - 2 b ...): polynomials in symbols, times a cosine or sine of an integer combination of symbols. Products of
   cosines and sines become sums, so the form of an expression is unique: sin^2 + cos^2 is 1, cos a cos b - sin a sin b is cos(a + b).
   The symbols are the inputs of a graph. */
#ifndef SYMBOLIC_FOURIER_H
#define SYMBOLIC_FOURIER_H

#include "generate/graph/graph.h"

/* Squares are made by fourier_collect_squares() alone, to be read. */
enum wave { FLAT, COSINE, SINE, COSINE_SQUARED, SINE_SQUARED };
enum { MOST_FACTORS = 18, MOST_ANGLES = 8 };

/* Multiples of angles; the first is positive. */
struct angles {
    int n;
    short symbol[MOST_ANGLES], multiple[MOST_ANGLES]; /* ascending symbols */
};

struct term {
    double c;
    int n;
    short factor[MOST_FACTORS]; /* symbols in ascending order, one of power k occurs k times */
    enum wave wave;
    struct angles angles; /* n = 0 where FLAT */
};

struct sum {
    int n;
    struct term *term; /* in the order of fourier_term_order() */
};

/* What may stop a conversion. */
enum fourier_status { FOURIER_OK, FOURIER_TOO_LARGE, FOURIER_OTHER_FUNCTION, FOURIER_NO_MEMORY };

/* Sums of all nodes of a graph that outputs need. */
struct fourier {
    enum fourier_status status;
    int most_terms; /* of a sum */
    int n;          /* nodes    */
    struct sum *sum;
};

/* Converts the nodes that outputs need. fourier_free() in any case. */
enum fourier_status fourier_make(const struct graph *g, int n_outputs, const expr *output, int most_terms,
                                 struct fourier *f);
void fourier_free(struct fourier *f);

/* A copy of the sum of an expression: the caller frees sum.term. */
struct sum fourier_sum(struct fourier *f, expr e);

/* The derivative with respect to a symbol that is no angle. */
struct sum fourier_derivative(struct fourier *f, const struct sum *a, int x);
/* A symbol, to the first power at most, replaced by a sum. */
struct sum fourier_replaced(struct fourier *f, const struct sum *a, int symbol, const struct sum *by);

/* x + x cos 2a becomes 2 x cos(a)^2, and x - x cos 2a becomes 2 x sin(a)^2; returns the number of terms left. */
int fourier_collect_squares(struct term *t, int n);

int fourier_term_order(const struct term *x, const struct term *y);
int fourier_angles_order(const struct angles *a, const struct angles *b);

#endif
