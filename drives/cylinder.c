/* A hydraulic cylinder with a single rod and a 4/3 proportional valve at constant supply pressure. Equations and numbers:
   docs/drives.md; Merritt, Hydraulic Control Systems, chapters 3, 5 and 6; Jelali and Kroll, Hydraulic Servo-systems,
   chapter 4.

   Pressures are gauge pressures. Chamber 1 is on the piston side (it extends the cylinder), chamber 2 on the rod side. The
   mass of the piston is not modeled here: it belongs to the arm, or is neglected. */
#include <math.h>
#include <stdio.h>

#include "drive.h"
#include "laws.h"

#define ATMOSPHERE 101325.0 /* Pa */
#define VAPOR      1000.0   /* Pa: below, the oil boils and the pressure hardly decreases */

/* clang-format off */
#define CYLINDER_LIST(X) \
    X(COMMAND, "command", INPUT, "1", NULL, 0, ANY_NUMBER, "valve command: 1 extends, -1 retracts at full opening; limited to this range") \
    X(LENGTH, "length", INPUT, "m", NULL, 1.9, ANY_NUMBER, "distance between the two pins, from the arm") \
    X(RATE, "rate", INPUT, "m/s", NULL, 0, ANY_NUMBER, "rate of the length, from the arm") \
    X(FORCE, "force", OUTPUT, "N", NULL, 0, ANY_NUMBER, "force that pushes the two pins apart, to the arm") \
    X(P1, "p1", OUTPUT_STATE, "Pa", "bar", 1e7, ANY_NUMBER, "pressure in chamber 1, on the piston's full area") \
    X(P2, "p2", OUTPUT_STATE, "Pa", "bar", 1e7, ANY_NUMBER, "pressure in chamber 2, on the ring around the rod") \
    X(SPOOL, "spool", OUTPUT_STATE, "1", NULL, 1, ANY_NUMBER, "position of the valve spool, as a fraction of full opening") \
    X(FLOW1, "flow1", OUTPUT, "m3/s", "l/min", 0, ANY_NUMBER, "flow from the valve into chamber 1") \
    X(FLOW2, "flow2", OUTPUT, "m3/s", "l/min", 0, ANY_NUMBER, "flow from the valve into chamber 2") \
    X(SUPPLY_FLOW, "supply_flow", OUTPUT, "m3/s", "l/min", 0, ANY_NUMBER, "flow from the supply into the valve") \
    X(RETURN_FLOW, "return_flow", OUTPUT, "m3/s", "l/min", 0, ANY_NUMBER, "flow from the valve into the tank") \
    X(SPOOL_RATE, "spool_rate", LOCAL_STATE, "1/s", NULL, 100, ANY_NUMBER, "rate of the spool position") \
    X(POSITION, "position", LOCAL, "m", "mm", 0, ANY_NUMBER, "position of the piston: 0 (retracted) to the stroke") \
    X(FRICTION, "friction", LOCAL, "N", NULL, 0, ANY_NUMBER, "friction force of the seals, against the motion") \
    X(STOP_FORCE, "stop_force", LOCAL, "N", NULL, 0, ANY_NUMBER, "force of the end stops, positive if extending") \
    X(POWER_SUPPLY, "power.supply", LOCAL, "W", NULL, 0, ANY_NUMBER, "hydraulic input power: supply minus return") \
    X(POWER_MECHANICAL, "power.mechanical", LOCAL, "W", NULL, 0, ANY_NUMBER, "mechanical output power: force times rate") \
    X(POWER_VALVE, "power.valve", LOCAL, "W", NULL, 0, ANY_NUMBER, "power lost at the four edges of the valve") \
    X(POWER_LEAKAGE, "power.leakage", LOCAL, "W", NULL, 0, ANY_NUMBER, "power lost by leakage past the piston") \
    X(POWER_FRICTION, "power.friction", LOCAL, "W", NULL, 0, ANY_NUMBER, "power lost in the seals") \
    X(POWER_STOPS, "power.stops", LOCAL, "W", NULL, 0, ANY_NUMBER, "power into the end stops, stored and lost") \
    X(POWER_COMPRESSION, "power.compression", LOCAL, "W", NULL, 0, ANY_NUMBER, "power into the compression of the oil") \
    X(BORE, "bore", PARAMETER, "m", "mm", 0.080, ABOVE_ZERO, "diameter of the piston") \
    X(ROD, "rod", PARAMETER, "m", "mm", 0.045, ABOVE_ZERO, "diameter of the rod") \
    X(STROKE, "stroke", PARAMETER, "m", NULL, 1, ABOVE_ZERO, "distance from end stop to end stop") \
    X(LENGTH_CLOSED, "length_closed", PARAMETER, "m", NULL, 1.4, ABOVE_ZERO, "distance between the pins when retracted") \
    X(DEAD_LENGTH, "dead_length", PARAMETER, "m", "mm", 0.05, ABOVE_ZERO, "dead volume of each chamber and its line, with the piston at that end, divided by the area") \
    X(SUPPLY_PRESSURE, "supply_pressure", PARAMETER, "Pa", "bar", 200e5, ABOVE_ZERO, "supply pressure at the valve") \
    X(TANK_PRESSURE, "tank_pressure", PARAMETER, "Pa", "bar", 0, NOT_NEGATIVE, "tank pressure at the valve") \
    X(BULK_MODULUS, "bulk_modulus", PARAMETER, "Pa", NULL, 1.2e9, ABOVE_ZERO, "effective bulk modulus of oil and hoses at high pressure") \
    X(AIR, "air", PARAMETER, "1", NULL, 0.005, NOT_NEGATIVE, "volume of undissolved air per volume of oil at atmospheric pressure; softens the oil at low pressure") \
    X(NOMINAL_FLOW, "nominal_flow", PARAMETER, "m3/s", "l/min", 40e-3 / 60, ABOVE_ZERO, "flow through one fully open edge of the valve") \
    X(NOMINAL_DROP, "nominal_drop", PARAMETER, "Pa", "bar", 35e5, ABOVE_ZERO, "pressure drop across one edge at the nominal flow") \
    X(LAMINAR_DROP, "laminar_drop", PARAMETER, "Pa", "bar", 1e5, ABOVE_ZERO, "pressure drop below which the flow becomes laminar: linear in the drop") \
    X(OVERLAP, "overlap", PARAMETER, "1", NULL, 0, NOT_NEGATIVE, "overlap of the spool edges: dead band of the valve, as a fraction of full opening") \
    X(CLEARANCE, "clearance", PARAMETER, "1", NULL, 1e-3, NOT_NEGATIVE, "spool clearance: twice the remaining opening of an edge at its corner, as a fraction of full opening") \
    X(SPOOL_FREQUENCY, "spool_frequency", PARAMETER, "rad/s", NULL, 150, ABOVE_ZERO, "natural frequency of the spool") \
    X(SPOOL_DAMPING, "spool_damping", PARAMETER, "1", NULL, 0.8, NOT_NEGATIVE, "damping ratio of the spool") \
    X(LEAKAGE, "leakage", PARAMETER, "m3/s/Pa", NULL, 1e-13, NOT_NEGATIVE, "flow past the piston per pressure difference") \
    X(COULOMB, "coulomb", PARAMETER, "N", NULL, 500, NOT_NEGATIVE, "dry friction of the seals") \
    X(VISCOUS, "viscous", PARAMETER, "N.s/m", NULL, 2000, NOT_NEGATIVE, "viscous friction of the seals") \
    X(FRICTION_RATE, "friction_rate", PARAMETER, "m/s", NULL, 0.005, ABOVE_ZERO, "rate at which dry friction reaches tanh 1 = 76 percent") \
    X(STOP_STIFFNESS, "stop_stiffness", PARAMETER, "N/m", NULL, 1e8, NOT_NEGATIVE, "stiffness of the end stops") \
    X(STOP_DAMPING, "stop_damping", PARAMETER, "s/m", NULL, 2, NOT_NEGATIVE, "damping of the end stops: force k p (1 + d dp/dt) at a penetration p") \
    X(FORCE_START, "force_start", PARAMETER, "N", NULL, 0, ANY_NUMBER, "force at the start, without friction: sets the pressures") \
    X(PRESSURE_START, "pressure_start", PARAMETER, "Pa", "bar", 10e5, NOT_NEGATIVE, "start pressure in the chamber with the lower pressure")
/* clang-format on */

enum { CYLINDER_LIST(DRIVE_INDEX) ROWS };
enum { P1_DOT = ROWS, P2_DOT, SPOOL_DOT, SPOOL_RATE_DOT, VALUES };

static const struct drive_row table[] = {CYLINDER_LIST(DRIVE_ROW)};

/* An edge of the valve: an orifice that opens as the spool moves past it */
struct edge {
    struct law open, root; /* opening by the spool position; root of the pressure drop */
    double drop, q;        /* pressure drop and flow                               [Pa], [m^3/s]  */
};

/* Intermediate values of evaluate() and tangent(). Index 0: chamber 1, index 1: chamber 2 */
struct work {
    double area[2], volume[2], modulus[2], slope[2]; /* slope: d(modulus)/dp   */
    double K;                                        /* flow of an open edge per root of the pressure drop */
    struct edge supply[2], tank[2];                  /* edges from the supply and to the tank    */
    double command, within;                          /* limited to -1 .. 1; within: its derivative */
    struct law dry;
    struct contact out, in; /* end stops, extended and retracted */
};

static double area_of(const double *v, int chamber)
{
    const double rod = chamber == 1 ? v[ROD] : 0;
    return 0.25 * PI * (v[BORE] * v[BORE] - rod * rod);
}

static struct edge edge_of(const double *v, double K, double spool, double drop)
{
    struct edge e = {.open = positive_part(spool - v[OVERLAP], v[CLEARANCE]),
                     .root = signed_root(drop, v[LAMINAR_DROP]),
                     .drop = drop};
    e.q = K * e.open.value * e.root.value; /* (3) */
    return e;
}

static double change_of(const struct edge *e, double K, double dspool, double ddrop)
{
    return K * (e->open.slope * dspool * e->root.value + e->open.value * e->root.slope * ddrop);
}

static void fill_chambers(const double *v, struct work *w)
{
    const double s = v[LENGTH] - v[LENGTH_CLOSED], p[2] = {v[P1], v[P2]}, oil[2] = {s, v[STROKE] - s};
    for (int c = 0; c < 2; c++) {
        w->area[c] = area_of(v, c);

        /* V1 = A1 (l0 + s),   V2 = A2 (l0 + stroke - s)                                               (5) */
        w->volume[c] = w->area[c] * (v[DEAD_LENGTH] + oil[c]);

        /* 1/beta(p) = 1/beta + air pa/P^2,   P = (p + pa)+ : absolute pressure, kept above zero where the oil boils  (6) */
        const struct law P = positive_part(p[c] + ATMOSPHERE, VAPOR);
        const double softness = v[AIR] * v[BULK_MODULUS] * ATMOSPHERE / (P.value * P.value);
        w->modulus[c] = v[BULK_MODULUS] / (1 + softness);
        w->slope[c] = 2 * w->modulus[c] * softness / ((1 + softness) * P.value) * P.slope;
    }
}

/* What the rates of the states depend on */
static void fill_oil(const double *v, struct work *w)
{
    const double ps = v[SUPPLY_PRESSURE], pt = v[TANK_PRESSURE], z = v[SPOOL];
    fill_chambers(v, w);

    /* K = Qn / root(dpn);   extending: supply to chamber 1, chamber 2 to tank; retracting: reversed   (3), (4) */
    w->K = v[NOMINAL_FLOW] / signed_root(v[NOMINAL_DROP], v[LAMINAR_DROP]).value;
    w->supply[0] = edge_of(v, w->K, z, ps - v[P1]);
    w->tank[0] = edge_of(v, w->K, -z, v[P1] - pt);
    w->supply[1] = edge_of(v, w->K, -z, ps - v[P2]);
    w->tank[1] = edge_of(v, w->K, z, v[P2] - pt);

    w->command = fmin(fmax(v[COMMAND], -1), 1);
    w->within = fabs(v[COMMAND]) <= 1;
}

static struct work work_of(const double *v)
{
    struct work w;
    const double s = v[LENGTH] - v[LENGTH_CLOSED];
    fill_oil(v, &w);
    w.dry = smooth_sign(v[RATE], v[FRICTION_RATE]);

    /* k p (1 + d dp/dt), never pulling                                                               (8) */
    w.out = contact(s - v[STROKE], v[RATE], v[STOP_STIFFNESS], v[STOP_DAMPING]);
    w.in = contact(-s, -v[RATE], v[STOP_STIFFNESS], v[STOP_DAMPING]);
    return w;
}

/* Oil into the chambers, and the rates of the states */
static void set_rates(double *v, const struct work *w, double in[2])
{
    const double wn = v[SPOOL_FREQUENCY], leak = v[LEAKAGE] * (v[P1] - v[P2]);
    v[FLOW1] = w->supply[0].q - w->tank[0].q;
    v[FLOW2] = w->supply[1].q - w->tank[1].q;

    /* z'' = wn^2 (command - z) - 2 zeta wn z'                                                        (2) */
    v[SPOOL_DOT] = v[SPOOL_RATE];
    v[SPOOL_RATE_DOT] = wn * wn * (w->command - v[SPOOL]) - 2 * v[SPOOL_DAMPING] * wn * v[SPOOL_RATE];

    /* p1' = beta/V1 (Q1 - A1 v - leak),   p2' = beta/V2 (Q2 + A2 v + leak)                           (5) */
    in[0] = v[FLOW1] - w->area[0] * v[RATE] - leak;
    in[1] = v[FLOW2] + w->area[1] * v[RATE] + leak;
    v[P1_DOT] = w->modulus[0] / w->volume[0] * in[0];
    v[P2_DOT] = w->modulus[1] / w->volume[1] * in[1];
}

static void rates(double *v)
{
    struct work w;
    double in[2];
    fill_oil(v, &w);
    set_rates(v, &w, in);
}

static void evaluate(double *v)
{
    const struct work w = work_of(v);
    const double *A = w.area, leak = v[LEAKAGE] * (v[P1] - v[P2]);
    double in[2];
    set_rates(v, &w, in);
    v[POSITION] = v[LENGTH] - v[LENGTH_CLOSED];
    v[SUPPLY_FLOW] = w.supply[0].q + w.supply[1].q;
    v[RETURN_FLOW] = w.tank[0].q + w.tank[1].q;

    /* F = p1 A1 - p2 A2 - friction + stops                                                      (1), (7) */
    v[FRICTION] = v[COULOMB] * w.dry.value + v[VISCOUS] * v[RATE];
    v[STOP_FORCE] = w.in.force - w.out.force;
    v[FORCE] = v[P1] * A[0] - v[P2] * A[1] - v[FRICTION] + v[STOP_FORCE];

    /* supply = mechanical + valve + leakage + friction + stops + compression                         (9) */
    v[POWER_SUPPLY] = v[SUPPLY_PRESSURE] * v[SUPPLY_FLOW] - v[TANK_PRESSURE] * v[RETURN_FLOW];
    v[POWER_MECHANICAL] = v[FORCE] * v[RATE];
    v[POWER_LEAKAGE] = leak * (v[P1] - v[P2]);
    v[POWER_FRICTION] = v[FRICTION] * v[RATE];
    v[POWER_STOPS] = -v[STOP_FORCE] * v[RATE];
    v[POWER_COMPRESSION] = v[P1] * in[0] + v[P2] * in[1];
    v[POWER_VALVE] = 0;
    for (int c = 0; c < 2; c++) v[POWER_VALVE] += w.supply[c].drop * w.supply[c].q + w.tank[c].drop * w.tank[c].q;
}

static void tangent(const double *v, double *dv)
{
    const struct work w = work_of(v);
    const double wn = v[SPOOL_FREQUENCY], *A = w.area, leak = v[LEAKAGE] * (v[P1] - v[P2]);
    const double dz = dv[SPOOL], dp[2] = {dv[P1], dv[P2]}, ds = dv[LENGTH], drate = dv[RATE];
    const double dleak = v[LEAKAGE] * (dp[0] - dp[1]), doil[2] = {ds, -ds};
    double dsupply[2], dtank[2], dpower = 0;
    for (int c = 0; c < 2; c++) {
        const double opens = c == 0 ? dz : -dz;
        dsupply[c] = change_of(&w.supply[c], w.K, opens, -dp[c]);
        dtank[c] = change_of(&w.tank[c], w.K, -opens, dp[c]);
        dpower +=
            w.supply[c].drop * dsupply[c] - dp[c] * w.supply[c].q + w.tank[c].drop * dtank[c] + dp[c] * w.tank[c].q;
    }
    dv[POSITION] = ds;
    dv[FLOW1] = dsupply[0] - dtank[0];
    dv[FLOW2] = dsupply[1] - dtank[1];
    dv[SUPPLY_FLOW] = dsupply[0] + dsupply[1];
    dv[RETURN_FLOW] = dtank[0] + dtank[1];

    dv[SPOOL_DOT] = dv[SPOOL_RATE];
    dv[SPOOL_RATE_DOT] = wn * wn * (w.within * dv[COMMAND] - dz) - 2 * v[SPOOL_DAMPING] * wn * dv[SPOOL_RATE];

    const double in[2] = {v[FLOW1] - A[0] * v[RATE] - leak, v[FLOW2] + A[1] * v[RATE] + leak};
    const double din[2] = {dv[FLOW1] - A[0] * drate - dleak, dv[FLOW2] + A[1] * drate + dleak};
    for (int c = 0; c < 2; c++) {
        const double rate = w.modulus[c] / w.volume[c];
        dv[P1_DOT + c] = rate * din[c] + (w.slope[c] * dp[c] - rate * A[c] * doil[c]) / w.volume[c] * in[c];
    }

    dv[FRICTION] = (v[COULOMB] * w.dry.slope + v[VISCOUS]) * drate;
    dv[STOP_FORCE] = -(w.in.by_p + w.out.by_p) * ds - (w.in.by_pd + w.out.by_pd) * drate;
    dv[FORCE] = dp[0] * A[0] - dp[1] * A[1] - dv[FRICTION] + dv[STOP_FORCE];

    dv[POWER_SUPPLY] = v[SUPPLY_PRESSURE] * dv[SUPPLY_FLOW] - v[TANK_PRESSURE] * dv[RETURN_FLOW];
    dv[POWER_MECHANICAL] = dv[FORCE] * v[RATE] + v[FORCE] * drate;
    dv[POWER_LEAKAGE] = dleak * (v[P1] - v[P2]) + leak * (dp[0] - dp[1]);
    dv[POWER_FRICTION] = dv[FRICTION] * v[RATE] + v[FRICTION] * drate;
    dv[POWER_STOPS] = -dv[STOP_FORCE] * v[RATE] - v[STOP_FORCE] * drate;
    dv[POWER_COMPRESSION] = dp[0] * in[0] + v[P1] * din[0] + dp[1] * in[1] + v[P2] * din[1];
    dv[POWER_VALVE] = dpower;
}

/* p1 A1 - p2 A2 = force, the lower of the two pressures as given */
static void start(double *v)
{
    const double A1 = area_of(v, 0), A2 = area_of(v, 1), low = v[PRESSURE_START];
    v[P1] = (v[FORCE_START] + low * A2) / A1;
    v[P2] = low;
    if (v[P1] < low) {
        v[P1] = low;
        v[P2] = (low * A1 - v[FORCE_START]) / A2;
    }
    v[SPOOL] = v[SPOOL_RATE] = 0;
}

static const char *conflict(const double *v, char text[CONFLICT_SIZE])
{
    const double A1 = area_of(v, 0), A2 = area_of(v, 1), low = v[PRESSURE_START], ps = v[SUPPLY_PRESSURE];
    if (v[ROD] >= v[BORE]) return "the rod must be thinner than the bore";
    if (!(A2 > 0 && isfinite(A1))) return "bore and rod must be lengths in m whose areas are finite and positive";
    if (v[TANK_PRESSURE] >= ps) return "tank_pressure must be below supply_pressure";
    if (low > ps) return "pressure_start must not exceed supply_pressure";

    /* neither pressure of start() may exceed the supply pressure */
    const double least = low * A1 - ps * A2, most = ps * A1 - low * A2;
    if (v[FORCE_START] >= least && v[FORCE_START] <= most) return NULL;
    snprintf(text, CONFLICT_SIZE, "force_start = %.9g N: supply_pressure and pressure_start allow only %.9g to %.9g N",
             v[FORCE_START], least, most);
    return text;
}

static const char *fault(const double *v)
{
    const double s = v[LENGTH] - v[LENGTH_CLOSED];
    if (s <= -v[DEAD_LENGTH] || s >= v[STROKE] + v[DEAD_LENGTH])
        return "the length is outside the range of the cylinder: a chamber has no volume left; "
               "check length_closed, stroke and the sign of the force";
    return NULL;
}

const struct drive cylinder_drive = {
    .name = "cylinder",
    .description = "Hydraulic cylinder with a 4/3 proportional valve: valve command in, force out",
    .n_rows = ROWS,
    .n_states = VALUES - ROWS,
    .row = table,
    .n_driven = 1,
    .position = LENGTH,
    .rate = RATE,
    .start = start,
    .evaluate = evaluate,
    .rates = rates,
    .tangent = tangent,
    .conflict = conflict,
    .fault = fault};
