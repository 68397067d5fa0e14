#include "analysis/failure.h"

enum status report_status(struct report *report, enum status status)
{
    if (status != STATUS_OK) report_add(report, REPORT_ERROR, "%s", status_text(status));
    return status;
}

static void report_not_positive(struct report *report, const struct link *link)
{
    const struct joint *joint = &link->joint;
    const char *why = status_text(STATUS_NOT_POSITIVE);
    if (joint_quaternion(joint) >= 0) /* a slender link resists no spin about its axis */
        report_add(report, REPORT_ERROR,
                   "%s: nothing resists some motion of link '%s' (%s joint '%s'): give it or what it carries mass, and "
                   "inertia about every axis",
                   why, link->name, joint_type_name(joint), joint->name);
    else
        report_add(report, REPORT_ERROR,
                   "%s: nothing resists the motion of link '%s' (joint '%s'): give it or what it carries mass, inertia "
                   "or motor_inertia",
                   why, link->name, joint->name);
}

enum status report_failure(struct report *report, const struct mechanism *m, enum status status)
{
    const char *why = status_text(status);
    if (status == STATUS_NOT_POSITIVE) {
        report_not_positive(report, &m->robot->link[m->work->failed_link]);
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
