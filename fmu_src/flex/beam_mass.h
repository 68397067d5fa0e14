/* The mass of a beam that may vary along x. */
#ifndef FLEX_BEAM_MASS_H
#define FLEX_BEAM_MASS_H

#include "robot/robot.h"

/* Mass, center of mass and central inertia of the straight beam with its added mass, in F. Takes no memory. */
struct mass_properties beam_rigid(const struct beam *beam);

/* The same of the added mass alone, with factor 1. */
struct mass_properties beam_added_rigid(const struct beam *beam);

/* int rhoA dx / L, without added mass */
double beam_mean_mass_per_length(const struct beam *beam);

#endif
