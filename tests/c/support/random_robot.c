#include "support/random_robot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_LINKS = 7, MOST_MODES = 4 };

/* What is being written, and from which numbers. */
struct writer {
    FILE *file;
    struct random *random;
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

static void axis(struct writer *to)
{
    static const char *const aligned[] = {"[1, 0, 0]",  "[0, 1, 0]",  "[0, 0, 1]",
                                          "[-1, 0, 0]", "[0, -2, 0]", "[0, 0, -1]"};
    if (chance(to->random, 0.5)) {
        fprintf(to->file, ", \"axis\": %s", aligned[pick(to->random, 6)]);
        return;
    }
    double a[3], length;
    do {
        for (int i = 0; i < 3; i++) a[i] = uniform(to->random, -1, 1);
        length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    } while (length < 0.1);
    fprintf(to->file, ", \"axis\": [%.6g, %.6g, %.6g]", a[0], a[1], a[2]);
}

static void joint_forces(struct writer *to)
{
    if (chance(to->random, 0.6)) number(to, "motor_inertia", 0.02, 0.2);
    if (chance(to->random, 0.6)) number(to, "viscous", 0, 0.5);
    if (chance(to->random, 0.4)) {
        number(to, "coulomb", 0.05, 0.3);
        number(to, "coulomb_velocity", 0.3, 1);
    }
    if (chance(to->random, 0.4)) {
        number(to, "stiffness", 0.1, 5);
        number(to, "rest", -0.3, 0.3);
    }
}

/* Returns whether the joint moves. */
static bool joint(struct writer *to, int i, bool must_move)
{
    const int kind = pick(to->random, must_move ? 8 : 10); /* revolute 6, prismatic 2, fixed 2 of 10 */
    fprintf(to->file, "\"joint\": {\"name\": \"j%d\", \"type\": \"%s\"", i,
            kind < 6   ? "revolute"
            : kind < 8 ? "prismatic"
                       : "fixed");
    if (kind < 8 && chance(to->random, 0.15)) {
        fputs(", \"dh\": {\"a\": 0.3", to->file);
        number(to, "alpha", -1.5, 1.5);
        number(to, "d", -0.3, 0.3);
        number(to, "theta", -3, 3);
        fputc('}', to->file);
    } else if (chance(to->random, 0.8)) {
        fputs(", ", to->file);
        pose(to, "origin", 0.4);
        if (kind < 8) axis(to);
    }
    if (kind < 8) {
        joint_forces(to);
        const int motion = pick(to->random, 10);
        if (motion == 0) fputs(", \"passive\": true", to->file);
        if (motion == 1 || motion == 2) fputs(", \"motion\": \"prescribed\"", to->file);
    }
    fputc('}', to->file);
    return kind < 8;
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
    if (chance(to->random, 0.5)) fprintf(to->file, "\"%s\": {\"shape\": \"linear\"}", name);
    else fprintf(to->file, "\"%s\": {\"shape\": \"clamped-free\", \"count\": %d}", name, 1 + pick(to->random, 2));
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
    if (chance(to->random, 0.6)) number(to, "damping_ratio", 0, 0.05);
    if (chance(to->random, 0.6)) {
        fprintf(to->file, ", \"rayleigh\": [%.6g, %.6g]", uniform(to->random, 0, 0.05), uniform(to->random, 0, 2e-3));
    }
    fputc('}', to->file);
}

/* Three rows of m numbers. */
static void mode_rows(struct writer *to, const char *key, int m, double most)
{
    fprintf(to->file, ", \"%s\": [", key);
    for (int row = 0; row < 3; row++) {
        fputs(row == 0 ? "[" : ", [", to->file);
        for (int k = 0; k < m; k++) fprintf(to->file, "%s%.6g", k == 0 ? "" : ", ", uniform(to->random, -most, most));
        fputc(']', to->file);
    }
    fputc(']', to->file);
}

/* scale (I + B B'), symmetric and positive definite */
static void square_matrix(struct writer *to, const char *key, int m, double scale)
{
    double B[MOST_MODES][MOST_MODES];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) B[i][j] = uniform(to->random, -1, 1);
    fprintf(to->file, ", \"%s\": [", key);
    for (int i = 0; i < m; i++) {
        fputs(i == 0 ? "[" : ", [", to->file);
        for (int j = 0; j < m; j++) {
            double sum = i == j;
            for (int k = 0; k < m; k++) sum += B[i][k] * B[j][k];
            fprintf(to->file, "%s%.6g", j == 0 ? "" : ", ", scale * sum);
        }
        fputc(']', to->file);
    }
    fputc(']', to->file);
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
    struct writer to = {open_memstream(&text, &size), random};
    if (to.file == NULL) return NULL;
    const int n_links = 1 + pick(random, MOST_LINKS);
    const bool tree = chance(random, 0.4);
    fputs("{\"format\": \"limber-robot/1\", \"name\": \"random\", ", to.file);
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
