/* Static equilibrium and linearization of a robot at its state. */
#include <string.h>

#include "analysis/linear.h"
#include "internal.h"

/* ---- an operating point of the robot ------------------------------------------------------------------------------ */

/* An instance with the parameters of the robot, whose state and forces are in `at`. operating_point_free() in any case. */
static enum status make_point(const limber_robot *robot, struct report *report, struct operating_point *point)
{
    enum status status = operating_point_make(robot->name, robot->text, NULL, report, point);
    if (status != STATUS_OK) return status;
    for (int i = 0; i < robot->n_parameters; i++) {
        const int reference = robot->parameter[i]->reference;
        instance_set(point->sim, reference, robot->value[reference]);
    }
    point_copy(&robot->at, &point->state.at);
    return STATUS_OK;
}

/* ---- static equilibrium ------------------------------------------------------------------------------------------- */

int limber_robot_settle(limber_robot *robot, double *tau, double *line_force)
{
    if (robot == NULL) return LIMBER_BAD_ARGUMENT;
    struct report *report = &robot->messages.report;
    struct operating_point point = {0};
    enum status status = make_point(robot, report, &point);
    if (status == STATUS_OK) status = operating_point_move(&point, false, true, report);
    if (status == STATUS_OK) {
        struct report silent = {0};
        point_copy(&point.state.at, &robot->at);
        memcpy(robot->at.tau, point.tau, (size_t)limber_robot_joint_forces(robot) * sizeof *point.tau);
        constraints_choose(&robot->mechanism, robot->at.q, &silent);
        mechanism_set(&robot->mechanism, &robot->in);
        if (tau != NULL) memcpy(tau, robot->at.tau, (size_t)limber_robot_joint_forces(robot) * sizeof *tau);
        if (line_force != NULL)
            memcpy(line_force, robot->at.line_force, (size_t)robot->mechanism.robot->n_lines * sizeof(double));
    }
    operating_point_free(&point);
    return (int)status;
}

/* ---- linearization ------------------------------------------------------------------------------------------------ */

struct limber_linear {
    struct operating_point point;
    struct linear linear;
    struct messages messages; /* the robot may be freed before */
    struct arena arena;       /* the handle is in it           */
};

int limber_robot_linearize(const limber_robot *robot, int options, limber_linear **made)
{
    if (made != NULL) *made = NULL;
    if (made == NULL || robot == NULL || (options & ~LIMBER_MINIMAL) != 0) return LIMBER_BAD_ARGUMENT;
    struct arena arena = {0};
    limber_linear *linear = arena_allocate(&arena, 1, sizeof *linear);
    if (linear == NULL) return LIMBER_NO_MEMORY;
    linear->arena = arena;
    lib_messages_start(&linear->messages, robot->messages.message, robot->messages.context);
    struct report *report = &linear->messages.report;
    enum status status = make_point(robot, report, &linear->point);
    if (status == STATUS_OK) status = operating_point_move(&linear->point, false, false, report);
    if (status == STATUS_OK) status = linear_make(&linear->point, report, &linear->linear);
    if (status == STATUS_OK && (options & LIMBER_MINIMAL) != 0) status = linear_minimal(&linear->linear, report);
    if (status == STATUS_OK) *made = linear;
    else limber_linear_free(linear);
    return (int)status;
}

void limber_linear_free(limber_linear *linear)
{
    if (linear == NULL) return;
    operating_point_free(&linear->point);
    struct arena arena = linear->arena;
    arena_release(&arena);
}

int limber_linear_states(const limber_linear *linear)
{
    return linear->linear.n_states;
}

int limber_linear_inputs(const limber_linear *linear)
{
    return linear->linear.n_inputs;
}

int limber_linear_outputs(const limber_linear *linear)
{
    return linear->linear.n_outputs;
}

const char *limber_linear_state_name(const limber_linear *linear, int i)
{
    return i >= 0 && i < linear->linear.n_states ? linear->linear.x[i].name : NULL;
}

const char *limber_linear_input_name(const limber_linear *linear, int i)
{
    return i >= 0 && i < linear->linear.n_inputs ? linear->linear.u[i].name : NULL;
}

const char *limber_linear_output_name(const limber_linear *linear, int i)
{
    return i >= 0 && i < linear->linear.n_outputs ? linear->linear.y[i].name : NULL;
}

const double *limber_linear_A(const limber_linear *linear)
{
    return linear->linear.A;
}

const double *limber_linear_B(const limber_linear *linear)
{
    return linear->linear.B;
}

const double *limber_linear_C(const limber_linear *linear)
{
    return linear->linear.C;
}

const double *limber_linear_D(const limber_linear *linear)
{
    return linear->linear.D;
}
