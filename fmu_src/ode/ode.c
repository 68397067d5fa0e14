#include "ode/ode.h"

#include <string.h>

#include "math/quaternion.h"

void ode_position_rates(const struct ode *ode, const double *y, double *rate)
{
    const double *v = y + ode->n_x;
    int i = 0, j = 0; /* the next position and the next velocity */
    for (int k = 0; k < ode->n_quaternions; k++) {
        const struct quaternion_place *place = &ode->quaternion[k];
        while (i < place->x) rate[i++] = v[j++];
        quaternion_rate(y + i, v + place->v, rate + i);
        i = place->x + 4;
        j = place->v + 3;
    }
    memcpy(rate + i, v + j, (size_t)(ode->n_x - i) * sizeof *rate);
}
