/* What several numbers of a robot must fulfill together, after one of them has changed. Messages use the names of the parameters. */
#include "robot/robot.h"
#include "robot/semidefinite.h"

/* A section with a wall is hollow. Returns the number of errors, as all of these */
static int check_section(const struct link *link, struct report *report)
{
    double across;
    if (link->type != BODY_BEAM || !link->beam.has_section) return 0;
    if (beam_section_without_hollow(&link->beam.section, &across) < 0) return 0;
    report_add(report, REPORT_ERROR, "%s.section.wall = %.9g: must be less than half of the outer dimension %.9g [m]",
               link->name, link->beam.section.wall.factor, across);
    return 1;
}

static int check_payload(const struct link *link, struct report *report)
{
    const double *I = link->payload.inertia;
    if (!link->has_payload || semidefinite_tensor(I)) return 0;
    report_add(report, REPORT_ERROR,
               "%s.payload.inertia = %.9g, %.9g, %.9g, %.9g, %.9g, %.9g: must be positive semidefinite [kg.m2]",
               link->name, I[0], I[1], I[2], I[3], I[4], I[5]);
    return 1;
}

int robot_check(const struct robot *robot, struct report *report)
{
    int errors = 0;
    for (int i = 0; i < robot->n_links; i++)
        errors += check_section(&robot->link[i], report) + check_payload(&robot->link[i], report);
    return errors;
}
