/* A point: a state and what acts on it; or a direction: small changes of these. The arrays that the variables of a robot which
   can be set point into. */
#ifndef SIM_POINT_H
#define SIM_POINT_H

#include "dyn/tangent.h"

struct point {
    const struct model *model;
    double *q, *qd;         /* all coordinates, those of prescribed joints too                */
    double *tau;            /* torques and forces of the joints that move                     */
    double *prescribed_qdd; /* accelerations of the prescribed joints                         */
    double *actuator_force; /* n_actuators                                                    */
    double *tip_wrench;     /* 6: (torque; force), world axes                                 */
    double *payload_mass;   /* n_links; used in a direction only: the model has the masses    */
};

/* Arrays of zeros from the arena; q and qd are one block. The caller checks whether the arena failed. */
void point_make(const struct model *model, struct arena *arena, struct point *point);
void point_clear(const struct point *point);

/* Numbers in the block of q and qd */
int point_size(const struct point *point);

struct input point_input(const struct point *point);
struct direction point_direction(const struct point *point);

#endif
