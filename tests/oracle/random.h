/* Seeded random numbers (splitmix64): the same on every machine. */
#ifndef ORACLE_RANDOM_H
#define ORACLE_RANDOM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

static inline double uniform(struct random *random, double low, double high)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return low + (high - low) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* 0 .. count-1 */
static inline int pick(struct random *random, int count)
{
    return (int)uniform(random, 0, count);
}

static inline bool chance(struct random *random, double probability)
{
    return uniform(random, 0, 1) < probability;
}

/* A unit vector */
static inline void random_direction(struct random *random, double *u)
{
    double length;
    do {
        for (int i = 0; i < 3; i++) u[i] = uniform(random, -1, 1);
        length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    } while (length < 0.1);
    for (int i = 0; i < 3; i++) u[i] /= length;
}

#endif
