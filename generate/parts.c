#include "generate/parts.h"
#include "generate/drives.h"
#include "generate/geometric.h"

#include <math.h>
#include <string.h>

#include "flex/beam_mass.h"
#include "math/vec.h"

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static struct pose identity_pose(void)
{
    return (struct pose){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

/* C = A' B */
static void transposed_product(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 9; i++) {
        C[i] = 0;
        for (int k = 0; k < 3; k++) C[i] += A[3 * k + i / 3] * B[3 * k + i % 3];
    }
}

struct pose parts_pose_relative(const struct pose *a, const struct pose *b)
{
    struct pose c;
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = b->p[i] - a->p[i];
    tmul3(a->R, d, c.p);
    transposed_product(a->R, b->R, c.R);
    return c;
}

static bool normalized(double x[3])
{
    const double norm = sqrt(dot3(x, x));
    if (norm < 1e-9) return false;
    for (int i = 0; i < 3; i++) x[i] /= norm;
    return true;
}

static void perpendicular_part(const double z[3], double x[3])
{
    const double along = dot3(x, z);
    for (int i = 0; i < 3; i++) x[i] -= along * z[i];
}

/* ---- which links are parts --------------------------------------------------------------------------------------- */

/* Parts are links that are flexible or have a joint that moves. Other links belong to the part that carries their joint */
static void list_parts(struct robot_parts *parts)
{
    for (int i = 0; i < parts->model->n_links; i++) {
        const struct link_model *lm = &parts->model->link[i];
        struct host carrier = {.part = -1, .section = -1, .at = identity_pose()};
        struct pose joint;
        copy9(lm->R, joint.R);
        copy3(lm->t, joint.p);
        if (lm->parent >= 0) carrier = parts->host[lm->parent];
        if (lm->parent >= 0 && lm->mount >= 0) carrier.section = lm->mount; /* of a flexible link, which is a part */
        carrier.at = dyn_pose_compose(&carrier.at, &joint);
        parts->host[i] = carrier;
        if (lm->joint.nv == 0 && lm->body == NULL) continue;
        parts->host[i] = (struct host){.part = parts->n, .section = -1, .at = identity_pose()};
        parts->part[parts->n++] = (struct link_part){.link = i,
                                                     .lm = lm,
                                                     .parent = carrier.part,
                                                     .mount = carrier.section,
                                                     .C = carrier.at,
                                                     .own = identity_pose(),
                                                     .m = lm->m,
                                                     .n_sections = lm->n_sections};
    }
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* The joint axis, and a point on it, of the first part whose joint is on O of part `in`, or on the world if `in` < 0 */
static bool first_axis(const struct robot_parts *parts, int in, double axis[3], double point[3])
{
    for (int i = 0; i < parts->n; i++) {
        const struct link_part *child = &parts->part[i];
        double own[3];
        if (child->parent != in || child->mount >= 0) continue;
        copy3(child->C.p, point);
        if (!path_joint_axis(&child->lm->joint, false, own)) return false;
        mul3(child->C.R, own, axis);
        return true;
    }
    memset(point, 0, 3 * sizeof *point);
    return false;
}

/* x is along the common normal of the joint axis z and the next joint axis, or points to that axis; the origin is where the normal starts */
static void choose_frame(const struct robot_parts *parts, int i)
{
    struct link_part *part = &parts->part[i];
    double z[3], w[3], p[3], x[3], y[3], shift = 0;
    if (part->lm->body != NULL || !path_joint_axis(&part->lm->joint, true, z)) return;
    const bool axis = first_axis(parts, i, w, p);
    if (axis) cross3(z, w, x);
    if (axis && normalized(x)) {
        const double wz = dot3(w, z);
        shift = (dot3(p, z) - dot3(p, w) * wz) / (1 - wz * wz);
    } else {
        copy3(p, x);
        perpendicular_part(z, x);
        if (!normalized(x)) {
            copy3(part->lm->rigid.h, x);
            perpendicular_part(z, x);
        }
        if (!normalized(x)) {
            double A[9];
            path_align_z(z, A);
            for (int k = 0; k < 3; k++) x[k] = A[3 * k];
        }
    }
    perpendicular_part(z, x);
    normalized(x);
    cross3(z, x, y);
    for (int k = 0; k < 3; k++) {
        part->own.R[3 * k] = x[k];
        part->own.R[3 * k + 1] = y[k];
        part->own.R[3 * k + 2] = z[k];
        part->own.p[k] = shift * z[k];
    }
}

/* Our world frame is the joint frame of the first part on the world */
static void choose_world(struct robot_parts *parts)
{
    double w[3], A[9];
    parts->world = identity_pose();
    if (parts->n == 0 || parts->part[0].parent >= 0) return;
    const struct link_part *first = &parts->part[0];
    parts->world = first->C;
    if (!path_joint_axis(&first->lm->joint, false, w)) return;
    path_align_z(w, A);
    matmul3(first->C.R, A, parts->world.R);
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

/* Slides the joint frame along its axis z such that one component of its position becomes zero; returns the distance back */
static double slide_to_normal(double p[3], const double z[3])
{
    int k = -1;
    for (int i = 0; i < 3; i++)
        if (fabs(p[i]) > 1e-15 && fabs(z[i]) > 0.3 && (k < 0 || fabs(z[i]) > fabs(z[k]))) k = i;
    if (k < 0) return 0;
    const double by = -p[k] / z[k];
    for (int i = 0; i < 3; i++) {
        p[i] += by * z[i];
        if (fabs(p[i]) < 1e-14 * fabs(by)) p[i] = 0;
    }
    return -by;
}

static void make_path(struct robot_parts *parts, struct link_part *part)
{
    struct graph *g = parts->g;
    const struct joint_model *joint = &part->lm->joint;
    struct path *path = &part->path;
    const struct link_part *parent = part->parent >= 0 ? &parts->part[part->parent] : NULL;
    const struct pose from = part->mount >= 0 ? identity_pose() : parent != NULL ? parent->own : parts->world;
    const struct pose C = parts_pose_relative(&from, &part->C);
    double first[3], last[3], A[9], A2[9], M[9], to[9], p[3], z[3], back = 0;
    path_align_z(path_joint_axis(joint, false, first) ? first : (const double[3]){0, 0, 1}, A);
    path_align_z(path_joint_axis(joint, true, last) ? last : (const double[3]){0, 0, 1}, A2);
    if (joint->nv == 0) copy9(part->own.R, A); /* straight to the part's frame */
    if (joint->nv == 0) copy9(part->own.R, A2);
    matmul3(C.R, A, M);
    for (int i = 0; i < 3; i++) z[i] = M[3 * i + 2];
    copy3(C.p, p);
    if (joint->nv == 1 && parts->namer == NULL) back = slide_to_normal(p, z);
    transposed_product(A2, part->own.R, to);
    const bool deflected = part->mount >= 0;
    const expr *theta = deflected ? parent->section[part->mount].theta : NULL;
    struct pending before;
    if (parent != NULL && part->mount < 0) path_hinge(parts, parent, false, path);
    if (deflected && p[0] == 0 && p[1] == 0 && p[2] == 0) {
        before = path_deflection_but_z(g, theta, M, path);
    } else {
        if (deflected) path_deflection(g, theta, path);
        if (parts->namer != NULL && parent != NULL)
            for (int i = 0; i < 3; i++) path_slide(i, constant(parts, &part->C.p[i]), path);
        else path_slides(g, p, path);
        before = path_rotation_but_z(g, M, path);
    }
    const double along = joint->nv == 1 ? back + dot3(part->own.p, last) : 0;
    path_joint(g, joint, parts->q + part->lm->q, before, expr_number(g, fabs(along) < 1e-15 ? 0 : along), to, path);
    if (joint->nv == 2) path_slide(2, expr_number(g, dot3(part->own.p, last)), path);
    path_hinge(parts, part, true, path);
}

/* ---- masses ------------------------------------------------------------------------------------------------------ */

/* A body that a joint does not move, as far as the dynamics can tell, belongs to what carries the joint (Khalil's regrouping): of a
   body that turns about z the mass, the first moment along z and an inertia diag(a, a, 0); of one that slides all of its inertia.
   Done from the last part to the first, for rigid parts that are carried by a rigid part or the world */
static void regroup(struct robot_parts *parts)
{
    struct graph *g = parts->g;
    for (int i = parts->n - 1; i >= 0; i--) {
        struct link_part *part = &parts->part[i];
        struct solid *solid = &part->solid, moved = {0};
        if (part->lm->body != NULL || part->lm->joint.nv != 1 || part->mount >= 0) continue;
        const bool turns = part->lm->joint.part[0] == TURNS;
        if (turns) {
            moved.m = solid->m;
            moved.h[2] = solid->h[2];
            moved.J[0] = moved.J[1] = solid->J[1];
            solid->J[0] = expr_sub(g, solid->J[0], solid->J[1]);
            solid->J[1] = solid->m = solid->h[2] = ZERO;
        } else {
            memcpy(moved.J, solid->J, sizeof moved.J);
            memset(solid->J, 0, sizeof solid->J);
        }
        if (part->parent < 0) continue;
        bool after = true; /* the column of the joint */
        for (int e = part->path.n - 1; e >= 0; e--) {
            const struct element *element = &part->path.element[e];
            if (element->move == COLUMN) after = false;
            else if (!after || !turns || element->move == SLIDE) path_element_solid_back(g, element, &moved);
        }
        spatial_add_solid(g, &moved, &parts->part[part->parent].solid);
    }
}

/* Transforms a solid from the frame at `pose` to the frame in which `pose` is given */
static void move_solid(struct graph *g, const struct pose *pose, struct solid *solid)
{
    struct path path = {0};
    path_slides(g, pose->p, &path);
    path_rotation(g, pose->R, &path);
    path_solid_back(g, &path, solid);
}

/* A payload whose mass is an argument, about T */
static struct solid kept_payload(struct graph *g, const struct link *link, expr mass)
{
    const double *c = link->payload.com, *I = link->payload.inertia;
    const double square[6] = {c[1] * c[1] + c[2] * c[2],
                              c[0] * c[0] + c[2] * c[2],
                              c[0] * c[0] + c[1] * c[1],
                              -c[0] * c[1],
                              -c[0] * c[2],
                              -c[1] * c[2]};
    struct solid solid = {.m = mass};
    for (int i = 0; i < 3; i++) solid.h[i] = expr_scale(g, c[i], mass);
    for (int i = 0; i < 6; i++) solid.J[i] = expr_add(g, expr_number(g, I[i]), expr_scale(g, square[i], mass));
    return solid;
}

/* The payload of a link, with its mass as an argument if that is kept. `change`: only its difference from the payload of the model */
static struct solid payload_of(const struct robot_parts *parts, int link, bool change)
{
    struct graph *g = parts->g;
    const struct link *data = &parts->model->robot->link[link];
    const struct solid now = kept_payload(g, data, expr_number(g, data->payload.mass));
    struct solid with = kept_payload(g, data, constant(parts, &data->payload.mass));
    if (!change) return with;
    with.m = expr_sub(g, with.m, now.m);
    for (int i = 0; i < 3; i++) with.h[i] = expr_sub(g, with.h[i], now.h[i]);
    for (int i = 0; i < 6; i++) with.J[i] = expr_sub(g, with.J[i], now.J[i]);
    return with;
}

/* ---- masses with names ------------------------------------------------------------------------------------------- */

/* m, m c, I + m (|c|^2 1 - c c') */
static struct solid named_solid(const struct robot_parts *parts, const struct mass_properties *body)
{
    struct graph *g = parts->g;
    struct solid at = {.m = constant(parts, &body->mass)};
    expr c[3];
    for (int i = 0; i < 3; i++) c[i] = constant(parts, &body->com[i]);
    spatial_shift_solid(g, c, &at);
    for (int i = 0; i < 6; i++) at.J[i] = expr_add(g, at.J[i], constant(parts, &body->inertia[i]));
    return at;
}

/* In O: the hub of a link, and of a rigid link also its body and payload */
static struct solid named_body(struct robot_parts *parts, int i)
{
    struct graph *g = parts->g;
    const struct link *link = &parts->model->robot->link[i];
    struct solid sum = {0}, solid = named_solid(parts, &link->hub);
    spatial_add_solid(g, &solid, &sum);
    if (parts->model->link[i].body != NULL) return sum;
    parts->body[i] = link->type == BODY_BEAM ? beam_rigid(&link->beam) : link->rigid;
    solid = named_solid(parts, &parts->body[i]);
    spatial_add_solid(g, &solid, &sum);
    solid = named_solid(parts, &link->payload);
    struct path path = {0}; /* from O to T */
    for (int k = 0; k < 3; k++) path_slide(k, constant(parts, &parts->model->link[i].tip.p[k]), &path);
    path_rotation(g, parts->model->link[i].tip.R, &path);
    path_solid_back(g, &path, &solid);
    spatial_add_solid(g, &solid, &sum);
    return sum;
}

/* ---- masses of parts ------------------------------------------------------------------------------------------------ */

/* The body of a link in O, and of a flexible link the payload in T */
static struct solid body_of(struct robot_parts *parts, int i, struct solid *tip)
{
    struct graph *g = parts->g;
    const struct link_model *lm = &parts->model->link[i];
    const bool flexible = lm->body != NULL;
    *tip = (struct solid){0};
    if (parts->namer != NULL) {
        if (flexible) *tip = named_solid(parts, &parts->model->robot->link[i].payload);
        return named_body(parts, i);
    }
    struct solid solid = {.m = expr_number(g, lm->rigid.m)};
    for (int k = 0; k < 3; k++) solid.h[k] = expr_number(g, lm->rigid.h[k]);
    for (int k = 0; k < 6; k++) solid.J[k] = expr_number(g, lm->rigid.J[k]);
    if (flexible) *tip = payload_of(parts, i, false);
    if (flexible) return solid;
    struct solid change = payload_of(parts, i, true);
    move_solid(g, &lm->tip, &change);
    spatial_add_solid(g, &change, &solid);
    return solid;
}

/* Bodies of links go to the parts that they belong to */
static void place_masses(struct robot_parts *parts)
{
    struct graph *g = parts->g;
    for (int i = 0; i < parts->model->n_links; i++) {
        const struct host *host = &parts->host[i];
        if (host->part < 0) continue;
        struct link_part *part = &parts->part[host->part];
        struct solid payload, solid = body_of(parts, i, &payload);
        if (part->n_sections > 0 && parts->model->link[i].body != NULL)
            spatial_add_solid(g, &payload, &part->section[0].solid);
        move_solid(g, &host->at, &solid);
        if (host->section >= 0) {
            spatial_add_solid(g, &solid, &part->section[host->section].solid);
        } else {
            const struct pose I = identity_pose(), own = parts_pose_relative(&part->own, &I);
            struct path hinge = {0};
            move_solid(g, &own, &solid);
            path_hinge(parts, part, false, &hinge);
            path_solid_back(g, &hinge, &solid);
            spatial_add_solid(g, &solid, &part->solid);
        }
    }
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static void *allocate(struct robot_parts *parts, int count, size_t size)
{
    return arena_allocate(&parts->arena, (size_t)count, size);
}

static void take_part(struct robot_parts *parts, struct link_part *part)
{
    const int m = part->m, shapes = part->lm->body != NULL ? part->lm->body->n_shapes : 0;
    part->rho = allocate(parts, shapes, sizeof *part->rho);
    part->F = allocate(parts, m, sizeof *part->F);
    part->W = allocate(parts, m, sizeof *part->W);
    part->D = allocate(parts, m * m, sizeof *part->D);
    part->inverse_d = allocate(parts, m, sizeof(expr));
    part->b_eta = allocate(parts, m, sizeof(expr));
    part->frame = allocate(parts, 1 + part->n_sections, sizeof *part->frame);
    part->JF = allocate(parts, m, sizeof *part->JF);
    part->section = allocate(parts, part->n_sections, sizeof *part->section);
    part->column = allocate(parts, MOST_ELEMENTS, sizeof *part->column);
    if (m > 0) part->shortened = shortened_make(parts, part);
    if (m > 0) part->geometric = geometric_part_make(parts, part);
    part->eta = parts->q + part->lm->eta_q;
    part->etad = parts->qd + part->lm->eta_v;
    for (int s = 0; part->section != NULL && s < part->n_sections; s++)
        part->section[s].J = allocate(parts, m, sizeof *part->section[s].J);
}

void parts_number_arguments(const struct mechanism *mechanism, int n_kept, bool wrenches, int first[ARGUMENTS + 1])
{
    const struct model *m = mechanism->model;
    const int count[ARGUMENTS] = {[ARG_Q] = m->nq,
                                  [ARG_QD] = m->nv,
                                  [ARG_TAU] = m->n_tau,
                                  [ARG_QDD] = m->nv,
                                  [ARG_PRESCRIBED] = m->n_prescribed,
                                  [ARG_LINE] = m->robot->n_lines,
                                  [ARG_TIP_WRENCH] = wrenches ? 6 : 0,
                                  [ARG_FRAME_WRENCH] = wrenches ? 6 * m->robot->n_frames : 0,
                                  [ARG_KEPT] = n_kept,
                                  [ARG_DRIVE_INPUT] = drives_count_inputs(m->robot),
                                  [ARG_DRIVE_STATE] = robot_drive_states(m->robot),
                                  [ARG_SLOPES] = 2 * m->robot->n_drives * m->robot->n_drives,
                                  [ARG_LAMBDA] = mechanism->constraints->n_active};
    first[0] = 0;
    for (int i = 0; i < ARGUMENTS; i++) first[i + 1] = first[i] + count[i];
}

static void place_gravity(struct robot_parts *parts)
{
    struct vector along;
    struct path path = {0};
    for (int i = 0; i < 3; i++) along.e[i] = constant(parts, &parts->model->gravity[i]);
    path_rotation(parts->g, parts->world.R, &path);
    along = path_forth(parts->g, &path, along);
    memcpy(parts->gravity, along.e, sizeof along.e);
}

enum status parts_make(struct graph *g, const struct mechanism *mechanism, struct namer *namer,
                       const double *const *kept, int n_kept, bool wrenches, struct robot_parts *parts)
{
    const struct model *model = mechanism->model;
    *parts = (struct robot_parts){
        .g = g, .namer = namer, .mechanism = mechanism, .model = model, .kept = kept, .n_kept = n_kept};
    parts_number_arguments(mechanism, n_kept, wrenches, parts->first);
    parts->part = allocate(parts, model->n_links, sizeof *parts->part);
    parts->host = allocate(parts, model->n_links, sizeof *parts->host);
    parts->body = allocate(parts, model->n_links, sizeof *parts->body);
    expr *inputs = allocate(parts, parts->first[ARG_KEPT], sizeof *inputs);
    if (parts->arena.failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < parts->first[ARG_KEPT]; i++) inputs[i] = expr_input(g, i);
    expr **const arguments[] = {&parts->q,          &parts->qd,   &parts->tau,        &parts->qdd,
                                &parts->prescribed, &parts->line, &parts->tip_wrench, &parts->frame_wrench};
    for (int i = 0; i < ARG_KEPT; i++)
        *arguments[i] = parts->first[i] < parts->first[i + 1] ? inputs + parts->first[i] : NULL;
    list_parts(parts);
    choose_world(parts);
    place_gravity(parts);
    for (int i = 0; i < parts->n; i++) take_part(parts, &parts->part[i]);
    if (parts->arena.failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < parts->n && namer == NULL; i++) choose_frame(parts, i);
    for (int i = 0; i < parts->n; i++)
        if (parts->part[i].m > 0) flexible_hinge(parts, &parts->part[i]);
    place_masses(parts);
    for (int i = 0; i < parts->n; i++) {
        make_path(parts, &parts->part[i]);
        if (parts->part[i].m > 0) flexible_configuration(parts, &parts->part[i]);
    }
    if (namer == NULL) regroup(parts);
    return g->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

void parts_free(struct robot_parts *parts)
{
    arena_release(&parts->arena);
}
