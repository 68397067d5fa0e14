#include "dependencies.h"

#include "companion.h"

bool is_known(const struct variable *variable)
{
    return variable->causality == CAUSALITY_INPUT || variable->state >= 0;
}

const struct structure *dependency_structure(const struct fmu *fmu, struct arena *arena)
{
    return fmu->model != NULL ? structure_make(fmu->model, arena) : NULL;
}

bool depends_on(const struct fmu *fmu, const struct structure *structure, const struct variable *unknown,
                const struct variable *known)
{
    return fmu->drive != NULL ? drive_depends(fmu->drive, fmu->variables, unknown, known)
                              : variable_depends(unknown, known, structure);
}
