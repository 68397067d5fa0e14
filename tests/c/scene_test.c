/* Scenes of random robots: bodies end where the kinematics has hinge and tip, ellipsoids have the inertia of their links, names in
   pictures do not overlap. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "math/vec.h"
#include "oracle/scatter.h"
#include "view/scene/drawing.h"
#include "view/scene/labels.h"

enum { ROBOTS = 100 };

static double pose_error(const struct pose *a, const double *p, const double *R)
{
    return larger(distance(3, a->p, p), distance(9, a->R, R));
}

/* The first point of a beam is at O, the last one at T, with their orientations: the same sections by two ways */
static double check_ends(struct specimen *s, struct scene *scene, int i)
{
    struct frame_motion tip;
    const struct scene_link *link = &scene->link[i];
    dyn_tip(s->model, s->work, i, &tip);
    const struct pose T = scene_tip_frame(scene, i), O = scene_hinge_frame(scene, i);
    double worst = larger(pose_error(&T, tip.p, tip.R), pose_error(&O, s->work->link[i].O.p, s->work->link[i].O.R));
    if (link->n_points < 2 || s->robot->link[i].type == BODY_NODAL) return worst;
    const struct pose first = scene_point_pose(scene, s->q, i, 0);
    const struct pose last = scene_point_pose(scene, s->q, i, link->n_points - 1);
    worst = larger(worst, distance(3, first.p, O.p));
    worst = larger(worst, distance(3, last.p, tip.p));
    return s->robot->link[i].type == BODY_BEAM ? larger(worst, distance(9, last.R, tip.R)) : worst;
}

/* The array has what the functions return, and is filled to its end */
static void check_numbers(const struct specimen *s, struct scene *scene)
{
    const int n = scene_number_count(scene);
    double *number = malloc((size_t)(n + 1) * sizeof *number);
    for (int i = 0; i <= n; i++) number[i] = NAN;
    scene_numbers(scene, s->q, number);
    const struct pose O = scene_hinge_frame(scene, 0), T = scene_tip_frame(scene, 0);
    CHECK_NEAR(pose_error(&O, number + 12, number + 15), 0, 0);
    CHECK_NEAR(pose_error(&T, number + 24, number + 27), 0, 0);
    const double *frames = number + n - 12 * s->robot->n_frames - 6 * s->robot->n_loops - 6 * s->robot->n_lines;
    for (int i = 0; i < s->robot->n_frames; i++) {
        const struct pose frame = scene_anchor(scene, &s->model->frame[i]);
        CHECK_NEAR(pose_error(&frame, frames + 12 * i, frames + 12 * i + 3), 0, 0);
    }
    for (int i = 0; i < n; i++) CHECK(isfinite(number[i]));
    CHECK(isnan(number[n]));
    free(number);
}

/* J_k = m (a_i^2 + a_j^2)/5 about the axes of the ellipsoid: its inertia is that of the link, where this is that of a body with volume;
   1 if it is */
static int check_ellipsoid(const struct mass_properties *body, const struct scene_link *link)
{
    const double *a = link->ellipsoid.semiaxes, m = body->mass;
    double J[6] = {0}, principal[6] = {0};
    if (!link->has_ellipsoid || !(a[0] > 0 && a[1] > 0 && a[2] > 0)) return 0;
    for (int k = 0; k < 3; k++)
        principal[k] = m / 5 * (a[(k + 1) % 3] * a[(k + 1) % 3] + a[(k + 2) % 3] * a[(k + 2) % 3]);
    rotate_sym3(link->ellipsoid.at.R, principal, J);
    CHECK_NEAR(distance(6, J, body->inertia), 0, 1e-12 * (1 + norm(6, body->inertia)));
    return 1;
}

TEST(scenes_of_random_robots)
{
    double worst = 0;
    int ellipsoids = 0;
    for (int seed = 0; seed < ROBOTS; seed++) {
        struct specimen s;
        struct scene scene;
        CHECK(specimen_mixed(&s, seed));
        CHECK(scene_make(&s.mechanism, &scene) == STATUS_OK);
        scene_pose(&scene, s.q);
        for (int i = 0; i < s.model->n_links; i++) {
            worst = larger(worst, check_ends(&s, &scene, i));
            ellipsoids += check_ellipsoid(&s.robot->link[i].rigid, &scene.link[i]);
        }
        check_numbers(&s, &scene);
        scene_free(&scene);
        specimen_free(&s);
    }
    CHECK_NEAR(worst, 0, 1e-12); /* rounding of some meters */
    CHECK(ellipsoids > 20);
    printf("     worst %.1e\n", worst);
}

/* However crowded: names that are placed are apart and on the page */
TEST(labels_do_not_overlap)
{
    struct random random = {5};
    struct label label[60];
    int placed = 0;
    for (int i = 0; i < 60; i++) {
        label[i] = (struct label){.text = i % 3 == 0 ? "a" : "a_longer_name", .away = 6};
        for (int k = 0; k < 2; k++) label[i].at[k] = 100 + 150 * uniform(&random, 0, 1);
    }
    labels_place(label, 60, 13, 400, 300, NULL);
    for (int i = 0; i < 60; i++) {
        const struct box *a = &label[i].box;
        if (!label[i].placed) continue;
        placed++;
        CHECK(a->x >= 0 && a->y >= 0 && a->x + a->width <= 400 && a->y + a->height <= 300);
        for (int j = 0; j < i; j++) {
            const struct box *b = &label[j].box;
            CHECK(!label[j].placed || a->x >= b->x + b->width || b->x >= a->x + a->width || a->y >= b->y + b->height ||
                  b->y >= a->y + a->height);
        }
    }
    CHECK(placed > 20);
}

SUITE(scene_test)
