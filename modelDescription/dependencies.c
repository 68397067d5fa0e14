#include "dependencies.h"

#include "companion/companion.h"

bool dependencies_is_known(const struct variable *variable)
{
    return variable->causality == CAUSALITY_INPUT || variable->state >= 0;
}

const struct structure *dependencies_structure(const struct fmu *fmu, struct arena *arena)
{
    return fmu->model != NULL ? structure_make(fmu->model, arena) : NULL;
}

bool dependencies_have(const struct fmu *fmu, const struct structure *structure, const struct variable *unknown,
                       const struct variable *known)
{
    if (fmu->variables->discrete) return false; /* outputs are those of the last sample */
    return fmu->drive != NULL ? companion_depends(fmu->drive, fmu->variables, unknown, known)
                              : variable_depends(unknown, known, structure);
}

bool dependencies_is_initial_known(const struct variable *variable)
{
    return variable->causality == CAUSALITY_INPUT || variable->causality == CAUSALITY_PARAMETER;
}

struct start_dependence dependencies_at_start(const struct fmu *fmu, const struct structure *structure,
                                              const struct variable *unknown)
{
    const bool unused = fmu->drive != NULL || fmu->variables->discrete;
    return unused ? (struct start_dependence){0} : variable_start_dependence(unknown, fmu->variables, structure);
}

bool dependencies_have_at_start(const struct fmu *fmu, const struct structure *structure,
                                const struct variable *unknown, const struct start_dependence *by,
                                const struct variable *known)
{
    if (fmu->variables->discrete) return true;
    return fmu->drive != NULL ? companion_depends_at_start(fmu->drive, fmu->variables, unknown, known)
                              : variable_depends_at_start(unknown, known, by, fmu->variables, structure);
}
