/* Clamped natural frequencies of a link alone: its body with F fixed, without hub and payload. */
#ifndef FLEX_FREQUENCIES_H
#define FLEX_FREQUENCIES_H

#include "robot/robot.h"

/* Up to `max` frequencies in Hz, ascending, from K v = w^2 Mff v at eta = 0. Returns their count: 0 for a rigid link, -1 if the
   modal mass is not positive definite, FREQUENCIES_NO_MEMORY. */
enum { FREQUENCIES_NO_MEMORY = -2 };
int frequencies_of_link(const struct link *link, double *hz, int max);

#endif
