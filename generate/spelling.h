/* Entries of equations as text in one of the formats. Sums are written with common factors taken out; a long sum that occurs more than
   once becomes a variable. */
#ifndef GENERATE_SPELLING_H
#define GENERATE_SPELLING_H

#include "generate/equations.h"

/* A sum in brackets, as text. */
struct phrase {
    const char *text;
    int count;
    int variable; /* its number, from 1; 0: none */
    struct phrase *next;
};

/* Initially zero, except for the equations and the format. */
struct speller {
    struct equations *e;
    const struct format *format;
    bool counting; /* first pass: phrases are counted        */
    bool plain;    /* no variables: the text by which phrases are known */
    struct phrase *phrases;
    int n_variables;
    const char **variable; /* definitions, in an order in which they can be evaluated */
    /* entries that are not multiplied out: variables of the nodes of the graph, 0: none */
    int *node_variable;
    bool failed;
};

void spelling_free(struct speller *s);

/* Text with a '\n' where a line may be broken, in the arena of the equations; NULL: out of memory. */
const char *spelling_sum(struct speller *s, const struct sum *sum);
const char *spelling_expr(struct speller *s, expr e);

/* Nodes that the outputs use more than once become variables. */
void spelling_statements(struct speller *s, int n_outputs, const expr *output);

/* The shortest decimal text that is read as the same number. */
void spelling_decimal(FILE *file, const struct format *format, double value);
void spelling_input(FILE *file, const struct speller *s, int input);

#endif
