#include "generate/parts.h"
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

struct pose parts_pose_relative(const struct pose *a, const struct pose *b)
{
    struct pose c;
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = b->p[i] - a->p[i];
    tmul3(a->R, d, c.p);
    for (int i = 0; i < 9; i++) {
        c.R[i] = 0;
        for (int k = 0; k < 3; k++) c.R[i] += a->R[3 * k + i / 3] * b->R[3 * k + i % 3];
    }
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

static struct solid solid_of(struct graph *g, const struct rigid *rigid)
{
    struct solid solid = {.m = expr_number(g, rigid->m)};
    for (int i = 0; i < 3; i++) solid.h[i] = expr_number(g, rigid->h[i]);
    for (int i = 0; i < 6; i++) solid.J[i] = expr_number(g, rigid->J[i]);
    return solid;
}

/* A solid given at `pose`, in the frame in which that is given */
static void move_solid(struct graph *g, const struct pose *pose, struct solid *solid)
{
    struct path path = {0};
    path_slides(g, pose->p, &path);
    path_rotation(g, pose->R, &path);
    path_solid_back(g, &path, solid);
}

/* Where the joint of a link is: on a part, or on what a fixed link belongs to */
static struct host carrier_of(const struct robot_parts *parts, const struct link_model *lm)
{
    struct host host = {.part = -1, .section = -1, .at = identity_pose()};
    struct pose joint;
    copy9(lm->R, joint.R);
    copy3(lm->t, joint.p);
    if (lm->parent >= 0) {
        host = parts->host[lm->parent];
        if (lm->mount >= 0) host.section = lm->mount; /* of a flexible link, which is a part */
    }
    host.at = dyn_pose_compose(&host.at, &joint);
    return host;
}

static bool belongs_to_parent(const struct link_model *lm)
{
    return lm->joint.nv == 0 && lm->body == NULL;
}

static void list_parts(struct robot_parts *parts)
{
    for (int i = 0; i < parts->model->n_links; i++) {
        const struct link_model *lm = &parts->model->link[i];
        const struct host carrier = carrier_of(parts, lm);
        parts->host[i] = carrier;
        if (belongs_to_parent(lm)) continue;
        parts->host[i] = (struct host){.part = parts->n, .section = -1, .at = identity_pose()};
        struct link_part *part = &parts->part[parts->n++];
        *part =
            (struct link_part){.link = i, .lm = lm, .parent = carrier.part, .mount = carrier.section, .C = carrier.at};
        part->own = identity_pose();
        part->m = lm->m;
        part->n_sections = lm->n_sections;
    }
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* The joint axis of the first part on O of this one (`in` < 0: on the world), and a point on it */
static bool first_axis(const struct robot_parts *parts, int in, double axis[3], double point[3])
{
    for (int i = 0; i < parts->n; i++) {
        const struct link_part *child = &parts->part[i];
        double own[3];
        if (child->parent != in || child->mount >= 0) continue;
        copy3(child->C.p, point);
        if (!path_joint_first_axis(&child->lm->joint, own)) return false;
        mul3(child->C.R, own, axis);
        return true;
    }
    memset(point, 0, 3 * sizeof *point);
    return false;
}

/* x along the common normal of the joint axis z and the next one, or towards it; the origin where the normal starts */
static void choose_frame(const struct robot_parts *parts, int i)
{
    struct link_part *part = &parts->part[i];
    double z[3], w[3], p[3], x[3], y[3], shift = 0;
    if (part->lm->body != NULL || !path_joint_last_axis(&part->lm->joint, z)) return;
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
    if (!path_joint_first_axis(&first->lm->joint, w)) return;
    path_align_z(w, A);
    matmul3(first->C.R, A, parts->world.R);
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

/* Slides the joint frame along its axis z to where fewer components of its position remain; returns the way back */
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

static bool is_zero(const double p[3])
{
    return p[0] == 0 && p[1] == 0 && p[2] == 0;
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
    path_align_z(path_joint_first_axis(joint, first) ? first : (const double[3]){0, 0, 1}, A);
    path_align_z(path_joint_last_axis(joint, last) ? last : (const double[3]){0, 0, 1}, A2);
    if (joint->nv == 0) copy9(part->own.R, A); /* straight to the part's frame */
    if (joint->nv == 0) copy9(part->own.R, A2);
    matmul3(C.R, A, M);
    for (int i = 0; i < 3; i++) z[i] = M[3 * i + 2];
    copy3(C.p, p);
    if (joint->nv == 1 && parts->namer == NULL) back = slide_to_normal(p, z);
    for (int i = 0; i < 9; i++) {
        to[i] = 0;
        for (int k = 0; k < 3; k++) to[i] += A2[3 * k + i / 3] * part->own.R[3 * k + i % 3];
    }
    const bool deflected = part->mount >= 0;
    const expr *theta = deflected ? parent->section[part->mount].theta : NULL;
    struct pending before;
    if (parent != NULL && part->mount < 0) path_hinge(parts, parent, false, path);
    if (deflected && is_zero(p)) {
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
   body that turns about z the mass, the first moment along z and an inertia diag(a, a, 0); of one that slides all of its inertia. */
static struct solid regrouped(struct graph *g, const struct joint_model *joint, struct solid *solid)
{
    struct solid moved = {0};
    if (joint->part[0] == TURNS) {
        moved.m = solid->m;
        moved.h[2] = solid->h[2];
        moved.J[0] = moved.J[1] = solid->J[1];
        solid->J[0] = expr_sub(g, solid->J[0], solid->J[1]);
        solid->J[1] = solid->m = solid->h[2] = ZERO;
    } else {
        memcpy(moved.J, solid->J, sizeof moved.J);
        memset(solid->J, 0, sizeof solid->J);
    }
    return moved;
}

/* From the last part to the first, where a rigid part is carried by a rigid part or the world */
static void regroup(struct robot_parts *parts)
{
    struct graph *g = parts->g;
    for (int i = parts->n - 1; i >= 0; i--) {
        struct link_part *part = &parts->part[i];
        struct link_part *parent = part->parent >= 0 ? &parts->part[part->parent] : NULL;
        if (part->lm->body != NULL || part->lm->joint.nv != 1 || part->mount >= 0) continue;
        struct solid moved = regrouped(g, &part->lm->joint, &part->solid);
        if (parent == NULL) continue;
        const bool turns = part->lm->joint.part[0] == TURNS;
        int e = part->path.n - 1;
        for (; e >= 0 && part->path.element[e].move != COLUMN; e--)
            if (!turns || part->path.element[e].move == SLIDE)
                path_element_solid_back(g, &part->path.element[e], &moved);
        for (e--; e >= 0; e--) path_element_solid_back(g, &part->path.element[e], &moved);
        spatial_add_solid(g, &moved, &parent->solid);
    }
}

static const struct kept *kept_mass(const struct kept *kept, int n_kept, int link)
{
    for (int i = 0; i < n_kept; i++)
        if (kept[i].parameter == KEPT_PAYLOAD_MASS && kept[i].index == link) return &kept[i];
    return NULL;
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

static void negate_solid(struct solid *solid)
{
    solid->m = negative(solid->m);
    for (int i = 0; i < 3; i++) solid->h[i] = negative(solid->h[i]);
    for (int i = 0; i < 6; i++) solid->J[i] = negative(solid->J[i]);
}

/* Payload of the model, or with its mass kept as an argument */
static struct solid payload_of(struct robot_parts *parts, int link, const struct kept *kept, int n_kept, bool change)
{
    struct graph *g = parts->g;
    const struct link *data = &parts->model->robot->link[link];
    const struct kept *mass = kept_mass(kept, n_kept, link);
    struct solid now = kept_payload(g, data, expr_number(g, data->payload.mass));
    if (mass == NULL) return change ? (struct solid){0} : now;
    struct solid with = kept_payload(g, data, expr_input(g, parts->first[ARG_KEPT] + (int)(mass - kept)));
    if (!change) return with;
    negate_solid(&now);
    spatial_add_solid(g, &now, &with);
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

/* A solid given in T of a rigid link, in O */
static void move_from_tip(struct robot_parts *parts, int link, struct solid *solid)
{
    const struct pose *tip = &parts->model->link[link].tip;
    struct path path = {0};
    for (int i = 0; i < 3; i++) path_slide(i, constant(parts, &tip->p[i]), &path);
    path_rotation(parts->g, tip->R, &path);
    path_solid_back(parts->g, &path, solid);
}

/* The body of a link in O: rigid link, or hub; with the payload of a rigid link */
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
    move_from_tip(parts, i, &solid);
    spatial_add_solid(g, &solid, &sum);
    return sum;
}

/* ---- masses of parts ------------------------------------------------------------------------------------------------ */

/* The body of a link in O, and of a flexible link the payload in T */
static struct solid body_of(struct robot_parts *parts, int i, const struct kept *kept, int n_kept, struct solid *tip)
{
    struct graph *g = parts->g;
    const struct link_model *lm = &parts->model->link[i];
    const bool flexible = lm->body != NULL;
    *tip = (struct solid){0};
    if (parts->namer != NULL) {
        if (flexible) *tip = named_solid(parts, &parts->model->robot->link[i].payload);
        return named_body(parts, i);
    }
    struct solid solid = solid_of(g, &lm->rigid);
    if (flexible) *tip = payload_of(parts, i, kept, n_kept, false);
    if (flexible) return solid;
    struct solid change = payload_of(parts, i, kept, n_kept, true);
    move_solid(g, &lm->tip, &change);
    spatial_add_solid(g, &change, &solid);
    return solid;
}

/* Bodies of links go to the parts that they belong to */
static void place_masses(struct robot_parts *parts, const struct kept *kept, int n_kept)
{
    struct graph *g = parts->g;
    for (int i = 0; i < parts->model->n_links; i++) {
        const struct host *host = &parts->host[i];
        if (host->part < 0) continue;
        struct link_part *part = &parts->part[host->part];
        struct solid payload, solid = body_of(parts, i, kept, n_kept, &payload);
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

static void *take(struct robot_parts *parts, int count, size_t size)
{
    return arena_allocate(&parts->arena, (size_t)count, size);
}

static bool take_part(struct robot_parts *parts, struct link_part *part)
{
    const int m = part->m, shapes = part->lm->body != NULL ? part->lm->body->n_shapes : 0;
    part->rho = take(parts, shapes, sizeof *part->rho);
    part->F = take(parts, m, sizeof *part->F);
    part->W = take(parts, m, sizeof *part->W);
    part->D = take(parts, m * m, sizeof *part->D);
    part->inverse_d = take(parts, m, sizeof(expr));
    part->b_eta = take(parts, m, sizeof(expr));
    part->frame = take(parts, 1 + part->n_sections, sizeof *part->frame);
    part->JF = take(parts, m, sizeof *part->JF);
    part->section = take(parts, part->n_sections, sizeof *part->section);
    part->column = take(parts, MOST_ELEMENTS, sizeof *part->column);
    if (m > 0) part->shortened = shortened_make(parts, part);
    if (m > 0) part->geometric = geometric_part_make(parts, part);
    part->eta = parts->q + part->lm->eta_q;
    part->etad = parts->qd + part->lm->eta_v;
    for (int s = 0; s < part->n_sections; s++) part->section[s].J = take(parts, m, sizeof *part->section[s].J);
    return !parts->arena.failed;
}

void parts_number_arguments(const struct mechanism *mechanism, int n_kept, bool wrenches, int first[ARGUMENTS + 1])
{
    const struct model *m = mechanism->model;
    const int count[ARGUMENTS] = {[ARG_Q] = m->nq,
                                  [ARG_QD] = m->nv,
                                  [ARG_TAU] = m->n_tau,
                                  [ARG_QDD] = m->nv,
                                  [ARG_PRESCRIBED] = m->n_prescribed,
                                  [ARG_ACTUATOR] = m->robot->n_actuators,
                                  [ARG_TIP_WRENCH] = wrenches ? 6 : 0,
                                  [ARG_FRAME_WRENCH] = wrenches ? 6 * m->robot->n_frames : 0,
                                  [ARG_KEPT] = n_kept,
                                  [ARG_LAMBDA] = mechanism->constraints->n_active};
    first[0] = 0;
    for (int i = 0; i < ARGUMENTS; i++) first[i + 1] = first[i] + count[i];
}

static expr *inputs_of(struct robot_parts *parts, enum argument argument)
{
    const int first = parts->first[argument], count = parts->first[argument + 1] - first;
    expr *x = count > 0 ? take(parts, count, sizeof *x) : NULL;
    for (int i = 0; x != NULL && i < count; i++) x[i] = expr_input(parts->g, first + i);
    return x;
}

static void place_gravity(struct robot_parts *parts, const struct kept *kept, int n_kept)
{
    expr along[3];
    struct path path = {0};
    for (int i = 0; i < 3; i++) along[i] = constant(parts, &parts->model->gravity[i]);
    for (int i = 0; i < n_kept; i++)
        if (kept[i].parameter == KEPT_GRAVITY) along[kept[i].index] = expr_input(parts->g, parts->first[ARG_KEPT] + i);
    path_rotation(parts->g, parts->world.R, &path);
    const struct vector v = path_forth(parts->g, &path, (struct vector){{along[0], along[1], along[2]}});
    memcpy(parts->gravity, v.e, sizeof v.e);
}

static enum status make(const struct kept *kept, int n_kept, bool wrenches, struct robot_parts *parts)
{
    struct graph *g = parts->g;
    const struct model *model = parts->model;
    parts_number_arguments(parts->mechanism, n_kept, wrenches, parts->first);
    parts->part = take(parts, model->n_links, sizeof *parts->part);
    parts->host = take(parts, model->n_links, sizeof *parts->host);
    parts->body = take(parts, model->n_links, sizeof *parts->body);
    expr **const arguments[] = {&parts->q,          &parts->qd,       &parts->tau,        &parts->qdd,
                                &parts->prescribed, &parts->actuator, &parts->tip_wrench, &parts->frame_wrench};
    for (int i = 0; i < ARG_KEPT; i++) *arguments[i] = inputs_of(parts, (enum argument)i);
    if (parts->arena.failed) return STATUS_NO_MEMORY;
    list_parts(parts);
    choose_world(parts);
    place_gravity(parts, kept, n_kept);
    for (int i = 0; i < parts->n; i++)
        if (!take_part(parts, &parts->part[i])) return STATUS_NO_MEMORY;
    for (int i = 0; i < parts->n && parts->namer == NULL; i++) choose_frame(parts, i);
    for (int i = 0; i < parts->n; i++)
        if (parts->part[i].m > 0) flexible_hinge(parts, &parts->part[i]);
    place_masses(parts, kept, n_kept);
    for (int i = 0; i < parts->n; i++) {
        make_path(parts, &parts->part[i]);
        if (parts->part[i].m > 0) flexible_configuration(parts, &parts->part[i]);
    }
    if (parts->namer == NULL) regroup(parts);
    return g->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

enum status parts_make(struct graph *g, const struct mechanism *mechanism, const struct kept *kept, int n_kept,
                       bool wrenches, struct robot_parts *parts)
{
    *parts = (struct robot_parts){.g = g, .mechanism = mechanism, .model = mechanism->model};
    return make(kept, n_kept, wrenches, parts);
}

enum status parts_make_named(struct graph *g, const struct mechanism *mechanism, struct namer *namer,
                             struct robot_parts *parts)
{
    *parts = (struct robot_parts){.g = g, .namer = namer, .mechanism = mechanism, .model = mechanism->model};
    return make(NULL, 0, false, parts);
}

void parts_free(struct robot_parts *parts)
{
    arena_release(&parts->arena);
}
