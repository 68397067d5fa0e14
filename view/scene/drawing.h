/* A picture of a robot as SVG: perspective, shaded bodies, names that do not overlap. */
#ifndef SCENE_DRAWING_H
#define SCENE_DRAWING_H

#include <stdio.h>

#include "view/scene/scene.h"

struct drawing {
    int width, height; /* of the picture, in pixels */
    bool names;
};

/* At q. Returns STATUS_NO_MEMORY, or STATUS_OK; errors of the stream are kept by the stream. Inside a page it is an element svg. */
enum status drawing_write(struct scene *scene, const double *q, const struct drawing *drawing, FILE *stream);

#endif
