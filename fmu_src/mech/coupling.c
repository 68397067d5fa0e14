/* Couplings of joint coordinates: gap = sum of c_i q_i - b. A rigid one is a constraint, an elastic one a spring and damper along the
   gap. (theory.md 111 to 113) */
#include <math.h>

#include "drive/laws.h"
#include "mech/mechanism.h"

static const struct coupling *coupling_of(const struct mechanism *m, int part)
{
    return &m->robot->coupling[part];
}

/* sum of c_i x_i over positions                                                                                       (111) */
static double sum_positions(const struct mechanism *m, const struct coupling *coupling, const double *q)
{
    double sum = 0;
    for (int i = 0; i < coupling->n_terms; i++)
        sum += coupling->term[i].factor * q[m->model->link[coupling->term[i].link].q + coupling->term[i].k];
    return sum;
}

/* The same over velocities or accelerations; NULL: zero */
static double sum_velocities(const struct mechanism *m, const struct coupling *coupling, const double *v)
{
    double sum = 0;
    for (int i = 0; i < coupling->n_terms && v != NULL; i++)
        sum += coupling->term[i].factor * v[m->model->link[coupling->term[i].link].v + coupling->term[i].k];
    return sum;
}

static void add_to_joints(const struct mechanism *m, const struct coupling *coupling, double x, double *force)
{
    for (int i = 0; i < coupling->n_terms; i++)
        force[m->model->link[coupling->term[i].link].v + coupling->term[i].k] += coupling->term[i].factor * x;
}

bool coupling_is_angle(const struct model *model, int part)
{
    const struct coupling *coupling = &model->robot->coupling[part];
    bool angle = true;
    for (int i = 0; i < coupling->n_terms; i++)
        angle = angle && model->link[coupling->term[i].link].joint.part[coupling->term[i].k] == TURNS;
    return angle;
}

/* ---- elastic ----------------------------------------------------------------------------------------------------- */

static enum status measure(struct mechanism *m, const struct input *in, struct force_element *e)
{
    const struct coupling *coupling = coupling_of(m, e->part);
    e->x = sum_positions(m, coupling, in->q) - coupling->offset;
    e->rate = sum_velocities(m, coupling, in->qd);
    return STATUS_OK;
}

/* F = -(k z + d z' x_dot),   z = x without the backlash                                                               (113) */
static void force(struct mechanism *m, const struct input *in, struct force_element *e)
{
    const struct coupling *coupling = coupling_of(m, e->part);
    const struct dead_zone z = dead_zone(e->x, coupling->backlash);
    const double k = coupling->stiffness, d = coupling->damping;
    (void)in;
    e->F = -(k * z.value + d * z.slope * e->rate);
    e->by_x = -(k * z.slope + d * z.curvature * e->rate);
    e->by_rate = -d * z.slope;
    e->energy = k * dead_zone_energy(e->x, coupling->backlash);
    e->loss = d * z.slope * e->rate * e->rate;
}

static void add_force(const struct mechanism *m, const struct force_element *e, double F, double *force)
{
    add_to_joints(m, coupling_of(m, e->part), F, force);
}

static void change(struct mechanism *m, const struct direction *direction, struct force_element *e)
{
    e->dx = sum_velocities(m, coupling_of(m, e->part), direction->q);
    e->drate = sum_velocities(m, coupling_of(m, e->part), direction->qd);
}

static bool adds(const struct robot *robot, int part, int link, int k)
{
    const struct coupling *coupling = &robot->coupling[part];
    for (int i = 0; i < coupling->n_terms; i++)
        if (coupling->term[i].link == link && coupling->term[i].k == k) return true;
    return false;
}

static const struct element_output outputs[] = {
    {"force", "N.m", "N", ELEMENT_FORCE, "force of the coupling on its gap"},
    {"gap", "rad", "m", ELEMENT_X, "sum of the coupling's terms minus its offset"}};

const struct force_kind coupling_element = {.part = "couplings",
                                            .n_outputs = 2,
                                            .output = outputs,
                                            .moved_by = adds,
                                            .is_angle = coupling_is_angle,
                                            .measure = measure,
                                            .force = force,
                                            .add_force = add_force,
                                            .change = change};

/* ---- rigid ------------------------------------------------------------------------------------------------------- */

static void measure_gap(struct mechanism *m, const struct constraint *c, const struct input *in)
{
    const struct coupling *coupling = coupling_of(m, c->part);
    m->constraints->gap[c->first] = sum_positions(m, coupling, in->q) - coupling->offset;
    m->constraints->rate[c->first] = sum_velocities(m, coupling, in->qd);
    double *size = &m->constraints->size[c->first];
    *size = 0;
    for (int i = 0; i < coupling->n_terms; i++) {
        const struct coupling_term *term = &coupling->term[i];
        *size += fabs(term->factor) * (1 + fabs(in->q[m->model->link[term->link].q + term->k]));
    }
}

static void add_multiplier(const struct mechanism *m, const struct constraint *c, int row, double x, double (*on)[6],
                           double *force)
{
    (void)row, (void)on;
    add_to_joints(m, coupling_of(m, c->part), x, force);
}

/* G qdd, since G is constant                                                                                          (112) */
static double acceleration(const struct mechanism *m, const struct constraint *c, int row, const double *qdd)
{
    (void)row;
    return sum_velocities(m, coupling_of(m, c->part), qdd);
}

static bool moved_by(const struct model *model, int part, int link, bool *bends)
{
    const struct coupling *coupling = &model->robot->coupling[part];
    *bends = false;
    for (int i = 0; i < coupling->n_terms; i++)
        if (coupling->term[i].link == link) return true;
    return false;
}

const struct constraint_kind coupling_constraint = {.part = "couplings",
                                                    .measure_gap = measure_gap,
                                                    .add_multiplier = add_multiplier,
                                                    .acceleration = acceleration,
                                                    .acceleration_change = acceleration,
                                                    .moved_by = moved_by};

/* ---- both -------------------------------------------------------------------------------------------------------- */

void mechanism_couplings(struct mechanism *m, const double *lambda, double *F, double *gap)
{
    const struct constraints *all = m->constraints;
    for (int i = 0; i < m->n_elements; i++) {
        struct force_element *e = &m->element[i];
        if (e->kind != &coupling_element) continue;
        force(m, NULL, e);
        F[e->part] = e->F;
        gap[e->part] = e->x;
    }
    for (int i = 0; i < all->count; i++) {
        const struct constraint *c = &all->constraint[i];
        if (c->kind != &coupling_constraint) continue;
        F[c->part] = lambda[c->first];
        gap[c->part] = 0;
    }
}
