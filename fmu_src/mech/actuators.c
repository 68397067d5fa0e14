/* Line actuators: a force along the line through two points, each fixed in a frame of a link or in the world. (theory.md 59, 60) */
#include <math.h>
#include <string.h>

#include "math/vec.h"
#include "mech/mechanism.h"

/* A shorter line has no direction [m] */
static const double SHORTEST = 1e-9;

struct actuators *actuators_make(const struct robot *robot, struct arena *arena)
{
    struct actuators *actuators = arena_allocate(arena, 1, sizeof *actuators);
    if (actuators != NULL) actuators->line = arena_allocate(arena, (size_t)robot->n_actuators, sizeof *actuators->line);
    return actuators;
}

/* u = (p_to - p_from)/length                                                                                          (59) */
void actuators_measure(struct mechanism *m)
{
    for (int i = 0; i < m->robot->n_actuators; i++) {
        struct line *line = &m->actuators->line[i];
        for (int s = 0; s < 2; s++)
            attachment_place(m->model, m->work, &m->model->actuator_end[i][s], false, &line->end[s]);
        const double *from = line->end[0].frame.p, *to = line->end[1].frame.p;
        for (int k = 0; k < 3; k++) line->u[k] = to[k] - from[k];
        line->length = sqrt(dot3(line->u, line->u));
        for (int k = 0; k < 3; k++) line->u[k] /= line->length;
        line->rate = difference(line->u, line->end[1].frame.v, line->end[0].frame.v);
    }
}

/* F u on the point `to` and -F u on `from`, as a wrench on the frame of one of them */
static void set_wrench(const struct line *line, int s, double F, double *wrench)
{
    for (int k = 0; k < 3; k++) wrench[3 + k] = (s == 0 ? -F : F) * line->u[k];
    cross3(line->end[s].r, wrench + 3, wrench);
}

void actuators_row(struct mechanism *m, int i, double *J)
{
    memset(J, 0, (size_t)m->model->nv * sizeof *J);
    for (int s = 0; s < 2; s++) {
        struct load load = m->load[actuator_load(m->robot, i) + s];
        set_wrench(&m->actuators->line[i], s, 1, load.wrench);
        dyn_frame_force(m->model, m->work, &load, J);
    }
}

enum status actuators_apply(struct mechanism *m, const struct input *in, struct input *actuated)
{
    const int count = m->robot->n_actuators;
    *actuated = *in;
    if (count == 0) return STATUS_OK;
    dyn_position(m->model, m->work);
    actuators_measure(m);
    for (int i = 0; i < count; i++) {
        const struct line *line = &m->actuators->line[i];
        const double F = in->actuator_force != NULL ? in->actuator_force[i] : 0;
        if (!(line->length >= SHORTEST)) {
            m->actuators->failed = i;
            return STATUS_SHORT_ACTUATOR;
        }
        for (int s = 0; s < 2; s++) set_wrench(line, s, F, m->load[actuator_load(m->robot, i) + s].wrench);
    }
    actuated->n_loads = 2 * count;
    actuated->load = m->load + actuator_load(m->robot, 0);
    return STATUS_OK;
}

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

/* The change of the points in a direction */
static void move_points(struct mechanism *m, int i)
{
    for (int s = 0; s < 2; s++)
        attachment_change(m->work, m->tangent, &m->model->actuator_end[i][s], &m->actuators->line[i].end[s]);
}

/* du = (1 - u u')(dp_to - dp_from)/length */
static void direction_change(const struct line *line, double du[3])
{
    const double *from = line->end[0].change.p, *to = line->end[1].change.p, along = difference(line->u, to, from);
    for (int k = 0; k < 3; k++) du[k] = (to[k] - from[k] - along * line->u[k]) / line->length;
}

/* d(F u) = dF u + F du at points that move with their frames:  d(r x f) = (dphi x r) x f + r x df                     (60) */
void actuators_change_loads(struct mechanism *m, const struct input *in, const struct direction *direction)
{
    if (m->robot->n_actuators == 0) return;
    for (int i = 0; i < m->robot->n_actuators; i++) {
        const struct line *line = &m->actuators->line[i];
        const double F = in->actuator_force != NULL ? in->actuator_force[i] : 0,
                     dF = direction->actuator_force != NULL ? direction->actuator_force[i] : 0;
        double du[3];
        move_points(m, i);
        direction_change(line, du);
        for (int s = 0; s < 2; s++) {
            const int load = actuator_load(m->robot, i) + s;
            double *change = m->load_change[load], dr[3];
            for (int k = 0; k < 3; k++) change[3 + k] = (s == 0 ? -1 : 1) * (dF * line->u[k] + F * du[k]);
            cross3(line->end[s].change.phi, line->end[s].r, dr);
            cross3(line->end[s].r, change + 3, change);
            add_cross3(dr, m->load[load].wrench + 3, change);
        }
    }
}

void actuators_change(struct mechanism *m, int i, double *dlength, double *drate)
{
    const struct line *line = &m->actuators->line[i];
    double du[3];
    move_points(m, i);
    direction_change(line, du);
    *dlength = difference(line->u, line->end[1].change.p, line->end[0].change.p);
    *drate = difference(du, line->end[1].frame.v, line->end[0].frame.v) +
             difference(line->u, line->end[1].change.v, line->end[0].change.v);
}
