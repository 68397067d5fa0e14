/* The library of a controller's FMU. */
#include "controller/controller.h"

const char *instance_kind(void)
{
    return "controller";
}

enum status instance_make(const char *name, const char *text, struct report *report, struct instance **instance)
{
    return controller_make(name, text, report, instance);
}
