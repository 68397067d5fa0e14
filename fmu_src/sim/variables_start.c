/* Which knowns of the initialization (inputs, parameters) an unknown (output, state, state derivative) depends on there: directly, and
   through the states that it depends on, which are computed from start values. As in variables_depends.c, a dependency is declared unless
   the structure of the robot excludes it. */
#include "sim/variables_row.h"

/* ---- how states start ----------------------------------------------------------------------------------------------------- */

/* `found`: closing the robot or the static start may move a position away from its own start value. Driven joints are held; states of
   drives are computed from the motion. */
struct start_dependence variable_start_dependence(const struct variable *unknown, const struct variables *variables,
                                                  const struct structure *structure)
{
    const struct robot *robot = structure->model->robot;
    struct start_dependence by = {0};
    for (int s = 0; s < variables->n_states; s++) {
        const struct variable *state = &variables->row[variables->state[s]];
        const enum owner owner = state->row->owner;
        if (!variable_depends(unknown, state, structure)) continue;
        if (owner == DRIVE) by.drive = by.found = true;
        if (state->row->level == VELOCITY) by.velocity = true;
        if (owner == DRIVE || state->row->level != POSITION) continue;
        const struct joint *joint = &robot->link[state->owner].joint;
        if (owner == FLEXIBLE || robot_is_closed(robot) || joint->passive || joint->hold == HOLD_FREE) by.found = true;
    }
    return by;
}

/* ---- knowns --------------------------------------------------------------------------------------------------------------- */

/* Does it depend on the start of this state? A component of a quaternion starts divided by the norm of all four. */
static bool depends_on_state(const struct structure *s, const struct variable *unknown, const struct variable *state,
                             const struct variables *variables)
{
    if (variable_depends(unknown, state, s)) return true;
    if (state->row->count != POSITIONS) return false;
    const int first = joint_quaternion(&s->model->robot->link[state->owner].joint);
    for (int i = 0; first >= 0 && state->k >= first && i < variables->n_states; i++) {
        const struct variable *other = &variables->row[variables->state[i]];
        if (other->row == state->row && other->owner == state->owner && other->k >= first &&
            variable_depends(unknown, other, s))
            return true;
    }
    return false;
}

/* Of an element: what it measures, its rate, its force */
static enum level level_of(const struct variable *unknown)
{
    if (unknown->row->depends != depends_element) return unknown->row->level;
    return unknown->k == ELEMENT_X ? POSITION : unknown->k == ELEMENT_RATE ? VELOCITY : FORCE;
}

/* Does an input act on positions that are found? Torques of joints that are held, and forces of lines that hold, do not. */
static bool acts_on_equilibrium(const struct structure *s, const struct variable *input)
{
    const struct robot *robot = s->model->robot;
    switch (input->row->owner) {
    case DRIVEN: return robot->link[input->owner].joint.hold == HOLD_FREE;
    case OPEN_LINE: return robot->line[input->owner].hold == HOLD_FREE;
    case PRESCRIBED: return input->row->level == POSITION;
    default: return true;
    }
}

/* Does it depend on a number of the robot, or of one of its drives? Positions and velocities follow from the geometry alone. */
static bool depends_on_number(const struct structure *s, const struct start_dependence *by,
                              const struct variable *unknown, const struct variable *number)
{
    if (level_of(unknown) > VELOCITY || by->found || by->drive || (by->velocity && robot_is_closed(s->model->robot)))
        return true;
    if (number->row->owner == COUPLING) return unknown->row->depends == depends_element; /* the offset of its gap */
    return number->row->owner == BEAM && !unknown->row->is_state;
}

bool variable_depends_at_start(const struct variable *unknown, const struct variable *known,
                               const struct start_dependence *by, const struct variables *variables,
                               const struct structure *structure)
{
    const bool closed = robot_is_closed(structure->model->robot), prescribed = known->row->owner == PRESCRIBED;
    if (known->causality == CAUSALITY_INPUT) {
        if (variable_depends(unknown, known, structure) || by->drive) return true;
        if (by->velocity && closed && prescribed) return true;
        /* velocities are zero in a static start at any position */
        if (level_of(unknown) == VELOCITY && !prescribed && structure->model->n_prescribed == 0) return false;
        return by->found && acts_on_equilibrium(structure, known);
    }
    if (known->reference == variables->start_static) return by->found || by->velocity;
    if (known->start_of >= 0) {
        const struct variable *state = &variables->row[variables->state[known->start_of]];
        const bool position = state->row->level == POSITION;
        if (by->drive || (by->found && position) || (closed && by->velocity)) return true;
        return depends_on_state(structure, unknown, state, variables);
    }
    if (known->row->number->write == NULL) return false; /* of the integration */
    return depends_on_number(structure, by, unknown, known);
}
