/* Derivatives along lines: directions of state and inputs, and what a tangent gives against differences of eighth order. */
#ifndef ORACLE_SLOPES_H
#define ORACLE_SLOPES_H

#include "dyn/tangent.h"
#include "oracle/specimen.h"

enum { MOST = 200, MOST_COMPARED = 2000 };

/* A direction with its own arrays, q a tangent; or a state with its inputs, q its positions. */
struct arrow {
    double q[MOST], qd[MOST], tau[MOST], tip_wrench[6], prescribed_qdd[MOST], payload_mass[MOST];
    double line_force[MOST], frame_wrench[MOST];
    struct direction direction;
};

void arrow_clear(struct arrow *arrow);

/* Coordinates move by as much as their ranges in specimen_random_state(). */
void arrow_random(const struct specimen *specimen, struct random *random, struct arrow *arrow);

/* Number j of the directions of one coordinate: a tangent of q, a qd, a tau, ... ; 0 when there are no more. A tenth: modes are moved by
   as much as their range. */
int arrow_unit(const struct specimen *specimen, int j, struct arrow *arrow);

/* The specimen's state, to come back to with t = 0 exactly; a step t along a direction from there, q by model_move(). */
void arrow_remember(const struct specimen *specimen, struct arrow *at);
void arrow_go(struct specimen *specimen, const struct arrow *from, double t, const struct arrow *along);

/* Everything that has a derivative. Parts let errors be told by kind. */
enum part { QDD, LAMBDA, DRIVES, POSE, VELOCITY, ACCELERATION, REACTION, DEFLECTION, PARTS };
struct values {
    int count[PARTS];
    double y[PARTS][MOST_COMPARED];
};

void values_put(struct values *v, enum part part, int count, const double *y);

/* Drives, tip frames (the rotation is told by its matrix), poses and velocities of hinge frames, reactions and deflections of all links, after specimen_evaluate();
   and their changes, after dyn_tangent_motion(). */
void values_put_frames(struct values *v, const struct specimen *specimen);
void values_put_frame_changes(struct values *v, const struct specimen *specimen, const struct tangent *tangent);

/* Values at the specimen's state, and their change in a direction. */
struct differentiable {
    void (*evaluate)(struct specimen *specimen, void *context, struct values *v);
    void (*differentiate)(struct specimen *specimen, void *context, const struct direction *direction,
                          struct values *v);
};

/* The largest error by parts. */
struct errors {
    double worst[PARTS];
    int count;
};

/* The error of the tangent against differences, by parts, of the size of value and slope; the best of three steps: a
   long one for those whose accelerations are known least, shorter ones for robots that whirl or are near a singular pose. What differences are worth:
   positions and velocities, right to 1e-15, lose 1/h; accelerations are known to eps and the root of cond(M), 1e-12 or so for
   the worst of these robots, and lose 1/h as well. Sizes are of what adds up: forces of the drives are sums of reactions, these of
   inertia forces, velocities of frames those of the coordinates, accelerations those that multipliers make (which are told in
   these units). */
extern const double slope_tolerance[PARTS];
void slope_errors(struct specimen *specimen, const struct differentiable *function, void *context,
                  const struct arrow *along, struct errors *errors, double error[PARTS]);
void print_errors(const struct errors *errors);

/* x'M y with work->M; |x| and |x - y| in this norm: the size of an acceleration whatever its coordinates. */
double mass_product(const struct specimen *s, const double *x, const double *y);
double mass_norm(const struct specimen *specimen, const double *x);
double mass_distance(const struct specimen *specimen, const double *x, const double *y);

#endif
