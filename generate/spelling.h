/* Entries of equations as text in one of the formats. Sums are written with common factors taken out; a long sum that occurs more than
   once becomes a variable. */
#ifndef GENERATE_SPELLING_H
#define GENERATE_SPELLING_H

#include "generate/equations.h"
#include "generate/graph/code.h"

/* A sum in brackets, as text. */
struct phrase {
    char *text;
    int count;
    int variable; /* its number; -1: none */
};

struct speller {
    struct equations *e;
    enum equation_format format;
    bool counting; /* first pass: phrases are counted        */
    bool plain;    /* no variables: the text by which phrases are known */
    int n_phrases, phrase_capacity;
    struct phrase *phrase;
    int n_variables, variable_capacity;
    char **variable; /* definitions, in an order in which they can be evaluated */
    /* entries that are not multiplied out: nodes of the graph that are variables */
    struct statements statements;
    int *node_variable;
    bool failed;
};

void spelling_make(struct equations *e, enum equation_format format, struct speller *s);
void spelling_free(struct speller *s);

/* Text that the caller frees, NULL out of memory: a '\n' where a line may be broken. */
char *spelling_sum(struct speller *s, const struct sum *sum);
char *spelling_expr(struct speller *s, expr e);

/* Makes variables of the nodes that outputs use more than once. */
bool spelling_statements(struct speller *s, int n_outputs, const expr *output);

void spelling_number(FILE *file, enum equation_format format, double value); /* fractions where they are short */
void spelling_decimal(FILE *file, enum equation_format format,
                      double value); /* the shortest that reads as the same number */
void spelling_variable(FILE *file, enum equation_format format, int variable);
void spelling_input(FILE *file, const struct speller *s, int input);

#endif
