/* STATE: the JSON file in which eval and its kin find q, qd, tau and the rest. */
#ifndef CLI_STATE_H
#define CLI_STATE_H

#include "dyn/dyn.h"
#include "sim/sim.h"

struct state {
    struct input input;     /* points into the arrays below                    */
    double tip_wrench[6];   /* (torque; force)                                 */
    double *q, *qd, *tau;   /* n, n, n_joints                                  */
    double *prescribed_qdd; /* n_prescribed                                    */
    double *actuator_force; /* n_actuators                                     */
    double *qdd;            /* n, NULL where the file has none                 */
    struct arena arena;
};

/* Reads `file` ("-": standard input) for this model; file = NULL: the robot's start. Every problem is printed to standard
   error; nonzero on any. */
int state_read(const struct model *model, const char *file, struct state *state);
/* Where the state has the value of a state or an input of an instance */
double *state_place(const struct model *model, struct state *state, const struct variable *variable);
/* Its q and qd become the start values of an instance; the motion of prescribed joints and all forces become its inputs. */
void state_to_start(struct state *state, struct instance *sim);
void state_free(struct state *state);

#endif
