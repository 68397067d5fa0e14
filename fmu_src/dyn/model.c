#include "dyn/model.h"

#include <string.h>

#include "dyn/sites.h"
#include "flex/beam_mass.h"
#include "math/vec.h"

/* Inertia about the origin of the frame: J = I + m (|c|^2 1 - c c') */
static struct rigid about_origin(const struct mass_properties *body)
{
    const double m = body->mass, *c = body->com, *I = body->inertia;
    struct rigid r = {.m = m, .h = {m * c[0], m * c[1], m * c[2]}};
    r.J[0] = I[0] + m * (c[1] * c[1] + c[2] * c[2]);
    r.J[1] = I[1] + m * (c[0] * c[0] + c[2] * c[2]);
    r.J[2] = I[2] + m * (c[0] * c[0] + c[1] * c[1]);
    r.J[3] = I[3] - m * c[0] * c[1];
    r.J[4] = I[4] - m * c[0] * c[2];
    r.J[5] = I[5] - m * c[1] * c[2];
    return r;
}

struct pose dyn_pose_compose(const struct pose *a, const struct pose *b)
{
    struct pose c;
    matmul3(a->R, b->R, c.R);
    copy3(a->p, c.p);
    add_mul3(a->R, b->p, c.p);
    return c;
}

static void make_rigid(const struct link *link, struct link_model *lm)
{
    const struct mass_properties beam = link->type == BODY_BEAM ? beam_rigid(&link->beam) : (struct mass_properties){0};
    lm->tip = link->rigid_tip;
    if (link->type == BODY_BEAM) {
        memset(lm->tip.p, 0, sizeof lm->tip.p);
        lm->tip.p[0] = link->beam.length;
        identity3(lm->tip.R);
    }
    struct mass_properties payload = {.mass = link->payload.mass}; /* in axes of O */
    copy3(lm->tip.p, payload.com);
    add_mul3(lm->tip.R, link->payload.com, payload.com);
    rotate_sym3(lm->tip.R, link->payload.inertia, payload.inertia);
    struct rigid hub = about_origin(&link->hub), load = about_origin(&payload);
    lm->rigid = about_origin(link->type == BODY_BEAM ? &beam : &link->rigid);
    if (link->type == BODY_BEAM) {
        const struct mass_properties added = beam_added_rigid(&link->beam);
        lm->added = about_origin(&added);
    }
    rigid_add(&lm->rigid, &hub);
    rigid_add(&lm->rigid, &load);
}

static enum status make_flexible(struct model *model, int i)
{
    const struct link *link = &model->robot->link[i];
    struct link_model *lm = &model->link[i];
    struct body *body = arena_allocate(&model->arena, 1, sizeof *body);
    if (body == NULL) return STATUS_NO_MEMORY;
    lm->body = body;
    lm->rigid = about_origin(&link->hub);
    lm->has_hub = link->has_hub;
    lm->payload = about_origin(&link->payload);
    lm->has_payload = link->has_payload;
    identity3(lm->tip.R);
    const enum status status = body_make(link, &model->arena, body);
    return status == STATUS_OK ? sites_make_sections(model, i) : status;
}

/* The joint frame at position zero in the parent frame, the joint's motion subspace, and the numbers of the link's coordinates */
static void make_joint(const struct joint *joint, const struct anchor *mount, struct model *model,
                       struct link_model *lm)
{
    const struct pose origin = mount->offset ? dyn_pose_compose(&mount->at, &joint->origin) : joint->origin;
    copy9(origin.R, lm->R);
    copy3(origin.p, lm->t);
    lm->mount = mount->section;
    double I[9];
    identity3(I);
    lm->turned = memcmp(lm->R, I, sizeof I) != 0;
    lm->offset = lm->t[0] != 0 || lm->t[1] != 0 || lm->t[2] != 0;

    joint_model_make(joint, &lm->joint);
    const int nv = lm->joint.nv;
    lm->passive = joint->passive;
    lm->tau = nv > 0 ? model->n_tau : -1;
    lm->prescribed = nv > 0 && joint->prescribed ? model->n_prescribed : -1;
    lm->q = model->nq;
    lm->v = model->nv;
    lm->eta_q = model->nq + lm->joint.nq;
    lm->eta_v = model->nv + nv;
    model->n_tau += nv;
    model->n_prescribed += joint->prescribed ? nv : 0;
    model->nq = lm->eta_q + lm->m;
    model->nv = lm->eta_v + lm->m;
}

static enum status make_link(struct model *model, int i, struct report *report)
{
    const struct link *link = &model->robot->link[i];
    struct link_model *lm = &model->link[i];
    lm->parent = link->mount.link;
    lm->m = robot_link_modes(link);
    enum status status = STATUS_OK;
    if (lm->m == 0) make_rigid(link, lm);
    else status = make_flexible(model, i);
    if (lm->body != NULL) body_report(link, i, status, lm->body, report);
    if (status == STATUS_NOT_POSITIVE) return STATUS_BAD_ROBOT;
    const struct anchor mount = sites_anchor(model, &link->mount);
    make_joint(&link->joint, &mount, model, lm);
    lm->mover = lm->joint.nv > 0 ? i : lm->parent >= 0 ? model->link[lm->parent].mover : -1;
    if (lm->parent != i - 1) model->branched = true;
    return status;
}

struct anchor model_tip(const struct model *model, int link)
{
    struct anchor anchor = model_hinge(link);
    if (link < 0) return anchor;
    const struct link_model *lm = &model->link[link];
    anchor.section = lm->body == NULL ? -1 : 0;
    anchor.offset = lm->body == NULL;
    anchor.at = lm->tip;
    return anchor;
}

struct anchor model_hinge(int link)
{
    struct anchor anchor = {.link = link, .section = -1};
    identity3(anchor.at.R);
    return anchor;
}

/* What is attached to which O and section */
static void find_children(struct model *model)
{
    for (int i = model->n_links - 1; i >= 0; i--) {
        struct link_model *lm = &model->link[i];
        if (lm->parent < 0) continue;
        struct link_model *parent = &model->link[lm->parent];
        bool *has_child = lm->mount < 0 ? &parent->has_child : &parent->section[lm->mount].has_child;
        lm->last_child = !*has_child;
        *has_child = true;
        if (lm->mount >= 0) parent->section[lm->mount].has_inertia = true;
    }
}

/* More coordinates than this are a mistake; n x n still fits an int. */
enum { MOST_COORDINATES = 20000 };

enum status model_make(const struct robot *robot, struct model **made, struct report *report)
{
    struct arena arena = {0};
    *made = NULL;
    struct model *model = arena_allocate(&arena, 1, sizeof *model);
    struct link_model *link = arena_allocate(&arena, (size_t)robot->n_links, sizeof *link);
    if (arena.failed) {
        arena_release(&arena);
        return STATUS_NO_MEMORY;
    }
    model->robot = robot;
    model->n_links = robot->n_links;
    model->tip = robot->tip;
    model->terms = robot->elastic_terms;
    copy3(robot->gravity, model->gravity);
    model->link = link;
    model->arena = arena;
    enum status status = STATUS_OK, worst = STATUS_OK;
    for (int i = 0; i < robot->n_links; i++) {
        status = make_link(model, i, report);
        if (status != STATUS_OK) worst = status;
        if (status == STATUS_NO_MEMORY) break;
    }
    if (worst == STATUS_OK && model->nq > MOST_COORDINATES) {
        report_add(report, REPORT_ERROR, "links: %d coordinates; at most %d are supported", model->nq,
                   MOST_COORDINATES);
        worst = STATUS_BAD_ROBOT;
    }
    if (worst == STATUS_OK) worst = sites_make_anchors(model);
    if (worst != STATUS_OK) {
        model_free(model);
        return worst;
    }
    find_children(model);
    model->tip_frame = model_tip(model, model->tip);
    *made = model;
    return STATUS_OK;
}

void model_free(struct model *model)
{
    if (model == NULL) return;
    struct arena arena = model->arena; /* the model is allocated in it */
    arena_release(&arena);
}

void model_set_masses(struct model *model, int i)
{
    const struct link *link = &model->robot->link[i];
    struct link_model *lm = &model->link[i];
    if (lm->body == NULL) make_rigid(link, lm);
    else lm->payload = about_origin(&link->payload);
    if (lm->body != NULL && lm->body->added != NULL)
        body_set_added_mass((struct body *)lm->body, link->beam.added_mass_per_length.factor);
}

/* ---- positions --------------------------------------------------------------------------------------------------- */

void model_move(const struct model *model, double *q, const double *dx, double fraction)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        double step[MOST_VELOCITIES];
        for (int k = 0; k < lm->joint.nv; k++) step[k] = fraction * dx[lm->v + k];
        joint_move(&lm->joint, q + lm->q, step);
        for (int k = 0; k < lm->m; k++) q[lm->eta_q + k] += fraction * dx[lm->eta_v + k];
    }
}

void model_tangent(const struct model *model, const double *q, const double *dq, double *dx)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        joint_tangent(&lm->joint, q + lm->q, dq + lm->q, dx + lm->v);
        for (int k = 0; k < lm->m; k++) dx[lm->eta_v + k] = dq[lm->eta_q + k];
    }
}

void model_position_change(const struct model *model, const double *q, const double *dx, double *dq)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        joint_position_rate(&lm->joint, q + lm->q, dx + lm->v, dq + lm->q);
        for (int k = 0; k < lm->m; k++) dq[lm->eta_q + k] = dx[lm->eta_v + k];
    }
}

void model_difference(const struct model *model, const double *from, const double *to, double *dx)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        joint_difference(&lm->joint, from + lm->q, to + lm->q, dx + lm->v);
        for (int k = 0; k < lm->m; k++) dx[lm->eta_v + k] = to[lm->eta_q + k] - from[lm->eta_q + k];
    }
}

void model_normalize(const struct model *model, double *q)
{
    for (int i = 0; i < model->n_links; i++) joint_normalize(&model->robot->link[i].joint, q + model->link[i].q);
}

void model_start(const struct model *model, double *q, double *qd)
{
    memset(q, 0, (size_t)model->nq * sizeof *q);
    memset(qd, 0, (size_t)model->nv * sizeof *qd);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct joint *joint = &model->robot->link[i].joint;
        memcpy(q + lm->q, joint->start_position, (size_t)lm->joint.nq * sizeof *q);
        memcpy(qd + lm->v, joint->start_velocity, (size_t)lm->joint.nv * sizeof *qd);
    }
}
