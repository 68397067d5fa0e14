#include "oracle/slopes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/vec.h"
#include "oracle/larger.h"

/* ---- directions ---------------------------------------------------------------------------------------------------------- */

void arrow_clear(struct arrow *arrow)
{
    memset(arrow, 0, sizeof *arrow);
    arrow->direction = (struct direction){.q = arrow->q,
                                          .qd = arrow->qd,
                                          .tau = arrow->tau,
                                          .tip_wrench = arrow->tip_wrench,
                                          .frame_wrench = arrow->frame_wrench,
                                          .prescribed_qdd = arrow->prescribed_qdd,
                                          .line_force = arrow->line_force};
}

void arrow_random(const struct specimen *s, struct random *random, struct arrow *arrow)
{
    arrow_clear(arrow);
    for (int i = 0; i < s->nv; i++) {
        arrow->q[i] = uniform(random, -1, 1);
        arrow->qd[i] = uniform(random, -1, 1);
    }
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_model *lm = &s->model->link[i];
        for (int k = 0; k < lm->m; k++) arrow->q[lm->eta_v + k] *= 0.1;
        for (int k = 0; k < lm->joint.nv; k++) {
            arrow->tau[lm->tau + k] = uniform(random, -30, 30);
            if (lm->prescribed >= 0) arrow->prescribed_qdd[lm->prescribed + k] = uniform(random, -3, 3);
        }
    }
    for (int i = 0; i < 6; i++) arrow->tip_wrench[i] = uniform(random, -10, 10);
    for (int i = 0; i < s->robot->n_lines; i++) arrow->line_force[i] = uniform(random, -30, 30);
    for (int i = 0; i < 6 * s->n_frames; i++)
        arrow->frame_wrench[i] = model_frame_acts(s->model, i / 6) ? uniform(random, -10, 10) : 0;
}

int arrow_unit(const struct specimen *s, int j, struct arrow *along)
{
    enum { KINDS = 7 };
    double *const of[KINDS] = {along->q,          along->qd,         along->tau,         along->prescribed_qdd,
                               along->tip_wrench, along->line_force, along->frame_wrench};
    const int count[KINDS] = {s->nv,          s->nv, s->model->n_tau, s->model->n_prescribed, 6, s->robot->n_lines,
                              6 * s->n_frames};
    arrow_clear(along);
    for (int kind = 0; kind < KINDS; kind++) {
        if (j < count[kind]) {
            of[kind][j] = 0.1;
            return 1;
        }
        j -= count[kind];
    }
    return 0;
}

void arrow_remember(const struct specimen *s, struct arrow *at)
{
    arrow_clear(at);
    memcpy(at->q, s->q, (size_t)s->nq * sizeof(double));
    memcpy(at->qd, s->qd, (size_t)s->nv * sizeof(double));
    memcpy(at->tau, s->tau, (size_t)s->model->n_tau * sizeof(double));
    memcpy(at->prescribed_qdd, s->prescribed_qdd, (size_t)s->model->n_prescribed * sizeof(double));
    memcpy(at->tip_wrench, s->tip_wrench, sizeof at->tip_wrench);
    memcpy(at->line_force, s->line_force, (size_t)s->robot->n_lines * sizeof(double));
    memcpy(at->frame_wrench, s->frame_wrench, 6 * (size_t)s->n_frames * sizeof(double));
}

void arrow_go(struct specimen *s, const struct arrow *from, double t, const struct arrow *along)
{
    memcpy(s->q, from->q, (size_t)s->nq * sizeof(double));
    if (t != 0) model_move(s->model, s->q, along->q, t);
    for (int i = 0; i < s->nv; i++) s->qd[i] = from->qd[i] + t * along->qd[i];
    for (int i = 0; i < s->model->n_tau; i++) s->tau[i] = from->tau[i] + t * along->tau[i];
    for (int i = 0; i < s->model->n_prescribed; i++)
        s->prescribed_qdd[i] = from->prescribed_qdd[i] + t * along->prescribed_qdd[i];
    for (int i = 0; i < 6; i++) s->tip_wrench[i] = from->tip_wrench[i] + t * along->tip_wrench[i];
    for (int i = 0; i < s->robot->n_lines; i++) s->line_force[i] = from->line_force[i] + t * along->line_force[i];
    for (int i = 0; i < 6 * s->n_frames; i++) s->frame_wrench[i] = from->frame_wrench[i] + t * along->frame_wrench[i];
}

/* ---- values ---------------------------------------------------------------------------------------------------------------- */

void values_put(struct values *v, enum part part, int count, const double *y)
{
    memcpy(v->y[part] + v->count[part], y, (size_t)count * sizeof *y);
    v->count[part] += count;
}

static void put_frame(struct values *v, const struct specimen *s, const struct anchor *anchor, bool accelerates)
{
    struct frame_motion motion;
    dyn_frame(s->model, s->work, anchor, &motion);
    values_put(v, POSE, 3, motion.p);
    values_put(v, POSE, 9, motion.R);
    values_put(v, VELOCITY, 3, motion.v);
    values_put(v, VELOCITY, 3, motion.omega);
    if (!accelerates) return;
    values_put(v, ACCELERATION, 3, motion.a);
    values_put(v, ACCELERATION, 3, motion.alpha);
}

static void put_frame_change(struct values *v, const struct specimen *s, const struct tangent *tangent,
                             const struct anchor *anchor, bool accelerates)
{
    struct frame_derivative change;
    struct frame_motion motion;
    double turn[9], dR[9];
    dyn_frame(s->model, s->work, anchor, &motion);
    dyn_tangent_frame(s->work, tangent, anchor, &change);
    skew3(change.phi, turn);
    matmul3(turn, motion.R, dR);
    values_put(v, POSE, 3, change.p);
    values_put(v, POSE, 9, dR);
    values_put(v, VELOCITY, 3, change.v);
    values_put(v, VELOCITY, 3, change.omega);
    if (!accelerates) return;
    values_put(v, ACCELERATION, 3, change.a);
    values_put(v, ACCELERATION, 3, change.alpha);
}

void values_put_frames(struct values *v, const struct specimen *s)
{
    double wrench[6], deflection[3], rotation[3];
    for (int i = 0; i < s->n_frames; i++) put_frame(v, s, &s->model->frame[i], true);
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_model *lm = &s->model->link[i];
        values_put(v, DRIVES, lm->joint.nv, s->force + lm->v);
        const struct anchor hinge = model_hinge(i), tip = model_tip(s->model, i);
        put_frame(v, s, &hinge, false);
        put_frame(v, s, &tip, true);
        dyn_reaction(s->work, i, wrench);
        values_put(v, REACTION, 6, wrench);
        dyn_deflection(s->model, s->work, i, deflection, rotation);
        values_put(v, DEFLECTION, 3, deflection);
        values_put(v, DEFLECTION, 3, rotation);
    }
}

void values_put_frame_changes(struct values *v, const struct specimen *s, const struct tangent *tangent)
{
    double wrench[6], deflection[3], rotation[3];
    for (int i = 0; i < s->n_frames; i++) put_frame_change(v, s, tangent, &s->model->frame[i], true);
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_model *lm = &s->model->link[i];
        values_put(v, DRIVES, lm->joint.nv, tangent->force + lm->v);
        const struct anchor hinge = model_hinge(i), tip = model_tip(s->model, i);
        put_frame_change(v, s, tangent, &hinge, false);
        put_frame_change(v, s, tangent, &tip, true);
        dyn_tangent_reaction(s->work, tangent, i, wrench);
        values_put(v, REACTION, 6, wrench);
        dyn_tangent_deflection(s->model, s->work, tangent, i, deflection, rotation);
        values_put(v, DEFLECTION, 3, deflection);
        values_put(v, DEFLECTION, 3, rotation);
    }
}

/* ---- slopes ---------------------------------------------------------------------------------------------------------------- */

/* Central differences of eighth order along a line: h^8/630 y(9) of truncation, eps y/h of rounding. `size` is the largest of
   what was added up, by parts. */
static void differences(struct specimen *s, const struct differentiable *function, void *context,
                        const struct arrow *along, double h, struct values *slope, double *size)
{
    static const double weight[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    static struct arrow from;
    static struct values v;
    arrow_remember(s, &from);
    memset(slope, 0, sizeof *slope);
    memset(size, 0, PARTS * sizeof *size);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        arrow_go(s, &from, h * k, along);
        memset(v.count, 0, sizeof v.count);
        function->evaluate(s, context, &v);
        const double c = (k < 0 ? -weight[-k - 1] : weight[k - 1]) / h;
        for (int part = 0; part < PARTS; part++) {
            slope->count[part] = v.count[part];
            size[part] = larger(size[part], norm(v.count[part], v.y[part]));
            for (int i = 0; i < v.count[part]; i++) slope->y[part][i] += c * v.y[part][i];
        }
    }
    arrow_go(s, &from, 0, along);
}

double mass_product(const struct specimen *s, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < s->nv; i++)
        for (int j = 0; j < s->nv; j++) sum += x[i] * s->work->M[s->nv * i + j] * y[j];
    return sum;
}

double mass_norm(const struct specimen *s, const double *x)
{
    return sqrt(fabs(mass_product(s, x, x)));
}

double mass_distance(const struct specimen *s, const double *x, const double *y)
{
    double difference[MOST];
    for (int i = 0; i < s->nv; i++) difference[i] = x[i] - y[i];
    return mass_norm(s, difference);
}

const double slope_tolerance[PARTS] = {
    [QDD] = 1e-8,       [LAMBDA] = 1e-8,       [DRIVES] = 1e-9,   [POSE] = 1e-12,
    [VELOCITY] = 1e-12, [ACCELERATION] = 1e-8, [REACTION] = 1e-8, [DEFLECTION] = 1e-10};

/* The inertia forces, gravity among them, that add up to the reactions: all there is of them where a joint carries nothing */
static double inertia_wrenches(const struct specimen *s)
{
    double sum = 0;
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_work *w = &s->work->link[i];
        sum += norm(6, w->b);
        for (int k = 0; k < s->model->link[i].n_sections; k++) sum += norm(6, w->section[k].b);
    }
    return sum;
}

void slope_errors(struct specimen *s, const struct differentiable *function, void *context, const struct arrow *along,
                  struct errors *errors, double error[PARTS])
{
    enum { STEPS = 3 };
    static const double h[STEPS] = {2e-3, 5e-4, 1.25e-4};
    static struct values at, got, want[STEPS];
    double size[STEPS][PARTS];
    for (int i = 0; i < STEPS; i++) differences(s, function, context, along, h[i], &want[i], size[i]);
    memset(at.count, 0, sizeof at.count);
    memset(got.count, 0, sizeof got.count);
    function->evaluate(s, context, &at);
    const double wrenches = inertia_wrenches(s);
    function->differentiate(s, context, &along->direction, &got);
    dyn_mass_matrix(s->model, s->work);
    for (int i = 0; i < STEPS; i++) {
        double scale[PARTS];
        for (int k = 0; k < PARTS; k++) scale[k] = 1e-3 + size[i][k] + norm(want[i].count[k], want[i].y[k]);
        scale[VELOCITY] += norm(s->nv, s->qd);
        scale[REACTION] += wrenches;
        scale[DRIVES] += scale[REACTION];
        scale[ACCELERATION] += scale[LAMBDA];
        scale[QDD] = scale[LAMBDA] + mass_norm(s, at.y[QDD]) + mass_norm(s, want[i].y[QDD]);
        for (int k = 0; k < PARTS; k++) {
            const double apart = k == QDD ? mass_distance(s, got.y[k], want[i].y[k])
                                          : distance(want[i].count[k], got.y[k], want[i].y[k]);
            error[k] = i == 0 ? apart / scale[k] : fmin(error[k], apart / scale[k]);
        }
    }
    for (int k = 0; k < PARTS; k++) {
        if (got.count[k] != at.count[k]) error[k] = INFINITY;
        errors->worst[k] = larger(errors->worst[k], error[k]);
    }
    errors->count++;
}

void print_errors(const struct errors *errors)
{
    static const char *const name[PARTS] = {"qdd",      "lambda",       "drives",   "pose",
                                            "velocity", "acceleration", "reaction", "deflection"};
    for (int k = 0; k < PARTS; k++) printf("     %-12s worst %.1e\n", name[k], errors->worst[k]);
}
