#include "analysis/failure.h"

enum status report_status(struct report *report, enum status status)
{
    if (status != STATUS_OK) report_add(report, REPORT_ERROR, "%s", status_text(status));
    return status;
}

enum status report_failure(struct report *report, const struct mechanism *m, enum status status)
{
    const char *why = status_text(status);
    if (status == STATUS_NOT_POSITIVE) {
        const struct link *link = &m->robot->link[m->work->failed_link];
        report_add(report, REPORT_ERROR,
                   "%s: nothing resists the motion of link '%s' (joint '%s'): give it or what it carries mass, inertia "
                   "or motor_inertia",
                   why, link->name, link->joint.name);
    } else if (status == STATUS_SHORT_ACTUATOR) {
        const int a = m->actuators->failed;
        report_add(report, REPORT_ERROR, "actuators[%d] (%s): %s", a, m->robot->actuator[a].name, why);
    } else if (status == STATUS_SINGULAR_LOOP) {
        const int i = m->constraints->failed;
        report_add(report, REPORT_ERROR, "loops[%d] (%s): %s", i, m->robot->loop[i].name, why);
    } else {
        report_status(report, status);
    }
    return status;
}

static void forward_error(void *context, enum report_level level, const char *text)
{
    struct report *to = context;
    if (level == REPORT_ERROR) report_add(to, level, "%s", text);
}

struct report errors_only(struct report *to)
{
    return (struct report){.line = forward_error, .context = to};
}
