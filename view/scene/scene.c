#include "view/scene/scene.h"

#include <math.h>
#include <string.h>

#include "dyn/sites.h"
#include "flex/section.h"
#include "math/eigen.h"
#include "math/rotation.h"
#include "math/vec.h"

/* Intervals along a link that bends, and along one that does not */
enum { BENT_INTERVALS = 24, STRAIGHT_INTERVALS = 1 };
/* Widths of parts without dimensions, as fractions of the robot's size and of a link's length */
static const double PART_OF_SIZE = 0.014, PART_OF_LENGTH = 0.16;
static const double PAYLOAD_DENSITY = 2500; /* [kg/m^3] */

/* ---- poses ---------------------------------------------------------------------------------------------------------- */

void scene_pose(struct scene *scene, const double *q)
{
    const struct mechanism *m = scene->mechanism;
    const struct input in = {.q = q, .qd = scene->qd}; /* qd stays zero */
    dyn_configuration(m->model, m->work, q);
    dyn_motion(m->model, m->work, &in, NULL);
    dyn_velocity(m->model, m->work, &in);
    dyn_observe(m->model, m->work, &in, NULL);
}

struct pose scene_anchor(const struct scene *scene, const struct anchor *anchor)
{
    struct attachment place;
    struct pose pose;
    attachment_place(scene->mechanism->model, scene->mechanism->work, anchor, false, &place);
    copy3(place.frame.p, pose.p);
    copy9(place.frame.R, pose.R);
    return pose;
}

/* The parent frame, moved by the joint's origin */
static struct anchor joint_anchor(const struct model *model, int link)
{
    const struct link_model *lm = &model->link[link];
    struct anchor anchor = {.link = lm->parent, .section = lm->mount, .offset = true};
    copy3(lm->t, anchor.at.p);
    copy9(lm->R, anchor.at.R);
    return anchor;
}

struct pose scene_joint_frame(const struct scene *scene, int link)
{
    const struct anchor anchor = joint_anchor(scene->mechanism->model, link);
    return scene_anchor(scene, &anchor);
}

/* An anchor at O, or at a section */
static struct anchor bare_anchor(int link, int section)
{
    struct anchor anchor = {.link = link, .section = section};
    identity3(anchor.at.R);
    return anchor;
}

struct pose scene_hinge_frame(const struct scene *scene, int link)
{
    const struct anchor anchor = bare_anchor(link, -1);
    return scene_anchor(scene, &anchor);
}

struct pose scene_tip_frame(const struct scene *scene, int link)
{
    const struct site site = robot_site_of_link(link);
    const struct anchor anchor = sites_anchor(scene->mechanism->model, &site);
    return scene_anchor(scene, &anchor);
}

/* p_O + r_F + R_F r,  R_F Exp(theta) */
struct pose scene_point_pose(const struct scene *scene, const double *q, int link, int k)
{
    const struct link_model *lm = &scene->mechanism->model->link[link];
    const struct link_work *w = &scene->mechanism->work->link[link];
    const struct section *shape = &scene->link[link].point[k].shape;
    struct pose pose;
    copy3(w->O.p, pose.p);
    if (lm->body == NULL) {
        add_mul3(w->O.R, shape->x, pose.p);
        copy9(w->O.R, pose.R);
        return pose;
    }
    double r[3], theta[3], R[9];
    section_displacement(shape, lm->m, q + lm->eta_q, r, theta);
    const struct exp_coefficients e = rotation_exp_coefficients(dot3(theta, theta));
    rotation_exp(&e, theta, R);
    axpy3(1, w->rF, pose.p);
    add_mul3(w->RF, r, pose.p);
    matmul3(w->RF, R, pose.R);
    return pose;
}

/* ---- sections along a link ------------------------------------------------------------------------------------------ */

static void section_size(const struct cross_section *section, double s, struct scene_point *point, double *wall)
{
    const bool round = section->shape == SECTION_TUBE || section->shape == SECTION_ROUND;
    const struct profile *width = section->shape == SECTION_TUBE    ? &section->outer_diameter
                                  : section->shape == SECTION_ROUND ? &section->diameter
                                                                    : &section->width;
    point->width = section->scale * beam_profile_at(width, s);
    point->height = round ? point->width : section->scale * beam_profile_at(&section->height, s);
    const bool hollow = section->shape == SECTION_TUBE || section->shape == SECTION_BOX;
    *wall = hollow ? section->scale * beam_profile_at(&section->wall, s) / fmin(point->width, point->height) : 0;
}

/* Fractions of the length: a regular division, and the stations of tables */
static int choose_stations(const struct beam *beam, int intervals, double *s)
{
    const int given = beam_stations(beam, s);
    int n = given;
    for (int i = 1; i < intervals; i++) {
        const double x = (double)i / intervals;
        int k = n;
        bool close = false;
        for (int j = 0; j < n; j++) close = close || fabs(s[j] - x) < 0.2 / intervals;
        if (close) continue;
        for (; s[k - 1] > x; k--) s[k] = s[k - 1];
        s[k] = x;
        n++;
    }
    return n;
}

static enum status make_beam(struct scene *scene, int i)
{
    const struct link *link = &scene->mechanism->robot->link[i];
    const struct beam *beam = &link->beam;
    struct scene_link *drawn = &scene->link[i];
    const bool bends = scene->mechanism->model->link[i].body != NULL;
    double *s = arena_allocate(&scene->arena, (size_t)beam_station_count(beam) + 2 + BENT_INTERVALS, sizeof *s);
    if (s == NULL) return STATUS_NO_MEMORY;
    drawn->n_points = choose_stations(beam, bends ? BENT_INTERVALS : STRAIGHT_INTERVALS, s);
    drawn->point = arena_allocate(&scene->arena, (size_t)drawn->n_points, sizeof *drawn->point);
    enum status status = drawn->point != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    drawn->nominal = !beam->has_section;
    if (beam->has_section && (beam->section.shape == SECTION_BOX || beam->section.shape == SECTION_RECTANGLE))
        drawn->outline = OUTLINE_RECTANGLE;
    for (int k = 0; k < drawn->n_points && status == STATUS_OK; k++) {
        struct scene_point *point = &drawn->point[k];
        if (beam->has_section) section_size(&beam->section, s[k], point, &drawn->wall);
        else point->width = point->height = fmin(scene->nominal, PART_OF_LENGTH * beam->length);
        if (bends) status = body_section(link, s[k] * beam->length, 0, &scene->arena, &point->shape);
        else point->shape.x[0] = s[k] * beam->length;
    }
    return status;
}

/* From hinge to tip; nothing if they coincide */
static enum status make_rigid(struct scene *scene, int i)
{
    const double *tip = scene->mechanism->model->link[i].tip.p, length = sqrt(dot3(tip, tip));
    struct scene_link *drawn = &scene->link[i];
    drawn->nominal = true;
    drawn->n_points = length > 1e-9 * scene->size ? 2 : 0;
    drawn->point = arena_allocate(&scene->arena, 2, sizeof *drawn->point);
    if (drawn->point == NULL) return STATUS_NO_MEMORY;
    for (int k = 0; k < 2; k++)
        drawn->point[k].width = drawn->point[k].height = fmin(scene->nominal, PART_OF_LENGTH * length);
    copy3(tip, drawn->point[1].shape.x);
    return STATUS_OK;
}

/* Through the nodes in the order of their distance along the line from hinge to tip */
static enum status make_nodal(struct scene *scene, int i)
{
    const struct link *link = &scene->mechanism->robot->link[i];
    const struct nodal *nodal = &link->nodal;
    struct scene_link *drawn = &scene->link[i];
    const double *a = nodal->node[nodal->hinge_node].position, *b = nodal->node[nodal->tip_node].position;
    const double along[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    int *order = arena_allocate(&scene->arena, (size_t)nodal->n_nodes, sizeof *order);
    drawn->point = arena_allocate(&scene->arena, (size_t)nodal->n_nodes, sizeof *drawn->point);
    drawn->nominal = true;
    if (order == NULL || drawn->point == NULL) return STATUS_NO_MEMORY;
    for (int n = 0; n < nodal->n_nodes; n++) {
        int k = n;
        const double x = dot3(along, nodal->node[n].position);
        for (; k > 0 && dot3(along, nodal->node[order[k - 1]].position) > x; k--) order[k] = order[k - 1];
        order[k] = n;
    }
    enum status status = STATUS_OK;
    const double width = fmin(scene->nominal, PART_OF_LENGTH * sqrt(dot3(along, along)));
    drawn->n_points = nodal->n_nodes;
    for (int k = 0; k < nodal->n_nodes && status == STATUS_OK; k++) {
        drawn->point[k].width = drawn->point[k].height = width;
        status = body_section(link, 0, order[k], &scene->arena, &drawn->point[k].shape);
    }
    return status;
}

/* Semiaxes a of a homogeneous ellipsoid:  a_x^2 = 5/(2m) (I_y + I_z - I_x) */
static void make_ellipsoid(const struct link *link, struct scene_link *drawn)
{
    const struct mass_properties *body = &link->rigid;
    const double *J = body->inertia;
    double A[9] = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]}, V[9], w[3];
    if (link->type != BODY_RIGID || !(body->mass > 0)) return;
    eigen_symmetric(3, A, V, w);
    for (int k = 0; k < 3; k++)
        drawn->ellipsoid.semiaxes[k] = sqrt(fmax(0, 2.5 / body->mass * (w[(k + 1) % 3] + w[(k + 2) % 3] - w[k])));
    copy3(body->com, drawn->ellipsoid.at.p);
    copy9(V, drawn->ellipsoid.at.R);
    drawn->has_ellipsoid = w[2] > 0;
}

/* ---- arms ----------------------------------------------------------------------------------------------------------- */

static bool same_place(const struct anchor *a, const struct anchor *b, double within)
{
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = a->at.p[k] - b->at.p[k];
    return a->link == b->link && a->section == b->section && sqrt(dot3(d, d)) < within;
}

/* Adds an arm to an anchor that is not on the body of its link already, from the nearest point of this body, fixed to the same frame as
   the anchor */
static void add_arm(struct scene *scene, const struct anchor *to)
{
    if (to->link < 0) return;
    const double within = 1e-6 * scene->size;
    const struct scene_link *drawn = &scene->link[to->link];
    struct anchor from = bare_anchor(to->link, to->section);
    if (scene->mechanism->model->link[to->link].body == NULL && drawn->n_points >= 2) {
        const double *a = drawn->point[0].shape.x, *b = drawn->point[drawn->n_points - 1].shape.x;
        double ab[3], ap[3];
        for (int k = 0; k < 3; k++) ab[k] = b[k] - a[k], ap[k] = to->at.p[k] - a[k];
        const double s = fmin(fmax(dot3(ab, ap) / dot3(ab, ab), 0), 1);
        for (int k = 0; k < 3; k++) from.at.p[k] = a[k] + s * ab[k];
    }
    if (same_place(&from, to, within)) return;
    for (int i = 0; i < scene->n_arms; i++)
        if (same_place(&scene->arm[i].to, to, within)) return;
    scene->arm[scene->n_arms++] = (struct scene_arm){from, *to};
}

static enum status make_arms(struct scene *scene)
{
    const struct model *model = scene->mechanism->model;
    const struct robot *robot = scene->mechanism->robot;
    const struct mechanism *m = scene->mechanism;
    const size_t most = (size_t)(robot->n_links + 2 * robot->n_loops + 2 * m->n_elements + robot->n_frames);
    scene->arm = arena_allocate(&scene->arena, most, sizeof *scene->arm);
    scene->line = arena_allocate(&scene->arena, (size_t)m->n_elements, sizeof *scene->line);
    if (scene->arena.failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < m->n_elements; i++)
        if (m->element[i].kind->n_ends == 2) scene->line[scene->n_lines++] = &m->element[i];
    for (int i = 0; i < robot->n_links; i++) {
        const struct anchor joint = joint_anchor(model, i);
        add_arm(scene, &joint);
    }
    for (int i = 0; i < robot->n_loops; i++)
        for (int side = 0; side < 2; side++) add_arm(scene, &model->site[robot->loop[i].site + side]);
    for (int i = 0; i < scene->n_lines; i++)
        for (int end = 0; end < 2; end++) add_arm(scene, &scene->line[i]->anchor[end]);
    for (int i = 0; i < robot->n_frames; i++) add_arm(scene, &model->frame[i]);
    return STATUS_OK;
}

/* ---- the scene ------------------------------------------------------------------------------------------------------ */

double scene_payload_size(const struct scene *scene, double mass)
{
    const double diameter = 2 * cbrt(mass / PAYLOAD_DENSITY * 0.75 / 3.14159265358979324);
    return fmin(fmax(diameter, 2 * scene->nominal), 5 * scene->nominal);
}

enum status scene_make(struct mechanism *mechanism, struct scene *scene)
{
    const struct model *model = mechanism->model;
    memset(scene, 0, sizeof *scene);
    scene->mechanism = mechanism;
    scene->link = arena_allocate(&scene->arena, (size_t)model->n_links, sizeof *scene->link);
    scene->q = arena_allocate(&scene->arena, (size_t)model->nq, sizeof *scene->q);
    scene->qd = arena_allocate(&scene->arena, (size_t)model->nv, sizeof *scene->qd);
    if (scene->arena.failed) return STATUS_NO_MEMORY;

    /* the diagonal of the box around all hinges and tips, the world's origin included */
    double low[3] = {0}, high[3] = {0}, square = 0;
    model_start(model, scene->q, scene->qd);
    memset(scene->qd, 0, (size_t)model->nv * sizeof(double));
    scene_pose(scene, scene->q);
    for (int i = 0; i < model->n_links; i++) {
        const struct pose both[2] = {scene_hinge_frame(scene, i), scene_tip_frame(scene, i)};
        for (int k = 0; k < 6; k++) {
            low[k % 3] = fmin(low[k % 3], both[k / 3].p[k % 3]);
            high[k % 3] = fmax(high[k % 3], both[k / 3].p[k % 3]);
        }
    }
    for (int k = 0; k < 3; k++) square += (high[k] - low[k]) * (high[k] - low[k]);
    scene->size = square > 0 ? sqrt(square) : 1;
    scene->nominal = PART_OF_SIZE * scene->size;

    static enum status (*const make[])(struct scene *, int) = {make_rigid, make_beam, make_nodal};
    enum status status = STATUS_OK;
    for (int i = 0; i < model->n_links && status == STATUS_OK; i++) {
        const struct link *link = &model->robot->link[i];
        status = make[link->type](scene, i);
        make_ellipsoid(link, &scene->link[i]);
    }
    return status == STATUS_OK ? make_arms(scene) : status;
}

void scene_free(struct scene *scene)
{
    arena_release(&scene->arena);
}

/* ---- as numbers ------------------------------------------------------------------------------------------------------ */

enum { FRAME_NUMBERS = 12, LINK_FRAMES = 3 };

int scene_number_count(const struct scene *scene)
{
    const struct robot *robot = scene->mechanism->robot;
    int n = 6 * scene->n_arms + FRAME_NUMBERS * robot->n_frames + 6 * robot->n_loops + 6 * scene->n_lines;
    for (int i = 0; i < robot->n_links; i++) n += FRAME_NUMBERS * (LINK_FRAMES + scene->link[i].n_points);
    return n;
}

static double *put_frame(double *number, struct pose pose)
{
    copy3(pose.p, number);
    copy9(pose.R, number + 3);
    return number + FRAME_NUMBERS;
}

static double *put_points(const struct scene *scene, const struct anchor *a, const struct anchor *b, double *number)
{
    const struct pose pose[2] = {scene_anchor(scene, a), scene_anchor(scene, b)};
    copy3(pose[0].p, number);
    copy3(pose[1].p, number + 3);
    return number + 6;
}

void scene_numbers(struct scene *scene, const double *q, double *number)
{
    const struct model *model = scene->mechanism->model;
    const struct robot *robot = scene->mechanism->robot;
    scene_pose(scene, q);
    for (int i = 0; i < model->n_links; i++) {
        number = put_frame(number, scene_joint_frame(scene, i));
        number = put_frame(number, scene_hinge_frame(scene, i));
        number = put_frame(number, scene_tip_frame(scene, i));
        for (int k = 0; k < scene->link[i].n_points; k++) number = put_frame(number, scene_point_pose(scene, q, i, k));
    }
    for (int i = 0; i < scene->n_arms; i++) number = put_points(scene, &scene->arm[i].from, &scene->arm[i].to, number);
    for (int i = 0; i < robot->n_frames; i++) number = put_frame(number, scene_anchor(scene, &model->frame[i]));
    for (int i = 0; i < robot->n_loops; i++)
        number = put_points(scene, &model->site[robot->loop[i].site], &model->site[robot->loop[i].site + 1], number);
    for (int i = 0; i < scene->n_lines; i++)
        number = put_points(scene, &scene->line[i]->anchor[0], &scene->line[i]->anchor[1], number);
}
