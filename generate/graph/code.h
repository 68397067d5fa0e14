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

/* How often each node is used by the outputs, directly or not, for free(); NULL: out of memory */
int *code_count_uses(const struct code *code);
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

/* False: out of memory. statements_free() in any case. */
bool code_statements_make(const struct code *code, struct statements *s);
void code_statements_free(struct statements *s);
/* The statements of a chunk; the last one sets the outputs. */
void code_write_chunk(FILE *file, const struct code *code, const struct statements *s, int chunk);
/* Whether an input is used: n_inputs flags. */
void code_inputs_used(const struct code *code, const int *uses, bool *used);
/* Definitions of the functions that the expressions use: Stumpff functions, scale of a rotation vector. */
void code_write_definitions(FILE *file, const struct code *code, const int *uses);

#endif
