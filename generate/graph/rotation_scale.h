/* The rotation vector of a quaternion (w, v) is s v, |s v| <= pi, with y = v.v:
       s = 2 sign(w) atan2(|v|, |w|)/|v|,   ds/dw = -2/(w^2 + y),   ds/dy = (w/(w^2 + y) - s/2)/y */
#ifndef SYMBOLIC_ROTATION_SCALE_H
#define SYMBOLIC_ROTATION_SCALE_H

#include <stdbool.h>
#include <stdio.h>

double rotation_scale(double w, double y);
double rotation_scale_slope(double w, double y); /* ds/dy */

/* Their definitions in generated code. */
void rotation_scale_write(FILE *file, bool slope);

#endif
