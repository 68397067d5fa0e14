/* Curvature and elongation of a beam: what strain gauges at a station show. */
#ifndef FLEX_STRAIN_H
#define FLEX_STRAIN_H

#include "base/arena.h"
#include "base/status.h"
#include "robot/robot.h"

enum { STRAINS = 4 };

/* m columns (psi', -w'', v''; a') at x: curvature theta'(x) and elongation per eta, both linear in eta; without foreshortening. */
enum status strain_make(const struct beam *beam, double x, struct arena *arena, double (**columns)[STRAINS]);

#endif
