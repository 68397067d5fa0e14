/* The formats in which equations are written: signs of expressions, rows and pages. */
#ifndef GENERATE_FORMATS_H
#define GENERATE_FORMATS_H

#include "generate/graph/code.h"

enum equation_format { FORMAT_TEXT, FORMAT_LATEX, FORMAT_SYMPY, FORMAT_MATLAB, FORMATS };

/* Pieces of a page: a text, a text that is written on a condition, or a row for each of several things. */
enum piece_kind {
    END, /* of the page */
    TEXT,
    TEXT_LOOPS,       /* the robot has loops                                   */
    TEXT_DEFINITIONS, /* there are definitions                                 */
    TEXT_STUMPFF,     /* there are Stumpff functions                           */
    HEAD,             /* comments about the robot                              */
    REST,             /* rest positions of springs, if not zero                */
    COORDINATES,
    RATES,
    PARAMETERS,
    DEFINITIONS, /* by the row `defined` of the format                    */
    EQUATIONS    /* for each matrix a row, its entries, and `after`       */
};

/* Rows have escapes: %n name, %v value, %u unit, %m meaning, %t text with line breaks, %i and %j indices, %r and %c numbers of rows
   and columns, %# the sign of a comment, %, a comma if there is only one coordinate, %% the character. */
struct piece {
    enum piece_kind what;
    const char *text;
    const char *separator; /* between rows */
    const char *after;     /* the last row */
};

struct format {
    const char *name;                       /* of the option --format */
    const struct operation_text *operation; /* OPERATIONS of them */
    bool latex;                             /* names and numbers are in LaTeX */
    const char *power, *fraction;
    const char *wave[2], *square_of_wave[2]; /* around the name of a sine or cosine and its angle */
    const char *variable;                    /* name of an intermediate variable by its number     */
    const char *comment;
    int width; /* of a line; 0: lines are not broken */
    const char *line_break;
    bool from_zero; /* the first row and column of a matrix have index 0, else 1 */
    /* rows */
    const char *defined, *entry, *entry_of_vector;
    const char *mirrored; /* an entry below the diagonal of a symmetric matrix; NULL: it is left out */
    const char *zero;     /* a matrix without entries; NULL: nothing is written                      */
    const struct piece *page;
};

extern const struct format formats[FORMATS];

#endif
