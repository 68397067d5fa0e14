#include "sim/variables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mech/mechanism.h"

/* ---- the table ----------------------------------------------------------------------------------------------------- */

/* Whose variable it is: who of the links has it, or every loop or actuator. */
enum per { ROBOT, DRIVEN, PRESCRIBED, FREE, MOVING, FLEXIBLE, LINK, BEAM, PAYLOAD, LOOP, ACTUATOR };
enum { MODES = -1, EQUATIONS = -2 }; /* as many as the link has elastic coordinates, the loop equations */

struct row {
    enum kind kind;
    const char *name; /* %J the joint's, %L the link's, %C the loop's, %A the actuator's */
    enum per per;
    int count;
    enum causality causality;
    enum variability variability;
    enum initial initial;
    const char *unit, *linear_unit; /* of a revolute joint or in general; of a prismatic joint, NULL: the same */
    const char *display_unit;
    unsigned given; /* only where this number stands in the file: enum joint_given (MOVING), enum beam_given (BEAM) */
    const char *description;
};

#define IN  CAUSALITY_INPUT, VARIABILITY_CONTINUOUS, INITIAL_NONE
#define OUT CAUSALITY_OUTPUT, VARIABILITY_CONTINUOUS, INITIAL_CALCULATED
#define LOC CAUSALITY_LOCAL, VARIABILITY_CONTINUOUS, INITIAL_CALCULATED
#define PAR CAUSALITY_PARAMETER, VARIABILITY_FIXED, INITIAL_EXACT
#define TUN CAUSALITY_PARAMETER, VARIABILITY_TUNABLE, INITIAL_EXACT

/* clang-format off */
static const struct row table[] = {
    {KIND_TAU_IN, "%J.tau", DRIVEN, 1, IN, "N.m", "N", NULL, 0, "drive torque or force on the joint"},
    {KIND_Q_IN, "%J.q", PRESCRIBED, 1, IN, "rad", "m", "deg", 0, "prescribed joint position"},
    {KIND_QD_IN, "%J.qd", PRESCRIBED, 1, IN, "rad/s", "m/s", "deg/s", 0, "prescribed joint rate"},
    {KIND_QDD_IN, "%J.qdd", PRESCRIBED, 1, IN, "rad/s2", "m/s2", NULL, 0, "prescribed joint acceleration"},
    {KIND_TIP_FORCE, "tip.force", ROBOT, 3, IN, "N", NULL, NULL, 0, "force on the tip frame, world axes"},
    {KIND_TIP_TORQUE, "tip.torque", ROBOT, 3, IN, "N.m", NULL, NULL, 0, "torque on the tip frame, world axes"},
    {KIND_ACTUATOR_FORCE, "%A.force", ACTUATOR, 1, IN, "N", NULL, NULL, 0, "force of the line actuator, pushing its two points apart"},

    {KIND_Q, "%J.q", FREE, 1, OUT, "rad", "m", "deg", 0, "joint position"},
    {KIND_QD, "%J.qd", FREE, 1, OUT, "rad/s", "m/s", "deg/s", 0, "joint rate"},
    {KIND_QDD, "%J.qdd", FREE, 1, OUT, "rad/s2", "m/s2", NULL, 0, "joint acceleration"},
    {KIND_TAU_OUT, "%J.tau", PRESCRIBED, 1, OUT, "N.m", "N", NULL, 0, "torque or force that the drive of the prescribed joint must give"},
    {KIND_TIP_POSITION, "tip.position", ROBOT, 3, OUT, "m", NULL, NULL, 0, "position of the tip frame, world axes"},
    {KIND_TIP_QUATERNION, "tip.quaternion", ROBOT, 4, OUT, "1", NULL, NULL, 0, "orientation of the tip frame, w first"},
    {KIND_TIP_VELOCITY, "tip.velocity", ROBOT, 3, OUT, "m/s", NULL, NULL, 0, "velocity of the tip frame's origin, world axes"},
    {KIND_TIP_ANGULAR_VELOCITY, "tip.angular_velocity", ROBOT, 3, OUT, "rad/s", NULL, "deg/s", 0, "angular velocity of the tip frame, world axes"},
    {KIND_TIP_ACCELERATION, "tip.acceleration", ROBOT, 3, OUT, "m/s2", NULL, NULL, 0, "acceleration of the tip frame's origin, world axes"},
    {KIND_DEFLECTION, "%L.deflection", FLEXIBLE, 3, OUT, "m", NULL, "mm", 0, "elastic displacement of the link's tip against its hinge, hinge axes"},
    {KIND_ROTATION, "%L.rotation", FLEXIBLE, 3, OUT, "rad", NULL, "deg", 0, "elastic rotation vector of the link's tip against its hinge, hinge axes"},
    {KIND_ROOT_FORCE, "%L.root_force", LINK, 3, OUT, "N", NULL, NULL, 0, "force that the joint exerts on the link, hinge axes"},
    {KIND_ROOT_MOMENT, "%L.root_moment", LINK, 3, OUT, "N.m", NULL, NULL, 0, "moment that the joint exerts on the link about the hinge, hinge axes"},
    {KIND_LOOP_FORCE, "%C.force", LOOP, EQUATIONS, OUT, "N", NULL, NULL, 0, "multiplier of the loop's equation: force or moment on the first of the two links"},
    {KIND_ACTUATOR_LENGTH, "%A.length", ACTUATOR, 1, OUT, "m", NULL, NULL, 0, "distance of the actuator's two points"},
    {KIND_ACTUATOR_RATE, "%A.rate", ACTUATOR, 1, OUT, "m/s", NULL, NULL, 0, "rate of the actuator's length"},

    {KIND_ETA, "%L.eta", FLEXIBLE, MODES, LOC, "eta", NULL, NULL, 0, "elastic coordinate"},
    {KIND_ETAD, "%L.etad", FLEXIBLE, MODES, LOC, "etad", NULL, NULL, 0, "rate of the elastic coordinate"},
    {KIND_ETADD, "%L.etadd", FLEXIBLE, MODES, LOC, "etadd", NULL, NULL, 0, "acceleration of the elastic coordinate"},
    {KIND_ENERGY_KINETIC, "energy.kinetic", ROBOT, 1, LOC, "J", NULL, NULL, 0, "kinetic energy"},
    {KIND_ENERGY_ELASTIC, "energy.elastic", ROBOT, 1, LOC, "J", NULL, NULL, 0, "strain energy and energy of joint springs and stops"},
    {KIND_ENERGY_GRAVITY, "energy.gravity", ROBOT, 1, LOC, "J", NULL, NULL, 0, "potential energy of gravity, zero at the world's origin"},
    {KIND_ENERGY_TOTAL, "energy.total", ROBOT, 1, LOC, "J", NULL, NULL, 0, "sum of kinetic, elastic and gravity energy"},
    {KIND_POWER_JOINTS, "power.joints", ROBOT, 1, LOC, "W", NULL, NULL, 0, "power of all joint torques and forces"},
    {KIND_POWER_ACTUATORS, "power.actuators", ROBOT, 1, LOC, "W", NULL, NULL, 0, "power of all line actuators"},
    {KIND_POWER_LOSSES, "power.losses", ROBOT, 1, LOC, "W", NULL, NULL, 0, "power taken by joint friction, damping of links and damping of joint stops"},

    {KIND_Q_START, "%J.q_start", FREE, 1, PAR, "rad", "m", "deg", 0, "joint position at the start"},
    {KIND_QD_START, "%J.qd_start", FREE, 1, PAR, "rad/s", "m/s", "deg/s", 0, "joint rate at the start"},
    {KIND_ETA_START, "%L.eta_start", FLEXIBLE, MODES, PAR, "eta", NULL, NULL, 0, "elastic coordinate at the start"},
    {KIND_ETAD_START, "%L.etad_start", FLEXIBLE, MODES, PAR, "etad", NULL, NULL, 0, "rate of the elastic coordinate at the start"},
    {KIND_GRAVITY, "gravity", ROBOT, 3, PAR, "m/s2", NULL, NULL, 0, "gravity, world axes"},
    {KIND_LENGTH, "%L.length", BEAM, 1, PAR, "m", NULL, NULL, GIVEN_LENGTH, "length of the beam"},
    {KIND_MASS_PER_LENGTH, "%L.mass_per_length", BEAM, 1, PAR, "kg/m", NULL, NULL, GIVEN_MASS_PER_LENGTH, "mass per length"},
    {KIND_EIY, "%L.EIy", BEAM, 1, PAR, "N.m2", NULL, NULL, GIVEN_EIY, "bending stiffness along z"},
    {KIND_EIZ, "%L.EIz", BEAM, 1, PAR, "N.m2", NULL, NULL, GIVEN_EIZ, "bending stiffness along y"},
    {KIND_GJ, "%L.GJ", BEAM, 1, PAR, "N.m2", NULL, NULL, GIVEN_GJ, "torsional stiffness"},
    {KIND_EA, "%L.EA", BEAM, 1, PAR, "N", NULL, NULL, GIVEN_EA, "axial stiffness"},
    {KIND_DAMPING_RATIO, "%L.damping_ratio", BEAM, 1, PAR, "1", NULL, NULL, GIVEN_DAMPING_RATIO, "damping ratio of the link's own modes"},
    {KIND_VISCOUS, "%J.viscous", MOVING, 1, PAR, "N.m.s/rad", "N.s/m", NULL, GIVEN_VISCOUS, "viscous friction"},
    {KIND_COULOMB, "%J.coulomb", MOVING, 1, PAR, "N.m", "N", NULL, GIVEN_COULOMB, "Coulomb friction"},
    {KIND_MOTOR_INERTIA, "%J.motor_inertia", MOVING, 1, PAR, "kg.m2", "kg", NULL, GIVEN_MOTOR_INERTIA, "motor inertia, at the joint"},
    {KIND_STIFFNESS, "%J.stiffness", MOVING, 1, PAR, "N.m/rad", "N/m", NULL, GIVEN_STIFFNESS, "stiffness of the joint spring"},
    {KIND_REST, "%J.rest", MOVING, 1, PAR, "rad", "m", "deg", GIVEN_REST, "rest position of the joint spring"},
    {KIND_PAYLOAD_MASS, "%L.payload.mass", PAYLOAD, 1, TUN, "kg", NULL, NULL, 0, "mass of the payload; may change between steps"},
    {KIND_ELASTIC_TERMS, "elastic_terms", ROBOT, 1, PAR, NULL, NULL, NULL, 0, "order of the elastic terms that are kept"},
    {KIND_START_STATIC, "start_static", ROBOT, 1, PAR, NULL, NULL, NULL, 0, "start from the static equilibrium of the elastic coordinates, joints held"},
    {KIND_RELATIVE_TOLERANCE, "solver.relative_tolerance", ROBOT, 1, PAR, "1", NULL, NULL, 0, "relative tolerance, below 1; 0: the importer's, else 1e-6"},
    {KIND_MAX_STEP, "solver.max_step", ROBOT, 1, PAR, "s", NULL, NULL, 0, "largest internal step; 0: no limit"},
    {KIND_MAX_ORDER, "solver.max_order", ROBOT, 1, PAR, NULL, NULL, NULL, 0, "largest order of the integration formula, 1 to 5; 0: chosen by robot and tolerance"},
};
/* clang-format on */
enum { TABLE_ROWS = sizeof table / sizeof table[0] };

/* The derivatives of the states: aliases that alone carry the attribute. */
static const struct {
    enum kind state, value;
} derivatives[] = {{KIND_Q, KIND_QD}, {KIND_QD, KIND_QDD}, {KIND_ETA, KIND_ETAD}, {KIND_ETAD, KIND_ETADD}};

static enum variable_type type_of(enum kind kind)
{
    switch (kind) {
    case KIND_ELASTIC_TERMS: return TYPE_ENUMERATION;
    case KIND_START_STATIC: return TYPE_BOOLEAN;
    case KIND_MAX_ORDER: return TYPE_INTEGER;
    default: return TYPE_REAL;
    }
}

/* ---- who has what ---------------------------------------------------------------------------------------------------- */

static bool has(const struct model *model, int i, const struct row *row)
{
    if (row->per == LOOP) return i < model->robot->n_loops;
    if (row->per == ACTUATOR) return i < model->robot->n_actuators;
    if (i >= model->n_links) return false;
    const struct link *link = &model->robot->link[i];
    const struct link_model *lm = &model->link[i];
    const bool moves = lm->q >= 0, prescribed = lm->prescribed >= 0;
    switch (row->per) {
    case ROBOT: return i == 0;
    case DRIVEN: return moves && !prescribed && !lm->passive;
    case PRESCRIBED: return moves && prescribed;
    case FREE: return moves && !prescribed;
    case MOVING: return moves && (link->joint.given & row->given) != 0;
    case FLEXIBLE: return lm->m > 0;
    case LINK: return true;
    case BEAM: return link->type == BODY_BEAM && (link->beam.given & row->given) != 0;
    case PAYLOAD: return link->has_payload;
    case LOOP:
    case ACTUATOR: break;
    }
    return false;
}

static int count_of(const struct model *model, int i, const struct row *row)
{
    if (!has(model, i, row)) return 0;
    if (row->count == EQUATIONS) return loop_equations(model->robot->loop[i].type);
    return row->count == MODES ? model->link[i].m : row->count;
}

/* A mode's coordinate: metres, or radians for twist and for the slope coordinate of the Hermite shapes, or a bare number. */
static char eta_dimension(const struct link *link, int k)
{
    if (link->type != BODY_BEAM) return '1';
    for (int family = 0; family < FAMILY_COUNT; k -= link->beam.family[family].count, family++) {
        const struct mode_family *modes = &link->beam.family[family];
        if (k >= modes->count) continue;
        const bool slope = (modes->shape == SHAPE_HERMITE || modes->shape == SHAPE_CRAIG_BAMPTON) && k == 1;
        return family == FAMILY_TWIST || slope ? 'r' : 'm';
    }
    return '1';
}

static const char *unit_of(const struct model *model, int i, int k, const struct row *row)
{
    if (row->per == LOOP) return k < 3 ? row->unit : "N.m"; /* gaps come before turns */
    static const char *const units[3][3] = {{"m", "m/s", "m/s2"}, {"rad", "rad/s", "rad/s2"}, {"1", "1/s", "1/s2"}};
    if (row->unit != NULL && strncmp(row->unit, "eta", 3) == 0) {
        const char dimension = eta_dimension(&model->robot->link[i], k);
        return units[dimension == 'm' ? 0 : dimension == 'r' ? 1 : 2][strlen(row->unit) - 3];
    }
    return row->linear_unit != NULL && model->link[i].joint == JOINT_PRISMATIC ? row->linear_unit : row->unit;
}

/* ---- start values and scales -------------------------------------------------------------------------------------------- */

static double start_of(const struct robot *robot, enum kind kind, int i, int k)
{
    if (kind == KIND_LOOP_FORCE || kind == KIND_ACTUATOR_FORCE) return 0;
    const struct link *link = &robot->link[i];
    switch (kind) {
    case KIND_Q_IN:
    case KIND_Q_START: return link->joint.start_position;
    case KIND_QD_IN:
    case KIND_QD_START: return link->joint.start_velocity;
    case KIND_GRAVITY: return robot->gravity[k];
    case KIND_LENGTH: return link->beam.length;
    case KIND_MASS_PER_LENGTH: return link->beam.mass_per_length;
    case KIND_EIY: return link->beam.EIy;
    case KIND_EIZ: return link->beam.EIz;
    case KIND_GJ: return link->beam.GJ;
    case KIND_EA: return link->beam.EA;
    case KIND_DAMPING_RATIO: return link->beam.damping_ratio;
    case KIND_VISCOUS: return link->joint.viscous;
    case KIND_COULOMB: return link->joint.coulomb;
    case KIND_MOTOR_INERTIA: return link->joint.motor_inertia;
    case KIND_STIFFNESS: return link->joint.stiffness;
    case KIND_REST: return link->joint.rest;
    case KIND_PAYLOAD_MASS: return link->payload.mass;
    case KIND_ELASTIC_TERMS: return robot->elastic_terms;
    default: return 0;
    }
}

/* The reach of the whole robot: what a prismatic joint's travel is measured by [m]. */
static double reach(const struct robot *robot)
{
    double sum = 0;
    for (int i = 0; i < robot->n_links; i++) {
        const struct link *link = &robot->link[i];
        const double *tip = link->rigid_tip.p, *origin = link->joint.origin.p;
        sum += link->type == BODY_BEAM ? link->beam.length : sqrt(tip[0] * tip[0] + tip[1] * tip[1] + tip[2] * tip[2]);
        sum += sqrt(origin[0] * origin[0] + origin[1] * origin[1] + origin[2] * origin[2]);
    }
    return sum > 0 ? sum : 1;
}

/* About the frequency of an elastic coordinate, by its own Rayleigh quotient [rad/s] */
static double mode_frequency(const struct body *body, int k)
{
    const int diagonal = (body->m + 1) * k;
    return sqrt(fmax(body->K[diagonal] / body->Mff0[diagonal], 0));
}

/* The scale of an elastic coordinate: one per cent of the link, or what 10 m/s^2 at its tip makes of a mode that is stiffer, but
   no less than a hundredth of that one per cent: finer would have importers resolve ringing that nobody sees */
static double eta_scale(const struct model *model, int i, int k)
{
    const struct link *link = &model->robot->link[i];
    const double length = link->type == BODY_BEAM ? link->beam.length : 1, w = mode_frequency(model->link[i].body, k);
    const double size = eta_dimension(link, k) == 'm' ? length : 1;
    return fmax(fmin(0.01 * size, 10 * size / (length * w * w)), 1e-4 * size);
}

/* The scale of a state: a radian, the reach, that of a mode; rates of modes by their frequency, at least 1/s. */
static double nominal_of(const struct model *model, enum kind kind, int i, int k)
{
    switch (kind) {
    case KIND_Q:
    case KIND_QD: return model->link[i].joint == JOINT_PRISMATIC ? reach(model->robot) : 1;
    case KIND_ETA: return eta_scale(model, i, k);
    case KIND_ETAD: return eta_scale(model, i, k) * fmax(1, mode_frequency(model->link[i].body, k));
    default: return 0;
    }
}

/* ---- making the rows ------------------------------------------------------------------------------------------------------ */

/* The name with %J and %L replaced, an index where there are several, wrapped in der() for a derivative. */
static const char *make_name(struct arena *arena, const struct robot *robot, const struct row *row, int i, int k,
                             int count, bool derivative)
{
    const char *owner = strncmp(row->name, "%J", 2) == 0   ? robot->link[i].joint.name
                        : strncmp(row->name, "%L", 2) == 0 ? robot->link[i].name
                        : strncmp(row->name, "%C", 2) == 0 ? robot->loop[i].name
                        : strncmp(row->name, "%A", 2) == 0 ? robot->actuator[i].name
                                                           : "";
    const char *rest = row->name[0] == '%' ? row->name + 2 : row->name;
    char index[16] = "";
    if (row->count < 0 || count > 1) snprintf(index, sizeof index, "[%d]", k + 1);
    const size_t bytes = strlen(owner) + strlen(rest) + sizeof index + sizeof "der()";
    char *name = arena_take(arena, bytes, 1);
    if (name != NULL) snprintf(name, bytes, derivative ? "der(%s%s%s)" : "%s%s%s", owner, rest, index);
    return name;
}

static const struct row *row_of(enum kind kind)
{
    for (int r = 0; r < TABLE_ROWS; r++)
        if (table[r].kind == kind) return &table[r];
    return NULL;
}

static void add_variable(const struct model *model, struct arena *arena, const struct row *row, int i, int k, int count,
                         struct variables *v)
{
    const char *unit = unit_of(model, i, k, row), *display = row->display_unit;
    if (row->linear_unit != NULL && model->link[i].joint == JOINT_PRISMATIC)
        display = NULL; /* degrees are for angles */
    v->row[v->n++] = (struct variable){.name = make_name(arena, model->robot, row, i, k, count, false),
                                       .description = row->description,
                                       .unit = unit,
                                       .display_unit = display,
                                       .type = type_of(row->kind),
                                       .causality = row->causality,
                                       .variability = row->variability,
                                       .initial = row->initial,
                                       .kind = row->kind,
                                       .owner = i,
                                       .k = k,
                                       .reference = v->n_values++,
                                       .start = start_of(model->robot, row->kind, i, k),
                                       .nominal = nominal_of(model, row->kind, i, k),
                                       .derivative_of = -1};
}

/* The row of a variable: rows that are not aliases stand in the order of their references */
static int find_row(const struct variables *v, enum kind kind, int owner, int k)
{
    return v->first[kind][owner] + k;
}

/* der(state): an alias of the variable that has its value */
static void add_derivative(const struct model *model, struct arena *arena, int state_row, enum kind value_kind,
                           struct variables *v)
{
    const struct variable *state = &v->row[state_row];
    const struct variable *value = &v->row[find_row(v, value_kind, state->owner, state->k)];
    struct variable alias = *value;
    alias.name = make_name(arena, model->robot, row_of(state->kind), state->owner, state->k, 1, true);
    alias.description = "derivative of the state";
    alias.causality = CAUSALITY_LOCAL;
    alias.initial = INITIAL_NONE;
    alias.nominal = 0;
    alias.derivative_of = state_row;
    v->row[v->n++] = alias;
}

/* States in the order of the state vector: positions link by link, then rates, prescribed joints left out. */
static void add_states(const struct model *model, struct arena *arena, struct variables *v)
{
    static const enum kind joint_kind[2] = {KIND_Q, KIND_QD}, modal_kind[2] = {KIND_ETA, KIND_ETAD};
    for (int rate = 0; rate < 2; rate++)
        for (int i = 0; i < model->n_links; i++) {
            if (v->first[KIND_Q][i] >= 0) v->state[v->n_states++] = find_row(v, joint_kind[rate], i, 0);
            for (int k = 0; k < model->link[i].m; k++) v->state[v->n_states++] = find_row(v, modal_kind[rate], i, k);
        }
    for (int s = 0; s < v->n_states; s++)
        for (size_t d = 0; d < sizeof derivatives / sizeof derivatives[0]; d++)
            if (v->row[v->state[s]].kind == derivatives[d].state) {
                v->derivative[s] = v->n;
                add_derivative(model, arena, v->state[s], derivatives[d].value, v);
            }
}

/* Links, loops and actuators are numbered apart, each from 0 */
static int most_owners(const struct model *model)
{
    const struct robot *robot = model->robot;
    const int joining = robot->n_loops > robot->n_actuators ? robot->n_loops : robot->n_actuators;
    return model->n_links > joining ? model->n_links : joining;
}

static int count_rows(const struct model *model)
{
    int count = 2 * model->n; /* the derivatives */
    for (int r = 0; r < TABLE_ROWS; r++)
        for (int i = 0; i < most_owners(model); i++) count += count_of(model, i, &table[r]);
    return count;
}

enum status variables_make(const struct model *model, struct arena *arena, struct variables *v)
{
    const size_t rows = (size_t)count_rows(model), owners = (size_t)most_owners(model);
    memset(v, 0, sizeof *v);
    v->row = arena_take(arena, rows, sizeof *v->row);
    v->by_reference = arena_take(arena, rows, sizeof *v->by_reference);
    v->state = arena_take(arena, 2 * (size_t)model->n, sizeof *v->state);
    v->derivative = arena_take(arena, 2 * (size_t)model->n, sizeof *v->derivative);
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        v->first[kind] = arena_take(arena, owners, sizeof **v->first);
        for (size_t i = 0; i < owners && v->first[kind] != NULL; i++) v->first[kind][i] = -1;
    }
    if (arena->failed) return STATUS_NO_MEMORY;

    for (int r = 0; r < TABLE_ROWS; r++)
        for (int i = 0; i < most_owners(model); i++) {
            const int count = count_of(model, i, &table[r]);
            if (count > 0) v->first[table[r].kind][i] = v->n_values;
            for (int k = 0; k < count; k++) add_variable(model, arena, &table[r], i, k, count, v);
        }
    for (int r = 0; r < v->n; r++) v->by_reference[v->row[r].reference] = &v->row[r];
    add_states(model, arena, v);
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}
