/* An instance in the command line: what simulate, inverse and commands about an operating point share, and drive with them. */
#ifndef CLI_INSTANCE_H
#define CLI_INSTANCE_H

#include <stdio.h>

#include "base/arena.h"
#include "options.h"
#include "sim/sim.h"

/* ---- tables of numbers with a header line ------------------------------------------------------------------------ */

/* A table that is written in this order: names, rows, end. CSV, or JSON {"columns": [...], "rows": [[...], ...]}. */
struct table {
    FILE *stream;
    bool json;
    int n_names, n_rows;
};

void cli_table_name(struct table *table, const char *name);
/* A time or a position and `count` numbers more, all printed so that they read back exactly. */
void cli_table_row(struct table *table, double first, const double *number, int count);
void cli_table_end(const struct table *table);

/* Computed variables of an instance as columns of a table: outputs, then locals, each once. */
struct columns {
    int n;
    int *reference;
    double *row; /* n */
};

/* The row of an input or a parameter; -1 where there is none, which is reported. `place`: for the message, where the name was given. */
int cli_find_variable(const char *place, const struct variables *variables, enum causality causality, const char *name,
                      struct arena *arena);

/* The results of the functions below are exit codes; errors go to standard error. */

/* The i-th --set NAME=VALUE; the name is in the memory of the command. */
int cli_settings_split(const struct common *options, int i, const char **name, double *value);
/* Sets the parameters that --set names. */
int cli_settings_apply(const struct common *options, struct instance *sim);

int cli_columns_choose(const struct common *options, const struct instance *sim, struct columns *columns);
void cli_columns_write_names(const struct columns *columns, const struct instance *sim, struct table *table);
/* Of an instance that is up to date. */
void cli_columns_write_row(const struct columns *columns, struct instance *sim, double t, struct table *table);

/* Applies --hold, --free, --hold-lines and --free-lines; they override the robot file. An exit code; names that the robot does
   not have are reported. */
int cli_holding_apply(const struct common *options, struct instance *sim);

#endif
