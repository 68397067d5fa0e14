#include "robot/joint.h"

#include <math.h>
#include <string.h>

#include "math/quaternion.h"
#include "math/rotation_tangent.h"
#include "math/vec.h"

/* ---- what a type has ------------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    int nq, nv;
    int part[MOST_VELOCITIES];
    int numbers;           /* coordinates with numbers                */
    int quaternion, omega; /* where they begin among q and qd; -1: none */
    bool prescribed;       /* whether its motion may be prescribed    */
} types[] = {
    [JOINT_FIXED] = {"fixed", 0, 0, {0}, 0, -1, -1, false},
    [JOINT_REVOLUTE] = {"revolute", 1, 1, {TURNS}, 1, -1, -1, true},
    [JOINT_PRISMATIC] = {"prismatic", 1, 1, {SLIDES}, 1, -1, -1, true},
    [JOINT_UNIVERSAL] = {"universal", 2, 2, {TURNS, TURNS}, 2, -1, -1, true},
    [JOINT_CYLINDRICAL] = {"cylindrical", 2, 2, {TURNS, SLIDES}, 2, -1, -1, true},
    [JOINT_SPHERICAL] = {"spherical", 4, 3, {TURNS, TURNS, TURNS}, 1, 0, 0, false},
    [JOINT_FREE] = {"free", 7, 6, {SLIDES, SLIDES, SLIDES, TURNS, TURNS, TURNS}, 0, 3, 3, false},
};

/* A function that returns a column of the table */
#define OF_TYPE(result, function, column)      \
    result function(const struct joint *joint) \
    {                                          \
        return types[joint->type].column;      \
    }
OF_TYPE(const char *, joint_type_name, name)
OF_TYPE(int, joint_positions, nq)
OF_TYPE(int, joint_velocities, nv)
OF_TYPE(bool, joint_moves, nv > 0)
OF_TYPE(int, joint_number_count, numbers)
OF_TYPE(bool, joint_may_be_prescribed, prescribed)
OF_TYPE(int, joint_quaternion, quaternion)
OF_TYPE(int, joint_omega, omega)

bool joint_takes(const struct joint *joint, enum joint_given number)
{
    if (joint_quaternion(joint) < 0) return true;
    return joint_number_count(joint) > 0 && (number == GIVEN_VISCOUS || number == GIVEN_STIFFNESS);
}

bool joint_has_coordinates(const struct joint *joint)
{
    return types[joint->type].nv > 0 && types[joint->type].quaternion < 0;
}

int joint_column_part(const struct joint *joint, int k)
{
    return types[joint->type].part[k];
}

const char *joint_position_unit(const struct joint *joint, int k)
{
    if (joint_quaternion(joint) >= 0 && k >= joint_quaternion(joint)) return "1";
    return joint_column_part(joint, k) == TURNS ? "rad" : "m";
}

void joint_rest_position(const struct joint *joint, double *q)
{
    memset(q, 0, (size_t)joint_positions(joint) * sizeof *q);
    if (joint_quaternion(joint) >= 0) q[joint_quaternion(joint)] = 1;
}

double joint_quaternion_error(const struct joint *joint, const double *q)
{
    return joint_quaternion(joint) < 0 ? 0 : sqrt(quaternion_square(q + joint_quaternion(joint))) - 1;
}

void joint_normalize(const struct joint *joint, double *q)
{
    if (joint_quaternion(joint) >= 0) quaternion_normalize(q + joint_quaternion(joint));
}

/* ---- names ---------------------------------------------------------------------------------------------------------------------- */

/* first, count, name; of velocities also the names of accelerations, forces and changes of position; descriptions */
struct joint_group joint_position_group(const struct joint *joint, int k)
{
    const int quaternion = joint_quaternion(joint);
    if (quaternion < 0) return (struct joint_group){0, joint_positions(joint), "q", .description = "joint position"};
    if (k >= quaternion)
        return (struct joint_group){quaternion, 4, "quaternion",
                                    .description = "orientation of the hinge frame in the joint frame, w first"};
    return (struct joint_group){0, quaternion, "position",
                                .description = "position of the hinge frame, axes of the joint frame"};
}

struct joint_group joint_velocity_group(const struct joint *joint, int k)
{
    const int omega = joint_omega(joint);
    if (omega < 0)
        return (struct joint_group){0,
                                    joint_velocities(joint),
                                    "qd",
                                    "qdd",
                                    "tau",
                                    "q",
                                    "joint velocity",
                                    "joint acceleration",
                                    "drive torque or force on the joint"};
    if (k >= omega)
        return (struct joint_group){omega,
                                    3,
                                    "omega",
                                    "alpha",
                                    "torque",
                                    "dtheta",
                                    "angular velocity of the hinge frame in the joint frame, hinge axes",
                                    "time derivative of omega",
                                    "drive torque on the joint, hinge axes"};
    return (struct joint_group){0,
                                omega,
                                "velocity",
                                "acceleration",
                                "force",
                                "position",
                                "velocity of the hinge frame, axes of the joint frame",
                                "acceleration of the hinge frame, axes of the joint frame",
                                "drive force on the joint, axes of the joint frame"};
}

/* ---- kinematics ------------------------------------------------------------------------------------------------------------------ */

void joint_model_make(const struct joint *joint, struct joint_model *model)
{
    *model = (struct joint_model){.type = joint->type,
                                  .nq = joint_positions(joint),
                                  .nv = joint_velocities(joint),
                                  .axis_index = -1,
                                  .coordinates = joint_has_coordinates(joint)};
    memcpy(model->part, types[joint->type].part, sizeof model->part);
    memcpy(model->number, joint->number, sizeof model->number);
    for (int k = 0; model->coordinates && k < model->nv; k++) {
        model->number[k].contact = joint->number[k].coulomb != 0 || joint->number[k].has_limits;
        model->motor_inertia[k] = joint->number[k].motor_inertia;
    }
    copy3(joint->axis, model->axis);
    copy3(joint->axis2, model->axis2);
    for (int k = 0; k < 3; k++)
        if (fabs(joint->axis[k]) == 1) {
            model->axis_index = k;
            model->axis_sign = joint->axis[k];
        }
    int turns = 0;
    for (int k = 0; k < model->nv; k++) turns += model->part[k] == TURNS;
    model->several_turns = turns > 1;
    model->turned_spring = joint->type == JOINT_SPHERICAL && joint->number[0].stiffness > 0;
}

/* R = R Rot(axis, q), by Rodrigues' formula on the rows: r c + (r x a) s + a (r.a) (1 - c) */
static void turn_about(const double *axis, double q, double *R)
{
    const double s = sin(q), c = cos(q);
    for (int i = 0; i < 3; i++) {
        double *r = R + 3 * i, rxa[3];
        cross3(r, axis, rxa);
        const double along = (1 - c) * dot3(r, axis);
        for (int j = 0; j < 3; j++) r[j] = c * r[j] + s * rxa[j] + along * axis[j];
    }
}

/* R = R R(quaternion), and the columns are the axes of O */
static void turn_by_quaternion(const double *quaternion, double *R, double (*h)[3])
{
    double E[9], C[9];
    copy9(R, C);
    quaternion_to_matrix(quaternion, E);
    matmul3(C, E, R);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) h[k][i] = R[3 * i + k];
}

void joint_place(const struct joint_model *model, const double *q, double *R, double (*h)[3], double *d)
{
    switch (model->type) {
    case JOINT_UNIVERSAL:
        mul3(R, model->axis, h[0]);
        turn_about(model->axis, q[0], R);
        mul3(R, model->axis2, h[1]);
        turn_about(model->axis2, q[1], R);
        break;
    case JOINT_CYLINDRICAL:
        mul3(R, model->axis, h[0]);
        copy3(h[0], h[1]);
        turn_about(model->axis, q[0], R);
        axpy3(q[1], h[1], d);
        break;
    case JOINT_SPHERICAL: turn_by_quaternion(q, R, h); break;
    case JOINT_FREE:
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++) h[k][i] = R[3 * i + k];
            axpy3(q[k], h[k], d);
        }
        turn_by_quaternion(q + 3, R, h + 3);
        break;
    case JOINT_FIXED:
    case JOINT_REVOLUTE:
    case JOINT_PRISMATIC: break; /* one column at most: dyn/kinematics.c */
    }
}

void joint_rate(const struct joint_model *model, const double (*h)[3], const double *qd, double *zeta)
{
    memset(zeta, 0, 3 * sizeof *zeta);
    if (model->type != JOINT_UNIVERSAL) return;
    cross3(h[0], h[1], zeta);
    for (int i = 0; i < 3; i++) zeta[i] *= qd[0] * qd[1];
}

void joint_subspace_change(const struct joint_model *model, const double (*h)[3], const double *qd, const double *qdd,
                           struct subspace_change *change)
{
    memset(change, 0, sizeof *change);
    if (model->type == JOINT_UNIVERSAL) {
        /* c = h_1 x h_2:  d(H qd)/dx_1 = qd_2 c,  d(H qdd + zeta)/dx_1 = qdd_2 c + qd_1 qd_2 h_1 x c */
        double c[3], hc[3];
        cross3(h[0], h[1], c);
        cross3(h[0], c, hc);
        for (int i = 0; i < 3; i++) {
            change->velocity[0][i] = qd[1] * c[i];
            change->acceleration[0][i] = qdd[1] * c[i] + qd[0] * qd[1] * hc[i];
            change->rate[0][i] = qd[1] * c[i];
            change->rate[1][i] = qd[0] * c[i];
        }
    }
    if (model->coordinates) return;

    /* columns are fixed in O: d(H x)/dx_j = h_j x H x */
    const int first = types[model->type].omega;
    double omega[3] = {0}, alpha[3] = {0};
    for (int k = first; k < first + 3; k++) {
        axpy3(qd[k], h[k], omega);
        axpy3(qdd[k], h[k], alpha);
    }
    for (int j = first; j < first + 3; j++) {
        cross3(h[j], omega, change->velocity[j]);
        cross3(h[j], alpha, change->acceleration[j]);
    }
}

void joint_force_turn(const struct joint_model *model, const double (*h)[3], const double *f,
                      double change[MOST_VELOCITIES][MOST_VELOCITIES])
{
    double turned[3];
    memset(change, 0, MOST_VELOCITIES * sizeof *change);
    if (model->type == JOINT_UNIVERSAL) { /* h_1 turns relative to O by -h_2 dx_2 */
        cross3(h[0], h[1], turned);
        change[0][1] = dot3(turned, f);
    }
    if (model->type != JOINT_FREE) return;
    for (int k = 0; k < 3; k++) /* h_k is fixed in C, which turns relative to O by -h_j dx_j */
        for (int j = 3; j < 6; j++) {
            cross3(h[k], h[j], turned);
            change[k][j] = dot3(turned, f + 3);
        }
}

void joint_move(const struct joint_model *model, double *q, const double *dx)
{
    const int x = types[model->type].quaternion, v = types[model->type].omega;
    for (int k = 0; k < (x < 0 ? model->nq : x); k++) q[k] += dx[k];
    if (x < 0) return;
    double turn[4], moved[4];
    quaternion_exp(dx + v, turn);
    quaternion_multiply(q + x, turn, moved);
    quaternion_normalize(moved);
    memcpy(q + x, moved, sizeof moved);
}

/* The rotation vector of a quaternion, |theta| <= pi */
static void rotation_vector(const double *quaternion, double theta[3])
{
    const double sign = quaternion[0] < 0 ? -1 : 1, s = sqrt(dot3(quaternion + 1, quaternion + 1));
    const double scale = s > 0 ? 2 * atan2(s, fabs(quaternion[0])) / s : 2 / fabs(quaternion[0]);
    for (int i = 0; i < 3; i++) theta[i] = sign * scale * quaternion[1 + i];
}

void joint_difference(const struct joint_model *model, const double *from, const double *to, double *dx)
{
    const int x = types[model->type].quaternion, v = types[model->type].omega;
    for (int k = 0; k < (x < 0 ? model->nq : x); k++) dx[k] = to[k] - from[k];
    if (x < 0) return;
    double turn[4];
    quaternion_conjugate_multiply(from + x, to + x, turn);
    rotation_vector(turn, dx + v);
}

void joint_position_rate(const struct joint_model *model, const double *q, const double *qd, double *rate)
{
    const int x = types[model->type].quaternion, v = types[model->type].omega;
    memcpy(rate, qd, (size_t)(x < 0 ? model->nq : x) * sizeof *rate);
    if (x >= 0) quaternion_rate(q + x, qd + v, rate + x);
}

void joint_tangent(const struct joint_model *model, const double *q, const double *dq, double *dx)
{
    const int x = types[model->type].quaternion, v = types[model->type].omega;
    memcpy(dx, dq, (size_t)(x < 0 ? model->nq : x) * sizeof *dx);
    if (x < 0) return;
    double turn[4];
    quaternion_conjugate_multiply(q + x, dq + x, turn);
    for (int i = 0; i < 3; i++) dx[v + i] = 2 * turn[1 + i] / quaternion_square(q + x);
}

void joint_position_rate_change(const struct joint_model *model, const double *q, const double *qd, const double *dq,
                                const double *dqd, double *change)
{
    const int x = types[model->type].quaternion, v = types[model->type].omega;
    joint_position_rate(model, q, dqd, change);
    if (x < 0) return;
    double turned[4]; /* 1/2 dq o (0, omega) */
    quaternion_rate(dq + x, qd + v, turned);
    for (int i = 0; i < 4; i++) change[x + i] += turned[i];
}

/* o = o o (half-angle quaternion of a rotation about an axis) */
static void turn_quaternion(const double *axis, double angle, double o[4])
{
    const double t[3] = {angle * axis[0], angle * axis[1], angle * axis[2]};
    double by[4], product[4];
    quaternion_exp(t, by);
    quaternion_multiply(o, by, product);
    memcpy(o, product, sizeof product);
}

void joint_turn_quaternion(const struct joint_model *model, const double *q, double o[4])
{
    const int x = types[model->type].quaternion;
    if (x >= 0) {
        double unit[4], product[4];
        memcpy(unit, q + x, sizeof unit);
        quaternion_normalize(unit);
        quaternion_multiply(o, unit, product);
        memcpy(o, product, sizeof product);
    } else if (model->nv > 0 && model->part[0] == TURNS) {
        turn_quaternion(model->axis, q[0], o);
        if (model->several_turns) turn_quaternion(model->axis2, q[1], o);
    }
}

/* ---- forces ---------------------------------------------------------------------------------------------------------------------- */

/* How far a joint is beyond a limit; sign: direction in which the stop pushes it */
static double penetration(const struct limits *limits, double q, double *sign)
{
    *sign = q > limits->upper ? -1 : 1;
    return fmax(0, *sign < 0 ? q - limits->upper : limits->lower - q);
}

/* The damper of a stop fades in over its depth: 3 x^2 - 2 x^3, x = p/depth */
static double fade(const struct limits *limits, double p, double *slope)
{
    const double x = fmin(p / limits->depth, 1);
    *slope = 6 * x * (1 - x) / limits->depth;
    return x * x * (3 - 2 * x);
}

/* k p + d fade(p) dp/dt, and never a pull back into the stop                                                          (58) */
static double stop_force(const struct limits *limits, double q, double qd)
{
    double sign, slope;
    const double p = penetration(limits, q, &sign);
    if (p == 0) return 0;
    return sign * fmax(0, limits->stiffness * p - sign * qd * limits->damping * fade(limits, p, &slope));
}

double joint_contact(const struct joint_numbers *number, double q, double qd)
{
    const double stop = number->has_limits ? stop_force(&number->limits, q, qd) : 0;
    return number->coulomb != 0 ? stop - number->coulomb * tanh(qd / number->coulomb_velocity) : stop;
}

void joint_coordinate_slopes(const struct joint_numbers *number, double q, double qd, double *by_q, double *by_qd)
{
    *by_q = -number->stiffness;
    *by_qd = -number->viscous;
    if (number->coulomb != 0) {
        const double s = tanh(qd / number->coulomb_velocity);
        *by_qd -= number->coulomb * (1 - s * s) / number->coulomb_velocity;
    }
    if (!number->has_limits) return;
    const struct limits *limits = &number->limits;
    double sign, slope;
    const double p = penetration(limits, q, &sign);
    if (p == 0 || stop_force(limits, q, qd) == 0) return;
    *by_qd -= limits->damping * fade(limits, p, &slope);
    *by_q += limits->damping * slope * sign * qd - limits->stiffness;
}

/* The spring of a spherical joint: its rotation vector theta, energy 1/2 k theta.theta, torque -k theta */
static bool has_rotation_spring(const struct joint_model *model)
{
    return model->type == JOINT_SPHERICAL && model->number[0].stiffness != 0;
}

void joint_forces(const struct joint_model *model, const double *q, const double *qd, double *force)
{
    if (model->coordinates) {
        for (int k = 0; k < model->nv; k++) force[k] = joint_coordinate_force(&model->number[k], q[k], qd[k]);
        return;
    }
    memset(force, 0, (size_t)model->nv * sizeof *force);
    if (model->type != JOINT_SPHERICAL) return;
    joint_energy(model, q, force);
    for (int k = 0; k < 3; k++) force[k] -= model->number[0].viscous * qd[k];
}

void joint_force_slopes(const struct joint_model *model, const double *q, const double *qd,
                        double by_q[MOST_VELOCITIES][MOST_VELOCITIES], double by_qd[MOST_VELOCITIES][MOST_VELOCITIES])
{
    memset(by_q, 0, MOST_VELOCITIES * sizeof *by_q);
    memset(by_qd, 0, MOST_VELOCITIES * sizeof *by_qd);
    if (model->coordinates)
        for (int k = 0; k < model->nv; k++)
            joint_coordinate_slopes(&model->number[k], q[k], qd[k], &by_q[k][k], &by_qd[k][k]);
    if (model->type != JOINT_SPHERICAL) return;
    for (int k = 0; k < 3; k++) by_qd[k][k] = -model->number[0].viscous;
    if (!has_rotation_spring(model)) return;

    /* d theta = Jr(theta)^-1 dx,  Jr(theta) = Jl(-theta) */
    double theta[3], minus[3], slope[3];
    rotation_vector(q, theta);
    for (int i = 0; i < 3; i++) minus[i] = -theta[i];
    for (int j = 0; j < 3; j++) {
        double e[3] = {0};
        e[j] = 1;
        rotation_vector_rate(minus, e, slope);
        for (int k = 0; k < 3; k++) by_q[k][j] = -model->number[0].stiffness * slope[k];
    }
}

void joint_stiff_slopes(const struct joint_model *model, const double *q, const double *qd, double *k, double *d)
{
    for (int i = 0; i < model->nv; i++) {
        const bool all = model->type == JOINT_SPHERICAL;
        double by_q = all ? -model->number[0].stiffness : 0, by_qd = all ? -model->number[0].viscous : 0;
        if (model->coordinates) joint_coordinate_slopes(&model->number[i], q[i], qd[i], &by_q, &by_qd);
        k[i] = fmax(0, -by_q);
        d[i] = fmax(0, -by_qd);
    }
}

/* ---- where forces change fast ---------------------------------------------------------------------------------------------------- */

enum { SWITCHES = 4 }; /* of a coordinate with limits */

static bool coordinate_has_limits(const struct joint_model *model, int k)
{
    return model->coordinates && model->number[k].has_limits;
}

static int stop_switch_count(const struct joint_model *model)
{
    int count = 0;
    for (int k = 0; k < model->nv; k++) count += coordinate_has_limits(model, k) ? SWITCHES : 0;
    return count;
}

int joint_switch_count(const struct joint_model *model)
{
    return stop_switch_count(model) + (model->turned_spring ? 1 : 0);
}

int joint_most_switches(const struct joint_model *model)
{
    return stop_switch_count(model) + (model->type == JOINT_SPHERICAL ? 1 : 0);
}

void joint_switches(const struct joint_model *model, const double *q, const double *qd, double *g)
{
    if (model->turned_spring) *g++ = q[0]; /* theta = 2 acos|w| */
    for (int k = 0; k < model->nv; k++) {
        if (!coordinate_has_limits(model, k)) continue;

        /* lower - q, q - upper, p - depth, and the force of a stop per penetration, k - sign qd d fade(p)/p, which is positive
           where it pushes; k where there is no contact. An absent limit is never reached. */
        const struct limits *limits = &model->number[k].limits;
        double sign, slope;
        const double p = penetration(limits, q[k], &sign);
        *g++ = isfinite(limits->lower) ? limits->lower - q[k] : -1;
        *g++ = isfinite(limits->upper) ? q[k] - limits->upper : -1;
        *g++ = limits->damping > 0 ? p - limits->depth : -1;
        *g++ = limits->stiffness - (p > 0 ? sign * qd[k] * limits->damping * fade(limits, p, &slope) / p : 0);
    }
}

/* A step changes qd by |qdd| h. Towards standstill it ends at the edge of the band |qd| < 3 v or, if it starts near the band,
   changes qd by no more than 3 v. (theory.md 89) */
double joint_longest_step(const struct joint_model *model, const double *qd, const double *qdd)
{
    double longest = INFINITY;
    for (int k = 0; model->coordinates && k < model->nv; k++) {
        const double band = 3 * model->number[k].coulomb_velocity, speed = fabs(qd[k]);
        if (model->number[k].coulomb == 0 || (speed >= band && qd[k] * qdd[k] >= 0)) continue;
        longest = fmin(longest, fmax(band, speed - band) / fabs(qdd[k]));
    }
    return longest;
}

double joint_energy(const struct joint_model *model, const double *q, double *force)
{
    double energy = 0;
    memset(force, 0, (size_t)model->nv * sizeof *force);
    for (int k = 0; k < model->nv && model->coordinates; k++) {
        const struct joint_numbers *number = &model->number[k];
        const double stretch = q[k] - number->rest;
        double own = 0.5 * number->stiffness * stretch * stretch;
        force[k] = -number->stiffness * stretch;
        if (number->has_limits) {
            double sign;
            const double p = penetration(&number->limits, q[k], &sign);
            own += 0.5 * number->limits.stiffness * p * p;
            force[k] += sign * number->limits.stiffness * p;
        }
        energy += own;
    }
    if (!has_rotation_spring(model)) return energy;
    double theta[3];
    const double stiffness = model->number[0].stiffness;
    rotation_vector(q, theta);
    for (int k = 0; k < 3; k++) force[k] = -stiffness * theta[k];
    return 0.5 * stiffness * dot3(theta, theta);
}
