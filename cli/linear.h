/* A robot linearised about an operating point:  dx/dt = A x + B u,  y = C x + D u, deviations from it. States, inputs and outputs
   are those of the FMU, in its order; the derivatives are exact (instance_directional()). */
#ifndef CLI_LINEAR_H
#define CLI_LINEAR_H

#include <json-c/json.h>

#include "load.h"
#include "state.h"

struct linear_options {
    const char *robot;
    const char *at; /* STATE file; NULL: the robot's start */
    bool standing;  /* --static                            */
};

struct linear {
    int n_states, n_inputs, n_outputs;
    const struct variable **x, **u, **y;
    double *A, *B, *C, *D; /* row major                                  */
    struct state at;       /* the operating point, and                   */
    double *qdd;           /* n: the accelerations there                 */
    bool actuators_hold;   /* its actuator forces are chosen to hold passive joints */
    const struct model *model;
    struct robot robot;   /* that of the instance */
    struct cli_model own; /* work, tangent and loops of its own, at the operating point */
    double *
        basis; /* model's n x n_states / 2, row major: change of all coordinates with the positions among the states, by
                             linear_minimal() of a closed robot; else NULL */
    struct instance *sim;
    struct report report;
    struct arena arena;
};

/* The operating point of a closed robot is closed first (closed.h). With `standing`, rates and prescribed accelerations of the state become zero, its elastic coordinates those of the static
   equilibrium, its torques those that hold the arm there, and so are the actuator forces of an open robot, where the state has none. Problems go to standard error; the result is an exit code. To be
   freed, where it is, in any case. */
int linear_make(const char *command, const struct linear_options *options, struct linear *linear);
void linear_free(struct linear *linear);

/* A closed robot in minimal coordinates: of the states those are left that the loops leave free, A, B, C, D are those of motions on
   the loops, inputs that are prescribed motions included. An open robot stays as it is. An exit code. */
int linear_minimal(const char *command, struct linear *linear);

/* The coordinate in q of the i-th position among the states. */
int linear_coordinate(const struct linear *linear, int i);

/* The operating point as a STATE, qdd included. */
struct json_object *linear_operating_point(const struct linear *linear);

/* Takes --at STATE, --static, --json and ROBOT, one step of a loop over the arguments; an exit code. */
int linear_option(const char *command, int argc, char **argv, int *i, struct linear_options *options);

#endif
