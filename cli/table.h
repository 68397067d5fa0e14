/* Tables of numbers with a header line: what simulate and inverse write. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stdio.h>

/* A table that is written in this order: names, rows, end. CSV, or JSON {"columns": [...], "rows": [[...], ...]}. */
struct table {
    FILE *stream;
    bool json;
    int n_names, n_rows;
};

void table_name(struct table *table, const char *name);
/* A time or a position and `count` numbers more, all printed so that they read back exactly. */
void table_row(struct table *table, double first, const double *number, int count);
void table_end(const struct table *table);

#endif
