/* All methods behind one integrator: the one that was requested, or automatic, which starts with ESDIRK and changes to another
   method if that takes less work. */
#ifndef ODE_AUTOMATIC_H
#define ODE_AUTOMATIC_H

#include "ode/integrator.h"

/* The ode must live as long as the integrator. */
enum status automatic_make(const struct ode *ode, struct integrator **integrator);

#endif
