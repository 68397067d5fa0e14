/* Which knowns (inputs and continuous states) an unknown (output, state derivative) depends on. Importers take the sparsity of
   Jacobians from this, where one left out is a silent zero: so a dependency is declared unless the structure of the robot or drive
   excludes it for any values of states, inputs and parameters. */
#ifndef DEPENDENCIES_H
#define DEPENDENCIES_H

#include <stdbool.h>

#include "fmu.h"

bool is_known(const struct variables *variables, const struct variable *variable);

/* Of a robot, [link]: a number that links whose accelerations depend on each other have in common, -1 where the motion is
   prescribed. NULL: no memory, or a drive. */
const int *couple_links(const struct fmu *fmu, struct arena *arena);
bool depends_on(const struct fmu *fmu, const int *group, const struct variable *unknown, const struct variable *known);

#endif
