#include "sim/variables.h"

#include <stdio.h>
#include <string.h>

#include "drive/drive.h"
#include "sim/variables_row.h"

enum { MOST_TEXT = 1024 }; /* of a name or a description, with the terminating zero */

/* ---- the table ----------------------------------------------------------------------------------------------------- */

/* Every row has all columns of its sort: a missing one does not compile. The first column is the row's kind, by which other rows
   refer to it. The order of the rows is the order of the value references. Sorts and their columns:

   INPUT      name, owner, count, unit, display unit, level, place, number at the start, kind of its time derivative, description
   STATE      name, owner, count, causality, unit, display unit, level, place, value, kind of its time derivative, nominal, description
   COMPUTED   name, owner, count, causality, unit, display unit, level, value, dependencies, description
   START      name, owner, count, unit, display unit, number, kind of the state, limit, description
   PARAMETER  name, owner, given, count, type, unit, display unit, number, limit, description
   TUNABLE    name, owner, given, count, unit, place, number, limit, description */

/* clang-format off */
#define VARIABLE_LIST(INPUT, STATE, COMPUTED, START, PARAMETER, TUNABLE) \
    INPUT(TAU_IN, "%J.%f", DRIVEN, VELOCITIES, BY_JOINT("N.m", "N"), NULL, FORCE, place_tau, number_zero, NO_KIND, "%f") \
    INPUT(Q_IN, "%J.%p", PRESCRIBED, POSITIONS, BY_JOINT("rad", "m"), "deg", POSITION, place_q, number_start_position, KIND_QD_IN, "prescribed %p") \
    INPUT(QD_IN, "%J.%v", PRESCRIBED, VELOCITIES, BY_JOINT("rad/s", "m/s"), "deg/s", VELOCITY, place_qd, number_start_velocity, KIND_QDD_IN, "prescribed %v") \
    INPUT(QDD_IN, "%J.%a", PRESCRIBED, VELOCITIES, BY_JOINT("rad/s2", "m/s2"), NULL, ACCELERATION, place_qdd, number_zero, NO_KIND, "prescribed %a") \
    INPUT(FRAME_FORCE, "%F.force", LOAD, 3, ALWAYS("N"), NULL, FORCE, place_frame_force, number_zero, NO_KIND, "force on the %F frame, world axes") \
    INPUT(FRAME_TORQUE, "%F.torque", LOAD, 3, ALWAYS("N.m"), NULL, FORCE, place_frame_torque, number_zero, NO_KIND, "torque on the %F frame, world axes") \
    INPUT(LINE_FORCE, "%A.force", OPEN_LINE, 1, ALWAYS("N"), NULL, FORCE, place_line_force, number_zero, NO_KIND, "force of the line actuator, pushing its two points apart") \
    INPUT(DRIVE_INPUT, "", DRIVE, VALUES_OF_DRIVE, NO_UNIT, NULL, NUMBER, place_drive, number_drive, NO_KIND, "") \
    \
    STATE(Q, "%J.%p", FREE, POSITIONS, OUTPUT, BY_POSITION("rad", "m", "1"), "deg", POSITION, place_q, value_q, KIND_QD, nominal_position, "%p") \
    STATE(QD, "%J.%v", FREE, VELOCITIES, OUTPUT, BY_JOINT("rad/s", "m/s"), "deg/s", VELOCITY, place_qd, value_qd, KIND_QDD, nominal_velocity, "%v") \
    COMPUTED(QDD, "%J.%a", FREE, VELOCITIES, OUTPUT, BY_JOINT("rad/s2", "m/s2"), NULL, ACCELERATION, value_qdd, depends_accelerations, "%a") \
    COMPUTED(TAU_OUT, "%J.%f", PRESCRIBED, VELOCITIES, OUTPUT, BY_JOINT("N.m", "N"), NULL, FORCE, value_tau, depends_accelerations, "torque or force that the drive of the prescribed joint must provide") \
    COMPUTED(TAU_DRIVE, "%J.%f", POWERED, VELOCITIES, OUTPUT, BY_JOINT("N.m", "N"), NULL, FORCE, value_drive_torque, depends_drive_torque, "torque of the drive on the joint") \
    COMPUTED(FRAME_POSITION, "%F.position", SENSOR, 3, OUTPUT, ALWAYS("m"), NULL, POSITION, value_frame_position, depends_frame_origin, "position of the %F frame, world axes") \
    COMPUTED(FRAME_QUATERNION, "%F.quaternion", SENSOR, 4, OUTPUT, ALWAYS("1"), NULL, POSITION, value_frame_quaternion, depends_frame_orientation, "orientation of the %F frame, w first") \
    COMPUTED(FRAME_VELOCITY, "%F.velocity", SENSOR, 3, OUTPUT, ALWAYS("m/s"), NULL, VELOCITY, value_frame_velocity, depends_frame_origin, "velocity of the %F frame's origin, world axes") \
    COMPUTED(FRAME_ANGULAR_VELOCITY, "%F.angular_velocity", SENSOR, 3, OUTPUT, ALWAYS("rad/s"), "deg/s", VELOCITY, value_frame_angular_velocity, depends_frame_orientation, "angular velocity of the %F frame, world axes") \
    COMPUTED(FRAME_ACCELERATION, "%F.acceleration", SENSOR, 3, OUTPUT, ALWAYS("m/s2"), NULL, ACCELERATION, value_frame_acceleration, depends_frame_acceleration, "acceleration of the %F frame's origin, world axes") \
    COMPUTED(FRAME_SPECIFIC_FORCE, "%F.specific_force", INERTIAL_SENSOR, 3, OUTPUT, ALWAYS("m/s2"), NULL, ACCELERATION, value_frame_specific_force, depends_frame_specific_force, "acceleration of the %F frame's origin minus gravity, in its own axes: what an accelerometer shows") \
    COMPUTED(FRAME_ANGULAR_RATE, "%F.angular_rate", INERTIAL_SENSOR, 3, OUTPUT, ALWAYS("rad/s"), "deg/s", VELOCITY, value_frame_angular_rate, depends_frame_angular_rate, "angular velocity of the %F frame, in its own axes: what a gyroscope shows") \
    COMPUTED(FRAME_CURVATURE, "%F.curvature", GAUGE, 3, OUTPUT, ALWAYS("1/m"), NULL, POSITION, value_frame_curvature, depends_frame_strain, "twist per length and curvatures of the beam at the %F frame, (psi', -w'', v''): what strain gauges show") \
    COMPUTED(FRAME_ELONGATION, "%F.elongation", GAUGE, 1, OUTPUT, ALWAYS("1"), NULL, POSITION, value_frame_elongation, depends_frame_strain, "axial strain of the beam at the %F frame, without foreshortening") \
    COMPUTED(DEFLECTION, "%L.deflection", FLEXIBLE, 3, OUTPUT, ALWAYS("m"), "mm", POSITION, value_deflection, depends_deflection, "elastic displacement of the link's tip relative to its hinge, hinge axes") \
    COMPUTED(ROTATION, "%L.rotation", FLEXIBLE, 3, OUTPUT, ALWAYS("rad"), "deg", POSITION, value_rotation, depends_rotation, "elastic rotation vector of the link's tip relative to its hinge, hinge axes") \
    COMPUTED(ROOT_FORCE, "%L.root_force", LINK, 3, OUTPUT, ALWAYS("N"), NULL, FORCE, value_root_force, depends_root_force, "force that the joint exerts on the link, hinge axes") \
    COMPUTED(ROOT_MOMENT, "%L.root_moment", LINK, 3, OUTPUT, ALWAYS("N.m"), NULL, FORCE, value_root_moment, depends_root_moment, "moment that the joint exerts on the link about the hinge, hinge axes") \
    COMPUTED(LOOP_FORCE, "%C.force", LOOP, EQUATIONS, OUTPUT, BY_EQUATION("N.m", "N"), NULL, FORCE, value_loop_force, depends_loop_force, "multiplier of the loop's constraint: force or moment on the first of the two links") \
    COMPUTED(COUPLING_FORCE, "%K.force", RIGID, BY_GAP, OUTPUT, BY_COORDINATE("N.m", "N"), NULL, FORCE, value_coupling_force, depends_coupling_force, "multiplier of the rigid coupling: force on its gap") \
    COMPUTED(ELEMENT_OUTPUT, "", ELEMENT, OUTPUTS_OF_ELEMENT, OUTPUT, NO_UNIT, NULL, NUMBER, value_element, depends_element, "") \
    COMPUTED(DRIVE_OUTPUT, "", DRIVE, VALUES_OF_DRIVE, OUTPUT, NO_UNIT, NULL, NUMBER, value_drive, depends_drive, "") \
    STATE(DRIVE_OUTPUT_STATE, "", DRIVE, VALUES_OF_DRIVE, OUTPUT, NO_UNIT, NULL, NUMBER, place_drive, value_drive, NO_KIND, NULL, "") \
    COMPUTED(SUPPLY_DEMAND, "%S.demand", SUPPLY, 1, OUTPUT, ALWAYS("m3/s"), "l/min", NUMBER, value_supply_demand, depends_supply, "flow that the drives would take from an unlimited supply") \
    COMPUTED(SUPPLY_SHARE, "%S.share", SUPPLY, 1, OUTPUT, ALWAYS("1"), NULL, NUMBER, value_supply_share, depends_supply, "share of the demand that the pump provides") \
    \
    STATE(ETA, "%L.eta", FLEXIBLE, MODES, LOCAL, BY_MODE("rad", "m", "1"), NULL, POSITION, place_eta, value_eta, KIND_ETAD, nominal_eta, "elastic coordinate") \
    STATE(ETAD, "%L.etad", FLEXIBLE, MODES, LOCAL, BY_MODE("rad/s", "m/s", "1/s"), NULL, VELOCITY, place_etad, value_etad, KIND_ETADD, nominal_etad, "rate of the elastic coordinate") \
    COMPUTED(ETADD, "%L.etadd", FLEXIBLE, MODES, LOCAL, BY_MODE("rad/s2", "m/s2", "1/s2"), NULL, ACCELERATION, value_etadd, depends_accelerations, "acceleration of the elastic coordinate") \
    STATE(DRIVE_LOCAL_STATE, "", DRIVE, VALUES_OF_DRIVE, LOCAL, NO_UNIT, NULL, NUMBER, place_drive, value_drive, NO_KIND, NULL, "") \
    COMPUTED(DRIVE_LOCAL, "", DRIVE, VALUES_OF_DRIVE, LOCAL, NO_UNIT, NULL, NUMBER, value_drive, depends_drive, "") \
    COMPUTED(DRIVE_RATE, "", DRIVE, WITH_STATE, LOCAL, NO_UNIT, NULL, NUMBER, value_drive, depends_drive, "derivative of the state") \
    COMPUTED(QUATERNION_RATE, "der(%J.%p)", FREE, WITH_STATE, LOCAL, ALWAYS("1/s"), NULL, VELOCITY, value_position_rate, depends_quaternion_rate, "derivative of the state") \
    COMPUTED(ENERGY_KINETIC, "energy.kinetic", ROBOT, 1, LOCAL, ALWAYS("J"), NULL, NUMBER, value_kinetic_energy, NULL, "kinetic energy") \
    COMPUTED(ENERGY_ELASTIC, "energy.elastic", ROBOT, 1, LOCAL, ALWAYS("J"), NULL, NUMBER, value_elastic_energy, NULL, "strain energy and energy of joint springs, stops and couplings") \
    COMPUTED(ENERGY_GRAVITY, "energy.gravity", ROBOT, 1, LOCAL, ALWAYS("J"), NULL, NUMBER, value_gravity_energy, NULL, "potential energy of gravity, zero at the world's origin") \
    COMPUTED(ENERGY_TOTAL, "energy.total", ROBOT, 1, LOCAL, ALWAYS("J"), NULL, NUMBER, value_total_energy, NULL, "sum of kinetic, elastic and gravity energy") \
    COMPUTED(POWER_JOINTS, "power.joints", ROBOT, 1, LOCAL, ALWAYS("W"), NULL, NUMBER, value_joint_power, NULL, "power of all joint torques and forces") \
    COMPUTED(POWER_LINES, "power.actuators", ROBOT, 1, LOCAL, ALWAYS("W"), NULL, NUMBER, value_line_power, NULL, "power of all line actuators") \
    COMPUTED(POWER_LOSSES, "power.losses", ROBOT, 1, LOCAL, ALWAYS("W"), NULL, NUMBER, value_losses, NULL, "power dissipated by joint friction, damping of links, of joint stops and of couplings") \
    \
    START(Q_START, "%J.%p_start", FREE, POSITIONS, BY_POSITION("rad", "m", "1"), "deg", number_start_position, KIND_Q, limit_start_position, "initial %p") \
    START(QD_START, "%J.%v_start", FREE, VELOCITIES, BY_JOINT("rad/s", "m/s"), "deg/s", number_start_velocity, KIND_QD, limit_none, "initial %v") \
    START(ETA_START, "%L.eta_start", FLEXIBLE, MODES, BY_MODE("rad", "m", "1"), NULL, number_zero, KIND_ETA, limit_none, "initial elastic coordinate") \
    START(ETAD_START, "%L.etad_start", FLEXIBLE, MODES, BY_MODE("rad/s", "m/s", "1/s"), NULL, number_zero, KIND_ETAD, limit_none, "initial rate of the elastic coordinate") \
    PARAMETER(GRAVITY, "gravity", ROBOT, 0, 3, REAL, ALWAYS("m/s2"), NULL, number_gravity, limit_none, "gravity, world axes") \
    PARAMETER(LENGTH, "%L.length", BEAM, GIVEN_LENGTH, 1, REAL, ALWAYS("m"), NULL, number_length, limit_length, "length of the beam") \
    PARAMETER(MASS_PER_LENGTH, "%L.mass_per_length", BEAM, GIVEN_MASS_PER_LENGTH, 1, REAL, ALWAYS("kg/m"), NULL, number_mass_per_length, limit_positive, "mass per length") \
    PARAMETER(EIY, "%L.EIy", BEAM, GIVEN_EIY, 1, REAL, ALWAYS("N.m2"), NULL, number_EIy, limit_stiffness, "bending stiffness along z") \
    PARAMETER(EIZ, "%L.EIz", BEAM, GIVEN_EIZ, 1, REAL, ALWAYS("N.m2"), NULL, number_EIz, limit_stiffness, "bending stiffness along y") \
    PARAMETER(GJ, "%L.GJ", BEAM, GIVEN_GJ, 1, REAL, ALWAYS("N.m2"), NULL, number_GJ, limit_stiffness, "torsional stiffness") \
    PARAMETER(EA, "%L.EA", BEAM, GIVEN_EA, 1, REAL, ALWAYS("N"), NULL, number_EA, limit_stiffness, "axial stiffness") \
    PARAMETER(MASS_PER_LENGTH_SCALE, "%L.mass_per_length_scale", BEAM, TABLE_MASS_PER_LENGTH, 1, REAL, ALWAYS("1"), NULL, number_mass_per_length, limit_positive, "factor of the table of the mass per length") \
    PARAMETER(EIY_SCALE, "%L.EIy_scale", BEAM, TABLE_EIY, 1, REAL, ALWAYS("1"), NULL, number_EIy, limit_positive, "factor of the table of the bending stiffness along z") \
    PARAMETER(EIZ_SCALE, "%L.EIz_scale", BEAM, TABLE_EIZ, 1, REAL, ALWAYS("1"), NULL, number_EIz, limit_positive, "factor of the table of the bending stiffness along y") \
    PARAMETER(GJ_SCALE, "%L.GJ_scale", BEAM, TABLE_GJ, 1, REAL, ALWAYS("1"), NULL, number_GJ, limit_positive, "factor of the table of the torsional stiffness") \
    PARAMETER(EA_SCALE, "%L.EA_scale", BEAM, TABLE_EA, 1, REAL, ALWAYS("1"), NULL, number_EA, limit_positive, "factor of the table of the axial stiffness") \
    PARAMETER(INERTIA_PER_LENGTH_SCALE, "%L.inertia_per_length_scale", BEAM, TABLE_INERTIA_PER_LENGTH, 1, REAL, ALWAYS("1"), NULL, number_inertia_per_length, limit_positive, "factor of the table of the inertia per length") \
    PARAMETER(E, "%L.E", BEAM, GIVEN_MATERIAL, 1, REAL, ALWAYS("Pa"), NULL, number_E, limit_positive, "Young's modulus") \
    PARAMETER(G, "%L.G", BEAM, GIVEN_MATERIAL, 1, REAL, ALWAYS("Pa"), NULL, number_G, limit_positive, "shear modulus; does not follow E") \
    PARAMETER(DENSITY, "%L.density", BEAM, GIVEN_MATERIAL, 1, REAL, ALWAYS("kg/m3"), NULL, number_density, limit_positive, "density") \
    PARAMETER(SECTION_OUTER_DIAMETER, "%L.section.outer_diameter", BEAM, GIVEN_OUTER_DIAMETER, 1, REAL, ALWAYS("m"), NULL, number_outer_diameter, limit_positive, "outer diameter of the section") \
    PARAMETER(SECTION_DIAMETER, "%L.section.diameter", BEAM, GIVEN_DIAMETER, 1, REAL, ALWAYS("m"), NULL, number_diameter, limit_positive, "diameter of the section") \
    PARAMETER(SECTION_WIDTH, "%L.section.width", BEAM, GIVEN_WIDTH, 1, REAL, ALWAYS("m"), NULL, number_width, limit_positive, "width of the section along y") \
    PARAMETER(SECTION_HEIGHT, "%L.section.height", BEAM, GIVEN_HEIGHT, 1, REAL, ALWAYS("m"), NULL, number_height, limit_positive, "height of the section along z") \
    PARAMETER(SECTION_WALL, "%L.section.wall", BEAM, GIVEN_WALL, 1, REAL, ALWAYS("m"), NULL, number_wall, limit_positive, "wall thickness of the section") \
    PARAMETER(SECTION_SCALE, "%L.section.scale", BEAM, TABLE_SECTION, 1, REAL, ALWAYS("1"), NULL, number_section_scale, limit_positive, "factor of all dimensions in the table of sections") \
    PARAMETER(DAMPING_RATIO, "%L.damping_ratio", BEAM, GIVEN_DAMPING_RATIO, 1, REAL, ALWAYS("1"), NULL, number_damping_ratio, limit_not_negative, "damping ratio of the link's modes") \
    PARAMETER(VISCOUS, "%J.viscous", MOVING, GIVEN_VISCOUS, NUMBERS, REAL, BY_JOINT("N.m.s/rad", "N.s/m"), NULL, number_viscous, limit_not_negative, "viscous friction") \
    PARAMETER(COULOMB, "%J.coulomb", MOVING, GIVEN_COULOMB, NUMBERS, REAL, BY_JOINT("N.m", "N"), NULL, number_coulomb, limit_not_negative, "Coulomb friction") \
    PARAMETER(MOTOR_INERTIA, "%J.motor_inertia", MOVING, GIVEN_MOTOR_INERTIA, NUMBERS, REAL, BY_JOINT("kg.m2", "kg"), NULL, number_motor_inertia, limit_not_negative, "motor inertia, reflected to the joint") \
    PARAMETER(STIFFNESS, "%J.stiffness", MOVING, GIVEN_STIFFNESS, NUMBERS, REAL, BY_JOINT("N.m/rad", "N/m"), NULL, number_stiffness, limit_not_negative, "stiffness of the joint spring") \
    PARAMETER(REST, "%J.rest", MOVING, GIVEN_REST, NUMBERS, REAL, BY_JOINT("rad", "m"), "deg", number_rest, limit_none, "rest position of the joint spring") \
    PARAMETER(COUPLING_OFFSET, "%K.offset", COUPLING, 0, BY_GAP, REAL, BY_COORDINATE("rad", "m"), NULL, number_offset, limit_none, "sum of the coupling's terms at which its gap is zero") \
    PARAMETER(COUPLING_STIFFNESS, "%K.stiffness", SPRING, 0, BY_GAP, REAL, BY_COORDINATE("N.m/rad", "N/m"), NULL, number_coupling_stiffness, limit_not_negative, "stiffness of the coupling") \
    PARAMETER(COUPLING_DAMPING, "%K.damping", SPRING, 0, BY_GAP, REAL, BY_COORDINATE("N.m.s/rad", "N.s/m"), NULL, number_coupling_damping, limit_not_negative, "damping of the coupling") \
    PARAMETER(COUPLING_BACKLASH, "%K.backlash", SPRING, 0, BY_GAP, REAL, BY_COORDINATE("rad", "m"), NULL, number_backlash, limit_not_negative, "width of the gap in which the coupling exerts no force") \
    PARAMETER(DRIVE_PARAMETER, "", DRIVE, 0, VALUES_OF_DRIVE, REAL, NO_UNIT, NULL, number_drive, limit_drive, "") \
    PARAMETER(SUPPLY_PRESSURE, "%S.pressure", SUPPLY, 0, 1, REAL, ALWAYS("Pa"), "bar", number_supply_pressure, limit_positive, "pressure of the supply") \
    PARAMETER(SUPPLY_FLOW_LIMIT, "%S.flow_limit", SUPPLY, 0, 1, REAL, ALWAYS("m3/s"), "l/min", number_supply_flow_limit, limit_positive, "largest flow of the supply's pump") \
    TUNABLE(ADDED_MASS, "%L.added_mass_per_length", BEAM, GIVEN_ADDED_MASS, 1, ALWAYS("kg/m"), place_added_mass, number_added_mass, limit_not_negative, "added mass per length; may change between steps") \
    TUNABLE(ADDED_MASS_SCALE, "%L.added_mass_scale", BEAM, TABLE_ADDED_MASS, 1, ALWAYS("1"), place_added_mass, number_added_mass, limit_not_negative, "factor of the table of the added mass; may change between steps") \
    TUNABLE(PAYLOAD_MASS, "%L.payload.mass", PAYLOAD, 0, 1, ALWAYS("kg"), place_payload_mass, number_payload_mass, limit_not_negative, "mass of the payload; may change between steps") \
    TUNABLE(PAYLOAD_COM, "%L.payload.com", PAYLOAD, 0, 3, ALWAYS("m"), place_payload_com, number_payload_com, limit_none, "center of mass of the payload, axes of the tip frame; may change between steps") \
    TUNABLE(PAYLOAD_INERTIA, "%L.payload.inertia", PAYLOAD, 0, 6, ALWAYS("kg.m2"), place_payload_inertia, number_payload_inertia, limit_inertia, "inertia of the payload about its center of mass: xx, yy, zz, xy, xz, yz; may change between steps") \
    PARAMETER(ELASTIC_TERMS, "elastic_terms", ROBOT, 0, 1, INTEGER, NO_UNIT, NULL, number_elastic_terms, limit_elastic_terms, "order in the elastic coordinates to which terms are kept: 1 full (any order), 2 linear (inertia of the links to first order), 3 ruthless (inertia of the undeformed links)") \
    PARAMETER(START_STATIC, "start_static", ROBOT, 0, 1, BOOLEAN, NO_UNIT, NULL, number_zero, limit_boolean, "start from the static equilibrium: driven joints and actuators held, elastic coordinates and passive joints at rest") \
    PARAMETER(RELATIVE_TOLERANCE, "solver.relative_tolerance", ROBOT, 0, 1, REAL, ALWAYS("1"), NULL, number_zero, limit_tolerance, "relative tolerance, below 1; 0: the importer's, else 1e-6") \
    PARAMETER(MAX_STEP, "solver.max_step", ROBOT, 0, 1, REAL, ALWAYS("s"), NULL, number_zero, limit_not_negative, "largest internal step; 0: no limit") \
    PARAMETER(MAX_ORDER, "solver.max_order", ROBOT, 0, 1, INTEGER, NO_UNIT, NULL, number_zero, limit_order, "largest order of CVODE, 1 to 5; 0: chosen by robot and tolerance") \
    PARAMETER(METHOD, "solver.method", ROBOT, 0, 1, INTEGER, NO_UNIT, NULL, number_zero, limit_method, "method of integration: 0 automatic, 1 CVODE, 2 ESDIRK, 3 explicit, 4 symmetric") \
    PARAMETER(FIXED_STEP, "solver.fixed_step", ROBOT, 0, 1, REAL, ALWAYS("s"), NULL, number_zero, limit_not_negative, "equal internal steps of at most this length, for real time (methods 0, 2, 4); 0: steps by error control") \
    PARAMETER(MAX_STEPS, "solver.max_steps", ROBOT, 0, 1, INTEGER, NO_UNIT, NULL, number_zero, limit_count, "largest number of internal steps per communication step; 0: 1e8") \
    PARAMETER(DENSE_JACOBIAN, "solver.dense_jacobian", ROBOT, 0, 1, BOOLEAN, NO_UNIT, NULL, number_zero, limit_boolean, "Newton iterations with the dense exact Jacobian instead of the articulated factors")
/* clang-format on */

enum kind {
    NO_KIND = -1,
#define KIND(kind, ...) KIND_##kind,
    VARIABLE_LIST(KIND, KIND, KIND, KIND, KIND, KIND)
#undef KIND
        KIND_COUNT
};

#define BY_MODE(angle, distance, number)     angle, distance, number
#define BY_POSITION(angle, distance, number) angle, distance, number
#define BY_JOINT(angle, distance)            angle, distance, NULL
#define BY_EQUATION(angle, distance)         angle, distance, NULL
#define BY_COORDINATE(angle, distance)       angle, distance, NULL
#define ALWAYS(unit)                         unit, unit, unit
#define NO_UNIT                              NULL, NULL, NULL

/* clang-format off */
#define INPUT_ROW(kind, name_, owner_, count_, units, display, level_, place_, number_, rate_, text)                           \
    {.name = (name_), .owner = (owner_), .count = (count_), .causality = CAUSALITY_INPUT, .initial = INITIAL_NONE,             \
     .unit = {units}, .display_unit = (display), .level = (level_), .place = (place_), .number = &(number_), .rate = (rate_),  \
     .start_of = NO_KIND, .description = (text)},
#define STATE_ROW(kind, name_, owner_, count_, causality_, units, display, level_, place_, value_, rate_, nominal_, text)      \
    {.name = (name_), .owner = (owner_), .count = (count_), .causality = CAUSALITY_##causality_,                               \
     .initial = INITIAL_CALCULATED, .unit = {units}, .display_unit = (display), .level = (level_), .is_state = true,           \
     .place = (place_), .number = &number_zero, .value = (value_), .depends = depends_itself, .rate = (rate_),                 \
     .start_of = NO_KIND, .nominal = (nominal_), .description = (text)},
#define COMPUTED_ROW(kind, name_, owner_, count_, causality_, units, display, level_, value_, depends_, text)                  \
    {.name = (name_), .owner = (owner_), .count = (count_), .causality = CAUSALITY_##causality_,                               \
     .initial = INITIAL_CALCULATED, .unit = {units}, .display_unit = (display), .level = (level_), .number = &number_zero,     \
     .value = (value_), .depends = (depends_), .rate = NO_KIND, .start_of = NO_KIND, .description = (text)},
#define START_ROW(kind, name_, owner_, count_, units, display, number_, state, limit_, text)                                    \
    {.name = (name_), .owner = (owner_), .count = (count_), .causality = CAUSALITY_PARAMETER,                                  \
     .variability = VARIABILITY_FIXED, .initial = INITIAL_EXACT, .unit = {units}, .display_unit = (display), .level = NUMBER,  \
     .number = &(number_), .limit = (limit_), .rate = NO_KIND, .start_of = (state), .description = (text)},
#define PARAMETER_ROW(kind, name_, owner_, given_, count_, type_, units, display, number_, limit_, text)                        \
    {.name = (name_), .owner = (owner_), .given = (given_), .count = (count_), .type = TYPE_##type_,                           \
     .causality = CAUSALITY_PARAMETER, .variability = VARIABILITY_FIXED, .initial = INITIAL_EXACT, .unit = {units},            \
     .display_unit = (display), .level = NUMBER, .number = &(number_), .limit = (limit_), .rate = NO_KIND,                      \
     .start_of = NO_KIND, .description = (text)},
#define TUNABLE_ROW(kind, name_, owner_, given_, count_, units, place_, number_, limit_, text)                                  \
    {.name = (name_), .owner = (owner_), .given = (given_), .count = (count_), .causality = CAUSALITY_PARAMETER,               \
     .variability = VARIABILITY_TUNABLE, .initial = INITIAL_EXACT, .unit = {units}, .level = NUMBER, .place = (place_),        \
     .number = &(number_), .limit = (limit_), .rate = NO_KIND, .start_of = NO_KIND, .description = (text)},
/* clang-format on */

static const struct table_row table[KIND_COUNT] = {
    VARIABLE_LIST(INPUT_ROW, STATE_ROW, COMPUTED_ROW, START_ROW, PARAMETER_ROW, TUNABLE_ROW)};

/* ---- how many there are ---------------------------------------------------------------------------------------------- */

struct builder {
    const struct model *model;
    struct arena *arena;
    struct variables *v;
    int n_elements;
    struct force_element *element;
    int *first[KIND_COUNT]; /* [owner]: first row and value reference of that kind */
};

static bool is_output(const struct force_element *e, int output)
{
    return e->kind->output[output].number != ELEMENT_FORCE || !e->kind->given || e->drive >= 0;
}

static int element_outputs(const struct force_element *e)
{
    int count = 0;
    for (int i = 0; i < e->kind->n_outputs; i++) count += is_output(e, i);
    return count;
}

static bool link_has(const struct model *model, int i, const struct table_row *row)
{
    const struct link *link = &model->robot->link[i];
    const struct link_model *lm = &model->link[i];
    const bool moves = lm->joint.nv > 0, prescribed = lm->prescribed >= 0;
    switch (row->owner) {
    case DRIVEN: return moves && !prescribed && !lm->passive && robot_drive_of_link(model->robot, i) == NULL;
    case POWERED: return robot_drive_of_link(model->robot, i) != NULL;
    case PRESCRIBED: return moves && prescribed;
    case FREE: return moves && !prescribed;
    case MOVING: return moves && joint_takes(&link->joint, (enum joint_given)row->given);
    case FLEXIBLE: return lm->m > 0;
    case BEAM: return link->type == BODY_BEAM && (link->beam.given & row->given) != 0;
    case PAYLOAD: return link->has_payload;
    default: return true; /* LINK */
    }
}

/* Whether owner i has the variables of the row. Frame 0 is the tip: a sensor and a load, with inertial sensors in format 2. */
static bool owner_has(const struct model *model, int i, const struct table_row *row)
{
    const struct robot *robot = model->robot;
    switch (row->owner) {
    case LOAD: return i == 0 || robot->frame[i - 1].load;
    case SENSOR: return i == 0 || robot->frame[i - 1].sensor;
    case INERTIAL_SENSOR: return robot->format > 1 && (i == 0 || robot->frame[i - 1].sensor);
    case GAUGE: return i > 0 && robot->frame[i - 1].sensor && robot->frame[i - 1].gauge;
    case OPEN_LINE: return robot_drive_of_line(robot, i) == NULL;
    case SPRING: return robot->coupling[i].elastic;
    case RIGID: return !robot->coupling[i].elastic;
    case COUPLING:
    case ELEMENT:
    case LOOP:
    case DRIVE:
    case SUPPLY:
    case ROBOT: return true;
    default: return link_has(model, i, row);
    }
}

static int owners_of(const struct builder *b, const struct table_row *row)
{
    const struct robot *robot = b->model->robot;
    if (row->owner >= SENSOR) return 1 + robot->n_frames;
    switch (row->owner) {
    case ELEMENT: return b->n_elements;
    case OPEN_LINE: return robot->n_lines;
    case LOOP: return robot->n_loops;
    case COUPLING:
    case RIGID:
    case SPRING: return robot->n_couplings;
    case DRIVE: return robot->n_drives;
    case SUPPLY: return robot->n_supplies;
    case ROBOT: return 1;
    default: return b->model->n_links;
    }
}

static int count_of(const struct builder *b, int i, const struct table_row *row)
{
    const struct model *model = b->model;
    if (!owner_has(model, i, row)) return 0;
    switch (row->count) {
    case POSITIONS: return model->link[i].joint.nq;
    case VELOCITIES: return model->link[i].joint.nv;
    case WITH_STATE: return 0;
    case NUMBERS: return joint_number_count(&model->robot->link[i].joint);
    case MODES: return model->link[i].m;
    case EQUATIONS: return loop_equations(model->robot->loop[i].type);
    case VALUES_OF_DRIVE: return drive_value_count(model->robot, i, row);
    case OUTPUTS_OF_ELEMENT: return element_outputs(&b->element[i]);
    case BY_GAP: return 1;
    default: return row->count;
    }
}

/* ---- names --------------------------------------------------------------------------------------------------------------- */

/* What a token of a pattern stands for: a name, or with `described` the description of a quantity of the joint */
static const char *token_text(const struct robot *robot, const struct joint_group *group, char token, int i,
                              bool described)
{
    switch (token) {
    case 'p':
    case 'v': return described ? group->description : group->name;
    case 'a': return described ? group->acceleration_description : group->acceleration;
    case 'f': return described ? group->force_description : group->force;
    case 'J': return robot->link[i].joint.name;
    case 'L': return robot->link[i].name;
    case 'C': return robot->loop[i].name;
    case 'K': return robot->coupling[i].name;
    case 'S': return robot->supply[i].name;
    case 'F': return i > 0 ? robot->frame[i - 1].name : "tip";
    default: return robot->line[i].name; /* A */
    }
}

/* ---- making the variables ---------------------------------------------------------------------------------------------- */

/* The pattern with names filled in, and `index` at its end, within der() */
static const char *expand_pattern(struct builder *b, const char *pattern, const struct joint_group *group, int i,
                                  bool described, const char *index)
{
    char text[MOST_TEXT];
    size_t length = 0;
    const size_t end = strlen(pattern) - (pattern[strlen(pattern) - 1] == ')');
    for (size_t c = 0; c < end && length < sizeof text;) {
        const bool token = pattern[c] == '%';
        const size_t run = token ? 2 : strcspn(pattern + c, "%");
        const char *part = token ? token_text(b->model->robot, group, pattern[c + 1], i, described) : pattern + c;
        length += (size_t)snprintf(text + length, sizeof text - length, "%.*s",
                                   token ? MOST_TEXT : (int)(run < end - c ? run : end - c), part);
        c += run;
    }
    if (length < sizeof text)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", index, pattern + end);
    if (length >= sizeof text) b->arena->failed = true;
    return arena_string(b->arena, text);
}

/* One more variable, with what its row says */
static void add_row(struct builder *b, const struct table_row *row, struct variable variable)
{
    variable.row = row;
    variable.type = row->type;
    variable.causality = row->causality;
    variable.variability = row->variability;
    variable.initial = row->initial;
    variable.reference = b->v->n_values++;
    variable.state = variable.start_of = variable.rate = variable.derivative_of = -1;
    variable.start = row->number->read(b->model->robot, &variable);
    if (row->limit != NULL) variable.limit = row->limit(b->model->robot, &variable, b->arena);
    b->v->row[b->v->n++] = variable;
}

static void add_variable(struct builder *b, const struct table_row *row, int i, int k, int count)
{
    struct joint_group group = {.count = count};
    if (strstr(row->name, "%p") != NULL) group = joint_position_group(&b->model->robot->link[i].joint, k);
    else if (strstr(row->name, "%v") != NULL || strstr(row->name, "%a") != NULL || strstr(row->name, "%f") != NULL)
        group = joint_velocity_group(&b->model->robot->link[i].joint, k);
    const bool indexed = row->count == MODES || row->count == EQUATIONS || group.count > 1;
    const enum dimension dimension = variable_dimension(b->model, row, i, k);
    char index[16] = "";
    if (indexed) snprintf(index, sizeof index, "[%d]", k - group.first + 1);
    add_row(b, row,
            (struct variable){.name = expand_pattern(b, row->name, &group, i, false, index),
                              .description = expand_pattern(b, row->description, &group, i, true, ""),
                              .unit = row->unit[dimension],
                              .display_unit = dimension == ANGLE ? row->display_unit : NULL,
                              .owner = i,
                              .k = k,
                              .nominal = row->nominal != NULL ? row->nominal(b->model, i, k) : 0});
}

/* The k-th value of a drive that is of this row's sort; or, among the derivatives, the value k */
static void add_drive_variable(struct builder *b, const struct table_row *row, int i, int k)
{
    const struct robot *robot = b->model->robot;
    const int value = row->count == WITH_STATE ? k : drive_value_index(robot, i, row, k);
    add_row(b, row, drive_variable(robot, row, i, value, b->arena));
}

/* The k-th output of an element */
static void add_element_variable(struct builder *b, const struct table_row *row, int i, int k)
{
    const struct force_element *e = &b->element[i];
    const bool angle = e->kind->is_angle != NULL && e->kind->is_angle(b->model, e->part);
    int output = 0;
    while (!is_output(e, output) || k-- > 0) output++;
    const struct element_output *o = &e->kind->output[output];
    add_row(b, row,
            (struct variable){.name = arena_joined(b->arena, e->name, ".", o->name),
                              .description = o->description,
                              .unit = angle ? o->angle_unit : o->unit,
                              .owner = i,
                              .k = (int)o->number});
}

/* The variable of another kind with the same owner and component. Before the derivatives are added, rows are in the order of
   their references. */
static int related_row(const struct builder *b, const struct variable *variable, int kind)
{
    return kind != NO_KIND ? b->first[kind][variable->owner] + variable->k : -1;
}

/* Is it a component of a quaternion? Its derivative is not a velocity. */
static bool in_quaternion(const struct model *model, const struct variable *state)
{
    const int quaternion = joint_quaternion(&model->robot->link[state->owner].joint);
    return state->row->count == POSITIONS && quaternion >= 0 && state->k >= quaternion;
}

/* der(state) as a variable of its own: of a component of a quaternion, or of a state of a drive, whose values end with the
   derivatives of its states */
static void add_rate(struct builder *b, struct variable *state)
{
    struct variable *rate = &b->v->row[b->v->n];
    if (state->row->owner == DRIVE) {
        const struct drive *drive = b->model->robot->drive[state->owner].drive;
        int value = drive->n_rows;
        for (int r = 0; r < state->k; r++) value += drive_is_state(&drive->row[r]);
        add_drive_variable(b, &table[KIND_DRIVE_RATE], state->owner, value);
    } else {
        add_variable(b, &table[KIND_QUATERNION_RATE], state->owner, state->k, 1);
    }
    b->v->by_reference[rate->reference] = rate;
    state->rate = rate->reference;
}

/* der(state): a variable of its own, or an alias of the variable that has its value */
static void add_derivatives(struct builder *b)
{
    struct variables *v = b->v;
    for (int s = 0; s < v->n_states && !b->arena->failed; s++) {
        struct variable *state = &v->row[v->state[s]], *alias = &v->row[v->n];
        v->derivative[s] = v->n;
        if (state->row->owner == DRIVE || in_quaternion(b->model, state)) {
            add_rate(b, state);
        } else {
            v->n++;
            *alias = v->row[state->rate];
            alias->name = arena_joined(b->arena, "der(", state->name, ")");
            alias->description = "derivative of the state";
            alias->causality = CAUSALITY_LOCAL;
            alias->initial = INITIAL_NONE;
            alias->nominal = 0;
            alias->reinit = false;
            alias->state = alias->rate = -1;
        }
        v->row[v->derivative[s]].derivative_of = v->state[s];
    }
}

static void number_state(struct variables *v, int row)
{
    v->row[row].state = v->n_states;
    v->state[v->n_states++] = row;
}

/* States in the order of the state vector: positions link by link, then velocities, then those of drives in the order of their
   tables */
static void number_states(struct builder *b)
{
    const struct robot *robot = b->model->robot;
    for (enum level level = POSITION; level <= VELOCITY; level++)
        for (int i = 0; i < b->model->n_links; i++)
            for (int kind = 0; kind < KIND_COUNT; kind++) {
                if (!table[kind].is_state || table[kind].level != level) continue;
                for (int k = 0; k < count_of(b, i, &table[kind]); k++) number_state(b->v, b->first[kind][i] + k);
            }
    for (int d = 0; d < robot->n_drives; d++)
        for (int value = 0; value < robot->drive[d].drive->n_rows; value++)
            for (int r = 0; r < b->v->n; r++) {
                const struct variable *variable = &b->v->row[r];
                if (variable->row->owner != DRIVE || !variable->row->is_state) continue;
                if (variable->owner == d && variable->k == value) number_state(b->v, r);
            }
}

/* Fills in the numbers by which one variable refers to another */
static void relate_variables(struct builder *b)
{
    struct variables *v = b->v;
    number_states(b);
    for (int s = 0; s < v->n_states;
         s++) { /* constraints move all coordinates of the arm, a norm only its own quaternion */
        struct variable *state = &v->row[v->state[s]];
        state->reinit =
            state->row->owner != DRIVE && (robot_is_closed(b->model->robot) || in_quaternion(b->model, state));
    }
    for (int r = 0; r < v->n; r++) {
        struct variable *variable = &v->row[r];
        const int state = related_row(b, variable, variable->row->start_of);
        variable->rate = related_row(b, variable, variable->row->rate);
        variable->start_of = state >= 0 ? v->row[state].state : -1;
    }
    v->solver = solver_parameters(b->first[KIND_RELATIVE_TOLERANCE][0], true);
    v->start_static = b->first[KIND_START_STATIC][0];
    if (!b->arena->failed) add_derivatives(b);
}

enum status variables_make(const struct model *model, struct arena *arena, struct variables *v)
{
    struct builder b = {.model = model, .arena = arena, .v = v};
    int n = 0, n_states = 0;
    memset(v, 0, sizeof *v);
    b.n_elements = elements_list(model->robot, arena, &b.element);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        for (int i = 0; i < owners_of(&b, &table[kind]); i++) {
            const int count = count_of(&b, i, &table[kind]);
            n += count;
            if (table[kind].is_state) n_states += count;
        }
    v->row = arena_allocate(arena, (size_t)(n + n_states), sizeof *v->row); /* and the derivatives */
    v->by_reference = arena_allocate(arena, (size_t)(n + n_states), sizeof *v->by_reference);
    v->state = arena_allocate(arena, (size_t)n_states, sizeof *v->state);
    v->derivative = arena_allocate(arena, (size_t)n_states, sizeof *v->derivative);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        b.first[kind] = arena_allocate(arena, (size_t)owners_of(&b, &table[kind]), sizeof **b.first);
    if (arena->failed) return STATUS_NO_MEMORY;

    for (int kind = 0; kind < KIND_COUNT; kind++)
        for (int i = 0; i < owners_of(&b, &table[kind]); i++) {
            const int count = count_of(&b, i, &table[kind]);
            b.first[kind][i] = v->n;
            for (int k = 0; k < count; k++)
                if (table[kind].owner == DRIVE) add_drive_variable(&b, &table[kind], i, k);
                else if (table[kind].owner == ELEMENT) add_element_variable(&b, &table[kind], i, k);
                else add_variable(&b, &table[kind], i, k, count);
        }
    for (int r = 0; r < v->n; r++) v->by_reference[r] = &v->row[r];
    if (!arena->failed) relate_variables(&b);
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}
