/* The library of a drive's FMU: its instances are the drive that LIMBER_DRIVE names. */
#include "companion/companion.h"

const char *instance_kind(void)
{
    return "drive";
}

enum status instance_make(const char *name, const char *text, struct report *report, struct instance **instance)
{
    return companion_make(&LIMBER_DRIVE, name, text, report, instance);
}
