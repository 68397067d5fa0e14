/* Drives inside the arm: their values at a point, their states as part of the state vector, their changes in a direction, and what
   they add to the Newton matrix. Equations: docs/drives.md. */
#include "drive/drive.h"

#include <math.h>
#include <string.h>

#include "drive/laws.h"
#include "math/dense.h"
#include "sim/robot_instance.h"

/* Derivatives of a drive with force F(s, s', w) and dw/dt = g(s, s', w) at a point, with respect to its coordinate s, the rate of s and
   its own states w, and the arrays that eliminate w from an implicit step                               (theory.md 101, 102) */
struct drive_slopes {
    double F_s, F_v, *F_w; /* n_states                                                    */
    double *g_s, *g_v;     /* n_states                                                    */
    double *g_w;           /* n_states x n_states, column major                           */
    double *P;             /* factors of 1 - gamma g_w                                    */
    int *pivot;            /* n_states                                                    */
    double *along;         /* (1 - gamma g_w)^-1 (gamma^2 g_s + gamma g_v), n_states      */
    double *u;             /* n_states: scratch                                           */
    double gamma;
};

void drives_make(struct sim *sim)
{
    struct arena *arena = &sim->instance.arena;
    struct drives *drives = &sim->drives;
    const size_t supplies = (size_t)sim->robot->n_supplies;
    arena_arrays(arena, supplies, ARRAYS(&drives->demand, &drives->share, &drives->ddemand, &drives->dshare));
    drives->command = arena_allocate(arena, (size_t)sim->robot->n_drives, sizeof(double));
    drives->slopes = arena_allocate(arena, (size_t)sim->robot->n_drives, sizeof *drives->slopes);
    for (int d = 0; d < sim->robot->n_drives && !arena->failed; d++) {
        const size_t n = (size_t)sim->robot->drive[d].drive->n_states;
        struct drive_slopes *slopes = &drives->slopes[d];
        arena_arrays(arena, n, ARRAYS(&slopes->F_w, &slopes->g_s, &slopes->g_v, &slopes->along, &slopes->u));
        slopes->g_w = arena_allocate(arena, n * n, sizeof(double));
        slopes->P = arena_allocate(arena, n * n, sizeof(double));
        slopes->pivot = arena_allocate(arena, n, sizeof(int));
        if (sim->robot->drive[d].actuator >= 0) drives->lines = true;
    }
}

void drives_take_parameters(struct sim *sim)
{
    for (int d = 0; d < sim->robot->n_drives; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        double *v = sim->at.drive + rd->first, initial[MOST_VALUES];
        robot_drive_values(sim->robot, rd, initial);
        for (int r = 0; r < rd->drive->n_rows; r++)
            if (rd->drive->row[r].role == PARAMETER || r == rd->drive->share) v[r] = initial[r];
    }
}

/* ---- values at a point ---------------------------------------------------------------------------------------------------- */

enum direction_of_copy { TO_VALUES, TO_STATES };

/* Copies states between w and the values of the drives */
static void copy_states(const struct robot *robot, const struct point *point, enum direction_of_copy to)
{
    double *w = point->w;
    for (int d = 0; d < robot->n_drives; d++) {
        const struct drive *drive = robot->drive[d].drive;
        double *values = point->drive + robot->drive[d].first;
        for (int r = 0; r < drive->n_rows; r++) {
            if (!drive_is_state(&drive->row[r])) continue;
            if (to == TO_VALUES) values[r] = *w++;
            else *w++ = values[r];
        }
    }
}

/* Positions and rates of the joints and lines that drives move. Lines are measured first: forces follow from them. */
static void take_motion(struct sim *sim)
{
    const struct mechanism *m = &sim->mechanism;
    if (sim->drives.lines) {
        dyn_configuration(m->model, m->work, sim->at.q);
        dyn_motion(m->model, m->work, &sim->in, NULL);
        dyn_velocity(m->model, m->work, &sim->in);
        actuators_measure(&sim->mechanism);
    }
    for (int d = 0; d < sim->robot->n_drives; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        double *v = sim->at.drive + rd->first;
        const struct line *line = rd->actuator >= 0 ? &m->actuators->line[rd->actuator] : NULL;
        const struct link_model *lm = rd->link >= 0 ? &m->model->link[rd->link] : NULL;
        v[rd->drive->position] = line != NULL ? line->length : sim->at.q[lm->q];
        v[rd->drive->rate] = line != NULL ? line->rate : sim->at.qd[lm->v];
    }
}

/* Applies the effort of a drive in the point to the arm, or the change of it in a seed */
static void apply_effort(const struct sim *sim, const struct point *point, const struct robot_drive *rd)
{
    const double effort = point->drive[rd->first + rd->drive->effort];
    if (rd->actuator >= 0) point->actuator_force[rd->actuator] = effort;
    else point->tau[sim->mechanism.model->link[rd->link].tau] = effort;
}

/* All values of a drive from its states, its inputs and its motion; or their changes in the direction of the seed */
static void compute_values(struct sim *sim, const struct robot_drive *rd, bool change)
{
    if (change) rd->drive->tangent(sim->at.drive + rd->first, sim->seed.drive + rd->first);
    else rd->drive->evaluate(sim->at.drive + rd->first);
}

/* Values and efforts of all drives, or their changes. First the demand on the supplies, and the share of it that every drive on them
   gets. */
static void compute_drives(struct sim *sim, bool change)
{
    const struct robot *robot = sim->robot;
    const struct point *point = change ? &sim->seed : &sim->at;
    const struct drives *drives = &sim->drives;
    double *demand = change ? drives->ddemand : drives->demand, *share = change ? drives->dshare : drives->share;
    for (int s = 0; s < robot->n_supplies; s++) demand[s] = 0;
    for (int d = 0; d < robot->n_drives && robot->n_supplies > 0; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        if (rd->supply < 0) continue;
        compute_values(sim, rd, change);
        demand[rd->supply] += point->drive[rd->first + rd->drive->demand];
    }
    for (int s = 0; s < robot->n_supplies; s++) {
        const struct law part = supply_share(drives->demand[s], robot->supply[s].flow_limit);
        share[s] = change ? part.slope * demand[s] : part.value;
    }
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        if (rd->supply >= 0) point->drive[rd->first + rd->drive->share] = share[rd->supply];
        compute_values(sim, rd, change);
        apply_effort(sim, point, rd);
    }
}

enum status drives_evaluate(struct sim *sim)
{
    copy_states(sim->robot, &sim->at, TO_VALUES);
    take_motion(sim);
    for (int d = 0; d < sim->robot->n_drives; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        if (rd->drive->error(sim->at.drive + rd->first) == NULL) continue;
        sim->drives.failed = d;
        return STATUS_DRIVE_ERROR;
    }
    compute_drives(sim, false);
    return STATUS_OK;
}

void drives_rates(const struct sim *sim, const struct point *point, double *rate)
{
    for (int d = 0; d < sim->robot->n_drives; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        const size_t n = (size_t)rd->drive->n_states;
        if (n > 0) memcpy(rate + rd->first_w, point->drive + rd->first + rd->drive->n_rows, n * sizeof *rate);
    }
}

enum status drives_start(struct sim *sim)
{
    char text[CONFLICT_SIZE];
    take_motion(sim);
    for (int d = 0; d < sim->robot->n_drives; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        double *v = sim->at.drive + rd->first;
        const char *conflict = rd->drive->conflict(v, text);
        char name[MOST_NAME];
        if (conflict != NULL) {
            report_add(sim->instance.report, REPORT_ERROR, "%s: %s", robot_drive_name(sim->robot, d, name), conflict);
            return STATUS_BAD_DRIVE;
        }
        rd->drive->start(v);
    }
    copy_states(sim->robot, &sim->at, TO_STATES);
    return drives_evaluate(sim); /* the efforts, for a static start */
}

enum status sim_drive_efforts(struct instance *instance, const struct point *at, bool given)
{
    struct sim *sim = sim_of(instance);
    const struct model *model = sim->mechanism.model;
    enum status status = sim_apply_parameters(sim);
    if (status != STATUS_OK) return status;
    memcpy(sim->at.q, at->q, (size_t)model->nq * sizeof(double));
    memcpy(sim->at.qd, at->qd, (size_t)model->nv * sizeof(double));
    for (int d = 0; d < sim->robot->n_drives; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        for (int r = 0; r < rd->drive->n_rows; r++)
            if (rd->drive->row[r].role == INPUT && robot_drive_input(rd, r))
                sim->at.drive[rd->first + r] = at->drive[rd->first + r];
    }
    status = drives_start(sim);
    if (given) memcpy(sim->at.w, at->w, (size_t)robot_drive_states(sim->robot) * sizeof(double));
    if (status == STATUS_OK && given) status = drives_evaluate(sim);
    for (int d = 0; d < sim->robot->n_drives && status == STATUS_OK; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        const struct point from = {.drive = sim->at.drive, .tau = at->tau, .actuator_force = at->actuator_force};
        apply_effort(sim, &from, rd);
    }
    return status;
}

/* Springs and drives that are free do not hold anything. The command with which a drive holds is for the importer to set: the input
   does not change. */
static enum status hold_drive(struct sim *sim, int drive)
{
    const struct statics *s = &sim->statics;
    const struct robot_drive *rd = &sim->robot->drive[drive];
    const int command = rd->drive->command;
    const int coordinate = rd->actuator < 0 ? sim->mechanism.model->link[rd->link].v : -1;
    const bool held = rd->actuator >= 0 ? s->line[rd->actuator] > LINE_SPRING : !s->moves[coordinate];
    const double effort = rd->actuator >= 0 ? s->F[rd->actuator] : s->holding[coordinate];
    double *v = sim->at.drive + rd->first, *holding = &sim->drives.command[drive];
    char text[CONFLICT_SIZE], name[MOST_NAME];
    *holding = NAN;
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
    *holding = v[command];
    v[command] = given;
    return STATUS_OK;
}

enum status drives_hold(struct sim *sim)
{
    enum status status = STATUS_OK;
    take_motion(sim);
    for (int d = 0; d < sim->robot->n_drives && status == STATUS_OK; d++) status = hold_drive(sim, d);
    copy_states(sim->robot, &sim->at, TO_STATES);
    return status;
}

/* ---- changes in a direction ----------------------------------------------------------------------------------------------- */

void drives_change(struct sim *sim, const struct input *in)
{
    const struct mechanism *m = &sim->mechanism;
    if (sim->drives.lines) sim_tangent(sim, in); /* the change of the lines, from which that of the forces follows */
    copy_states(sim->robot, &sim->seed, TO_VALUES);
    for (int d = 0; d < sim->robot->n_drives; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        double *dv = sim->seed.drive + rd->first, *position = &dv[rd->drive->position], *rate = &dv[rd->drive->rate];
        if (rd->actuator >= 0) {
            actuators_change(&sim->mechanism, rd->actuator, position, rate);
        } else {
            *position = sim->dx[m->model->link[rd->link].v];
            *rate = sim->seed.qd[m->model->link[rd->link].v];
        }
    }
    compute_drives(sim, true);
}

/* ---- the Newton matrix ---------------------------------------------------------------------------------------------------- */

/* The derivatives of the rates g with one value; returns that of the force */
static double differentiate_drive(const struct robot_drive *rd, const double *v, int value, double *g)
{
    double dv[MOST_VALUES] = {0};
    dv[value] = 1;
    rd->drive->tangent(v, dv);
    memcpy(g, dv + rd->drive->n_rows, (size_t)rd->drive->n_states * sizeof *g);
    return dv[rd->drive->effort];
}

/* s = -gamma^2 F_s - gamma F_v - gamma F_w (1 - gamma g_w)^-1 (gamma^2 g_s + gamma g_v)                      (theory.md 102) */
enum status drives_newton(struct sim *sim, double gamma)
{
    const enum status status = drives_evaluate(sim);
    for (int d = 0; d < sim->robot->n_drives && status == STATUS_OK; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        const struct drive *drive = rd->drive;
        struct drive_slopes *slopes = &sim->drives.slopes[d];
        const double *v = sim->at.drive + rd->first;
        const int n = drive->n_states;
        slopes->gamma = gamma;
        slopes->F_s = differentiate_drive(rd, v, drive->position, slopes->g_s);
        slopes->F_v = differentiate_drive(rd, v, drive->rate, slopes->g_v);
        for (int r = 0, k = 0; r < drive->n_rows; r++) {
            if (!drive_is_state(&drive->row[r])) continue;
            slopes->F_w[k] = differentiate_drive(rd, v, r, slopes->g_w + n * k);
            k++;
        }
        for (int i = 0; i < n * n; i++) slopes->P[i] = (i % (n + 1) == 0 ? 1 : 0) - gamma * slopes->g_w[i];
        if (lu_factor(n, slopes->P, slopes->pivot) != 0) return STATUS_NEWTON_MATRIX;
        for (int i = 0; i < n; i++) slopes->along[i] = gamma * (gamma * slopes->g_s[i] + slopes->g_v[i]);
        lu_solve(n, slopes->P, slopes->pivot, slopes->along);
        sim->mechanism.drive_rows->s[d] =
            -gamma * (gamma * slopes->F_s + slopes->F_v + dense_dot(n, slopes->F_w, slopes->along));
    }
    return status;
}

void drives_reduce(struct sim *sim, const double *r, double *force)
{
    for (int d = 0; d < sim->robot->n_drives; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        struct drive_slopes *slopes = &sim->drives.slopes[d];
        const int n = rd->drive->n_states;
        if (n == 0) continue;
        memcpy(slopes->u, r + rd->first_w, (size_t)n * sizeof *r);
        lu_solve(n, slopes->P, slopes->pivot, slopes->u);
        drive_rows_add_force(&sim->mechanism, d, slopes->gamma * dense_dot(n, slopes->F_w, slopes->u), force);
    }
}

void drives_expand(const struct sim *sim, const double *da, double *r)
{
    for (int d = 0; d < sim->robot->n_drives; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        const struct drive_slopes *slopes = &sim->drives.slopes[d];
        const double along = drive_rows_velocity(&sim->mechanism, d, da);
        for (int i = 0; i < rd->drive->n_states; i++) r[rd->first_w + i] = slopes->u[i] + slopes->along[i] * along;
    }
}

void drives_stiffness(const struct sim *sim, const double *dx, const double *dv, const double *dw, double *force,
                      double *r)
{
    for (int d = 0; d < sim->robot->n_drives; d++) {
        const struct robot_drive *rd = &sim->robot->drive[d];
        const struct drive_slopes *slopes = &sim->drives.slopes[d];
        const double ds = drive_rows_velocity(&sim->mechanism, d, dx),
                     drate = drive_rows_velocity(&sim->mechanism, d, dv);
        const int n = rd->drive->n_states;
        const double *change = dw + rd->first_w;
        drive_rows_add_force(&sim->mechanism, d,
                             -(slopes->F_s * ds + slopes->F_v * drate + dense_dot(n, slopes->F_w, change)), force);
        for (int i = 0; i < n; i++) {
            double sum = slopes->g_s[i] * ds + slopes->g_v[i] * drate;
            for (int j = 0; j < n; j++) sum += slopes->g_w[n * j + i] * change[j];
            r[rd->first_w + i] = -sum;
        }
    }
}
