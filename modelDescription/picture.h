/* The robot in its start pose, projected: what the page draws as SVG and the icon as pixels. */
#ifndef PICTURE_H
#define PICTURE_H

#include "fmu.h"

struct picture_link {
    double from[2];  /* where the link is attached: tip of its parent, or the world's origin */
    double hinge[2]; /* O                                                                    */
    double tip[2];   /* T                                                                    */
    bool flexible, moves, payload;
};

/* Pixels, x to the right, y down. */
struct picture {
    double width, height;
    int n_links;
    struct picture_link *link;
    double origin[2];  /* of the world                                  */
    double axis[3][2]; /* its axes, unit vectors projected, not scaled  */
    int tip;           /* link with the tip frame                       */
};

/* Fits the robot into width by at most `height`, at least `low`, with a margin. False: out of memory. */
bool picture_make(const struct fmu *fmu, double width, double low, double height, double margin, struct arena *arena,
                  struct picture *picture);

#endif
