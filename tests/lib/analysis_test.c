/* Parameters, static equilibrium, linearization and modes through limber.h alone. */
#include <limber.h>
#include <string.h>

#include "test.h"

enum { MOST = 128 };

static char message[1024];

static void keep_message(void *context, int level, const char *text)
{
    (void)context, (void)level;
    strncpy(message, text, sizeof message - 1);
}

static limber_robot *load(const char *file)
{
    limber_robot *robot = NULL;
    CHECK(limber_robot_read(file, keep_message, NULL, &robot) == LIMBER_OK);
    return robot;
}

static double largest(int count, const double *x)
{
    double max = 0;
    for (int i = 0; i < count; i++) max = larger(max, fabs(x[i]));
    return max;
}

/* ---- parameters and names -------------------------------------------------------------------------------------------- */

TEST(coordinates_have_names_and_units)
{
    static const char *const files[] = {"resources/canadarm-spatial.json", "resources/crane.json",
                                        "tests/data/good/prescribed.json", "tests/data/good/f2-spherical.json"};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        limber_robot *robot = load(files[f]);
        for (int i = 0; i < limber_robot_nq(robot); i++)
            CHECK(limber_robot_position_name(robot, i) != NULL && limber_robot_position_unit(robot, i) != NULL);
        for (int i = 0; i < limber_robot_nv(robot); i++)
            CHECK(limber_robot_velocity_name(robot, i) != NULL && limber_robot_velocity_unit(robot, i) != NULL);
        CHECK(limber_robot_position_name(robot, limber_robot_nq(robot)) == NULL);
        limber_robot_free(robot);
    }
    limber_robot *robot = load("resources/canadarm.json");
    CHECK(strcmp(limber_robot_position_name(robot, 0), "upper_joint.q") == 0);
    CHECK(strcmp(limber_robot_velocity_unit(robot, 0), "rad/s") == 0);
    limber_robot_free(robot);
}

/* A heavier arm accelerates less; the old value gives the old numbers, bit for bit. Start values act when the robot goes to its start. */
TEST(parameters_act_at_once)
{
    double before[MOST], with[MOST], after[MOST], q[MOST], tau[MOST] = {10}, value;
    limber_robot *robot = load("resources/canadarm.json");
    const int nv = limber_robot_nv(robot);
    int length = -1;
    for (int i = 0; i < limber_robot_parameters(robot); i++) {
        const char *name = limber_robot_parameter_name(robot, i);
        CHECK(limber_robot_get_parameter(robot, name, &value) == LIMBER_OK);
        CHECK(strlen(limber_robot_parameter_description(robot, i)) > 0);
        if (length < 0 && strstr(name, ".mass_per_length") != NULL) length = i;
    }
    CHECK(length >= 0);
    const char *name = limber_robot_parameter_name(robot, length);
    limber_robot_get_parameter(robot, name, &value);
    limber_robot_set_joint_forces(robot, tau);
    CHECK(limber_robot_forward(robot, before) == LIMBER_OK);
    CHECK(limber_robot_set_parameter(robot, name, 10 * value) == LIMBER_OK);
    CHECK(limber_robot_forward(robot, with) == LIMBER_OK && fabs(with[0]) < fabs(before[0]));
    CHECK(limber_robot_set_parameter(robot, name, value) == LIMBER_OK);
    CHECK(limber_robot_forward(robot, after) == LIMBER_OK && memcmp(before, after, (size_t)nv * sizeof *after) == 0);
    CHECK(limber_robot_set_parameter(robot, "upper_joint.q_start", 0.75) == LIMBER_OK);
    limber_robot_get_state(robot, q, NULL);
    CHECK(q[0] != 0.75);
    CHECK(limber_robot_set_state(robot, NULL, NULL) == LIMBER_OK);
    limber_robot_get_state(robot, q, NULL);
    CHECK(q[0] == 0.75);
    limber_robot_free(robot);
}

/* Also what several parameters must fulfill together: of a tube, of a payload and of a frame at x = 0.8 m */
TEST(bad_parameters_change_nothing)
{
    static const char text[] =
        "{\"format\": \"limber-robot/2\", \"name\": \"boom\", \"links\": [{\"name\": \"boom\", \"joint\": {\"type\": "
        "\"revolute\"},"
        "\"beam\": {\"length\": 1, \"material\": {\"E\": 7e10, \"G\": 3e10, \"density\": 2700}, \"modes\": {\"y\": "
        "{\"shape\": \"hermite\"}},"
        "\"section\": {\"shape\": \"tube\", \"outer_diameter\": 0.04, \"wall\": 0.002}}, \"payload\": {\"mass\": 1}}],"
        "\"frames\": [{\"name\": \"hook\", \"link\": \"boom\", \"at\": 0.8}]}";
    static const struct {
        const char *name;
        double value;
        int status;
        const char *said;
    } bad[] = {{"gravity[9]", 1, LIMBER_NO_NAME, "gravity[9]"},
               {"gravity[3]", NAN, LIMBER_BAD_ROBOT, "finite"},
               {"boom.tau", 1, LIMBER_NO_NAME, "boom.tau"},
               {"boom.section.wall", 0.03, LIMBER_BAD_ROBOT, "less than half of the outer dimension 0.04"},
               {"boom.payload.inertia[4]", 1, LIMBER_BAD_ROBOT, "positive semidefinite"},
               {"boom.length", 0.7, LIMBER_BAD_ROBOT, "hook"}};
    limber_robot *robot;
    double before[MOST], after[MOST], tau[MOST] = {10}, value;
    CHECK(limber_robot_parse("boom", text, keep_message, NULL, &robot) == LIMBER_OK);
    limber_robot_set_joint_forces(robot, tau);
    CHECK(limber_robot_forward(robot, before) == LIMBER_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const names[] = {"gravity[2]", bad[i].name};
        const double values[] = {-9.81, bad[i].value};
        CHECK(limber_robot_set_parameters(robot, 2, names, values) == bad[i].status);
        CHECK(strstr(message, bad[i].said) != NULL);
        CHECK(limber_robot_set_parameter(robot, bad[i].name, bad[i].value) == bad[i].status);
        CHECK(limber_robot_get_parameter(robot, "gravity[2]", &value) == LIMBER_OK && value == 0);
    }
    CHECK(limber_robot_forward(robot, after) == LIMBER_OK);
    CHECK(memcmp(before, after, (size_t)limber_robot_nv(robot) * sizeof *after) == 0);
    limber_robot_free(robot);
}

/* ---- equilibrium ----------------------------------------------------------------------------------------------------- */

TEST(a_settled_robot_rests)
{
    static const char *const files[] = {"resources/cibicik.json", "resources/crane.json", "resources/chain-7.json"};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        double tau[MOST], qdd[MOST], force[MOST], moving[MOST];
        limber_robot *robot = load(files[f]);
        const int nv = limber_robot_nv(robot);
        CHECK(limber_robot_forward(robot, moving) == LIMBER_OK);
        CHECK(limber_robot_settle(robot, tau, force) == LIMBER_OK);
        CHECK(limber_robot_forward(robot, qdd) == LIMBER_OK);
        CHECK(largest(nv, qdd) < 1e-6 * (1 + largest(nv, moving)));
        limber_robot_free(robot);
    }
}

/* ---- linearization --------------------------------------------------------------------------------------------------- */

/* Of an open robot: rows of velocities in A are the derivatives of the forward dynamics */
TEST(linearization_has_the_derivatives_of_the_dynamics)
{
    static double by_q[MOST * MOST], by_qd[MOST * MOST];
    double qd[MOST];
    limber_robot *robot = load("resources/canadarm-spatial.json");
    limber_linear *linear = NULL;
    const int nv = limber_robot_nv(robot), n = 2 * nv;
    for (int i = 0; i < nv; i++) qd[i] = 0.01 * (i + 1);
    limber_robot_set_state(robot, NULL, qd);
    CHECK(limber_robot_linearize(robot, 0, &linear) == LIMBER_OK);
    CHECK(limber_linear_states(linear) == n);
    CHECK(limber_robot_forward_derivatives(robot, NULL, by_q, by_qd, NULL) == LIMBER_OK);
    const double *A = limber_linear_A(linear), scale = largest(nv * nv, by_q) + largest(nv * nv, by_qd);
    for (int i = 0; i < nv; i++) {
        CHECK(strcmp(limber_linear_state_name(linear, i), limber_robot_position_name(robot, i)) == 0);
        CHECK(strcmp(limber_linear_state_name(linear, nv + i), limber_robot_velocity_name(robot, i)) == 0);
        for (int j = 0; j < nv; j++) {
            CHECK_NEAR(A[n * (nv + i) + j], by_q[nv * i + j], 1e-11 * scale);
            CHECK_NEAR(A[n * (nv + i) + nv + j], by_qd[nv * i + j], 1e-11 * scale);
            CHECK(A[n * i + j] == 0 && A[n * i + nv + j] == (i == j));
        }
    }
    CHECK(limber_linear_inputs(linear) > 0 && limber_linear_outputs(linear) > 0);
    CHECK(limber_linear_B(linear) != NULL && limber_linear_C(linear) != NULL && limber_linear_D(linear) != NULL);
    CHECK(limber_linear_state_name(linear, n) == NULL && limber_linear_input_name(linear, -1) == NULL);
    limber_robot_free(robot); /* before the result */
    CHECK(limber_linear_output_name(linear, 0) != NULL);
    limber_linear_free(linear);
    limber_linear_free(NULL);
}

TEST(a_closed_robot_has_minimal_coordinates)
{
    limber_robot *robot = load("resources/four-bar.json");
    limber_linear *full = NULL, *minimal = NULL;
    CHECK(limber_robot_close_loops(robot) == LIMBER_OK);
    CHECK(limber_robot_linearize(robot, 0, &full) == LIMBER_OK);
    CHECK(limber_robot_linearize(robot, LIMBER_MINIMAL, &minimal) == LIMBER_OK);
    CHECK(limber_linear_states(minimal) < limber_linear_states(full));
    limber_linear_free(minimal);
    CHECK(limber_robot_linearize(robot, 8, &minimal) == LIMBER_BAD_ARGUMENT && minimal == NULL);
    limber_linear_free(full);
    limber_robot_free(robot);
}

/* ---- modes ----------------------------------------------------------------------------------------------------------- */

/* K phi = w^2 M phi of a robot at rest, K = d(inverse dynamics)/dq */
TEST(modes_solve_the_eigenvalue_problem)
{
    static double M[MOST * MOST], K[MOST * MOST];
    double phi[MOST];
    limber_robot *robot = load("resources/canadarm-spatial.json");
    limber_modes *modes = NULL;
    const int nv = limber_robot_nv(robot);
    CHECK(limber_robot_modes(robot, LIMBER_JOINTS_FREE, &modes) == LIMBER_OK && limber_modes_count(modes) == nv);
    CHECK(limber_robot_mass_matrix(robot, M) == LIMBER_OK);
    CHECK(limber_robot_inverse_derivatives(robot, NULL, K, NULL) == LIMBER_OK);
    for (int k = 0; k < nv; k++) {
        const double w = 2 * 3.14159265358979323846 * limber_modes_frequency(modes, k);
        CHECK(limber_modes_shape(modes, k, phi, NULL) == LIMBER_OK && largest(nv, phi) > 0);
        CHECK(k == 0 || limber_modes_frequency(modes, k) >= limber_modes_frequency(modes, k - 1));
        for (int i = 0; i < nv; i++) {
            double residual = 0, scale = 0;
            for (int j = 0; j < nv; j++) {
                residual += (K[nv * i + j] - w * w * M[nv * i + j]) * phi[j];
                scale += (fabs(K[nv * i + j]) + w * w * fabs(M[nv * i + j])) * largest(nv, phi);
            }
            CHECK_NEAR(residual, 0, 1e-6 * scale + 1e-6);
        }
    }
    CHECK(isnan(limber_modes_frequency(modes, nv)) && limber_modes_shape(modes, nv, phi, NULL) == LIMBER_BAD_ARGUMENT);
    limber_modes_free(modes);
    limber_modes_free(NULL);
    CHECK(limber_robot_modes(robot, 0, &modes) == LIMBER_OK && limber_modes_count(modes) < nv);
    limber_modes_free(modes);
    limber_robot_free(robot);
}

SUITE(main)
