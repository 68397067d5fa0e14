/* A row of the variable table, for the files of the table alone. */
#ifndef SIM_VARIABLES_ROW_H
#define SIM_VARIABLES_ROW_H

#include "mech/mechanism.h"
#include "sim/outputs.h"
#include "sim/point.h"
#include "sim/variables.h"

/* The owner of a variable: the robot; links whose joint or body is of that sort; loops; couplings, and the rigid and the elastic ones among them; elements that exert forces; frames that are sensors or
   loads, of which 0 is the tip and 1 + i is frame i of the robot; drives inside the arm; supplies. A joint or a line with a drive
   is powered; a line without one is open. */
enum owner {
    ROBOT,
    DRIVEN,
    PRESCRIBED,
    FREE,
    MOVING,
    FLEXIBLE,
    LINK,
    BEAM,
    PAYLOAD,
    LOOP,
    COUPLING,
    RIGID,
    SPRING,
    POWERED,
    OPEN_LINE,
    ELEMENT,
    DRIVE,
    SUPPLY,
    SENSOR,
    INERTIAL_SENSOR,
    GAUGE,
    LOAD
};

/* Numbers of variables that differ between owners: positions, velocities or coordinates with numbers of the joint; elastic coordinates
   of the link; equations of the loop; one for every state whose derivative is a variable of its own; values of this sort of the drive; one
   whose unit is that of a gap. */
enum {
    POSITIONS = -1,
    VELOCITIES = -2,
    NUMBERS = -3,
    MODES = -4,
    EQUATIONS = -5,
    WITH_STATE = -6,
    VALUES_OF_DRIVE = -7,
    BY_GAP = -8,
    OUTPUTS_OF_ELEMENT = -9
};

/* What a variable is: a position, a velocity or an acceleration of the motion, or a force. NUMBER: none of these, or not by the geometry
   alone. Positions depend on positions, velocities on positions and velocities. */
enum level { POSITION, VELOCITY, ACCELERATION, FORCE, NUMBER };

/* What a coordinate measures, which decides its unit */
enum dimension { ANGLE, DISTANCE, PURE_NUMBER, DIMENSIONS };

/* A number of the robot. */
struct robot_number {
    double (*read)(const struct robot *robot, const struct variable *variable);
    void (*write)(struct robot *robot, const struct variable *variable, double value); /* NULL: it is only the start */
};

/* Columns that are functions */
typedef double *place_function(const struct point *point, const struct variable *variable);
typedef double value_function(const struct outputs *outputs, const struct variable *variable);
typedef bool depends_function(const struct structure *structure, const struct variable *unknown,
                              const struct variable *known);
typedef const struct limit *limit_function(const struct robot *robot, const struct variable *variable,
                                           struct arena *arena);
typedef double nominal_function(const struct model *model, int link, int k);

/* clang-format off */
struct table_row {
    const char *name; /* %J name of the joint, %L the link, %C the loop, %K the coupling, %A the line, %F the frame, %S the supply; %p, %v, %a, %f what the joint calls a
                         position, velocity, acceleration, force (joint_position_group(), joint_velocity_group()) */
    enum owner owner;
    unsigned given; /* the number: only of joints that take it, enum joint_given (MOVING); only where the file gives it, enum
                       beam_given (BEAM) */
    int count;
    enum variable_type type;
    enum causality causality;
    enum variability variability;
    enum initial initial;
    const char *unit[DIMENSIONS], *display_unit; /* degrees only where it is an angle                     */
    enum level level;
    bool is_state;
    int rate;                          /* kind of its time derivative; -1: none                           */
    int start_of;                      /* kind of the state that it is the start value of; -1: none       */
    place_function *place;             /* state, input or tunable parameter in a point, else NULL         */
    const struct robot_number *number; /* its number in the robot, or that of its start                   */
    value_function *value;             /* from outputs, or its change from their changes; NULL: not computed */
    depends_function *depends;         /* NULL: not an unknown, and no derivative is provided             */
    limit_function *limit;             /* what a value may be; NULL: not a parameter                      */
    nominal_function *nominal;         /* NULL: not a state                                               */
    const char *description;           /* with %p, %v, %a, %f: what they are                              */
};
/* clang-format on */

/* ---- columns (variables_access.c) --------------------------------------------------------------------------------------- */

place_function place_q, place_qd, place_eta, place_etad, place_qdd, place_tau, place_frame_force, place_frame_torque,
    place_line_force, place_drive, place_payload_mass, place_payload_com, place_payload_inertia, place_added_mass;

value_function value_q, value_qd, value_qdd, value_position_rate, value_tau, value_eta, value_etad, value_etadd,
    value_frame_position, value_frame_quaternion, value_frame_velocity, value_frame_angular_velocity,
    value_frame_acceleration, value_frame_specific_force, value_frame_angular_rate, value_frame_curvature,
    value_frame_elongation, value_deflection, value_rotation, value_root_force, value_root_moment, value_loop_force,
    value_coupling_force, value_element, value_kinetic_energy, value_elastic_energy, value_gravity_energy, value_drive,
    value_drive_torque, value_supply_demand, value_supply_share, value_total_energy, value_joint_power,
    value_line_power, value_losses;

extern const struct robot_number number_zero, number_start_position, number_start_velocity, number_gravity,
    number_length, number_mass_per_length, number_EIy, number_EIz, number_GJ, number_EA, number_inertia_per_length,
    number_E, number_G, number_density, number_outer_diameter, number_diameter, number_width, number_height,
    number_wall, number_section_scale, number_added_mass, number_payload_com, number_payload_inertia,
    number_damping_ratio, number_viscous, number_coulomb, number_motor_inertia, number_stiffness, number_rest,
    number_offset, number_coupling_stiffness, number_coupling_damping, number_backlash, number_payload_mass,
    number_elastic_terms, number_drive, number_supply_pressure, number_supply_flow_limit;

limit_function limit_none, limit_positive, limit_not_negative, limit_quaternion, limit_start_position, limit_length,
    limit_stiffness, limit_inertia, limit_elastic_terms, limit_boolean, limit_drive, limit_tolerance, limit_order,
    limit_method, limit_count;

/* ---- structure (variables_depends.c) -------------------------------------------------------------------------------------- */

struct structure {
    const struct model *model;
    struct force_element *element; /* of the robot, with their anchors */
    int *root; /* [link]: the first link with free coordinates on the way to it from the world; -1: prescribed motion */
    int *place;   /* [link]: in an order of the tree in which the links outward of one follow it */
    int *size;    /* [link]: how many these are, with the link itself */
    int *group;   /* [link]: shared by links whose accelerations depend on each other; -1: prescribed motion */
    bool **drive; /* [drive]: its values by its values: [unknown * values + known] whether one depends on the other */
    int normal;   /* axis of the world to which the robot's motion is normal, in any state; -1: it is not planar     */
    bool flat;    /* planar, and all masses, points and lines are in one plane                                       */
};

/* The tip (0) or a frame of the robot (1 + its number) */
struct anchor structure_frame(const struct model *model, int frame);

/* Is `link` the link `base`, or attached to it, directly or through others? */
bool structure_is_outward(const struct structure *structure, int link, int base);

/* Planar robots (variables_planar.c): sets `normal` and `flat`; whether they exclude a dependency. */
void planar_find(struct structure *structure);
bool planar_excludes(const struct structure *structure, const struct variable *unknown, const struct variable *known);

/* ---- columns (variables_depends.c) -------------------------------------------------------------------------------------- */

depends_function depends_itself, depends_quaternion_rate, depends_accelerations, depends_root_force,
    depends_root_moment, depends_loop_force, depends_coupling_force, depends_element, depends_deflection,
    depends_rotation, depends_frame_origin, depends_frame_orientation, depends_frame_acceleration,
    depends_frame_specific_force, depends_frame_angular_rate, depends_frame_strain, depends_drive, depends_drive_torque,
    depends_supply;

/* ---- drives (variables_drives.c) ---------------------------------------------------------------------------------------- */

/* Number of values of a drive of a row's sort, and the index of the k-th. The motion and the share, which belong to the arm, are not
   among them. */
int drive_value_count(const struct robot *robot, int drive, const struct table_row *row);
int drive_value_index(const struct robot *robot, int drive, const struct table_row *row, int k);

/* A variable for a value of a drive, or for the derivative of a state, without what its row says. */
struct variable drive_variable(const struct robot *robot, const struct table_row *row, int drive, int k,
                               struct arena *arena);

/* ---- units and scales (variables_scale.c) --------------------------------------------------------------------------------- */

enum dimension variable_dimension(const struct model *model, const struct table_row *row, int owner, int k);

nominal_function nominal_position, nominal_velocity, nominal_eta, nominal_etad;

#endif
