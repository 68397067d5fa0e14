/* limber.h: dynamics, analyses and simulation of robot arms with flexible links.
 *
 * This is the public interface of liblimber. Every handle is opaque, and no struct of the library is laid out in the
 * caller: a program may be compiled with other flags, or another compiler, than the library.
 *
 * UNITS. SI units and radians everywhere. Positions of joints are in rad, m or, of quaternions, 1; elastic
 * coordinates have the unit of their mode shape (limber_robot_position_unit()). World axes unless a function says
 * otherwise.
 *
 * COORDINATES. q has nq positions: link by link, in the order of the robot file, those of the joint and then the
 * elastic coordinates of the link. qd, qdd and generalized forces have nv numbers in the same order. nq and nv differ
 * where a joint has a quaternion (w, x, y, z): its velocities are the angular velocity in axes of the hinge frame,
 * and a change of q is a rotation vector in the same axes. limber_robot_range() says which numbers belong to which
 * link.
 *
 * ARRAYS are the caller's. Lengths are given in brackets. Matrices are row major: entry (i, j) of an m x n matrix is
 * a[n * i + j]. Output arrays must not overlap input arrays of the same call. On failure outputs are not defined
 * unless a function says otherwise.
 *
 * STATUS. Functions that can fail return an int: 0 is success; positive is recoverable (another state or a smaller
 * step may work); negative is final. limber_status_text() says what it means; the message callback receives the
 * details: place, value, what is expected, what to do. A handle stays valid after a failure and may be used again.
 * Every function that returns a status returns LIMBER_BAD_ARGUMENT for a NULL handle, or NULL where it needs an array;
 * other functions must not be given a NULL handle.
 *
 * THREADS. There are no globals. A handle is used by one thread at a time; any number of handles may be used in
 * parallel. Messages come in the thread of the call.
 *
 * MEMORY. Memory is allocated where a function says so; evaluations and steps do not allocate. Strings that a
 * function returns belong to the handle and live as long as it does.
 */
#ifndef LIMBER_H
#define LIMBER_H

#include <stddef.h>

/* clang-format off */
#define LIMBER_VERSION_MAJOR @PROJECT_VERSION_MAJOR@
#define LIMBER_VERSION_MINOR @PROJECT_VERSION_MINOR@
#define LIMBER_VERSION_PATCH @PROJECT_VERSION_PATCH@
#define LIMBER_VERSION "@PROJECT_VERSION@"
/* clang-format on */

#if defined(__GNUC__)
#define LIMBER_API __attribute__((visibility("default")))
#else
#define LIMBER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library at run time: LIMBER_VERSION when it was built. */
LIMBER_API const char *limber_version(void);

/* ---- status and messages -------------------------------------------------------------------------------------- */

/* The codes that a program may want to tell apart; there are others of either sign. */
enum {
    LIMBER_OK = 0,
    LIMBER_BAD_ROBOT = -1,      /* the robot file, or a parameter, is not valid                                 */
    LIMBER_NO_MEMORY = -2,      /* out of memory                                                                */
    LIMBER_NO_FILE = -3,        /* the file cannot be read                                                      */
    LIMBER_BAD_ARGUMENT = -100, /* NULL where an array is needed, an index out of range, a number not finite    */
    LIMBER_BAD_CALL = -101,     /* not in this order: a step before the start, a restore of another robot's state */
    LIMBER_NO_NAME = -102       /* there is no such parameter, link or variable                                 */
};

/* What a status means, in words; never NULL. */
LIMBER_API const char *limber_status_text(int status);

enum { LIMBER_ERROR = 0, LIMBER_WARNING = 1 };

/* Receives one message, without a newline; level is LIMBER_ERROR or LIMBER_WARNING. The text is valid during the
   call. It must not call functions of the handle that the message is about. */
typedef void limber_message(void *context, int level, const char *text);

/* ---- robots --------------------------------------------------------------------------------------------------- */

/* A robot with a state (q, qd) and forces that act on it. */
typedef struct limber_robot limber_robot;

/* Loads a robot: from a file, or from text in memory that ends with '\0'; `name` is what messages call it. `message`
   (NULL: silent) and its context are kept for later messages. On success *robot is the new robot, at its start state
   and without forces; on failure it is NULL. Allocates. Fails with LIMBER_BAD_ROBOT, LIMBER_NO_FILE,
   LIMBER_NO_MEMORY. */
LIMBER_API int limber_robot_read(const char *file, limber_message *message, void *context, limber_robot **robot);
LIMBER_API int limber_robot_parse(const char *name, const char *text, limber_message *message, void *context,
                                  limber_robot **robot);
/* NULL is allowed. */
LIMBER_API void limber_robot_free(limber_robot *robot);

/* The name and the description in the robot file; the description may be "". */
LIMBER_API const char *limber_robot_name(const limber_robot *robot);
LIMBER_API const char *limber_robot_description(const limber_robot *robot);

/* Lengths of arrays: positions; velocities, accelerations and generalized forces; forces of joints (one for each
   velocity of a joint, driven or not); velocities of prescribed joints; constraints of all loops and
   rigid couplings. */
LIMBER_API int limber_robot_nq(const limber_robot *robot);
LIMBER_API int limber_robot_nv(const limber_robot *robot);
LIMBER_API int limber_robot_joint_forces(const limber_robot *robot);
LIMBER_API int limber_robot_prescribed(const limber_robot *robot);
LIMBER_API int limber_robot_constraints(const limber_robot *robot);

/* Numbers of links, line actuators, frames, loops and couplings. */
LIMBER_API int limber_robot_links(const limber_robot *robot);
LIMBER_API int limber_robot_actuators(const limber_robot *robot);
LIMBER_API int limber_robot_frames(const limber_robot *robot); /* those that the file names */
LIMBER_API int limber_robot_loops(const limber_robot *robot);
LIMBER_API int limber_robot_couplings(const limber_robot *robot);

/* Names as in the robot file, by index from 0; NULL where the index is out of range. */
LIMBER_API const char *limber_robot_link_name(const limber_robot *robot, int link);
LIMBER_API const char *limber_robot_joint_name(const limber_robot *robot, int link);
LIMBER_API const char *limber_robot_actuator_name(const limber_robot *robot, int actuator);
LIMBER_API const char *limber_robot_loop_name(const limber_robot *robot, int loop);
LIMBER_API const char *limber_robot_coupling_name(const limber_robot *robot, int coupling);
LIMBER_API const char *limber_robot_frame_name(const limber_robot *robot, int frame);

/* The index of a link, or of a frame of the robot file, by its name; LIMBER_NO_NAME (negative) where there is none. */
LIMBER_API int limber_robot_find_link(const limber_robot *robot, const char *name);
LIMBER_API int limber_robot_find_frame(const limber_robot *robot, const char *name);
/* The parent of a link: its index, -1 for the world; LIMBER_BAD_ARGUMENT where the index is out of range. */
LIMBER_API int limber_robot_parent(const limber_robot *robot, int link);
/* The link on whose tip frame the tip wrench acts. */
LIMBER_API int limber_robot_tip(const limber_robot *robot);

/* Names of the numbers of q and qd, those of the FMU's variables ("shoulder.q", "boom.eta[1]", "base.quaternion[1]"),
   and their units ("rad", "m/s", "1"); NULL where the index is out of range. */
LIMBER_API const char *limber_robot_position_name(const limber_robot *robot, int i);
LIMBER_API const char *limber_robot_velocity_name(const limber_robot *robot, int i);
LIMBER_API const char *limber_robot_position_unit(const limber_robot *robot, int i);
LIMBER_API const char *limber_robot_velocity_unit(const limber_robot *robot, int i);

/* Which numbers of an array belong to a link: [*first, *first + *count); *count may be 0. LIMBER_BAD_ARGUMENT. */
enum {
    LIMBER_JOINT_POSITIONS,    /* of q                                                                       */
    LIMBER_JOINT_VELOCITIES,   /* of qd, qdd and generalized forces                                          */
    LIMBER_ELASTIC_POSITIONS,  /* of q                                                                       */
    LIMBER_ELASTIC_VELOCITIES, /* of qd, qdd and generalized forces                                          */
    LIMBER_JOINT_FORCES,       /* of limber_robot_set_joint_forces()                                         */
    LIMBER_PRESCRIBED,         /* of limber_robot_set_prescribed_accelerations()                             */
    LIMBER_CONSTRAINTS         /* of gaps and multipliers; `link` counts loops, then rigid couplings         */
};
LIMBER_API int limber_robot_range(const limber_robot *robot, int link, int which, int *first, int *count);

/* ---- parameters ----------------------------------------------------------------------------------------------- */

/* Parameters have the names, units and limits of the FMU's parameters: "boom.EIz", "gripper.payload.mass",
   "shoulder.q_start", "gravity[3]". By index from 0; name, unit and description are NULL where it is out of range,
   the unit also where there is none (elastic_terms: 1 full, 2 linear, 3 ruthless). */
LIMBER_API int limber_robot_parameters(const limber_robot *robot);
LIMBER_API const char *limber_robot_parameter_name(const limber_robot *robot, int i);
LIMBER_API const char *limber_robot_parameter_unit(const limber_robot *robot, int i);
LIMBER_API const char *limber_robot_parameter_description(const limber_robot *robot, int i);

/* The value of a parameter. LIMBER_NO_NAME. */
LIMBER_API int limber_robot_get_parameter(const limber_robot *robot, const char *name, double *value);

/* Sets one parameter, or `count` of them together. The model is made again where one of them changes it, which costs
   about as much as loading and allocates. State and forces stay, equations of loops are chosen again at the present
   state; start values act with the next limber_robot_set_state() that is given NULL. On failure every parameter keeps
   its value. LIMBER_NO_NAME, LIMBER_BAD_ROBOT (a value is outside its limits, or the model cannot be made),
   LIMBER_NO_MEMORY. */
LIMBER_API int limber_robot_set_parameter(limber_robot *robot, const char *name, double value);
LIMBER_API int limber_robot_set_parameters(limber_robot *robot, int count, const char *const *name,
                                           const double *value);

/* ---- state and forces ----------------------------------------------------------------------------------------- */

/* Sets q [nq] and qd [nv]; NULL: those of the start. Quaternions are normalized. LIMBER_BAD_ARGUMENT where a number
   is not finite or the norm of a quaternion differs from 1 by more than 1e-3; the state then stays as it was. */
LIMBER_API int limber_robot_set_state(limber_robot *robot, const double *q, const double *qd);
/* The state: q [nq] and qd [nv], each may be NULL. */
LIMBER_API int limber_robot_get_state(const limber_robot *robot, double *q, double *qd);

/* q [nq] moved by dx [nv], in place: q + dx, of a quaternion its product with exp(dx/2), normalized. And its inverse:
   the dx [nv] that moves `from` to `to`. */
LIMBER_API int limber_robot_move(const limber_robot *robot, double *q, const double *dx);
LIMBER_API int limber_robot_difference(const limber_robot *robot, const double *from, const double *to, double *dx);

/* What acts on the robot; NULL: zero. LIMBER_BAD_ARGUMENT where a number is not finite; nothing changes then. Joint
   forces [limber_robot_joint_forces()]: on each velocity of the joints, N m or N; those of passive and prescribed
   joints are ignored. */
LIMBER_API int limber_robot_set_joint_forces(limber_robot *robot, const double *tau);
/* (torque; force) [6] on the tip frame of the link limber_robot_tip(), at its origin, world axes: N m, N. */
LIMBER_API int limber_robot_set_tip_wrench(limber_robot *robot, const double *wrench);
/* The same on a frame of the robot file, whether it is a load or not. */
LIMBER_API int limber_robot_set_frame_wrench(limber_robot *robot, int frame, const double *wrench);
/* Accelerations of prescribed joints [limber_robot_prescribed()]: rad/s^2 or m/s^2. Their positions and velocities
   are in the state. */
LIMBER_API int limber_robot_set_prescribed_accelerations(limber_robot *robot, const double *acceleration);
/* Forces of actuators [limber_robot_actuators()], N; positive pushes its two points apart. */
LIMBER_API int limber_robot_set_actuator_forces(limber_robot *robot, const double *force);

/* ---- loops ---------------------------------------------------------------------------------------------------- */

/* Moves the state onto the loops, as a simulation does at its start: joints of the loops by the least change (passive
   joints first, then joints that are not prescribed, then elastic coordinates), qd is projected; then chooses
   independent constraints. Redundant constraints are dropped; the first call reports them in a warning. Does nothing for
   a robot without loops. Allocates. Fails where a loop cannot be closed, or where a joint would have to move by more than
   0.3 rad or m from the start of the file and its loops do not have "start": "approximate"; the state then stays. The start state is as the file gives it: call
   this once after loading a robot with loops. */
LIMBER_API int limber_robot_close_loops(limber_robot *robot);

/* Gaps [limber_robot_constraints()] of all constraints at the state and their rates, m or 1 (cosine of an angle), m/s
   or 1/s; each may be NULL. */
LIMBER_API int limber_robot_gaps(limber_robot *robot, double *gap, double *rate);

/* Multipliers [limber_robot_constraints()] at the state, N or N m: the forces that keep loops and rigid couplings
   closed; 0 for dropped constraints. Runs the forward dynamics, with its failures. */
LIMBER_API int limber_robot_multipliers(limber_robot *robot, double *lambda);

/* Forces of couplings on their gaps [limber_robot_couplings()]: the multiplier of a rigid one, minus (stiffness gap +
   damping rate) of an elastic one, N or N m; and the gaps of elastic ones, rad or m. Runs the forward dynamics, with its
   failures. */
LIMBER_API int limber_robot_coupling_forces(limber_robot *robot, double *force, double *gap);

/* ---- dynamics: M qdd + h = Q, at the state -------------------------------------------------------------------- */

/* Accelerations qdd [nv] of the forces that act, loops closed, prescribed joints as given. O(n) in the number of
   links. Fails (positive) where the mass matrix is not positive definite, a loop is singular, an actuator has no
   length, or the result is not finite. */
LIMBER_API int limber_robot_forward(limber_robot *robot, double *qdd);

/* Generalized forces [nv] that the accelerations qdd [nv] (NULL: zero) need beside tip wrench and actuator forces: M
   qdd + h - J' wrench - B F. Of a robot with loops: of its tree, so that the forward dynamics' qdd give tau + G'
   lambda. In rows of elastic coordinates the result is what would have to act on them; 0 for a motion that is
   possible. Fails (positive) where an actuator with a force has no length or the result is not finite. */
LIMBER_API int limber_robot_inverse(limber_robot *robot, const double *qdd, double *force);

/* Mass matrix M [nv x nv] of the tree; entries in kg, kg m or kg m^2 by the units of row and column. Fails (positive)
   where it is not finite. */
LIMBER_API int limber_robot_mass_matrix(limber_robot *robot, double *M);

/* Bias h [nv], N m or N: velocity terms, gravity, springs, damping, friction and stops, without any force that acts.
   Fails (positive) where it is not finite. */
LIMBER_API int limber_robot_bias(limber_robot *robot, double *h);

/* Derivatives of the forward dynamics, exact: d(qdd)/dq [nv x nv], d(qdd)/d(qd) [nv x nv] and d(qdd)/d(joint forces)
   [nv x limber_robot_joint_forces()]; row i is qdd_i, column j what it is differentiated by. Columns of q are
   directions dx of limber_robot_move(). Rows of prescribed joints are zero. Each may be NULL; qdd [nv] too. Fails as
   limber_robot_forward(). */
LIMBER_API int limber_robot_forward_derivatives(limber_robot *robot, double *qdd, double *by_q, double *by_qd,
                                                double *by_force);

/* Derivatives of the inverse dynamics at given accelerations qdd [nv] (NULL: zero), exact: d(force)/dq and
   d(force)/d(qd) [nv x nv], likewise; d(force)/d(qdd) is the mass matrix. Each may be NULL. Fails as
   limber_robot_inverse(). */
LIMBER_API int limber_robot_inverse_derivatives(limber_robot *robot, const double *qdd, double *by_q, double *by_qd);

/* Energies in J; each may be NULL. `elastic` is of links, joint springs and stops; `gravity` is zero where all masses
   are at the world's origin. */
LIMBER_API int limber_robot_energy(limber_robot *robot, double *kinetic, double *elastic, double *gravity);

/* Lengths [limber_robot_actuators()] of actuators at the state, m, and their rates, m/s; each may be NULL. */
LIMBER_API int limber_robot_actuator_lengths(limber_robot *robot, double *length, double *rate);

/* ---- frames of links, at the state ---------------------------------------------------------------------------- */

/* The hinge frame of a link is fixed to the moving side of its joint; the tip frame is at the outer end of its body. With
   LIMBER_NAMED in place of these, `link` is the index of a frame that the robot file names. */
enum { LIMBER_HINGE = 0, LIMBER_TIP = 1, LIMBER_NAMED = 2 };

/* Origin p [3], m, and orientation R [3 x 3] of a frame in the world: columns of R are its axes. Each may be NULL.
   LIMBER_BAD_ARGUMENT, here and below. */
LIMBER_API int limber_robot_pose(limber_robot *robot, int link, int frame, double *p, double *R);
/* Angular velocity omega [3], rad/s, and velocity of the origin v [3], m/s; world axes. Each may be NULL. */
LIMBER_API int limber_robot_velocity(limber_robot *robot, int link, int frame, double *omega, double *v);
/* Angular acceleration alpha [3], rad/s^2, and acceleration of the origin a [3], m/s^2, for the accelerations qdd
   [nv] (NULL: zero); world axes. Each may be NULL. */
LIMBER_API int limber_robot_acceleration(limber_robot *robot, int link, int frame, const double *qdd, double *alpha,
                                         double *a);
/* Jacobian J [6 x nv] of a frame: (omega; v) = J qd; world axes. J' maps a wrench (torque; force) at the origin to
   generalized forces. */
LIMBER_API int limber_robot_jacobian(limber_robot *robot, int link, int frame, double *J);
/* What strain gauges show at a frame that the file places at a station of a beam: curvature [3] = (psi', -w'', v''), 1/m, and
   the elongation a', each may be NULL. LIMBER_BAD_ARGUMENT where the frame is not at a station. */
LIMBER_API int limber_robot_strain(const limber_robot *robot, int frame, double *curvature, double *elongation);
/* What the joint exerts on the link at the hinge frame, (torque; force) [6], N m, N, axes of the hinge frame, for the
   forces that act: runs the forward dynamics, with its failures. */
LIMBER_API int limber_robot_reaction(limber_robot *robot, int link, double *wrench);

/* ---- static equilibrium --------------------------------------------------------------------------------------- */

/* Moves the state to an equilibrium with the joints where they are: velocities and prescribed accelerations become
   zero, loops are closed, elastic coordinates come to rest under gravity, tip wrench and actuator forces, and the
   joint forces become those that hold the arm. Where an open robot has actuators and all their forces are zero, they
   become those that hold the passive joints. tau [limber_robot_joint_forces()] and actuator_force
   [limber_robot_actuators()] receive the forces; each may be NULL. Allocates. Fails where passive joints do not rest
   there or a loop cannot be closed; state and forces then stay. */
LIMBER_API int limber_robot_settle(limber_robot *robot, double *tau, double *actuator_force);

/* ---- linearization -------------------------------------------------------------------------------------------- */

/* dx/dt = A x + B u, y = C x + D u for deviations from the state and the forces of a robot. States, inputs and
   outputs are those of the FMU, in its order; of a quaternion the state is the rotation vector. */
typedef struct limber_linear limber_linear;

enum {
    LIMBER_MINIMAL = 1 /* a robot with loops in minimal coordinates */
};

/* Linearizes at the state and forces of the robot, whose loops are closed first. `options` is 0 or LIMBER_MINIMAL.
   The robot is not changed. *linear is NULL on failure. Allocates. Fails as limber_robot_forward(), and where a loop
   cannot be closed. */
LIMBER_API int limber_robot_linearize(const limber_robot *robot, int options, limber_linear **linear);
/* NULL is allowed. */
LIMBER_API void limber_linear_free(limber_linear *linear);

/* Numbers of states, inputs and outputs. */
LIMBER_API int limber_linear_states(const limber_linear *linear);
LIMBER_API int limber_linear_inputs(const limber_linear *linear);
LIMBER_API int limber_linear_outputs(const limber_linear *linear);
/* Their names, by index from 0; NULL where it is out of range. */
LIMBER_API const char *limber_linear_state_name(const limber_linear *linear, int i);
LIMBER_API const char *limber_linear_input_name(const limber_linear *linear, int i);
LIMBER_API const char *limber_linear_output_name(const limber_linear *linear, int i);
/* A [states x states], B [states x inputs], C [outputs x states], D [outputs x inputs]. */
LIMBER_API const double *limber_linear_A(const limber_linear *linear);
LIMBER_API const double *limber_linear_B(const limber_linear *linear);
LIMBER_API const double *limber_linear_C(const limber_linear *linear);
LIMBER_API const double *limber_linear_D(const limber_linear *linear);

/* ---- natural modes -------------------------------------------------------------------------------------------- */

/* Natural modes of small motions about the state of a robot, by rising frequency. */
typedef struct limber_modes limber_modes;

enum {
    LIMBER_JOINTS_FREE = 1 /* driven joints move too; otherwise they are locked */
};

/* `options` is 0 or LIMBER_JOINTS_FREE. The robot's state must be on its loops; it is not changed. *modes is NULL on
   failure. Allocates. Fails where the mass matrix is not positive definite or numbers are not finite. */
LIMBER_API int limber_robot_modes(limber_robot *robot, int options, limber_modes **modes);
/* NULL is allowed. */
LIMBER_API void limber_modes_free(limber_modes *modes);

/* The number of modes. */
LIMBER_API int limber_modes_count(const limber_modes *modes);
/* Of mode i, from 0; NaN where the index is out of range: frequency without damping, Hz; growth rate without damping,
   1/s, positive for a motion that grows; damping ratio, 1. */
LIMBER_API double limber_modes_frequency(const limber_modes *modes, int i);
LIMBER_API double limber_modes_growth(const limber_modes *modes, int i);
LIMBER_API double limber_modes_damping_ratio(const limber_modes *modes, int i);
/* The shape of mode i over all velocities of the robot: real and imaginary parts re, im [nv], each may be NULL; zero
   for what does not move. LIMBER_BAD_ARGUMENT. */
LIMBER_API int limber_modes_shape(const limber_modes *modes, int i, double *re, double *im);

/* ---- simulation ----------------------------------------------------------------------------------------------- */

/* A robot that moves: the instance that an FMU and `limber simulate` run, with the same variables and, step for step,
   the same numbers. */
typedef struct limber_simulation limber_simulation;

/* Loads a robot for simulation, as limber_robot_read() and limber_robot_parse(). */
LIMBER_API int limber_simulation_read(const char *file, limber_message *message, void *context,
                                      limber_simulation **simulation);
LIMBER_API int limber_simulation_parse(const char *name, const char *text, limber_message *message, void *context,
                                       limber_simulation **simulation);
/* NULL is allowed. */
LIMBER_API void limber_simulation_free(limber_simulation *simulation);
/* Back to what loading made: start values of the file, nothing set, not started. */
LIMBER_API void limber_simulation_reset(limber_simulation *simulation);

/* Variables: name, unit (NULL: none), description and causality, by index from 0; NULL and LIMBER_BAD_ARGUMENT where
   it is out of range. */
enum { LIMBER_INPUT = 0, LIMBER_OUTPUT = 1, LIMBER_LOCAL = 2, LIMBER_PARAMETER = 3 };
LIMBER_API int limber_simulation_variables(const limber_simulation *simulation);
LIMBER_API const char *limber_simulation_variable_name(const limber_simulation *simulation, int i);
LIMBER_API const char *limber_simulation_variable_unit(const limber_simulation *simulation, int i);
LIMBER_API const char *limber_simulation_variable_description(const limber_simulation *simulation, int i);
LIMBER_API int limber_simulation_variable_causality(const limber_simulation *simulation, int i);
/* The index of a variable by its name; LIMBER_NO_NAME (negative) where there is none. */
LIMBER_API int limber_simulation_find(const limber_simulation *simulation, const char *name);

/* The value of variable i, in its unit. Outputs and locals are computed where they are not up to date, with the
   failures of limber_robot_forward(); before the start LIMBER_BAD_CALL for these. LIMBER_BAD_ARGUMENT. */
LIMBER_API int limber_simulation_get(limber_simulation *simulation, int i, double *value);

/* Sets an input, at any time, or a parameter, before the start (tunable parameters, as payload masses, at any time).
   LIMBER_BAD_ARGUMENT: the index is out of range or the value not finite; LIMBER_BAD_CALL: the variable cannot be set
   now; LIMBER_BAD_ROBOT: the value is outside its limits. */
LIMBER_API int limber_simulation_set(limber_simulation *simulation, int i, double value);
/* The slope of an input over the next step, per s: it moves along a line instead of being constant. The motion of a prescribed
   joint is q + qd s + qdd s^2/2 in any case: slopes of q and qd have no effect, that of qdd is its jerk. LIMBER_BAD_ARGUMENT. */
LIMBER_API int limber_simulation_set_rate(limber_simulation *simulation, int i, double rate);

/* Applies parameters and sets the states from their start values at time `start`, s. `tolerance` is relative; 0:
   1e-6. A parameter solver.relative_tolerance that is not 0 has priority. Allocates where parameters changed the
   model. LIMBER_BAD_ARGUMENT: `start` is not finite, `tolerance` is negative or not below 1; LIMBER_BAD_CALL:
   already started. Fails where loops cannot be closed or there is no static equilibrium. */
LIMBER_API int limber_simulation_start(limber_simulation *simulation, double start, double tolerance);

/* One step over exactly h > 0, s; inputs are constant or follow their slopes. On failure the state is the last good
   one: limber_simulation_time() says when. LIMBER_BAD_CALL: not started; LIMBER_BAD_ARGUMENT: h is not
   positive and finite. */
LIMBER_API int limber_simulation_step(limber_simulation *simulation, double h);
/* The time, s. */
LIMBER_API double limber_simulation_time(const limber_simulation *simulation);

/* A callback of limber_simulate(): 0 to continue; anything else stops, and limber_simulate() returns it. */
typedef int limber_callback(void *context, double time, limber_simulation *simulation);

/* Runs up to time `until`, s, in steps of `step`, s (the last one may be shorter). First starts the simulation at
   time 0 with the default tolerance if it was not started. `inputs` is called at the beginning of every step, at the
   end, and before the start: it sets inputs. `outputs` is called at the start and after every step, behind `inputs`:
   it reads variables. Either may be NULL. Fails as start and step. */
LIMBER_API int limber_simulate(limber_simulation *simulation, double until, double step, limber_callback *inputs,
                               limber_callback *outputs, void *context);

/* A saved state is a block of bytes without pointers. It can be restored in any simulation of the same robot file
   with the same library, in another process too; both then continue with the same bits. LIMBER_BAD_CALL: not started,
   or not a state of this robot; LIMBER_BAD_ARGUMENT: too few bytes, or damaged. */
LIMBER_API size_t limber_simulation_saved_size(const limber_simulation *simulation);
LIMBER_API int limber_simulation_save(limber_simulation *simulation, void *bytes, size_t size);
LIMBER_API int limber_simulation_restore(limber_simulation *simulation, const void *bytes, size_t size);

/* Counts since the start; -1 for an unknown `which`. */
enum {
    LIMBER_STEPS,       /* internal steps                          */
    LIMBER_EVALUATIONS, /* of the equations of motion              */
    LIMBER_JACOBIANS,   /* of their derivatives                    */
    LIMBER_RESTARTS     /* of the integrator                       */
};
LIMBER_API long limber_simulation_statistic(const limber_simulation *simulation, int which);

#ifdef __cplusplus
}
#endif

#endif
