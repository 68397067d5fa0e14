#include "mech/mechanism.h"

#include <stdio.h>
#include <string.h>

#include "math/dense.h"

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* The links and sections that the loads act on */
static void place_loads(struct mechanism *m)
{
    struct load *load = m->load;
    for (int i = 0; i < m->robot->n_loops; i++)
        for (int s = 0; s < LOOP_LOADS; s++, load++) {
            load->link = m->model->loop_side[i][s].link;
            load->section = m->model->loop_side[i][s].section;
        }
    for (int i = 0; i < m->robot->n_actuators; i++)
        for (int s = 0; s < 2; s++, load++) {
            load->link = m->model->actuator_end[i][s].link;
            load->section = m->model->actuator_end[i][s].section;
        }
}

/* What is built from the numbers of the robot: model, work and tangent, which are NULL before */
static enum status make_tree(struct mechanism *m, struct report *report)
{
    enum status status = model_make(m->robot, &m->model, report);
    if (status == STATUS_OK) status = work_make(m->model, &m->work);
    if (status == STATUS_OK) status = work_make_newton(m->model, &m->newton_work);
    if (status == STATUS_OK) status = tangent_make(m->model, &m->tangent);
    return status;
}

static void free_tree(struct mechanism *m)
{
    tangent_free(m->tangent);
    work_free(m->newton_work);
    work_free(m->work);
    model_free(m->model);
}

enum status mechanism_make(const struct robot *robot, struct mechanism *m, struct report *report)
{
    const size_t loads = (size_t)actuator_load(robot, robot->n_actuators);
    struct arena *arena = &m->arena;
    memset(m, 0, sizeof *m);
    m->robot = robot;
    enum status status = make_tree(m, report);
    if (status == STATUS_OK) {
        m->constraints = constraints_make(m->model, arena);
        m->newton_constraints = constraints_make(m->model, arena);
        if (!arena->failed) m->drive_rows = drive_rows_make(m->model, m->constraints->n_rows, arena);
        m->actuators = actuators_make(robot, arena);
        m->load = arena_allocate(arena, loads, sizeof *m->load);
        m->load_change = arena_allocate(arena, loads, sizeof *m->load_change);
        if (arena->failed) status = STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK) place_loads(m);
    else mechanism_free(m);
    return status;
}

void mechanism_free(struct mechanism *m)
{
    free_tree(m);
    arena_release(&m->arena);
    memset(m, 0, sizeof *m);
}

enum status mechanism_remake(struct mechanism *m, struct report *report)
{
    struct mechanism made = *m;
    made.model = NULL;
    made.work = made.newton_work = NULL;
    made.tangent = NULL;
    const enum status status = make_tree(&made, report);
    if (status != STATUS_OK) {
        free_tree(&made);
        return status;
    }
    free_tree(m);
    *m = made;
    place_loads(m);
    return STATUS_OK;
}

void mechanism_set_masses(struct mechanism *m, int link)
{
    model_set_payload(m->model, link);
    model_set_added_mass(m->model, link);
    work_reset(m->model, m->work, link);
    work_reset(m->model, m->newton_work, link);
}

/* ---- forward dynamics -------------------------------------------------------------------------------------------- */

enum status mechanism_forward(struct mechanism *m, const struct input *in, double *qdd)
{
    struct input actuated;
    dyn_configuration(m->model, m->work, in->q);
    enum status status = actuators_apply(m, in, &actuated);
    if (status != STATUS_OK) return status;
    dyn_motion(m->model, m->work, &actuated, NULL);
    status = dyn_articulate_and_solve(m->model, m->work, &actuated, qdd);
    if (status != STATUS_OK || m->constraints->n_rows == 0) return status;
    constraints_prepare(m, &actuated);
    constraints_frames(m, true);
    constraints_mobility(m);
    status = constraints_factor(m);
    if (status == STATUS_OK) constraints_close_accelerations(m, qdd);
    return status;
}

/* X and S from the Cholesky factor of M; zero for prescribed coordinates */
static void dense_mobility(struct mechanism *m)
{
    const struct model *model = m->model;
    struct constraints *loops = m->constraints;
    const size_t n = (size_t)model->nv;
    for (int i = 0; i < loops->n_active; i++) {
        double *X = loops->X + n * (size_t)i;
        constraints_row(m, i);
        memcpy(X, loops->G + n * (size_t)i, n * sizeof *X);
        for (int link = 0; link < model->n_links; link++) {
            const struct link_model *lm = &model->link[link];
            for (int k = free_velocities(lm); k < lm->joint.nv; k++) X[lm->v + k] = 0;
        }
        cholesky_solve(model->nv, m->work->factor, m->work->inverse_d, X);
        for (int j = 0; j <= i; j++)
            loops->S[loops->n_active * j + i] = dense_dot(model->nv, loops->G + n * (size_t)j, X);
    }
}

enum status mechanism_forward_composite(struct mechanism *m, const struct input *in, double *qdd)
{
    struct input actuated;
    dyn_configuration(m->model, m->work, in->q);
    enum status status = actuators_apply(m, in, &actuated);
    if (status == STATUS_OK) status = dyn_forward_composite(m->model, m->work, &actuated, qdd);
    if (status != STATUS_OK || m->constraints->n_rows == 0) return status;
    dyn_motion(m->model, m->work, &actuated, qdd);
    constraints_prepare(m, &actuated);
    constraints_frames(m, false);
    dense_mobility(m);
    status = constraints_factor(m);
    if (status == STATUS_OK) constraints_close_accelerations(m, qdd);
    return status;
}

struct input mechanism_loaded(const struct mechanism *m, const struct input *in)
{
    struct input loaded = *in;
    loaded.n_loads = actuator_load(m->robot, m->robot->n_actuators);
    loaded.load = m->load;
    return loaded;
}

const char *mechanism_reason(const struct mechanism *m, enum status status, char text[REASON_SIZE])
{
    const struct robot *robot = m->robot;
    const struct link *link = &robot->link[m->work->failed_link];
    const int a = m->actuators->failed, i = m->constraints->failed;
    const char *why = status_text(status);
    double gap;
    const int missed = status == STATUS_MISSED_LOOP ? constraints_missed(m->constraints, &gap) : -1;
    if (status == STATUS_NOT_POSITIVE && joint_quaternion(&link->joint) >= 0) /* a slender link resists no spin */
        snprintf(text, REASON_SIZE,
                 "%s: nothing resists some motion of link '%s' (%s joint '%s'): give it or what it carries mass, and "
                 "inertia about every axis",
                 why, link->name, joint_type_name(&link->joint), link->joint.name);
    else if (status == STATUS_NOT_POSITIVE)
        snprintf(text, REASON_SIZE,
                 "%s: nothing resists the motion of link '%s' (joint '%s'): give it or what it carries mass, inertia "
                 "or motor_inertia",
                 why, link->name, link->joint.name);
    else if (status == STATUS_SHORT_ACTUATOR)
        snprintf(text, REASON_SIZE, "actuators[%d] (%s): %s", a, robot->actuator[a].name, why);
    else if (status == STATUS_SINGULAR_LOOP)
        snprintf(text, REASON_SIZE, "loops[%d] (%s): %s", i, robot->loop[i].name, why);
    else if (missed >= 0)
        snprintf(
            text, REASON_SIZE,
            "loops[%d] (%s): %s, by %.3g m (or rad): the start is singular, or axes or prescribed motions do not fit",
            missed, robot->loop[missed].name, why, gap);
    else snprintf(text, REASON_SIZE, "%s", why);
    return text;
}
