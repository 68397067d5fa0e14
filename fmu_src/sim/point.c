#include "sim/point.h"

#include <string.h>

/* The arrays and their lengths */
struct part {
    double **array;
    int count;
};
enum { PARTS = 9 };

static void list_parts(struct point *point, struct part part[PARTS])
{
    const struct model *model = point->model;
    const struct part all[PARTS] = {{&point->q, point_size(point)},
                                    {&point->tau, model->n_tau},
                                    {&point->tip_wrench, 6 * (1 + model->robot->n_frames)},
                                    {&point->prescribed_qdd, model->n_prescribed},
                                    {&point->payload_mass, model->n_links},
                                    {&point->payload_com, 3 * model->n_links},
                                    {&point->payload_inertia, 6 * model->n_links},
                                    {&point->added_mass, model->n_links},
                                    {&point->actuator_force, model->robot->n_actuators}};
    memcpy(part, all, sizeof all);
}

int point_size(const struct point *point)
{
    return point->model->nq + point->model->nv + robot_drive_value_count(point->model->robot);
}

void point_make(const struct model *model, struct arena *arena, struct point *point)
{
    struct part part[PARTS];
    *point = (struct point){.model = model};
    list_parts(point, part);
    for (int i = 0; i < PARTS; i++) *part[i].array = arena_allocate(arena, (size_t)part[i].count, sizeof(double));
    if (point->q != NULL) point->qd = point->q + model->nq;
    if (point->q != NULL) point->drive = point->qd + model->nv;
    if (point->tip_wrench != NULL) point->frame_wrench = point->tip_wrench + 6;
}

void point_clear(const struct point *point)
{
    struct point copy = *point;
    struct part part[PARTS];
    list_parts(&copy, part);
    for (int i = 0; i < PARTS; i++) memset(*part[i].array, 0, (size_t)part[i].count * sizeof(double));
}

void point_copy(const struct point *from, const struct point *to)
{
    struct point source = *from, target = *to;
    struct part given[PARTS], taken[PARTS];
    list_parts(&source, given);
    list_parts(&target, taken);
    for (int i = 0; i < PARTS; i++)
        if (given[i].count > 0) memcpy(*taken[i].array, *given[i].array, (size_t)given[i].count * sizeof(double));
}

struct input point_input(const struct point *point)
{
    return (struct input){.q = point->q,
                          .qd = point->qd,
                          .tau = point->tau,
                          .tip_wrench = point->tip_wrench,
                          .frame_wrench = point->frame_wrench,
                          .prescribed_qdd = point->prescribed_qdd,
                          .actuator_force = point->actuator_force};
}

struct direction point_direction(const struct point *seed, const double *dx)
{
    return (struct direction){.q = dx,
                              .qd = seed->qd,
                              .tau = seed->tau,
                              .tip_wrench = seed->tip_wrench,
                              .frame_wrench = seed->frame_wrench,
                              .prescribed_qdd = seed->prescribed_qdd,
                              .actuator_force = seed->actuator_force,
                              .drive = seed->drive,
                              .masses = {.payload_mass = seed->payload_mass,
                                         .payload_com = seed->payload_com,
                                         .payload_inertia = seed->payload_inertia,
                                         .added_mass = seed->added_mass}};
}
