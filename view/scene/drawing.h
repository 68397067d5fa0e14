/* A picture of a robot as SVG: perspective, shaded bodies, names that do not overlap. */
#ifndef SCENE_DRAWING_H
#define SCENE_DRAWING_H

#include <stdio.h>

#include "view/scene/scene.h"

struct drawing {
    int width, height; /* of the picture, in pixels */
    bool names;
};

/* Draws the scene at q. Returns STATUS_OK or STATUS_NO_MEMORY; errors of the stream are found by ferror(). The result is an element
   svg that an HTML page can contain. */
enum status drawing_write(struct scene *scene, const double *q, const struct drawing *drawing, FILE *stream);

#endif
