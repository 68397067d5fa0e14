/* Robots cut and joined: ways to say the same robot differently, which must not change any answer. */
#ifndef ORACLE_SURGERY_H
#define ORACLE_SURGERY_H

#include "robot/robot.h"

/* Puts a massless rigid link before link i. It takes over the joint; link i becomes i+1, fixed to it at its origin, and
   keeps its body. Returns the new link i, NULL when memory is out. */
struct link *insert_carrier(struct robot *robot, int i);

/* Adds a massless rigid link, fixed to the tip of link i at its origin, to the end of the file. The tip that is reported
   stays where it was. */
struct link *append_fixed(struct robot *robot, int i);

/* Turns a beam without modes into the rigid body it is. */
void beam_to_rigid(struct link *link);

/* Replaces every joint with several velocities by as many revolute and prismatic joints with massless links between: universal by
   two revolutes, cylindrical by a revolute and a prismatic, spherical by revolutes about x, y, z, free by three prismatics and
   those. Springs and friction of quaternions are lost. Returns how many it found, -1 without memory. */
int split_joints(struct robot *robot);

/* Puts the robot on a free joint: the first link gets one that takes no forces, and carries all that stood on the world. */
void set_afloat(struct robot *robot);

/* Moves the whole robot in its world: x -> R x + t. Gravity turns too. */
void move_world(struct robot *robot, const double R[9], const double t[3]);

#endif
