#include "controller/sensors.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"

static struct anchor anchor_of(const struct model *model, const struct sensor *sensor)
{
    return sensor->frame == 0 ? model->tip_frame : model->frame[sensor->frame - 1];
}

/* ---- which sensors make sense -------------------------------------------------------------------------------------------- */

/* Whether a frame moves with the modes of a link: the frame, or the chain of links to it, is attached to a section of the link */
static bool moves_with(const struct model *model, const struct anchor *anchor, int link)
{
    int section = anchor->section;
    for (int i = anchor->link; i >= 0; section = model->link[i].mount, i = model->link[i].parent)
        if (i == link) return model->link[i].m > 0 && section >= 0;
    return false;
}

/* Whether some mode has a strain at the gauge, relative to rounding errors: slopes and curvatures of shapes are of the order of powers
   of 1/length */
static bool has_strain(const struct model *model, const struct sensor *sensor)
{
    static const double NONE = 1e-9;
    const int frame = sensor->frame - 1, row = sensor->shows == ELONGATION ? 3 : sensor->k;
    if (frame < 0 || model->strain[frame] == NULL) return false;
    const int link = model->frame[frame].link;
    const double length = model->robot->link[link].beam.length;
    for (int k = 0; k < model->link[link].m; k++)
        if (fabs(model->strain[frame][k][row]) * length * fmax(length, 1) > NONE) return true;
    return false;
}

bool sensor_sees_load(const struct model *model, const struct sensor *sensor)
{
    const struct anchor at = anchor_of(model, sensor);
    if (sensor->shows != SPECIFIC_FORCE)
        return moves_with(model, &model->tip_frame, at.link) && has_strain(model, sensor);
    for (int i = 0; i < model->n_links; i++)
        if (moves_with(model, &at, i) && moves_with(model, &model->tip_frame, i)) return true;
    return false;
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

enum status sensors_make(struct sensors *s, int n, const struct sensor *sensor, struct mechanism *arm,
                         struct arena *arena)
{
    s->n = n;
    s->sensor = sensor;
    s->arm = arm;
    for (int i = 0; i < n; i++) s->inertial = s->inertial || sensor[i].shows == SPECIFIC_FORCE;
    arena_arrays(arena, (size_t)arm->model->nv, ARRAYS(&s->qdd, &s->dqdd, &s->force));
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

enum status sensors_place(struct sensors *s, const struct input *in)
{
    struct mechanism *m = s->arm;
    s->in = *in;
    dyn_configuration(m->model, m->work, in->q);
    if (!s->inertial) return STATUS_OK; /* strains depend on the elastic coordinates alone */
    const enum status status = mechanism_forward(m, in, s->qdd);
    if (status != STATUS_OK) return status;
    dyn_inverse(m->model, m->work, in, s->qdd, s->force);
    dyn_velocity(m->model, m->work, in);
    dyn_observe(m->model, m->work, in, s->qdd);
    dyn_tangent_state(m->model, m->work, m->tangent, in, s->qdd);
    dyn_tangent_observe_state(m->model, m->work, m->tangent, in, s->qdd);
    return STATUS_OK;
}

/* The value of a gauge for elastic coordinates or their change, in x of all nv coordinates: joints have one coordinate each */
static double strain(const struct model *model, const struct sensor *sensor, const double *x)
{
    double strains[STRAINS];
    const int frame = sensor->frame - 1;
    model_strain(model, frame, x + model->link[model->frame[frame].link].eta_v, strains);
    return strains[sensor->shows == ELONGATION ? 3 : sensor->k];
}

/* a - g and the frame's orientation */
static void proper_acceleration(const struct sensors *s, const struct anchor *anchor, double R[9], double a[3])
{
    struct frame_motion motion;
    dyn_frame(s->arm->model, s->arm->work, anchor, &motion);
    copy9(motion.R, R);
    copy3(motion.a, a);
    axpy3(-1, s->arm->model->gravity, a);
}

void sensors_values(const struct sensors *s, double *value)
{
    for (int i = 0; i < s->n; i++) {
        const struct sensor *sensor = &s->sensor[i];
        const struct anchor anchor = anchor_of(s->arm->model, sensor);
        double R[9], a[3], f[3];
        if (sensor->shows != SPECIFIC_FORCE) {
            value[i] = strain(s->arm->model, sensor, s->in.q);
            continue;
        }
        proper_acceleration(s, &anchor, R, a);
        tmul3(R, a, f);
        value[i] = f[sensor->k];
    }
}

void sensors_change(struct sensors *s, const struct direction *direction, double *change)
{
    struct mechanism *m = s->arm;
    if (s->inertial) {
        mechanism_tangent(m, &s->in, direction, true, s->dqdd);
        dyn_tangent_observe(m->model, m->work, m->tangent);
    }
    for (int i = 0; i < s->n; i++) {
        const struct sensor *sensor = &s->sensor[i];
        const struct anchor anchor = anchor_of(m->model, sensor);
        struct frame_derivative d;
        double R[9], a[3], df[3];
        if (sensor->shows != SPECIFIC_FORCE) {
            change[i] = direction->q != NULL ? strain(m->model, sensor, direction->q) : 0;
            continue;
        }
        proper_acceleration(s, &anchor, R, a);
        dyn_tangent_frame(m->work, m->tangent, &anchor, &d);
        tangent_in_own_axes(R, d.phi, a, d.a, df);
        change[i] = df[sensor->k];
    }
}
