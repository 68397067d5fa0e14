/* Random robots with everything the format can describe and the dynamics computes: 1 to 7 links in a chain or a tree, all
   joints, all bodies, all mode shapes; two of five in format 1, the others in format 2. Meters and kilograms of a laboratory arm,
   so that their mass matrices are well conditioned. The same seed gives the same robot. */
#ifndef ORACLE_RANDOM_ROBOT_H
#define ORACLE_RANDOM_ROBOT_H

#include "oracle/random.h"

/* Text of a robot file; the caller frees it. NULL: out of memory. */
char *random_robot(struct random *random);

#endif
