/* Inside the instance: what the files of this layer share. */
#ifndef SIM_INSTANCE_H
#define SIM_INSTANCE_H

#include "base/arena.h"
#include "mech/mechanism.h"
#include "sim/course.h"
#include "sim/sim.h"

/* A direction of states, inputs and payloads. */
struct seed {
    double *q, *qd;         /* n                          */
    double *tau;            /* n_joints                   */
    double *qdd;            /* n_prescribed               */
    double *actuator_force; /* n_actuators */
    double tip_wrench[6];
    double *payload_mass; /* n_links                    */
};

/* Joints that actuators move in place of drives: prescribed ones whose tau the actuator forces F make zero. */
struct balance {
    int n;           /* joints, and actuators; 0: F are inputs                     */
    int *coordinate; /* n: of the joints in q                                      */
    double *T;       /* n x n: d tau/dF                                            */
    double *inverse; /* n x n: of T, after sim_balance()                           */
    double *X;       /* n rows of the model's n: d qdd/dF, after sim_balance()     */
    double *dF;      /* n                                                          */
};

struct sim {
    const char *name;
    struct report *report;
    struct robot *robot; /* with the parameters that are set */
    struct mechanism mechanism;
    bool outdated; /* the robot has changed and the model could not be made again */
    struct variables variables;
    char guid[GUID_SIZE];
    struct course course; /* values, time, inputs, integrator */

    /* the state: positions and rates of all coordinates; those of prescribed joints follow from the inputs */
    double *q, *qd, *qdd; /* n; qd behind q                                                      */
    double *kept_rows;    /* behind qd: which equations of the loops are kept, for a saved state */
    int n_free;
    int *free_coordinate; /* n_free: coordinates that are not prescribed                         */
    double *force;        /* n: inverse dynamics                                                 */
    double *tau, *prescribed_qdd, *actuator_force, tip_wrench[6];
    struct input in;          /* points to q, qd, tau, ...                                           */
    struct sim_motion motion; /* of prescribed joints; at = NULL: their inputs              */
    struct balance balance;

    enum status failure; /* what last kept the integrator from a state in this step             */

    /* derivatives */
    bool tangent_fresh; /* columns of the tangent belong to the values                          */
    struct seed seed;
    double *dqdd;         /* n                                                         */
    double *by_q, *by_qd; /* n x n: of qdd, by columns                                 */
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
enum status sim_jacobian(void *context, double t, const double *y, double *A, double *B);

/* derivatives.c: a direction of nothing, and what it does to the state of the last sim_compute() or sim_balance(). */
void seed_clear(struct seed *seed, const struct model *model);
void sim_along_seed(struct sim *sim, const struct input *in);

/* balance.c: which joints actuators move where a motion is given. */
enum status balance_make(struct sim *sim);

/* balance.c: qdd with actuator forces that leave the drives of these joints nothing to do. After mechanism_forward(). */
enum status sim_balance(struct sim *sim);

/* balance.c: the Jacobians of sim_jacobian(), F following the state. */
enum status balance_jacobian(struct sim *sim, double *A, double *B);

/* balance.c: F for the positions q at rest, and the size of what it changed by. */
enum status balance_at_rest(struct sim *sim, double *change);

/* parameters.c */
enum status sim_apply_parameters(struct sim *sim);
void sim_apply_payloads(struct sim *sim);

/* outputs.c: all computed values at the state in sim->q, sim->qd with the inputs applied. */
enum status sim_compute(struct sim *sim);

/* equilibrium.c: elastic coordinates at rest under gravity, payload, tip wrench; joints held. */
enum status sim_find_equilibrium(struct sim *sim);

#endif
