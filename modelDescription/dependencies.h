/* Which knowns (inputs and continuous states) an unknown (output, state derivative) depends on: for a robot from the rows of its
   variable table, for a drive from the structure of its tangent. */
#ifndef DEPENDENCIES_H
#define DEPENDENCIES_H

#include <stdbool.h>

#include "fmu.h"

bool dependencies_is_known(const struct variable *variable);

/* The structure of a robot, for dependencies_have(). NULL: out of memory, or a drive. */
const struct structure *dependencies_structure(const struct fmu *fmu, struct arena *arena);
bool dependencies_have(const struct fmu *fmu, const struct structure *structure, const struct variable *unknown,
                       const struct variable *known);

/* The same for the unknowns of the initialization, whose knowns are inputs and parameters. */
bool dependencies_is_initial_known(const struct variable *variable);
struct start_dependence dependencies_at_start(const struct fmu *fmu, const struct structure *structure,
                                              const struct variable *unknown);
bool dependencies_have_at_start(const struct fmu *fmu, const struct structure *structure,
                                const struct variable *unknown, const struct start_dependence *by,
                                const struct variable *known);

#endif
