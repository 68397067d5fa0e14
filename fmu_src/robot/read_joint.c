#include <math.h>
#include <string.h>

#include "math/quaternion.h"
#include "math/vec.h"
#include "robot/read.h"

/* ---- what the types are called ------------------------------------------------------------------------------------ */

enum { TYPE_COUNT = JOINT_FREE + 1 };

/* Start position and velocity of each type, for messages. */
static const struct {
    struct quantity position, velocity;
} start_quantities[TYPE_COUNT] = {
    [JOINT_FIXED] = {{"start position", "rad or m", ANY}, {"start velocity", "rad/s or m/s", ANY}},
    [JOINT_REVOLUTE] = {{"start position", "rad or m", ANY}, {"start velocity", "rad/s or m/s", ANY}},
    [JOINT_PRISMATIC] = {{"start position", "rad or m", ANY}, {"start velocity", "rad/s or m/s", ANY}},
    [JOINT_UNIVERSAL] = {{"start position (angle about axis, angle about axis2)", "rad", ANY},
                         {"start velocity (rates of the two angles)", "rad/s", ANY}},
    [JOINT_CYLINDRICAL] = {{"start position (angle, displacement)", "rad, m", ANY},
                           {"start velocity (rates of angle and displacement)", "rad/s, m/s", ANY}},
    [JOINT_SPHERICAL] = {{"start position (quaternion w, x, y, z)", "1", ANY},
                         {"start velocity (angular velocity x, y, z)", "rad/s", ANY}},
    [JOINT_FREE] = {{"start position (x, y, z, then the quaternion w, x, y, z)", "m, 1", ANY},
                    {"start velocity (rates of x, y, z, then the angular velocity x, y, z)", "m/s, rad/s", ANY}},
};

/* ---- where the joint is ------------------------------------------------------------------------------------------ */

struct dh {
    double a, alpha, d, theta; /* [m], [rad], [m], [rad]: Craig's modified Denavit-Hartenberg parameters */
};

static const struct number_field dh_numbers[] = {
    NUMBER(dh, a, OPTIONAL, ANY, "a", "m", 0),
    NUMBER(dh, alpha, OPTIONAL, ANY, "alpha", "rad", 0),
    NUMBER(dh, d, OPTIONAL, ANY, "d", "m", 0),
    NUMBER(dh, theta, OPTIONAL, ANY, "theta", "rad", 0),
};

static void read_dh(struct object *object, struct joint *joint)
{
    const struct json_path at = path_member(object, "dh");
    struct object dh_object;
    struct dh dh = {0};
    if (!at.given) return;
    if (joint->type > JOINT_PRISMATIC) {
        path_error(&at, "dh is for revolute and prismatic joints: give a %s joint an origin", joint_type_name(joint));
        return;
    }
    path_reject(object, "origin", "joint origin follows from dh: give one or the other");
    path_reject(object, "axis", "joint axis is z with dh: give one or the other");
    if (!path_open_object(&dh_object, &at, OPTIONAL, "dh")) return;
    read_fields(&dh_object, FIELD_COUNT(dh_numbers), dh_numbers, &dh);

    /* Rx(alpha) Tx(a) Rz(theta) Tz(d):  R = Rx(alpha) Rz(theta),  p = (a, -d sin alpha, d cos alpha) */
    const double ca = cos(dh.alpha), sa = sin(dh.alpha), ct = cos(dh.theta), st = sin(dh.theta);
    joint->origin = (struct pose){.p = {dh.a, -dh.d * sa, dh.d * ca},
                                  .R = {ct, -st, 0, st * ca, ct * ca, -sa, st * sa, ct * sa, ca}};
    path_close_object(&dh_object);
}

static void read_placement(struct object *object, bool type_known, struct joint *joint)
{
    const struct json_path origin_at = path_member(object, "origin"), axis_at = path_member(object, "axis");
    const struct json_path axis2_at = format_member(object, 2, "axis2");
    read_pose(&origin_at, "joint origin", &joint->origin);
    read_dh(object, joint);
    joint->axis[2] = 1;
    if (joint->type == JOINT_UNIVERSAL) {
        bool ok = read_direction(&axis_at, REQUIRED, "first axis of a universal joint", joint->axis);
        ok &= read_direction(MEMBER(object, "axis2"), REQUIRED, "second axis of a universal joint", joint->axis2);
        double normal[3];
        cross3(joint->axis, joint->axis2, normal);
        if (ok && dot3(normal, normal) < 1e-12) path_error(&axis2_at, "axis2 must not be parallel to axis");
        return;
    }
    read_direction(&axis_at, OPTIONAL, "joint axis", joint->axis);
    if (axis2_at.given && type_known)
        path_error(&axis2_at, "a %s joint has no second axis: only a universal joint has", joint_type_name(joint));
    if (axis_at.given && joint_quaternion(joint) >= 0)
        path_warn(&axis_at, "has no effect on a %s joint", joint_type_name(joint));
}

/* ---- the numbers of its coordinates ------------------------------------------------------------------------------ */

static const struct number_field joint_numbers[] = {
    NUMBER(joint_numbers, motor_inertia, OPTIONAL, NON_NEGATIVE, "motor inertia at the joint", "kg.m^2 or kg",
           GIVEN_MOTOR_INERTIA),
    NUMBER(joint_numbers, viscous, OPTIONAL, NON_NEGATIVE, "viscous friction", "N.m.s/rad or N.s/m", GIVEN_VISCOUS),
    NUMBER(joint_numbers, coulomb, OPTIONAL, NON_NEGATIVE, "Coulomb friction", "N.m or N", GIVEN_COULOMB),
    NUMBER(joint_numbers, coulomb_velocity, OPTIONAL, POSITIVE, "velocity scale of Coulomb friction", "rad/s or m/s",
           0),
    NUMBER(joint_numbers, stiffness, OPTIONAL, NON_NEGATIVE, "joint stiffness", "N.m/rad or N/m", GIVEN_STIFFNESS),
    NUMBER(joint_numbers, rest, OPTIONAL, ANY, "rest position of the joint spring", "rad or m", GIVEN_REST),
};

/* One number for all coordinates, or an array with one for each; false if there is none or it is not valid. */
static bool read_for_each(const struct json_path *at, const struct quantity *quantity, int count, double *number)
{
    if (count > 1 && value_is_array(at)) return read_numbers(at, OPTIONAL, quantity, count, number);
    if (count > 1 && at->given && !value_is_number(at)) {
        path_error(at, "%s must be a number, or an array of %d numbers [%s]", quantity->what, count, quantity->unit);
        return false;
    }
    if (!read_number(at, OPTIONAL, quantity, &number[0])) return false;
    for (int k = 1; k < count; k++) number[k] = number[0];
    return true;
}

static void reject_number(const struct json_path *at, const struct joint *joint)
{
    if (!at->given) return;
    const bool some = joint_number_count(joint) > 0;
    path_error(at, "a %s joint does not take this: remove it%s", joint_type_name(joint),
               some ? ", it takes viscous and stiffness" : "");
}

static void read_joint_numbers(struct object *object, struct joint *joint)
{
    const int coordinates = joint_number_count(joint), count = coordinates > 0 ? coordinates : 1;
    for (int k = 0; k < MOST_COORDINATES_WITH_NUMBERS; k++) joint->number[k].coulomb_velocity = 1e-3;
    for (int i = 0; i < FIELD_COUNT(joint_numbers); i++) {
        const struct number_field *field = &joint_numbers[i];
        const struct json_path at = path_member(object, field->key);
        double number[MOST_COORDINATES_WITH_NUMBERS];
        if (!joint_takes(joint, field->given)) reject_number(&at, joint);
        else if (read_for_each(&at, &field->quantity, count, number)) {
            for (int k = 0; k < count; k++) *(double *)(void *)((char *)&joint->number[k] + field->offset) = number[k];
            joint->given |= field->given;
        }
    }
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static const struct number_field limit_numbers[] = {
    NUMBER(limits, lower, OPTIONAL, ANY, "lower limit", "rad or m", 0),
    NUMBER(limits, upper, OPTIONAL, ANY, "upper limit", "rad or m", 0),
    NUMBER(limits, stiffness, OPTIONAL, NON_NEGATIVE, "stiffness of the stop", "N.m/rad or N/m", 0),
    NUMBER(limits, damping, OPTIONAL, NON_NEGATIVE, "damping of the stop", "N.m.s/rad or N.s/m", 0),
    NUMBER(limits, depth, OPTIONAL, POSITIVE, "depth over which the stop's damper fades in", "rad or m", 0),
};

/* Limits of the coordinates [from, to) */
static void read_limits_of(const struct json_path *at, int from, int to, struct joint *joint)
{
    struct limits limits = {.lower = -INFINITY, .upper = INFINITY, .depth = 1e-3};
    struct object object;
    if (!path_open_object(&object, at, OPTIONAL, "joint limits")) return;
    read_fields(&object, FIELD_COUNT(limit_numbers), limit_numbers, &limits);
    const struct json_path upper_at = path_member(&object, "upper");
    if (!path_has_key(&object, "lower") && !upper_at.given)
        path_error(at, "joint limits must have lower, upper or both");
    if (!(limits.lower < limits.upper))
        path_error(&upper_at, "upper limit must be above the lower one, %g", limits.lower);
    if (limits.stiffness == 0)
        path_warn(at, "limits without stiffness do not hold the joint: give the stop a stiffness");
    path_close_object(&object);
    for (int k = from; k < to; k++) {
        const double start = joint->start_position[k];
        joint->number[k].has_limits = true;
        joint->number[k].limits = limits;
        if (start < limits.lower || start > limits.upper)
            path_warn(at, "the joint starts beyond its limits, at %g", start);
    }
}

static void read_limits(const struct json_path *at, struct joint *joint)
{
    const int coordinates = joint_number_count(joint), count = coordinates > 0 ? coordinates : 1;
    int length = 0;
    if (joint_quaternion(joint) >= 0) reject_number(at, joint);
    else if (count == 1 || !value_is_array(at)) read_limits_of(at, 0, count, joint);
    else path_open_array(at, OPTIONAL, count, count, "joint limits (an object or null for each coordinate)", &length);
    for (int k = 0; k < length; k++)
        if (path_item(at, k).value != NULL) read_limits_of(ITEM(at, k), k, k + 1, joint);
}

/* ---- start and drive --------------------------------------------------------------------------------------------- */

/* A number for one coordinate, else an array. */
static bool read_coordinates(const struct json_path *at, const struct quantity *quantity, int count, double *number)
{
    return count > 1 ? read_numbers(at, OPTIONAL, quantity, count, number)
                     : read_number(at, OPTIONAL, quantity, number);
}

static void read_start(const struct json_path *at, struct joint *joint)
{
    struct object object;
    joint_rest_position(joint, joint->start_position);
    if (!path_open_object(&object, at, OPTIONAL, "joint start")) return;
    const struct json_path position_at = path_member(&object, "position");
    const int positions = joint_positions(joint);
    double q[MOST_POSITIONS];
    if (read_coordinates(&position_at, &start_quantities[joint->type].position, positions, q)) {
        const double error = joint_quaternion_error(joint, q);
        if (fabs(error) <= QUATERNION_ERROR) {
            joint_normalize(joint, q);
            memcpy(joint->start_position, q, (size_t)positions * sizeof *q);
        } else {
            path_error(&position_at, "start position must have a quaternion of norm 1, within 1e-3; its norm is %.9g",
                       1 + error);
        }
    }
    read_coordinates(MEMBER(&object, "velocity"), &start_quantities[joint->type].velocity, joint_velocities(joint),
                     joint->start_velocity);
    path_close_object(&object);
}

enum hold read_hold(struct object *object)
{
    static const char *const names[] = {"held", "free", NULL};
    static const enum hold holds[] = {HOLD_HELD, HOLD_FREE};
    const int chosen = read_choice(MEMBER_OF(object, 2, "static"), OPTIONAL, "static", names);
    return chosen >= 0 ? holds[chosen] : HOLD_USUAL;
}

static void read_motion(struct object *object, struct joint *joint)
{
    static const char *const motions[] = {"prescribed", NULL};
    const struct json_path passive_at = path_member(object, "passive"), motion_at = path_member(object, "motion");
    read_flag(&passive_at, "passive", &joint->passive);
    joint->hold = read_hold(object);
    joint->prescribed = read_choice(&motion_at, OPTIONAL, "motion", motions) == 0;

    if (joint->passive && !joint_moves(joint)) path_error(&passive_at, "a fixed joint cannot be passive");
    if (joint->prescribed && !joint_may_be_prescribed(joint))
        path_error(&motion_at, "the motion of a %s joint cannot be prescribed%s", joint_type_name(joint),
                   joint_moves(joint) ? ": use joints with one or two coordinates" : "");
    if (joint->prescribed && joint->passive) path_error(&motion_at, "a passive joint cannot be prescribed");
    if (joint->hold == HOLD_USUAL || (joint_moves(joint) && (!joint->prescribed || joint->hold == HOLD_HELD))) return;
    path_error(MEMBER(object, "static"), "a %s joint keeps its position: leave it out",
               joint->prescribed ? "prescribed" : "fixed");
}

/* Numbers that a fixed joint does not use do not become parameters of the FMU. */
static void warn_of_unused_members(struct object *object, struct joint *joint)
{
    static const char *const unused[] = {"axis", "start", "limits"};
    for (int i = 0; i < FIELD_COUNT(unused) + FIELD_COUNT(joint_numbers); i++) {
        const struct json_path at =
            path_member(object, i < FIELD_COUNT(unused) ? unused[i] : joint_numbers[i - FIELD_COUNT(unused)].key);
        if (at.given) path_warn(&at, "has no effect on a fixed joint");
    }
    joint->number[0].has_limits = false;
    joint->given = 0;
}

void read_joint(const struct json_path *at, bool parent_given, struct link *link)
{
    struct object object;
    struct joint *joint = &link->joint;
    joint->name = link->name;
    identity3(joint->origin.R);
    if (!path_open_object(&object, at, REQUIRED, "joint")) return;

    joint->name = read_joint_name(MEMBER(&object, "name"), link->name);
    struct choice types[TYPE_COUNT];
    for (int t = 0; t < TYPE_COUNT; t++)
        types[t] =
            (struct choice){joint_type_name(&(struct joint){.type = (enum joint_type)t}), t <= JOINT_PRISMATIC ? 1 : 2};
    const int type = read_choice_of_format(MEMBER(&object, "type"), "joint type", TYPE_COUNT, types);
    joint->type = type < 0 ? JOINT_REVOLUTE : (enum joint_type)type; /* so that what follows can be read */

    const struct json_path start_at = path_member(&object, "start"), limits_at = path_member(&object, "limits");
    const struct json_path mount_at = format_member(&object, 2, "parent_frame");
    read_placement(&object, type >= 0, joint);
    if (mount_at.given && read_frame_name(&mount_at, "parent_frame", &link->mount) && parent_given)
        path_error(&mount_at, "the parent follows from the frame: leave out `parent` of the link, or `parent_frame`");
    read_joint_numbers(&object, joint);
    read_motion(&object, joint);
    read_start(&start_at, joint);
    read_limits(&limits_at, joint);
    read_joint_drive(MEMBER_OF(&object, 2, "drive"), joint);
    if (!joint_moves(joint)) warn_of_unused_members(&object, joint);
    path_close_object(&object);
}
