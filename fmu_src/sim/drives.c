/* Drives inside the arm: their values at a point, their states as part of the state vector, their changes in a direction, and what
   they add to the Newton matrix. Equations: docs/drives.md. */
#include "drive/drive.h"

#include <math.h>
#include <string.h>

#include "drive/laws.h"
#include "math/dense.h"
#include "sim/robot_instance.h"

/* Slopes of a drive at a point, with respect to its coordinate s, the rate of it and its own states w, and what eliminates w from an
   implicit step of dw/dt = g(s, s', w), force F(s, s', w)                                              (theory.md 101, 102) */
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

static int count(const struct sim *sim)
{
    return sim->robot->n_drives;
}

void drives_make(struct sim *sim)
{
    struct arena *arena = &sim->instance.arena;
    struct drives *drives = &sim->drives;
    const size_t supplies = (size_t)sim->robot->n_supplies;
    double **const by_supply[] = {&drives->demand, &drives->share, &drives->ddemand, &drives->dshare};
    for (int i = 0; i < 4; i++) *by_supply[i] = arena_allocate(arena, supplies, sizeof(double));
    drives->command = arena_allocate(arena, (size_t)count(sim), sizeof(double));
    drives->slopes = arena_allocate(arena, (size_t)count(sim), sizeof *drives->slopes);
    for (int d = 0; d < count(sim) && !arena->failed; d++) {
        const size_t n = (size_t)sim->robot->drive[d].drive->n_states;
        struct drive_slopes *slopes = &drives->slopes[d];
        double **const vectors[] = {&slopes->F_w, &slopes->g_s, &slopes->g_v, &slopes->along, &slopes->u};
        for (int i = 0; i < 5; i++) *vectors[i] = arena_allocate(arena, n, sizeof(double));
        slopes->g_w = arena_allocate(arena, n * n, sizeof(double));
        slopes->P = arena_allocate(arena, n * n, sizeof(double));
        slopes->pivot = arena_allocate(arena, n, sizeof(int));
        if (sim->robot->drive[d].actuator >= 0) drives->lines = true;
    }
}

void drives_take_parameters(struct sim *sim)
{
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        double *v = sim->at.drive + of->first, initial[MOST_VALUES];
        robot_drive_values(sim->robot, of, initial);
        for (int r = 0; r < of->drive->n_rows; r++)
            if (of->drive->row[r].role == PARAMETER || r == of->drive->share) v[r] = initial[r];
    }
}

/* ---- values at a point ---------------------------------------------------------------------------------------------------- */

/* States between w and the values of the drives */
static void spread_states(const struct robot *robot, const double *w, double *values)
{
    for (int d = 0; d < robot->n_drives; d++) {
        const struct drive *drive = robot->drive[d].drive;
        for (int r = 0; r < drive->n_rows; r++)
            if (drive_is_state(&drive->row[r])) values[robot->drive[d].first + r] = *w++;
    }
}

static void gather_states(const struct robot *robot, const double *values, double *w)
{
    for (int d = 0; d < robot->n_drives; d++) {
        const struct drive *drive = robot->drive[d].drive;
        for (int r = 0; r < drive->n_rows; r++)
            if (drive_is_state(&drive->row[r])) *w++ = values[robot->drive[d].first + r];
    }
}

/* Positions and rates of what the drives move. Lines are measured first: forces follow from them. */
static void take_motion(struct sim *sim)
{
    const struct mechanism *m = &sim->mechanism;
    if (sim->drives.lines) {
        dyn_configuration(m->model, m->work, sim->at.q);
        dyn_motion(m->model, m->work, &sim->in, NULL);
        dyn_velocity(m->model, m->work, &sim->in);
        actuators_measure(&sim->mechanism);
    }
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        double *v = sim->at.drive + of->first;
        const struct line *line = of->actuator >= 0 ? &m->actuators->line[of->actuator] : NULL;
        const struct link_model *lm = of->link >= 0 ? &m->model->link[of->link] : NULL;
        v[of->drive->position] = line != NULL ? line->length : sim->at.q[lm->q];
        v[of->drive->rate] = line != NULL ? line->rate : sim->at.qd[lm->v];
    }
}

/* The effort of a drive on the arm, or the change of it */
static void exert(const struct sim *sim, const struct point *point, const struct robot_drive *of)
{
    const double effort = point->drive[of->first + of->drive->effort];
    if (of->actuator >= 0) point->actuator_force[of->actuator] = effort;
    else point->tau[sim->mechanism.model->link[of->link].tau] = effort;
}

/* The demand on the supplies and the share that every drive on them gets */
static void divide_supplies(struct sim *sim)
{
    const struct robot *robot = sim->robot;
    struct drives *drives = &sim->drives;
    memset(drives->demand, 0, (size_t)robot->n_supplies * sizeof(double));
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &robot->drive[d];
        if (of->supply < 0) continue;
        of->drive->evaluate(sim->at.drive + of->first);
        drives->demand[of->supply] += sim->at.drive[of->first + of->drive->demand];
    }
    for (int s = 0; s < robot->n_supplies; s++)
        drives->share[s] = supply_share(drives->demand[s], robot->supply[s].flow_limit).value;
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &robot->drive[d];
        if (of->supply >= 0) sim->at.drive[of->first + of->drive->share] = drives->share[of->supply];
    }
}

enum status drives_evaluate(struct sim *sim)
{
    spread_states(sim->robot, sim->at.w, sim->at.drive);
    take_motion(sim);
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        if (of->drive->error(sim->at.drive + of->first) == NULL) continue;
        sim->drives.failed = d;
        return STATUS_DRIVE_ERROR;
    }
    if (sim->robot->n_supplies > 0) divide_supplies(sim);
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        of->drive->evaluate(sim->at.drive + of->first);
        exert(sim, &sim->at, of);
    }
    return STATUS_OK;
}

void drives_rates(const struct sim *sim, const struct point *point, double *rate)
{
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        const size_t n = (size_t)of->drive->n_states;
        if (n > 0) memcpy(rate + of->first_w, point->drive + of->first + of->drive->n_rows, n * sizeof *rate);
    }
}

enum status drives_start(struct sim *sim)
{
    char text[CONFLICT_SIZE];
    take_motion(sim);
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        double *v = sim->at.drive + of->first;
        const char *conflict = of->drive->conflict(v, text);
        char name[MOST_NAME];
        if (conflict != NULL) {
            report_add(sim->instance.report, REPORT_ERROR, "%s: %s", robot_drive_name(sim->robot, d, name), conflict);
            return STATUS_BAD_DRIVE;
        }
        of->drive->start(v);
    }
    gather_states(sim->robot, sim->at.drive, sim->at.w);
    return drives_evaluate(sim); /* the efforts, for a static start */
}

enum status sim_exert(struct instance *instance, const struct point *at, bool given)
{
    struct sim *sim = sim_of(instance);
    const struct model *model = sim->mechanism.model;
    enum status status = sim_apply_parameters(sim);
    if (status != STATUS_OK) return status;
    memcpy(sim->at.q, at->q, (size_t)model->nq * sizeof(double));
    memcpy(sim->at.qd, at->qd, (size_t)model->nv * sizeof(double));
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        for (int r = 0; r < of->drive->n_rows; r++)
            if (of->drive->row[r].role == INPUT && robot_drive_input(of, r))
                sim->at.drive[of->first + r] = at->drive[of->first + r];
    }
    status = drives_start(sim);
    if (given) memcpy(sim->at.w, at->w, (size_t)robot_drive_states(sim->robot) * sizeof(double));
    if (status == STATUS_OK && given) status = drives_evaluate(sim);
    for (int d = 0; d < count(sim) && status == STATUS_OK; d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        const struct point from = {.drive = sim->at.drive, .tau = at->tau, .actuator_force = at->actuator_force};
        exert(sim, &from, of);
    }
    return status;
}

/* Does the drive hold in the static equilibrium, and with what effort? Springs and drives that are free do not. */
static bool holds(const struct sim *sim, const struct robot_drive *of, double *effort)
{
    const struct statics *s = &sim->statics;
    if (of->drive->hold == NULL) return false;
    if (of->actuator >= 0) {
        *effort = s->F[of->actuator];
        return s->line[of->actuator] > LINE_SPRING;
    }
    const int coordinate = sim->mechanism.model->link[of->link].v;
    *effort = s->holding[coordinate];
    return !s->moves[coordinate];
}

/* The command that holds is for the importer to set: the input stays as it is */
static enum status hold(struct sim *sim, int drive)
{
    const struct robot_drive *of = &sim->robot->drive[drive];
    const int command = of->drive->command;
    double *v = sim->at.drive + of->first, effort, *holding = &sim->drives.command[drive];
    char text[CONFLICT_SIZE], name[MOST_NAME];
    *holding = NAN;
    if (!holds(sim, of, &effort)) {
        of->drive->start(v);
        return STATUS_OK;
    }
    const double given = v[command];
    v[of->drive->effort] = effort;
    const char *why = of->drive->hold(v, text);
    robot_drive_name(sim->robot, drive, name);
    if (why != NULL) {
        report_add(sim->instance.report, REPORT_ERROR, "%s: static start: %s", name, why);
        return STATUS_BAD_DRIVE;
    }
    report_note(sim->instance.report, "static start: %s holds with %s = %.9g %s and %s = %.9g; its input is %.9g", name,
                of->drive->row[of->drive->effort].name, effort, of->drive->row[of->drive->effort].unit,
                of->drive->row[command].name, v[command], given);
    *holding = v[command];
    v[command] = given;
    return STATUS_OK;
}

enum status drives_hold(struct sim *sim)
{
    enum status status = STATUS_OK;
    take_motion(sim);
    for (int d = 0; d < count(sim) && status == STATUS_OK; d++) status = hold(sim, d);
    gather_states(sim->robot, sim->at.drive, sim->at.w);
    return status;
}

/* ---- changes in a direction ----------------------------------------------------------------------------------------------- */

static void divide_changes(struct sim *sim)
{
    const struct robot *robot = sim->robot;
    struct drives *drives = &sim->drives;
    memset(drives->ddemand, 0, (size_t)robot->n_supplies * sizeof(double));
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &robot->drive[d];
        if (of->supply < 0) continue;
        of->drive->tangent(sim->at.drive + of->first, sim->seed.drive + of->first);
        drives->ddemand[of->supply] += sim->seed.drive[of->first + of->drive->demand];
    }
    for (int s = 0; s < robot->n_supplies; s++)
        drives->dshare[s] = supply_share(drives->demand[s], robot->supply[s].flow_limit).slope * drives->ddemand[s];
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &robot->drive[d];
        if (of->supply >= 0) sim->seed.drive[of->first + of->drive->share] = drives->dshare[of->supply];
    }
}

void drives_along_seed(struct sim *sim, const struct input *in)
{
    const struct mechanism *m = &sim->mechanism;
    if (sim->drives.lines) sim_along_seed(sim, in); /* the change of the lines, which that of the forces needs */
    spread_states(sim->robot, sim->seed.w, sim->seed.drive);
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        double *dv = sim->seed.drive + of->first, *position = &dv[of->drive->position], *rate = &dv[of->drive->rate];
        if (of->actuator >= 0) {
            actuators_change(&sim->mechanism, of->actuator, position, rate);
        } else {
            *position = sim->dx[m->model->link[of->link].v];
            *rate = sim->seed.qd[m->model->link[of->link].v];
        }
    }
    if (sim->robot->n_supplies > 0) divide_changes(sim);
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        of->drive->tangent(sim->at.drive + of->first, sim->seed.drive + of->first);
        exert(sim, &sim->seed, of);
    }
}

/* ---- the Newton matrix ---------------------------------------------------------------------------------------------------- */

/* One column of the slopes: the change of force and rates with one value */
static double column(const struct robot_drive *of, const double *v, int value, double *g)
{
    double dv[MOST_VALUES] = {0};
    dv[value] = 1;
    of->drive->tangent(v, dv);
    memcpy(g, dv + of->drive->n_rows, (size_t)of->drive->n_states * sizeof *g);
    return dv[of->drive->effort];
}

static void find_slopes(const struct robot_drive *of, const double *v, struct drive_slopes *slopes)
{
    const struct drive *drive = of->drive;
    int k = 0;
    slopes->F_s = column(of, v, drive->position, slopes->g_s);
    slopes->F_v = column(of, v, drive->rate, slopes->g_v);
    for (int r = 0; r < drive->n_rows; r++) {
        if (!drive_is_state(&drive->row[r])) continue;
        slopes->F_w[k] = column(of, v, r, slopes->g_w + drive->n_states * k);
        k++;
    }
}

/* s = -gamma^2 F_s - gamma F_v - gamma F_w (1 - gamma g_w)^-1 (gamma^2 g_s + gamma g_v)                      (theory.md 102) */
static enum status eliminate(struct drive_slopes *slopes, int n, double gamma, double *s)
{
    slopes->gamma = gamma;
    for (int i = 0; i < n * n; i++) slopes->P[i] = (i % (n + 1) == 0 ? 1 : 0) - gamma * slopes->g_w[i];
    if (lu_factor(n, slopes->P, slopes->pivot) != 0) return STATUS_NEWTON_MATRIX;
    for (int i = 0; i < n; i++) slopes->along[i] = gamma * (gamma * slopes->g_s[i] + slopes->g_v[i]);
    lu_solve(n, slopes->P, slopes->pivot, slopes->along);
    *s = -gamma * (gamma * slopes->F_s + slopes->F_v + dense_dot(n, slopes->F_w, slopes->along));
    return STATUS_OK;
}

enum status drives_newton(struct sim *sim, double gamma)
{
    enum status status = drives_evaluate(sim);
    for (int d = 0; d < count(sim) && status == STATUS_OK; d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        struct drive_slopes *slopes = &sim->drives.slopes[d];
        find_slopes(of, sim->at.drive + of->first, slopes);
        status = eliminate(slopes, of->drive->n_states, gamma, &sim->mechanism.drive_rows->s[d]);
    }
    return status;
}

void drives_reduce(struct sim *sim, const double *r, double *force)
{
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        struct drive_slopes *slopes = &sim->drives.slopes[d];
        const int n = of->drive->n_states;
        if (n == 0) continue;
        memcpy(slopes->u, r + of->first_w, (size_t)n * sizeof *r);
        lu_solve(n, slopes->P, slopes->pivot, slopes->u);
        drive_rows_push(&sim->mechanism, d, slopes->gamma * dense_dot(n, slopes->F_w, slopes->u), force);
    }
}

void drives_expand(const struct sim *sim, const double *da, double *r)
{
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        const struct drive_slopes *slopes = &sim->drives.slopes[d];
        const double along = drive_rows_along(&sim->mechanism, d, da);
        for (int i = 0; i < of->drive->n_states; i++) r[of->first_w + i] = slopes->u[i] + slopes->along[i] * along;
    }
}

void drives_stiffness(const struct sim *sim, const double *dx, const double *dv, const double *dw, double *force,
                      double *r)
{
    for (int d = 0; d < count(sim); d++) {
        const struct robot_drive *of = &sim->robot->drive[d];
        const struct drive_slopes *slopes = &sim->drives.slopes[d];
        const double ds = drive_rows_along(&sim->mechanism, d, dx), drate = drive_rows_along(&sim->mechanism, d, dv);
        const int n = of->drive->n_states;
        const double *change = dw + of->first_w;
        drive_rows_push(&sim->mechanism, d,
                        -(slopes->F_s * ds + slopes->F_v * drate + dense_dot(n, slopes->F_w, change)), force);
        for (int i = 0; i < n; i++) {
            double sum = slopes->g_s[i] * ds + slopes->g_v[i] * drate;
            for (int j = 0; j < n; j++) sum += slopes->g_w[n * j + i] * change[j];
            r[of->first_w + i] = -sum;
        }
    }
}
