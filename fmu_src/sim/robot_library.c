/* The library of a robot's FMU: its instances are robots. */
#include "sim/sim.h"

const char *instance_kind(void)
{
    return "robot";
}

enum status instance_make(const char *name, const char *text, struct report *report, struct instance **instance)
{
    return sim_make(name, text, report, instance);
}
