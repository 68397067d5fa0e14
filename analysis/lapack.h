/* Status codes for LAPACKE, whose functions allocate memory of their own. */
#ifndef ANALYSIS_LAPACK_H
#define ANALYSIS_LAPACK_H

#include <lapacke.h>

#include "base/status.h"

/* `failure`: the status for any other reason */
static inline enum status lapack_status(lapack_int info, enum status failure)
{
    if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR) return STATUS_NO_MEMORY;
    return info == 0 ? STATUS_OK : failure;
}

#endif
