/* A table of inputs: the reader, and curves through its columns. */
#define _GNU_SOURCE
#include "analysis/csv.h"

#include <sys/mman.h>

#include "analysis/rows.h"
#include "fuzz.h"

static void use(const struct csv *csv, struct arena *arena)
{
    const size_t n = (size_t)csv->n_rows;
    double *t = arena_allocate(arena, n + 1, sizeof *t), *x = arena_allocate(arena, n + 1, sizeof *x);
    double *d1 = arena_allocate(arena, n + 1, sizeof *d1), *d2 = arena_allocate(arena, n + 1, sizeof *d2);
    bool *kink = arena_allocate(arena, n + 1, sizeof *kink);
    if (arena->failed || n == 0) return;
    for (int c = 0; c < csv->n_columns; c++) {
        for (size_t r = 0; r < n; r++) {
            t[r] = csv->number[r * (size_t)csv->n_columns];
            x[r] = csv->number[r * (size_t)csv->n_columns + (size_t)c];
        }
        rows_differentiate(csv->n_rows, t, x, d1, d2);
        rows_spline(csv->n_rows, t, x, d1, d2);
        rows_kinks(csv->n_rows, t, x, 1e-6, kink);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct report silent = {0};
    struct arena arena = {0};
    struct csv csv;
    char name[32];
    const int file = memfd_create("csv", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(name, sizeof name, "/dev/fd/%d", file);
    if (csv_read(name, TIMES_INCREASE, &arena, &silent, &csv) == STATUS_OK) use(&csv, &arena);
    arena_release(&arena);
    (void)close(file);
    return 0;
}
