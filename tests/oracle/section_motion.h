/* The motion of any section of a flexible link, from that of its body frame F: not as the recursions compute it. */
#ifndef SUPPORT_SECTION_MOTION_H
#define SUPPORT_SECTION_MOTION_H

#include "dyn/dyn.h"

/* For the accelerations of the last dyn_motion(). After dyn_velocity(). */
void motion_of_section(const struct model *model, const struct work *work, const struct input *in, const double *qdd,
                       int link, const struct section *section, struct frame_motion *motion);

#endif
