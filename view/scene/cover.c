#include "view/scene/cover.h"

#include <math.h>

struct cover cover_make(int width, int height, struct arena *arena)
{
    struct cover cover = {.columns = width / COVER_CELL + 1, .rows = height / COVER_CELL + 1};
    cover.drawn = arena_allocate(arena, (size_t)cover.columns * (size_t)cover.rows, sizeof *cover.drawn);
    return cover;
}

/* The cells that a range of pixels touches, cut off at the page */
static void cells(double low, double high, int count, int *first, int *last)
{
    *first = (int)fmin(fmax(floor(low / COVER_CELL), 0), count);
    *last = (int)fmin(fmax(floor(high / COVER_CELL), -1), count - 1);
}

/* On the same side of all edges */
static bool is_inside(double x, double y, int n, const double (*corner)[2])
{
    bool left = false, right = false;
    for (int i = 0; i < n; i++) {
        const double *a = corner[i], *b = corner[(i + 1) % n];
        const double side = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
        left = left || side > 0;
        right = right || side < 0;
    }
    return !(left && right);
}

void cover_add(struct cover *cover, int n, const double (*corner)[2])
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], corner[i][k]);
            high[k] = fmax(high[k], corner[i][k]);
        }
    int column, last_column, row, last_row;
    cells(low[0], high[0], cover->columns, &column, &last_column);
    cells(low[1], high[1], cover->rows, &row, &last_row);
    for (int j = row; j <= last_row; j++)
        for (int i = column; i <= last_column; i++)
            if (is_inside((i + 0.5) * COVER_CELL, (j + 0.5) * COVER_CELL, n, corner))
                cover->drawn[cover->columns * j + i] = true;
}

double cover_part(const struct cover *cover, const struct box *box)
{
    int column, last_column, row, last_row, drawn = 0;
    cells(box->x, box->x + box->width, cover->columns, &column, &last_column);
    cells(box->y, box->y + box->height, cover->rows, &row, &last_row);
    const int all = (last_row - row + 1) * (last_column - column + 1);
    for (int j = row; j <= last_row; j++)
        for (int i = column; i <= last_column; i++) drawn += cover->drawn[cover->columns * j + i];
    return all > 0 ? (double)drawn / all : 0;
}
