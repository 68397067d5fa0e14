#include "sim/variables.h"

#include <stdio.h>
#include <string.h>

#include "sim/variables_row.h"

/* ---- the table ----------------------------------------------------------------------------------------------------- */

/* Every row has all columns of its sort: one that is left out does not compile. The first is the row's kind, by which other rows
   refer to it; their order is the order of the value references. Sorts and their columns:

   INPUT      name, owner, count, unit, display unit, level, place, number at the start, kind of its time derivative, description
   STATE      name, owner, count, causality, unit, display unit, level, place, value, kind of its time derivative, nominal, description
   COMPUTED   name, owner, count, causality, unit, display unit, value, derivative, dependencies, description
   START      name, owner, count, unit, display unit, number, kind of the state, limit, description
   PARAMETER  name, owner, given, count, type, unit, display unit, number, limit, description
   TUNABLE    name, owner, unit, place, number, limit, description */

/* clang-format off */
#define VARIABLE_LIST(INPUT, STATE, COMPUTED, START, PARAMETER, TUNABLE) \
    INPUT(TAU_IN, "%J.tau", DRIVEN, 1, BY_JOINT("N.m", "N"), NULL, FORCE, place_tau, number_zero, NO_KIND, "drive torque or force on the joint") \
    INPUT(Q_IN, "%J.q", PRESCRIBED, 1, BY_JOINT("rad", "m"), "deg", POSITION, place_q, number_start_position, KIND_QD_IN, "prescribed joint position") \
    INPUT(QD_IN, "%J.qd", PRESCRIBED, 1, BY_JOINT("rad/s", "m/s"), "deg/s", VELOCITY, place_qd, number_start_velocity, KIND_QDD_IN, "prescribed joint rate") \
    INPUT(QDD_IN, "%J.qdd", PRESCRIBED, 1, BY_JOINT("rad/s2", "m/s2"), NULL, ACCELERATION, place_qdd, number_zero, NO_KIND, "prescribed joint acceleration") \
    INPUT(TIP_FORCE, "tip.force", ROBOT, 3, ALWAYS("N"), NULL, FORCE, place_tip_force, number_zero, NO_KIND, "force on the tip frame, world axes") \
    INPUT(TIP_TORQUE, "tip.torque", ROBOT, 3, ALWAYS("N.m"), NULL, FORCE, place_tip_torque, number_zero, NO_KIND, "torque on the tip frame, world axes") \
    INPUT(ACTUATOR_FORCE, "%A.force", ACTUATOR, 1, ALWAYS("N"), NULL, FORCE, place_actuator_force, number_zero, NO_KIND, "force of the line actuator, pushing its two points apart") \
    \
    STATE(Q, "%J.q", FREE, 1, OUTPUT, BY_JOINT("rad", "m"), "deg", POSITION, place_q, value_q, KIND_QD, nominal_joint, "joint position") \
    STATE(QD, "%J.qd", FREE, 1, OUTPUT, BY_JOINT("rad/s", "m/s"), "deg/s", VELOCITY, place_qd, value_qd, KIND_QDD, nominal_joint, "joint rate") \
    COMPUTED(QDD, "%J.qdd", FREE, 1, OUTPUT, BY_JOINT("rad/s2", "m/s2"), NULL, value_qdd, DIFFERENTIABLE, depends_accelerations, "joint acceleration") \
    COMPUTED(TAU_OUT, "%J.tau", PRESCRIBED, 1, OUTPUT, BY_JOINT("N.m", "N"), NULL, value_tau, DIFFERENTIABLE, depends_accelerations, "torque or force that the drive of the prescribed joint must give") \
    COMPUTED(TIP_POSITION, "tip.position", ROBOT, 3, OUTPUT, ALWAYS("m"), NULL, value_tip_position, DIFFERENTIABLE, depends_tip_position, "position of the tip frame, world axes") \
    COMPUTED(TIP_QUATERNION, "tip.quaternion", ROBOT, 4, OUTPUT, ALWAYS("1"), NULL, value_tip_quaternion, DIFFERENTIABLE, depends_tip_quaternion, "orientation of the tip frame, w first") \
    COMPUTED(TIP_VELOCITY, "tip.velocity", ROBOT, 3, OUTPUT, ALWAYS("m/s"), NULL, value_tip_velocity, DIFFERENTIABLE, depends_tip_velocity, "velocity of the tip frame's origin, world axes") \
    COMPUTED(TIP_ANGULAR_VELOCITY, "tip.angular_velocity", ROBOT, 3, OUTPUT, ALWAYS("rad/s"), "deg/s", value_tip_angular_velocity, DIFFERENTIABLE, depends_tip_angular_velocity, "angular velocity of the tip frame, world axes") \
    COMPUTED(TIP_ACCELERATION, "tip.acceleration", ROBOT, 3, OUTPUT, ALWAYS("m/s2"), NULL, value_tip_acceleration, DIFFERENTIABLE, depends_tip_acceleration, "acceleration of the tip frame's origin, world axes") \
    COMPUTED(DEFLECTION, "%L.deflection", FLEXIBLE, 3, OUTPUT, ALWAYS("m"), "mm", value_deflection, DIFFERENTIABLE, depends_deflection, "elastic displacement of the link's tip against its hinge, hinge axes") \
    COMPUTED(ROTATION, "%L.rotation", FLEXIBLE, 3, OUTPUT, ALWAYS("rad"), "deg", value_rotation, DIFFERENTIABLE, depends_rotation, "elastic rotation vector of the link's tip against its hinge, hinge axes") \
    COMPUTED(ROOT_FORCE, "%L.root_force", LINK, 3, OUTPUT, ALWAYS("N"), NULL, value_root_force, DIFFERENTIABLE, depends_accelerations, "force that the joint exerts on the link, hinge axes") \
    COMPUTED(ROOT_MOMENT, "%L.root_moment", LINK, 3, OUTPUT, ALWAYS("N.m"), NULL, value_root_moment, DIFFERENTIABLE, depends_accelerations, "moment that the joint exerts on the link about the hinge, hinge axes") \
    COMPUTED(LOOP_FORCE, "%C.force", LOOP, EQUATIONS, OUTPUT, BY_EQUATION("N.m", "N"), NULL, value_loop_force, DIFFERENTIABLE, depends_loop_force, "multiplier of the loop's equation: force or moment on the first of the two links") \
    COMPUTED(ACTUATOR_LENGTH, "%A.length", ACTUATOR, 1, OUTPUT, ALWAYS("m"), NULL, value_actuator_length, DIFFERENTIABLE, depends_actuator_length, "distance of the actuator's two points") \
    COMPUTED(ACTUATOR_RATE, "%A.rate", ACTUATOR, 1, OUTPUT, ALWAYS("m/s"), NULL, value_actuator_rate, DIFFERENTIABLE, depends_actuator_rate, "rate of the actuator's length") \
    \
    STATE(ETA, "%L.eta", FLEXIBLE, MODES, LOCAL, BY_MODE("rad", "m", "1"), NULL, POSITION, place_eta, value_eta, KIND_ETAD, nominal_eta, "elastic coordinate") \
    STATE(ETAD, "%L.etad", FLEXIBLE, MODES, LOCAL, BY_MODE("rad/s", "m/s", "1/s"), NULL, VELOCITY, place_etad, value_etad, KIND_ETADD, nominal_etad, "rate of the elastic coordinate") \
    COMPUTED(ETADD, "%L.etadd", FLEXIBLE, MODES, LOCAL, BY_MODE("rad/s2", "m/s2", "1/s2"), NULL, value_etadd, DIFFERENTIABLE, depends_accelerations, "acceleration of the elastic coordinate") \
    COMPUTED(ENERGY_KINETIC, "energy.kinetic", ROBOT, 1, LOCAL, ALWAYS("J"), NULL, value_kinetic_energy, NO_DERIVATIVE, depends_all, "kinetic energy") \
    COMPUTED(ENERGY_ELASTIC, "energy.elastic", ROBOT, 1, LOCAL, ALWAYS("J"), NULL, value_elastic_energy, NO_DERIVATIVE, depends_all, "strain energy and energy of joint springs and stops") \
    COMPUTED(ENERGY_GRAVITY, "energy.gravity", ROBOT, 1, LOCAL, ALWAYS("J"), NULL, value_gravity_energy, NO_DERIVATIVE, depends_all, "potential energy of gravity, zero at the world's origin") \
    COMPUTED(ENERGY_TOTAL, "energy.total", ROBOT, 1, LOCAL, ALWAYS("J"), NULL, value_total_energy, NO_DERIVATIVE, depends_all, "sum of kinetic, elastic and gravity energy") \
    COMPUTED(POWER_JOINTS, "power.joints", ROBOT, 1, LOCAL, ALWAYS("W"), NULL, value_joint_power, NO_DERIVATIVE, depends_all, "power of all joint torques and forces") \
    COMPUTED(POWER_ACTUATORS, "power.actuators", ROBOT, 1, LOCAL, ALWAYS("W"), NULL, value_actuator_power, NO_DERIVATIVE, depends_all, "power of all line actuators") \
    COMPUTED(POWER_LOSSES, "power.losses", ROBOT, 1, LOCAL, ALWAYS("W"), NULL, value_losses, NO_DERIVATIVE, depends_all, "power taken by joint friction, damping of links and damping of joint stops") \
    \
    START(Q_START, "%J.q_start", FREE, 1, BY_JOINT("rad", "m"), "deg", number_start_position, KIND_Q, limit_none, "joint position at the start") \
    START(QD_START, "%J.qd_start", FREE, 1, BY_JOINT("rad/s", "m/s"), "deg/s", number_start_velocity, KIND_QD, limit_none, "joint rate at the start") \
    START(ETA_START, "%L.eta_start", FLEXIBLE, MODES, BY_MODE("rad", "m", "1"), NULL, number_zero, KIND_ETA, limit_none, "elastic coordinate at the start") \
    START(ETAD_START, "%L.etad_start", FLEXIBLE, MODES, BY_MODE("rad/s", "m/s", "1/s"), NULL, number_zero, KIND_ETAD, limit_none, "rate of the elastic coordinate at the start") \
    PARAMETER(GRAVITY, "gravity", ROBOT, 0, 3, REAL, ALWAYS("m/s2"), NULL, number_gravity, limit_none, "gravity, world axes") \
    PARAMETER(LENGTH, "%L.length", BEAM, GIVEN_LENGTH, 1, REAL, ALWAYS("m"), NULL, number_length, limit_positive, "length of the beam") \
    PARAMETER(MASS_PER_LENGTH, "%L.mass_per_length", BEAM, GIVEN_MASS_PER_LENGTH, 1, REAL, ALWAYS("kg/m"), NULL, number_mass_per_length, limit_positive, "mass per length") \
    PARAMETER(EIY, "%L.EIy", BEAM, GIVEN_EIY, 1, REAL, ALWAYS("N.m2"), NULL, number_EIy, limit_stiffness, "bending stiffness along z") \
    PARAMETER(EIZ, "%L.EIz", BEAM, GIVEN_EIZ, 1, REAL, ALWAYS("N.m2"), NULL, number_EIz, limit_stiffness, "bending stiffness along y") \
    PARAMETER(GJ, "%L.GJ", BEAM, GIVEN_GJ, 1, REAL, ALWAYS("N.m2"), NULL, number_GJ, limit_stiffness, "torsional stiffness") \
    PARAMETER(EA, "%L.EA", BEAM, GIVEN_EA, 1, REAL, ALWAYS("N"), NULL, number_EA, limit_stiffness, "axial stiffness") \
    PARAMETER(DAMPING_RATIO, "%L.damping_ratio", BEAM, GIVEN_DAMPING_RATIO, 1, REAL, ALWAYS("1"), NULL, number_damping_ratio, limit_not_negative, "damping ratio of the link's own modes") \
    PARAMETER(VISCOUS, "%J.viscous", MOVING, GIVEN_VISCOUS, 1, REAL, BY_JOINT("N.m.s/rad", "N.s/m"), NULL, number_viscous, limit_not_negative, "viscous friction") \
    PARAMETER(COULOMB, "%J.coulomb", MOVING, GIVEN_COULOMB, 1, REAL, BY_JOINT("N.m", "N"), NULL, number_coulomb, limit_not_negative, "Coulomb friction") \
    PARAMETER(MOTOR_INERTIA, "%J.motor_inertia", MOVING, GIVEN_MOTOR_INERTIA, 1, REAL, BY_JOINT("kg.m2", "kg"), NULL, number_motor_inertia, limit_not_negative, "motor inertia, at the joint") \
    PARAMETER(STIFFNESS, "%J.stiffness", MOVING, GIVEN_STIFFNESS, 1, REAL, BY_JOINT("N.m/rad", "N/m"), NULL, number_stiffness, limit_not_negative, "stiffness of the joint spring") \
    PARAMETER(REST, "%J.rest", MOVING, GIVEN_REST, 1, REAL, BY_JOINT("rad", "m"), "deg", number_rest, limit_none, "rest position of the joint spring") \
    TUNABLE(PAYLOAD_MASS, "%L.payload.mass", PAYLOAD, ALWAYS("kg"), place_payload_mass, number_payload_mass, limit_not_negative, "mass of the payload; may change between steps") \
    PARAMETER(ELASTIC_TERMS, "elastic_terms", ROBOT, 0, 1, ENUMERATION, NO_UNIT, NULL, number_elastic_terms, limit_elastic_terms, "order of the elastic terms that are kept") \
    PARAMETER(START_STATIC, "start_static", ROBOT, 0, 1, BOOLEAN, NO_UNIT, NULL, number_zero, limit_boolean, "start from the static equilibrium of the elastic coordinates, joints held") \
    PARAMETER(RELATIVE_TOLERANCE, "solver.relative_tolerance", ROBOT, 0, 1, REAL, ALWAYS("1"), NULL, number_zero, limit_tolerance, "relative tolerance, below 1; 0: the importer's, else 1e-6") \
    PARAMETER(MAX_STEP, "solver.max_step", ROBOT, 0, 1, REAL, ALWAYS("s"), NULL, number_zero, limit_not_negative, "largest internal step; 0: no limit") \
    PARAMETER(MAX_ORDER, "solver.max_order", ROBOT, 0, 1, INTEGER, NO_UNIT, NULL, number_zero, limit_order, "largest order of the integration formula, 1 to 5; 0: chosen by robot and tolerance")
/* clang-format on */

enum kind {
    NO_KIND = -1,
#define KIND(kind, ...) KIND_##kind,
    VARIABLE_LIST(KIND, KIND, KIND, KIND, KIND, KIND)
#undef KIND
        KIND_COUNT
};

#define BY_MODE(angle, distance, number) angle, distance, number
#define BY_JOINT(angle, distance)        angle, distance, NULL
#define BY_EQUATION(angle, distance)     angle, distance, NULL
#define ALWAYS(unit)                     unit, unit, unit
#define NO_UNIT                          NULL, NULL, NULL

enum { NO_DERIVATIVE, DIFFERENTIABLE };

/* clang-format off */
#define INPUT_ROW(kind, name_, owner_, count_, units, display, level_, place_, number_, rate_, text)                           \
    {.name = (name_), .owner = (owner_), .count = (count_), .causality = CAUSALITY_INPUT, .initial = INITIAL_NONE,             \
     .unit = {units}, .display_unit = (display), .level = (level_), .place = (place_), .number = &(number_), .rate = (rate_),  \
     .start_of = NO_KIND, .description = (text)},
#define STATE_ROW(kind, name_, owner_, count_, causality_, units, display, level_, place_, value_, rate_, nominal_, text)      \
    {.name = (name_), .owner = (owner_), .count = (count_), .causality = CAUSALITY_##causality_,                               \
     .initial = INITIAL_CALCULATED, .unit = {units}, .display_unit = (display), .level = (level_), .is_state = true,           \
     .place = (place_), .number = &number_zero, .value = (value_), .differentiable = true, .depends = depends_itself,          \
     .rate = (rate_), .start_of = NO_KIND, .nominal = (nominal_), .description = (text)},
#define COMPUTED_ROW(kind, name_, owner_, count_, causality_, units, display, value_, derivative, depends_, text)              \
    {.name = (name_), .owner = (owner_), .count = (count_), .causality = CAUSALITY_##causality_,                               \
     .initial = INITIAL_CALCULATED, .unit = {units}, .display_unit = (display), .level = NUMBER, .number = &number_zero,       \
     .value = (value_), .differentiable = (derivative), .depends = (depends_), .rate = NO_KIND, .start_of = NO_KIND,           \
     .description = (text)},
#define START_ROW(kind, name_, owner_, count_, units, display, number_, state, limit, text)                                    \
    {.name = (name_), .owner = (owner_), .count = (count_), .causality = CAUSALITY_PARAMETER,                                  \
     .variability = VARIABILITY_FIXED, .initial = INITIAL_EXACT, .unit = {units}, .display_unit = (display), .level = NUMBER,  \
     .number = &(number_), .error = (limit), .rate = NO_KIND, .start_of = (state), .description = (text)},
#define PARAMETER_ROW(kind, name_, owner_, given_, count_, type_, units, display, number_, limit, text)                        \
    {.name = (name_), .owner = (owner_), .given = (given_), .count = (count_), .type = TYPE_##type_,                           \
     .causality = CAUSALITY_PARAMETER, .variability = VARIABILITY_FIXED, .initial = INITIAL_EXACT, .unit = {units},            \
     .display_unit = (display), .level = NUMBER, .number = &(number_), .error = (limit), .rate = NO_KIND,                      \
     .start_of = NO_KIND, .description = (text)},
#define TUNABLE_ROW(kind, name_, owner_, units, place_, number_, limit, text)                                                  \
    {.name = (name_), .owner = (owner_), .count = 1, .causality = CAUSALITY_PARAMETER, .variability = VARIABILITY_TUNABLE,     \
     .initial = INITIAL_EXACT, .unit = {units}, .level = NUMBER, .place = (place_), .number = &(number_), .error = (limit),    \
     .rate = NO_KIND, .start_of = NO_KIND, .description = (text)},
/* clang-format on */

static const struct table_row table[KIND_COUNT] = {
    VARIABLE_LIST(INPUT_ROW, STATE_ROW, COMPUTED_ROW, START_ROW, PARAMETER_ROW, TUNABLE_ROW)};

/* ---- how many there are ---------------------------------------------------------------------------------------------- */

static bool link_has(const struct model *model, int i, const struct table_row *row)
{
    const struct link *link = &model->robot->link[i];
    const struct link_model *lm = &model->link[i];
    const bool moves = lm->q >= 0, prescribed = lm->prescribed >= 0;
    switch (row->owner) {
    case DRIVEN: return moves && !prescribed && !lm->passive;
    case PRESCRIBED: return moves && prescribed;
    case FREE: return moves && !prescribed;
    case MOVING: return moves && (link->joint.given & row->given) != 0;
    case FLEXIBLE: return lm->m > 0;
    case LINK: return true;
    case BEAM: return link->type == BODY_BEAM && (link->beam.given & row->given) != 0;
    case PAYLOAD: return link->has_payload;
    case ROBOT:
    case LOOP:
    case ACTUATOR: break;
    }
    return false;
}

static int owners_of(const struct model *model, const struct table_row *row)
{
    switch (row->owner) {
    case ROBOT: return 1;
    case LOOP: return model->robot->n_loops;
    case ACTUATOR: return model->robot->n_actuators;
    default: return model->n_links;
    }
}

static int count_of(const struct model *model, int i, const struct table_row *row)
{
    const bool of_links = row->owner != ROBOT && row->owner != LOOP && row->owner != ACTUATOR;
    if (of_links && !link_has(model, i, row)) return 0;
    if (row->count == EQUATIONS) return loop_equations(model->robot->loop[i].type);
    return row->count == MODES ? model->link[i].m : row->count;
}

/* ---- making the variables ---------------------------------------------------------------------------------------------- */

struct builder {
    const struct model *model;
    struct arena *arena;
    struct variables *v;
    int *first[KIND_COUNT]; /* [owner]: first row and value reference of that kind; -1: it has none */
};

/* The name with the owner's, and an index where there are several */
static const char *make_name(struct builder *b, const struct table_row *row, int i, int k, int count)
{
    const struct robot *robot = b->model->robot;
    const char *owner = strncmp(row->name, "%J", 2) == 0   ? robot->link[i].joint.name
                        : strncmp(row->name, "%L", 2) == 0 ? robot->link[i].name
                        : strncmp(row->name, "%C", 2) == 0 ? robot->loop[i].name
                        : strncmp(row->name, "%A", 2) == 0 ? robot->actuator[i].name
                                                           : "";
    const char *rest = row->name[0] == '%' ? row->name + 2 : row->name;
    char index[16] = "";
    if (row->count < 0 || count > 1) snprintf(index, sizeof index, "[%d]", k + 1);
    const size_t bytes = strlen(owner) + strlen(rest) + sizeof index;
    char *name = arena_take(b->arena, bytes, 1);
    if (name != NULL) snprintf(name, bytes, "%s%s%s", owner, rest, index);
    return name;
}

static void add_variable(struct builder *b, const struct table_row *row, int i, int k, int count)
{
    const enum dimension dimension = variable_dimension(b->model, row, i, k);
    struct variable *variable = &b->v->row[b->v->n++];
    *variable = (struct variable){.name = make_name(b, row, i, k, count),
                                  .description = row->description,
                                  .unit = row->unit[dimension],
                                  .display_unit = dimension == DISTANCE ? NULL : row->display_unit,
                                  .type = row->type,
                                  .causality = row->causality,
                                  .variability = row->variability,
                                  .initial = row->initial,
                                  .of = row,
                                  .owner = i,
                                  .k = k,
                                  .reference = b->v->n_values++,
                                  .nominal = row->nominal != NULL ? row->nominal(b->model, i, k) : 0,
                                  .state = -1,
                                  .start_of = -1,
                                  .rate = -1,
                                  .derivative_of = -1};
    variable->start = row->number->read(b->model->robot, variable);
}

/* The variable of another kind with the same owner and component. Before the derivatives are added, rows are in the order of
   their references. */
static int related(const struct builder *b, const struct variable *variable, int kind)
{
    return kind != NO_KIND ? b->first[kind][variable->owner] + variable->k : -1;
}

/* der(state): an alias of the variable that has its value */
static void add_derivative(struct builder *b, int state_row)
{
    const struct variable *state = &b->v->row[state_row];
    struct variable *alias = &b->v->row[b->v->n++];
    const size_t bytes = strlen(state->name) + sizeof "der()";
    char *name = arena_take(b->arena, bytes, 1);
    if (name != NULL) snprintf(name, bytes, "der(%s)", state->name);
    *alias = b->v->row[state->rate];
    alias->name = name;
    alias->description = "derivative of the state";
    alias->causality = CAUSALITY_LOCAL;
    alias->initial = INITIAL_NONE;
    alias->nominal = 0;
    alias->state = alias->rate = -1;
    alias->derivative_of = state_row;
}

/* States in the order of the state vector: positions link by link, then velocities. */
static void number_states(struct builder *b)
{
    struct variables *v = b->v;
    for (enum level level = POSITION; level <= VELOCITY; level++)
        for (int i = 0; i < b->model->n_links; i++)
            for (int kind = 0; kind < KIND_COUNT; kind++) {
                if (!table[kind].is_state || table[kind].level != level) continue;
                for (int k = 0; k < count_of(b->model, i, &table[kind]); k++) {
                    const int row = b->first[kind][i] + k;
                    v->row[row].state = v->n_states;
                    v->state[v->n_states++] = row;
                }
            }
}

/* What the table says of one variable in terms of another */
static void relate(struct builder *b)
{
    struct variables *v = b->v;
    number_states(b);
    for (int r = 0; r < v->n; r++) {
        struct variable *variable = &v->row[r];
        const int state = related(b, variable, variable->of->start_of);
        variable->rate = related(b, variable, variable->of->rate);
        variable->start_of = state >= 0 ? v->row[state].state : -1;
    }
    v->relative_tolerance = b->first[KIND_RELATIVE_TOLERANCE][0];
    v->max_step = b->first[KIND_MAX_STEP][0];
    v->max_order = b->first[KIND_MAX_ORDER][0];
    v->start_static = b->first[KIND_START_STATIC][0];
    for (int s = 0; s < v->n_states && !b->arena->failed; s++) {
        v->derivative[s] = v->n;
        add_derivative(b, v->state[s]);
    }
}

/* Numbers of variables and of states */
static void count_variables(const struct model *model, int *variables, int *states)
{
    *variables = *states = 0;
    for (int kind = 0; kind < KIND_COUNT; kind++)
        for (int i = 0; i < owners_of(model, &table[kind]); i++) {
            const int count = count_of(model, i, &table[kind]);
            *variables += count;
            if (table[kind].is_state) *states += count;
        }
}

enum status variables_make(const struct model *model, struct arena *arena, struct variables *v)
{
    struct builder b = {.model = model, .arena = arena, .v = v};
    int n, n_states;
    memset(v, 0, sizeof *v);
    count_variables(model, &n, &n_states);
    v->row = arena_take(arena, (size_t)(n + n_states), sizeof *v->row); /* and the derivatives */
    v->by_reference = arena_take(arena, (size_t)n, sizeof *v->by_reference);
    v->state = arena_take(arena, (size_t)n_states, sizeof *v->state);
    v->derivative = arena_take(arena, (size_t)n_states, sizeof *v->derivative);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        b.first[kind] = arena_take(arena, (size_t)owners_of(model, &table[kind]), sizeof **b.first);
    if (arena->failed) return STATUS_NO_MEMORY;

    for (int kind = 0; kind < KIND_COUNT; kind++)
        for (int i = 0; i < owners_of(model, &table[kind]); i++) {
            const int count = count_of(model, i, &table[kind]);
            b.first[kind][i] = v->n;
            for (int k = 0; k < count; k++) add_variable(&b, &table[kind], i, k, count);
        }
    for (int r = 0; r < v->n; r++) v->by_reference[r] = &v->row[r];
    if (!arena->failed) relate(&b);
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}
