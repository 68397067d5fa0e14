/* CVODE: BDF of variable order and step size with a Newton iteration, for stiff equations. Only cvode.c includes SUNDIALS. */
#ifndef ODE_CVODE_H
#define ODE_CVODE_H

#include "ode/integrator.h"

/* The ode must live as long as the integrator. integrator_free() frees it. */
enum status cvode_make(const struct ode *ode, struct integrator **integrator);

#endif
