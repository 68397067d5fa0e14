/* The numbers that are the state of an instance, and nothing else: one after the other, without pointers. */
#include <string.h>

#include "sim/course.h"

struct part {
    double *numbers;
    int count;
};

enum { SCALARS = 7, PARTS = 8 };

static void list_parts(struct course *course, double scalars[SCALARS], struct part part[PARTS])
{
    const int inputs = course->n_inputs;
    const struct part all[PARTS] = {{course->value, course->variables->n_values},
                                    {course->state, course->n_numbers},
                                    {course->now.u, inputs},
                                    {course->now.rate, inputs},
                                    {course->given, inputs},
                                    {course->before.u, inputs},
                                    {course->before.rate, inputs},
                                    {scalars, SCALARS}};
    memcpy(part, all, sizeof all);
}

size_t course_state_size(const struct course *course)
{
    const int numbers = course->variables->n_values + course->n_numbers + 5 * course->n_inputs + SCALARS;
    return (size_t)numbers * sizeof(double);
}

void course_save(struct course *course, unsigned char *bytes)
{
    struct part part[PARTS];
    if (!course->restart && course->integrator != NULL)
        course->first_step = integrator_step_size(course->integrator); /* from here on, this instance restarts too */
    course->restart = true;
    double scalars[SCALARS] = {course->start_time, course->local,    course->carry,      course->first_step,
                               course->tolerance,  course->now.from, course->before.from};
    list_parts(course, scalars, part);
    for (int i = 0; i < PARTS; i++) {
        const size_t size = (size_t)part[i].count * sizeof(double);
        if (size > 0) memcpy(bytes, part[i].numbers, size);
        bytes += size;
    }
}

double course_restore(struct course *course, const unsigned char *bytes)
{
    struct part part[PARTS];
    double scalars[SCALARS];
    list_parts(course, scalars, part);
    for (int i = 0; i < PARTS; i++) {
        const size_t size = (size_t)part[i].count * sizeof(double);
        if (size > 0) memcpy(part[i].numbers, bytes, size);
        bytes += size;
    }
    course->start_time = scalars[0];
    course->local = scalars[1];
    course->carry = scalars[2];
    course->first_step = scalars[3];
    course->now.from = scalars[5];
    course->before.from = scalars[6];
    course_interrupt(course);
    return scalars[4];
}
