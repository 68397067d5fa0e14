#include <math.h>

#include "analysis/closure.h"
#include "analysis/modes.h"
#include "analysis/summary.h"

enum { MOST_COORDINATES = 150, MOST_DOUBLED = 25 };
static const double SMALL_CHANGE = 0.01;

/* Doubles the counts of a robot; false: there are none that can be doubled */
static bool double_counts(struct robot *robot)
{
    bool doubled = false;
    for (int i = 0; i < robot->n_links; i++)
        for (int f = 0; robot->link[i].type == BODY_BEAM && f < FAMILY_COUNT; f++) {
            struct mode_family *family = &robot->link[i].beam.family[f];
            const bool set_by_shape = family->shape == SHAPE_HERMITE || family->shape == SHAPE_LINEAR;
            if (set_by_shape || family->count == 0 || family->count > MOST_DOUBLED) continue;
            family->count *= 2;
            doubled = true;
        }
    return doubled;
}

/* The lowest frequency that is not zero, at the start with driven joints locked; 0: there is none [Hz] */
static enum status first_frequency(const struct robot *robot, double *frequency)
{
    struct report silent = {0};
    struct mechanism mechanism = {0};
    struct state start = {0};
    struct modes modes = {0};
    enum status status = mechanism_make(robot, &mechanism, &silent);
    if (status == STATUS_OK) status = state_start(mechanism.model, &silent, &start);
    if (status == STATUS_OK) status = closure_close(&mechanism, &start, NULL, &silent);
    if (status == STATUS_OK) status = modes_make(&mechanism, false, &silent, &modes);
    if (status == STATUS_OK && modes.motion.n > 0) status = modes_at(&modes, &start.input, &silent);
    *frequency = 0;
    for (int i = 0; status == STATUS_OK && i < modes.eigen.n && *frequency == 0; i++)
        *frequency = modes.eigen.mode[i].frequency;
    modes_free(&modes);
    arena_release(&start.arena);
    mechanism_free(&mechanism);
    return status;
}

/* A robot without a first frequency is not checked */
static enum status compare(const struct robot *robot, const struct robot *twice, struct report *report)
{
    double f, doubled;
    enum status status = first_frequency(robot, &f);
    if (status != STATUS_OK || !(f > 0)) return status == STATUS_NO_MEMORY ? status : STATUS_OK;
    status = first_frequency(twice, &doubled);
    const double change = (doubled - f) / f;
    if (status == STATUS_NO_MEMORY) return status;
    if (status != STATUS_OK)
        report_add(
            report, REPORT_WARNING,
            "convergence of the first frequency, %.4g Hz, not checked: with twice the `count` of every mode family: %s",
            f, status_text(status));
    else if (fabs(change) > SMALL_CHANGE)
        report_add(
            report, REPORT_WARNING,
            "the first frequency with joints locked, %.4g Hz at the start, would be %.4g Hz (%+.3g %%) with twice the "
            "`count` of every mode family; usual is a change below %g %%. Use more modes, or craig-bampton, which "
            "converges fastest",
            f, doubled, 100 * change, 100 * SMALL_CHANGE);
    return STATUS_OK;
}

enum status convergence_check(const struct robot *robot, const struct summary *summary, struct report *report)
{
    struct robot *twice;
    enum status status = robot_clone(robot, &twice);
    if (status != STATUS_OK) return status;
    if (!double_counts(twice)) status = STATUS_OK;
    else if (summary->n > MOST_COORDINATES)
        report_add(
            report, REPORT_WARNING,
            "convergence of the first frequency with twice the modes is skipped: %d coordinates, checked up to %d",
            summary->n, (int)MOST_COORDINATES);
    else status = compare(robot, twice, report);
    robot_free(twice);
    return status;
}
