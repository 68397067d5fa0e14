/* Tables of numbers with a header line: what simulate and inverse read and write. */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"

struct csv {
    int n_columns, n_rows;
    char **name;    /* n_columns                                  */
    double *number; /* n_rows x n_columns; the first column: time */
};

/* Reads a file whose first column is `time`, strictly increasing; prints what is wrong with line and column, nonzero then. */
int csv_read(const char *file, struct arena *arena, struct csv *csv);

/* A table as it is written: names, then rows, then the end. CSV, or JSON {"columns": [...], "rows": [[...], ...]}. */
struct table {
    FILE *stream;
    bool json;
    int n_names, n_rows;
};

void table_name(struct table *table, const char *name);
/* Numbers that read back exactly. */
void table_row(struct table *table, const double *number, int count);
void table_end(const struct table *table);

/* One line of CSV, likewise. */
void csv_write_row(FILE *stream, const double *number, int count);

#endif
