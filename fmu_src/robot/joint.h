/* Joint types: only this header and joint.c know them (and the reader, which knows their names in a file).
   Everything else treats a joint as nq positions, nv velocities and a motion subspace whose columns are unit vectors:

       omega_O = omega_C + sum over rotational columns h_k qd_k,   v_O = v_C + omega_C x d + sum over translational columns h_k qd_k

   C is the joint frame, fixed to the parent, O the hinge frame. Translational columns are fixed in C. (theory.md 61 to 72) */
#ifndef ROBOT_JOINT_H
#define ROBOT_JOINT_H

#include <stdbool.h>

enum joint_type {
    JOINT_FIXED,
    JOINT_REVOLUTE,
    JOINT_PRISMATIC,
    JOINT_UNIVERSAL,
    JOINT_CYLINDRICAL,
    JOINT_SPHERICAL,
    JOINT_FREE
};

enum { MOST_VELOCITIES = 6, MOST_POSITIONS = 7, MOST_COORDINATES_WITH_NUMBERS = 2 };

/* Offset of a column in a spatial vector (angular; linear): rotation about h_k or translation along h_k. */
enum { TURNS = 0, SLIDES = 3 };

struct pose {
    double p[3]; /* origin                            [m] */
    double R[9]; /* orientation, row major: columns are the axes */
};

struct limits {
    double lower, upper; /* [rad or m]; -INFINITY, INFINITY where absent */
    double stiffness;    /* [N m/rad or N/m]                             */
    double damping;      /* [N m s/rad or N s/m]                         */
    double depth;        /* [rad or m]                                   */
};

/* Numbers of one coordinate of a joint. A spherical joint has only two, in number[0], for all directions: viscous friction and the
   stiffness of a spring on its rotation vector. */
struct joint_numbers {
    double motor_inertia;     /* [kg m^2 or kg]       */
    double viscous;           /* [N m s/rad or N s/m] */
    double coulomb;           /* [N m or N]           */
    double coulomb_velocity;  /* [rad/s or m/s]       */
    double stiffness;         /* [N m/rad or N/m]     */
    double rest;              /* [rad or m]           */
    bool has_limits, contact; /* contact: dry friction or stops, of a joint_model */
    struct limits limits;
};

/* Which optional numbers the file gives. */
enum joint_given {
    GIVEN_VISCOUS = 1 << 0,
    GIVEN_COULOMB = 1 << 1,
    GIVEN_MOTOR_INERTIA = 1 << 2,
    GIVEN_STIFFNESS = 1 << 3,
    GIVEN_REST = 1 << 4
};

/* A joint or a line in a static equilibrium: as usual (mech/statics.h), keeps its position or length, or is free. */
enum hold { HOLD_USUAL, HOLD_HELD, HOLD_FREE };

struct joint {
    const char *name; /* by default the link's */
    enum hold hold;
    enum joint_type type;
    bool passive;
    bool prescribed;
    struct pose origin;                     /* joint frame in the parent's tip frame, also from dh            */
    double axis[3];                         /* unit vector in the joint frame                                 */
    double axis2[3];                        /* of a universal joint, at q = 0                                 */
    double start_position[MOST_POSITIONS];  /* [rad, m, 1]     */
    double start_velocity[MOST_VELOCITIES]; /* [rad/s, m/s]    */
    struct joint_numbers number[MOST_COORDINATES_WITH_NUMBERS];
    unsigned given; /* enum joint_given */
};

/* ---- what a type has ------------------------------------------------------------------------------------------------------------ */

/* Its name in a robot file. */
const char *joint_type_name(const struct joint *joint);

/* Numbers of positions and velocities; 0 for a fixed joint. */
int joint_positions(const struct joint *joint);
int joint_velocities(const struct joint *joint);
bool joint_moves(const struct joint *joint);

/* Coordinates with numbers of their own (struct joint_numbers): 1, 2, or 1 for all directions of a spherical joint; 0: none. */
int joint_number_count(const struct joint *joint);
/* Whether the joint has this number. A joint with a quaternion has only numbers that are the same in every direction. */
bool joint_takes(const struct joint *joint, enum joint_given number);
/* Whether the velocities are the rates of the positions: nq = nv, and each coordinate has its own numbers. */
bool joint_has_coordinates(const struct joint *joint);
/* Whether its motion may be prescribed. */
bool joint_may_be_prescribed(const struct joint *joint);

/* First position of the quaternion, and first velocity of its omega; -1: it has none. */
int joint_quaternion(const struct joint *joint);
int joint_omega(const struct joint *joint);

/* TURNS or SLIDES of velocity k. */
int joint_column_part(const struct joint *joint, int k);

/* Unit of position k: "rad", "m", or "1" of a quaternion. */
const char *joint_position_unit(const struct joint *joint, int k);

/* All start positions zero, quaternions 1, 0, 0, 0. */
void joint_rest_position(const struct joint *joint, double *q);

/* Norm of the quaternion in positions q, minus 1; 0 if there is none. A given quaternion may have an error of QUATERNION_ERROR; it is
   normalized. */
#define QUATERNION_ERROR 1e-3
double joint_quaternion_error(const struct joint *joint, const double *q);
void joint_normalize(const struct joint *joint, double *q);

/* ---- names ---------------------------------------------------------------------------------------------------------------------- */

/* Positions or velocities [first, first + count) that have one name in the FMU, which is indexed if count > 1. */
struct joint_group {
    int first, count;
    const char *name;                 /* of positions: q, quaternion, position; of velocities: qd, omega, velocity */
    const char *acceleration, *force; /* of velocities: qdd, alpha, acceleration; tau, torque, force               */
    const char *tangent;              /* of velocities: what a linearization calls a change of position            */
    /* what they are: positions or velocities, accelerations, forces of a drive */
    const char *description, *acceleration_description, *force_description;
};

/* The group that position k, or velocity k, is in. */
struct joint_group joint_position_group(const struct joint *joint, int k);
struct joint_group joint_velocity_group(const struct joint *joint, int k);

/* ---- kinematics ------------------------------------------------------------------------------------------------------------------ */

/* Constants of the motion, computed once. */
struct joint_model {
    enum joint_type type;
    int nq, nv;
    int part[MOST_VELOCITIES]; /* TURNS or SLIDES                                                      */
    double axis[3];            /* unit vector in the joint frame                                       */
    int axis_index;            /* k where axis is +e_k or -e_k, else -1                                */
    double axis_sign;          /* that sign                                                            */
    double axis2[3];
    bool several_turns; /* columns depend on positions: joint_subspace_change() is not zero     */
    bool coordinates;   /* nq = nv, each with its own numbers                                   */
    bool turned_spring; /* a spring on the rotation vector, which jumps at half a turn          */
    struct joint_numbers number[MOST_COORDINATES_WITH_NUMBERS];
    double motor_inertia[MOST_VELOCITIES]; /* [kg m^2 or kg]                                            */
};
void joint_model_make(const struct joint *joint, struct joint_model *model);

/* For nv > 1: R, on entry the orientation of C, becomes that of O; h the columns; d += displacement. World axes. (61) */
void joint_place(const struct joint_model *model, const double *q, double *R, double (*h)[3], double *d);

/* The part of alpha from the rate of the subspace: zeta = (h_1 qd_1) x (h_2 qd_2) of a universal joint, else 0. (64) */
void joint_rate(const struct joint_model *model, const double (*h)[3], const double *qd, double *zeta);

/* How H qd, H qdd + zeta and zeta change with position j (C fixed; world axes) and velocity j:
       velocity[j] = d(H qd)/dx_j,   acceleration[j] = d(H qdd + zeta)/dx_j,   rate[j] = d zeta/dqd_j,
   of the rotational columns alone. (67) */
struct subspace_change {
    double velocity[MOST_VELOCITIES][3], acceleration[MOST_VELOCITIES][3], rate[MOST_VELOCITIES][3];
};
void joint_subspace_change(const struct joint_model *model, const double (*h)[3], const double *qd, const double *qdd,
                           struct subspace_change *change);

/* d(H' f)/dx, nv x nv, f fixed in O. (67) */
void joint_force_turn(const struct joint_model *model, const double (*h)[3], const double *f,
                      double change[MOST_VELOCITIES][MOST_VELOCITIES]);

/* q moved by a tangent: q + dx, of a quaternion q o exp(dx/2), normalized. (66) */
void joint_move(const struct joint_model *model, double *q, const double *dx);
/* Its inverse: the tangent from `from` to `to`. */
void joint_difference(const struct joint_model *model, const double *from, const double *to, double *dx);

/* dq/dt of the velocities, the quaternion not normalized (65); and the tangent of a change of q. */
void joint_position_rate(const struct joint_model *model, const double *q, const double *qd, double *rate);
void joint_tangent(const struct joint_model *model, const double *q, const double *dq, double *dx);
/* The change of joint_position_rate() with changes dq, dqd of both. */
void joint_position_rate_change(const struct joint_model *model, const double *q, const double *qd, const double *dq,
                                const double *dqd, double *change);

/* o = o o (orientation of O in the joint frame), a product of half-angle quaternions, smooth in q. */
void joint_turn_quaternion(const struct joint_model *model, const double *q, double o[4]);

/* ---- forces ---------------------------------------------------------------------------------------------------------------------- */

/* Force on a coordinate from friction, spring and stop:  -viscous qd - coulomb tanh(qd/v) - stiffness (q - rest) + stop; the
   second and the last term are joint_contact(). For a quaternion: -viscous omega - stiffness theta.                    (71) */
double joint_contact(const struct joint_numbers *number, double q, double qd);
static inline double joint_coordinate_force(const struct joint_numbers *number, double q, double qd)
{
    const double smooth = -number->viscous * qd - number->stiffness * (q - number->rest);
    return number->contact ? smooth + joint_contact(number, q, qd) : smooth;
}
void joint_forces(const struct joint_model *model, const double *q, const double *qd, double *force);
void joint_coordinate_slopes(const struct joint_numbers *number, double q, double qd, double *by_q, double *by_qd);
/* d force/dx and d force/dqd, nv x nv. */
void joint_force_slopes(const struct joint_model *model, const double *q, const double *qd,
                        double by_q[MOST_VELOCITIES][MOST_VELOCITIES], double by_qd[MOST_VELOCITIES][MOST_VELOCITIES]);
/* Stiffness k and damping d of every velocity, nv each, for an approximate Newton matrix: minus the diagonal derivatives of the force, 0
   if these are positive. */
void joint_stiff_slopes(const struct joint_model *model, const double *q, const double *qd, double *k, double *d);
/* Functions of (q, qd) that change sign where forces are not smooth, their number and their values. A coordinate with limits has four:
   contact with the lower and the upper limit, the depth at which the damper acts in full, and the point at which it would begin to
   pull. A spherical joint with a spring has one: half a turn. */
int joint_switch_count(const struct joint_model *model);
/* The largest count for any values of the joint's numbers. */
int joint_most_switches(const struct joint_model *model);
void joint_switches(const struct joint_model *model, const double *q, const double *qd, double *g);
/* The longest step that resolves dry friction if qd changes at the rate qdd [s]: a velocity within 3 coulomb_velocity of zero changes by
   no more than that, and a velocity that decreases does not pass this band in one step. INFINITY: no limit. */
double joint_longest_step(const struct joint_model *model, const double *qd, const double *qdd);
/* Energy in springs and stops, and their forces. */
double joint_energy(const struct joint_model *model, const double *q, double *force);

#endif
