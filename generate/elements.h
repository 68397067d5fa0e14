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

/* Whether all kinds of elements and constraints of a robot have their expressions; reports the first that has none. */
bool elements_known(const struct mechanism *m, struct report *report);

#endif
