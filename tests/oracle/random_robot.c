#include "oracle/random_robot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/vec.h"

enum { MOST_LINKS = 7, MOST_MODES = 4 };

/* What is being written, and from which numbers. */
struct writer {
    FILE *file;
    struct random *random;
    int format;
};

static void number(struct writer *to, const char *key, double low, double high)
{
    fprintf(to->file, ", \"%s\": %.6g", key, uniform(to->random, low, high));
}

static void numbers(struct writer *to, const char *key, int count, double low, double high)
{
    fprintf(to->file, "\"%s\": [", key);
    for (int i = 0; i < count; i++) fprintf(to->file, "%s%.6g", i == 0 ? "" : ", ", uniform(to->random, low, high));
    fputc(']', to->file);
}

/* Inertia of four point masses about their centre of mass, nearly: any such matrix is positive definite. */
static void inertia(struct writer *to, double scale)
{
    double I[6] = {0};
    for (int point = 0; point < 4; point++) {
        double r[3];
        for (int i = 0; i < 3; i++) r[i] = uniform(to->random, -1, 1);
        const double rr = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        for (int i = 0; i < 3; i++) I[i] += scale * (rr - r[i] * r[i]);
        I[3] -= scale * r[0] * r[1];
        I[4] -= scale * r[0] * r[2];
        I[5] -= scale * r[1] * r[2];
    }
    fprintf(to->file, "\"inertia\": [%.6g, %.6g, %.6g, %.6g, %.6g, %.6g]", I[0], I[1], I[2], I[3], I[4], I[5]);
}

static void mass_properties(struct writer *to, double least, double most)
{
    fprintf(to->file, "\"mass\": %.6g, ", uniform(to->random, least, most));
    numbers(to, "com", 3, -0.2, 0.2);
    fputs(", ", to->file);
    inertia(to, 0.04);
}

static void pose(struct writer *to, const char *key, double reach)
{
    const int which = pick(to->random, 8); /* most have both parts, some one, some none */
    fprintf(to->file, "\"%s\": {", key);
    if (which > 1) numbers(to, "xyz", 3, -reach, reach);
    if (which > 2) fputs(", ", to->file);
    if (which == 1 || which > 2) numbers(to, "rpy", 3, -1.2, 1.2);
    fputc('}', to->file);
}

/* ---- joints ------------------------------------------------------------------------------------------------------ */

/* One of the axes of the frame or any direction */
static void direction(struct random *random, double a[3])
{
    static const double aligned[6][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -2, 0}, {0, 0, -1}};
    if (chance(random, 0.5)) {
        memcpy(a, aligned[pick(random, 6)], sizeof aligned[0]);
        return;
    }
    do {
        for (int i = 0; i < 3; i++) a[i] = uniform(random, -1, 1);
    } while (sqrt(dot3(a, a)) < 0.1);
}

static void axis(struct writer *to, const char *key, const double a[3])
{
    fprintf(to->file, ", \"%s\": [%.6g, %.6g, %.6g]", key, a[0], a[1], a[2]);
}

/* Two axes at an angle of 0.4 rad at least */
static void two_axes(struct writer *to)
{
    double a[3], b[3];
    direction(to->random, a);
    do direction(to->random, b);
    while (fabs(dot3(a, b)) > 0.92 * sqrt(dot3(a, a) * dot3(b, b)));
    axis(to, "axis", a);
    axis(to, "axis2", b);
}

/* A number of a joint with this many coordinates: one for all, or an array */
static void joint_number(struct writer *to, int coordinates, const char *key, double low, double high)
{
    if (coordinates == 1 || chance(to->random, 0.5)) {
        number(to, key, low, high);
        return;
    }
    fputs(", ", to->file);
    numbers(to, key, coordinates, low, high);
}

/* A stop whose force is smooth in the states of specimen_random_state(): never reached, or always pushed beyond its depth and
   harder than its damper ever pulls */
static void limit(struct writer *to)
{
    const bool beyond = chance(to->random, 0.5), below = chance(to->random, 0.5);
    const double at = below == beyond ? uniform(to->random, 4, 5) : uniform(to->random, -5, -4);
    fprintf(to->file, "{\"%s\": %.6g", below ? "lower" : "upper", at);
    number(to, "stiffness", 1, 3);
    number(to, "damping", 0.01, 0.2);
    number(to, "depth", 0.01, 0.1);
    fputc('}', to->file);
}

static void limits(struct writer *to, int coordinates)
{
    const bool array = coordinates == 2 && chance(to->random, 0.7);
    const int which = array ? pick(to->random, 3) : 0; /* null for the first, null for the second, neither */
    fputs(array ? ", \"limits\": [" : ", \"limits\": ", to->file);
    for (int k = 0; k < (array ? 2 : 1); k++) {
        if (k == 1) fputs(", ", to->file);
        if (array && which == k) fputs("null", to->file);
        else limit(to);
    }
    if (array) fputc(']', to->file);
}

static void joint_forces(struct writer *to, int coordinates)
{
    if (chance(to->random, 0.6)) joint_number(to, coordinates, "motor_inertia", 0.02, 0.2);
    if (chance(to->random, 0.6)) joint_number(to, coordinates, "viscous", 0, 0.5);
    if (chance(to->random, 0.4)) {
        joint_number(to, coordinates, "coulomb", 0.05, 0.3);
        joint_number(to, coordinates, "coulomb_velocity", 0.3, 1);
    }
    if (chance(to->random, 0.4)) {
        joint_number(to, coordinates, "stiffness", 0.1, 5);
        joint_number(to, coordinates, "rest", -0.3, 0.3);
    }
    if (to->format == 2 && chance(to->random, 0.2)) limits(to, coordinates);
}

/* Types and how often each is drawn: fixed joints last, so that they can be left out */
enum { REVOLUTE, PRISMATIC, UNIVERSAL, CYLINDRICAL, SPHERICAL, FREE, FIXED, TYPES };
static const struct {
    const char *name;
    int coordinates; /* with numbers of their own */
    int share[3];    /* in format 1 and 2 */
} types[TYPES] = {
    [REVOLUTE] = {"revolute", 1, {0, 6, 6}},   [PRISMATIC] = {"prismatic", 1, {0, 2, 2}},
    [UNIVERSAL] = {"universal", 2, {0, 0, 3}}, [CYLINDRICAL] = {"cylindrical", 2, {0, 0, 2}},
    [SPHERICAL] = {"spherical", 0, {0, 0, 3}}, [FREE] = {"free", 0, {0, 0, 2}},
    [FIXED] = {"fixed", 0, {0, 2, 2}},
};

static int draw_type(struct writer *to, bool must_move)
{
    const int last = must_move ? FIXED : TYPES;
    int sum = 0;
    for (int type = 0; type < last; type++) sum += types[type].share[to->format];
    int draw = pick(to->random, sum), type = 0;
    while (draw >= types[type].share[to->format]) draw -= types[type++].share[to->format];
    return type;
}

static void joint_placement(struct writer *to, int type)
{
    double a[3];
    const bool one_axis = type == REVOLUTE || type == PRISMATIC;
    if (one_axis && chance(to->random, 0.15)) {
        fputs(", \"dh\": {\"a\": 0.3", to->file);
        number(to, "alpha", -1.5, 1.5);
        number(to, "d", -0.3, 0.3);
        number(to, "theta", -3, 3);
        fputc('}', to->file);
    } else if (chance(to->random, 0.8)) {
        fputs(", ", to->file);
        pose(to, "origin", 0.4);
        if (one_axis || type == CYLINDRICAL) {
            direction(to->random, a);
            axis(to, "axis", a);
        }
    }
    if (type == UNIVERSAL) two_axes(to);
}

/* Returns whether the joint moves. */
static bool joint(struct writer *to, int i, bool must_move)
{
    const int type = draw_type(to, must_move), coordinates = types[type].coordinates;
    fprintf(to->file, "\"joint\": {\"name\": \"j%d\", \"type\": \"%s\"", i, types[type].name);
    joint_placement(to, type);
    if (coordinates > 0) joint_forces(to, coordinates);
    if (type == SPHERICAL && chance(to->random, 0.5)) number(to, "viscous", 0, 0.5);
    if (type == SPHERICAL && chance(to->random, 0.5)) number(to, "stiffness", 0.1, 5);
    if (type != FIXED) {
        const int motion = pick(to->random, 10);
        if (motion == 0) fputs(", \"passive\": true", to->file);
        if (coordinates > 0 && (motion == 1 || motion == 2)) fputs(", \"motion\": \"prescribed\"", to->file);
    }
    fputc('}', to->file);
    return type != FIXED;
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

static void bending(struct writer *to, const char *name)
{
    static const char *const shape[] = {"clamped-free", "clamped-mass", "pinned-pinned",
                                        "hermite",      "polynomial",   "craig-bampton"};
    enum { CLAMPED_MASS = 1, HERMITE = 3, POLYNOMIAL = 4, CRAIG_BAMPTON = 5 };
    const int which = pick(to->random, 6);
    fprintf(to->file, "\"%s\": {\"shape\": \"%s\"", name, shape[which]);
    if (which == CLAMPED_MASS) {
        number(to, "tip_mass", 0, 3);
        if (chance(to->random, 0.7)) number(to, "tip_inertia", 0, 0.3);
    }
    const int least = which == CRAIG_BAMPTON ? 2 : 1, most = which == POLYNOMIAL ? 3 : MOST_MODES;
    if (which != HERMITE) fprintf(to->file, ", \"count\": %d", least + pick(to->random, most - least + 1));
    fputc('}', to->file);
}

static void rod(struct writer *to, const char *name)
{
    const bool modal = to->format == 2 && chance(to->random, 0.4);
    if (!modal && chance(to->random, 0.5)) fprintf(to->file, "\"%s\": {\"shape\": \"linear\"}", name);
    else
        fprintf(to->file, "\"%s\": {\"shape\": \"%s\", \"count\": %d}", name, modal ? "craig-bampton" : "clamped-free",
                1 + pick(to->random, 2));
}

static void beam(struct writer *to)
{
    static const char *const name[] = {"y", "z", "twist", "axial"};
    static const double probability[] = {0.7, 0.6, 0.4, 0.3};
    fprintf(to->file, "\"beam\": {\"length\": %.6g", uniform(to->random, 0.6, 1.9));
    number(to, "mass_per_length", 1, 4);
    number(to, "EIy", 50, 900);
    number(to, "EIz", 50, 900);
    number(to, "GJ", 100, 300);
    number(to, "EA", 4e3, 3e4);
    if (chance(to->random, 0.7)) {
        fputs(", ", to->file);
        numbers(to, "inertia_per_length", 3, 0.002, 0.02);
    } else { /* a thin beam still needs inertia where it twists */
        fprintf(to->file, ", \"inertia_per_length\": [%.6g, 0, 0]", uniform(to->random, 0.002, 0.02));
    }
    fputs(", \"modes\": {", to->file);
    bool first = true;
    for (int family = 0; family < 4; family++) {
        if (!chance(to->random, probability[family])) continue;
        if (!first) fputs(", ", to->file);
        first = false;
        if (family < 2) bending(to, name[family]);
        else rod(to, name[family]);
    }
    fputc('}', to->file);
    if (chance(to->random, 0.5)) fputs(", \"foreshortening\": true", to->file);
    else if (to->format == 2 && chance(to->random, 0.8)) fputs(", \"foreshortening\": false", to->file);
    if (chance(to->random, 0.6)) number(to, "damping_ratio", 0, 0.05);
    if (chance(to->random, 0.6)) {
        fprintf(to->file, ", \"rayleigh\": [%.6g, %.6g]", uniform(to->random, 0, 0.05), uniform(to->random, 0, 2e-3));
    }
    fputc('}', to->file);
}

/* Rows of m numbers. */
static void matrix(struct writer *to, int rows, int m, const double *A)
{
    fputc('[', to->file);
    for (int i = 0; i < rows * m; i++)
        fprintf(to->file, "%s%.6g%s", i % m > 0 ? ", " : i > 0 ? ", [" : "[", A[i], i % m == m - 1 ? "]" : "");
    fputc(']', to->file);
}

/* Three rows of m numbers. */
static void mode_rows(struct writer *to, const char *key, int m, double most)
{
    double A[3 * MOST_MODES];
    for (int i = 0; i < 3 * m; i++) A[i] = uniform(to->random, -most, most);
    fprintf(to->file, ", \"%s\": ", key);
    matrix(to, 3, m, A);
}

/* scale (I + B B'), symmetric and positive definite */
static void square_matrix(struct writer *to, const char *key, int m, double scale)
{
    double A[MOST_MODES * MOST_MODES], B[MOST_MODES][MOST_MODES];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) B[i][j] = uniform(to->random, -1, 1);
    for (int i = 0; i < m * m; i++) {
        A[i] = i % (m + 1) == 0;
        for (int k = 0; k < m; k++) A[i] += B[i / m][k] * B[i % m][k];
        A[i] *= scale;
    }
    fprintf(to->file, ", \"%s\": ", key);
    matrix(to, m, m, A);
}

/* `count` symmetric matrices */
static void symmetric_matrices(struct writer *to, const char *key, int count, int m, double most)
{
    double A[MOST_MODES * MOST_MODES];
    fprintf(to->file, "\"%s\": [", key);
    for (int c = 0; c < count; c++) {
        for (int i = 0; i < m; i++)
            for (int j = 0; j <= i; j++) A[m * i + j] = A[m * j + i] = uniform(to->random, -most, most);
        fputs(c == 0 ? "" : ", ", to->file);
        matrix(to, m, m, A);
    }
    fputc(']', to->file);
}

/* From numbers of its own: all that follows stays the same. */
static void geometric_stiffness(const struct writer *nodal, int m)
{
    struct random apart = {nodal->random->state ^ 0x9e3779b9u};
    struct writer to = {nodal->file, &apart, nodal->format};
    if (chance(&apart, 0.3)) return;
    fputs(", \"geometric_stiffness\": {", to.file);
    symmetric_matrices(&to, "acceleration", 3, m, 0.2);
    fputs(", ", to.file);
    symmetric_matrices(&to, "rates", 6, m, 0.2);
    if (chance(&apart, 0.7)) {
        fputs(", ", to.file);
        symmetric_matrices(&to, "angular_acceleration", 3, m, 0.2);
    }
    fputc('}', to.file);
}

/* A bent row of lumps. The hinge node stands still at F's origin, or moves with the modes, or is another node. */
static void nodal(struct writer *to)
{
    const int nodes = 3 + pick(to->random, 3), m = 1 + pick(to->random, MOST_MODES - 1);
    const int hinge = chance(to->random, 0.3) ? pick(to->random, nodes - 1) : 0;
    const bool still = hinge == 0 && chance(to->random, 0.5);
    fprintf(to->file, "\"nodal\": {\"modes\": %d, \"hinge_node\": %d, \"tip_node\": %d, \"nodes\": [", m, hinge,
            nodes - 1);
    for (int i = 0; i < nodes; i++) {
        const double x = 0.25 * i, bend = i == 0 ? 0 : uniform(to->random, -0.1, 0.1);
        fprintf(to->file, "%s{\"position\": [%.6g, %.6g, %.6g], ", i == 0 ? "" : ", ", x, bend, -0.5 * bend);
        mass_properties(to, 0.2, 0.6);
        mode_rows(to, "translation", m, i == 0 && still ? 0 : 1);
        mode_rows(to, "rotation", m, i == 0 && still ? 0 : 0.3);
        fputc('}', to->file);
    }
    fputc(']', to->file);
    square_matrix(to, "stiffness", m, 400);
    if (chance(to->random, 0.7)) square_matrix(to, "damping", m, 0.3);
    if (to->format == 2) geometric_stiffness(to, m);
    fputc('}', to->file);
}

static void rigid(struct writer *to)
{
    fputs("\"rigid\": {", to->file);
    mass_properties(to, 0.5, 3);
    fputs(", ", to->file);
    pose(to, "tip", 0.7);
    fputc('}', to->file);
}

/* Some are an inertia alone, as papers give hubs. */
static void attached(struct writer *to, const char *key)
{
    fprintf(to->file, ", \"%s\": {", key);
    if (chance(to->random, 0.2)) mass_properties(to, 0, 0);
    else mass_properties(to, 0.3, 2);
    fputc('}', to->file);
}

/* Returns whether the joint moves. */
static bool link(struct writer *to, int i, bool tree, bool must_move)
{
    fprintf(to->file, "%s{\"name\": \"link%d\", ", i == 0 ? "" : ", ", i);
    if (tree && i > 0 && chance(to->random, 0.5)) {
        const int parent = pick(to->random, i + 1) - 1;
        if (parent < 0) fputs("\"parent\": \"world\", ", to->file);
        else fprintf(to->file, "\"parent\": \"link%d\", ", parent);
    }
    const bool moves = joint(to, i, must_move);
    fputs(", ", to->file);
    const int body = pick(to->random, 10); /* rigid 3, beam 5, nodal 2 of 10 */
    if (body < 3) rigid(to);
    else if (body < 8) beam(to);
    else nodal(to);
    if (chance(to->random, 0.4)) attached(to, "hub");
    if (chance(to->random, 0.4)) attached(to, "payload");
    fputc('}', to->file);
    return moves;
}

char *random_robot(struct random *random)
{
    char *text = NULL;
    size_t size = 0;
    struct random of_format = {random->state ^ 0x5bd1e995u}; /* apart: a robot of format 1 stays the same */
    struct writer to = {open_memstream(&text, &size), random, chance(&of_format, 0.6) ? 2 : 1};
    if (to.file == NULL) return NULL;
    const int n_links = 1 + pick(random, MOST_LINKS);
    const bool tree = chance(random, 0.4);
    fprintf(to.file, "{\"format\": \"limber-robot/%d\", \"name\": \"random\", ", to.format);
    if (chance(random, 0.9)) {
        numbers(&to, "gravity", 3, -9, 9);
        fputs(", ", to.file);
    }
    if (chance(random, 0.4)) fprintf(to.file, "\"tip\": \"link%d\", ", pick(random, n_links));
    fputs("\"links\": [", to.file);
    bool moved = false;
    for (int i = 0; i < n_links; i++) moved |= link(&to, i, tree, !moved && i == n_links - 1);
    fputs("]}", to.file);
    fclose(to.file);
    return text;
}
