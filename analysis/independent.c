#include "analysis/independent.h"

#include <math.h>

/* A coordinate of SOLVE_FIRST is chosen if its pivot is at least this fraction of the largest */
static const double GOOD_FRACTION = 1e-3;
/* Pivots below this fraction of the first are rounding */
static const double PIVOT_FRACTION = 1e-12;

struct pivot {
    int row, column;
    double size;
};

/* The largest entry among rows from `first` on and columns whose wish is `least` or more */
static struct pivot largest(int n, int k, const double *G, int first, const enum solve_for *wish, const int *row_of,
                            enum solve_for least)
{
    struct pivot best = {-1, -1, 0};
    for (int i = first; i < k; i++)
        for (int j = 0; j < n; j++)
            if (row_of[j] < 0 && wish[j] >= least && fabs(G[n * i + j]) > best.size)
                best = (struct pivot){i, j, fabs(G[n * i + j])};
    return best;
}

/* Row operations after which column `column` of G is a unit column, with its 1 in row `row` */
static void eliminate(int n, int k, double *G, int row, int column)
{
    double *own = G + n * row;
    const double pivot = own[column];
    for (int j = 0; j < n; j++) own[j] /= pivot;
    for (int i = 0; i < k; i++) {
        const double factor = G[n * i + column];
        if (i == row || factor == 0) continue;
        for (int j = 0; j < n; j++) G[n * i + j] -= factor * own[j];
        G[n * i + column] = 0;
    }
}

bool independent_coordinates(int n, int k, double *G, const enum solve_for *wish, int *row_of, int *free_one, double *N)
{
    double first = 0;
    for (int j = 0; j < n; j++) row_of[j] = -1;
    for (int row = 0; row < k; row++) {
        const struct pivot wished = largest(n, k, G, row, wish, row_of, SOLVE_FIRST),
                           any = largest(n, k, G, row, wish, row_of, SOLVE_IF_NEEDED),
                           pivot = wished.size > GOOD_FRACTION * any.size ? wished : any;
        if (row == 0) first = pivot.size;
        if (pivot.column < 0 || !(pivot.size > PIVOT_FRACTION * first)) return false;
        for (int j = 0; j < n && pivot.row != row; j++) {
            const double x = G[n * row + j];
            G[n * row + j] = G[n * pivot.row + j];
            G[n * pivot.row + j] = x;
        }
        eliminate(n, k, G, row, pivot.column);
        row_of[pivot.column] = row;
    }

    /* x_solved = -G_free x_free */
    const int r = n - k;
    for (int j = 0, c = 0; j < n; j++)
        if (row_of[j] < 0) free_one[c++] = j;
    for (int j = 0; j < n; j++)
        for (int c = 0; c < r; c++) N[r * j + c] = row_of[j] >= 0 ? -G[n * row_of[j] + free_one[c]] : free_one[c] == j;
    return true;
}
