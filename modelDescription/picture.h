/* The robot in its start pose as lines on a square: what the icon draws. */
#ifndef PICTURE_H
#define PICTURE_H

#include "fmu.h"

struct picture_link {
    double from[2];  /* where the link is attached: tip of its parent, or the world's origin */
    double hinge[2]; /* O                                                                    */
    double tip[2];   /* T                                                                    */
    bool flexible, moves;
};

/* Pixels, x to the right, y down. */
struct picture {
    int n_links;
    struct picture_link *link;
    int tip; /* link with the tip frame */
};

/* Fits the robot into a square with a margin. False: out of memory. */
bool picture_make(const struct fmu *fmu, double side, double margin, struct arena *arena, struct picture *picture);

#endif
