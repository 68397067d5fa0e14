/* Forward dynamics with what its derivatives need. */
#ifndef GENERATE_FORWARD_H
#define GENERATE_FORWARD_H

#include "generate/loops.h"

/* qdd and the multipliers; the factors remain in parts and loops. */
enum status forward_solution(struct robot_parts *parts, struct loop_parts *loops, expr *qdd, expr *lambda);

#endif
