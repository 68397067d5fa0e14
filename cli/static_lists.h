/* Lists of the torques and forces that hold a static equilibrium, for static and report (static.c). */
#ifndef CLI_STATIC_LISTS_H
#define CLI_STATIC_LISTS_H

#include "analysis/statics.h"

typedef void show_number(void *context, const char *name, double value, const char *unit);

/* Torques and forces of joints that are held; forces of lines. */
void static_list_holding(const struct model *model, const struct static_answer *answer, show_number *show,
                         void *context);
void static_list_forces(const struct model *model, const struct static_answer *answer, show_number *show,
                        void *context);

#endif
