#include "analysis/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/failure.h"
#include "analysis/names.h"
#include "analysis/rows.h"

/* ---- which joints ------------------------------------------------------------------------------------------------------------- */

bool motion_gives(const struct robot *robot, bool passive_too, int link)
{
    const struct joint *joint = &robot->link[link].joint;
    return joint_moves(joint) && (passive_too || !joint->passive || joint_actuated(robot, link));
}

int motion_count(const struct robot *robot, bool passive_too)
{
    int count = 0;
    for (int i = 0; i < robot->n_links; i++)
        if (motion_gives(robot, passive_too, i)) count += joint_velocities(&robot->link[i].joint);
    return count;
}

const char *motion_joint(const struct robot *robot, bool passive_too)
{
    if (passive_too) return "joint that moves";
    for (int i = 0; i < robot->n_links; i++)
        if (joint_actuated(robot, i)) return "joint with a drive or moved by lines";
    return "joint with a drive";
}

enum status motion_possible(const struct robot *robot, bool passive_too, struct report *report)
{
    for (int i = 0; i < robot->n_links; i++) {
        const struct joint *joint = &robot->link[i].joint;
        if (!motion_gives(robot, passive_too, i) || joint_has_coordinates(joint)) continue;
        report_add(report, REPORT_ERROR,
                   "joint '%s' is %s: a motion can be given for joints with one or two coordinates only; make it "
                   "passive, or use several joints",
                   joint->name, joint_type_name(joint));
        return STATUS_BAD_INPUT;
    }
    return STATUS_OK;
}

/* ---- a table --------------------------------------------------------------------------------------------------------------- */

static const double *row_of(const struct motion *motion, int row)
{
    return motion->table.number + (size_t)motion->table.n_columns * (size_t)row;
}

/* Numbers the coordinates of all joints */
static enum status number_coordinates(struct motion *motion, struct report *report, int *count)
{
    const struct robot *robot = motion->robot;
    *count = 0;
    motion->first = arena_allocate(&motion->arena, (size_t)robot->n_links, sizeof(int));
    if (motion->first == NULL) return failure_status(report, STATUS_NO_MEMORY);
    for (int i = 0; i < robot->n_links; i++) {
        motion->first[i] = *count;
        *count += joint_velocities(&robot->link[i].joint);
    }
    return motion_possible(robot, motion->passive_too, report);
}

enum status motion_from_table(const struct robot *robot, bool passive_too, const struct csv *table,
                              struct report *report, struct motion *motion)
{
    static const char *const what[3] = {"q", "qd", "qdd"};
    int count, missing = 0;
    *motion = (struct motion){.robot = robot, .passive_too = passive_too, .table = *table, .n_rows = table->n_rows};
    const enum status status = number_coordinates(motion, report, &count);
    if (status != STATUS_OK) return status;
    motion->column = arena_allocate(&motion->arena, 3 * (size_t)count, sizeof(int));
    if (motion->column == NULL) return failure_status(report, STATUS_NO_MEMORY);
    for (int i = 0; i < robot->n_links; i++) {
        const struct joint *joint = &robot->link[i].joint;
        const int numbers = motion_gives(robot, passive_too, i) ? 3 * joint_velocities(joint) : 0;
        for (int k = 0; k < numbers; k++) {
            char name[NAME_SIZE];
            if (numbers > 3) snprintf(name, sizeof name, "%s.%s[%d]", joint->name, what[k % 3], k / 3 + 1);
            else snprintf(name, sizeof name, "%s.%s", joint->name, what[k % 3]);
            int column = table->n_columns - 1;
            while (column > 0 && strcmp(table->name[column], name) != 0) column--;
            motion->column[3 * motion->first[i] + k] = column;
            if (column > 0) continue;
            report_add(report, REPORT_ERROR, "%s: the column %s is missing: q, qd and qdd of every %s are needed",
                       table->file, name, motion_joint(robot, passive_too));
            missing++;
        }
    }
    return missing == 0 ? STATUS_OK : STATUS_BAD_INPUT;
}

/* Slope of a column at a row: of the parabola through it and its two neighbors, at an end through the next two */
static double slope(const struct motion *motion, int column, int row)
{
    const int last = motion->n_rows - 1, middle = row == 0 ? 1 : row == last ? last - 1 : row;
    if (last < 2)
        return last == 0 ? 0 : (row_of(motion, 1)[column] - row_of(motion, 0)[column]) / motion_row(motion, 1);
    const double *a = row_of(motion, middle - 1), *b = row_of(motion, middle), *c = row_of(motion, middle + 1);
    const double before = b[0] - a[0], after = c[0] - b[0], d = (b[column] - a[column]) / before,
                 e = (c[column] - b[column]) / after, bend = (e - d) / (before + after);
    return row < middle ? d - bend * before : row > middle ? e + bend * after : d + bend * before;
}

/* Each of q, qd, qdd is a cubic. The end slopes of q are the rows of qd, those of qd the rows of qdd, and those of qdd come from
   differences. All three are of fourth order and consistent to that order, and rounding of q is not amplified into accelerations. */
static void interpolate(struct motion *motion, double t, int coordinate, double x[3])
{
    /* the interval that contains t, searched from that of the last time; the last interval has no end */
    int i = motion->interval;
    while (i > 0 && t < motion_row(motion, i)) i--;
    while (i < motion->n_rows - 2 && t >= motion_row(motion, i + 1)) i++;
    motion->interval = i;
    const int next = i + 1 < motion->n_rows ? i + 1 : i, *column = motion->column + 3 * coordinate;
    const double *a = row_of(motion, i), *b = row_of(motion, next), h = b[0] - a[0];
    const double s = h > 0 ? (t - motion_row(motion, i)) / h : 0;
    for (int d = 0; d < 2; d++)
        x[d] = rows_cubic_at(h, s, a[column[d]], b[column[d]], a[column[d + 1]], b[column[d + 1]]);
    x[2] = rows_cubic_at(h, s, a[column[2]], b[column[2]], slope(motion, column[2], i), slope(motion, column[2], next));
}

/* ---- a cycloid ------------------------------------------------------------------------------------------------------------- */

enum status motion_cycloid(const struct robot *robot, bool passive_too, const double *k, const double *T, double until,
                           double step, struct report *report, struct motion *motion)
{
    int count;
    *motion = (struct motion){.robot = robot, .passive_too = passive_too, .until = until, .step = step};
    motion->n_rows = (int)ceil(until / step * (1 - 1e-12)) + 1;
    const enum status status = number_coordinates(motion, report, &count);
    if (status != STATUS_OK) return status;
    motion->k = arena_allocate(&motion->arena, (size_t)count, sizeof(double));
    motion->T = arena_allocate(&motion->arena, (size_t)count, sizeof(double));
    if (motion->arena.failed) return failure_status(report, STATUS_NO_MEMORY);
    for (int i = 0, given = 0; i < robot->n_links; i++)
        for (int c = 0; motion_gives(robot, passive_too, i) && c < joint_velocities(&robot->link[i].joint); c++) {
            motion->k[motion->first[i] + c] = k[given];
            motion->T[motion->first[i] + c] = T[given++];
        }
    return STATUS_OK;
}

/* ---- both --------------------------------------------------------------------------------------------------------------------- */

double motion_time(const struct motion *motion, int row)
{
    if (motion->column != NULL) return row_of(motion, row)[0];
    return row < motion->n_rows - 1 ? motion->step * row : motion->until;
}

double motion_row(const struct motion *motion, int row)
{
    return motion_time(motion, row) - motion_time(motion, 0);
}

void motion_at(void *context, double t, int link, int k, double x[3])
{
    struct motion *motion = context;
    const int coordinate = motion->first[link] + k;
    if (motion->column != NULL) {
        interpolate(motion, t, coordinate, x);
        return;
    }
    const double pi = 3.14159265358979323846, rate = motion->k[coordinate], T = motion->T[coordinate];
    x[0] = motion->robot->link[link].joint.start_position[k] + rate * (t - T / pi * sin(pi * t / T));
    x[1] = rate * (1 - cos(pi * t / T));
    x[2] = rate * pi / T * sin(pi * t / T);
}
