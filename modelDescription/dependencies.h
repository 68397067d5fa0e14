/* Which knowns (inputs and continuous states) an unknown (output, state derivative) depends on. Importers derive the sparsity of
   Jacobians from this, and a missing dependency is a silent zero. So a dependency is declared unless the structure of the robot or
   drive excludes it for all values of states, inputs and parameters. */
#ifndef DEPENDENCIES_H
#define DEPENDENCIES_H

#include <stdbool.h>

#include "fmu.h"

bool is_known(const struct variables *variables, const struct variable *variable);

/* For a robot, [link]: a number shared by the links whose accelerations depend on each other, -1 if the motion is prescribed. NULL:
   out of memory, or a drive. */
const int *couple_links(const struct fmu *fmu, struct arena *arena);
bool depends_on(const struct fmu *fmu, const int *group, const struct variable *unknown, const struct variable *known);

#endif
