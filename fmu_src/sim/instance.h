/* Inside the instance: what the files of this layer share. */
#ifndef SIM_INSTANCE_H
#define SIM_INSTANCE_H

#include "base/arena.h"
#include "loop/loop.h"
#include "sim/sim.h"

/* Inputs over a step: u(t) = u + rate (t - from). */
struct held_inputs {
    double *u, *rate; /* n_inputs, in the order of sim->input */
    double from;      /* local time                     [s]   */
};

/* A direction of states, inputs and payloads. */
struct seed {
    double *q, *qd;         /* n                          */
    double *tau;            /* n_joints                   */
    double *qdd;            /* n_prescribed               */
    double *actuator_force; /* n_actuators */
    double tip_wrench[6];
    double *payload_mass; /* n_links                    */
};

struct sim {
    const char *name;
    struct report *report;
    struct robot *robot; /* with the parameters that are set */
    struct model *model;
    bool outdated; /* the robot has changed and the model could not be made again */
    struct work *work;
    struct loops *loops;
    double *kept_rows; /* of the loops: room for a saved state */
    struct variables variables;
    char guid[40];
    unsigned long long robot_hash; /* of the file's text and the table */

    double *value; /* n_values: all variables; inputs and parameters as set, the rest by sim_update() */
    int n_inputs;
    int *input;       /* value references of the inputs                                        */
    int *input_place; /* [value reference]: number among the inputs, -1                        */

    /* the state: positions and rates of all coordinates; those of prescribed joints follow from the inputs */
    double *q, *qd, *qdd; /* n                                                                   */
    int n_free;
    int *free_coordinate; /* n_free: coordinates that are not prescribed                         */
    double *y, *ydot;     /* 2 n_free: (q; qd) of those                                    */
    double *force;        /* n: inverse dynamics                                                 */
    double *tau, *prescribed_qdd, *actuator_force, tip_wrench[6];
    struct input in;          /* points to q, qd, tau, ...                                           */
    struct sim_motion motion; /* of prescribed joints; at = NULL: their inputs              */

    /* time: local time counts from the start of the experiment, so that a late start costs no digits */
    double start_time, local, carry; /* carry: what compensated summation keeps                  */
    struct integrator *integrator;   /* NULL: there is nothing to integrate                        */
    struct held_inputs now, before;  /* of this step and of the last one                          */
    double *nominal;                 /* 2 n_free                                                  */
    bool restart;                    /* the next step begins with a restart                       */
    double first_step;               /* of that restart; 0: chosen anew                           */
    bool fresh;                      /* values are up to date                                     */
    enum status failure;             /* what last kept the integrator from a state in this step   */

    /* derivatives */
    struct tangent *tangent;
    bool tangent_fresh; /* its columns belong to the values                          */
    struct seed seed;
    double *dqdd;         /* n                                                         */
    double *by_q, *by_qd; /* n x n: of qdd, by columns                                 */
    double tolerance;
    struct arena arena;
};

/* sim.c: q, qd and all that acts, from the state vector and held inputs at a local time */
void sim_take(struct sim *sim, const struct held_inputs *held, double t, const double *y);

/* sim.c: qdd at the state in sim->q, sim->qd with the inputs applied; loops closed */
enum status sim_forward(struct sim *sim);

/* sim.c: ydot = (qd; qdd) of the free coordinates with given inputs */
enum status sim_derivatives(struct sim *sim, const struct held_inputs *held, double t, const double *y, double *ydot);

/* sim.c: tau, tip wrench and prescribed motion of held inputs at a local time, into sim->in and q, qd. */
void sim_apply_inputs(struct sim *sim, const struct held_inputs *held, double t);

/* sim.c: parameters as they stand in the values, and the integrator's tolerance, after a state was put back. */
enum status sim_adopt_parameters(struct sim *sim, double tolerance);

/* derivatives.c: the integrator's Jacobians d(qdd)/dq and d(qdd)/dqd of the free coordinates, column major. */
int sim_jacobian(void *context, double t, const double *y, double *A, double *B);

/* parameters.c */
enum status sim_apply_parameters(struct sim *sim);
void sim_apply_payloads(struct sim *sim);

/* outputs.c: all computed values at the state in sim->q, sim->qd with the inputs applied. */
enum status sim_compute(struct sim *sim);

/* equilibrium.c: elastic coordinates at rest under gravity, payload, tip wrench; joints held. */
enum status sim_find_equilibrium(struct sim *sim);

#endif
