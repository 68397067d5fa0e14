/* Conditions on several numbers of a robot, checked after one of them has changed. Messages use the names of the parameters. */
#include "robot/robot.h"
#include "robot/semidefinite.h"

int robot_check(const struct robot *robot, struct report *report)
{
    const int before = report->errors;
    for (int i = 0; i < robot->n_links; i++) {
        const struct link *link = &robot->link[i];
        const double *I = link->payload.inertia;
        double outer;
        if (link->type == BODY_BEAM && link->beam.has_section &&
            beam_section_without_hollow(&link->beam.section, &outer) >= 0)
            report_add(report, REPORT_ERROR,
                       "%s.section.wall = %.9g: must be less than half of the outer dimension %.9g [m]", link->name,
                       link->beam.section.wall.factor, outer);
        if (link->has_payload && !semidefinite_tensor(I))
            report_add(report, REPORT_ERROR,
                       "%s.payload.inertia = %.9g, %.9g, %.9g, %.9g, %.9g, %.9g: must be positive semidefinite [kg.m2]",
                       link->name, I[0], I[1], I[2], I[3], I[4], I[5]);
    }
    return report->errors - before;
}
