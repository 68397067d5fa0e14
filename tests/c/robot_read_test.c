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
static struct robot *read_link_of_format(int format, const char *members)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"format\": \"limber-robot/%d\", \"name\": \"r\", \"links\": [{\"name\": \"a\", %s}]}", format, members);
    struct robot *robot = read_text(text);
    CHECK(robot != NULL && robot->format == format);
    return robot;
}

static struct robot *read_link(const char *members)
{
    return read_link_of_format(1, members);
}

/* A rigid link on a joint with these members, format 2. */
static struct robot *read_joint_members(const char *joint)
{
    char members[1024];
    snprintf(members, sizeof members, "\"joint\": {%s}, \"rigid\": {\"mass\": 1}", joint);
    return read_link_of_format(2, members);
}

/* Properties of a beam with this section, which has these flags beside those of length and material */
static struct beam_properties read_section_with(const char *section, unsigned given)
{
    char members[1024];
    snprintf(members, sizeof members,
             "\"joint\": {\"type\": \"fixed\"}, \"beam\": {\"length\": 1, \"modes\": {}, "
             "\"material\": {\"E\": 200, \"G\": 80, \"density\": 3}, \"section\": %s}",
             section);
    struct robot *robot = read_link(members);
    const struct beam_properties at = beam_at(&robot->link[0].beam, 0.5);
    CHECK(robot->link[0].beam.given == (GIVEN_LENGTH | GIVEN_MATERIAL | given)); /* derived numbers are no parameters */
    robot_free(robot);
    return at;
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
    CHECK(robot->n_loops == 0 && robot->n_lines == 0);
    CHECK(link->mount.link == -1 && strcmp(joint->name, "a") == 0);
    CHECK(!joint->passive && !joint->prescribed && !joint->number[0].has_limits && joint->given == 0);
    CHECK(!link->has_hub && !link->has_payload && robot_link_modes(link) == 0 && joint_moves(joint));
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
    CHECK(robot_link_modes(&robot->link[0]) == 3);
    CHECK(beam->given ==
          (GIVEN_LENGTH | GIVEN_MASS_PER_LENGTH | GIVEN_EIZ | GIVEN_EA | GIVEN_GJ)); /* zero is given too */
    robot_free(robot);
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

/* Whatever the section: EA/E = A, inertia = density times second moments, and E, G, density as given. */
static void check_section(const char *section, unsigned given, double A, double Iy, double Iz, double J)
{
    const struct beam_properties beam = read_section_with(section, given);
    const double inertia[3] = {3 * (Iy + Iz), 3 * Iy, 3 * Iz};
    CHECK_NEAR(beam.EA, 200 * A, 1e-13 * 200 * A);
    CHECK_NEAR(beam.mass_per_length, 3 * A, 1e-13 * 3 * A);
    CHECK_NEAR(beam.EIy, 200 * Iy, 1e-13 * 200 * Iy);
    CHECK_NEAR(beam.EIz, 200 * Iz, 1e-13 * 200 * Iz);
    CHECK_NEAR(beam.GJ, 80 * J, 1e-9 * 80 * J);
    check_vector(3, beam.inertia_per_length, inertia, 1e-12 * inertia[0]);
}

TEST(sections_have_their_textbook_numbers)
{
    const double ring_I = PI / 64 * (16 - 1);
    check_section("{\"shape\": \"tube\", \"outer_diameter\": 2, \"wall\": 0.5}", GIVEN_OUTER_DIAMETER | GIVEN_WALL,
                  PI * 0.75, ring_I, ring_I, 2 * ring_I);
    check_section("{\"shape\": \"round\", \"diameter\": 2}", GIVEN_DIAMETER, PI, PI / 4, PI / 4, PI / 2);
    check_section("{\"shape\": \"box\", \"width\": 2, \"height\": 4, \"wall\": 0.5}",
                  GIVEN_WIDTH | GIVEN_HEIGHT | GIVEN_WALL, 8 - 1 * 3, (2 * 64 - 27) / 12.0, (4 * 8 - 3) / 12.0,
                  4 * pow(1.5 * 3.5, 2) * 0.5 / 10);
    /* J/(a b^3) of rectangles, Timoshenko and Goodier's table 0.141 and 0.229, to more digits */
    check_section("{\"shape\": \"rectangle\", \"width\": 1, \"height\": 1}", GIVEN_WIDTH | GIVEN_HEIGHT, 1, 1 / 12.0,
                  1 / 12.0, 0.14057701495515);
    check_section("{\"shape\": \"rectangle\", \"width\": 1, \"height\": 2}", GIVEN_WIDTH | GIVEN_HEIGHT, 2, 8 / 12.0,
                  2 / 12.0, 2 * 0.2286816771196);
    check_section("{\"shape\": \"rectangle\", \"width\": 2, \"height\": 1}", GIVEN_WIDTH | GIVEN_HEIGHT, 2, 2 / 12.0,
                  8 / 12.0, 2 * 0.2286816771196);
    /* a b^3/3 (1 - 0.630 b/a) of a thin strip */
    check_section("{\"shape\": \"rectangle\", \"width\": 1000, \"height\": 1}", GIVEN_WIDTH | GIVEN_HEIGHT, 1000,
                  1000 / 12.0, 1e9 / 12, (1000 - 0.630249) / 3);
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
    CHECK(robot->link[0].mount.link == -1 && robot->link[1].mount.link == 0 && robot->link[2].mount.link == 0);
    CHECK(robot->tip == 1);
    CHECK(robot->loop[0].type == LOOP_PLANAR_PIN && robot->site[robot->loop[0].site].link == 2 &&
          robot->site[robot->loop[0].site + 1].link == 1);
    check_vector(3, robot->loop[0].plane[0], x, 0);
    check_vector(3, robot->loop[0].plane[1], minus_z, 0);
    CHECK(robot->site[robot->line[0].site].link == -1 && robot->site[robot->line[0].site].type == AT_WORLD);
    CHECK(robot->site[robot->line[0].site + 1].link == 2 && robot->site[robot->line[0].site + 1].type == AT_HINGE);
    robot_free(robot);
}

/* ---- format 2 ---------------------------------------------------------------------------------------------------- */

TEST(one_value_stands_for_both_coordinates)
{
    struct robot *robot = read_joint_members(
        "\"type\": \"universal\", \"axis\": [2, 0, 0], \"axis2\": [0, 0, -3], \"viscous\": 0.5, \"coulomb\": [1, 2], "
        "\"coulomb_velocity\": [0.1, 0.2], \"rest\": [0.3, -0.3], \"limits\": [null, {\"upper\": 1, \"stiffness\": "
        "7}], "
        "\"start\": {\"position\": [0.25, 0.75], \"velocity\": [-1, -2]}");
    const struct joint *joint = &robot->link[0].joint;
    const struct joint_numbers *first = &joint->number[0], *second = &joint->number[1];
    static const double x[3] = {1, 0, 0}, minus_z[3] = {0, 0, -1}, q[2] = {0.25, 0.75}, qd[2] = {-1, -2};
    CHECK(joint->type == JOINT_UNIVERSAL && joint_positions(joint) == 2 && joint_velocities(joint) == 2);
    CHECK(joint->given == (GIVEN_VISCOUS | GIVEN_COULOMB | GIVEN_REST));
    CHECK(!first->has_limits && second->has_limits && second->limits.lower == -INFINITY);
    check_vector(3, joint->axis, x, 0);
    check_vector(3, joint->axis2, minus_z, 0);
    check_vector(2, joint->start_position, q, 0);
    check_vector(2, joint->start_velocity, qd, 0);
    CHECK(first->viscous == 0.5 && second->viscous == 0.5 && first->coulomb == 1 && second->coulomb == 2);
    CHECK(first->coulomb_velocity == 0.1 && second->coulomb_velocity == 0.2);
    CHECK(first->rest == 0.3 && second->rest == -0.3 && second->limits.stiffness == 7 && second->limits.upper == 1);
    robot_free(robot);
}

TEST(one_object_limits_both_coordinates)
{
    struct robot *robot = read_joint_members(
        "\"type\": \"cylindrical\", \"limits\": {\"lower\": -1, \"upper\": 2, \"stiffness\": 3, \"depth\": 0.5}");
    const struct joint *joint = &robot->link[0].joint;
    for (int k = 0; k < 2; k++) {
        CHECK(joint->number[k].has_limits && joint->number[k].limits.lower == -1 && joint->number[k].limits.upper == 2);
        CHECK(joint->number[k].limits.depth == 0.5 && joint->number[k].coulomb_velocity == 1e-3);
    }
    robot_free(robot);
}

TEST(quaternion_is_normalized)
{
    static const double rest[7] = {0, 0, 0, 1, 0, 0, 0};
    struct robot *robot = read_joint_members("\"type\": \"free\"");
    check_vector(7, robot->link[0].joint.start_position, rest, 0);
    robot_free(robot);

    robot = read_joint_members("\"type\": \"free\", \"start\": {\"position\": [1, 2, 3, 0, 0.6006, 0, -0.8008]}");
    static const double turned[7] = {1, 2, 3, 0, 0.6, 0, -0.8};
    check_vector(7, robot->link[0].joint.start_position, turned, 1e-15);
    robot_free(robot);

    robot = read_joint_members(
        "\"type\": \"spherical\", \"viscous\": 2, \"stiffness\": 3, \"start\": {\"velocity\": [1, 2, 3]}");
    const struct joint *joint = &robot->link[0].joint;
    static const double omega[3] = {1, 2, 3};
    check_vector(4, joint->start_position, rest + 3, 0);
    check_vector(3, joint->start_velocity, omega, 0);
    CHECK(joint->number[0].viscous == 2 && joint->number[0].stiffness == 3);
    CHECK(joint->given == (GIVEN_VISCOUS | GIVEN_STIFFNESS));
    robot_free(robot);
}

/* A beam with these modes, and what else the file says of it */
static bool is_foreshortened(int format, const char *modes, const char *also)
{
    char members[1024];
    snprintf(
        members, sizeof members,
        "\"joint\": {\"type\": \"fixed\"}, \"beam\": {\"length\": 1, \"mass_per_length\": 1, \"EIy\": 1, \"EIz\": 1, "
        "\"GJ\": 1, \"EA\": 1, \"inertia_per_length\": [1, 1, 1], \"modes\": {%s}%s}",
        modes, also);
    struct robot *robot = read_link_of_format(format, members);
    const bool foreshortened = robot->link[0].beam.foreshortening;
    robot_free(robot);
    return foreshortened;
}

TEST(foreshortening_is_the_default_of_bending_in_format_2)
{
    static const char *const bending = "\"z\": {\"shape\": \"hermite\"}", *const twist =
                                                                              "\"twist\": {\"shape\": \"linear\"}";
    static const char *const yes = ", \"foreshortening\": true", *const no = ", \"foreshortening\": false";
    CHECK(!is_foreshortened(1, bending, "") && is_foreshortened(1, bending, yes) && !is_foreshortened(1, bending, no));
    CHECK(is_foreshortened(2, bending, "") && is_foreshortened(2, bending, yes) && !is_foreshortened(2, bending, no));
    CHECK(!is_foreshortened(2, twist, "") && !is_foreshortened(2, "", ""));
}

/* ---- surroundings ------------------------------------------------------------------------------------------------ */

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

SUITE(robot_read_test)
