#include "sim/point.h"

#include <string.h>

void point_make(const struct model *model, struct arena *arena, struct point *point)
{
    const struct {
        double **array;
        int count;
    } part[] = {{&point->q, model->nq},
                {&point->qd, model->nv},
                {&point->prescribed_qdd, model->n_prescribed},
                {&point->drive, robot_drive_value_count(model->robot)},
                {&point->tau, model->n_tau},
                {&point->line_force, model->robot->n_lines},
                {&point->tip_wrench, 6},
                {&point->frame_wrench, 6 * model->robot->n_frames},
                {&point->payload_mass, model->n_links},
                {&point->payload_com, 3 * model->n_links},
                {&point->payload_inertia, 6 * model->n_links},
                {&point->added_mass, model->n_links}};
    *point = (struct point){.model = model};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) point->size += (size_t)part[i].count;
    double *next = arena_allocate(arena, point->size, sizeof *next);
    for (size_t i = 0; i < sizeof part / sizeof *part && next != NULL; next += part[i++].count) *part[i].array = next;
}

void point_clear(const struct point *point)
{
    memset(point->q, 0, point->size * sizeof(double));
}

void point_copy(const struct point *from, const struct point *to)
{
    memcpy(to->q, from->q, from->size * sizeof(double));
}

struct input point_input(const struct point *point)
{
    return (struct input){.q = point->q,
                          .qd = point->qd,
                          .tau = point->tau,
                          .tip_wrench = point->tip_wrench,
                          .frame_wrench = point->frame_wrench,
                          .prescribed_qdd = point->prescribed_qdd,
                          .line_force = point->line_force};
}

struct direction point_direction(const struct point *seed, const double *dx)
{
    return (struct direction){.q = dx,
                              .qd = seed->qd,
                              .tau = seed->tau,
                              .tip_wrench = seed->tip_wrench,
                              .frame_wrench = seed->frame_wrench,
                              .prescribed_qdd = seed->prescribed_qdd,
                              .line_force = seed->line_force,
                              .drive = seed->drive,
                              .masses = {.payload_mass = seed->payload_mass,
                                         .payload_com = seed->payload_com,
                                         .payload_inertia = seed->payload_inertia,
                                         .added_mass = seed->added_mass}};
}
