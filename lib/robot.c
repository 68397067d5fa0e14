/* Robots: loading, names, counts, state and forces. */
#include <math.h>
#include <string.h>

#include "internal.h"
#include "robot/read.h"

/* ---- loading -------------------------------------------------------------------------------------------------- */

/* Reads the robot, and sets it to its start with the independent constraints of its loops; limber_robot_close_loops() reports the
   dropped ones. */
static enum status make(limber_robot *robot)
{
    struct report *report = &robot->messages.report, silent = {0};
    enum status status = robot_read_text(robot->name, robot->text, &robot->robot, report);
    if (status == STATUS_OK) {
        robot->robot->every_frame_loaded = true;
        status = mechanism_make(robot->robot, &robot->mechanism, report);
    }
    if (status == STATUS_OK) {
        const struct model *model = robot->mechanism.model;
        const size_t nv = (size_t)model->nv;
        point_make(model, &robot->arena, &robot->at);
        robot->in = point_input(&robot->at);
        arena_arrays(&robot->arena, (size_t)model->nq, ARRAYS(&robot->next_q));
        arena_arrays(&robot->arena, nv, ARRAYS(&robot->next_qd, &robot->qdd, &robot->force, &robot->zeros));
        arena_arrays(&robot->arena, (size_t)model->n_tau, ARRAYS(&robot->unit));
        arena_arrays(&robot->arena, nv * nv, ARRAYS(&robot->by_q, &robot->by_qd));
        status = robot->arena.failed ? STATUS_NO_MEMORY : parameters_make(robot);
    }
    if (status == STATUS_OK) {
        parameters_start(robot, robot->at.q, robot->at.qd);
        constraints_choose(&robot->mechanism, robot->at.q, &silent);
    } else if (report->errors == 0) {
        report_add(report, REPORT_ERROR, "%s: %s", robot->name, status_text(status));
    }
    return status;
}

/* From a text, or from the file `name` */
static int load_robot(const char *name, const char *text, bool file, limber_message *message, void *context,
                      limber_robot **made)
{
    struct arena arena = {0};
    if (made != NULL) *made = NULL;
    if (made == NULL || name == NULL || (text == NULL && !file)) return LIMBER_BAD_ARGUMENT;
    limber_robot *robot = arena_allocate(&arena, 1, sizeof *robot);
    if (robot == NULL) return LIMBER_NO_MEMORY;
    robot->arena = arena;
    lib_messages_start(&robot->messages, message, context);
    robot->name = arena_string(&robot->arena, name);
    robot->text =
        file ? document_load(name, &robot->arena, &robot->messages.report) : arena_string(&robot->arena, text);
    enum status status = file ? STATUS_NO_FILE : STATUS_NO_MEMORY; /* without a text */
    if (robot->text != NULL) status = robot->arena.failed ? STATUS_NO_MEMORY : make(robot);
    if (status == STATUS_OK) *made = robot;
    else limber_robot_free(robot);
    return (int)status;
}

int limber_robot_parse(const char *name, const char *text, limber_message *message, void *context, limber_robot **made)
{
    return load_robot(name, text, false, message, context, made);
}

int limber_robot_read(const char *file, limber_message *message, void *context, limber_robot **made)
{
    return load_robot(file, NULL, true, message, context, made);
}

void limber_robot_free(limber_robot *robot)
{
    if (robot == NULL) return;
    mechanism_free(&robot->mechanism);
    robot_free(robot->robot);
    struct arena arena = robot->arena; /* the handle is in it */
    arena_release(&arena);
}

/* ---- counts and names ----------------------------------------------------------------------------------------- */

const char *limber_robot_name(const limber_robot *robot)
{
    return robot->robot->name;
}

const char *limber_robot_description(const limber_robot *robot)
{
    return robot->robot->description;
}

int limber_robot_nq(const limber_robot *robot)
{
    return robot->mechanism.model->nq;
}

int limber_robot_nv(const limber_robot *robot)
{
    return robot->mechanism.model->nv;
}

int limber_robot_joint_forces(const limber_robot *robot)
{
    return robot->mechanism.model->n_tau;
}

int limber_robot_prescribed(const limber_robot *robot)
{
    return robot->mechanism.model->n_prescribed;
}

int limber_robot_links(const limber_robot *robot)
{
    return robot->robot->n_links;
}

int limber_robot_actuators(const limber_robot *robot)
{
    return robot->robot->n_lines;
}

int limber_robot_frames(const limber_robot *robot)
{
    return robot->robot->n_frames;
}

int limber_robot_loops(const limber_robot *robot)
{
    return robot->robot->n_loops;
}

int limber_robot_couplings(const limber_robot *robot)
{
    return robot->robot->n_couplings;
}

int limber_robot_constraints(const limber_robot *robot)
{
    return robot->mechanism.constraints->n_rows;
}

static bool within(int i, int count)
{
    return i >= 0 && i < count;
}

const char *limber_robot_link_name(const limber_robot *robot, int link)
{
    return within(link, robot->robot->n_links) ? robot->robot->link[link].name : NULL;
}

const char *limber_robot_joint_name(const limber_robot *robot, int link)
{
    return within(link, robot->robot->n_links) ? robot->robot->link[link].joint.name : NULL;
}

const char *limber_robot_actuator_name(const limber_robot *robot, int line)
{
    return within(line, robot->robot->n_lines) ? robot->robot->line[line].name : NULL;
}

const char *limber_robot_loop_name(const limber_robot *robot, int loop)
{
    return within(loop, robot->robot->n_loops) ? robot->robot->loop[loop].name : NULL;
}

const char *limber_robot_coupling_name(const limber_robot *robot, int coupling)
{
    return within(coupling, robot->robot->n_couplings) ? robot->robot->coupling[coupling].name : NULL;
}

const char *limber_robot_frame_name(const limber_robot *robot, int frame)
{
    return within(frame, robot->robot->n_frames) ? robot->robot->frame[frame].name : NULL;
}

int limber_robot_find_frame(const limber_robot *robot, const char *name)
{
    for (int i = 0; name != NULL && i < robot->robot->n_frames; i++)
        if (strcmp(robot->robot->frame[i].name, name) == 0) return i;
    return LIMBER_NO_NAME;
}

int limber_robot_find_link(const limber_robot *robot, const char *name)
{
    for (int i = 0; name != NULL && i < robot->robot->n_links; i++)
        if (strcmp(robot->robot->link[i].name, name) == 0) return i;
    return LIMBER_NO_NAME;
}

int limber_robot_parent(const limber_robot *robot, int link)
{
    return within(link, robot->robot->n_links) ? robot->robot->link[link].mount.link : LIMBER_BAD_ARGUMENT;
}

int limber_robot_tip(const limber_robot *robot)
{
    return robot->robot->tip;
}

int limber_robot_range(const limber_robot *robot, int link, int which, int *first, int *count)
{
    const struct constraints *loops = robot->mechanism.constraints;
    const int owners = which == LIMBER_CONSTRAINTS ? loops->count : robot->robot->n_links;
    if (first == NULL || count == NULL || !within(link, owners)) return LIMBER_BAD_ARGUMENT;
    const struct link_model *lm = &robot->mechanism.model->link[which == LIMBER_CONSTRAINTS ? 0 : link];
    const int ranges[][2] = {[LIMBER_JOINT_POSITIONS] = {lm->q, lm->joint.nq},
                             [LIMBER_JOINT_VELOCITIES] = {lm->v, lm->joint.nv},
                             [LIMBER_ELASTIC_POSITIONS] = {lm->eta_q, lm->m},
                             [LIMBER_ELASTIC_VELOCITIES] = {lm->eta_v, lm->m},
                             [LIMBER_JOINT_FORCES] = {lm->tau, lm->joint.nv},
                             [LIMBER_PRESCRIBED] = {lm->prescribed, lm->joint.nv - free_velocities(lm)}};
    if (which == LIMBER_CONSTRAINTS) {
        *first = loops->constraint[link].first;
        *count = loops->constraint[link].count;
        return LIMBER_OK;
    }
    if (!within(which, (int)(sizeof ranges / sizeof *ranges))) return LIMBER_BAD_ARGUMENT;
    *count = ranges[which][1];
    *first = *count > 0 ? ranges[which][0] : 0;
    return LIMBER_OK;
}

/* ---- state ---------------------------------------------------------------------------------------------------- */

int limber_robot_set_state(limber_robot *robot, const double *q, const double *qd)
{
    if (robot == NULL) return LIMBER_BAD_ARGUMENT;
    const struct model *model = robot->mechanism.model;
    double *next_q = robot->next_q, *next_qd = robot->next_qd;
    parameters_start(robot, next_q, next_qd);
    if (q != NULL) memcpy(next_q, q, (size_t)model->nq * sizeof *q);
    if (qd != NULL) memcpy(next_qd, qd, (size_t)model->nv * sizeof *qd);
    if (!lib_all_finite(model->nq, next_q) || !lib_all_finite(model->nv, next_qd))
        return lib_call_failed(&robot->messages, LIMBER_BAD_ARGUMENT, __func__, "q and qd must be finite");
    for (int i = 0; i < robot->robot->n_links; i++) {
        const struct joint *joint = &robot->robot->link[i].joint;
        if (!(fabs(joint_quaternion_error(joint, next_q + model->link[i].q)) <= QUATERNION_ERROR))
            return lib_call_failed(&robot->messages, LIMBER_BAD_ARGUMENT, __func__,
                                   "joint '%s' must have a quaternion of norm 1, within %g", joint->name,
                                   QUATERNION_ERROR);
    }
    model_normalize(model, next_q);
    memcpy(robot->at.q, next_q, (size_t)model->nq * sizeof *q);
    memcpy(robot->at.qd, next_qd, (size_t)model->nv * sizeof *qd);
    mechanism_set(&robot->mechanism, &robot->in);
    return LIMBER_OK;
}

int limber_robot_get_state(const limber_robot *robot, double *q, double *qd)
{
    if (robot == NULL) return LIMBER_BAD_ARGUMENT;
    const struct model *model = robot->mechanism.model;
    if (q != NULL) memcpy(q, robot->at.q, (size_t)model->nq * sizeof *q);
    if (qd != NULL) memcpy(qd, robot->at.qd, (size_t)model->nv * sizeof *qd);
    return LIMBER_OK;
}

int limber_robot_move(const limber_robot *robot, double *q, const double *dx)
{
    if (robot == NULL || q == NULL || dx == NULL) return LIMBER_BAD_ARGUMENT;
    model_move(robot->mechanism.model, q, dx, 1);
    return LIMBER_OK;
}

int limber_robot_difference(const limber_robot *robot, const double *from, const double *to, double *dx)
{
    if (robot == NULL || from == NULL || to == NULL || dx == NULL) return LIMBER_BAD_ARGUMENT;
    model_difference(robot->mechanism.model, from, to, dx);
    return LIMBER_OK;
}

/* ---- forces --------------------------------------------------------------------------------------------------- */

static int set_numbers(limber_robot *robot, const char *function, int count, const double *number, double *place)
{
    if (number == NULL) {
        memset(place, 0, (size_t)count * sizeof *place);
    } else if (lib_all_finite(count, number)) {
        memcpy(place, number, (size_t)count * sizeof *place);
    } else {
        return lib_call_failed(&robot->messages, LIMBER_BAD_ARGUMENT, function, "all numbers must be finite");
    }
    return LIMBER_OK;
}

int limber_robot_set_joint_forces(limber_robot *robot, const double *tau)
{
    if (robot == NULL) return LIMBER_BAD_ARGUMENT;
    return set_numbers(robot, __func__, limber_robot_joint_forces(robot), tau, robot->at.tau);
}

int limber_robot_set_tip_wrench(limber_robot *robot, const double *wrench)
{
    if (robot == NULL) return LIMBER_BAD_ARGUMENT;
    return set_numbers(robot, __func__, 6, wrench, robot->at.tip_wrench);
}

int limber_robot_set_frame_wrench(limber_robot *robot, int frame, const double *wrench)
{
    if (robot == NULL || !within(frame, robot->robot->n_frames)) return LIMBER_BAD_ARGUMENT;
    return set_numbers(robot, __func__, 6, wrench, robot->at.frame_wrench + 6 * frame);
}

int limber_robot_set_prescribed_accelerations(limber_robot *robot, const double *acceleration)
{
    if (robot == NULL) return LIMBER_BAD_ARGUMENT;
    return set_numbers(robot, __func__, limber_robot_prescribed(robot), acceleration, robot->at.prescribed_qdd);
}

int limber_robot_set_actuator_forces(limber_robot *robot, const double *force)
{
    if (robot == NULL) return LIMBER_BAD_ARGUMENT;
    return set_numbers(robot, __func__, limber_robot_actuators(robot), force, robot->at.line_force);
}
