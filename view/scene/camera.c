#include "view/scene/camera.h"

#include <math.h>

#include "math/vec.h"

/* Whether the robot stays in a plane normal to the world axis `n`: its rotation axes are along n, its translation axes and offsets
   normal to n. */
static bool planar(const struct scene *scene, int n)
{
    const struct model *model = scene->mechanism->model;
    const struct work *work = scene->mechanism->work;
    double lowest = 0, highest = 0;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_work *w = &work->link[i];
        const struct pose tip = scene_tip_frame(scene, i);
        lowest = fmin(lowest, fmin(w->O.p[n], tip.p[n]));
        highest = fmax(highest, fmax(w->O.p[n], tip.p[n]));
        for (int k = 0; k < model->link[i].joint.nv; k++) {
            const bool turns = model->link[i].joint.part[k] == TURNS;
            if (turns ? fabs(w->h[k][n]) < 1 - 1e-9 : fabs(w->h[k][n]) > 1e-9) return false;
        }
    }
    return highest - lowest <= 0.05 * scene->size;
}

static void normalize(double *x)
{
    const double length = sqrt(dot3(x, x));
    for (int i = 0; i < 3; i++) x[i] /= length;
}

struct view scene_view(const struct scene *scene)
{
    int plane = 2;
    while (plane >= 0 && !planar(scene, plane)) plane--;
    struct view view;
    double front[3] = {0}, side[3];

    /* up is against gravity; without gravity z, or y if the robot moves in the plane of x and y */
    for (int i = 0; i < 3; i++) view.up[i] = -scene->mechanism->model->gravity[i];
    const double g = sqrt(dot3(view.up, view.up));
    if (g == 0 || (plane >= 0 && !(fabs(view.up[plane]) < 0.5 * g)))
        for (int i = 0; i < 3; i++) view.up[i] = i == (plane == 2 ? 1 : 2);
    normalize(view.up);

    if (plane >= 0) front[plane] = plane == 1 ? -1 : 1;
    else front[fabs(view.up[1]) > 0.9 ? 2 : 1] = fabs(view.up[1]) > 0.9 ? 1 : -1; /* x to the right */
    axpy3(-dot3(front, view.up), view.up, front);
    normalize(front);
    cross3(view.up, front, side);
    const double azimuth = plane >= 0 ? 0.3 : 0.6, tilt = plane >= 0 ? 0.2 : 0.38; /* [rad] */
    for (int i = 0; i < 3; i++) {
        const double level = cos(azimuth) * front[i] + sin(azimuth) * side[i];
        view.right[i] = cos(azimuth) * side[i] - sin(azimuth) * front[i];
        view.eye[i] = cos(tilt) * level + sin(tilt) * view.up[i];
    }
    return view;
}

double camera_project(const struct camera *camera, const double point[3], double page[2])
{
    double d[3], page_up[3];
    for (int i = 0; i < 3; i++) d[i] = point[i] - camera->target[i];
    cross3(camera->view.eye, camera->view.right, page_up);
    const double depth = dot3(d, camera->view.eye), scale = camera->distance / (camera->distance - depth);
    page[0] = scale * dot3(d, camera->view.right);
    page[1] = -scale * dot3(d, page_up);
    return depth;
}
