/* All methods behind one integrator: the one that was asked for, or automatic, which begins with ESDIRK and changes to another where
   that takes less work. */
#ifndef ODE_AUTOMATIC_H
#define ODE_AUTOMATIC_H

#include "ode/integrator.h"

/* The ode must live as long as the integrator. */
enum status automatic_make(const struct ode *ode, struct integrator **integrator);

#endif
