/* FMU names of positions, velocities and accelerations. */
#ifndef ANALYSIS_NAMES_H
#define ANALYSIS_NAMES_H

#include "dyn/model.h"

enum { NAME_SIZE = 1024 };

enum derivative { POSITION, VELOCITY, ACCELERATION, TANGENT };

/* Names of q (J.q, J.quaternion[k], L.eta[k]), of qd (J.qd, J.omega[k], L.etad[k]) or of qdd, at index i of that array; of a tangent of q:
   that of the position, or J.dtheta[k] for a quaternion. */
void name_coordinate(const struct model *model, enum derivative derivative, int i, char name[NAME_SIZE]);

/* Name of the force on velocity k of a joint: J.tau, J.torque[k]. */
void name_joint_force(const struct joint *joint, int k, char name[NAME_SIZE]);

/* The link that velocity i belongs to. */
int name_velocity_link(const struct model *model, int i);

#endif
