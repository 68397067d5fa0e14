/* Displacement and rates of a section (hinge, tip, node) of a flexible body, in F axes. */
#ifndef FLEX_SECTION_H
#define FLEX_SECTION_H

#include "flex/body.h"

/* u = Phi z, theta = Lambda z */
void section_sum(const struct section *section, int m, const double *z, double u[3], double theta[3]);

/* H eta, PADDED(m);  x' H x. For a section with H. */
void section_H_times(const struct section *section, int m, const double *eta, double *H_eta);
double section_form(const struct section *section, int m, const double *x);

/* r = x + Phi eta - 1/2 eta' H eta e_x,   theta = Lambda eta */
void section_displacement(const struct section *section, int m, const double *eta, double r[3], double theta[3]);

/* r_dot and theta_dot; rdd: r_ddot for eta_ddot = 0, -eta_dot' H eta_dot e_x */
void section_rates(const struct section *section, int m, const double *eta, const double *etad, double rd[3],
                   double td[3], double rdd[3]);

/* Position of T in O minus its value at eta = 0, and the rotation vector of T in O, which is zero at eta = 0; axes of O */
void body_deflection(const struct body *body, const double *eta, double deflection[3], double rotation[3]);

#endif
