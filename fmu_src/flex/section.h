/* Displacement and rates of a section (hinge, tip, node) of a flexible body, in F axes. */
#ifndef FLEX_SECTION_H
#define FLEX_SECTION_H

#include "flex/body.h"

/* r = x + Phi eta - 1/2 eta' H eta e_x,   theta = Lambda eta */
void section_displacement(const struct section *section, int m, const double *eta, double r[3], double theta[3]);

/* r_dot and theta_dot; rdd: what eta_dot alone gives of r_ddot, -eta_dot' H eta_dot e_x */
void section_rates(const struct section *section, int m, const double *eta, const double *etad, double rd[3], double td[3], double rdd[3]);

#endif
