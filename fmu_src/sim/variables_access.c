/* Columns of the variable table: where a value is, how to set it, its limits. */
#include <math.h>
#include <stdio.h>

#include "drive/drive.h"
#include "mech/constraints.h"
#include "ode/integrator.h"
#include "sim/variables_row.h"

/* ---- indices: the only ones of the table into q, qd and the forces ---------------------------------------------------------- */

/* Of a robot or of its model */
#define LINK_OF(robot)  (&(robot)->link[variable->owner])
#define DRIVE_OF(robot) (&(robot)->drive[variable->owner])

static double effort(const struct outputs *outputs, const struct robot_drive *rd)
{
    return outputs->drive[rd->first + rd->drive->effort];
}

/* ---- states, inputs and tunable parameters in a point -------------------------------------------------------------------------- */

#define PLACE(name, expression)                                                      \
    double *place_##name(const struct point *point, const struct variable *variable) \
    {                                                                                \
        return &(expression);                                                        \
    }
PLACE(q, point->q[LINK_OF(point->model)->q + variable->k])
PLACE(qd, point->qd[LINK_OF(point->model)->v + variable->k])
PLACE(eta, point->q[LINK_OF(point->model)->eta_q + variable->k])
PLACE(etad, point->qd[LINK_OF(point->model)->eta_v + variable->k])
PLACE(qdd, point->prescribed_qdd[LINK_OF(point->model)->prescribed + variable->k])
PLACE(tau, point->tau[LINK_OF(point->model)->tau + variable->k])
PLACE(frame_force, point->tip_wrench[6 * variable->owner + 3 + variable->k])
PLACE(frame_torque, point->tip_wrench[6 * variable->owner + variable->k])
PLACE(line_force, point->line_force[variable->owner])
PLACE(payload_mass, point->payload_mass[variable->owner])
PLACE(payload_com, point->payload_com[3 * variable->owner + variable->k])
PLACE(payload_inertia, point->payload_inertia[6 * variable->owner + variable->k])
PLACE(added_mass, point->added_mass[variable->owner])
PLACE(drive, point->drive[DRIVE_OF(point->model->robot)->first + variable->k])

double *variable_place(const struct variable *variable, const struct point *point)
{
    return variable->row->place != NULL ? variable->row->place(point, variable) : NULL;
}

/* ---- computed values, and their changes --------------------------------------------------------------------------------------- */

/* Rigid couplings come after the loops, in their order */
static const struct constraint *rigid_coupling(const struct outputs *outputs, int coupling)
{
    const struct constraint *c = outputs->constraint + outputs->model->robot->n_loops;
    while (c->part != coupling) c++;
    return c;
}

#define VALUE(name, expression)                                                         \
    double value_##name(const struct outputs *outputs, const struct variable *variable) \
    {                                                                                   \
        (void)variable;                                                                 \
        return expression;                                                              \
    }
VALUE(q, outputs->q[LINK_OF(outputs->model)->q + variable->k])
VALUE(qd, outputs->qd[LINK_OF(outputs->model)->v + variable->k])
VALUE(qdd, outputs->qdd[LINK_OF(outputs->model)->v + variable->k])
VALUE(position_rate, outputs->position_rate[LINK_OF(outputs->model)->q + variable->k])
VALUE(tau, outputs->force[LINK_OF(outputs->model)->v + variable->k])
VALUE(eta, outputs->q[LINK_OF(outputs->model)->eta_q + variable->k])
VALUE(etad, outputs->qd[LINK_OF(outputs->model)->eta_v + variable->k])
VALUE(etadd, outputs->qdd[LINK_OF(outputs->model)->eta_v + variable->k])
VALUE(frame_position, outputs->frame[variable->owner].position[variable->k])
VALUE(frame_quaternion, outputs->frame[variable->owner].quaternion[variable->k])
VALUE(frame_velocity, outputs->frame[variable->owner].velocity[variable->k])
VALUE(frame_angular_velocity, outputs->frame[variable->owner].angular_velocity[variable->k])
VALUE(frame_acceleration, outputs->frame[variable->owner].acceleration[variable->k])
VALUE(frame_specific_force, outputs->frame[variable->owner].specific_force[variable->k])
VALUE(frame_angular_rate, outputs->frame[variable->owner].angular_rate[variable->k])
VALUE(frame_curvature, outputs->frame[variable->owner].curvature[variable->k])
VALUE(frame_elongation, outputs->frame[variable->owner].elongation)
VALUE(deflection, outputs->link[variable->owner].deflection[variable->k])
VALUE(rotation, outputs->link[variable->owner].rotation[variable->k])
VALUE(root_force, outputs->link[variable->owner].wrench[3 + variable->k])
VALUE(root_moment, outputs->link[variable->owner].wrench[variable->k])
VALUE(loop_force, outputs->lambda[outputs->constraint[variable->owner].first + variable->k])
VALUE(coupling_force, outputs->lambda[rigid_coupling(outputs, variable->owner)->first])
VALUE(element, outputs->element[variable->owner][variable->k])
VALUE(kinetic_energy, outputs->energy.kinetic)
VALUE(elastic_energy, outputs->energy.elastic)
VALUE(gravity_energy, outputs->energy.gravity)
VALUE(total_energy, outputs->energy.kinetic + outputs->energy.elastic + outputs->energy.gravity)
VALUE(joint_power, outputs->joint_power)
VALUE(line_power, outputs->line_power)
VALUE(losses, outputs->energy.loss)
VALUE(drive, outputs->drive[DRIVE_OF(outputs->model->robot)->first + variable->k])
VALUE(drive_torque, effort(outputs, robot_drive_of_link(outputs->model->robot, variable->owner)))
VALUE(supply_demand, outputs->supply_demand[variable->owner])
VALUE(supply_share, outputs->supply_share[variable->owner])

double variable_value(const struct variable *variable, const struct outputs *outputs)
{
    return variable->row->value(outputs, variable);
}

bool variable_change(const struct variable *variable, const struct outputs *changes, double *change)
{
    const struct table_row *row = variable->row;
    if (row->depends == NULL) return false;
    *change = row->value(changes, variable);
    return true;
}

/* ---- numbers of the robot -------------------------------------------------------------------------------------------------------- */

/* NUMBER_OF(owner, member): read and write a member of struct robot, or of a link, a drive, a supply or a coupling of it */
#define SUPPLY_OF(robot)   (&(robot)->supply[variable->owner])
#define COUPLING_OF(robot) (&(robot)->coupling[variable->owner])
#define ROBOT_OF(robot)    (robot)
#define READ(name, owner, member)                                                         \
    static double read_##name(const struct robot *robot, const struct variable *variable) \
    {                                                                                     \
        (void)variable;                                                                   \
        return (double)owner(robot)->member;                                              \
    }
#define WRITE(name, owner, member, type)                                                         \
    static void write_##name(struct robot *robot, const struct variable *variable, double value) \
    {                                                                                            \
        (void)variable;                                                                          \
        owner(robot)->member = (type)value;                                                      \
    }
#define NUMBER_OF(name, owner, member, type) \
    READ(name, owner, member)                \
    WRITE(name, owner, member, type)         \
    const struct robot_number number_##name = {read_##name, write_##name};
#define START_OF(name, member)  \
    READ(name, LINK_OF, member) \
    const struct robot_number number_##name = {read_##name, NULL};

START_OF(start_position, joint.start_position[variable->k])
START_OF(start_velocity, joint.start_velocity[variable->k])
NUMBER_OF(gravity, ROBOT_OF, gravity[variable->k], double)
NUMBER_OF(length, LINK_OF, beam.length, double)
NUMBER_OF(mass_per_length, LINK_OF, beam.mass_per_length.factor, double)
NUMBER_OF(EIy, LINK_OF, beam.EIy.factor, double)
NUMBER_OF(EIz, LINK_OF, beam.EIz.factor, double)
NUMBER_OF(GJ, LINK_OF, beam.GJ.factor, double)
NUMBER_OF(EA, LINK_OF, beam.EA.factor, double)
NUMBER_OF(E, LINK_OF, beam.material.E, double)
NUMBER_OF(G, LINK_OF, beam.material.G, double)
NUMBER_OF(density, LINK_OF, beam.material.density, double)
NUMBER_OF(outer_diameter, LINK_OF, beam.section.outer_diameter.factor, double)
NUMBER_OF(diameter, LINK_OF, beam.section.diameter.factor, double)
NUMBER_OF(width, LINK_OF, beam.section.width.factor, double)
NUMBER_OF(height, LINK_OF, beam.section.height.factor, double)
NUMBER_OF(wall, LINK_OF, beam.section.wall.factor, double)
NUMBER_OF(section_scale, LINK_OF, beam.section.scale, double)
NUMBER_OF(added_mass, LINK_OF, beam.added_mass_per_length.factor, double)
NUMBER_OF(damping_ratio, LINK_OF, beam.damping_ratio, double)
NUMBER_OF(viscous, LINK_OF, joint.number[variable->k].viscous, double)
NUMBER_OF(coulomb, LINK_OF, joint.number[variable->k].coulomb, double)
NUMBER_OF(motor_inertia, LINK_OF, joint.number[variable->k].motor_inertia, double)
NUMBER_OF(stiffness, LINK_OF, joint.number[variable->k].stiffness, double)
NUMBER_OF(rest, LINK_OF, joint.number[variable->k].rest, double)
NUMBER_OF(payload_mass, LINK_OF, payload.mass, double)
NUMBER_OF(payload_com, LINK_OF, payload.com[variable->k], double)
NUMBER_OF(payload_inertia, LINK_OF, payload.inertia[variable->k], double)
NUMBER_OF(elastic_terms, ROBOT_OF, elastic_terms, enum elastic_terms)
NUMBER_OF(drive, DRIVE_OF, value[variable->k], double)
NUMBER_OF(offset, COUPLING_OF, offset, double)
NUMBER_OF(coupling_stiffness, COUPLING_OF, stiffness, double)
NUMBER_OF(coupling_damping, COUPLING_OF, damping, double)
NUMBER_OF(backlash, COUPLING_OF, backlash, double)
NUMBER_OF(supply_pressure, SUPPLY_OF, pressure, double)
NUMBER_OF(supply_flow_limit, SUPPLY_OF, flow_limit, double)

/* One factor for the inertias about x, y and z */
READ(inertia_per_length, LINK_OF, beam.inertia_per_length[0].factor)
static void write_inertia_per_length(struct robot *robot, const struct variable *variable, double value)
{
    for (int i = 0; i < 3; i++) robot->link[variable->owner].beam.inertia_per_length[i].factor = value;
}
const struct robot_number number_inertia_per_length = {read_inertia_per_length, write_inertia_per_length};

static double read_zero(const struct robot *robot, const struct variable *variable)
{
    (void)robot, (void)variable;
    return 0;
}
const struct robot_number number_zero = {read_zero, NULL};

bool variable_to_robot(const struct variable *variable, double value, struct robot *robot)
{
    const struct robot_number *number = variable->row->number;
    if (number->write == NULL || number->read(robot, variable) == value) return false;
    number->write(robot, variable, value);
    return true;
}

/* ---- limits: what the robot file requires of the number, a parameter must keep ------------------------------------------------ */

#define LIMIT(name, min, max, whole, text)                                                                            \
    const struct limit *limit_##name(const struct robot *robot, const struct variable *variable, struct arena *arena) \
    {                                                                                                                 \
        static const struct limit limit = {(min), (max), (whole), text};                                              \
        (void)robot, (void)variable, (void)arena;                                                                     \
        return &limit;                                                                                                \
    }
LIMIT(none, -INFINITY, INFINITY, false, "")
LIMIT(positive, ABOVE_0, INFINITY, false, "must be positive")
LIMIT(not_negative, 0, INFINITY, false, "must not be negative")
LIMIT(elastic_terms, TERMS_FULL, TERMS_RUTHLESS, true, "must be 1 (full), 2 (linear) or 3 (ruthless)")
LIMIT(boolean, 0, 1, true, "must be 0 (false) or 1 (true)")
LIMIT(tolerance, 0, BELOW_1, false, "must be 0 (the importer's) or below 1")
LIMIT(order, 0, 5, true, "must be 0 (chosen) or 1 to 5")
LIMIT(method, 0, METHODS - 1, true, "must be 0 (automatic), 1 (CVODE), 2 (ESDIRK), 3 (explicit) or 4 (symmetric)")
LIMIT(count, 0, INFINITY, true, "must be a whole number, not negative; 0: the default")
LIMIT(quaternion, -1 - QUATERNION_ERROR, 1 + QUATERNION_ERROR, false,
      "must be a part of a unit quaternion (w, x, y, z)")

const struct limit *limit_start_position(const struct robot *robot, const struct variable *variable,
                                         struct arena *arena)
{
    const int first = joint_quaternion(&robot->link[variable->owner].joint);
    return (first >= 0 && variable->k >= first ? limit_quaternion : limit_none)(robot, variable, arena);
}

/* A beam reaches to the frames on it, whose stations are not parameters */
const struct limit *limit_length(const struct robot *robot, const struct variable *variable, struct arena *arena)
{
    const struct robot_frame *last = NULL;
    for (int i = 0; i < robot->n_frames; i++) {
        const struct robot_frame *frame = &robot->frame[i];
        if (frame->site.type != AT_STATION || frame->site.link != variable->owner) continue;
        if (last == NULL || frame->site.x > last->site.x) last = frame;
    }
    if (last == NULL || last->site.x < ABOVE_0) return limit_positive(robot, variable, arena);
    char text[512];
    snprintf(text, sizeof text, "must not be below %.9g, the station of frame '%s'", last->site.x, last->name);
    struct limit *limit = arena_allocate(arena, 1, sizeof *limit);
    if (limit != NULL) *limit = (struct limit){last->site.x, INFINITY, false, arena_string(arena, text)};
    return limit;
}

/* Of a beam without modes in this direction it may be zero, as in the file */
const struct limit *limit_stiffness(const struct robot *robot, const struct variable *variable, struct arena *arena)
{
    return (variable->start == 0 ? limit_not_negative : limit_positive)(robot, variable, arena);
}

const struct limit *limit_drive(const struct robot *robot, const struct variable *variable, struct arena *arena)
{
    (void)robot, (void)arena;
    return drive_limit(variable->in_drive);
}

/* Moments of inertia; products may have any sign. That all six make a semidefinite tensor is checked when they have been set. */
const struct limit *limit_inertia(const struct robot *robot, const struct variable *variable, struct arena *arena)
{
    return (variable->k < 3 ? limit_not_negative : limit_none)(robot, variable, arena);
}
