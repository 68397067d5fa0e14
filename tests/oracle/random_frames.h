/* Random frames on the links of a random robot (random_robot.h): sensors, loads, and children that hang on them. */
#ifndef ORACLE_RANDOM_FRAMES_H
#define ORACLE_RANDOM_FRAMES_H

#include "oracle/random.h"

/* The text of a robot with two frames on every link, in format 2; the caller frees it. */
char *random_frames(struct random *random, const char *text);

#endif
