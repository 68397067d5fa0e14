#include "flex/strain.h"

#include "flex/shapes.h"

enum status strain_make(const struct beam *beam, double x, struct arena *arena, double (**columns)[STRAINS])
{
    /* theta = (psi, -w', v'), then a: which derivative of a family's shape enters which row, with which sign */
    static const int row[FAMILY_COUNT] = {2, 1, 0, 3}, order[FAMILY_COUNT] = {2, 2, 1, 1};
    static const double sign[FAMILY_COUNT] = {1, -1, 1, 1};
    size_t m = 0;
    for (int family = 0; family < FAMILY_COUNT; family++) m += (size_t)beam->family[family].count;
    double(*column)[STRAINS] = arena_allocate(arena, m, sizeof *column);
    *columns = column;
    if (column == NULL) return STATUS_NO_MEMORY;
    for (int family = 0; family < FAMILY_COUNT; family++)
        for (int k = 1; k <= beam->family[family].count; k++, column++) {
            struct shape_function shape;
            double value[3];
            shape_make(beam, (enum family)family, k, &shape);
            shape_value(&shape, x, value);
            (*column)[row[family]] = sign[family] * value[order[family]];
        }
    return STATUS_OK;
}
