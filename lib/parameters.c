/* Parameters of a robot and names of its coordinates, from the variable table of its FMU. */
#include <math.h>
#include <string.h>

#include "internal.h"

/* ---- the table ---------------------------------------------------------------------------------------------------- */

enum status parameters_make(limber_robot *robot)
{
    const struct model *model = robot->mechanism.model;
    struct variables *v = &robot->variables;
    const enum status status = variables_make(model, &robot->arena, v);
    if (status != STATUS_OK) return status;
    robot->position = arena_allocate(&robot->arena, (size_t)model->nq, sizeof *robot->position);
    robot->velocity = arena_allocate(&robot->arena, (size_t)model->nv, sizeof *robot->velocity);
    robot->parameter = arena_allocate(&robot->arena, (size_t)v->n, sizeof *robot->parameter);
    arena_arrays(&robot->arena, (size_t)v->n_values, ARRAYS(&robot->value, &robot->old_value));
    if (robot->arena.failed) return STATUS_NO_MEMORY;
    for (int r = 0; r < v->n_values; r++) {
        const struct variable *variable = v->by_reference[r];
        if (variable->causality == CAUSALITY_PARAMETER) {
            robot->parameter[robot->n_parameters++] = variable;
            robot->value[r] = variable->start;
        } else if (variable->state >= 0 || variable->causality == CAUSALITY_INPUT) {
            const double *place = variable_place(variable, &robot->at);
            for (int i = 0; i < model->nq; i++)
                if (place == robot->at.q + i) robot->position[i] = variable;
            for (int i = 0; i < model->nv; i++)
                if (place == robot->at.qd + i) robot->velocity[i] = variable;
        }
    }
    return STATUS_OK;
}

/* ---- names -------------------------------------------------------------------------------------------------------- */

static const struct variable *at(const struct variable *const *list, int i, int count)
{
    return i >= 0 && i < count ? list[i] : NULL;
}

static const char *name_of(const struct variable *variable)
{
    return variable != NULL ? variable->name : NULL;
}

static const char *unit_of(const struct variable *variable)
{
    return variable != NULL ? variable->unit : NULL;
}

const char *limber_robot_position_name(const limber_robot *robot, int i)
{
    return name_of(at(robot->position, i, limber_robot_nq(robot)));
}

const char *limber_robot_velocity_name(const limber_robot *robot, int i)
{
    return name_of(at(robot->velocity, i, limber_robot_nv(robot)));
}

const char *limber_robot_position_unit(const limber_robot *robot, int i)
{
    return unit_of(at(robot->position, i, limber_robot_nq(robot)));
}

const char *limber_robot_velocity_unit(const limber_robot *robot, int i)
{
    return unit_of(at(robot->velocity, i, limber_robot_nv(robot)));
}

int limber_robot_parameters(const limber_robot *robot)
{
    return robot->n_parameters;
}

const char *limber_robot_parameter_name(const limber_robot *robot, int i)
{
    return name_of(at(robot->parameter, i, robot->n_parameters));
}

const char *limber_robot_parameter_unit(const limber_robot *robot, int i)
{
    return unit_of(at(robot->parameter, i, robot->n_parameters));
}

const char *limber_robot_parameter_description(const limber_robot *robot, int i)
{
    const struct variable *variable = at(robot->parameter, i, robot->n_parameters);
    return variable != NULL ? variable->description : NULL;
}

/* ---- values ------------------------------------------------------------------------------------------------------- */

/* NULL: there is no such parameter */
static const struct variable *find(const limber_robot *robot, const char *name)
{
    const int row = name != NULL ? variables_find(&robot->variables, name) : -1;
    if (row < 0 || robot->variables.row[row].causality != CAUSALITY_PARAMETER) return NULL;
    return &robot->variables.row[row];
}

int limber_robot_get_parameter(const limber_robot *robot, const char *name, double *value)
{
    if (robot == NULL || value == NULL) return LIMBER_BAD_ARGUMENT;
    const struct variable *variable = find(robot, name);
    if (variable == NULL) return LIMBER_NO_NAME;
    *value = robot->value[variable->reference];
    return LIMBER_OK;
}

static int check_value(limber_robot *robot, const char *name, double value)
{
    static const char function[] = "limber_robot_set_parameters";
    const struct variable *variable = find(robot, name);
    if (variable == NULL)
        return lib_call_failed(&robot->messages, LIMBER_NO_NAME, function, "%s: no such parameter of this robot",
                               name != NULL ? name : "NULL");
    const char *error = isfinite(value) ? limit_error(variable->limit, value) : "must be finite";
    if (error == NULL) return LIMBER_OK;
    return lib_call_failed(&robot->messages, LIMBER_BAD_ROBOT, function, "%s = %.9g: %s [%s]", name, value, error,
                           variable->unit != NULL ? variable->unit : "1");
}

/* Copies all values to the robot; returns whether the model changes */
static bool write_values(limber_robot *robot)
{
    bool changed = false;
    for (int i = 0; i < robot->n_parameters; i++) {
        const struct variable *variable = robot->parameter[i];
        if (variable_to_robot(variable, robot->value[variable->reference], robot->robot)) changed = true;
    }
    return changed;
}

int limber_robot_set_parameters(limber_robot *robot, int count, const char *const *name, const double *value)
{
    if (robot == NULL || count < 0 || name == NULL || value == NULL) return LIMBER_BAD_ARGUMENT;
    const size_t size = (size_t)robot->variables.n_values * sizeof(double);
    for (int i = 0; i < count; i++) {
        const int status = check_value(robot, name[i], value[i]);
        if (status != LIMBER_OK) return status;
    }
    memcpy(robot->old_value, robot->value, size);
    for (int i = 0; i < count; i++) robot->value[find(robot, name[i])->reference] = value[i];
    if (!write_values(robot)) return LIMBER_OK;
    enum status status = STATUS_BAD_ROBOT;
    if (robot_check(robot->robot, &robot->messages.report) == 0) {
        status = mechanism_remake(&robot->mechanism, &robot->messages.report);
        mechanism_set(&robot->mechanism, &robot->in);
        robot->at.model = robot->mechanism.model;
    }
    if (status == STATUS_OK) {
        struct report silent = {0};
        constraints_choose(&robot->mechanism, robot->at.q, &silent);
        return LIMBER_OK;
    }
    memcpy(robot->value, robot->old_value, size);
    write_values(robot); /* mechanism_remake() has left the mechanism unchanged */
    return (int)status;
}

int limber_robot_set_parameter(limber_robot *robot, const char *name, double value)
{
    return limber_robot_set_parameters(robot, 1, &name, &value);
}

/* ---- start -------------------------------------------------------------------------------------------------------- */

void parameters_start(const limber_robot *robot, double *q, double *qd)
{
    const struct model *model = robot->mechanism.model;
    const struct point point = {.model = model, .q = q, .qd = qd};
    model_start(model, q, qd);
    for (int i = 0; i < robot->n_parameters; i++) {
        const struct variable *start = robot->parameter[i];
        if (start->start_of < 0) continue;
        const struct variable *state = &robot->variables.row[robot->variables.state[start->start_of]];
        *variable_place(state, &point) = robot->value[start->reference];
    }
}
