/* Lines: a force along the line through two points, each fixed in a frame of a link or in the world. (theory.md 59, 60) */
#include <math.h>

#include "math/vec.h"
#include "mech/mechanism.h"

/* A shorter line has no direction [m] */
static const double SHORTEST = 1e-9;

/* u = (p_to - p_from)/length                                                                                          (59) */
static enum status measure(struct mechanism *m, const struct input *in, struct force_element *e)
{
    NEEDS(m->work, in->drive != NULL ? DYN_VELOCITY : DYN_POSITION);
    for (int s = 0; s < 2; s++) attachment_place_point(m->work, &e->anchor[s], &e->end[s]);
    const double *from = e->end[0].frame.p, *to = e->end[1].frame.p;
    for (int k = 0; k < 3; k++) e->u[k] = to[k] - from[k];
    e->x = sqrt(dot3(e->u, e->u));
    for (int k = 0; k < 3; k++) e->u[k] /= e->x;
    e->rate = difference(e->u, e->end[1].frame.v, e->end[0].frame.v);
    return e->x >= SHORTEST ? STATUS_OK : STATUS_SHORT_LINE;
}

static void force(struct mechanism *m, const struct input *in, struct force_element *e)
{
    (void)m;
    e->F = in->line_force != NULL ? in->line_force[e->part] : 0;
}

/* F u on the point `to` and -F u on `from`, as a wrench on the frame of one of them */
static void set_wrench(const struct force_element *e, int s, double F, double *wrench)
{
    for (int k = 0; k < 3; k++) wrench[3 + k] = (s == 0 ? -F : F) * e->u[k];
    cross3(e->end[s].r, wrench + 3, wrench);
}

static void set_loads(struct mechanism *m, const struct force_element *e)
{
    for (int s = 0; s < 2; s++) set_wrench(e, s, e->F, m->load[e->load + s].wrench);
}

static void add_force(const struct mechanism *m, const struct force_element *e, double F, double *force)
{
    for (int s = 0; s < 2; s++) {
        struct load load = m->load[e->load + s];
        set_wrench(e, s, F, load.wrench);
        dyn_frame_force(m->model, m->work, &load, force);
    }
}

/* du = (1 - u u')(dp_to - dp_from)/length */
static void change(struct mechanism *m, const struct direction *direction, struct force_element *e)
{
    (void)direction;
    for (int s = 0; s < 2; s++) attachment_change(m->work, m->tangent, &e->anchor[s], &e->end[s]);
    const struct attachment *from = &e->end[0], *to = &e->end[1];
    e->dx = difference(e->u, to->change.p, from->change.p);
    for (int k = 0; k < 3; k++) e->du[k] = (to->change.p[k] - from->change.p[k] - e->dx * e->u[k]) / e->x;
    e->drate = difference(e->du, to->frame.v, from->frame.v) + difference(e->u, to->change.v, from->change.v);
}

/* d(F u) = dF u + F du at points that move with their frames:  d(r x f) = (dphi x r) x f + r x df                     (60) */
static void change_loads(struct mechanism *m, const struct force_element *e)
{
    for (int s = 0; s < 2; s++) {
        double *change = m->load_change[e->load + s], dr[3];
        for (int k = 0; k < 3; k++) change[3 + k] = (s == 0 ? -1 : 1) * (e->dF * e->u[k] + e->F * e->du[k]);
        cross3(e->end[s].change.phi, e->end[s].r, dr);
        cross3(e->end[s].r, change + 3, change);
        add_cross3(dr, m->load[e->load + s].wrench + 3, change);
    }
}

static double force_change(const struct direction *direction, const struct force_element *e)
{
    return direction->line_force != NULL ? direction->line_force[e->part] : 0;
}

static const struct element_output outputs[] = {
    {"length", "m", "m", ELEMENT_X, "distance between the actuator's two points"},
    {"rate", "m/s", "m/s", ELEMENT_RATE, "rate of the actuator's length"},
    {"force", "N", "N", ELEMENT_FORCE, "force of the line actuator, from the drive, pushing its two points apart"}};

const struct force_kind line_element = {.part = "actuators",
                                        .given = true,
                                        .n_ends = 2,
                                        .n_outputs = 3,
                                        .output = outputs,
                                        .measure = measure,
                                        .force = force,
                                        .set_loads = set_loads,
                                        .add_force = add_force,
                                        .change = change,
                                        .change_loads = change_loads,
                                        .force_change = force_change};
