/* Variables of an arm by name, and a smooth move, for tests of controllers. */
#ifndef CONTROLLER_ARM_H
#define CONTROLLER_ARM_H

#include <math.h>

#include "loaded.h"
#include "sim/robot_instance.h"

/* Position, rate and acceleration of a move by d within T, s^4 (35 - 84 s + 70 s^2 - 20 s^3) */
static inline void smooth_move(double t, double T, double from, double d, double x[3])
{
    const double s = fmin(t / T, 1);
    x[0] = from + d * pow(s, 4) * (35 + s * (-84 + s * (70 - 20 * s)));
    x[1] = d / T * 140 * pow(s, 3) * pow(1 - s, 3);
    x[2] = d / (T * T) * 420 * s * s * (1 - s) * (1 - s) * (1 - 2 * s);
}

/* The reference of a variable of joint j */
static int joint_variable(const struct instance *arm, int j, const char *what)
{
    return named(arm, "%s.%s", sim_robot(arm)->link[j].joint.name, what);
}

#endif
