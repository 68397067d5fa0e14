/* Things attached anywhere: on the hinge frame, at stations of beams, on nodes. */
#ifndef ORACLE_SCATTER_H
#define ORACLE_SCATTER_H

#include "oracle/specimen.h"

/* Up to 0.3 m and 1 rad about every axis */
void random_pose(struct random *random, struct pose *at);

/* A random site of a link: hinge, tip, station or node, half of them with an offset. */
struct site random_site(struct random *random, const struct robot *robot, int link);

/* Moves children to random sites of their parents and adds two frames to every link, one of three a load, with random wrenches. The state
   stays. Nonzero when it worked. */
int specimen_scatter(struct specimen *specimen, struct random *random);

/* A random robot in a random state, scattered if the seed is odd. */
int specimen_mixed(struct specimen *specimen, int seed);

#endif
