/* An instance of a robot, and what it offers beyond sim/instance.h. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "sim/instance.h"

struct robot;
struct model;
struct mechanism;
struct point;
struct statics;
struct robot_code;

/* An instance of the robot in this text (a robot file); as instance_make(). */
enum status sim_make(const char *name, const char *text, struct report *report, struct instance **instance);

/* The same for analyses of states with wrenches on any frame of the robot, not only on loads. */
enum status sim_make_loaded(const char *name, const char *text, struct report *report, struct instance **instance);

/* The motion of driven joints: q, qd, qdd of coordinate k of the joint of a link at any time, counted from the start of the
   experiment. */
struct sim_motion {
    void *context;
    void (*at)(void *context, double t, int link, int k, double x[3]);
};

/* The same robot with the drives' motion given instead of their torques: every joint that is not passive and can be prescribed
   follows `motion` at every instant; its inputs q, qd, qdd are not read; `tau` is what its drive must provide. So do passive
   joints that lines move (joint_actuated()): the line forces are not read either, but are those for which the tau of
   these joints is zero. */
enum status sim_make_moved(const char *name, const char *text, const struct sim_motion *motion, struct report *report,
                           struct instance **instance);

/* From now on steps use generated functions of this robot, except while parameters have other values than the numbers in the code. To
   be called once, after sim_make(). */
enum status sim_use_code(struct instance *instance, const struct robot_code *code);

/* An analysis may change `hold` of joints and lines, in place of what the robot file says. */
struct robot *sim_robot(const struct instance *instance);
const struct model *sim_model(const struct instance *instance);

/* The instance's own equations of motion, for analyses. A caller that changes their state says so: the values of the instance are then
   out of date. */
struct mechanism *sim_mechanism(struct instance *instance);
void sim_outdate_values(struct instance *instance);

/* The state and the inputs of the instance, for analyses that set them without a start: parameters act from sim_use_parameters() on,
   which is also to be called before instance_update(); then drives start at the state; then the state becomes the static
   equilibrium that mech/statics.h finds from it, and drives get the states that hold it. Joints settle within 0.5 rad or 0.5 m, and what
   holds them is logged; with a report `far` they settle anywhere, what is unusual is reported there, and drives get commands too. */
const struct point *sim_point(const struct instance *instance);
enum status sim_use_parameters(struct instance *instance);
enum status sim_start_drives(struct instance *instance);
enum status sim_settle(struct instance *instance, struct report *far);

/* The equilibrium of the last static start. */
struct statics *sim_statics(struct instance *instance);

/* Accelerations qdd, the force of a line, and generalized forces that the drives of prescribed joints must give, by
   coordinates of qd: all at the state of the last instance_update(). */
const double *sim_accelerations(const struct instance *instance);
double sim_line_force(const struct instance *instance, int line);
const double *sim_drive_forces(const struct instance *instance);

#endif
