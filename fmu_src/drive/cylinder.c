/* A hydraulic cylinder with a single rod and a 4/3 proportional valve at constant supply pressure, with hoses and counterbalance
   valves as options. Equations and numbers: docs/drives.md; Merritt, Hydraulic Control Systems, chapters 3, 5 and 6; Jelali and Kroll, Hydraulic Servo-systems,
   chapter 4.

   Pressures are gauge pressures. Chamber 1 is on the piston side (it extends the cylinder), chamber 2 on the rod side. The
   mass of the piston is not modeled here: it belongs to the arm, or is neglected. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "drive/drive.h"
#include "drive/laws.h"

#define ATMOSPHERE 101325.0 /* Pa */
#define VAPOR      1000.0   /* Pa: below this pressure the oil boils, and the pressure hardly decreases */

/* clang-format off */
#define CYLINDER_LIST(X) \
    X(COMMAND, "command", INPUT, "1", NULL, 0, ANY_NUMBER, "valve command: 1 extends, -1 retracts at full opening; limited to this range") \
    X(LENGTH, "length", INPUT, "m", NULL, 1.9, ANY_NUMBER, "distance between the two pins, from the arm") \
    X(RATE, "rate", INPUT, "m/s", NULL, 0, ANY_NUMBER, "rate of the length, from the arm") \
    X(SHARE, "supply_share", INPUT, "1", NULL, 1, ANY_NUMBER, "factor on the flow from the supply, above 0, at most 1: below 1 if a common pump cannot give what all ask for") \
    X(FORCE, "force", OUTPUT, "N", NULL, 0, ANY_NUMBER, "force that pushes the two pins apart, to the arm") \
    X(P1, "p1", OUTPUT_STATE, "Pa", "bar", 1e7, ANY_NUMBER, "pressure in chamber 1, on the piston's full area") \
    X(P2, "p2", OUTPUT_STATE, "Pa", "bar", 1e7, ANY_NUMBER, "pressure in chamber 2, on the ring around the rod") \
    X(SPOOL, "spool", OUTPUT_STATE, "1", NULL, 1, ANY_NUMBER, "position of the valve spool, as a fraction of full opening") \
    X(FLOW1, "flow1", OUTPUT, "m3/s", "l/min", 0, ANY_NUMBER, "flow from the valve into chamber 1") \
    X(FLOW2, "flow2", OUTPUT, "m3/s", "l/min", 0, ANY_NUMBER, "flow from the valve into chamber 2") \
    X(SUPPLY_FLOW, "supply_flow", OUTPUT, "m3/s", "l/min", 0, ANY_NUMBER, "flow from the supply into the valve") \
    X(RETURN_FLOW, "return_flow", OUTPUT, "m3/s", "l/min", 0, ANY_NUMBER, "flow from the valve into the tank") \
    X(DEMAND, "supply_demand", LOCAL, "m3/s", "l/min", 0, ANY_NUMBER, "flow from the supply if supply_share is 1") \
    X(LINE1, "line1", OUTPUT, "Pa", "bar", 0, ANY_NUMBER, "pressure between the valve and the counterbalance valve of chamber 1; p1 if there is none") \
    X(LINE2, "line2", OUTPUT, "Pa", "bar", 0, ANY_NUMBER, "pressure between the valve and the counterbalance valve of chamber 2; p2 if there is none") \
    X(SPOOL_RATE, "spool_rate", OUTPUT_STATE, "1/s", NULL, 100, ANY_NUMBER, "rate of the spool position") \
    X(POSITION, "position", LOCAL, "m", "mm", 0, ANY_NUMBER, "position of the piston: 0 (retracted) to the stroke") \
    X(FRICTION, "friction", LOCAL, "N", NULL, 0, ANY_NUMBER, "friction force of the seals, against the motion") \
    X(STOP_FORCE, "stop_force", LOCAL, "N", NULL, 0, ANY_NUMBER, "force of the end stops, positive if extending") \
    X(POWER_SUPPLY, "power.supply", OUTPUT, "W", NULL, 0, ANY_NUMBER, "hydraulic input power: supply minus return") \
    X(POWER_MECHANICAL, "power.mechanical", OUTPUT, "W", NULL, 0, ANY_NUMBER, "mechanical output power: force times rate") \
    X(POWER_VALVE, "power.valve", OUTPUT, "W", NULL, 0, ANY_NUMBER, "power lost at the four edges of the valve") \
    X(POWER_COUNTERBALANCE, "power.counterbalance", OUTPUT, "W", NULL, 0, ANY_NUMBER, "power lost in the counterbalance valves") \
    X(POWER_LEAKAGE, "power.leakage", OUTPUT, "W", NULL, 0, ANY_NUMBER, "power lost by leakage past the piston") \
    X(POWER_FRICTION, "power.friction", OUTPUT, "W", NULL, 0, ANY_NUMBER, "power lost in the seals") \
    X(POWER_STOPS, "power.stops", OUTPUT, "W", NULL, 0, ANY_NUMBER, "power into the end stops, stored and lost") \
    X(POWER_COMPRESSION, "power.compression", OUTPUT, "W", NULL, 0, ANY_NUMBER, "power into the compression of the oil") \
    X(BORE, "bore", PARAMETER, "m", "mm", 0.080, ABOVE_ZERO, "diameter of the piston") \
    X(ROD, "rod", PARAMETER, "m", "mm", 0.045, ABOVE_ZERO, "diameter of the rod") \
    X(STROKE, "stroke", PARAMETER, "m", NULL, 1, ABOVE_ZERO, "distance from end stop to end stop") \
    X(LENGTH_CLOSED, "length_closed", PARAMETER, "m", NULL, 1.4, ABOVE_ZERO, "distance between the pins when retracted") \
    X(DEAD_LENGTH, "dead_length", PARAMETER, "m", "mm", 0.05, ABOVE_ZERO, "dead volume of each chamber and its line, with the piston at that end, divided by the area") \
    X(HOSE_VOLUME1, "hose_volume1", PARAMETER, "m3", NULL, 0, NOT_NEGATIVE, "volume of the hose at chamber 1, in addition to dead_length") \
    X(HOSE_VOLUME2, "hose_volume2", PARAMETER, "m3", NULL, 0, NOT_NEGATIVE, "volume of the hose at chamber 2, in addition to dead_length") \
    X(SUPPLY_PRESSURE, "supply_pressure", PARAMETER, "Pa", "bar", 200e5, ABOVE_ZERO, "supply pressure at the valve") \
    X(TANK_PRESSURE, "tank_pressure", PARAMETER, "Pa", "bar", 0, NOT_NEGATIVE, "tank pressure at the valve") \
    X(BULK_MODULUS, "bulk_modulus", PARAMETER, "Pa", NULL, 1.2e9, ABOVE_ZERO, "effective bulk modulus of oil and hoses at high pressure") \
    X(AIR, "air", PARAMETER, "1", NULL, 0.005, NOT_NEGATIVE, "volume of undissolved air per volume of oil at atmospheric pressure; softens the oil at low pressure") \
    X(NOMINAL_FLOW, "nominal_flow", PARAMETER, "m3/s", "l/min", 40e-3 / 60, ABOVE_ZERO, "flow through one fully open edge of the valve") \
    X(NOMINAL_DROP, "nominal_drop", PARAMETER, "Pa", "bar", 35e5, ABOVE_ZERO, "pressure drop across one edge at the nominal flow") \
    X(LAMINAR_DROP, "laminar_drop", PARAMETER, "Pa", "bar", 1e5, ABOVE_ZERO, "pressure drop below which the flow becomes laminar: linear in the drop") \
    X(OVERLAP, "overlap", PARAMETER, "1", NULL, 0, NOT_NEGATIVE, "overlap of the spool edges: dead band of the valve, as a fraction of full opening") \
    X(CLEARANCE, "clearance", PARAMETER, "1", NULL, 1e-3, NOT_NEGATIVE, "spool clearance: twice the remaining opening of an edge at its corner, as a fraction of full opening") \
    X(TANK_UNDERLAP, "tank_underlap", PARAMETER, "1", NULL, 0, NOT_NEGATIVE, "underlap of the edges to the tank: with the spool in the middle they relieve the lines, as counterbalance valves need it; a fraction of full opening") \
    X(SPOOL_FREQUENCY, "spool_frequency", PARAMETER, "rad/s", NULL, 150, ABOVE_ZERO, "natural frequency of the spool") \
    X(SPOOL_DAMPING, "spool_damping", PARAMETER, "1", NULL, 0.8, NOT_NEGATIVE, "damping ratio of the spool") \
    X(COUNTERBALANCE1, "counterbalance1", PARAMETER, "Pa", "bar", 0, NOT_NEGATIVE, "setting of the counterbalance valve of chamber 1: pressure at which it begins to open without pilot pressure; 0: no valve") \
    X(COUNTERBALANCE2, "counterbalance2", PARAMETER, "Pa", "bar", 0, NOT_NEGATIVE, "setting of the counterbalance valve of chamber 2; 0: no valve") \
    X(PILOT_RATIO, "pilot_ratio", PARAMETER, "1", NULL, 4, NOT_NEGATIVE, "pilot ratio of the counterbalance valves: effect of the pressure in the other line, relative to that in the chamber") \
    X(COUNTERBALANCE_RANGE, "counterbalance_range", PARAMETER, "Pa", "bar", 100e5, ABOVE_ZERO, "pressure above the setting at which a counterbalance valve is fully open") \
    X(COUNTERBALANCE_FLOW, "counterbalance_flow", PARAMETER, "m3/s", "l/min", 60e-3 / 60, ABOVE_ZERO, "flow through a fully open counterbalance valve, or its check valve") \
    X(COUNTERBALANCE_DROP, "counterbalance_drop", PARAMETER, "Pa", "bar", 10e5, ABOVE_ZERO, "pressure drop across a counterbalance valve at that flow") \
    X(LEAKAGE, "leakage", PARAMETER, "m3/(s.Pa)", NULL, 1e-13, NOT_NEGATIVE, "flow past the piston per pressure difference") \
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

/* The pressure in the line between the edges of a chamber and its counterbalance valve, with its derivatives */
struct line {
    double p, by_spool, by_chamber, by_opening, by_flow;
    double q; /* flow from the supply, with a counterbalance valve */
};

/* Intermediate values of evaluate() and tangent(). Index 0: chamber 1, index 1: chamber 2 */
struct work {
    double area[2], volume[2], modulus[2], slope[2]; /* slope: d(modulus)/dp   */
    double K;                                        /* flow of an open edge per root of the pressure drop */
    struct line pilot[2], demand[2], line[2];        /* at share 1 without pilot; at share 1; actual     */
    struct law opening[2];                           /* of the counterbalance valves, by their pressure  */
    struct edge supply[2], tank[2];                  /* edges from the supply, at share 1, and to the tank */
    double demanded[2], from_supply[2], flow[2];     /* from the supply at share 1; actual; into the chambers    */
    double command, within;                          /* limited to -1 .. 1; within: its derivative */
    struct law dry;
    struct contact out, in; /* end stops, extended and retracted */
};

static double area_of(const double *v, int chamber)
{
    const double rod = chamber == 1 ? v[ROD] : 0;
    return 0.25 * PI * (v[BORE] * v[BORE] - rod * rod);
}

/* K = Qn/root(dpn)                                                                                           (3) */
static double edge_size(const double *v)
{
    return v[NOMINAL_FLOW] / signed_root(v[NOMINAL_DROP], v[LAMINAR_DROP]).value;
}

static struct edge edge_of(const double *v, double K, double spool, double drop)
{
    struct edge e = {.open = positive_part(spool - v[OVERLAP], v[CLEARANCE]),
                     .root = signed_root(drop, v[LAMINAR_DROP]),
                     .drop = drop};
    e.q = K * e.open.value * e.root.value; /* (3) */
    return e;
}

/* The edges of a chamber at a pressure in its line; extending opens the supply to chamber 1, retracting to chamber 2   (4) */
static struct edge supply_edge(const double *v, double K, int c, double p)
{
    return edge_of(v, K, c == 0 ? v[SPOOL] : -v[SPOOL], v[SUPPLY_PRESSURE] - p);
}

static struct edge tank_edge(const double *v, double K, int c, double p)
{
    return edge_of(v, K, (c == 0 ? -v[SPOOL] : v[SPOOL]) + v[TANK_UNDERLAP], p - v[TANK_PRESSURE]);
}

static double change_of(const struct edge *e, double K, double dspool, double ddrop)
{
    return K * (e->open.slope * dspool * e->root.value + e->open.value * e->root.slope * ddrop);
}

/* ---- counterbalance valves --------------------------------------------------------------------------------------------- */

/* Flow from the line into the chamber, with its derivatives */
struct passage {
    double q, by_drop, by_opening;
};

static bool has_counterbalance(const double *v, int c)
{
    return v[COUNTERBALANCE1 + c] > 0;
}

/* q = Kc (1 - (1 - ramp(drop/laminar))(1 - x)) root(drop): open by x, or by the check valve if the drop is positive   (12) */
static struct passage passage_of(const double *v, double x, double drop)
{
    const double K = v[COUNTERBALANCE_FLOW] / signed_root(v[COUNTERBALANCE_DROP], v[LAMINAR_DROP]).value;
    const struct law root = signed_root(drop, v[LAMINAR_DROP]), check = ramp(drop / v[LAMINAR_DROP]);
    const double open = 1 - (1 - check.value) * (1 - x), slope = check.slope * (1 - x) / v[LAMINAR_DROP];
    return (struct passage){.q = K * open * root.value,
                            .by_drop = K * (slope * root.value + open * root.slope),
                            .by_opening = K * (1 - check.value) * root.value};
}

/* x = ramp((p + r pilot - setting)/range), by p + r pilot                                                    (11) */
static struct law opening_of(const double *v, int c, double pilot)
{
    if (!has_counterbalance(v, c)) return (struct law){0};
    const double range = v[COUNTERBALANCE_RANGE];
    const struct law x = ramp((v[P1 + c] + v[PILOT_RATIO] * pilot - v[COUNTERBALANCE1 + c]) / range);
    return (struct law){x.value, x.slope / range};
}

/* A line without volume between the edges of chamber c and its counterbalance valve, opened by x */
struct node {
    int c;
    double K, x, guess;  /* guess: of the pressure                                                */
    const double *given; /* flow from the supply; NULL: that through its edge                     */
};

/* Flow into the node minus flow out of it at a pressure p: decreases with p */
struct balance {
    double q, slope; /* slope: -dq/dp */
    struct edge supply, tank;
    struct passage passage;
};

static struct balance balance_of(const double *v, const struct node *n, double p)
{
    struct balance b = {.supply = supply_edge(v, n->K, n->c, p),
                        .tank = tank_edge(v, n->K, n->c, p),
                        .passage = passage_of(v, n->x, p - v[P1 + n->c])};
    b.q = (n->given != NULL ? *n->given : b.supply.q) - b.tank.q - b.passage.q;
    b.slope = change_of(&b.tank, n->K, 0, 1) + b.passage.by_drop;
    if (n->given == NULL) b.slope += change_of(&b.supply, n->K, 0, 1);
    return b;
}

/* The pressure with balance 0. It exists, between the least and the largest pressure around the line, or beyond them if the flow from
   the supply is given. Newton's method, and bisection if that does not halve the step */
static double line_pressure(const double *v, const struct node *n)
{
    const double pc = v[P1 + n->c], ps = v[SUPPLY_PRESSURE], pt = v[TANK_PRESSURE];
    double low = fmin(fmin(pc, pt), ps), high = fmax(fmax(pc, pt), ps), p = n->guess;
    while (n->given != NULL && isfinite(high) && balance_of(v, n, high).q > 0) high += high - low + v[LAMINAR_DROP];
    while (n->given != NULL && isfinite(low) && balance_of(v, n, low).q < 0) low -= high - low + v[LAMINAR_DROP];
    double before = high - low;
    const double tolerance = 2 * DBL_EPSILON * (fabs(low) + fabs(high));
    while (before > tolerance) {
        const struct balance b = balance_of(v, n, p);
        if (b.q > 0) low = p;
        else high = p;
        double step = b.q / b.slope;
        if (!(p + step >= low && p + step <= high && fabs(step) <= 0.5 * before)) step = 0.5 * (low + high) - p;
        p += step;
        before = fabs(step);
    }
    return p;
}

/* supply = tank + passage                                                                                   (13) */
static struct line line_of(const double *v, const struct node *n)
{
    if (!has_counterbalance(v, n->c)) return (struct line){.p = v[P1 + n->c], .by_chamber = 1};
    const double p = line_pressure(v, n), turn = n->c == 0 ? 1 : -1;
    const struct balance b = balance_of(v, n, p);
    const double from_supply = n->given != NULL ? 0 : change_of(&b.supply, n->K, turn, 0);
    const bool wide =
        2 * change_of(&b.supply, n->K, 0, 1) > b.slope; /* then the flow out has the smaller rounding error */
    return (struct line){.p = p,
                         .by_spool = (from_supply - change_of(&b.tank, n->K, -turn, 0)) / b.slope,
                         .by_chamber = b.passage.by_drop / b.slope,
                         .by_opening = -b.passage.by_opening / b.slope,
                         .by_flow = 1 / b.slope,
                         .q = wide ? b.tank.q + b.passage.q : b.supply.q};
}

/* The line that is the pilot of the other valve: at share 1, with this valve unpiloted                      (14) */
static struct line pilot_of(const double *v, double K, int c)
{
    if (!has_counterbalance(v, 1 - c)) return (struct line){.p = v[P1 + c], .by_chamber = 1};
    const struct law relief = opening_of(v, c, 0);
    struct line pilot = line_of(v, &(struct node){.c = c, .K = K, .x = relief.value, .guess = v[P1 + c]});
    pilot.by_chamber += pilot.by_opening * relief.slope;
    return pilot;
}

/* Flows of a chamber. Without counterbalance valve its line is the chamber, and the flow to the tank does not depend on the share (3) */
static void fill_flows(const double *v, struct work *w, int c)
{
    const bool valve = has_counterbalance(v, c);
    w->opening[c] = opening_of(v, c, w->pilot[1 - c].p);
    struct node node = {.c = c, .K = w->K, .x = w->opening[c].value, .guess = v[P1 + c]};
    w->demand[c] = line_of(v, &node);
    w->supply[c] = supply_edge(v, w->K, c, w->demand[c].p);
    w->demanded[c] = valve ? w->demand[c].q : w->supply[c].q;

    /* Q = share times demand                                                                                (10) */
    w->from_supply[c] = v[SHARE] * w->demanded[c];
    node.given = &w->from_supply[c];
    node.guess = w->demand[c].p;
    w->line[c] = line_of(v, &node);
    w->tank[c] = tank_edge(v, w->K, c, w->line[c].p);
    w->flow[c] = valve ? passage_of(v, node.x, w->line[c].p - v[P1 + c]).q : w->from_supply[c] - w->tank[c].q;
}

/* ---- the cylinder ------------------------------------------------------------------------------------------------------ */

static void fill_chambers(const double *v, struct work *w)
{
    const double s = v[LENGTH] - v[LENGTH_CLOSED], p[2] = {v[P1], v[P2]}, oil[2] = {s, v[STROKE] - s};
    for (int c = 0; c < 2; c++) {
        w->area[c] = area_of(v, c);

        /* V1 = A1 (l0 + s) + Vh1,   V2 = A2 (l0 + stroke - s) + Vh2                                   (5) */
        w->volume[c] = w->area[c] * (v[DEAD_LENGTH] + oil[c]) + v[HOSE_VOLUME1 + c];

        /* 1/beta(p) = 1/beta + air pa/P^2,   P = (p + pa)+ : absolute pressure, kept above zero where the oil boils  (6) */
        const struct law P = positive_part(p[c] + ATMOSPHERE, VAPOR);
        const double softness = v[AIR] * v[BULK_MODULUS] * ATMOSPHERE / (P.value * P.value);
        w->modulus[c] = v[BULK_MODULUS] / (1 + softness);
        w->slope[c] = 2 * w->modulus[c] * softness / ((1 + softness) * P.value) * P.slope;
    }
}

/* All that the rates of the states depend on */
static void fill_oil(const double *v, struct work *w)
{
    fill_chambers(v, w);
    w->K = edge_size(v);
    for (int c = 0; c < 2; c++) w->pilot[c] = pilot_of(v, w->K, c);
    for (int c = 0; c < 2; c++) fill_flows(v, w, c);
    w->command = fmin(fmax(v[COMMAND], -1), 1);
    w->within = fabs(v[COMMAND]) <= 1;
}

/* Friction and end stops */
static void fill_contacts(const double *v, struct work *w)
{
    const double s = v[LENGTH] - v[LENGTH_CLOSED];
    w->dry = smooth_sign(v[RATE], v[FRICTION_RATE]);

    /* k p (1 + d dp/dt), never pulling                                                               (8) */
    w->out = contact(s - v[STROKE], v[RATE], v[STOP_STIFFNESS], v[STOP_DAMPING]);
    w->in = contact(-s, -v[RATE], v[STOP_STIFFNESS], v[STOP_DAMPING]);
}

/* The rates of the states, and the flows that compress the oil in the chambers. Not inlined, so that evaluate() and rates() agree to the
   bit, whatever multiplications and additions the compiler fuses in them. */
#ifdef __GNUC__
__attribute__((noinline))
#endif
static void
set_rates(double *v, struct work *w, double in[2])
{
    const double wn = v[SPOOL_FREQUENCY], leak = v[LEAKAGE] * (v[P1] - v[P2]);
    fill_oil(v, w);
    v[FLOW1] = w->flow[0];
    v[FLOW2] = w->flow[1];

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
    set_rates(v, &w, in);
}

static void evaluate(double *v)
{
    struct work w;
    const double *A = w.area, leak = v[LEAKAGE] * (v[P1] - v[P2]);
    double in[2];
    set_rates(v, &w, in);
    fill_contacts(v, &w);
    v[POSITION] = v[LENGTH] - v[LENGTH_CLOSED];
    v[DEMAND] = w.demanded[0] + w.demanded[1];
    v[SUPPLY_FLOW] = w.from_supply[0] + w.from_supply[1];
    v[RETURN_FLOW] = w.tank[0].q + w.tank[1].q;
    v[LINE1] = w.line[0].p;
    v[LINE2] = w.line[1].p;

    /* F = p1 A1 - p2 A2 - friction + stops                                                      (1), (7) */
    v[FRICTION] = v[COULOMB] * w.dry.value + v[VISCOUS] * v[RATE];
    v[STOP_FORCE] = w.in.force - w.out.force;
    v[FORCE] = v[P1] * A[0] - v[P2] * A[1] - v[FRICTION] + v[STOP_FORCE];

    /* supply = mechanical + valve + counterbalance + leakage + friction + stops + compression        (9) */
    v[POWER_SUPPLY] = v[SUPPLY_PRESSURE] * v[SUPPLY_FLOW] - v[TANK_PRESSURE] * v[RETURN_FLOW];
    v[POWER_MECHANICAL] = v[FORCE] * v[RATE];
    v[POWER_LEAKAGE] = leak * (v[P1] - v[P2]);
    v[POWER_FRICTION] = v[FRICTION] * v[RATE];
    v[POWER_STOPS] = -v[STOP_FORCE] * v[RATE];
    v[POWER_COMPRESSION] = v[P1] * in[0] + v[P2] * in[1];
    v[POWER_VALVE] = v[POWER_COUNTERBALANCE] = 0;
    for (int c = 0; c < 2; c++) {
        v[POWER_VALVE] += (v[SUPPLY_PRESSURE] - w.line[c].p) * w.from_supply[c] + w.tank[c].drop * w.tank[c].q;
        v[POWER_COUNTERBALANCE] += (w.line[c].p - v[P1 + c]) * w.flow[c];
    }
}

static double line_change(const struct line *line, double dz, double dp, double dopening, double dflow)
{
    return line->by_spool * dz + line->by_chamber * dp + line->by_opening * dopening + line->by_flow * dflow;
}

/* Changes of flows, pressures of the lines and losses there */
static void change_flows(const double *v, const struct work *w, double *dv)
{
    const double dz = dv[SPOOL], *dp = dv + P1;
    dv[DEMAND] = dv[SUPPLY_FLOW] = dv[RETURN_FLOW] = dv[POWER_VALVE] = dv[POWER_COUNTERBALANCE] = 0;
    for (int c = 0; c < 2; c++) {
        const double opens = c == 0 ? dz : -dz, dpilot = line_change(&w->pilot[1 - c], dz, dp[1 - c], 0, 0);
        const double dx = w->opening[c].slope * (dp[c] + v[PILOT_RATIO] * dpilot);
        const double ddemand = change_of(&w->supply[c], w->K, opens, -line_change(&w->demand[c], dz, dp[c], dx, 0));
        const double dsupply = v[SHARE] * ddemand + dv[SHARE] * w->demanded[c];
        const double dline = line_change(&w->line[c], dz, dp[c], dx, dsupply);
        const double dtank = change_of(&w->tank[c], w->K, -opens, dline), dflow = dsupply - dtank;
        dv[DEMAND] += ddemand;
        dv[SUPPLY_FLOW] += dsupply;
        dv[RETURN_FLOW] += dtank;
        dv[FLOW1 + c] = dflow;
        dv[LINE1 + c] = dline;
        dv[POWER_VALVE] += (v[SUPPLY_PRESSURE] - w->line[c].p) * dsupply - dline * w->from_supply[c] +
                           w->tank[c].drop * dtank + dline * w->tank[c].q;
        dv[POWER_COUNTERBALANCE] += (w->line[c].p - v[P1 + c]) * dflow + (dline - dp[c]) * w->flow[c];
    }
}

static void tangent(const double *v, double *dv)
{
    struct work w;
    fill_oil(v, &w);
    fill_contacts(v, &w);
    const double wn = v[SPOOL_FREQUENCY], *A = w.area, leak = v[LEAKAGE] * (v[P1] - v[P2]);
    const double dz = dv[SPOOL], dp[2] = {dv[P1], dv[P2]}, ds = dv[LENGTH], drate = dv[RATE];
    const double dleak = v[LEAKAGE] * (dp[0] - dp[1]), doil[2] = {ds, -ds};
    change_flows(v, &w, dv);
    dv[POSITION] = ds;

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
}

/* p1 A1 - p2 A2 = force, the lower of the two pressures as given; the valve in the middle */
static void set_pressures(double *v, double force, double low)
{
    const double A1 = area_of(v, 0), A2 = area_of(v, 1);
    v[P1] = (force + low * A2) / A1;
    v[P2] = low;
    if (v[P1] < low) {
        v[P1] = low;
        v[P2] = (low * A1 - force) / A2;
    }
    v[SPOOL] = v[SPOOL_RATE] = 0;
}

static void start(double *v)
{
    set_pressures(v, v[FORCE_START], v[PRESSURE_START]);
}

/* Neither pressure of set_pressures() may exceed the supply pressure */
static const char *check_force(const double *v, const char *what, double force, char text[CONFLICT_SIZE])
{
    const double A1 = area_of(v, 0), A2 = area_of(v, 1), low = v[PRESSURE_START], ps = v[SUPPLY_PRESSURE];
    const double least = low * A1 - ps * A2, most = ps * A1 - low * A2;
    if (force >= least && force <= most) return NULL;
    snprintf(text, CONFLICT_SIZE, "%s = %.9g N: supply_pressure and pressure_start allow only %.9g to %.9g N", what,
             force, least, most);
    return text;
}

static const char *conflict(const double *v, char text[CONFLICT_SIZE])
{
    const double A1 = area_of(v, 0), A2 = area_of(v, 1), low = v[PRESSURE_START], ps = v[SUPPLY_PRESSURE];
    if (v[ROD] >= v[BORE]) return "the rod must be thinner than the bore";
    if (!(A2 > 0 && isfinite(A1))) return "bore and rod must be lengths in m whose areas are finite and positive";
    if (v[TANK_PRESSURE] >= ps) return "tank_pressure must be below supply_pressure";
    if (low > ps) return "pressure_start must not exceed supply_pressure";
    if ((has_counterbalance(v, 0) || has_counterbalance(v, 1)) && !(v[CLEARANCE] > 0))
        return "clearance must be positive with a counterbalance valve: it determines the pressure in the line";
    return check_force(v, "force_start", v[FORCE_START], text);
}

/* The friction is zero at rest. A counterbalance valve must stay closed */
static const char *hold(double *v, char text[CONFLICT_SIZE])
{
    v[RATE] = v[COMMAND] = 0;
    struct work w;
    fill_contacts(v, &w);
    const double K = edge_size(v), force = v[FORCE] - (w.in.force - w.out.force);
    const bool relieves = v[TANK_UNDERLAP] > v[OVERLAP]; /* chambers without a counterbalance valve */
    const double low = relieves ? v[TANK_PRESSURE] : v[PRESSURE_START];
    set_pressures(v, force, low);
    for (int c = 0; c < 2; c++) {
        if (!relieves || has_counterbalance(v, c) || v[P1 + c] == low) continue;
        snprintf(text, CONFLICT_SIZE,
                 "tank_underlap relieves chamber %d, which carries the load: give it a counterbalance valve", c + 1);
        return text;
    }
    for (int c = 0; c < 2; c++) {
        const double pilot = pilot_of(v, K, 1 - c).p;
        if (opening_of(v, c, pilot).value == 0) continue;
        snprintf(text, CONFLICT_SIZE,
                 "holding force = %.9g N: p%d = %.9g Pa with a pilot of %.9g Pa opens counterbalance%d", force, c + 1,
                 v[P1 + c], pilot, c + 1);
        return text;
    }
    return check_force(v, force == v[FORCE] ? "holding force" : "holding force against an end stop", force, text);
}

static const char *error(const double *v)
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
    .effort = FORCE,
    .command = COMMAND,
    .demand = DEMAND,
    .share = SHARE,
    .start = start,
    .hold = hold,
    .evaluate = evaluate,
    .rates = rates,
    .tangent = tangent,
    .conflict = conflict,
    .error = error};
