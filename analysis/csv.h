/* Tables of numbers over time, read from CSV text. */
#ifndef ANALYSIS_CSV_H
#define ANALYSIS_CSV_H

#include "base/arena.h"
#include "base/report.h"
#include "base/status.h"

struct csv {
    const char *file; /* its name in messages                        */
    int n_columns, n_rows;
    char **name;    /* n_columns                                   */
    double *number; /* n_rows x n_columns; the first column: time  */
};

/* Importers write two rows with the same time at an event. */
enum csv_times { TIMES_INCREASE, TIMES_MAY_REPEAT };

/* Reads a file ("-": standard input) whose first column is `time`, increasing, into memory of the arena. Problems are reported with
   line and column. STATUS_BAD_INPUT, STATUS_NO_FILE, STATUS_NO_MEMORY. */
enum status csv_read(const char *file, enum csv_times times, struct arena *arena, struct report *report,
                     struct csv *csv);

#endif
