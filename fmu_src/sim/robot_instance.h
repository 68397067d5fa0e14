/* Internals of the instance of a robot, shared by the files of this layer. */
#ifndef SIM_ROBOT_INSTANCE_H
#define SIM_ROBOT_INSTANCE_H

#include "mech/statics.h"
#include "sim/outputs.h"
#include "sim/point.h"
#include "sim/robot_code.h"
#include "sim/sim.h"

/* Prescribed joints that lines move in place of drives: with the line forces F the tau of these joints is zero. */
struct balance {
    int n;           /* joints, and lines; 0: F are inputs                     */
    int *coordinate; /* n: of the joints in qd                                     */
    double *F;       /* n_lines                                                */
    double *T;       /* n x n: d tau/dF                                            */
    double *inverse; /* n x n: of T, after sim_balance()                           */
    double *X;       /* n rows of the model's coordinates: d qdd/dF, after sim_balance() */
    double *dF;      /* n                                                          */
};

/* Generated functions of this robot, and whether they may be used. */
struct sim_code {
    const struct robot_code *functions; /* NULL: none                                    */
    bool in_use;                        /* the robot has the numbers that are in them    */
    const struct variable **kept;       /* n_kept: parameters that are arguments         */
    double *parameters;                 /* n_kept: their values                          */
    double *tau, *line_force;           /* those of drives included                      */
    double *lambda, *gap;               /* n_active                                      */
    double t, *y;                       /* where the last right-hand side was, ...       */
    bool no_factors;                    /* if it left no factors: code_factors()         */
};

struct sim {
    struct instance instance;
    struct robot *robot; /* with the parameters that are set */
    struct mechanism mechanism;
    bool model_is_stale; /* the robot has changed and the model could not be rebuilt    */
    bool tuned;          /* payloads have changed and were not checked yet              */

    struct point at;          /* the state and the inputs; those of prescribed joints follow from the inputs */
    double *line_force;       /* n_lines: inputs, or those of the balance                                */
    struct input in;          /* points to these                                                             */
    struct sim_motion motion; /* of prescribed joints; at = NULL: their inputs                               */
    struct balance balance;
    struct sim_code code;
    double *active_rows; /* n_rows: 1 for constraints that are active, for a saved state                     */

    int n_free;           /* n_v of the ode without the states of drives                                     */
    int *free_coordinate; /* n_free: coordinates of qd that are not prescribed                               */
    struct quaternion_place *quaternion; /* n_quaternions of the ode                                         */
    enum projection factors;             /* those that the integrator computed last                          */
    double *qdd, *force;                 /* nv: accelerations; generalized forces of the inverse dynamics    */
    struct outputs outputs;

    struct statics statics; /* the equilibrium of a static start; q = NULL: not made yet                     */

    bool redundancy_reported; /* redundant constraints were reported by an earlier initialization                 */
    bool *bent_too_far;       /* [link]: reported since the initialization (guard.c)                              */
    enum status failure;      /* the last failure of the right-hand side in this step                             */

    /* derivatives */
    bool tangent_up_to_date; /* columns of the tangent belong to the values                                  */
    struct point seed;       /* changes of states and inputs                                                 */
    double **seed_state;     /* n_states: the states in it                                                   */
    double *kept;            /* n_states: the states before a projection                                       */
    double *dx, *dqdd;       /* nv: tangent of the change of q; change of qdd                                */
    struct outputs changes;  /* of the outputs, in this direction                                            */
    double *by_q, *by_qd;    /* Jacobians of qdd, by columns                                                 */
};

static inline struct sim *sim_of(struct instance *instance)
{
    return (struct sim *)(void *)instance;
}

/* ---- robot_ode.c ------------------------------------------------------------------------------------------------------ */

/* The equation for an integrator. After the mechanism, the variables and the arrays were made. */
void robot_ode(struct sim *sim, struct ode *ode);

/* Stops, joint springs and dry friction of the equation, by the present parameters. Before the integrator is configured. */
void robot_ode_adapt(struct sim *sim);

/* After a failed step: the last failure of the right-hand side, as the end of a message; NULL: none. */
const char *sim_failure_cause(void *context, char text[CAUSE_SIZE]);

/* The inputs of this step at a local time. */
void sim_apply_inputs(struct sim *sim, double t);

/* The point of a state vector and the inputs of this step at a local time. */
void sim_take(struct sim *sim, double t, const double *y);

/* qdd at this point; loops closed */
enum status sim_forward(struct sim *sim);

/* ydot = (dq/dt; qdd) of the free coordinates */
enum status sim_derivatives(struct sim *sim, double t, const double *y, double *ydot);

/* ---- derivatives.c --------------------------------------------------------------------------------------------------------- */

/* The integrator's Jacobians d(qdd)/dq and d(qdd)/dqd of the free coordinates, column major. */
enum status sim_jacobian(void *context, double t, const double *y, double *A, double *B);

/* Sets the seed and dx to zero; dqdd in their direction, at the state of the last outputs_compute() or sim_balance(). */
void sim_clear_seed(struct sim *sim);
void sim_tangent(struct sim *sim, const struct input *in);

/* At the state, and in initialization mode: through the start. */
directional_function sim_directional, sim_start_directional;

/* ---- balance.c ------------------------------------------------------------------------------------------------------------- */

/* Finds the joints that lines move if a motion is given. */
enum status balance_make(struct sim *sim);

/* qdd with the line forces for which the drive forces of these joints are zero. After mechanism_forward(). */
enum status sim_balance(struct sim *sim);

/* The Jacobians of sim_jacobian(), F following the state. */
enum status balance_jacobian(struct sim *sim, double *A, double *B);

/* ---- parameters.c ---------------------------------------------------------------------------------------------------------- */

/* From the values to the robot; the model is rebuilt if one has changed. */
enum status sim_apply_parameters(struct sim *sim);

/* A tunable parameter: masses of a link, in place. */
void sim_tune(struct sim *sim, const struct variable *variable, double value);

/* Whether the payloads are possible bodies, after some were tuned; if not, that is reported. */
enum status sim_check_tuned(struct sim *sim);

/* ---- code.c ---------------------------------------------------------------------------------------------------------------- */

/* After the robot's numbers have changed: whether the generated functions are still those of the robot. */
void code_adapt(struct sim *sim);

/* qdd at this point; and force and gap_acceleration of mechanism_residual() for these accelerations. False: there is no generated code
   that may be used, or its result is not finite: call the library. */
bool code_forward(struct sim *sim);
/* The factors of mechanism_forward() where the last right-hand side was evaluated, if it did not leave them. */
enum status code_factors(struct sim *sim);
bool code_residual(struct sim *sim, const double *lambda, double *gap_acceleration);

/* ---- outputs.c ------------------------------------------------------------------------------------------------------------- */

/* Arrays of the outputs, or of their changes; the caller checks whether the arena failed. */
void outputs_make(struct sim *sim, struct outputs *outputs);

/* All computed values at the point. */
enum status outputs_compute(struct sim *sim);

/* Changes of the outputs in the direction of the last sim_tangent(). */
void outputs_change(struct sim *sim);

/* ---- frames.c ------------------------------------------------------------------------------------------------------------- */

/* Orientations of the hinge frames of all links, the tip, and the frames that are sensors. */
void outputs_frames(struct sim *sim);

/* Their changes, as outputs_change(). */
void outputs_change_frames(struct sim *sim);

/* ---- guard.c --------------------------------------------------------------------------------------------------------------- */

/* Warns of links that bend beyond the validity of the model, at the state y at a local time: of each link once since the
   initialization. For struct ode. */
void guard_deflections(void *context, double t, const double *y);
/* The same in the static equilibrium that was found. */
void guard_equilibrium(struct sim *sim, struct report *report);

/* ---- equilibrium.c --------------------------------------------------------------------------------------------------------- */

/* Whether the state is still the equilibrium that was found: an importer may have set states since. */
bool sim_is_settled(const struct sim *sim);

/* The seed of inputs and of start values, with dx the tangent of the latter, becomes that of the equilibrium: seed.q and dx are its
   change, by the implicit function theorem. */
enum status sim_change_equilibrium(struct sim *sim);

#endif
