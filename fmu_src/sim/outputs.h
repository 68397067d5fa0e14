/* All computed numbers of a robot at a point; or their changes in a direction. The rows of the variable table point into it. */
#ifndef SIM_OUTPUTS_H
#define SIM_OUTPUTS_H

#include "mech/element.h"

struct link_outputs {
    double wrench[6];                  /* (moment; force) of the joint on the link, hinge axes  */
    double deflection[3], rotation[3]; /* of the tip of a flexible link, hinge axes             */
    double quaternion[4];              /* orientation of O, without a derivative                */
};

/* A frame that a sensor reports: the tip, or a frame of the robot. */
struct frame_outputs {
    double position[3], quaternion[4], velocity[3], angular_velocity[3], acceleration[3]; /* world axes       */
    double specific_force[3], angular_rate[3]; /* acceleration minus gravity, angular velocity; its own axes */
    double curvature[3], elongation;           /* of the beam's axis, at a station                           */
};

struct outputs {
    const struct model *model;
    const double *q, *qd, *qdd;          /* nq, nv, nv                                                   */
    double *position_rate;               /* nq: dq/dt, quaternions not normalized                        */
    const double *force;                 /* nv: generalized forces: what drives of prescribed joints provide   */
    const double *lambda;                /* multipliers of all constraints                               */
    const struct constraint *constraint; /* loops in their order, then rigid couplings             */
    struct frame_outputs *frame;         /* 1 + n_frames: the tip, then the frames of the robot that are sensors */
    struct link_outputs *link;           /* n_links                                                    */
    double (*element)[ELEMENT_NUMBERS];  /* of all elements                                            */

    const double *drive;                        /* all values of the drives                            */
    const double *supply_demand, *supply_share; /* n_supplies                                          */

    /* without a derivative */
    struct energy energy;
    double joint_power, line_power;
};

#endif
