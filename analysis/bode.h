/* Frequency response from the zeros and poles of a linearized robot. */
#ifndef ANALYSIS_BODE_H
#define ANALYSIS_BODE_H

#include "analysis/zeros.h"

/* G(i w) = gain prod (i w - z) / prod (i w - p): its modulus and its phase [rad], which is continuous in w > 0 except where a zero or
   pole is on the imaginary axis. */
void bode_at(const struct zeros *zeros, double omega, double *magnitude, double *phase);

#endif
