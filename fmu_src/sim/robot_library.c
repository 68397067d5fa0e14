/* The library of a robot's FMU: its instances are robots. With LIMBER_ROBOT_CODE they use generated code (limber fmu --generated). */
#include "sim/robot_code.h"
#include "sim/sim.h"

const char *instance_kind(void)
{
    return "robot";
}

enum status instance_make(const char *name, const char *text, struct report *report, struct instance **instance)
{
    enum status status = sim_make(name, text, report, instance);
#ifdef LIMBER_ROBOT_CODE
    if (status == STATUS_OK) status = sim_use_code(*instance, &robot_code);
    if (status != STATUS_OK && *instance != NULL) {
        instance_free(*instance);
        *instance = NULL;
    }
#endif
    return status;
}
