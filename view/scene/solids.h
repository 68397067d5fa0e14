/* The robot as flat faces in perspective, the farthest first. */
#ifndef SCENE_SOLIDS_H
#define SCENE_SOLIDS_H

#include "view/scene/camera.h"

enum paint {
    PAINT_FLEXIBLE,
    PAINT_RIGID,
    PAINT_ARM,
    PAINT_DRIVEN,
    PAINT_PASSIVE,
    PAINT_PRESCRIBED,
    PAINT_BARREL,
    PAINT_ROD,
    PAINT_LOOP,
    PAINT_PAYLOAD,
    PAINT_TIP,
    PAINT_GROUND
};

enum { MOST_CORNERS = 14 };

struct face {
    int n;                          /* corners                                       */
    double corner[MOST_CORNERS][3]; /* world                                         */
    enum paint paint;
    double light; /* 0 to 1                                        */
    double depth; /* larger: nearer                                */
    int order;    /* of those with the same depth                  */
};

struct solids {
    int n, capacity;
    struct face *face; /* by rising depth                               */
    bool failed;       /* out of memory                                 */
};

/* Faces towards the eye of everything that is drawn at q. After scene_pose(). solids_free() in any case. */
void solids_make(const struct scene *scene, const double *q, const struct camera *camera, struct solids *solids);
void solids_free(struct solids *solids);

/* Half the length of the symbol of a link's joint, which is also how far a label should stay away. */
double solids_joint_size(const struct scene *scene, int link);

#endif
