#include "mech/drives.h"

#include <string.h>

#include "drive/supply.h"
#include "math/dense.h"
#include "mech/mechanism.h"

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

void drives_make(struct mechanism *m, struct arena *arena)
{
    struct drives *drives = &m->drives;
    const size_t supplies = (size_t)m->robot->n_supplies, count = (size_t)m->robot->n_drives;
    for (size_t d = 0; d < count; d++) drives->n_states += m->robot->drive[d].drive->n_states;
    const size_t nv = (size_t)m->model->nv, n_w = (size_t)drives->n_states;
    arena_arrays(arena, nv * n_w, ARRAYS(&drives->rate_by[BY_Q], &drives->rate_by[BY_QD], &drives->by_state));
    drives->rate_by_state = arena_allocate(arena, n_w * n_w, sizeof(double));
    drives->change = arena_allocate(arena, (size_t)robot_drive_value_count(m->robot), sizeof(double));
    arena_arrays(arena, supplies, ARRAYS(&drives->demand, &drives->share, &drives->ddemand, &drives->dshare));
    drives->element = arena_allocate(arena, count, sizeof *drives->element);
    drives->member = arena_allocate(arena, count, sizeof *drives->member);
    drives->slopes = arena_allocate(arena, count, sizeof *drives->slopes);
    for (int d = 0; d < m->robot->n_drives && !arena->failed; d++) {
        const size_t n = (size_t)m->robot->drive[d].drive->n_states;
        struct drive_slopes *slopes = &drives->slopes[d];
        arena_arrays(arena, n, ARRAYS(&slopes->F_w, &slopes->g_s, &slopes->g_v, &slopes->along, &slopes->u));
        arena_arrays(arena, n * n, ARRAYS(&slopes->g_w, &slopes->P));
        slopes->pivot = arena_allocate(arena, n, sizeof(int));
        while (m->element[drives->element[d]].drive != d) drives->element[d]++;
        drives->member[d] =
            (struct drive_member){m->robot->drive[d].drive, m->robot->drive[d].first, m->robot->drive[d].supply};
    }
}

/* ---- values --------------------------------------------------------------------------------------------------------------- */

static void take_motion(struct mechanism *m, const struct input *in)
{
    for (int d = 0; d < m->robot->n_drives; d++) {
        const struct robot_drive *rd = &m->robot->drive[d];
        const struct force_element *e = element_of_drive(m, d);
        in->drive[rd->first + rd->drive->position] = e->x;
        in->drive[rd->first + rd->drive->rate] = e->rate;
    }
}

enum status drives_measure(struct mechanism *m)
{
    enum status status = STATUS_OK;
    if (m->acts_at == PLACED_AND_MOVING) mechanism_place(m, PLACED_AND_MOVING);
    for (int d = 0; d < m->robot->n_drives && status == STATUS_OK; d++) {
        struct force_element *e = element_of_drive(m, d);
        status = e->kind->measure(m, &m->in, e);
        m->failed_element = m->drives.element[d];
    }
    if (status == STATUS_OK) take_motion(m, &m->in);
    return status;
}

/* ---- the start ------------------------------------------------------------------------------------------------------------- */

void drives_take_parameters(const struct robot *robot, double *values)
{
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        double initial[MOST_VALUES];
        robot_drive_values(robot, rd, initial);
        for (int r = 0; r < rd->drive->n_rows; r++)
            if (rd->drive->row[r].role == PARAMETER || r == rd->drive->share) values[rd->first + r] = initial[r];
    }
}

enum status drives_start(struct mechanism *m, const struct input *in, struct report *report)
{
    char text[CONFLICT_SIZE], name[MOST_NAME];
    if (m->robot->n_drives == 0) return STATUS_OK;
    mechanism_set(m, in);
    const enum status status = drives_measure(m);
    for (int d = 0; d < m->robot->n_drives && status == STATUS_OK; d++) {
        const struct robot_drive *rd = &m->robot->drive[d];
        const char *conflict = drive_conflict(rd->drive, in->drive + rd->first, text);
        if (conflict != NULL) {
            report_add(report, REPORT_ERROR, "%s: %s", robot_drive_name(m->robot, d, name), conflict);
            return STATUS_BAD_DRIVE;
        }
        rd->drive->start(in->drive + rd->first);
    }
    return status;
}

/* ---- forces ---------------------------------------------------------------------------------------------------------------- */

enum status drives_evaluate(struct mechanism *m, const struct input *in)
{
    const struct robot *robot = m->robot;
    struct drives *drives = &m->drives;
    take_motion(m, in);
    for (int d = 0; d < robot->n_drives; d++)
        if (drive_error(robot->drive[d].drive, in->drive + robot->drive[d].first) != NULL) {
            drives->failed = d;
            return STATUS_DRIVE_ERROR;
        }
    supply_values(robot->n_drives, drives->member, -1, 1, in->drive);
    for (int s = 0; s < robot->n_supplies; s++)
        supply_evaluate(robot->n_drives, drives->member, s, robot->supply[s].flow_limit, in->drive, &drives->demand[s],
                        &drives->share[s]);
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        element_of_drive(m, d)->F = in->drive[rd->first + rd->drive->effort];
    }
    return STATUS_OK;
}

void drives_change(struct mechanism *m, const struct input *in, const struct direction *direction)
{
    const struct robot *robot = m->robot;
    struct drives *drives = &m->drives;
    double *changes = direction->drive;
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        const struct force_element *e = element_of_drive(m, d);
        changes[rd->first + rd->drive->position] = e->dx;
        changes[rd->first + rd->drive->rate] = e->drate;
    }
    supply_changes(robot->n_drives, drives->member, -1, 0, in->drive, changes);
    for (int s = 0; s < robot->n_supplies; s++)
        supply_tangent(robot->n_drives, drives->member, s, robot->supply[s].flow_limit, in->drive, changes,
                       &drives->ddemand[s], &drives->dshare[s]);
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        element_of_drive(m, d)->dF = changes[rd->first + rd->drive->effort];
    }
}

void drives_rates(const struct robot *robot, const double *values, double *rate)
{
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        const size_t n = (size_t)rd->drive->n_states;
        if (n > 0) memcpy(rate + rd->first_w, values + rd->first + rd->drive->n_rows, n * sizeof *rate);
    }
}

/* ---- columns --------------------------------------------------------------------------------------------------------------- */

/* At constant motion: J' F_w and g_w */
void drives_state_columns(struct mechanism *m, const struct input *in)
{
    const struct direction direction = {.drive = m->drives.change};
    const size_t n = (size_t)m->model->nv;
    int column = 0;
    memset(m->drives.by_state, 0, n * (size_t)m->drives.n_states * sizeof(double));
    for (int i = 0; i < m->n_elements; i++) m->element[i].dx = m->element[i].drate = 0;
    for (int d = 0; d < m->robot->n_drives; d++) {
        const struct robot_drive *rd = &m->robot->drive[d];
        for (int r = 0; r < rd->drive->n_rows; r++) {
            if (!drive_is_state(&rd->drive->row[r])) continue;
            direction.drive[rd->first + r] = 1;
            drives_change(m, in, &direction);
            direction.drive[rd->first + r] = 0;
            for (int k = 0; k < m->robot->n_drives; k++) {
                const struct force_element *e = element_of_drive(m, k);
                if (e->dF != 0) e->kind->add_force(m, e, e->dF, m->drives.by_state + n * (size_t)column);
            }
            drives_rates(m->robot, m->drives.change,
                         m->drives.rate_by_state + (size_t)m->drives.n_states * (size_t)column++);
        }
    }
}

void drives_copy_efforts(const struct mechanism *m, const double *values, double *tau, double *line_force)
{
    for (int d = 0; d < m->robot->n_drives; d++) {
        const struct robot_drive *rd = &m->robot->drive[d];
        const double effort = values[rd->first + rd->drive->effort];
        if (rd->line >= 0) line_force[rd->line] = effort;
        else tau[m->model->link[rd->link].tau] = effort;
    }
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
enum status drives_newton(struct mechanism *m, const struct input *in, double gamma)
{
    for (int d = 0; d < m->robot->n_drives; d++) {
        const struct robot_drive *rd = &m->robot->drive[d];
        const struct drive *drive = rd->drive;
        struct drive_slopes *slopes = &m->drives.slopes[d];
        const double *v = in->drive + rd->first;
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
        element_of_drive(m, d)->s =
            -gamma * (gamma * slopes->F_s + slopes->F_v + dense_dot(n, slopes->F_w, slopes->along));
    }
    return STATUS_OK;
}

void drives_reduce(struct mechanism *m, const double *r, double *force)
{
    for (int d = 0; d < m->robot->n_drives; d++) {
        const struct robot_drive *rd = &m->robot->drive[d];
        struct drive_slopes *slopes = &m->drives.slopes[d];
        const int n = rd->drive->n_states;
        if (n == 0) continue;
        memcpy(slopes->u, r + rd->first_w, (size_t)n * sizeof *r);
        lu_solve(n, slopes->P, slopes->pivot, slopes->u);
        element_add_force(m, element_of_drive(m, d), slopes->gamma * dense_dot(n, slopes->F_w, slopes->u), force);
    }
}

void drives_expand(const struct mechanism *m, const double *da, double *r)
{
    for (int d = 0; d < m->robot->n_drives; d++) {
        const struct robot_drive *rd = &m->robot->drive[d];
        const struct drive_slopes *slopes = &m->drives.slopes[d];
        const double along = element_velocity(m, &m->element[m->drives.element[d]], da);
        for (int i = 0; i < rd->drive->n_states; i++) r[rd->first_w + i] = slopes->u[i] + slopes->along[i] * along;
    }
}

void drives_stiffness(const struct mechanism *m, const double *dx, const double *dv, const double *dw, double *force,
                      double *r)
{
    for (int d = 0; d < m->robot->n_drives; d++) {
        const struct robot_drive *rd = &m->robot->drive[d];
        const struct drive_slopes *slopes = &m->drives.slopes[d];
        const struct force_element *e = &m->element[m->drives.element[d]];
        const double ds = element_velocity(m, e, dx), drate = element_velocity(m, e, dv);
        const int n = rd->drive->n_states;
        const double *change = dw + rd->first_w;
        element_add_force(m, e, -(slopes->F_s * ds + slopes->F_v * drate + dense_dot(n, slopes->F_w, change)), force);
        for (int i = 0; i < n; i++) {
            double sum = slopes->g_s[i] * ds + slopes->g_v[i] * drate;
            for (int j = 0; j < n; j++) sum += slopes->g_w[n * j + i] * change[j];
            r[rd->first_w + i] = -sum;
        }
    }
}
