#include "analysis/failure.h"

#include <math.h>

enum status failure_status(struct report *report, enum status status)
{
    if (status != STATUS_OK) report_add(report, REPORT_ERROR, "%s", status_text(status));
    return status;
}

enum status failure_report(struct report *report, const struct mechanism *m, enum status status)
{
    char text[REASON_SIZE];
    if (status != STATUS_OK) report_add(report, REPORT_ERROR, "%s", mechanism_reason(m, status, text));
    return status;
}

enum status failure_not_finite(struct report *report, const char *numbers)
{
    report_add(report, REPORT_ERROR,
               "%s are not finite: numbers of the robot or the state are too large or too small to compute with",
               numbers);
    return STATUS_NOT_FINITE;
}

static void forward_error(void *context, enum report_level level, const char *text)
{
    struct report *to = context;
    if (level == REPORT_ERROR) report_add(to, level, "%s", text);
}

struct report failure_errors_only(struct report *to)
{
    return (struct report){.line = forward_error, .context = to};
}

enum status analysis_update(struct instance *sim, double t, struct report *report)
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
