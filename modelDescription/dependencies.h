/* Which knowns (inputs and continuous states) an unknown (output, state derivative) depends on: for a robot from the rows of its
   variable table, for a drive from the structure of its tangent. */
#ifndef DEPENDENCIES_H
#define DEPENDENCIES_H

#include <stdbool.h>

#include "fmu.h"

bool is_known(const struct variable *variable);

/* The structure of a robot, for depends_on(). NULL: out of memory, or a drive. */
const struct structure *dependency_structure(const struct fmu *fmu, struct arena *arena);
bool depends_on(const struct fmu *fmu, const struct structure *structure, const struct variable *unknown,
                const struct variable *known);

/* The same for the unknowns of the initialization, whose knowns are inputs and parameters. */
bool is_initial_known(const struct variable *variable);
struct start_dependence dependence_at_start(const struct fmu *fmu, const struct structure *structure,
                                            const struct variable *unknown);
bool depends_at_start(const struct fmu *fmu, const struct structure *structure, const struct variable *unknown,
                      const struct start_dependence *by, const struct variable *known);

#endif
