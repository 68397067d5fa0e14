/* A row of the variable table, for the files of the table alone. */
#ifndef SIM_VARIABLES_ROW_H
#define SIM_VARIABLES_ROW_H

#include "mech/mechanism.h"
#include "sim/outputs.h"
#include "sim/point.h"
#include "sim/variables.h"

/* What has the variable: the robot, links with such a joint or body, every loop or actuator. */
enum owner { ROBOT, DRIVEN, PRESCRIBED, FREE, MOVING, FLEXIBLE, LINK, BEAM, PAYLOAD, LOOP, ACTUATOR };

/* As many as the link has elastic coordinates, as the loop has equations. */
enum { MODES = -1, EQUATIONS = -2 };

/* Of a variable that can be set: what it is of the motion, or a force; NUMBER: none of these. */
enum level { POSITION, VELOCITY, ACCELERATION, FORCE, NUMBER };

/* What a coordinate measures decides its units. */
enum dimension { ANGLE, DISTANCE, PURE_NUMBER, DIMENSIONS };

/* A number of the robot. */
struct robot_number {
    double (*read)(const struct robot *robot, const struct variable *variable);
    void (*write)(struct robot *robot, const struct variable *variable, double value); /* NULL: it is only the start */
};

struct table_row {
    const char *name; /* %J the joint's, %L the link's, %C the loop's, %A the actuator's */
    enum owner owner;
    unsigned
        given; /* only where this number is given in the file: enum joint_given (MOVING), enum beam_given (BEAM); 0: always */
    int count;
    enum variable_type type;
    enum causality causality;
    enum variability variability;
    enum initial initial;
    const char *unit[DIMENSIONS], *display_unit; /* degrees only where it is an angle */
    enum level level;
    bool is_state;
    int rate;     /* kind of its time derivative; -1: none */
    int start_of; /* kind of the state that it is the start value of; -1: none */
    double *(*place)(const struct point *point, const struct variable *variable);    /* NULL: not in a point */
    const struct robot_number *number;                                               /* NULL: starts at 0    */
    double (*value)(const struct outputs *outputs, const struct variable *variable); /* NULL: not computed   */
    bool differentiable;                                                             /* of value             */
    bool (*depends)(const struct structure *structure, const struct variable *unknown,
                    const struct variable *known);                       /* NULL: not an unknown */
    const char *(*error)(const struct variable *variable, double value); /* NULL: any number     */
    double (*nominal)(const struct model *model, int link, int k);       /* NULL: none           */
    const char *description;
};

/* ---- columns (variables_access.c) --------------------------------------------------------------------------------------- */

#define PLACE(name) double *place_##name(const struct point *point, const struct variable *variable)
PLACE(q);
PLACE(qd);
PLACE(eta);
PLACE(etad);
PLACE(qdd);
PLACE(tau);
PLACE(tip_force);
PLACE(tip_torque);
PLACE(actuator_force);
PLACE(payload_mass);

#define VALUE(name) double value_##name(const struct outputs *outputs, const struct variable *variable)
VALUE(q);
VALUE(qd);
VALUE(qdd);
VALUE(tau);
VALUE(eta);
VALUE(etad);
VALUE(etadd);
VALUE(tip_position);
VALUE(tip_quaternion);
VALUE(tip_velocity);
VALUE(tip_angular_velocity);
VALUE(tip_acceleration);
VALUE(deflection);
VALUE(rotation);
VALUE(root_force);
VALUE(root_moment);
VALUE(loop_force);
VALUE(actuator_length);
VALUE(actuator_rate);
VALUE(kinetic_energy);
VALUE(elastic_energy);
VALUE(gravity_energy);
VALUE(total_energy);
VALUE(joint_power);
VALUE(actuator_power);
VALUE(losses);

extern const struct robot_number number_zero, number_start_position, number_start_velocity, number_gravity,
    number_length, number_mass_per_length, number_EIy, number_EIz, number_GJ, number_EA, number_damping_ratio,
    number_viscous, number_coulomb, number_motor_inertia, number_stiffness, number_rest, number_payload_mass,
    number_elastic_terms;

#define LIMIT(name) const char *limit_##name(const struct variable *variable, double value)
LIMIT(none);
LIMIT(positive);
LIMIT(not_negative);
LIMIT(stiffness);
LIMIT(elastic_terms);
LIMIT(boolean);
LIMIT(tolerance);
LIMIT(order);

/* ---- columns (variables_depends.c) -------------------------------------------------------------------------------------- */

#define DEPENDS(name) \
    bool depends_##name(const struct structure *structure, const struct variable *unknown, const struct variable *known)
DEPENDS(itself);
DEPENDS(all);
DEPENDS(accelerations);
DEPENDS(loop_force);
DEPENDS(deflection);
DEPENDS(rotation);
DEPENDS(tip_position);
DEPENDS(tip_quaternion);
DEPENDS(tip_velocity);
DEPENDS(tip_angular_velocity);
DEPENDS(tip_acceleration);
DEPENDS(actuator_length);
DEPENDS(actuator_rate);

/* ---- units and scales (variables_scale.c) --------------------------------------------------------------------------------- */

enum dimension variable_dimension(const struct model *model, const struct table_row *row, int owner, int k);

double nominal_joint(const struct model *model, int link, int k);
double nominal_eta(const struct model *model, int link, int k);
double nominal_etad(const struct model *model, int link, int k);

#endif
