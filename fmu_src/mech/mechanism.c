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
        for (int s = 0; s < LOOP_SITES; s++) {
            const struct anchor *side = &m->model->site[m->robot->loop[i].site + s];
            *load++ = (struct load){side->link, side->section, {0}};
        }
    elements_place(m);
}

/* What is built from the numbers of the robot: model, work and tangent, which are NULL before */
static enum status make_tree(struct mechanism *m, struct report *report)
{
    enum status status = model_make(m->robot, &m->model, report);
    if (status == STATUS_OK) status = work_make(m->model, false, &m->work);
    if (status == STATUS_OK) status = work_make(m->model, true, &m->newton_work);
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

static void make_parts(struct mechanism *m)
{
    const size_t nv = (size_t)m->model->nv;
    struct arena *arena = &m->arena;
    m->n_loads = LOOP_SITES * m->robot->n_loops;
    m->constraints = constraints_make(m->model, arena);
    m->newton_constraints = constraints_make(m->model, arena);
    m->own_qdd = arena_allocate(arena, nv, sizeof *m->own_qdd);
    if (!arena->failed) elements_make(m, arena);
    if (!arena->failed) drives_make(m, arena);
    m->load = arena_allocate(arena, (size_t)m->n_loads, sizeof *m->load);
    m->load_change = arena_allocate(arena, (size_t)m->n_loads, sizeof *m->load_change);
    bool on_joints = m->robot->n_couplings > 0;
    for (int i = 0; i < m->n_elements && !arena->failed; i++) {
        const struct force_element *e = &m->element[i];
        if (e->kind->n_ends == 0) on_joints = true;
        else if (m->acts_at != PLACED_AND_MOVING)
            m->acts_at = e->kind->given && e->drive < 0 ? PLACED : PLACED_AND_MOVING;
    }
    if (on_joints)
        arena_arrays(arena, nv,
                     ARRAYS(&m->joint_force, &m->multiplier_force, &m->joint_force_sum, &m->joint_force_change));
}

enum status mechanism_make(const struct robot *robot, struct mechanism *m, struct report *report)
{
    memset(m, 0, sizeof *m);
    m->robot = robot;
    enum status status = make_tree(m, report);
    if (status == STATUS_OK) make_parts(m);
    if (status == STATUS_OK && m->arena.failed) status = STATUS_NO_MEMORY;
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
    m->stage = STAGE_NONE;
    place_loads(m);
    return STATUS_OK;
}

void mechanism_set_masses(struct mechanism *m, int link)
{
    model_set_masses(m->model, link);
    work_reset(m->model, m->work, link);
    work_reset(m->model, m->newton_work, link);
    m->stage = STAGE_NONE;
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

void mechanism_set(struct mechanism *m, const struct input *in)
{
    m->in = *in;
    m->qdd = m->own_qdd;
    m->stage = STAGE_NONE;
}

static int first_of_elements(const struct mechanism *m)
{
    return LOOP_SITES * m->robot->n_loops;
}

void mechanism_place(struct mechanism *m, enum places places)
{
    if (places == NOT_PLACED) return;
    mechanism_at(m, places == PLACED ? STAGE_POSITION : STAGE_VELOCITY);
    if ((m->work->done & places) == places) return;
    if (places == PLACED) dyn_position(m->model, m->work);
    else dyn_velocity(m->model, m->work, &m->in);
}

/* Forces of elements become loads; those of lines that are given need no velocities */
static enum status act(struct mechanism *m)
{
    const int first = first_of_elements(m);
    m->stage = STAGE_VELOCITY;
    mechanism_place(m, m->acts_at);
    const enum status status = elements_act(m, &m->in);
    if (status == STATUS_OK) dyn_add_loads(m->work, m->n_loads - first, m->load + first);
    return status;
}

/* M qdd + h = Q + G' lambda                                                                                            (54) */
static enum status accelerate(struct mechanism *m)
{
    m->in.joint_force = m->joint_force;
    enum status status = dyn_articulate_and_solve(m->model, m->work, &m->in, m->qdd);
    if (status != STATUS_OK || m->constraints->n_rows == 0) return status;
    m->stage = STAGE_VELOCITY;
    if (m->constraints->turning) mechanism_place(m, PLACED_AND_MOVING);
    constraints_frames(m, true);
    constraints_mobility(m, BY_ARTICULATED_FACTORS);
    status = constraints_factor(m);
    if (status == STATUS_OK) constraints_close_accelerations(m, m->qdd);
    return status;
}

enum status mechanism_at(struct mechanism *m, enum mechanism_stage stage)
{
    enum status status = STATUS_OK;
    const enum mechanism_stage before = m->work->done & DYN_STAGED ? m->stage : STAGE_NONE;
    if (before == STAGE_NONE) dyn_configuration(m->model, m->work, m->in.q);
    m->work->done |= DYN_STAGED;
    if (before < STAGE_VELOCITY && stage >= STAGE_VELOCITY) dyn_motion(m->model, m->work, &m->in, NULL);
    if (before < STAGE_FORCES && stage >= STAGE_FORCES && m->n_elements > 0) status = act(m);
    if (before < STAGE_ACCELERATION && stage == STAGE_ACCELERATION && status == STATUS_OK) status = accelerate(m);
    m->stage = status != STATUS_OK ? STAGE_NONE : before > stage ? before : stage;
    return status;
}

enum status mechanism_forward(struct mechanism *m, const struct input *in, double *qdd)
{
    mechanism_set(m, in);
    m->qdd = qdd;
    return mechanism_at(m, STAGE_ACCELERATION);
}

enum status mechanism_load_elements(struct mechanism *m, const struct input *in, struct input *loaded)
{
    const int first = first_of_elements(m);
    *loaded = *in;
    if (m->n_elements == 0) return STATUS_OK;
    if (m->acts_at == PLACED_AND_MOVING) {
        dyn_motion(m->model, m->work, in, NULL);
        dyn_velocity(m->model, m->work, in);
    } else if (m->acts_at == PLACED) dyn_position(m->model, m->work);
    const enum status status = elements_act(m, in);
    loaded->joint_force = m->joint_force;
    loaded->n_loads = m->n_loads - first;
    loaded->load = m->load + first;
    return status;
}

bool mechanism_add_laws(const struct mechanism *m, struct input *in)
{
    int first = m->n_loads; /* lines, whose forces are given, come first */
    for (int i = m->n_elements - 1; i >= 0; i--)
        if (!m->element[i].kind->given) first = m->element[i].load;
    in->joint_force = m->joint_force;
    in->n_loads = m->n_loads - first;
    in->load = m->load + first;
    return in->joint_force != NULL || in->n_loads > 0;
}

enum status mechanism_efforts(struct mechanism *m, const struct input *in)
{
    mechanism_set(m, in);
    const enum status status = drives_measure(m);
    return status == STATUS_OK ? drives_evaluate(m, in) : status;
}

void mechanism_energy(const struct mechanism *m, const struct input *in, struct energy *energy)
{
    dyn_energy(m->model, m->work, in, energy);
    for (int i = 0; i < m->n_elements; i++) {
        const struct force_element *e = &m->element[i];
        energy->elastic += e->energy;
        energy->loss += e->loss;
        if (e->kind->on_joint) energy->power += e->F * e->rate;
    }
}

enum status mechanism_forward_composite(struct mechanism *m, const struct input *in, double *qdd)
{
    struct input loaded;
    m->stage = STAGE_NONE;
    dyn_configuration(m->model, m->work, in->q);
    enum status status = mechanism_load_elements(m, in, &loaded);
    if (status == STATUS_OK) status = dyn_forward_composite(m->model, m->work, &loaded, qdd);
    if (status != STATUS_OK || m->constraints->n_rows == 0) return status;
    dyn_motion(m->model, m->work, &loaded, qdd);
    if (m->constraints->turning) dyn_velocity(m->model, m->work, &loaded);
    constraints_frames(m, false);
    constraints_mobility(m, BY_DENSE_FACTORS);
    status = constraints_factor(m);
    if (status == STATUS_OK) constraints_close_accelerations(m, qdd);
    return status;
}

struct input mechanism_loaded(const struct mechanism *m, const struct input *in)
{
    struct input loaded = *in;
    loaded.n_loads = m->n_loads;
    loaded.load = m->load;
    loaded.joint_force = m->joint_force_sum;
    for (int i = 0; m->joint_force != NULL && i < m->model->nv; i++)
        m->joint_force_sum[i] = m->joint_force[i] + m->multiplier_force[i];
    return loaded;
}

const char *mechanism_reason(const struct mechanism *m, enum status status, char text[REASON_SIZE])
{
    const struct robot *robot = m->robot;
    const struct link *link = &robot->link[m->work->failed_link];
    char label[MOST_LABEL];
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
    else if (status == STATUS_SHORT_LINE)
        snprintf(text, REASON_SIZE, "%s[%d] (%s): %s", m->element[m->failed_element].kind->part,
                 m->element[m->failed_element].part, m->element[m->failed_element].name, why);
    else if (status == STATUS_SINGULAR_LOOP)
        snprintf(text, REASON_SIZE, "%s: %s",
                 constraint_label(&m->constraints->constraint[m->constraints->failed], label), why);
    else if (missed >= 0)
        snprintf(text, REASON_SIZE,
                 "%s: %s, by %.3g m (or rad): the start is singular, or axes or prescribed motions do not fit",
                 constraint_label(&m->constraints->constraint[missed], label), why, gap);
    else snprintf(text, REASON_SIZE, "%s", why);
    return text;
}
