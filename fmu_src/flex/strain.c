#include "flex/strain.h"

#include <string.h>

#include "flex/shapes.h"

/* Which of (psi', -w'', v'', a') a family changes, with its sign and order of derivative */
static const struct {
    int row, derivative;
    double sign;
} strain_of[FAMILY_COUNT] = {
    [FAMILY_Y] = {2, 2, 1}, [FAMILY_Z] = {1, 2, -1}, [FAMILY_TWIST] = {0, 1, 1}, [FAMILY_AXIAL] = {3, 1, 1}};

void beam_strain(const struct beam *beam, double x, double *column)
{
    for (int family = 0; family < FAMILY_COUNT; family++)
        for (int k = 1; k <= beam->family[family].count; k++, column += 4) {
            struct shape_function shape;
            double value[3];
            shape_make(beam, (enum family)family, k, &shape);
            shape_value(&shape, x, value);
            memset(column, 0, 4 * sizeof *column);
            column[strain_of[family].row] = strain_of[family].sign * value[strain_of[family].derivative];
        }
}

void strain_sum(const double *column, int m, const double *eta, double curvature[3], double *elongation)
{
    memset(curvature, 0, 3 * sizeof *curvature);
    *elongation = 0;
    for (int k = 0; k < m; k++, column += 4) {
        for (int i = 0; i < 3; i++) curvature[i] += column[i] * eta[k];
        *elongation += column[3] * eta[k];
    }
}
