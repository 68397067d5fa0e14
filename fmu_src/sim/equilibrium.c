/* The static start: the equilibrium that mech/statics.h finds becomes the state; what moved and what holds it is logged. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drive/drive.h"
#include "math/dense.h"
#include "sim/robot_instance.h"

/* If a passive joint moves farther than the first, the file probably means something else: an error [rad or m]. Smaller moves than the
   second are not noted. */
static const double FARTHEST = 0.5, NOTED = 1e-6;
/* Forces below this fraction of the load are rounding errors */
static const double ROUNDING = 1e-9;

/* ---- the question ---------------------------------------------------------------------------------------------------------- */

static enum status set_up_statics(struct sim *sim)
{
    struct statics *s = &sim->statics;
    const struct model *model = sim->mechanism.model;
    if (s->q == NULL && statics_make(&sim->mechanism, s) != STATUS_OK) return STATUS_NO_MEMORY;
    statics_ask(&sim->mechanism, s);
    memcpy(s->q, sim->at.q, (size_t)model->nq * sizeof *s->q);
    memcpy(s->tau, sim->at.tau, (size_t)model->n_tau * sizeof *s->tau);
    memcpy(s->F, sim->line_force, (size_t)sim->robot->n_lines * sizeof *s->F);
    if (sim->robot->n_drives > 0) {
        const enum status status = mechanism_efforts(&sim->mechanism, &sim->in);
        if (status != STATUS_OK) return status;
        drives_copy_efforts(&sim->mechanism, sim->at.drive, s->tau, s->F);
    }
    for (int a = 0; a < sim->robot->n_lines; a++) /* forces that are found do not depend on the inputs */
        if (s->line[a] != LINE_GIVEN) s->F[a] = 0;
    s->in.tip_wrench = sim->at.tip_wrench;
    s->in.frame_wrench = sim->at.frame_wrench;
    return STATUS_OK;
}

/* ---- messages ---------------------------------------------------------------------------------------------------------------- */

static const char *unit_of(const struct link_model *lm, int k)
{
    return lm->joint.part[k] == TURNS ? "rad" : "m";
}

/* Names the joint on which the largest part of the forces remains, unless that is on an elastic coordinate */
static enum status report_nothing_found(struct sim *sim)
{
    const struct statics *s = &sim->statics;
    const struct model *model = sim->mechanism.model;
    double most = 0;
    int worst = -1;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int c = lm->v; c < lm->eta_v + lm->m; c++)
            if (s->moves[c] && fabs(s->f[c]) > most) {
                most = fabs(s->f[c]);
                worst = c < lm->v + lm->joint.nv ? i : -1;
            }
    }
    report_add(
        sim->instance.report, REPORT_ERROR,
        "%s: no static equilibrium found: forces of %.3g remain of %.3g%s%s%s; start nearer to an equilibrium, or hold "
        "joints or lines (\"static\": \"held\", --hold)",
        sim->instance.name, s->residual, s->load, worst >= 0 ? ", most of them on joint '" : "",
        worst >= 0 ? sim->robot->link[worst].joint.name : "", worst >= 0 ? "'" : "");
    return STATUS_NO_EQUILIBRIUM;
}

/* dx: from the start to the equilibrium. With `far` joints may move anywhere, but are to start near where they settle: a warning there */
static enum status report_moved(struct sim *sim, struct report *far, const double *dx)
{
    const struct model *model = sim->mechanism.model;
    struct report *report = sim->instance.report;
    enum status status = STATUS_OK;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct joint *joint = &sim->robot->link[i].joint;
        for (int k = 0; k < lm->joint.nv; k++) {
            const double moved = dx[lm->v + k];
            const bool too_far = fabs(moved) > FARTHEST && joint->hold != HOLD_FREE;
            if (too_far && far != NULL)
                report_add(far, REPORT_WARNING, "the static equilibrium is %.3g %s away from the start of joint '%s'",
                           moved, unit_of(lm, k), joint->name);
            if (fabs(moved) > NOTED)
                report_note(report, "static start: joint '%s' moved by %.4g %s", joint->name, moved, unit_of(lm, k));
            if (!too_far || far != NULL) continue;
            report_add(
                report, REPORT_ERROR,
                "%s: the static equilibrium is %.3g %s away from the start of joint '%s', more than %g: start nearer "
                "to it, hold the joint (\"static\": \"held\") or allow it to move (\"static\": \"free\")",
                sim->instance.name, moved, unit_of(lm, k), joint->name, FARTHEST);
            status = STATUS_NO_EQUILIBRIUM;
        }
    }
    return status;
}

/* The force that holds a coordinate. If the joint is passive, nothing holds it after the start: a warning, unless the force is a
   rounding error. */
static void report_holding(const struct sim *sim, int link, int k)
{
    const struct link_model *lm = &sim->mechanism.model->link[link];
    const struct joint *joint = &sim->robot->link[link].joint;
    const double holding = sim->statics.holding[lm->v + k];
    const char *unit = lm->joint.part[k] == TURNS ? "N.m" : "N";
    const struct joint_group group = joint_velocity_group(joint, k);
    char index[16] = "";
    if (group.count > 1) snprintf(index, sizeof index, "[%d]", k - group.first + 1);
    if (!lm->passive)
        report_note(sim->instance.report, "static start: joint '%s' is held by %s%s = %.6g %s", joint->name,
                    group.force, index, holding, unit);
    else if (fabs(holding) > ROUNDING * sim->statics.load)
        report_add(
            sim->instance.report, REPORT_WARNING,
            "static start: passive joint '%s' is held by %s%s = %.6g %s, but nothing exerts this force after the start",
            joint->name, group.force, index, holding, unit);
}

/* Forces that hold joints and lines. Inputs do not change: if they are not these forces, the robot moves. */
static void note_holding(const struct sim *sim)
{
    const struct statics *s = &sim->statics;
    const struct model *model = sim->mechanism.model;
    const struct report *report = sim->instance.report;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; k < lm->joint.nv; k++)
            if (!s->moves[lm->v + k] && !s->balanced[lm->v + k] && lm->prescribed < 0 &&
                robot_drive_of_link(sim->robot, i) == NULL)
                report_holding(sim, i, k);
    }
    for (int a = 0; a < sim->robot->n_lines; a++)
        if (s->line[a] > LINE_SPRING && robot_drive_of_line(sim->robot, a) == NULL)
            report_note(report, "static start: line '%s' holds with %.9g N; its input is %.9g N",
                        sim->robot->line[a].name, s->F[a], sim->line_force[a]);
    if (s->ambiguous > 0)
        report_note(report, "static start: the forces of the lines are not unique, they hold with the smallest ones");
}

/* ---- the start --------------------------------------------------------------------------------------------------------------- */

static enum status find_equilibrium(struct sim *sim, struct report *far)
{
    struct statics *s = &sim->statics;
    const struct model *model = sim->mechanism.model;
    struct constraints *loops = sim->mechanism.constraints;
    struct report *report = sim->instance.report;
    memset(sim->at.qd, 0, (size_t)model->nv * sizeof(double));
    enum status status = set_up_statics(sim);
    if (status == STATUS_OK) status = statics_solve(&sim->mechanism, s);
    if (status == STATUS_NO_EQUILIBRIUM) return report_nothing_found(sim);
    if (status != STATUS_OK) return status;
    model_difference(model, sim->at.q, s->q, sim->dx);
    status = report_moved(sim, far, sim->dx);
    if (status != STATUS_OK) return status;
    memcpy(sim->at.q, s->q, (size_t)model->nq * sizeof *s->q);
    memcpy(loops->lambda, s->lambda, (size_t)loops->n_rows * sizeof *s->lambda);
    if (sim->balance.n > 0) memcpy(sim->balance.F, s->F, (size_t)sim->balance.n * sizeof *s->F);
    if (far != NULL && s->ambiguous > 0)
        report_add(far, REPORT_WARNING,
                   "the forces of the lines are not unique: those with the smallest norm are given");
    if (far == NULL) note_holding(sim);
    guard_equilibrium(sim, far != NULL ? far : report);
    if (far != NULL) return STATUS_OK;
    struct stability stability;
    status = statics_stability(&sim->mechanism, s, &stability);
    if (stability.unstable > 0)
        report_add(report, REPORT_WARNING,
                   "%s: the static equilibrium is unstable in %d of %d directions: the robot leaves it at the least "
                   "disturbance",
                   sim->instance.name, stability.unstable, stability.directions);
    return status;
}

/* ---- drives ---------------------------------------------------------------------------------------------------------------- */

/* Springs and drives that are free do not hold anything. The command with which a drive holds is otherwise for the importer to set: the
   input does not change. */
static enum status hold_drive(struct sim *sim, int drive, bool set)
{
    const struct statics *s = &sim->statics;
    const struct robot_drive *rd = &sim->robot->drive[drive];
    const int command = rd->drive->command;
    const int coordinate = rd->line < 0 ? sim->mechanism.model->link[rd->link].v : -1;
    const bool held = rd->line >= 0 ? s->line[rd->line] > LINE_SPRING : !s->moves[coordinate];
    const double effort = rd->line >= 0 ? s->F[rd->line] : s->holding[coordinate];
    double *v = sim->at.drive + rd->first;
    char text[CONFLICT_SIZE], name[MOST_NAME];
    if (rd->drive->hold == NULL || !held) {
        rd->drive->start(v);
        return STATUS_OK;
    }
    const double given = v[command];
    v[rd->drive->effort] = effort;
    const char *why = rd->drive->hold(v, text);
    robot_drive_name(sim->robot, drive, name);
    if (why != NULL) {
        report_add(sim->instance.report, REPORT_ERROR, "%s: static start: %s", name, why);
        return STATUS_BAD_DRIVE;
    }
    report_note(sim->instance.report, "static start: %s holds with %s = %.9g %s and %s = %.9g; its input is %.9g", name,
                rd->drive->row[rd->drive->effort].name, effort, rd->drive->row[rd->drive->effort].unit,
                rd->drive->row[command].name, v[command], given);
    if (!set) v[command] = given;
    return STATUS_OK;
}

/* States with which the drives exert the efforts that hold the equilibrium; a drive whose joint or line was free starts as usual. The
   commands that hold are logged, and become inputs if they are to be `set`. Reports a drive that cannot exert its effort. */
static enum status hold_drives(struct sim *sim, bool set)
{
    enum status status = STATUS_OK;
    if (sim->robot->n_drives > 0) {
        mechanism_set(&sim->mechanism, &sim->in);
        status = drives_measure(&sim->mechanism);
    }
    for (int d = 0; d < sim->robot->n_drives && status == STATUS_OK; d++) status = hold_drive(sim, d, set);
    return status;
}

enum status sim_settle(struct instance *instance, struct report *far)
{
    const enum status status = find_equilibrium(sim_of(instance), far);
    return status == STATUS_OK ? hold_drives(sim_of(instance), far != NULL) : status;
}

/* ---- its change --------------------------------------------------------------------------------------------------------------- */

bool sim_is_settled(const struct sim *sim)
{
    const size_t bytes = (size_t)sim->mechanism.model->nq * sizeof *sim->at.q;
    return sim->statics.q != NULL && memcmp(sim->statics.q, sim->at.q, bytes) == 0;
}

/* Changes of the lengths that lines keep, at the start, by dx of the start values */
static void change_lengths(struct sim *sim, double *row, double *dlength)
{
    struct mechanism *m = &sim->mechanism;
    const struct input at = {.q = sim->statics.guess};
    dyn_configuration(m->model, m->work, sim->statics.guess); /* which starts with q */
    dyn_position(m->model, m->work);
    elements_measure(m, &at);
    for (int a = 0; a < sim->robot->n_lines; a++) {
        element_row(m, &m->element[a], row);
        dlength[a] = -dense_dot(m->model->nv, row, sim->dx);
    }
}

/* f, gaps and lengths at the equilibrium change with the seed and with the coordinates that are held; the unknowns follow  (98) */
static enum status change_unknowns(struct sim *sim, double *held, double *line_force, double *dlength, double *dgap)
{
    struct mechanism *m = &sim->mechanism;
    struct statics *s = &sim->statics;
    const int nv = m->model->nv;
    struct direction direction = point_direction(&sim->seed, held);
    direction.line_force = line_force;
    direction.qd = direction.prescribed_qdd = NULL;
    const enum status status = statics_differentiate(m, s);
    if (status != STATUS_OK) return status;
    for (int r = 0; r < m->constraints->n_active; r++)
        dgap[m->constraints->active[r]] = dense_dot(nv, m->constraints->G + (size_t)nv * (size_t)r, held);
    for (int j = 0; j < s->h; j++) dlength[s->force[j]] += dense_dot(nv, s->B + (size_t)nv * (size_t)j, held);
    const struct input loaded = mechanism_loaded(m, &s->in);
    mechanism_force_change(m, &loaded, &direction, sim->dqdd);
    for (int i = 0; i < m->model->n_links; i++) {
        const struct link_model *lm = &m->model->link[i];
        for (int k = 0; !lm->passive && k < lm->joint.nv; k++)
            if (s->moves[lm->v + k]) sim->dqdd[lm->v + k] -= sim->seed.tau[lm->tau + k];
    }
    statics_change(m, s, sim->dqdd, dgap, dlength, held, dgap, line_force);
    return STATUS_OK;
}

enum status sim_change_equilibrium(struct sim *sim)
{
    const struct model *model = sim->mechanism.model;
    struct arena scratch = {0};
    const size_t nv = (size_t)model->nv, lines = (size_t)sim->robot->n_lines,
                 rows = (size_t)sim->mechanism.constraints->n_rows;
    double *held = arena_allocate(&scratch, nv, sizeof *held),
           *line_force = arena_allocate(&scratch, lines, sizeof *held),
           *dlength = arena_allocate(&scratch, lines, sizeof *held),
           *dgap = arena_allocate(&scratch, rows, sizeof *held);
    enum status status = scratch.failed ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK) {
        /* forces of lines that are found, and torques of joints that are held, do not act on the equilibrium; coordinates that are
           held move with their start values, the others do not */
        for (int a = 0; a < sim->robot->n_lines; a++)
            line_force[a] = sim->statics.line[a] == LINE_GIVEN ? sim->seed.line_force[a] : 0;
        for (int i = 0; i < model->nv; i++) held[i] = sim->statics.moves[i] ? 0 : sim->dx[i];
        change_lengths(sim, sim->dqdd, dlength);
        status = change_unknowns(sim, held, line_force, dlength, dgap);
    }
    if (status == STATUS_OK) {
        memcpy(sim->dx, held, nv * sizeof *held);
        model_position_change(model, sim->at.q, sim->dx, sim->seed.q);
        memset(sim->seed.qd, 0, nv * sizeof *held);
        status = outputs_compute(sim); /* the tangent is that of the equilibrium: back to the state with its inputs */
        sim->tangent_up_to_date = false;
    } else {
        report_add(sim->instance.report, REPORT_ERROR,
                   "%s: no derivative of the static start is provided: the equilibrium is singular: some motion leaves "
                   "it in equilibrium "
                   "or forces are not unique",
                   sim->instance.name);
    }
    arena_release(&scratch);
    return status;
}
