/* Line actuators that carry what passive joints cannot. */
#ifndef CLI_ACTUATED_H
#define CLI_ACTUATED_H

#include "load.h"

/* F of B_p F = force_p: actuator forces that give passive joints the generalised forces of dyn_inverse(); least squares where they
   cannot, of all the smallest. B F is taken out of `force`, of all coordinates. After dyn_configuration() and dyn_inverse(), whose
   configuration stays. An exit code. */
int actuated_forces(const char *command, struct cli_model *loaded, double *force, double *F);

#endif
