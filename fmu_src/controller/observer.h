/* Estimates deformations and the unknown load at the tip of an arm from strain gauges and accelerometers, and corrects the prediction
   of a controller with them. docs/control.md has the equations, (C16) to (C21). */
#ifndef OBSERVER_H
#define OBSERVER_H

#include "controller/lqr.h"
#include "controller/sensors.h"

struct observer {
    /* parameters */
    double bandwidth;   /* omega_o; 0: sensors are ignored                      [rad/s] */
    double sample_time; /* h                                                    [s]     */
    double *noise;      /* n: standard deviations                                       */

    struct sensors sensors; /* of the model with prescribed joints                      */
    int n_eta;
    const int *elastic; /* n_eta: elastic coordinates among those of the model          */

    /* the state, in the array of the controller */
    double *wrench; /* 6: (0; w), the estimated load at the tip, world axes    [N m; N] */
    double *gain;   /* n x 2 n_eta: L' of (eta, h etad)                                 */
    double *S;      /* n x n: part of the sensors' differences that the load explains   */
    double *floor;  /* 1: mu                                                            */

    /* scratch */
    double *e, *G, *counted; /* n; n x 3                                                 */
    double *rest;            /* nv: zeros                                                */
    double *dq, *dqd;        /* nv                                                       */
    double *by_q, *by_qd;    /* columns: nv x nv                                         */
    double compliance;       /* tr(Phi (K + omega_o D + omega_o^2 M)^-1 Phi')      [m/N] */
    struct lqr filter;       /* of (eta, h etad, w)                                      */
    double *transposed_gain; /* n x (2 n_eta + 3)                                       */
};

/* Sensors of `guided`, the model with prescribed joints. */
enum status observer_make(struct observer *o, int n, const struct sensor *sensor, struct mechanism *guided, int n_eta,
                          const int *elastic, struct arena *arena);

/* How many numbers the state has, and where they are stored. */
int observer_state_size(int n_sensors, int n_eta);
void observer_place_state(struct observer *o, double *state);

/* Generalized forces of a wrench at the tip of a model. After dyn_configuration(). */
void observer_tip_force(const struct mechanism *m, const double wrench[6], double *force);

/* Whether there are sensors that are not ignored. */
static inline bool observes(const struct observer *o)
{
    return o->sensors.n > 0 && o->bandwidth > 0;
}

/* The gains, from the linear model at rest in this position. */
enum status observer_start(struct observer *o, const double *q);

/* Corrects the predicted elastic coordinates in q and qd, and the load, with the measured values; qdd_joints: accelerations of the joints. */
enum status observer_correct(struct observer *o, const double *qdd_joints, const double *measured, double *q,
                             double *qd);

#endif
