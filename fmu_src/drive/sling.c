/* A load in a sling: a point mass on a rope from the arm's tip, which rests on the ground until it is lifted. The rope only pulls,
   the ground only pushes. Equations and numbers: docs/drives.md; Hunt and Crossley, Coefficient of restitution interpreted as
   damping in vibroimpact, 1975.  Vectors are in world axes; the ground is a plane normal to gravity. */
#include <math.h>
#include <string.h>

#include "drive/drive.h"
#include "drive/laws.h"
#include "math/vec.h"

/* clang-format off */
#define VECTOR(X, identifier, name, role, unit, x, y, z, text) \
    X(identifier, name "[1]", role, unit, NULL, x, ANY_NUMBER, text ", x") \
    X(identifier##_Y, name "[2]", role, unit, NULL, y, ANY_NUMBER, text ", y") \
    X(identifier##_Z, name "[3]", role, unit, NULL, z, ANY_NUMBER, text ", z")

#define SLING_LIST(X) \
    VECTOR(X, HOOK, "hook.position", INPUT, "m", 0, 0, 2, "position of the hook, from the arm's tip") \
    VECTOR(X, HOOK_VELOCITY, "hook.velocity", INPUT, "m/s", 0, 0, 0, "velocity of the hook, from the arm's tip") \
    VECTOR(X, FORCE, "force", OUTPUT, "N", 0, 0, 0, "force on the hook, to the arm's tip") \
    VECTOR(X, POSITION, "position", OUTPUT_STATE, "m", 1, 1, 1, "position of the load") \
    VECTOR(X, VELOCITY, "velocity", OUTPUT_STATE, "m/s", 1, 1, 1, "velocity of the load") \
    X(TENSION, "tension", OUTPUT, "N", NULL, 0, ANY_NUMBER, "tension of the rope; 0: slack") \
    X(GROUND_FORCE, "ground_force", OUTPUT, "N", NULL, 0, ANY_NUMBER, "force of the ground on the load, upward; 0: lifted") \
    X(KINETIC, "energy.kinetic", LOCAL, "J", NULL, 0, ANY_NUMBER, "kinetic energy of the load") \
    X(GRAVITATIONAL, "energy.gravity", LOCAL, "J", NULL, 0, ANY_NUMBER, "gravitational energy of the load, zero at the world's origin") \
    X(STRAIN, "energy.strain", LOCAL, "J", NULL, 0, ANY_NUMBER, "strain energy of rope and ground") \
    X(TOTAL, "energy.total", LOCAL, "J", NULL, 0, ANY_NUMBER, "sum of kinetic, gravitational and strain energy") \
    X(LOSSES, "power.losses", LOCAL, "W", NULL, 0, ANY_NUMBER, "power lost in the rope, in the ground and by friction") \
    X(MASS, "mass", PARAMETER, "kg", NULL, 300, ABOVE_ZERO, "mass of the load") \
    X(LENGTH, "length", PARAMETER, "m", NULL, 2, ABOVE_ZERO, "unstretched length of the rope") \
    X(STIFFNESS, "stiffness", PARAMETER, "N/m", NULL, 2e5, ABOVE_ZERO, "stiffness of the rope") \
    X(DAMPING, "damping", PARAMETER, "s/m", NULL, 0.3, NOT_NEGATIVE, "damping of the rope: tension k p (1 + d dp/dt) at an elongation p") \
    X(GROUND, "ground", PARAMETER, "m", NULL, 0, ANY_NUMBER, "height of the ground above the world's origin, against gravity") \
    X(GROUND_STIFFNESS, "ground_stiffness", PARAMETER, "N/m", NULL, 1e6, ABOVE_ZERO, "stiffness of the ground under the load") \
    X(GROUND_DAMPING, "ground_damping", PARAMETER, "s/m", NULL, 2, NOT_NEGATIVE, "damping of the ground: force k p (1 + d dp/dt) at a penetration p") \
    X(FRICTION, "friction", PARAMETER, "1", NULL, 0.5, NOT_NEGATIVE, "friction coefficient of the load on the ground") \
    X(FRICTION_RATE, "friction_rate", PARAMETER, "m/s", NULL, 0.01, ABOVE_ZERO, "speed at which friction reaches 1/sqrt 2 = 71 percent") \
    VECTOR(X, GRAVITY, "gravity", PARAMETER, "m/s2", 0, 0, -9.81, "gravity; the same as the arm's")
/* clang-format on */

enum { SLING_LIST(DRIVE_INDEX) ROWS };
enum { POSITION_DOT = ROWS, VELOCITY_DOT = ROWS + 3, VALUES = ROWS + 6 };

static const struct drive_row table[] = {SLING_LIST(DRIVE_ROW)};

/* Intermediate values of evaluate() and tangent() */
struct work {
    double up[3];                  /* against gravity                                                     */
    double e[3], r;                /* of the rope: direction from load to hook, length               [m]  */
    double w[3], pd;               /* velocity of the hook relative to the load, rate of elongation [m/s] */
    double slide[3], sinkd, speed; /* of the load along the ground and into it; smoothed |slide|          */
    struct contact rope, ground;   /* by elongation; by penetration                                       */
};

/* The magnitude of gravity; `up` is the direction against it */
static double gravity_of(const double *v, double up[3])
{
    const double g = sqrt(dot3(v + GRAVITY, v + GRAVITY));
    for (int i = 0; i < 3; i++) up[i] = -v[GRAVITY + i] / g;
    return g;
}

static struct work work_of(const double *v)
{
    const double *x = v + POSITION, *xd = v + VELOCITY;
    struct work w;
    (void)gravity_of(v, w.up);

    /* r e = hook - x,   p = r - l,   dp/dt = e.(hook' - x').  A slack rope needs no direction: r = l is sufficient  (1) */
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = v[HOOK + i] - x[i];
    const double distance = sqrt(dot3(d, d));
    w.r = fmax(distance, v[LENGTH]);
    for (int i = 0; i < 3; i++) {
        w.e[i] = d[i] / w.r;
        w.w[i] = v[HOOK_VELOCITY + i] - xd[i];
    }
    w.pd = dot3(w.e, w.w);
    w.rope = contact(distance - v[LENGTH], w.pd, v[STIFFNESS], v[DAMPING]); /* (2) */

    /* penetration p = ground - up.x; the rest of x' is along the ground                         (3), (4) */
    w.sinkd = -dot3(w.up, xd);
    w.ground = contact(v[GROUND] - dot3(w.up, x), w.sinkd, v[GROUND_STIFFNESS], v[GROUND_DAMPING]);
    for (int i = 0; i < 3; i++) w.slide[i] = xd[i] + w.sinkd * w.up[i];
    w.speed = sqrt(dot3(w.slide, w.slide) + v[FRICTION_RATE] * v[FRICTION_RATE]);
    return w;
}

static void evaluate(double *v)
{
    const struct work w = work_of(v);
    const double T = w.rope.force, N = w.ground.force, mu = v[FRICTION], *x = v + POSITION, *xd = v + VELOCITY;
    v[TENSION] = T;
    v[GROUND_FORCE] = N;

    /* m x'' = m g + T e + N up - mu N slide/speed                                                     (5) */
    for (int i = 0; i < 3; i++) {
        v[FORCE + i] = -T * w.e[i];
        v[POSITION_DOT + i] = xd[i];
        v[VELOCITY_DOT + i] = v[GRAVITY + i] + (T * w.e[i] + N * w.up[i] - mu * N * w.slide[i] / w.speed) / v[MASS];
    }

    /* d(total)/dt + losses + force.hook' = 0                                                          (6) */
    const double rope = v[STIFFNESS] * w.rope.p, ground = v[GROUND_STIFFNESS] * w.ground.p;
    v[KINETIC] = 0.5 * v[MASS] * dot3(xd, xd);
    v[GRAVITATIONAL] = -v[MASS] * dot3(v + GRAVITY, x);
    v[STRAIN] = 0.5 * (rope * w.rope.p + ground * w.ground.p);
    v[TOTAL] = v[KINETIC] + v[GRAVITATIONAL] + v[STRAIN];
    v[LOSSES] = (T - rope) * w.pd + (N - ground) * w.sinkd + mu * N * dot3(w.slide, w.slide) / w.speed;
}

static void tangent(const double *v, double *dv)
{
    const struct work w = work_of(v);
    const double T = w.rope.force, N = w.ground.force, mu = v[FRICTION], *dx = dv + POSITION, *dxd = dv + VELOCITY;
    double dd[3], dw[3], de[3], dslide[3];
    for (int i = 0; i < 3; i++) {
        dd[i] = dv[HOOK + i] - dx[i];
        dw[i] = dv[HOOK_VELOCITY + i] - dxd[i];
    }
    const double dr = dot3(w.e, dd), dsink = -dot3(w.up, dx), dsinkd = -dot3(w.up, dxd);
    for (int i = 0; i < 3; i++) {
        de[i] = (dd[i] - w.e[i] * dr) / w.r;
        dslide[i] = dxd[i] + dsinkd * w.up[i];
    }
    const double dpd = dot3(de, w.w) + dot3(w.e, dw), dspeed = dot3(w.slide, dslide) / w.speed;
    const double dT = w.rope.by_p * dr + w.rope.by_pd * dpd, dN = w.ground.by_p * dsink + w.ground.by_pd * dsinkd;
    dv[TENSION] = dT;
    dv[GROUND_FORCE] = dN;

    for (int i = 0; i < 3; i++) {
        const double dpull = dT * w.e[i] + T * de[i];
        const double dgrip = mu * (dN * w.slide[i] + N * (dslide[i] - w.slide[i] * dspeed / w.speed)) / w.speed;
        dv[FORCE + i] = -dpull;
        dv[POSITION_DOT + i] = dxd[i];
        dv[VELOCITY_DOT + i] = (dpull + dN * w.up[i] - dgrip) / v[MASS];
    }

    const double rope = v[STIFFNESS] * w.rope.p, drope = v[STIFFNESS] * w.rope.touching * dr;
    const double ground = v[GROUND_STIFFNESS] * w.ground.p, dground = v[GROUND_STIFFNESS] * w.ground.touching * dsink;
    const double slide2 = dot3(w.slide, w.slide), dslide2 = 2 * dot3(w.slide, dslide);
    dv[KINETIC] = v[MASS] * dot3(v + VELOCITY, dxd);
    dv[GRAVITATIONAL] = -v[MASS] * dot3(v + GRAVITY, dx);
    dv[STRAIN] = rope * dr + ground * dsink;
    dv[TOTAL] = dv[KINETIC] + dv[GRAVITATIONAL] + dv[STRAIN];
    dv[LOSSES] = (dT - drope) * w.pd + (T - rope) * dpd + (dN - dground) * w.sinkd + (N - ground) * dsinkd +
                 mu * (dN * slide2 + N * (dslide2 - slide2 * dspeed / w.speed)) / w.speed;
}

/* At rest straight below the hook, at the height y where rope and ground together support the weight:
   k (h - l - y)+ + kg (ground - y)+ = m g. Each alone and both together give a y; the highest is the solution     (7) */
static void start(double *v)
{
    double up[3];
    const double weight = v[MASS] * gravity_of(v, up), k = v[STIFFNESS], kg = v[GROUND_STIFFNESS];
    const double h = dot3(up, v + HOOK), end = h - v[LENGTH];
    const double hanging = end - weight / k, lying = v[GROUND] - weight / kg;
    const double both = (k * end + kg * v[GROUND] - weight) / (k + kg), y = fmax(fmax(hanging, lying), both);
    for (int i = 0; i < 3; i++) v[POSITION + i] = v[HOOK + i] + (y - h) * up[i];
    memset(v + VELOCITY, 0, 3 * sizeof *v);
}

static const char *conflict(const double *v, char text[CONFLICT_SIZE])
{
    (void)text;
    return dot3(v + GRAVITY, v + GRAVITY) > 0 ? NULL
                                              : "gravity must not be zero: it determines the orientation of the ground";
}

/* A load on the ground above its hook cannot be pulled down by the rope */
static const char *error(const double *v)
{
    double up[3], d[3];
    (void)gravity_of(v, up);
    for (int i = 0; i < 3; i++) d[i] = v[HOOK + i] - v[POSITION + i];
    const double height = dot3(up, d), distance = sqrt(dot3(d, d));
    return height < 0 && distance > v[LENGTH] && dot3(up, v + POSITION) < v[GROUND]
               ? "the hook is below the ground and pulls the load down; check ground, gravity and hook.position"
               : NULL;
}

static const int start_inputs[] = {HOOK, HOOK_Y, HOOK_Z};

const struct drive sling_drive = {
    .name = "sling",
    .description = "Load on a rope that lies on the ground until it is lifted: motion of the hook in, force out",
    .n_rows = ROWS,
    .n_states = VALUES - ROWS,
    .row = table,
    .n_driven = 3,
    .position = HOOK,
    .rate = HOOK_VELOCITY,
    .share = -1,
    .start_inputs = start_inputs,
    .n_start_inputs = sizeof start_inputs / sizeof start_inputs[0],
    .start = start,
    .evaluate = evaluate,
    .tangent = tangent,
    .conflict = conflict,
    .error = error};
