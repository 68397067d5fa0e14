#include "analysis/least_squares.h"

#include "analysis/lapack.h"

/* Singular values below this fraction of the largest count as zero */
static const double RANK_FRACTION = 1e-10;

enum status least_squares(int rows, int columns, double *A, double *x, struct arena *arena, int *rank)
{
    double *singular = arena_allocate(arena, (size_t)(rows < columns ? rows : columns), sizeof *singular);
    const int longest = rows > columns ? rows : columns;
    lapack_int found = 0;
    *rank = 0;
    if (arena->failed) return STATUS_NO_MEMORY;
    if (rows == 0 || columns == 0) return STATUS_OK;
    const int info =
        LAPACKE_dgelsd(LAPACK_COL_MAJOR, rows, columns, 1, A, rows, x, longest, singular, RANK_FRACTION, &found);
    *rank = (int)found;
    return lapack_status(info, STATUS_LINEAR_ALGEBRA);
}
