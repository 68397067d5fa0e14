/* Force elements over expressions: their motion, their forces on the tree. */
#ifndef GENERATE_ELEMENTS_H
#define GENERATE_ELEMENTS_H

#include "generate/parts.h"

/* Position and rate of what each drive moves: 2 n_drives. */
void elements_measure_drives(struct robot_parts *parts, expr *motion);

/* Wrenches of elements, and those given on the tip and on frames, as inertia forces with the opposite sign. After parts_motion(). */
void elements_load(struct robot_parts *parts);

/* Force of elements without drives on velocity k of the joint of a link. */
expr elements_joint_force(const struct robot_parts *parts, int link, int k);

/* Why a robot cannot be generated; NULL: it can. */
const char *elements_refused(const struct mechanism *m, char text[REASON_SIZE]);

#endif
