/* An instance: a robot, its model and work, an integrator, and the values of all variables. `limber simulate` and the FMU
   are the same instance, with and without an importer. No function here knows FMI. (The companions of an arm stand behind the
   same functions: drives/instance.c.) */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "base/report.h"
#include "ode/integrator.h"
#include "sim/variables.h"

struct sim;
struct robot;
struct model;

/* ---- life ------------------------------------------------------------------------------------------------------------- */

/* An instance of the robot in this text (a robot file); `name` is what messages call it. Problems go to `report`, which must
   outlive the instance, now and later. */
enum status sim_make(const char *name, const char *text, struct report *report, struct sim **sim);

/* What an instance is of, in a word: "robot". Its file among the resources of an FMU is robot.json. */
const char *sim_kind(void);

/* The motion of driven joints: q, qd, qdd of the joint of a link at any time, counted from the start of the experiment. */
struct sim_motion {
    void *context;
    void (*at)(void *context, double t, int link, double x[3]);
};

/* The same robot with the drives' motion given instead of their torques: every joint that is not passive is prescribed and
   follows `motion` at every instant, its inputs q, qd, qdd are not read; `tau` is what its drive must give. So do passive joints
   that actuators move (joint_actuated()): the actuators' forces are not read either, but are those that leave their tau zero. */
enum status sim_make_moved(const char *name, const char *text, const struct sim_motion *motion, struct report *report,
                           struct sim **sim);
void sim_free(struct sim *sim);

/* Back to what sim_make() left: the start values of the file, nothing set, no memory taken or given back. */
enum status sim_reset(struct sim *sim);

const struct variables *sim_variables(const struct sim *sim);
const struct robot *sim_robot(const struct sim *sim);
const struct model *sim_model(const struct sim *sim);
/* "{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}": a hash of the robot file's text and the variable table. */
const char *sim_guid(const struct sim *sim);

/* ---- values, by value reference (0 <= reference < variables->n_values) -------------------------------------------------- */

/* Brings outputs, locals and state derivatives up to date with time, states and inputs where they are not. */
enum status sim_update(struct sim *sim);
double sim_get(struct sim *sim, int reference); /* after sim_update() for whatever is computed */

/* Force of an actuator at the state of the last sim_update(). */
double sim_actuator_force(const struct sim *sim, int actuator);

/* Sets an input, a parameter or a state (the caller has checked that it may); the value is finite. Fixed parameters act with
   sim_initialise(), inputs, states and tunable parameters at once. */
void sim_set(struct sim *sim, int reference, double value);

/* What is wrong with a value of a parameter, in words; NULL: nothing. */
const char *sim_complaint(const struct sim *sim, int reference, double value);

/* ---- initialisation and steps --------------------------------------------------------------------------------------------- */

struct sim_experiment {
    double start_time;
    bool stop_defined;
    double stop_time;
    double tolerance; /* 0: none given */
};

/* Applies the parameters (the model is made again where one was changed), sets the states from their start values or the
   static equilibrium, and readies the integrator. */
enum status sim_initialise(struct sim *sim, const struct sim_experiment *experiment);

/* Does it act on the start? Parameters do; inputs where the start is looked for with them. */
bool sim_acts_on_start(const struct sim *sim, int reference);

/* One communication step from the current time, over exactly h: the instance's own time is time + h afterwards. Inputs are
   held, or follow the rates that sim_set_input_rate() gave for this step. On failure the last good state stays,
   sim_time() says when. */
enum status sim_step(struct sim *sim, double h);
double sim_time(const struct sim *sim);

/* Why something failed just now, with the name of the link, the actuator or the loop that is to blame. */
enum { REASON_SIZE = 256 };
const char *sim_reason(const struct sim *sim, enum status status, char text[REASON_SIZE]);
void sim_set_input_rate(struct sim *sim, int reference, double rate);
/* d/dt of an output at the end of the last step. */
enum status sim_output_rate(struct sim *sim, int reference, double *rate);

/* ---- model exchange ---------------------------------------------------------------------------------------------------------- */

void sim_set_time(struct sim *sim, double time);
void sim_get_states(const struct sim *sim, double *x);
void sim_set_states(struct sim *sim, const double *x);
enum status sim_get_derivatives(struct sim *sim, double *dx);

/* Loops that an importer's integration has let drift: whether by more than the tolerance, and back onto them. */
bool sim_strayed(struct sim *sim);
enum status sim_return_to_loops(struct sim *sim);

/* Directional derivative: what `seed` on the known (states, inputs, masses of payloads) does to the unknown (outputs, locals, derivatives). */
enum status sim_directional(struct sim *sim, int n_unknown, const int *unknown, int n_known, const int *known,
                            const double *seed, double *result);

/* ---- saved state --------------------------------------------------------------------------------------------------------------- */

/* Bytes of a saved state (the same for every state of this robot), and its pointer-free form. Saving makes the next step begin
   with a restart, here and in every copy: both then go on bit for bit alike. */
size_t sim_state_size(const struct sim *sim);
void sim_save(struct sim *sim, unsigned char *bytes);
/* Bytes that an instance with the same guid has saved, undamaged: that is for the caller to know. Not yet initialised: its
   parameters act later, and need not be possible. */
enum status sim_restore(struct sim *sim, const unsigned char *bytes, bool initialised);

void sim_statistics(const struct sim *sim, struct integrator_statistics *statistics);

#endif
