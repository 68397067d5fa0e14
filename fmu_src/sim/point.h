/* A point: a state and what acts on it; or a seed: small changes of these, number by number. States, inputs and tunable
   parameters of a robot are in these arrays. */
#ifndef SIM_POINT_H
#define SIM_POINT_H

#include "dyn/tangent.h"

struct point {
    const struct model *model;
    size_t size;            /* of the block that the arrays share, q first                    */
    double *q, *qd;         /* nq, nv: with those of prescribed joints                        */
    double *prescribed_qdd; /* n_prescribed                                                   */
    double *drive;          /* all values of the drives (drive/drive.h), states among them    */
    double *tau;            /* n_tau                                                          */
    double *line_force;     /* n_lines                                                    */
    double *tip_wrench;     /* 6: (torque; force), world axes                                 */
    double *frame_wrench;   /* 6 n_frames: the same for every frame of the robot */
    /* used in a seed only, the model has the masses: struct mass_direction */
    double *payload_mass, *payload_com, *payload_inertia, *added_mass;
};

/* Arrays of zeros from the arena, in this order. The caller checks whether the arena failed. */
void point_make(const struct model *model, struct arena *arena, struct point *point);
void point_clear(const struct point *point);
/* All numbers of a point to another one of the same robot. */
void point_copy(const struct point *from, const struct point *to);

/* Without drives: their efforts are given. */
struct input point_input(const struct point *point);

/* The direction of a seed, with dx for the tangent (nv numbers) of its change of q. */
struct direction point_direction(const struct point *seed, const double *dx);

#endif
