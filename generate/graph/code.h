/* Straight-line C99 of expressions: one statement for each value that is used more than once. */
#ifndef SYMBOLIC_CODE_H
#define SYMBOLIC_CODE_H

#include <stdio.h>

#include "generate/graph/graph.h"

/* What a function costs. The series of a Stumpff function counts as the multiplications and additions of its short form. */
struct operation_counts {
    int additions, multiplications, divisions, square_roots;
    int sines; /* sines and cosines          */
    int other; /* tanh, max, comparisons     */
};

/* An input or output: its name, how many numbers it has, and how many are before it among all inputs or outputs. */
struct parameter {
    const char *name;
    int count, first;
};

/* The statements of a function. Compilers take long for very long functions, so the statements are in chunks that become functions; a
   value of one chunk that another one needs is in an array w. */
struct code {
    const struct graph *g;
    int n_outputs;
    const expr *output;
    const struct parameter *inputs, *outputs; /* what they are called */
    /* by code_make() */
    int *uses;           /* of nodes */
    struct place *place; /* of nodes */
    int n_chunks, n_slots;
};

struct place {
    bool named; /* the node has a variable                                                         */
    int chunk;  /* where that is computed; of other nodes where they are part of an expression     */
    int slot;   /* in w, -1: not needed by other chunks                                            */
};

/* False: out of memory. code_free() in any case. */
bool code_make(struct code *code);
void code_free(struct code *code);
/* The statements of a chunk; the last one sets the outputs. */
void code_write_chunk(FILE *file, const struct code *code, int chunk);
/* Whether any of the inputs [first, first + count) is used. */
bool code_uses_inputs(const struct code *code, int first, int count);
struct operation_counts code_count_operations(const struct code *code);
/* Definitions of the functions that the expressions use: Stumpff functions, scale of a rotation vector. */
void code_write_definitions(FILE *file, const struct code *code);

/* ---- printing ---------------------------------------------------------------------------------------------------- */

/* An operation: what stands before, between and after its operands. Without `before` it is a sign between operands, which get brackets
   where they need them. */
struct operation_text {
    const char *before, *between, *after;
};

/* How expressions are written. */
struct printer {
    FILE *file;
    const struct graph *g;
    const struct operation_text *operation; /* OPERATIONS of them */
    /* divisor: a fraction needs brackets */
    void (*write_number)(FILE *file, double value, bool divisor, const void *context);
    void (*write_input)(const struct printer *p, int which);
    bool (*write_name)(const struct printer *p, int node); /* false: the node has no name */
    const void *context;
};
void code_write_expression(const struct printer *p, expr e);

/* The shortest decimal text, of at least six digits but without trailing zeros, that is read as the same number. */
enum { CODE_NUMBER_SIZE = 40 };
void code_shortest_number(double value, char text[CODE_NUMBER_SIZE]);

#endif
