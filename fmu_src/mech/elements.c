/* The elements of a mechanism: their table, and what all of them do together. */
#include <string.h>

#include "math/dense.h"
#include "mech/mechanism.h"

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* A new kind of element is added here, for each part of the robot that is one */
int elements_list(const struct robot *robot, struct arena *arena, struct force_element **list)
{
    const int most = robot->n_lines + robot->n_drives + robot->n_couplings;
    struct force_element *e = *list = arena_allocate(arena, (size_t)most, sizeof *e);
    if (arena->failed) return 0;
    for (int i = 0; i < robot->n_lines; i++) {
        const struct robot_drive *drive = robot_drive_of_line(robot, i);
        *e++ = (struct force_element){.kind = &line_element,
                                      .name = robot->line[i].name,
                                      .part = i,
                                      .site = robot->line[i].site,
                                      .drive = drive != NULL ? (int)(drive - robot->drive) : -1};
    }
    for (int d = 0; d < robot->n_drives; d++) {
        const int link = robot->drive[d].link;
        if (link >= 0)
            *e++ = (struct force_element){
                .kind = &hinge_element, .name = robot->link[link].joint.name, .part = link, .drive = d};
    }
    for (int c = 0; c < robot->n_couplings; c++)
        if (robot->coupling[c].elastic)
            *e++ = (struct force_element){
                .kind = &coupling_element, .name = robot->coupling[c].name, .part = c, .drive = -1};
    return (int)(e - *list);
}

void elements_make(struct mechanism *m, struct arena *arena)
{
    const size_t nv = (size_t)m->model->nv, rows = (size_t)m->constraints->n_rows;
    struct element_rows *r = &m->rows;
    m->n_elements = elements_list(m->robot, arena, &m->element);
    const size_t count = (size_t)m->n_elements;
    for (int i = 0; i < m->n_elements && !arena->failed; i++) {
        struct force_element *e = &m->element[i];
        e->load = m->n_loads;
        m->n_loads += e->kind->n_ends;
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
        e->anchor = m->model->site + e->site;
        for (int s = 0; s < e->kind->n_ends; s++)
            m->load[e->load + s] = (struct load){e->anchor[s].link, e->anchor[s].section, {0}};
    }
}

void element_numbers(const struct force_element *e, bool changes, double number[ELEMENT_NUMBERS])
{
    number[ELEMENT_X] = changes ? e->dx : e->x;
    number[ELEMENT_RATE] = changes ? e->drate : e->rate;
    number[ELEMENT_FORCE] = changes ? e->dF : e->F;
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
