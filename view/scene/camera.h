/* The direction from which a robot is seen, and the perspective of pictures. */
#ifndef SCENE_CAMERA_H
#define SCENE_CAMERA_H

#include "view/scene/scene.h"

/* Unit vectors, world axes: up on the page, to the right, towards the eye. */
struct view {
    double up[3], right[3], eye[3];
};

/* Gravity points down; robots that move in a plane are seen almost normal to it, others obliquely from above. After scene_pose(). */
struct view scene_view(const struct scene *scene);

/* Perspective: the eye is at a distance from a target. */
struct camera {
    struct view view;
    double target[3], distance;
};

/* (right, up, towards the eye) of a point relative to the target, and its place on the page: right and down, in lengths at the distance
   of the target. Returns the depth, which is larger for nearer points. */
double camera_project(const struct camera *camera, const double point[3], double page[2]);

#endif
