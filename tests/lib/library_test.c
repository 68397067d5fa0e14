/* Laws of limber.h, by limber.h alone: the program is linked with the shared library. */
#include <limber.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { MOST = 128 }; /* coordinates of any robot here */

static const char floating[] =
    "{\"format\": \"limber-robot/2\", \"name\": \"floating\", \"gravity\": [0, 0, -9.81], \"links\": ["
    " {\"name\": \"ship\", \"joint\": {\"type\": \"free\"}, \"rigid\": {\"mass\": 20, \"com\": [0.1, 0, 0.2], "
    "  \"inertia\": [2, 3, 4, 0.1, 0, 0.2], \"tip\": {\"xyz\": [0.5, 0, 0.3]}}},"
    " {\"name\": \"arm\", \"joint\": {\"type\": \"universal\", \"axis\": [0, 0, 1], \"axis2\": [0, 1, 0]},"
    "  \"beam\": {\"length\": 2, \"mass_per_length\": 1.5, \"EIy\": 300, \"EIz\": 200, \"GJ\": 90, \"EA\": 1e6,"
    "  \"modes\": {\"y\": {\"shape\": \"clamped-free\", \"count\": 2}, \"z\": {\"shape\": \"clamped-free\", \"count\": "
    "1}}}},"
    " {\"name\": \"hand\", \"joint\": {\"type\": \"spherical\", \"viscous\": 0.1},"
    "  \"rigid\": {\"mass\": 1, \"com\": [0, 0.1, 0], \"inertia\": [0.1, 0.2, 0.3, 0, 0, 0]}}]}";

static const char *const files[] = {"resources/canadarm-spatial.json",
                                    "resources/chain-7.json",
                                    "resources/cibicik.json",
                                    "resources/crane.json",
                                    "resources/dualemps.json",
                                    "resources/four-bar.json",
                                    "resources/two-arms.json",
                                    "tests/data/good/actuators.json",
                                    "tests/data/good/nodal.json",
                                    "tests/data/good/prescribed.json",
                                    "tests/data/good/tree.json",
                                    "tests/data/good/f2-frames.json",
                                    "tests/data/good/f2-frames-nodal.json",
                                    "tests/data/good/f2-frames-loop.json",
                                    "tests/data/good/f3-couplings.json",
                                    "tests/data/good/f3-rigid-beam.json",
                                    NULL};

/* ---- robots at random states --------------------------------------------------------------------------------------------------- */

struct messages {
    int errors, warnings;
    char last[1024];
};

static void take_message(void *context, int level, const char *text)
{
    struct messages *messages = context;
    if (level == LIMBER_ERROR) messages->errors++;
    else messages->warnings++;
    strncpy(messages->last, text, sizeof messages->last - 1);
}

static double random_number(void)
{
    static unsigned long long state = 12345;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(state >> 11) * 0x1p-52 - 1;
}

static void fill(int count, double scale, double *x)
{
    for (int i = 0; i < count; i++) x[i] = scale * random_number();
}

/* Near the start, moving, loaded, its loops closed */
static void disturb(limber_robot *robot)
{
    double q[MOST], qd[MOST], dx[MOST], tau[MOST], wrench[6], acceleration[MOST], force[MOST];
    const int nv = limber_robot_nv(robot);
    limber_robot_set_state(robot, NULL, NULL);
    limber_robot_get_state(robot, q, NULL);
    fill(nv, 0.05, dx);
    for (int link = 0; link < limber_robot_links(robot); link++) {
        int first, count;
        limber_robot_range(robot, link, LIMBER_ELASTIC_VELOCITIES, &first, &count);
        fill(count, 0.002, dx + first);
    }
    limber_robot_move(robot, q, dx);
    fill(nv, 0.3, qd);
    fill(limber_robot_joint_forces(robot), 5, tau);
    fill(6, 3, wrench);
    fill(limber_robot_prescribed(robot), 0.5, acceleration);
    fill(limber_robot_actuators(robot), 100, force);
    CHECK(limber_robot_set_state(robot, q, qd) == 0);
    CHECK(limber_robot_set_joint_forces(robot, tau) == 0);
    CHECK(limber_robot_set_tip_wrench(robot, wrench) == 0);
    CHECK(limber_robot_set_prescribed_accelerations(robot, acceleration) == 0);
    CHECK(limber_robot_set_actuator_forces(robot, force) == 0);
    CHECK(limber_robot_close_loops(robot) == 0);
}

static void each_robot(void (*law)(limber_robot *robot))
{
    for (int i = -1; i < 0 || files[i] != NULL; i++) {
        struct messages messages = {0};
        limber_robot *robot = NULL;
        const int status = i < 0 ? limber_robot_parse("floating", floating, take_message, &messages, &robot)
                                 : limber_robot_read(files[i], take_message, &messages, &robot);
        const int failed = test_failed_checks;
        CHECK(status == 0);
        if (robot != NULL) {
            CHECK(limber_robot_nv(robot) <= limber_robot_nq(robot) && limber_robot_nq(robot) <= MOST);
            for (int k = 0; k < 3; k++) {
                disturb(robot);
                law(robot);
            }
        }
        if (test_failed_checks > failed) printf("    in %s: %s\n", i < 0 ? "floating" : files[i], messages.last);
        limber_robot_free(robot);
    }
}

/* A TEST of each of the robots at random states */
#define LAW(name)                               \
    static void name##_of(limber_robot *robot); \
    TEST(name)                                  \
    {                                           \
        each_robot(name##_of);                  \
    }                                           \
    static void name##_of(limber_robot *robot)

static double largest(int count, const double *x)
{
    double max = 0;
    for (int i = 0; i < count; i++) max = larger(max, fabs(x[i]));
    return max;
}

static double dot(int count, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += x[i] * y[i];
    return sum;
}

/* ---- dynamics -------------------------------------------------------------------------------------------------------------------- */

/* M qdd + h - J' wrench - B F = force, row by row; B' qd are the rates of the lines */
LAW(inverse_dynamics_is_linear_in_what_acts)
{
    static double M[MOST * MOST], J[6 * MOST];
    double qd[MOST], qdd[MOST], force[MOST], h[MOST], free_of_lines[MOST], rate[MOST], F[MOST], wrench[6], v[6];
    const int nv = limber_robot_nv(robot), tip = limber_robot_tip(robot), n = limber_robot_actuators(robot);
    fill(nv, 1, qdd);
    fill(6, 3, wrench);
    fill(n, 50, F);
    limber_robot_set_tip_wrench(robot, wrench);
    for (int i = 0; i < limber_robot_frames(robot); i++) limber_robot_set_frame_wrench(robot, i, wrench);
    limber_robot_set_actuator_forces(robot, NULL);
    CHECK(limber_robot_inverse(robot, qdd, free_of_lines) == 0);
    CHECK(limber_robot_mass_matrix(robot, M) == 0 && limber_robot_bias(robot, h) == 0);
    const double scale = largest(nv * nv, M) + largest(nv, h);
    for (int f = 0; f < limber_robot_frames(robot); f++) {
        CHECK(limber_robot_jacobian(robot, f, LIMBER_NAMED, J) == 0);
        for (int i = 0; i < nv; i++)
            for (int k = 0; k < 6; k++) h[i] -= J[nv * k + i] * wrench[k];
    }
    CHECK(limber_robot_jacobian(robot, tip, LIMBER_TIP, J) == 0);
    for (int i = 0; i < nv; i++) {
        double expected = dot(nv, M + nv * i, qdd) + h[i];
        for (int k = 0; k < 6; k++) expected -= J[nv * k + i] * wrench[k];
        CHECK_NEAR(free_of_lines[i], expected, 1e-11 * scale);
    }
    limber_robot_set_actuator_forces(robot, F);
    CHECK(limber_robot_inverse(robot, qdd, force) == 0);
    CHECK(limber_robot_actuator_lengths(robot, NULL, rate) == 0);
    limber_robot_get_state(robot, NULL, qd);
    CHECK_NEAR(dot(nv, free_of_lines, qd) - dot(nv, force, qd), dot(n, F, rate), 1e-10 * scale);
    CHECK(limber_robot_velocity(robot, tip, LIMBER_TIP, v, v + 3) == 0);
    for (int k = 0; k < 6; k++) CHECK_NEAR(dot(nv, J + nv * k, qd), v[k], 1e-12 * (1 + largest(6, v)));
}

/* The accelerations of the forward dynamics need the joint forces, nothing on elastic coordinates and passive joints */
LAW(inverse_undoes_forward_dynamics)
{
    double qdd[MOST], force[MOST], tau[MOST];
    const int nv = limber_robot_nv(robot);
    fill(limber_robot_joint_forces(robot), 5, tau);
    limber_robot_set_joint_forces(robot, tau);
    CHECK(limber_robot_forward(robot, qdd) == 0 && limber_robot_inverse(robot, qdd, force) == 0);
    if (limber_robot_constraints(robot) > 0) return;
    for (int link = 0; link < limber_robot_links(robot); link++) {
        int elastic, m, joint, n, of_tau, n_tau, of_prescribed, n_prescribed;
        limber_robot_range(robot, link, LIMBER_ELASTIC_VELOCITIES, &elastic, &m);
        limber_robot_range(robot, link, LIMBER_JOINT_VELOCITIES, &joint, &n);
        limber_robot_range(robot, link, LIMBER_JOINT_FORCES, &of_tau, &n_tau);
        limber_robot_range(robot, link, LIMBER_PRESCRIBED, &of_prescribed, &n_prescribed);
        CHECK(n_tau == n);
        double off = largest(m, force + elastic);
        for (int k = 0; k < n && n_prescribed == 0; k++)
            off = larger(off, fmin(fabs(force[joint + k] - tau[of_tau + k]), fabs(force[joint + k])));
        CHECK_NEAR(off, 0, 1e-8 * (1 + largest(nv, force)));
    }
}

/* The state at t of the motion from q, qd with the acceleration qdd */
static void go(limber_robot *robot, const double *q, const double *qd, const double *qdd, double t)
{
    double moved[MOST], rates[MOST], dx[MOST];
    memcpy(moved, q, sizeof moved);
    for (int i = 0; i < limber_robot_nv(robot); i++) {
        dx[i] = t * qd[i] + 0.5 * t * t * qdd[i];
        rates[i] = qd[i] + t * qdd[i];
    }
    limber_robot_move(robot, moved, dx);
    limber_robot_set_state(robot, moved, rates);
}

/* Loops stay closed: gaps and their rates are zero, and their second derivatives in a step along the motion */
LAW(loops_stay_closed_along_the_motion)
{
    double q[MOST], qd[MOST], qdd[MOST], gap[MOST], rate[MOST], lambda[MOST];
    const int nv = limber_robot_nv(robot), n = limber_robot_constraints(robot);
    const double h = 1e-4;
    if (n == 0) return;
    CHECK(limber_robot_gaps(robot, gap, rate) == 0);
    CHECK(largest(n, gap) < 1e-9 && largest(n, rate) < 1e-9);
    CHECK(limber_robot_multipliers(robot, lambda) == 0 && largest(n, lambda) > 0);
    CHECK(limber_robot_forward(robot, qdd) == 0);
    limber_robot_get_state(robot, q, qd);
    go(robot, q, qd, qdd, h);
    CHECK(limber_robot_gaps(robot, gap, rate) == 0);
    CHECK(largest(n, rate) < 1e-3 * h * largest(nv, qdd) + 1e-6);
}

/* Rigid ones have the multipliers, and no gap */
LAW(couplings_have_their_forces)
{
    double force[MOST], gap[MOST], lambda[MOST];
    const int count = limber_robot_couplings(robot);
    CHECK(limber_robot_coupling_name(robot, count) == NULL && limber_robot_coupling_name(robot, -1) == NULL);
    CHECK(limber_robot_coupling_forces(robot, force, gap) == 0 && limber_robot_multipliers(robot, lambda) == 0);
    for (int i = 0, row = limber_robot_constraints(robot) - 1; i < count; i++) {
        CHECK(strlen(limber_robot_coupling_name(robot, i)) > 0);
        if (i == 0) CHECK(force[i] == lambda[row] && gap[i] == 0); /* of these robots the first is the rigid one */
        else CHECK(gap[i] != 0 && isfinite(force[i]));
    }
}

/* ---- derivatives: central differences ------------------------------------------------------------------------------------------------ */

/* In a random direction of positions, velocities and joint forces; of a robot with loops, which positions and velocities would leave,
   of forces alone */
LAW(derivatives_agree_with_differences)
{
    static double by_q[MOST * MOST], by_qd[MOST * MOST], by_force[MOST * MOST];
    double q[MOST], qd[MOST], tau[MOST], qdd[MOST], again[MOST], dq[MOST], dqd[MOST], dtau[MOST], end[2][MOST];
    const int nv = limber_robot_nv(robot), n = limber_robot_joint_forces(robot);
    const bool closed = limber_robot_constraints(robot) > 0;
    const double h = 1e-5;
    limber_robot_get_state(robot, q, qd);
    fill(n, 5, tau), fill(n, 100, dtau);
    fill(nv, closed ? 0 : 1, dq), fill(nv, closed ? 0 : 1, dqd);
    limber_robot_set_joint_forces(robot, tau);
    CHECK(limber_robot_forward(robot, again) == 0);
    CHECK(limber_robot_forward_derivatives(robot, qdd, NULL, NULL, NULL) == 0);
    for (int i = 0; i < nv; i++) CHECK(qdd[i] == again[i]);
    for (int inverse = 0; inverse <= !closed; inverse++) {
        CHECK((inverse ? limber_robot_inverse_derivatives(robot, qdd, by_q, by_qd)
                       : limber_robot_forward_derivatives(robot, NULL, by_q, by_qd, by_force)) == 0);
        for (int side = 0; side < 2; side++) {
            const double t = side == 0 ? -h : h;
            double moved[MOST], rates[MOST], forces[MOST], dx[MOST];
            memcpy(moved, q, sizeof moved);
            for (int i = 0; i < nv; i++) dx[i] = t * dq[i], rates[i] = qd[i] + t * dqd[i];
            for (int i = 0; i < n; i++) forces[i] = tau[i] + t * dtau[i];
            limber_robot_move(robot, moved, dx);
            limber_robot_set_state(robot, moved, rates);
            limber_robot_set_joint_forces(robot, forces);
            CHECK((inverse ? limber_robot_inverse(robot, qdd, end[side]) : limber_robot_forward(robot, end[side])) ==
                  0);
        }
        limber_robot_set_state(robot, q, qd);
        limber_robot_set_joint_forces(robot, tau);
        const double scale = 1 + largest(nv * nv, by_q) + largest(nv * nv, by_qd) + 100 * largest(nv * n, by_force);
        for (int i = 0; i < nv; i++) {
            const double change = dot(nv, by_q + nv * i, dq) + dot(nv, by_qd + nv * i, dqd) +
                                  (inverse ? 0 : dot(n, by_force + n * i, dtau));
            CHECK_NEAR(change, (end[1][i] - end[0][i]) / (2 * h), 1e-6 * scale);
        }
    }
}

/* ---- frames and energy -------------------------------------------------------------------------------------------------------------- */

/* Links, each with a hinge and a tip frame, or named frames */
static int count_frames(const limber_robot *robot, int frame)
{
    return frame == LIMBER_NAMED ? limber_robot_frames(robot) : limber_robot_links(robot);
}

/* Positions move with v, velocities with a; both frames of every link, and the named ones */
LAW(frames_move_as_they_say)
{
    double q[MOST], qd[MOST], qdd[MOST];
    const double h = 1e-5;
    limber_robot_get_state(robot, q, qd);
    fill(limber_robot_nv(robot), 1, qdd);
    for (int frame = LIMBER_HINGE; frame <= LIMBER_NAMED; frame++)
        for (int link = 0; link < count_frames(robot, frame); link++) {
            double R[9], p[2][3], v[2][3], omega[2][3], v0[3], a[3], alpha[3];
            go(robot, q, qd, qdd, 0);
            CHECK(limber_robot_pose(robot, link, frame, NULL, R) == 0);
            CHECK(limber_robot_velocity(robot, link, frame, NULL, v0) == 0);
            CHECK(limber_robot_acceleration(robot, link, frame, qdd, alpha, a) == 0);
            for (int k = 0; k < 3; k++) CHECK_NEAR(R[k] * R[k] + R[3 + k] * R[3 + k] + R[6 + k] * R[6 + k], 1, 1e-12);
            for (int side = 0; side < 2; side++) {
                go(robot, q, qd, qdd, side == 0 ? -h : h);
                limber_robot_pose(robot, link, frame, p[side], NULL);
                limber_robot_velocity(robot, link, frame, omega[side], v[side]);
            }
            for (int k = 0; k < 3; k++) {
                CHECK_NEAR((p[1][k] - p[0][k]) / (2 * h), v0[k], 1e-7 * (1 + largest(3, v0)));
                CHECK_NEAR((v[1][k] - v[0][k]) / (2 * h), a[k], 1e-6 * (1 + largest(3, a)));
                CHECK_NEAR((omega[1][k] - omega[0][k]) / (2 * h), alpha[k], 1e-6 * (1 + largest(3, alpha)));
            }
        }
    limber_robot_set_state(robot, q, qd);
}

LAW(kinetic_energy_is_half_qd_M_qd)
{
    static double M[MOST * MOST];
    double qd[MOST], kinetic, expected = 0;
    const int nv = limber_robot_nv(robot);
    limber_robot_get_state(robot, NULL, qd);
    limber_robot_set_state(robot, NULL, qd); /* nothing is computed of it */
    CHECK(limber_robot_energy(robot, &kinetic, NULL, NULL) == 0);
    limber_robot_mass_matrix(robot, M);
    for (int i = 0; i < nv; i++) expected += 0.5 * qd[i] * dot(nv, M + nv * i, qd);
    CHECK_NEAR(kinetic, expected, 1e-11 * expected);
}

/* ---- failures ------------------------------------------------------------------------------------------------------------------------ */

TEST(a_bad_file_is_reported)
{
    struct messages messages = {0};
    limber_robot *robot = (limber_robot *)&messages;
    CHECK(limber_robot_read("no/such/robot.json", take_message, &messages, &robot) == LIMBER_NO_FILE);
    CHECK(robot == NULL && messages.errors == 1 && strstr(messages.last, "no/such/robot.json") != NULL);
    CHECK(limber_robot_parse("text", "{\"format\": \"limber-robot/1\"}", take_message, &messages, &robot) ==
          LIMBER_BAD_ROBOT);
    CHECK(robot == NULL && messages.errors > 1 && strstr(messages.last, "text: ") != NULL);
    CHECK(limber_robot_parse("text", "{", NULL, NULL, &robot) == LIMBER_BAD_ROBOT && robot == NULL);
    CHECK(limber_robot_parse(NULL, "{", NULL, NULL, &robot) == LIMBER_BAD_ARGUMENT);
    CHECK(limber_robot_parse("text", "{", NULL, NULL, NULL) == LIMBER_BAD_ARGUMENT);
    limber_robot_free(NULL);
}

TEST(bad_arguments_are_refused)
{
    struct messages messages = {0};
    limber_robot *robot;
    double q[MOST], before[MOST], x[9];
    int first, count;
    CHECK(limber_robot_parse("floating", floating, take_message, &messages, &robot) == 0);
    limber_robot_get_state(robot, before, NULL);
    memcpy(q, before, sizeof q);
    q[0] = NAN;
    CHECK(limber_robot_set_state(robot, q, NULL) == LIMBER_BAD_ARGUMENT && messages.errors == 1);
    memcpy(q, before, sizeof q);
    q[3] = 0;
    CHECK(limber_robot_set_state(robot, q, NULL) == LIMBER_BAD_ARGUMENT && strstr(messages.last, "'ship'") != NULL);
    limber_robot_get_state(robot, q, NULL);
    CHECK(memcmp(q, before, (size_t)limber_robot_nq(robot) * sizeof *q) == 0);
    x[5] = INFINITY;
    CHECK(limber_robot_set_tip_wrench(robot, x) == LIMBER_BAD_ARGUMENT);
    CHECK(limber_robot_pose(robot, 3, LIMBER_TIP, x, NULL) == LIMBER_BAD_ARGUMENT);
    CHECK(limber_robot_pose(robot, 0, 3, x, NULL) == LIMBER_BAD_ARGUMENT);
    CHECK(limber_robot_pose(robot, 0, LIMBER_NAMED, x, NULL) == LIMBER_BAD_ARGUMENT); /* it has none */
    CHECK(limber_robot_forward(robot, NULL) == LIMBER_BAD_ARGUMENT);
    CHECK(limber_robot_range(robot, -1, LIMBER_JOINT_POSITIONS, &first, &count) == LIMBER_BAD_ARGUMENT);
    CHECK(limber_robot_range(robot, 0, 99, &first, &count) == LIMBER_BAD_ARGUMENT);
    CHECK(limber_robot_range(robot, 0, LIMBER_CONSTRAINTS, &first, &count) == LIMBER_BAD_ARGUMENT);
    CHECK(limber_robot_link_name(robot, 3) == NULL && limber_robot_find_link(robot, "ship") == 0);
    CHECK(limber_robot_find_link(robot, "boat") == LIMBER_NO_NAME && limber_robot_parent(robot, 0) == -1);
    limber_robot_free(robot);
}

TEST(every_status_has_a_text)
{
    static const int codes[] = {0, 1, 3, LIMBER_BAD_ROBOT, LIMBER_BAD_ARGUMENT, LIMBER_BAD_CALL, LIMBER_NO_NAME, 12345};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) CHECK(strlen(limber_status_text(codes[i])) > 0);
    CHECK(strcmp(limber_version(), LIMBER_VERSION) == 0);
}

SUITE(main)
