/* The elements of a mechanism: their table, and what all of them do together. */
#include <string.h>

#include "math/dense.h"
#include "mech/mechanism.h"

/* ---- making ------------------------------------------------------------------------------------------------------ */

static void add_element(struct mechanism *m, const struct force_kind *kind, int part, int drive)
{
    m->element[m->n_elements++] =
        (struct force_element){.kind = kind, .part = part, .drive = drive, .load = m->n_loads};
    m->n_loads += kind->n_ends;
}

/* A new kind of element is added here, for each part of the robot that is one */
static void list_elements(struct mechanism *m)
{
    const struct robot *robot = m->robot;
    for (int a = 0; a < robot->n_lines; a++) {
        const struct robot_drive *drive = robot_drive_of_line(robot, a);
        add_element(m, &line_element, a, drive != NULL ? (int)(drive - robot->drive) : -1);
    }
    for (int d = 0; d < robot->n_drives; d++)
        if (robot->drive[d].link >= 0) add_element(m, &hinge_element, robot->drive[d].link, d);
    for (int c = 0; c < robot->n_couplings; c++)
        if (robot->coupling[c].elastic) add_element(m, &coupling_element, c, -1);
}

void elements_make(struct mechanism *m, struct arena *arena)
{
    const size_t most = (size_t)(m->robot->n_lines + m->robot->n_drives + m->robot->n_couplings),
                 nv = (size_t)m->model->nv, rows = (size_t)m->constraints->n_rows;
    struct element_rows *r = &m->rows;
    m->element = arena_allocate(arena, most, sizeof *m->element);
    if (arena->failed) return;
    list_elements(m);
    const size_t count = (size_t)m->n_elements;
    for (int i = 0; i < m->n_elements && !arena->failed; i++) {
        struct force_element *e = &m->element[i];
        e->end = arena_allocate(arena, (size_t)e->kind->n_ends, sizeof *e->end);
        e->J = e->kind->on_joint ? NULL : arena_allocate(arena, nv, sizeof *e->J);
    }
    r->active = arena_allocate(arena, count, sizeof *r->active);
    r->Y = arena_allocate(arena, count * nv, sizeof *r->Y);
    r->mu = arena_allocate(arena, count * rows, sizeof *r->mu);
    r->T = arena_allocate(arena, count * count, sizeof *r->T);
    r->pivot = arena_allocate(arena, count, sizeof *r->pivot);
    r->rhs = arena_allocate(arena, count, sizeof *r->rhs);
}

void elements_place(struct mechanism *m)
{
    for (int i = 0; i < m->n_elements; i++) {
        struct force_element *e = &m->element[i];
        if (e->kind->ends != NULL) e->anchor = e->kind->ends(m->model, e->part);
        for (int s = 0; s < e->kind->n_ends; s++)
            m->load[e->load + s] = (struct load){e->anchor[s].link, e->anchor[s].section, {0}};
    }
}

struct force_element *element_of_drive(struct mechanism *m, int drive)
{
    return &m->element[m->drives.element[drive]];
}

/* ---- forces ------------------------------------------------------------------------------------------------------ */

enum status elements_measure(struct mechanism *m, const struct input *in)
{
    m->work->done |= MECH_MEASURED;
    for (int i = 0; i < m->n_elements; i++) {
        const enum status status = m->element[i].kind->measure(m, in, &m->element[i]);
        m->failed_element = i;
        if (status != STATUS_OK) return status;
    }
    return STATUS_OK;
}

enum status elements_act(struct mechanism *m, const struct input *in)
{
    const bool driven = in->drive != NULL;
    if (m->joint_force != NULL) memset(m->joint_force, 0, (size_t)m->model->nv * sizeof *m->joint_force);
    enum status status = elements_measure(m, in);
    if (status == STATUS_OK && driven) status = drives_evaluate(m, in);
    if (status != STATUS_OK) return status;
    for (int i = 0; i < m->n_elements; i++) {
        struct force_element *e = &m->element[i];
        if (e->drive < 0 || !driven) e->kind->force(m, in, e);
        if (e->kind->set_loads != NULL) e->kind->set_loads(m, e);
        else e->kind->add_force(m, e, e->F, m->joint_force);
    }
    return STATUS_OK;
}

void element_row(const struct mechanism *m, const struct force_element *e, double *row)
{
    NEEDS(m->work, MECH_MEASURED);
    memset(row, 0, (size_t)m->model->nv * sizeof *row);
    e->kind->add_force(m, e, 1, row);
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

void elements_change_loads(struct mechanism *m, const struct input *in, const struct direction *direction)
{
    const bool driven = in->drive != NULL && direction->drive != NULL;
    if (m->joint_force_change != NULL)
        memset(m->joint_force_change, 0, (size_t)m->model->nv * sizeof *m->joint_force_change);
    for (int i = 0; i < m->n_elements; i++) m->element[i].kind->change(m, direction, &m->element[i]);
    if (driven) drives_change(m, in, direction);
    for (int i = 0; i < m->n_elements; i++) {
        struct force_element *e = &m->element[i];
        if (e->drive < 0 || !driven) {
            e->dF = e->by_x * e->dx + e->by_rate * e->drate;
            if (e->kind->force_change != NULL) e->dF += e->kind->force_change(direction, e);
        }
        if (e->kind->change_loads != NULL) e->kind->change_loads(m, e);
        else e->kind->add_force(m, e, e->dF, m->joint_force_change);
    }
}

/* ---- the Newton matrix ------------------------------------------------------------------------------------------- */

double element_velocity(const struct mechanism *m, const struct force_element *e, const double *v)
{
    return e->J == NULL ? v[m->model->link[e->part].v] : span_dot(e->span, e->J, v);
}

void element_add_force(const struct mechanism *m, const struct force_element *e, double F, double *force)
{
    if (e->J == NULL) force[m->model->link[e->part].v] += F;
    else span_add(e->span, F, e->J, force);
}
