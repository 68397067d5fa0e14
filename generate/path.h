/* The way from the frame that carries a joint to the frame of the body that moves: turns, slides, and the columns of the joint's motion
   subspace, each along one axis of the frame it is met in. Frames of rigid bodies are free, so they are chosen such that most
   elements vanish (Denavit and Hartenberg): parts.c. */
#ifndef GENERATE_PATH_H
#define GENERATE_PATH_H

#include "dyn/model.h"
#include "generate/graph/spatial.h"

enum element_kind { TURN, MATRIX, SLIDE, COLUMN };

/* A turn about an axis: by an angle, a variable plus a constant offset, or by cosine and sine. */
struct pending {
    bool by_angle;
    expr angle;
    double offset;
    expr c, s;
};

struct element {
    enum element_kind move;
    struct turn turn;  /* TURN                                                       */
    struct pending by; /* TURN: where turn comes from                               */
    expr R[9];         /* MATRIX: a turn whose columns are the new axes               */
    int axis;          /* SLIDE, COLUMN                                               */
    expr amount;       /* SLIDE                                              [m]      */
    int part;          /* COLUMN: TURNS or SLIDES                                     */
    int k;             /* COLUMN: velocity k of the joint                             */
    bool joined;       /* COLUMN: its rate counts from the same frame as that of the column before: axes fixed in O */
};

enum { MOST_ELEMENTS = 48 };
struct path {
    int n;
    struct element element[MOST_ELEMENTS];
};

/* Elements of a constant rotation except its last turn about z, which is returned; and all of them. */
struct pending path_rotation_but_z(struct graph *g, const double R[9], struct path *path);
void path_rotation(struct graph *g, const double R[9], struct path *path);
void path_slides(struct graph *g, const double p[3], struct path *path);

/* The same of Exp(theta) R, theta small. */
struct pending path_deflection_but_z(struct graph *g, const expr theta[3], const double R[9], struct path *path);

void path_deflection(struct graph *g, const expr theta[3], struct path *path); /* R = 1, with the last turn */

void path_slide(int axis, expr amount, struct path *path);

/* Appends the joint from its frame turned such that its first axis is z, at the positions q. The last z axis is that of its last
   coordinate; `to` is the constant rotation of the body's frame from there. */
void path_joint(struct graph *g, const struct joint_model *joint, const expr *q, struct pending before, expr offset,
                const double to[9], struct path *path);

/* A rotation with z along a unit vector: exact where that is an axis. */
void path_align_z(const double axis[3], double A[9]);
/* The first or last axis of a joint in its own frame; false: the joint has none. */
bool path_joint_axis(const struct joint_model *joint, bool last, double axis[3]);

/* One element of a path, inward: a vector, a wrench, an inertia, a solid in the frame before it. */
void path_element_back(struct graph *g, const struct element *e, expr x[3]);
void path_element_forth(struct graph *g, const struct element *e, expr x[3]);
void path_element_wrench_back(struct graph *g, const struct element *e, expr f[6]);
void path_element_motion_forth(struct graph *g, const struct element *e, expr x[6]);
void path_element_spatial_back(struct graph *g, const struct element *e, struct spatial *P);
void path_element_solid_back(struct graph *g, const struct element *e, struct solid *solid);
/* Through all elements: a solid, a vector. */
void path_solid_back(struct graph *g, const struct path *path, struct solid *solid);
struct vector path_back(struct graph *g, const struct path *path, struct vector x);
struct vector path_forth(struct graph *g, const struct path *path, struct vector x);

#endif
