#include "picture.h"

#include <math.h>
#include <string.h>

#include "dyn/dyn.h"
#include "dyn/sites.h"
#include "math/vec.h"

/* ---- pose -------------------------------------------------------------------------------------------------------------- */

/* Frames of all undeformed links at the start. */
static bool compute_pose(const struct fmu *fmu, struct arena *arena)
{
    const struct model *model = fmu->model;
    double *q = arena_take(arena, (size_t)model->nq, sizeof *q), *qd = arena_take(arena, (size_t)model->nv, sizeof *qd);
    if (arena->failed) return false;
    model_start(model, q, qd);
    memset(qd, 0, (size_t)model->nv * sizeof *qd);
    const struct input in = {.q = q, .qd = qd};
    dyn_configuration(model, fmu->work, q);
    dyn_motion(model, fmu->work, &in, NULL);
    dyn_velocity(model, fmu->work, &in);
    return true;
}

/* ---- view -------------------------------------------------------------------------------------------------------------- */

struct view {
    double right[3], up[3];
};

/* A robot that stays in a plane normal to the world axis `n`: its rotation axes are along n, its translation axes and offsets
   normal to n. */
static bool planar(const struct model *model, const struct work *work, int n)
{
    double lowest = 0, highest = 0, size = 0;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_work *w = &work->link[i];
        struct frame_motion tip;
        dyn_tip(model, work, i, &tip);
        lowest = fmin(lowest, fmin(w->O.p[n], tip.p[n]));
        highest = fmax(highest, fmax(w->O.p[n], tip.p[n]));
        size = fmax(size, sqrt(dot3(tip.p, tip.p)));
        for (int k = 0; k < model->link[i].joint.nv; k++) {
            const bool turns = model->link[i].joint.part[k] == TURNS;
            if (turns ? fabs(w->h[k][n]) < 1 - 1e-9 : fabs(w->h[k][n]) > 1e-9) return false;
        }
    }
    return highest - lowest <= 1e-9 * size;
}

/* Planar robots are viewed normal to their plane, others obliquely from above, with gravity down. */
static struct view choose_view(const struct model *model, const struct work *work)
{
    static const struct view across[3] = {{{0, 1, 0}, {0, 0, 1}}, {{1, 0, 0}, {0, 0, 1}}, {{1, 0, 0}, {0, 1, 0}}};
    for (int n = 2; n >= 0; n--)
        if (planar(model, work, n)) return across[n];

    const double turn = -0.6, tilt = 0.4; /* [rad] */
    const double g = sqrt(dot3(model->gravity, model->gravity));
    double up[3] = {0, 0, 1}, side[3] = {1, 0, 0}, away[3];
    for (int i = 0; i < 3 && g > 0; i++) up[i] = -model->gravity[i] / g;
    if (fabs(up[0]) > 0.9) side[0] = 0, side[1] = 1;
    axpy3(-dot3(side, up), up, side);
    const double length = sqrt(dot3(side, side));
    for (int i = 0; i < 3; i++) side[i] /= length;
    cross3(up, side, away);
    struct view view;
    for (int i = 0; i < 3; i++) {
        const double back = cos(turn) * away[i] - sin(turn) * side[i];
        view.right[i] = cos(turn) * side[i] + sin(turn) * away[i];
        view.up[i] = cos(tilt) * up[i] + sin(tilt) * back;
    }
    return view;
}

static void project(const struct view *view, const double p[3], double out[2])
{
    out[0] = dot3(view->right, p);
    out[1] = -dot3(view->up, p);
}

/* ---- the drawing --------------------------------------------------------------------------------------------------------- */

/* The point that carries the joint of a link */
static void place_mount(const struct fmu *fmu, const struct view *view, int i, struct picture *picture)
{
    const struct anchor mount = sites_anchor(fmu->model, &fmu->model->robot->link[i].mount);
    struct frame_motion motion;
    memcpy(picture->link[i].from, picture->origin, sizeof picture->origin);
    if (mount.link < 0) return;
    dyn_frame(fmu->model, fmu->work, &mount, &motion);
    project(view, motion.p, picture->link[i].from);
}

static void place_links(const struct fmu *fmu, const struct view *view, struct picture *picture)
{
    const struct model *model = fmu->model;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct picture_link *link = &picture->link[i];
        struct frame_motion tip;
        dyn_tip(model, fmu->work, i, &tip);
        project(view, fmu->work->link[i].O.p, link->hinge);
        project(view, tip.p, link->tip);
        place_mount(fmu, view, i, picture);
        link->flexible = lm->m > 0;
        link->moves = lm->joint.nv > 0;
        link->payload = model->robot->link[i].has_payload;
    }
}

struct box {
    double low[2], high[2];
};

static void widen(struct box *box, const double p[2])
{
    for (int i = 0; i < 2; i++) {
        box->low[i] = fmin(box->low[i], p[i]);
        box->high[i] = fmax(box->high[i], p[i]);
    }
}

/* Meters to pixels, the robot in the center. */
static void fit(struct picture *picture, double low, double height, double margin)
{
    struct box box = {{0}, {0}};
    for (int i = 0; i < picture->n_links; i++) {
        widen(&box, picture->link[i].hinge);
        widen(&box, picture->link[i].tip);
    }
    const double size[2] = {box.high[0] - box.low[0], box.high[1] - box.low[1]};
    double scale = INFINITY;
    if (size[0] > 0) scale = fmin(scale, (picture->width - 2 * margin) / size[0]);
    if (size[1] > 0) scale = fmin(scale, (height - 2 * margin) / size[1]);
    if (!isfinite(scale)) scale = 1;
    picture->height = fmin(height, fmax(low, scale * size[1] + 2 * margin));

    const double room[2] = {picture->width, picture->height};
    for (int i = 0; i < 2; i++) {
        const double shift = 0.5 * (room[i] - scale * (box.low[i] + box.high[i]));
        picture->origin[i] = shift;
        for (int k = 0; k < picture->n_links; k++) {
            struct picture_link *link = &picture->link[k];
            link->from[i] = shift + scale * link->from[i];
            link->hinge[i] = shift + scale * link->hinge[i];
            link->tip[i] = shift + scale * link->tip[i];
        }
    }
}

bool picture_make(const struct fmu *fmu, double width, double low, double height, double margin, struct arena *arena,
                  struct picture *picture)
{
    const int n = fmu->model->n_links;
    *picture = (struct picture){.width = width, .n_links = n, .tip = fmu->model->tip};
    picture->link = arena_take(arena, (size_t)n, sizeof *picture->link);
    if (picture->link == NULL || !compute_pose(fmu, arena)) return false;
    const struct view view = choose_view(fmu->model, fmu->work);
    for (int i = 0; i < 3; i++) {
        const double e[3] = {i == 0, i == 1, i == 2};
        project(&view, e, picture->axis[i]);
    }
    place_links(fmu, &view, picture);
    fit(picture, low, height, margin);
    return true;
}
