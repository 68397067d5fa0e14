#include "view/scene/solids.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/vec.h"

enum { ROUND_SIDES = 14, RECTANGLE_SIDES = 4 };

/* A cross section as corners in the world. */
struct ring {
    int n;
    double corner[MOST_CORNERS][3];
};

struct builder {
    const struct scene *scene;
    const struct camera *camera;
    struct solids *solids;
    double eye[3]; /* position of the eye */
    double bias;   /* added to depths: symbols are in front of the links that they belong to */
};

/* ---- faces ------------------------------------------------------------------------------------------------------------- */

static double length3(const double *x)
{
    return sqrt(dot3(x, x));
}

/* Adds a face whose corners are counterclockwise from outside, unless it faces away from the eye. The light comes from above and beside
   the eye. */
static void add_face(struct builder *b, enum paint paint, int n, double (*corner)[3])
{
    const struct view *view = &b->camera->view;
    struct solids *solids = b->solids;
    double u[3], v[3], normal[3], center[3] = {0}, to_eye[3], sun[3], page[2];
    for (int i = 0; i < 3; i++) u[i] = corner[1][i] - corner[0][i], v[i] = corner[n - 1][i] - corner[0][i];
    cross3(u, v, normal);
    const double size = length3(normal);
    if (size == 0) return;
    for (int k = 0; k < n; k++) axpy3(1.0 / n, corner[k], center);
    for (int i = 0; i < 3; i++) normal[i] /= size, to_eye[i] = b->eye[i] - center[i];
    if (dot3(normal, to_eye) <= 0) return;
    if (solids->n == solids->capacity) {
        const int capacity = solids->capacity > 0 ? 2 * solids->capacity : 256;
        struct face *more = realloc(solids->face, (size_t)capacity * sizeof *more);
        if (more == NULL) {
            solids->failed = true;
            return;
        }
        solids->face = more;
        solids->capacity = capacity;
    }
    struct face *face = &solids->face[solids->n];
    face->order = solids->n++;
    face->n = n;
    memcpy(face->corner, corner, (size_t)n * sizeof *corner);
    face->paint = paint;
    for (int i = 0; i < 3; i++) sun[i] = 0.55 * view->eye[i] + 0.75 * view->up[i] - 0.35 * view->right[i];
    face->light = fmax(0, dot3(sun, normal) / length3(sun));
    face->depth = camera_project(b->camera, center, page) + b->bias;
}

/* ---- bodies ------------------------------------------------------------------------------------------------------------- */

static struct ring make_ring(enum outline outline, const double *p, const double *y, const double *z, double width,
                             double height)
{
    static const double square[RECTANGLE_SIDES][2] = {{0.5, 0.5}, {-0.5, 0.5}, {-0.5, -0.5}, {0.5, -0.5}};
    struct ring ring = {.n = outline == OUTLINE_ROUND ? ROUND_SIDES : RECTANGLE_SIDES};
    for (int k = 0; k < ring.n; k++) {
        const double angle = 2 * 3.14159265358979324 * k / ring.n;
        const double a = outline == OUTLINE_ROUND ? 0.5 * cos(angle) : square[k][0];
        const double c = outline == OUTLINE_ROUND ? 0.5 * sin(angle) : square[k][1];
        for (int i = 0; i < 3; i++) ring.corner[k][i] = p[i] + a * width * y[i] + c * height * z[i];
    }
    return ring;
}

static void add_sides(struct builder *b, enum paint paint, const struct ring *from, const struct ring *to)
{
    for (int k = 0; k < from->n; k++) {
        const int next = (k + 1) % from->n;
        double corner[4][3];
        copy3(from->corner[k], corner[0]);
        copy3(from->corner[next], corner[1]);
        copy3(to->corner[next], corner[2]);
        copy3(to->corner[k], corner[3]);
        add_face(b, paint, 4, corner);
    }
}

static void add_cap(struct builder *b, enum paint paint, const struct ring *ring, bool first)
{
    double corner[MOST_CORNERS][3];
    for (int k = 0; k < ring->n; k++) copy3(ring->corner[first ? ring->n - 1 - k : k], corner[k]);
    add_face(b, paint, ring->n, corner);
}

/* Two axes normal to a direction */
static void axes_of(const double *direction, double y[3], double z[3])
{
    double x[3], other[3] = {0};
    const double length = length3(direction);
    for (int i = 0; i < 3; i++) x[i] = direction[i] / length;
    other[fabs(x[2]) < 0.9 ? 2 : 0] = 1;
    cross3(other, x, y);
    const double size = length3(y);
    for (int i = 0; i < 3; i++) y[i] /= size;
    cross3(x, y, z);
}

/* A straight bar, in pieces that sort well by depth */
static void add_bar(struct builder *b, enum paint paint, enum outline outline, const double *from, const double *to,
                    double width)
{
    double along[3], y[3], z[3], p[3];
    for (int i = 0; i < 3; i++) along[i] = to[i] - from[i];
    const double length = length3(along);
    if (length < 1e-9 * b->scene->size) return;
    const int pieces = (int)fmin(fmax(ceil(10 * length / b->scene->size), 1), 40);
    axes_of(along, y, z);
    struct ring last = {0};
    for (int k = 0; k <= pieces; k++) {
        for (int i = 0; i < 3; i++) p[i] = from[i] + along[i] * k / pieces;
        const struct ring ring = make_ring(outline, p, y, z, width, width);
        if (k == 0) add_cap(b, paint, &ring, true);
        else add_sides(b, paint, &last, &ring);
        if (k == pieces) add_cap(b, paint, &ring, false);
        last = ring;
    }
}

/* Along the sections of a link; a beam has axes of its own, others are normal to the line */
static void add_link(struct builder *b, const double *q, int i)
{
    const struct scene_link *link = &b->scene->link[i];
    const struct model *model = b->scene->mechanism->model;
    const enum paint paint = model->link[i].m > 0 ? PAINT_FLEXIBLE : PAINT_RIGID;
    struct ring last = {0};
    if (link->n_points < 2) return;
    struct pose pose[2] = {scene_point_pose(b->scene, q, i, 0)};
    if (model->robot->link[i].type == BODY_RIGID) {
        pose[1] = scene_point_pose(b->scene, q, i, 1);
        add_bar(b, paint, link->outline, pose[0].p, pose[1].p, link->point[0].width);
        return;
    }
    for (int k = 0; k < link->n_points; k++) {
        double y[3], z[3];
        pose[0] = scene_point_pose(b->scene, q, i, k);
        if (model->robot->link[i].type == BODY_BEAM) {
            for (int r = 0; r < 3; r++) y[r] = pose[0].R[3 * r + 1], z[r] = pose[0].R[3 * r + 2];
        } else {
            const int before = k > 0 ? k - 1 : 0, after = k + 1 < link->n_points ? k + 1 : k;
            const struct pose a = scene_point_pose(b->scene, q, i, before), c = scene_point_pose(b->scene, q, i, after);
            const double along[3] = {c.p[0] - a.p[0], c.p[1] - a.p[1], c.p[2] - a.p[2]};
            axes_of(along, y, z);
        }
        const struct ring ring = make_ring(link->outline, pose[0].p, y, z, link->point[k].width, link->point[k].height);
        if (k == 0) add_cap(b, paint, &ring, true);
        else add_sides(b, paint, &last, &ring);
        if (k == link->n_points - 1) add_cap(b, paint, &ring, false);
        last = ring;
    }
}

/* ---- symbols ------------------------------------------------------------------------------------------------------------- */

double solids_joint_size(const struct scene *scene, int link)
{
    const struct scene_link *drawn = &scene->link[link];
    const double wide = drawn->n_points > 0 ? fmax(drawn->point[0].width, drawn->point[0].height) : 0;
    return fmin(fmax(0.62 * wide, 0.55 * scene->nominal), 2.5 * scene->nominal);
}

/* A bar of length 2 h along a direction, about a point */
static void add_pin(struct builder *b, enum paint paint, enum outline outline, const double *p, const double *direction,
                    double h, double width)
{
    double from[3], to[3];
    for (int i = 0; i < 3; i++) from[i] = p[i] - h * direction[i], to[i] = p[i] + h * direction[i];
    add_bar(b, paint, outline, from, to, width);
}

/* Columns of the motion: a pin along each axis of rotation, a block along each axis of translation; of three or more a ball */
static void add_joint(struct builder *b, int i)
{
    const struct link_model *lm = &b->scene->mechanism->model->link[i];
    const struct link_work *w = &b->scene->mechanism->work->link[i];
    const enum paint paint = lm->prescribed >= 0 ? PAINT_PRESCRIBED : lm->passive ? PAINT_PASSIVE : PAINT_DRIVEN;
    const double r = solids_joint_size(b->scene, i);
    const struct pose C = scene_joint_frame(b->scene, i), O = scene_hinge_frame(b->scene, i);
    if (lm->joint.nv > 2) {
        for (int k = 0; k < 3; k++) {
            const double axis[3] = {O.R[k], O.R[3 + k], O.R[6 + k]};
            add_pin(b, paint, OUTLINE_ROUND, O.p, axis, r, 1.4 * r);
        }
        return;
    }
    add_bar(b, PAINT_ARM, OUTLINE_ROUND, C.p, O.p, 0.6 * r); /* the travel of a translational joint */
    for (int k = 0; k < lm->joint.nv; k++) {
        const bool turns = lm->joint.part[k] == TURNS;
        add_pin(b, paint, turns ? OUTLINE_ROUND : OUTLINE_RECTANGLE, C.p, w->h[k], 1.4 * r, turns ? 2 * r : 1.5 * r);
    }
}

static void add_payload(struct builder *b, int i)
{
    const struct link *link = &b->scene->mechanism->robot->link[i];
    const double side = 0.8 * scene_payload_size(b->scene, link->payload.mass);
    const struct pose T = scene_tip_frame(b->scene, i);
    const double x[3] = {T.R[0], T.R[3], T.R[6]};
    double p[3];
    copy3(T.p, p);
    add_mul3(T.R, link->payload.com, p);
    add_pin(b, PAINT_PAYLOAD, OUTLINE_RECTANGLE, p, x, 0.5 * side, side);
}

static void add_line(struct builder *b, int i)
{
    const struct anchor *end = b->scene->line[i]->anchor;
    const struct pose from = scene_anchor(b->scene, &end[0]), to = scene_anchor(b->scene, &end[1]);
    const double width = 1.1 * b->scene->nominal;
    double middle[3];
    for (int k = 0; k < 3; k++) middle[k] = from.p[k] + 0.6 * (to.p[k] - from.p[k]);
    add_bar(b, PAINT_ROD, OUTLINE_ROUND, middle, to.p, 0.5 * width);
    add_bar(b, PAINT_BARREL, OUTLINE_ROUND, from.p, middle, width);
    add_pin(b, PAINT_BARREL, OUTLINE_ROUND, from.p, b->camera->view.eye, 0.5 * width, 1.2 * width);
    add_pin(b, PAINT_BARREL, OUTLINE_ROUND, to.p, b->camera->view.eye, 0.5 * width, 1.2 * width);
}

static void add_symbols(struct builder *b)
{
    const struct mechanism *m = b->scene->mechanism;
    b->bias = 0.02 * b->scene->size;
    for (int i = 0; i < m->robot->n_links; i++) {
        add_joint(b, i);
        if (m->model->link[i].parent < 0 && m->model->link[i].joint.nv < MOST_VELOCITIES) { /* the ground */
            const struct pose C = scene_joint_frame(b->scene, i);
            const double r = solids_joint_size(b->scene, i), *up = b->camera->view.up;
            double low[3], high[3];
            for (int k = 0; k < 3; k++) low[k] = C.p[k] - 1.8 * r * up[k], high[k] = C.p[k] - 1.1 * r * up[k];
            add_bar(b, PAINT_GROUND, OUTLINE_RECTANGLE, low, high, 3.4 * r);
        }
        if (m->robot->link[i].has_payload) add_payload(b, i);
    }
    for (int i = 0; i < b->scene->n_lines; i++) add_line(b, i);
    for (int i = 0; i < m->robot->n_loops; i++) {
        const struct pose p = scene_anchor(b->scene, &m->model->site[m->robot->loop[i].site]);
        add_pin(b, PAINT_LOOP, OUTLINE_ROUND, p.p, b->camera->view.eye, 0.4 * b->scene->nominal,
                1.3 * b->scene->nominal);
    }
    b->bias = 0.05 * b->scene->size;
    const struct pose tip = scene_tip_frame(b->scene, m->model->tip);
    add_pin(b, PAINT_TIP, OUTLINE_ROUND, tip.p, b->camera->view.eye, 0.4 * b->scene->nominal, b->scene->nominal);
}

/* ---- all of them ----------------------------------------------------------------------------------------------------------- */

static int by_depth(const void *a, const void *b)
{
    const struct face *x = a, *y = b;
    if (x->depth == y->depth) return x->order - y->order;
    return x->depth > y->depth ? 1 : -1;
}

void solids_make(const struct scene *scene, const double *q, const struct camera *camera, struct solids *solids)
{
    struct builder b = {.scene = scene, .camera = camera, .solids = solids};
    memset(solids, 0, sizeof *solids);
    for (int i = 0; i < 3; i++) b.eye[i] = camera->target[i] + camera->distance * camera->view.eye[i];
    for (int i = 0; i < scene->mechanism->model->n_links; i++) add_link(&b, q, i);
    b.bias = -0.02 * scene->size; /* arms are behind the bodies that they reach */
    for (int i = 0; i < scene->n_arms; i++) {
        const struct pose from = scene_anchor(scene, &scene->arm[i].from), to = scene_anchor(scene, &scene->arm[i].to);
        add_bar(&b, PAINT_ARM, OUTLINE_ROUND, from.p, to.p, 0.6 * scene->nominal);
    }
    add_symbols(&b);
    if (solids->n > 0) qsort(solids->face, (size_t)solids->n, sizeof *solids->face, by_depth);
}

void solids_free(struct solids *solids)
{
    free(solids->face);
}
