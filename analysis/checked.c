#include "analysis/checked.h"

#include <math.h>

enum status checked_update(struct instance *sim, double t, struct report *report)
{
    const enum status status = instance_update(sim);
    if (status != STATUS_OK) {
        char reason[REASON_SIZE];
        report_add(report, REPORT_ERROR, "at t = %.9g s: %s", t, instance_reason(sim, status, reason));
        return status;
    }
    const struct variables *v = instance_variables(sim);
    for (int r = 0; r < v->n_values; r++) {
        if (isfinite(instance_get(sim, r))) continue;
        report_add(report, REPORT_ERROR, "at t = %.9g s: %s is not finite", t, v->by_reference[r]->name);
        return STATUS_NOT_FINITE;
    }
    return STATUS_OK;
}
