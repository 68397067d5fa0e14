/* Two pairs of one method: one of high order, and one of low order with few stages for steps that communication points cut short
   anyway. The pair with less work up to the communication point takes the step. */
#ifndef ODE_PAIRS_H
#define ODE_PAIRS_H

#include "ode/onestep.h"

/* Is the pair of low order in use? */
bool pairs_low(const struct one_step *s);

/* For `plan` and `accept` of struct one_step_method: the step size for the time that remains, with the choice of the pair; after a
   step. */
double pairs_plan(struct one_step *s, double h, double remains);
void pairs_accept(struct one_step *s);

/* A method that has just been restarted continues with the same pair as `from`, another method with two pairs. */
void pairs_continue(struct one_step *s, const struct one_step *from);

#endif
