/* Joints as motion subspaces: pose, columns, their changes and forces agree with each other, for every type. Differences are of
   eighth order with a step of 0.005: h^8/630 of truncation, eps/h of rounding. */
#include "robot/joint.h"

#include <string.h>

#include "math/quaternion.h"
#include "math/rotation.h"
#include "math/vec.h"
#include "oracle/random.h"
#include "oracle/specimen.h"
#include "test.h"

enum { TRIES = 200, TYPES = JOINT_FREE + 1, MOST_VALUES = 60 };
static const double STEP = 0.005, ROUNDING = 5e-13;

/* A random joint in a random state, on a joint frame C somewhere. */
struct trial {
    struct joint joint;
    struct joint_model model;
    double C[9];
    double q[MOST_POSITIONS], qd[MOST_VELOCITIES], qdd[MOST_VELOCITIES];
    double f[6]; /* a wrench at O, world axes */
    struct random *random;
};

/* The joint placed. */
struct placed {
    double R[9], h[MOST_VELOCITIES][3], d[3];
};

/* ---- random joints ------------------------------------------------------------------------------------------------------------- */

/* Not within 0.3 rad of half a turn, where the spring of a rotation vector jumps */
static void random_quaternion(struct random *random, double *q)
{
    do {
        for (int i = 0; i < 4; i++) q[i] = uniform(random, -1, 1);
    } while (norm(4, q) < 0.1 || fabs(q[0]) < 0.15 * norm(4, q));
    quaternion_normalize(q);
}

/* A stop is far off, or pushes deeper than its depth */
static void random_numbers(struct random *random, struct joint_numbers *number)
{
    *number = (struct joint_numbers){.motor_inertia = uniform(random, 0, 1),
                                     .viscous = uniform(random, 0, 1),
                                     .coulomb = uniform(random, 0, 1),
                                     .coulomb_velocity = uniform(random, 0.5, 1),
                                     .stiffness = uniform(random, 0, 5),
                                     .rest = uniform(random, -1, 1),
                                     .has_limits = chance(random, 0.7)};
    const double far = chance(random, 0.5) ? 5 : -5;
    number->limits = (struct limits){
        .lower = far < 0 ? far : -10, .upper = far < 0 ? 10 : far, .stiffness = 3, .damping = 0.1, .depth = 0.1};
    if (chance(random, 0.5)) {
        number->limits.lower = far < 0 ? -10 : far;
        number->limits.upper = far < 0 ? far : 10;
    }
}

static void draw(struct random *random, int type, struct trial *t)
{
    memset(t, 0, sizeof *t);
    t->random = random;
    t->joint.type = (enum joint_type)type;
    random_direction(random, t->joint.axis);
    do random_direction(random, t->joint.axis2);
    while (fabs(dot3(t->joint.axis, t->joint.axis2)) > 0.9);
    for (int k = 0; k < MOST_COORDINATES_WITH_NUMBERS; k++) random_numbers(random, &t->joint.number[k]);
    joint_model_make(&t->joint, &t->model);

    double orientation[4];
    random_quaternion(random, orientation);
    quaternion_to_matrix(orientation, t->C);
    for (int k = 0; k < t->model.nq; k++) t->q[k] = uniform(random, -3, 3);
    if (joint_quaternion(&t->joint) >= 0) random_quaternion(random, t->q + joint_quaternion(&t->joint));
    for (int k = 0; k < t->model.nv; k++) {
        t->qd[k] = uniform(random, -1.5, 1.5);
        t->qdd[k] = uniform(random, -3, 3);
    }
    for (int i = 0; i < 6; i++) t->f[i] = uniform(random, -1, 1);
}

/* By joint_place(); of one column, which dyn/ places, by the exponential */
static void place(const struct trial *t, const double *q, struct placed *at)
{
    memset(at, 0, sizeof *at);
    copy9(t->C, at->R);
    if (t->model.nv > 1) joint_place(&t->model, q, at->R, at->h, at->d);
    if (t->model.nv != 1) return;
    mul3(t->C, t->model.axis, at->h[0]);
    if (t->model.part[0] == SLIDES) {
        axpy3(q[0], at->h[0], at->d);
        return;
    }
    double turn[3] = {0}, E[9];
    axpy3(q[0], t->model.axis, turn);
    const struct exp_coefficients e = rotation_exp_coefficients(dot3(turn, turn));
    rotation_exp(&e, turn, E);
    matmul3(t->C, E, at->R);
}

/* ---- differences ---------------------------------------------------------------------------------------------------------------- */

/* y of the joint at another q, qd */
typedef void function(const struct trial *t, const double *q, const double *qd, double *y);

/* Derivative of `count` values where q moves by x = s dx + s^2/2 ddx and qd by s dqd (NULL: not at all), at s = 0 */
static void slope_along(const struct trial *t, function *f, int count, const double *dx, const double *ddx,
                        const double *dqd, double *slope)
{
    static const double weight[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    memset(slope, 0, (size_t)count * sizeof *slope);
    for (int step = -4; step <= 4; step++) {
        if (step == 0) continue;
        const double s = step * STEP, c = (step < 0 ? -weight[-step - 1] : weight[step - 1]) / STEP;
        double q[MOST_POSITIONS], qd[MOST_VELOCITIES], x[MOST_VELOCITIES] = {0}, y[MOST_VALUES];
        memcpy(q, t->q, sizeof q);
        memcpy(qd, t->qd, sizeof qd);
        for (int k = 0; k < t->model.nv; k++) {
            x[k] = (dx != NULL ? s * dx[k] : 0) + (ddx != NULL ? 0.5 * s * s * ddx[k] : 0);
            if (dqd != NULL) qd[k] += s * dqd[k];
        }
        joint_move(&t->model, q, x);
        f(t, q, qd, y);
        for (int i = 0; i < count; i++) slope[i] += c * y[i];
    }
}

/* By position j, or by velocity j */
static void by_position(const struct trial *t, function *f, int count, int j, double *slope)
{
    double e[MOST_VELOCITIES] = {0};
    e[j] = 1;
    slope_along(t, f, count, e, NULL, NULL, slope);
}

static void by_velocity(const struct trial *t, function *f, int count, int j, double *slope)
{
    double e[MOST_VELOCITIES] = {0};
    e[j] = 1;
    slope_along(t, f, count, NULL, NULL, e, slope);
}

/* ---- what a type has -------------------------------------------------------------------------------------------------------------- */

static void groups_cover(const struct trial *t)
{
    int at = 0;
    CHECK(joint_positions(&t->joint) == t->model.nq && joint_velocities(&t->joint) == t->model.nv);
    for (int tries = 0; at < t->model.nq && tries < MOST_POSITIONS; tries++) {
        const struct joint_group group = joint_position_group(&t->joint, at);
        CHECK(group.first == at && group.count > 0 && group.name != NULL);
        at += group.count;
        CHECK(joint_position_group(&t->joint, at - 1).first == group.first);
    }
    CHECK(at == t->model.nq);
    at = 0;
    for (int tries = 0; at < t->model.nv && tries < MOST_VELOCITIES; tries++) {
        const struct joint_group group = joint_velocity_group(&t->joint, at);
        CHECK(group.first == at && group.count > 0 && group.name != NULL);
        CHECK(group.acceleration != NULL && group.force != NULL && group.tangent != NULL);
        at += group.count;
        CHECK(joint_velocity_group(&t->joint, at - 1).first == group.first);
    }
    CHECK(at == t->model.nv);
    for (int k = 0; k < t->model.nv; k++) CHECK(joint_column_part(&t->joint, k) == t->model.part[k]);
}

static void rests(const struct trial *t)
{
    double q[MOST_POSITIONS];
    struct placed at;
    joint_rest_position(&t->joint, q);
    CHECK(joint_quaternion_error(&t->joint, q) == 0);
    place(t, q, &at);
    CHECK_NEAR(distance(9, at.R, t->C), 0, 1e-15);
    CHECK_NEAR(norm(3, at.d), 0, 0);
}

/* ---- pose and columns ---------------------------------------------------------------------------------------------------------------- */

/* (R; d) */
static void pose(const struct trial *t, const double *q, const double *qd, double *y)
{
    struct placed at;
    (void)qd;
    place(t, q, &at);
    copy9(at.R, y);
    copy3(at.d, y + 9);
}

/* dR = [h_k]x R,  dd = 0  or  dR = 0,  dd = h_k;  columns are unit vectors */
static void columns(const struct trial *t)
{
    struct placed at;
    place(t, t->q, &at);
    for (int k = 0; k < t->model.nv; k++) {
        double slope[12], spin[9], expected[12] = {0};
        by_position(t, pose, 12, k, slope);
        skew3(at.h[k], spin);
        if (t->model.part[k] == TURNS) matmul3(spin, at.R, expected);
        else copy3(at.h[k], expected + 9);
        CHECK_NEAR(distance(12, slope, expected), 0, 10 * ROUNDING); /* d up to 5 m */
        CHECK_NEAR(norm(3, at.h[k]), 1, 1e-14);
    }
}

/* Orientation does not depend on the length of a quaternion */
static void scaled(const struct trial *t)
{
    const int x = joint_quaternion(&t->joint);
    struct placed at, same;
    double q[MOST_POSITIONS];
    if (x < 0) return;
    memcpy(q, t->q, sizeof q);
    const double scale = uniform(t->random, 0.5, 2);
    for (int i = 0; i < 4; i++) q[x + i] *= scale;
    place(t, t->q, &at);
    place(t, q, &same);
    CHECK_NEAR(distance(9, at.R, same.R) + distance(3, at.d, same.d), 0, 1e-14);
    CHECK_NEAR(distance(3 * t->model.nv, at.h[0], same.h[0]), 0, 1e-14);
}

/* H x of the turning columns */
static void turning(const struct trial *t, const struct placed *at, const double *x, double *y)
{
    memset(y, 0, 3 * sizeof *y);
    for (int k = 0; k < t->model.nv; k++)
        if (t->model.part[k] == TURNS) axpy3(x[k], at->h[k], y);
}

static void angular_velocity(const struct trial *t, const double *q, const double *qd, double *y)
{
    struct placed at;
    place(t, q, &at);
    turning(t, &at, qd, y);
}

/* d(H qd)/dt = H qdd + zeta along the motion */
static void rate_of_subspace(const struct trial *t)
{
    double slope[3], expected[3], zeta[3];
    struct placed at;
    place(t, t->q, &at);
    slope_along(t, angular_velocity, 3, t->qd, t->qdd, t->qdd, slope);
    turning(t, &at, t->qdd, expected);
    joint_rate(&t->model, (const double(*)[3])at.h, t->qd, zeta);
    axpy3(1, zeta, expected);
    CHECK_NEAR(distance(3, slope, expected), 0, 10 * ROUNDING); /* |omega| and |alpha| up to 5 */
}

/* (H qd; H qdd + zeta; zeta) */
static void motion(const struct trial *t, const double *q, const double *qd, double *y)
{
    struct placed at;
    place(t, q, &at);
    turning(t, &at, qd, y);
    turning(t, &at, t->qdd, y + 3);
    joint_rate(&t->model, (const double(*)[3])at.h, qd, y + 6);
    axpy3(1, y + 6, y + 3);
}

static void change_of_subspace(const struct trial *t)
{
    struct subspace_change change;
    struct placed at;
    double slope[9];
    place(t, t->q, &at);
    joint_subspace_change(&t->model, (const double(*)[3])at.h, t->qd, t->qdd, &change);
    for (int j = 0; j < t->model.nv; j++) {
        by_position(t, motion, 9, j, slope);
        CHECK_NEAR(distance(3, change.velocity[j], slope), 0, 10 * ROUNDING);
        CHECK_NEAR(distance(3, change.acceleration[j], slope + 3), 0, 10 * ROUNDING);
        by_velocity(t, motion, 9, j, slope);
        CHECK_NEAR(distance(3, change.rate[j], slope + 6), 0, 10 * ROUNDING);
    }
    bool changes = false;
    for (int j = 0; j < t->model.nv; j++) changes |= norm(3, change.velocity[j]) > 0;
    CHECK(changes == t->model.several_turns);
}

/* H' f, f carried along by O */
static void joint_share(const struct trial *t, const double *q, const double *qd, double *y)
{
    struct placed before, at;
    double f[6], in_O[3];
    (void)qd;
    place(t, t->q, &before);
    place(t, q, &at);
    for (int part = 0; part < 6; part += 3) {
        tmul3(before.R, t->f + part, in_O);
        mul3(at.R, in_O, f + part);
    }
    for (int k = 0; k < t->model.nv; k++) y[k] = dot3(at.h[k], f + t->model.part[k]);
}

static void turn_of_force(const struct trial *t)
{
    double change[MOST_VELOCITIES][MOST_VELOCITIES], slope[MOST_VELOCITIES];
    struct placed at;
    place(t, t->q, &at);
    joint_force_turn(&t->model, (const double(*)[3])at.h, t->f, change);
    for (int j = 0; j < t->model.nv; j++) {
        by_position(t, joint_share, t->model.nv, j, slope);
        for (int k = 0; k < t->model.nv; k++) CHECK_NEAR(change[k][j], slope[k], ROUNDING);
    }
}

/* ---- tangents ------------------------------------------------------------------------------------------------------------------------- */

/* q (+) dx (-) q = dx, rotation vectors up to pi long;  a (+) (b (-) a) = b, of a quaternion either sign */
static void move_and_back(const struct trial *t)
{
    double q[MOST_POSITIONS], dx[MOST_VELOCITIES], back[MOST_VELOCITIES];
    struct trial other;
    struct placed at, want;
    memcpy(q, t->q, sizeof q);
    for (int k = 0; k < t->model.nv; k++) dx[k] = uniform(t->random, -1.8, 1.8); /* length below pi */
    joint_move(&t->model, q, dx);
    joint_difference(&t->model, t->q, q, back);
    CHECK_NEAR(distance(t->model.nv, dx, back), 0, 2e-14);

    draw(t->random, (int)t->model.type, &other);
    memcpy(q, t->q, sizeof q);
    joint_difference(&t->model, q, other.q, dx);
    const int omega = joint_omega(&t->joint);
    if (omega >= 0) CHECK(norm(3, dx + omega) <= acos(-1) * (1 + 1e-15));
    joint_move(&t->model, q, dx);
    place(t, q, &at);
    place(t, other.q, &want);
    CHECK_NEAR(distance(9, at.R, want.R) + distance(3, at.d, want.d), 0, 2e-14);
    joint_difference(&t->model, t->q, t->q, dx);
    CHECK_NEAR(norm(t->model.nv, dx), 0, 1e-15);
}

static void keep_norm(const struct trial *t)
{
    double q[MOST_POSITIONS], dx[MOST_VELOCITIES];
    memcpy(q, t->q, sizeof q);
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < t->model.nv; k++) dx[k] = uniform(t->random, -1, 1);
        joint_move(&t->model, q, dx);
    }
    CHECK_NEAR(joint_quaternion_error(&t->joint, q), 0, 1e-15);
}

static void positions(const struct trial *t, const double *q, const double *qd, double *y)
{
    (void)qd;
    memcpy(y, q, (size_t)t->model.nq * sizeof *y);
}

/* dq/dt is the slope of joint_move() and joint_tangent() its inverse; of a quaternion of any length, which it keeps */
static void rates(const struct trial *t)
{
    double rate[MOST_POSITIONS], slope[MOST_POSITIONS], back[MOST_VELOCITIES], q[MOST_POSITIONS];
    const int x = joint_quaternion(&t->joint);
    slope_along(t, positions, t->model.nq, t->qd, NULL, NULL, slope);
    joint_position_rate(&t->model, t->q, t->qd, rate);
    CHECK_NEAR(distance(t->model.nq, rate, slope), 0, 10 * ROUNDING);

    memcpy(q, t->q, sizeof q);
    const double scale = uniform(t->random, 0.5, 2);
    for (int i = 0; x >= 0 && i < 4; i++) q[x + i] *= scale;
    joint_position_rate(&t->model, q, t->qd, rate);
    joint_tangent(&t->model, q, rate, back);
    CHECK_NEAR(distance(t->model.nv, back, t->qd), 0, 1e-14);
    if (x < 0) return;
    double along = 0;
    for (int i = 0; i < 4; i++) along += q[x + i] * rate[x + i];
    CHECK_NEAR(along, 0, 1e-14);
}

/* R(o o joint) = R(o) R_joint, and no step of q jumps to the other sign */
static void half_angles(const struct trial *t)
{
    double o[4], before[4], R[9], near[4], q[MOST_POSITIONS], dx[MOST_VELOCITIES];
    struct placed at;
    quaternion_from_matrix(t->C, o);
    memcpy(before, o, sizeof o);
    place(t, t->q, &at);
    joint_turn_quaternion(&t->model, t->q, o);
    quaternion_to_matrix(o, R);
    CHECK_NEAR(distance(9, R, at.R), 0, 1e-14);
    CHECK_NEAR(norm(4, o), 1, 1e-15);

    memcpy(q, t->q, sizeof q);
    for (int k = 0; k < t->model.nv; k++) dx[k] = uniform(t->random, -0.1, 0.1);
    joint_move(&t->model, q, dx);
    memcpy(near, before, sizeof near);
    joint_turn_quaternion(&t->model, q, near);
    CHECK(distance(4, o, near) <= norm(t->model.nv, dx));
}

/* ---- forces ------------------------------------------------------------------------------------------------------------------------------- */

static void forces(const struct trial *t, const double *q, const double *qd, double *y)
{
    joint_forces(&t->model, q, qd, y);
}

static void slopes_of_forces(const struct trial *t)
{
    double by_q[MOST_VELOCITIES][MOST_VELOCITIES], by_qd[MOST_VELOCITIES][MOST_VELOCITIES], slope[MOST_VELOCITIES];
    joint_force_slopes(&t->model, t->q, t->qd, by_q, by_qd);
    for (int j = 0; j < t->model.nv; j++) {
        by_position(t, forces, t->model.nv, j, slope);
        for (int k = 0; k < t->model.nv; k++) CHECK_NEAR(by_q[k][j], slope[k], 100 * ROUNDING); /* forces of 30 N */
        by_velocity(t, forces, t->model.nv, j, slope);
        for (int k = 0; k < t->model.nv; k++) CHECK_NEAR(by_qd[k][j], slope[k], 100 * ROUNDING);
    }
}

static void energy(const struct trial *t, const double *q, const double *qd, double *y)
{
    double force[MOST_VELOCITIES];
    (void)qd;
    y[0] = joint_energy(&t->model, q, force);
}

/* dE/dx = -force of springs and stops, which is all force that there is at rest */
static void gradient(const struct trial *t)
{
    static const double still[MOST_VELOCITIES];
    double force[MOST_VELOCITIES], at_rest[MOST_VELOCITIES], slope;
    CHECK(joint_energy(&t->model, t->q, force) >= 0);
    joint_forces(&t->model, t->q, still, at_rest);
    CHECK_NEAR(distance(t->model.nv, force, at_rest), 0, 1e-14 * (1 + norm(t->model.nv, force)));
    for (int j = 0; j < t->model.nv; j++) {
        by_position(t, energy, 1, j, &slope);
        CHECK_NEAR(slope, -force[j], 100 * ROUNDING); /* energies of 100 J */
    }
}

/* Friction takes power */
static void loss(const struct trial *t)
{
    double own[MOST_VELOCITIES], springs[MOST_VELOCITIES], power = 0;
    joint_energy(&t->model, t->q, springs);
    joint_forces(&t->model, t->q, t->qd, own);
    for (int k = 0; k < t->model.nv; k++) power += (own[k] - springs[k]) * t->qd[k];
    CHECK(power <= 1e-14);
}

TEST(laws_of_all_joints)
{
    static const struct {
        const char *name;
        int first; /* type */
        void (*law)(const struct trial *t);
    } laws[] = {{"groups_of_names_cover_positions_and_velocities", JOINT_FIXED, groups_cover},
                {"at_rest_the_hinge_frame_is_the_joint_frame", JOINT_FIXED, rests},
                {"subspace_is_the_derivative_of_the_pose", JOINT_REVOLUTE, columns},
                {"a_quaternion_of_any_length_is_an_orientation", JOINT_SPHERICAL, scaled},
                {"rate_of_the_subspace", JOINT_UNIVERSAL, rate_of_subspace},
                {"change_of_the_subspace", JOINT_UNIVERSAL, change_of_subspace},
                {"turn_of_a_force_against_the_subspace", JOINT_UNIVERSAL, turn_of_force},
                {"move_and_difference_undo_each_other", JOINT_FIXED, move_and_back},
                {"moves_keep_the_norm_of_a_quaternion", JOINT_SPHERICAL, keep_norm},
                {"rate_of_positions_is_that_of_a_move", JOINT_FIXED, rates},
                {"half_angle_quaternions_are_the_orientation", JOINT_FIXED, half_angles},
                {"slopes_of_the_forces", JOINT_FIXED, slopes_of_forces},
                {"forces_are_the_gradient_of_the_energy", JOINT_FIXED, gradient},
                {"friction_takes_power", JOINT_FIXED, loss}};
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
        struct random random = {41};
        const int before = test_failed_checks;
        for (int type = laws[k].first; type < TYPES; type++)
            for (int i = 0; i < TRIES; i++) {
                struct trial t;
                draw(&random, type, &t);
                laws[k].law(&t);
            }
        if (test_failed_checks != before) printf("     %s\n", laws[k].name);
    }
}

SUITE(robot_joint_test)
