/* Drives of joints with one coordinate: x is the position of the joint. */
#include "mech/mechanism.h"

static const struct link_model *link_of(const struct mechanism *m, const struct force_element *e)
{
    return &m->model->link[e->part];
}

static enum status measure(struct mechanism *m, const struct input *in, struct force_element *e)
{
    e->x = in->q[link_of(m, e)->q];
    e->rate = in->qd != NULL ? in->qd[link_of(m, e)->v] : 0;
    return STATUS_OK;
}

/* Without a drive its torque is in tau */
static void force(struct mechanism *m, const struct input *in, struct force_element *e)
{
    (void)m, (void)in;
    e->F = 0;
}

static bool moved_by(const struct robot *robot, int part, int link, int k)
{
    (void)robot, (void)k;
    return link == part;
}

static void add_force(const struct mechanism *m, const struct force_element *e, double F, double *force)
{
    force[link_of(m, e)->v] += F;
}

static void change(struct mechanism *m, const struct direction *direction, struct force_element *e)
{
    const int v = link_of(m, e)->v;
    e->dx = direction->q != NULL ? direction->q[v] : 0;
    e->drate = direction->qd != NULL ? direction->qd[v] : 0;
}

const struct force_kind hinge_element = {.part = "links",
                                         .on_joint = true,
                                         .moved_by = moved_by,
                                         .measure = measure,
                                         .force = force,
                                         .add_force = add_force,
                                         .change = change};
