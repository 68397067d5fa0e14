/* The laws of a controller that has a model of the arm: computed torque, compensation of deflections, and the correction loop. Pure
   discrete time: one call a sample. docs/control.md has the equations, (C1) to (C22). */
#ifndef CONTROL_LAW_H
#define CONTROL_LAW_H

#include "base/arena.h"
#include "controller/lqr.h"
#include "controller/observer.h"
#include "mech/mechanism.h"

enum law { LAW_PD, LAW_PD_GRAVITY, LAW_RIGID, LAW_FLEXIBLE, LAW_COUNT };
enum compensation { COMPENSATE_NOTHING, COMPENSATE_GRAVITY, COMPENSATE_LOADS, COMPENSATION_COUNT };
enum feedback { FEEDBACK_PD, FEEDBACK_LQR, FEEDBACK_COUNT };

/* Longest delay of a torque in samples; commands that are kept for it. */
enum { MOST_DELAY = 16, COMMANDS = MOST_DELAY + 2 };

/* Desired and measured motion of the joints at a sample, n numbers each, and the values of the sensors. */
struct sample {
    const double *q_ref, *qd_ref, *qdd_ref, *q, *qd;
    const double *sensor; /* as many as there are sensors */
};

struct control {
    /* parameters; arrays have n numbers */
    enum law law;
    enum compensation compensation;
    enum feedback feedback;
    double sample_time, delay;     /*                                                                 [s]     */
    double correction_bandwidth;   /* lambda of the correction loop; 0: none                          [rad/s] */
    double compensation_bandwidth; /* omega_c of the filter of the compensated positions              [rad/s] */
    double vibration_damping;      /* sigma_v: decay that the compensation adds to vibration; with sensors [1/s] */
    double *kp, *kd;               /* feedback of position and velocity                          [1/s^2], [1/s] */
    double *accepted_position, *accepted_rate, *accepted_acceleration; /* weights of LQR: inverse squares of these    */
    double *torque_resolution; /* 0: none                                                         [N m, N] */

    /* the model, twice: with free joints, and with joints that follow the command */
    struct mechanism *arm, *guided;
    int n, n_eta; /* joints, elastic coordinates           */
    int *joint;   /* n: their indices in q                 */
    int *elastic; /* n_eta: likewise                       */

    /* the state: all of it is in one array */
    double *state;
    int n_state;
    double *count;                             /* number of samples                                                  */
    double *d;                                 /* n: estimated unmodeled torques                           [N m, N] */
    double *shift, *shift_rate;                /* n: command minus desired position, and its rate                    */
    double *inertia;                           /* n: diagonal of M at the start, modes locked, for feedback          */
    double *gain;                              /* n x 2 nv: F of LQR, for changes of (q, h qd)                       */
    double *guided_q, *guided_qd, *guided_qdd; /* nv: predicted along the command                                    */
    double *predicted_q, *predicted_qd;        /* nv: predicted for the torques, from the measured joints            */
    double *arrival;          /* n: predicted accelerations of the joints at the next sample; with sensors */
    double *command;          /* COMMANDS x n: torques of the last samples                          */
    struct observer observer; /* and its state                                                      */

    /* scratch */
    double *q_command, *qd_command, *qdd_command, *target, *r, *torque; /* n                                 */
    double *q, *qd, *qdd, *a0, *force;                                  /* nv                                */
    double *eta, *drag;                                                 /* n_eta                             */
    double *K, *inverse_k, *Mff, *inverse_m;                            /* factors: n_eta x n_eta, n_eta     */
    double *by_q, *by_qd;                                               /* columns: nv x nv                  */
    struct lqr lqr;                                                     /* of (q, h qd)                      */
};

/* Arrays; joints of both mechanisms have one coordinate each, and a drive. */
enum status control_make(struct control *c, struct mechanism *arm, struct mechanism *guided, int n_sensors,
                         const struct sensor *sensor, struct arena *arena);

/* After parameters of the model have changed. */
enum status control_adopt(struct control *c);

/* The state at the start: the arm at rest in the desired position, without an estimated error. control_torque() then returns the command
   of the start. */
enum status control_start(struct control *c, const struct sample *sample);

/* One sample: torques, and predictions for the next one. */
enum status control_sample(struct control *c, const struct sample *sample);

/* The torques that act just before a time, counted from the first sample. */
const double *control_torque(const struct control *c, double time);

#endif
