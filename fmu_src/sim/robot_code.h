/* Functions of one robot that were generated for its FMU (limber fmu --generated). The generated sources include this header, so it
   includes no other. */
#ifndef SIM_ROBOT_CODE_H
#define SIM_ROBOT_CODE_H

/* Arrays as in struct input; lambda of the active constraints, parameters as in `kept`. */
struct code_arguments {
    const double *q, *qd, *tau, *qdd, *prescribed_qdd, *line_force, *tip_wrench, *frame_wrench, *parameters, *lambda;
};

struct robot_code {
    const char *guid; /* of the instance that it was generated from */
    int n_active;
    const int *active; /* n_active: rows of the active constraints */
    int n_kept;
    const char *const *kept; /* n_kept: variables that are arguments; all other parameters are numbers in the code */

    /* qdd and lambda of mechanism_forward(), force and gap_acceleration of mechanism_residual(); of active constraints */
    void (*forward)(const struct code_arguments *arguments, double *qdd, double *lambda);
    void (*residual)(const struct code_arguments *arguments, double *force, double *gap_acceleration);
};

/* Defined by the generated sources. */
extern const struct robot_code robot_code;

#endif
