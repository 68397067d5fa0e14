/* Laws that random robots obey. */
#ifndef ORACLE_LAWS_H
#define ORACLE_LAWS_H

#include "oracle/specimen.h"

/* Makes robot number `seed`; nonzero when it worked. */
typedef int specimen_maker(struct specimen *s, int seed);

/* The error of a law on a robot, which may draw from s->random; LEFT_OUT: it does not apply to this one. */
typedef double law_function(struct specimen *s);
extern const double LEFT_OUT;

/* Whether the error of a law is within the tolerance on robots 0, 1, ... of this number, and the law applies to a sixth of them at least.
   Prints the largest error, the number of robots that the law applies to, and the seeds that break it. */
bool law_holds(int robots, specimen_maker *make, law_function *law, double tolerance);

#endif
