/* Tables of numbers with a header line: what simulate and inverse read and write. */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdio.h>

#include "base/arena.h"

struct csv {
    int n_columns, n_rows;
    char **name;    /* n_columns                                  */
    double *number; /* n_rows x n_columns; the first column: time */
};

/* Reads a file whose first column is `time`, strictly increasing; prints what is wrong with line and column, nonzero then. */
int csv_read(const char *file, struct arena *arena, struct csv *csv);

/* One line of numbers that read back exactly. */
void csv_write_row(FILE *stream, const double *number, int count);

#endif
