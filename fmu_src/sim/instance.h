/* An instance: a robot, a drive or a controller that is simulated, with its variables and an integrator. `limber simulate` and an
   FMU are the same instance, with and without an importer; no function here knows FMI. What they have in common is in
   instance.c, what differs in a table of operations: robot_instance.c, companion/instance.c and controller/controller.c are its
   implementations. */
#ifndef SIM_INSTANCE_H
#define SIM_INSTANCE_H

#include "sim/stepper.h"

struct experiment {
    double start_time;
    bool stop_defined;
    double stop_time;
    double tolerance; /* 0: none given */
};

struct instance;

/* Directional derivative: the change of the unknowns (outputs, locals, derivatives) for the change `seed` of the knowns (states, inputs,
   tunable parameters). */
typedef enum status directional_function(struct instance *instance, int n_unknown, const int *unknown, int n_known,
                                         const int *known, const double *seed, double *result);

/* What an implementation provides. It has struct instance as its first member. */
struct instance_ops {
    /* Computes all outputs, locals and state derivatives for the current time, states and inputs; called
       when they are not up to date. */
    enum status (*update)(struct instance *instance);
    /* Reports why no motion is possible at the values of the last update; NULL: it always is. */
    enum status (*check_motion)(struct instance *instance);
    /* A tunable parameter was set: it acts at once. NULL: there are none. */
    void (*tune)(struct instance *instance, const struct variable *variable, double value);
    enum status (*initialize)(struct instance *instance, const struct experiment *experiment);
    bool (*acts_on_start)(const struct instance *instance, const struct variable *variable); /* NULL: all do */
    enum status (*step)(struct instance *instance, double h);
    /* NULL: the text of the status */
    const char *(*reason)(const struct instance *instance, enum status status, char text[REASON_SIZE]);
    directional_function *directional;
    /* The same in initialization mode, where start values are known too and inputs may act on the start. NULL: what acts on the
       start has no derivative. */
    directional_function *start_directional;
    /* Constraints that an importer's integration has let drift; NULL: there are no constraints. */
    bool (*drifted)(struct instance *instance);
    enum status (*project)(struct instance *instance);
    /* Before a state is saved, after one was restored: numbers of the implementation's own. NULL: nothing to do. */
    void (*before_save)(struct instance *instance);
    void (*after_restore)(struct instance *instance);
    /* After a state was restored: applies the parameters in the values, with this tolerance. */
    enum status (*adopt_parameters)(struct instance *instance, double tolerance);
    void (*release)(struct instance *instance); /* what is not in the arena; NULL: nothing */
};

struct state_block {
    double *at;
    int count;
};

struct instance {
    const struct instance_ops *ops;
    const char *name; /* in messages */
    struct report *report;
    struct variables variables;
    char guid[GUID_SIZE];
    struct stepper stepper; /* values, time, inputs, integrator                          */
    int n_blocks;           /* the states in blocks of consecutive states, which are copied at once */
    struct state_block *block;
    int *moving;        /* n_states + n_inputs: references of all that changes in time, */
    double *rate;       /* and how fast                                              */
    struct arena arena; /* the instance is in it                                     */
};

/* ---- making one ----------------------------------------------------------------------------------------------------------- */

/* instance_kind(): what this library simulates, "robot", "drive" or "controller"; the resources of an FMU have a file of that name.
   instance_make(): an instance from the text of that file; `name` is what messages call it. Problems go to `report`, which must
   outlive the instance, now and later. Both are defined once in every library: by sim/robot_library.c, for each drive by
   companion/library.c, for controllers by controller/library.c. */
const char *instance_kind(void);
enum status instance_make(const char *name, const char *text, struct report *report, struct instance **instance);

void instance_free(struct instance *instance);

/* Resets the instance to its state after instance_make(): all values are their start values. No memory is allocated or released. */
static inline void instance_reset(struct instance *instance)
{
    stepper_reset(&instance->stepper);
}

static inline const struct variables *instance_variables(const struct instance *instance)
{
    return &instance->variables;
}

/* "{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}": a hash of the file's text and the variable table. */
static inline const char *instance_guid(const struct instance *instance)
{
    return instance->guid;
}

/* ---- values, by value reference (0 <= reference < variables->n_values) ------------------------------------------------------ */

/* Computes outputs, locals and state derivatives where they are not up to date with time, states and inputs. */
enum status instance_update(struct instance *instance);
/* after instance_update() for whatever is computed */
static inline double instance_get(const struct instance *instance, int reference)
{
    return *instance->stepper.place[reference];
}

/* Sets an input, a parameter or a state (the caller has checked that it may); the value is finite. Fixed parameters act with
   instance_initialize(), inputs, states and tunable parameters at once. */
void instance_set(struct instance *instance, int reference, double value);

/* What is wrong with a value of a parameter, in words; NULL: nothing. */
const char *instance_parameter_error(const struct instance *instance, int reference, double value);

/* ---- initialization and steps ----------------------------------------------------------------------------------------------- */

/* Applies the parameters, sets the states from their start values, and configures the integrator. */
static inline enum status instance_initialize(struct instance *instance, const struct experiment *experiment)
{
    return instance->ops->initialize(instance, experiment);
}

/* Whether setting it changes the start. Parameters do; inputs do where the start is computed from them. */
bool instance_acts_on_start(const struct instance *instance, int reference);

/* One communication step from the current time, over exactly h: the instance's own time is time + h afterwards. Inputs are
   constant, or follow the rates that instance_set_input_rate() gave for this step; position, rate and acceleration that are inputs
   are one motion (struct step_inputs). On failure the last good state remains, instance_time() says when. */
static inline enum status instance_step(struct instance *instance, double h)
{
    return instance->ops->step(instance, h);
}
static inline double instance_time(const struct instance *instance)
{
    return instance->stepper.start_time + instance->stepper.local;
}

/* Why the last function failed, with the name of the link, the line or the loop that is the cause. */
const char *instance_reason(const struct instance *instance, enum status status, char text[REASON_SIZE]);

/* The rate of an input over the next step. For a position or rate of a prescribed motion it has no effect: the inputs that are
   their derivatives decide. */
void instance_set_input_rate(struct instance *instance, int reference, double rate);
/* From the next initialization on, inputs follow this curve of the time since the start; it must outlive the instance. */
static inline void instance_follow(struct instance *instance, const struct input_curve *curve)
{
    instance->stepper.curve = curve;
}
/* d/dt of an output at the end of the last step. */
enum status instance_output_rate(struct instance *instance, int reference, double *rate);

void instance_statistics(const struct instance *instance, struct integrator_statistics *statistics);

/* The integrator: which method is in use, and why; NULL where there is nothing to integrate. */
static inline const struct integrator *instance_integrator(const struct instance *instance)
{
    return instance->stepper.integrator;
}

/* ---- model exchange ----------------------------------------------------------------------------------------------------------- */

void instance_set_time(struct instance *instance, double time);
void instance_get_states(const struct instance *instance, double *x);
void instance_set_states(struct instance *instance, const double *x);
enum status instance_get_derivatives(struct instance *instance, double *dx);

/* The importer has completed a step: calls `accepted` of struct ode. */
void instance_accept(struct instance *instance);

/* Whether the importer's integration has let the constraints drift by more than the tolerance; and the projection back onto them. */
static inline bool instance_drifted(struct instance *instance)
{
    return instance->ops->drifted != NULL && instance->ops->drifted(instance);
}
static inline enum status instance_project(struct instance *instance)
{
    return instance->ops->project != NULL ? instance->ops->project(instance) : STATUS_OK;
}

/* At the present state; and in initialization mode: start values of states are known too, and derivatives go through the computation of
   the start. */
directional_function instance_directional, instance_start_directional;

/* ---- saved state ---------------------------------------------------------------------------------------------------------------- */

/* Bytes of a saved state (the same for every state of this instance), and its pointer-free form. The instance and every copy continue
   with the same bits. Where the integrator has a history (CVODE), which is not saved, the next step begins with a restart, here and
   in every copy. */
static inline size_t instance_saved_size(const struct instance *instance)
{
    return stepper_saved_size(&instance->stepper);
}
void instance_save(struct instance *instance, unsigned char *bytes);
/* Bytes that an instance with the same guid has saved, undamaged: the caller checks that. Where it was not yet initialized, its
   parameters act later, and may still be invalid. */
enum status instance_restore(struct instance *instance, const unsigned char *bytes, bool initialized);

/* ---- for the implementations ---------------------------------------------------------------------------------------------------- */

/* An instance of `size` bytes in its own arena, with name, report and operations; NULL: no memory. */
struct instance *instance_allocate(size_t size, const char *name, struct report *report,
                                   const struct instance_ops *ops);

/* Arrays, integrator and guid of the text. Before: the variable table and the owner's part of a saved state. After: the owner
   fills in the places of states and inputs that are not in the values. */
enum status instance_build(struct instance *instance, const struct ode *ode, const char *text);

/* Reports all parameters with invalid values; returns their number. */
int instance_check_parameters(struct instance *instance);

/* Where a state is. */
static inline double *instance_state(const struct instance *instance, int s)
{
    return instance->stepper.place[instance->variables.row[instance->variables.state[s]].reference];
}

/* After the owner has set the places of the states. */
void instance_states_placed(struct instance *instance);
/* The vector y of the stepper to the states. */
void instance_scatter(struct instance *instance, const double *y);

/* One step from the present state. */
enum status instance_integrate(struct instance *instance, double h);

#endif
