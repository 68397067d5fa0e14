#include "picture.h"

#include <math.h>

#include "view/scene/camera.h"

/* Lengths to pixels, the robot in the center. */
static void fit(struct picture *picture, double side, double margin)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, scale = INFINITY;
    for (int i = 0; i < picture->n_links; i++)
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], fmin(picture->link[i].hinge[k], picture->link[i].tip[k]));
            high[k] = fmax(high[k], fmax(picture->link[i].hinge[k], picture->link[i].tip[k]));
        }
    for (int k = 0; k < 2; k++)
        if (high[k] > low[k]) scale = fmin(scale, (side - 2 * margin) / (high[k] - low[k]));
    if (!isfinite(scale)) scale = 1;
    for (int i = 0; i < picture->n_links; i++)
        for (int k = 0; k < 2; k++) {
            const double shift = 0.5 * (side - scale * (low[k] + high[k]));
            double *const place[] = {picture->link[i].from, picture->link[i].hinge, picture->link[i].tip};
            for (int j = 0; j < 3; j++) place[j][k] = shift + scale * place[j][k];
        }
}

bool picture_make(const struct fmu *fmu, double side, double margin, struct arena *arena, struct picture *picture)
{
    struct scene scene;
    const int n = fmu->model->n_links;
    *picture = (struct picture){.n_links = n, .tip = fmu->model->tip};
    picture->link = arena_allocate(arena, (size_t)n, sizeof *picture->link);
    const bool made = scene_make(fmu->mechanism, &scene) == STATUS_OK && picture->link != NULL;
    if (made) {
        scene_pose(&scene, scene.q);
        const struct camera camera = {.view = scene_view(&scene), .distance = 100 * scene.size};
        for (int i = 0; i < n; i++) {
            const struct link_model *lm = &fmu->model->link[i];
            struct picture_link *link = &picture->link[i];
            const struct pose O = scene_hinge_frame(&scene, i), T = scene_tip_frame(&scene, i);
            const struct pose parent = lm->parent >= 0 ? scene_tip_frame(&scene, lm->parent) : (struct pose){.p = {0}};
            camera_project(&camera, O.p, link->hinge);
            camera_project(&camera, T.p, link->tip);
            camera_project(&camera, parent.p, link->from);
            link->flexible = lm->m > 0;
            link->moves = lm->joint.nv > 0;
        }
        fit(picture, side, margin);
    }
    scene_free(&scene);
    return made;
}
