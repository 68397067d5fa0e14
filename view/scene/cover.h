/* Which parts of a page are drawn on: a raster of small cells. */
#ifndef SCENE_COVER_H
#define SCENE_COVER_H

#include "base/arena.h"
#include "view/scene/labels.h"

enum { COVER_CELL = 4 }; /* pixels */

struct cover {
    int columns, rows;
    bool *drawn; /* rows x columns */
};

/* An empty page, in memory of the arena, which notes failure. */
struct cover cover_make(int width, int height, struct arena *arena);

/* Adds a convex polygon of n corners, in pixels. */
void cover_add(struct cover *cover, int n, const double (*corner)[2]);

/* The part of a box that is drawn on, 0 to 1. */
double cover_part(const struct cover *cover, const struct box *box);

#endif
