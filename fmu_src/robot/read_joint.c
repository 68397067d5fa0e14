#include <math.h>

#include "math/vec.h"
#include "robot/read.h"

static const struct number_field joint_numbers[] = {
    NUMBER(joint, motor_inertia, OPTIONAL, NON_NEGATIVE, "motor inertia at the joint", "kg.m^2 or kg",
           GIVEN_MOTOR_INERTIA),
    NUMBER(joint, viscous, OPTIONAL, NON_NEGATIVE, "viscous friction", "N.m.s/rad or N.s/m", GIVEN_VISCOUS),
    NUMBER(joint, coulomb, OPTIONAL, NON_NEGATIVE, "Coulomb friction", "N.m or N", GIVEN_COULOMB),
    NUMBER(joint, coulomb_velocity, OPTIONAL, POSITIVE, "velocity scale of Coulomb friction", "rad/s or m/s", 0),
    NUMBER(joint, stiffness, OPTIONAL, NON_NEGATIVE, "joint stiffness", "N.m/rad or N/m", GIVEN_STIFFNESS),
    NUMBER(joint, rest, OPTIONAL, ANY, "rest position of the joint spring", "rad or m", GIVEN_REST),
};

static const struct number_field start_numbers[] = {
    {"position", OPTIONAL, {"start position", "rad or m", ANY}, offsetof(struct joint, start_position), 0},
    {"velocity", OPTIONAL, {"start velocity", "rad/s or m/s", ANY}, offsetof(struct joint, start_velocity), 0},
};

/* ---- where the joint stands -------------------------------------------------------------------------------------- */

struct dh {
    double a, alpha, d, theta; /* [m], [rad], [m], [rad]: Craig's modified Denavit-Hartenberg parameters */
};

static const struct number_field dh_numbers[] = {
    NUMBER(dh, a, OPTIONAL, ANY, "a", "m", 0),
    NUMBER(dh, alpha, OPTIONAL, ANY, "alpha", "rad", 0),
    NUMBER(dh, d, OPTIONAL, ANY, "d", "m", 0),
    NUMBER(dh, theta, OPTIONAL, ANY, "theta", "rad", 0),
};

/* Rx(alpha) Tx(a) Rz(theta) Tz(d):  R = Rx(alpha) Rz(theta),  p = (a, -d sin alpha, d cos alpha) */
static struct pose pose_of_dh(const struct dh *dh)
{
    const double ca = cos(dh->alpha), sa = sin(dh->alpha), ct = cos(dh->theta), st = sin(dh->theta);
    return (struct pose){.p = {dh->a, -dh->d * sa, dh->d * ca},
                         .R = {ct, -st, 0, st * ca, ct * ca, -sa, st * sa, ct * sa, ca}};
}

static void read_dh(const struct place *at, struct pose *origin)
{
    struct object object;
    struct dh dh = {0};
    if (!object_open(&object, at, OPTIONAL, "dh")) return;
    read_fields(&object, FIELD_COUNT(dh_numbers), dh_numbers, &dh);
    *origin = pose_of_dh(&dh);
    object_close(&object);
}

static void read_placement(struct object *object, struct joint *joint)
{
    const struct place dh_at = member(object, "dh"), axis_at = member(object, "axis"),
                       origin_at = member(object, "origin");
    joint->axis[2] = 1;
    read_direction(&axis_at, OPTIONAL, "joint axis", joint->axis);
    read_pose(&origin_at, "joint origin", &joint->origin);
    if (!dh_at.given) return;
    read_dh(&dh_at, &joint->origin);
    refuse(object, "origin", "joint origin follows from dh: give either");
    refuse(object, "axis", "joint axis is z with dh: give either");
}

/* ---- how it moves ------------------------------------------------------------------------------------------------ */

static const struct number_field limit_numbers[] = {
    NUMBER(limits, lower, OPTIONAL, ANY, "lower limit", "rad or m", 0),
    NUMBER(limits, upper, OPTIONAL, ANY, "upper limit", "rad or m", 0),
    NUMBER(limits, stiffness, OPTIONAL, NON_NEGATIVE, "stiffness of the stop", "N.m/rad or N/m", 0),
    NUMBER(limits, damping, OPTIONAL, NON_NEGATIVE, "damping of the stop", "N.m.s/rad or N.s/m", 0),
    NUMBER(limits, depth, OPTIONAL, POSITIVE, "depth over which the stop's damper fades in", "rad or m", 0),
};

static void read_limits(const struct place *at, struct joint *joint)
{
    struct object object;
    struct limits *limits = &joint->limits;
    *limits = (struct limits){.lower = -INFINITY, .upper = INFINITY, .depth = 1e-3};
    if (!object_open(&object, at, OPTIONAL, "joint limits")) return;
    joint->has_limits = true;
    read_fields(&object, FIELD_COUNT(limit_numbers), limit_numbers, limits);
    const struct place lower_at = member(&object, "lower"), upper_at = member(&object, "upper");
    if (!lower_at.given && !upper_at.given) complain(at, "joint limits must have lower, upper or both");
    if (!(limits->lower < limits->upper))
        complain(&upper_at, "upper limit must be above the lower one, %g", limits->lower);
    if (limits->stiffness == 0) warn(at, "limits without stiffness hold nothing: the stop has no spring");
    const double start = joint->start_position;
    if (start < limits->lower || start > limits->upper) warn(at, "the joint starts beyond them, at %g", start);
    object_close(&object);
}

static void read_start(const struct place *at, struct joint *joint)
{
    struct object object;
    if (!object_open(&object, at, OPTIONAL, "joint start")) return;
    read_fields(&object, FIELD_COUNT(start_numbers), start_numbers, joint);
    object_close(&object);
}

static void read_drive(struct object *object, struct joint *joint)
{
    static const char *const motions[] = {"prescribed", NULL};
    const struct place passive_at = member(object, "passive"), motion_at = member(object, "motion");
    read_flag(&passive_at, "passive", &joint->passive);
    joint->prescribed = read_choice(&motion_at, OPTIONAL, "motion", motions) == 0;

    if (joint->passive && !joint_moves(joint)) complain(&passive_at, "a fixed joint cannot be passive");
    if (joint->prescribed && !joint_moves(joint))
        complain(&motion_at, "the motion of a fixed joint cannot be prescribed");
    if (joint->prescribed && joint->passive) complain(&motion_at, "a passive joint cannot be prescribed");
}

/* Numbers that a fixed joint has no use for are no parameters of the FMU either. */
static void warn_of_idle_members(struct object *object, struct joint *joint)
{
    static const char *const idle[] = {"axis", "start", "limits"};
    for (int i = 0; i < FIELD_COUNT(idle) + FIELD_COUNT(joint_numbers); i++) {
        const struct place at =
            member(object, i < FIELD_COUNT(idle) ? idle[i] : joint_numbers[i - FIELD_COUNT(idle)].key);
        if (at.given) warn(&at, "has no effect on a fixed joint");
    }
    joint->has_limits = false;
    joint->given = 0;
}

void read_joint(const struct place *at, const char *link_name, struct joint *joint)
{
    static const char *const types[] = {[JOINT_FIXED] = "fixed",
                                        [JOINT_REVOLUTE] = "revolute",
                                        [JOINT_PRISMATIC] = "prismatic",
                                        [JOINT_PRISMATIC + 1] = NULL};
    struct object object;
    joint->name = link_name;
    identity3(joint->origin.R);
    if (!object_open(&object, at, REQUIRED, "joint")) return;

    const struct place name_at = member(&object, "name"), type_at = member(&object, "type");
    joint->name = read_joint_name(&name_at, link_name);
    const int type = read_choice(&type_at, REQUIRED, "joint type", types);
    joint->type = type < 0 ? JOINT_REVOLUTE : (enum joint_type)type;

    const struct place start_at = member(&object, "start"), limits_at = member(&object, "limits");
    joint->coulomb_velocity = 1e-3;
    read_placement(&object, joint);
    joint->given = read_fields(&object, FIELD_COUNT(joint_numbers), joint_numbers, joint);
    read_drive(&object, joint);
    read_start(&start_at, joint);
    read_limits(&limits_at, joint);
    if (!joint_moves(joint)) warn_of_idle_members(&object, joint);
    object_close(&object);
}
