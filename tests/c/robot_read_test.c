/* What robot_read_text() makes of a document: defaults, derived numbers, frames, references. The words for bad files are tested
   by tests/py/test_robot_file.py. */
#include <locale.h>
#include <string.h>

#include "math/vec.h"
#include "robot/robot.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

static struct robot *read_text(const char *text)
{
    struct report silent = {.line = NULL};
    struct robot *robot;
    const enum status status = robot_read_text("test", text, &robot, &silent);
    CHECK((status == STATUS_OK) == (robot != NULL));
    CHECK((status == STATUS_OK) == (silent.errors == 0));
    return robot;
}

/* A robot of one link with these members. */
static struct robot *read_link(const char *members)
{
    char text[2048];
    snprintf(text, sizeof text, "{\"format\": \"limber-robot/1\", \"name\": \"r\", \"links\": [{\"name\": \"a\", %s}]}",
             members);
    struct robot *robot = read_text(text);
    CHECK(robot != NULL);
    return robot;
}

static struct beam read_beam_with_section(const char *section)
{
    char members[1024];
    snprintf(members, sizeof members,
             "\"joint\": {\"type\": \"fixed\"}, \"beam\": {\"length\": 1, \"modes\": {}, "
             "\"material\": {\"E\": 200, \"G\": 80, \"density\": 3}, \"section\": %s}",
             section);
    struct robot *robot = read_link(members);
    const struct beam beam = robot->link[0].beam;
    robot_free(robot);
    return beam;
}

static void check_vector(int n, const double *got, const double *want, double tolerance)
{
    for (int i = 0; i < n; i++) CHECK_NEAR(got[i], want[i], tolerance);
}

/* ---- defaults ---------------------------------------------------------------------------------------------------- */

TEST(what_is_absent_is_as_documented)
{
    static const double zero[6] = {0}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, z[3] = {0, 0, 1};
    struct robot *robot = read_link("\"joint\": {\"type\": \"revolute\"}, \"rigid\": {\"mass\": 2}");
    const struct link *link = &robot->link[0];
    const struct joint *joint = &link->joint;
    CHECK(robot->elastic_terms == TERMS_FULL && robot->tip == 0 && strcmp(robot->description, "") == 0);
    CHECK(robot->n_loops == 0 && robot->n_actuators == 0);
    CHECK(link->parent == -1 && strcmp(joint->name, "a") == 0);
    CHECK(!joint->passive && !joint->prescribed && !joint->number[0].has_limits && joint->given == 0);
    CHECK(!link->has_hub && !link->has_payload && link_modes(link) == 0 && joint_moves(joint));
    check_vector(3, robot->gravity, zero, 0);
    check_vector(3, joint->axis, z, 0);
    check_vector(3, joint->origin.p, zero, 0);
    check_vector(9, joint->origin.R, identity, 0);
    check_vector(3, link->rigid_tip.p, zero, 0);
    check_vector(9, link->rigid_tip.R, identity, 0);
    check_vector(6, link->rigid.inertia, zero, 0);
    CHECK_NEAR(joint->number[0].coulomb_velocity, 1e-3, 0);
    robot_free(robot);
}

TEST(counts_of_hermite_and_linear_may_be_left_out)
{
    struct robot *robot =
        read_link("\"joint\": {\"type\": \"fixed\"}, \"beam\": {\"length\": 1, \"mass_per_length\": 1, "
                  "\"EIz\": 1, \"EA\": 0, \"GJ\": 2, \"inertia_per_length\": [1, 0, 0], "
                  "\"modes\": {\"y\": {\"shape\": \"hermite\"}, \"twist\": {\"shape\": \"linear\"}}}");
    const struct beam *beam = &robot->link[0].beam;
    CHECK(beam->family[FAMILY_Y].count == 2 && beam->family[FAMILY_TWIST].count == 1);
    CHECK(beam->family[FAMILY_Z].count == 0 && beam->family[FAMILY_AXIAL].count == 0);
    CHECK(link_modes(&robot->link[0]) == 3);
    CHECK(beam->given ==
          (GIVEN_LENGTH | GIVEN_MASS_PER_LENGTH | GIVEN_EIZ | GIVEN_EA | GIVEN_GJ)); /* zero is given too */
    robot_free(robot);
}

TEST(limits_may_be_one_sided)
{
    struct robot *robot = read_link("\"joint\": {\"type\": \"revolute\", \"limits\": {\"upper\": 2}, \"rest\": 0}, "
                                    "\"rigid\": {\"mass\": 1}");
    const struct joint *joint = &robot->link[0].joint;
    CHECK(joint->number[0].has_limits && joint->number[0].limits.lower == -INFINITY);
    CHECK_NEAR(joint->number[0].limits.upper, 2, 0);
    CHECK_NEAR(joint->number[0].limits.depth, 1e-3, 0);
    CHECK(joint->given == GIVEN_REST);
    robot_free(robot);
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

/* Whatever the section: EA/E = A, inertia = density times second moments, and E, G, density as given. */
static void check_section(const char *section, double A, double Iy, double Iz, double J)
{
    const struct beam beam = read_beam_with_section(section);
    const double inertia[3] = {3 * (Iy + Iz), 3 * Iy, 3 * Iz};
    CHECK_NEAR(beam.EA, 200 * A, 1e-13 * 200 * A);
    CHECK_NEAR(beam.mass_per_length, 3 * A, 1e-13 * 3 * A);
    CHECK_NEAR(beam.EIy, 200 * Iy, 1e-13 * 200 * Iy);
    CHECK_NEAR(beam.EIz, 200 * Iz, 1e-13 * 200 * Iz);
    CHECK_NEAR(beam.GJ, 80 * J, 1e-9 * 80 * J);
    check_vector(3, beam.inertia_per_length, inertia, 1e-12 * inertia[0]);
    CHECK(beam.given == GIVEN_LENGTH); /* derived numbers are no parameters */
}

TEST(sections_have_their_textbook_numbers)
{
    const double ring_I = PI / 64 * (16 - 1);
    check_section("{\"shape\": \"tube\", \"outer_diameter\": 2, \"wall\": 0.5}", PI * 0.75, ring_I, ring_I, 2 * ring_I);
    check_section("{\"shape\": \"round\", \"diameter\": 2}", PI, PI / 4, PI / 4, PI / 2);
    check_section("{\"shape\": \"box\", \"width\": 2, \"height\": 4, \"wall\": 0.5}", 8 - 1 * 3, (2 * 64 - 27) / 12.0,
                  (4 * 8 - 3) / 12.0, 4 * pow(1.5 * 3.5, 2) * 0.5 / 10);
    /* J/(a b^3) of rectangles, Timoshenko and Goodier's table 0.141 and 0.229, to more digits */
    check_section("{\"shape\": \"rectangle\", \"width\": 1, \"height\": 1}", 1, 1 / 12.0, 1 / 12.0, 0.14057701495515);
    check_section("{\"shape\": \"rectangle\", \"width\": 1, \"height\": 2}", 2, 8 / 12.0, 2 / 12.0,
                  2 * 0.2286816771196);
}

TEST(width_and_height_exchange_y_and_z)
{
    const struct beam flat = read_beam_with_section("{\"shape\": \"rectangle\", \"width\": 3, \"height\": 0.5}");
    const struct beam tall = read_beam_with_section("{\"shape\": \"rectangle\", \"width\": 0.5, \"height\": 3}");
    CHECK_NEAR(flat.EIy, tall.EIz, 1e-12 * flat.EIy);
    CHECK_NEAR(flat.EIz, tall.EIy, 1e-12 * flat.EIz);
    CHECK_NEAR(flat.GJ, tall.GJ, 1e-12 * flat.GJ);
    CHECK(flat.EIz > flat.EIy); /* wide along y: stiff along y */
}

TEST(thin_strip_twists_like_a_third)
{
    const struct beam strip = read_beam_with_section("{\"shape\": \"rectangle\", \"width\": 1000, \"height\": 1}");
    CHECK_NEAR(strip.GJ / 80 / 1000, (1 - 0.630249 / 1000) / 3, 1e-9); /* a b^3/3 (1 - 0.630 b/a) */
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

TEST(dh_is_the_product_of_four_motions)
{
    struct robot *robot =
        read_link("\"joint\": {\"type\": \"revolute\", \"dh\": {\"a\": 0.3, \"alpha\": 0.7, \"d\": -0.2, "
                  "\"theta\": 1.9}}, \"rigid\": {\"mass\": 1}");
    const struct pose *origin = &robot->link[0].joint.origin;
    const double c = cos(0.7), s = sin(0.7), ct = cos(1.9), st = sin(1.9);
    const double Rx[9] = {1, 0, 0, 0, c, -s, 0, s, c}, Rz[9] = {ct, -st, 0, st, ct, 0, 0, 0, 1};
    const double d[3] = {0, 0, -0.2};
    double R[9], p[3];
    matmul3(Rx, Rz, R);
    mul3(R, d, p);
    p[0] += 0.3; /* Rx leaves (a, 0, 0) alone */
    check_vector(9, origin->R, R, 1e-15);
    check_vector(3, origin->p, p, 1e-15);
    robot_free(robot);
}

TEST(axis_is_normalised_at_any_scale)
{
    static const char *const scales[] = {"1e-200", "1", "1e200"};
    for (int i = 0; i < 3; i++) {
        char members[256];
        snprintf(members, sizeof members,
                 "\"joint\": {\"type\": \"revolute\", \"axis\": [%s, 0, -%s]}, \"rigid\": {\"mass\": 1}", scales[i],
                 scales[i]);
        struct robot *robot = read_link(members);
        const double want[3] = {sqrt(0.5), 0, -sqrt(0.5)};
        check_vector(3, robot->link[0].joint.axis, want, 1e-15);
        robot_free(robot);
    }
}

/* ---- references -------------------------------------------------------------------------------------------------- */

TEST(names_become_indices)
{
    struct robot *robot = read_text(
        "{\"format\": \"limber-robot/1\", \"name\": \"r\", \"tip\": \"b\", \"links\": ["
        "{\"name\": \"a\", \"joint\": {\"type\": \"fixed\"}, \"rigid\": {\"mass\": 1}},"
        "{\"name\": \"b\", \"joint\": {\"type\": \"fixed\"}, \"rigid\": {\"mass\": 1}},"
        "{\"name\": \"c\", \"parent\": \"a\", \"joint\": {\"type\": \"fixed\"}, \"rigid\": {\"mass\": 1}}],"
        "\"loops\": [{\"name\": \"l\", \"type\": \"planar-pin\", \"plane\": [[3, 0, 0], [0, 0, -2]], \"between\": "
        "[\"c\", \"b\"]}],"
        "\"actuators\": [{\"name\": \"f\", \"type\": \"line\", \"from\": {\"link\": \"world\", \"xyz\": [1, 2, 3]},"
        "\"to\": {\"link\": \"c\", \"frame\": \"hinge\", \"xyz\": [0, 0, 0]}}]}");
    static const double x[3] = {1, 0, 0}, minus_z[3] = {0, 0, -1};
    CHECK(robot->link[0].parent == -1 && robot->link[1].parent == 0 && robot->link[2].parent == 0);
    CHECK(robot->tip == 1);
    CHECK(robot->loop[0].type == LOOP_PLANAR_PIN && robot->loop[0].between[0] == 2 && robot->loop[0].between[1] == 1);
    check_vector(3, robot->loop[0].plane[0], x, 0);
    check_vector(3, robot->loop[0].plane[1], minus_z, 0);
    CHECK(robot->actuator[0].from.link == -1 && robot->actuator[0].from.frame == POINT_WORLD);
    CHECK(robot->actuator[0].to.link == 2 && robot->actuator[0].to.frame == POINT_HINGE);
    robot_free(robot);
}

/* ---- surroundings ------------------------------------------------------------------------------------------------ */

/* ---- format 2 ------------------------------------------------------------------------------------------------------ */

/* A robot of one rigid link with this joint; NULL where it is refused */
static struct robot *read_joint(int format, const char *joint)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"format\": \"limber-robot/%d\", \"name\": \"r\", \"links\": [{\"name\": \"a\", \"joint\": {%s}, "
             "\"rigid\": {\"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, 0]}}]}",
             format, joint);
    return read_text(text);
}

/* One value for both coordinates, or an array of two; limits null for none */
TEST(numbers_of_two_coordinates)
{
    struct robot *robot = read_joint(2, "\"type\": \"cylindrical\", \"viscous\": 3, \"stiffness\": [1, 2], \"rest\": "
                                        "[0.1, 0.2], \"start\": {\"position\": [0.3, 0.4], \"velocity\": [5, 6]}, "
                                        "\"limits\": [null, {\"upper\": 7, \"stiffness\": 8}]");
    CHECK(robot != NULL);
    const struct joint *joint = &robot->link[0].joint;
    for (int k = 0; k < 2; k++) {
        CHECK_NEAR(joint->number[k].viscous, 3, 0);
        CHECK_NEAR(joint->number[k].stiffness, 1 + k, 0);
        CHECK_NEAR(joint->number[k].rest, 0.1 + 0.1 * k, 0);
        CHECK_NEAR(joint->start_position[k], k == 0 ? 0.3 : 0.4, 0);
        CHECK_NEAR(joint->start_velocity[k], 5 + k, 0);
        CHECK_NEAR(joint->number[k].coulomb_velocity, 1e-3, 0);
    }
    CHECK(!joint->number[0].has_limits && joint->number[1].has_limits);
    CHECK_NEAR(joint->number[1].limits.upper, 7, 0);
    CHECK(joint->given == (GIVEN_VISCOUS | GIVEN_STIFFNESS | GIVEN_REST));
    robot_free(robot);
}

TEST(both_axes_of_a_universal_joint_are_normalized)
{
    static const double x[3] = {1, 0, 0}, yz[3] = {0, 0.6, 0.8};
    struct robot *robot =
        read_joint(2, "\"type\": \"universal\", \"axis\": [7, 0, 0], \"axis2\": [0, 3, 4], \"limits\": "
                      "{\"lower\": -1, \"stiffness\": 2}");
    CHECK(robot != NULL);
    check_vector(3, robot->link[0].joint.axis, x, 1e-16);
    check_vector(3, robot->link[0].joint.axis2, yz, 1e-16);
    for (int k = 0; k < 2; k++) CHECK_NEAR(robot->link[0].joint.number[k].limits.lower, -1, 0);
    robot_free(robot);
}

/* An absent quaternion is 1, 0, 0, 0; one of a norm near 1 is normalized */
TEST(quaternions_of_the_start)
{
    static const double rest[7] = {0, 0, 0, 1, 0, 0, 0}, given[7] = {1, 2, 3, 0.6, 0, 0.8, 0};
    struct robot *robot = read_joint(2, "\"type\": \"free\"");
    check_vector(7, robot->link[0].joint.start_position, rest, 0);
    robot_free(robot);
    robot = read_joint(2, "\"type\": \"free\", \"start\": {\"position\": [1, 2, 3, 0.6003, 0, 0.8004, 0]}");
    check_vector(7, robot->link[0].joint.start_position, given, 1e-15);
    robot_free(robot);
}

TEST(what_a_joint_cannot_have_is_refused)
{
    static const char *const refused[] = {
        "\"type\": \"universal\"", /* both axes are required */
        "\"type\": \"universal\", \"axis\": [0, 1, 0]",
        "\"type\": \"universal\", \"axis\": [0, 1, 0], \"axis2\": [0, -2, 0]", /* parallel */
        "\"type\": \"cylindrical\", \"axis2\": [0, 1, 0]",
        "\"type\": \"cylindrical\", \"viscous\": [1, 2, 3]",
        "\"type\": \"cylindrical\", \"start\": {\"position\": 1}",
        "\"type\": \"cylindrical\", \"dh\": {\"a\": 1}",
        "\"type\": \"spherical\", \"motion\": \"prescribed\"",
        "\"type\": \"spherical\", \"coulomb\": 1",
        "\"type\": \"spherical\", \"motor_inertia\": 1",
        "\"type\": \"spherical\", \"limits\": {\"upper\": 1, \"stiffness\": 1}",
        "\"type\": \"spherical\", \"start\": {\"position\": [1.01, 0, 0, 0]}", /* norm not within 1e-3 of 1 */
        "\"type\": \"spherical\", \"start\": {\"position\": [0, 0, 0]}",
        "\"type\": \"free\", \"viscous\": 1",
        "\"type\": \"free\", \"stiffness\": 1",
        "\"type\": \"free\", \"motion\": \"prescribed\"",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct robot *robot = read_joint(2, refused[i]);
        if (robot != NULL) printf("     accepted: %s\n", refused[i]);
        CHECK(robot == NULL);
        robot_free(robot);
    }
}

TEST(format_1_has_no_joints_of_format_2)
{
    static const char *const joint[] = {"\"type\": \"universal\", \"axis\": [1, 0, 0], \"axis2\": [0, 1, 0]",
                                        "\"type\": \"cylindrical\"", "\"type\": \"spherical\"", "\"type\": \"free\""};
    for (size_t i = 0; i < sizeof joint / sizeof joint[0]; i++) {
        struct robot *fine = read_joint(2, joint[i]), *robot = read_joint(1, joint[i]);
        CHECK(fine != NULL && robot == NULL);
        robot_free(fine);
        robot_free(robot);
    }
}

TEST(decimal_comma_in_the_locale_changes_nothing)
{
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "de_DE", "fr_FR"};
    for (int i = 0; i < 6 && setlocale(LC_NUMERIC, locales[i]) == NULL; i++) continue; /* whichever is installed */
    struct robot *robot = read_link("\"joint\": {\"type\": \"fixed\"}, \"rigid\": {\"mass\": 2.5}");
    CHECK_NEAR(robot->link[0].rigid.mass, 2.5, 0);
    setlocale(LC_NUMERIC, "C");
    robot_free(robot);
}

static void count_line(void *lines, enum report_level level, const char *text)
{
    (void)level;
    CHECK(strncmp(text, "some file: ", 11) == 0);
    ++*(int *)lines;
}

TEST(every_error_is_reported_and_no_robot_is_left)
{
    int lines = 0;
    struct report report = {.line = count_line, .context = &lines};
    struct robot *robot;
    CHECK(robot_read_text("some file", "{\"links\": 3, \"x\": 1}", &robot, &report) == STATUS_BAD_ROBOT);
    CHECK(robot == NULL && report.errors == 4 && lines == 4); /* format, name, links, x */
    CHECK(robot_read_text("some file", "{\"links\": ", &robot, &report) == STATUS_BAD_ROBOT);
    CHECK(robot == NULL && report.errors == 5);
    robot_free(robot);
}

int main(void)
{
    RUN(what_is_absent_is_as_documented);
    RUN(counts_of_hermite_and_linear_may_be_left_out);
    RUN(limits_may_be_one_sided);
    RUN(sections_have_their_textbook_numbers);
    RUN(width_and_height_exchange_y_and_z);
    RUN(thin_strip_twists_like_a_third);
    RUN(dh_is_the_product_of_four_motions);
    RUN(axis_is_normalised_at_any_scale);
    RUN(names_become_indices);
    RUN(numbers_of_two_coordinates);
    RUN(both_axes_of_a_universal_joint_are_normalized);
    RUN(quaternions_of_the_start);
    RUN(what_a_joint_cannot_have_is_refused);
    RUN(format_1_has_no_joints_of_format_2);
    RUN(decimal_comma_in_the_locale_changes_nothing);
    RUN(every_error_is_reported_and_no_robot_is_left);
    return test_summary();
}
