#include "analysis/inverse.h"

#include <stdio.h>
#include <string.h>

#include "analysis/failure.h"
#include "analysis/names.h"

/* Torques have K times the error of eta; a tight tolerance costs little more than a loose one (docs/analyses.md) */
static const double DEFAULT_TOLERANCE = 1e-8;

/* ---- making -------------------------------------------------------------------------------------------------------------------- */

static void add_name(struct inverse *inverse, const char *name)
{
    inverse->name[inverse->n_inputs++] = arena_string(&inverse->arena, name);
}

/* The inputs of a prescribed joint are its motion, that of a driven joint is its torque */
static void name_inputs(struct inverse *inverse)
{
    const struct model *model = sim_model(inverse->sim);
    for (int i = 0; i < inverse->robot->n_links; i++) {
        const struct joint *joint = &inverse->robot->link[i].joint;
        for (int k = 0; !joint->passive && k < joint_velocities(joint); k++) {
            char name[NAME_SIZE];
            for (int d = POSITION; joint->prescribed && d <= ACCELERATION; d++) {
                name_coordinate(model, (enum derivative)d, k + (d == POSITION ? model->link[i].q : model->link[i].v),
                                name);
                add_name(inverse, name);
            }
            name_joint_force(joint, k, name);
            if (!joint->prescribed) add_name(inverse, name);
        }
    }
    for (int a = 0; a < inverse->n_forces; a++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "%s.force", inverse->robot->line[a].name);
        add_name(inverse, name);
    }
}

/* Without drives, and without as many lines as passive joints that they move, there is nothing to compute */
static enum status check_inputs(const struct inverse *inverse, const char *name, struct report *report)
{
    const struct robot *robot = inverse->robot;
    if (inverse->n_inputs > 0) return STATUS_OK;
    report_add(report, REPORT_ERROR, "%s: nothing drives this robot: no joint that moves has a drive%s", name,
               robot->n_lines == 0 ? ""
               : robot_is_closed(robot)
                   ? ", and forces of lines are computed for open robots alone: give joints a drive (no "
                     "`passive`)"
                   : ", and forces of lines follow from a motion only where there are as many as passive "
                     "joints between their points: give the other joints a drive (no `passive`), or remove "
                     "lines");
    return STATUS_BAD_INPUT;
}

enum status inverse_make(const char *name, const char *text, const struct robot *robot, struct motion *motion,
                         const struct inverse_options *options, struct report *report, struct inverse *inverse)
{
    *inverse = (struct inverse){.robot = robot, .motion = motion, .options = *options};
    inverse->report = failure_errors_only(report);
    const struct sim_motion follow = {.context = motion, .at = motion_at};
    const enum status status = sim_make_moved(name, text, &follow, &inverse->report, &inverse->sim);
    if (status != STATUS_OK) return inverse->report.errors == 0 ? failure_status(report, status) : status;

    const struct model *model = sim_model(inverse->sim);
    const size_t n_lines = (size_t)robot->n_lines, most = 3 * (size_t)model->n_tau + n_lines;
    for (int i = 0; i < robot->n_links; i++)
        if (joint_actuated(robot, i)) inverse->n_forces = robot->n_lines;
    arena_arrays(&inverse->arena, n_lines, ARRAYS(&inverse->F));
    arena_arrays(&inverse->arena, most, ARRAYS(&inverse->input));
    inverse->name = arena_allocate(&inverse->arena, most, sizeof *inverse->name);
    if (!inverse->arena.failed) name_inputs(inverse);
    if (inverse->arena.failed) return failure_status(report, STATUS_NO_MEMORY);
    const bool at_rest = !options->rigid && !options->start_zero;
    instance_set(inverse->sim, instance_variables(inverse->sim)->start_static, at_rest);
    return check_inputs(inverse, name, report);
}

void inverse_free(struct inverse *inverse)
{
    rigid_inverse_free(&inverse->links);
    instance_free(inverse->sim);
    arena_release(&inverse->arena);
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------------- */

static void fill_inputs(struct inverse *inverse, const double *force, const double *F)
{
    const struct model *model = sim_model(inverse->sim);
    int count = 0;
    for (int i = 0; i < inverse->robot->n_links; i++) {
        const struct joint *joint = &inverse->robot->link[i].joint;
        for (int k = 0; !joint->passive && k < joint_velocities(joint); k++) {
            if (joint->prescribed) {
                motion_at(inverse->motion, motion_row(inverse->motion, inverse->row), i, k, inverse->input + count);
                count += 3;
            } else {
                inverse->input[count++] = force[model->link[i].v + k];
            }
        }
    }
    for (int a = 0; a < inverse->n_forces; a++) inverse->input[count++] = F[a];
}

static enum status compute_row(struct inverse *inverse, struct report *report)
{
    enum status status;
    if (inverse->options.rigid) {
        status = rigid_inverse_at(&inverse->links, inverse->row, report);
        if (status == STATUS_OK) fill_inputs(inverse, inverse->links.force, inverse->links.F);
        return status;
    }
    status = analysis_update(inverse->sim, motion_time(inverse->motion, inverse->row), report);
    if (status != STATUS_OK) return status;
    for (int a = 0; a < inverse->n_forces; a++) inverse->F[a] = sim_line_force(inverse->sim, a);
    fill_inputs(inverse, sim_drive_forces(inverse->sim), inverse->F);
    return STATUS_OK;
}

enum status inverse_start(struct inverse *inverse, struct report *report)
{
    const double tolerance = inverse->options.tolerance;
    const struct experiment experiment = {.start_time = motion_time(inverse->motion, 0),
                                          .tolerance = tolerance > 0 ? tolerance : DEFAULT_TOLERANCE};
    enum status status = instance_initialize(inverse->sim, &experiment);
    if (status == STATUS_OK && inverse->options.rigid)
        status = rigid_inverse_make(sim_robot(inverse->sim), inverse->motion, inverse->n_forces > 0, report,
                                    &inverse->links);
    inverse->row = 0;
    return status == STATUS_OK ? compute_row(inverse, report) : status;
}

enum status inverse_next(struct inverse *inverse, struct report *report)
{
    const double t = motion_row(inverse->motion, inverse->row);
    inverse->row++;
    if (!inverse->options.rigid) {
        const enum status status = instance_step(inverse->sim, motion_row(inverse->motion, inverse->row) - t);
        if (status != STATUS_OK) return status;
    }
    return compute_row(inverse, report);
}
