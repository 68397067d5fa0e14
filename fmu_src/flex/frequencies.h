/* A link's own natural frequencies: its bare body with F held (no hub, no payload). */
#ifndef FLEX_FREQUENCIES_H
#define FLEX_FREQUENCIES_H

#include "robot/robot.h"

/* Up to `max` frequencies in Hz, ascending, from K v = w^2 Mff v at eta = 0; returns their count, 0 for a rigid link, -1 when
   the modal mass is not positive definite or memory is out. */
int link_frequencies(const struct link *link, double *hz, int max);

#endif
