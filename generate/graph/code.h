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

/* Text of an input or output. */
typedef void (*name_writer)(FILE *file, int which, const void *context);

struct code {
    const struct graph *g;
    int n_outputs;
    const expr *output;
    name_writer write_input, write_output;
    const void *context;
};

/* uses: of the nodes, by graph_count_uses() */
struct operation_counts code_count_operations(const struct code *code, const int *uses);

/* The statements of a function. Compilers take long for very long functions, so the statements are in chunks that become functions; a
   value of one chunk that another one needs is in an array w. */
struct statements {
    int *uses;   /* of nodes                                  */
    bool *named; /* nodes with a variable                     */
    int *chunk;  /* where the variable is computed; of other nodes where they are part of an expression */
    int *slot;   /* in w, -1: not needed by other chunks      */
    int n_chunks, n_slots;
};

/* False: out of memory. code_statements_free() in any case. */
bool code_statements_make(const struct code *code, struct statements *s);
void code_statements_free(struct statements *s);
/* The statements of a chunk; the last one sets the outputs. */
void code_write_chunk(FILE *file, const struct code *code, const struct statements *s, int chunk);
/* Whether any of the inputs [first, first + count) is used. */
bool code_uses_inputs(const struct code *code, const int *uses, int first, int count);
/* Definitions of the functions that the expressions use: Stumpff functions, scale of a rotation vector. */
void code_write_definitions(FILE *file, const struct code *code, const int *uses);

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
