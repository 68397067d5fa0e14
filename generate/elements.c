/* Force elements over expressions: what they measure and the forces of those without a drive. Each kind of element, and of constraint, of
   mech/ is listed here, or robots that have it cannot be generated. */
#include "generate/elements.h"

#include <string.h>

#include "generate/loops.h"

/* ---- lines --------------------------------------------------------------------------------------------------------- */

static expr length_of(struct graph *g, const expr line[3])
{
    return expr_function(g, SQRT, dot(g, line, line));
}

/* x' = u'(v_to - v_from),  u = (p_to - p_from)/x                                                                      (59) */
static void measure_line(struct robot_parts *parts, int part, expr motion[2])
{
    struct graph *g = parts->g;
    const struct anchor *end = parts->model->site + parts->model->robot->line[part].site;
    const struct placed from = frames_anchor(parts, &end[0]), to = frames_anchor(parts, &end[1]);
    const struct vector v_from = matrix_times(g, from.R, from.v), v_to = matrix_times(g, to.R, to.v);
    expr line[3], rate[3];
    for (int k = 0; k < 3; k++) line[k] = expr_sub(g, to.p[k], from.p[k]);
    for (int k = 0; k < 3; k++) rate[k] = expr_sub(g, v_to.e[k], v_from.e[k]);
    motion[0] = length_of(g, line);
    motion[1] = expr_div(g, dot(g, line, rate), motion[0]);
}

/* F u on `to` and -F u on `from` */
static void load_line(struct robot_parts *parts, int part)
{
    struct graph *g = parts->g;
    const struct anchor *end = parts->model->site + parts->model->robot->line[part].site;
    const struct placed from = frames_anchor(parts, &end[0]), to = frames_anchor(parts, &end[1]);
    expr line[3], wrench[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
    for (int k = 0; k < 3; k++) line[k] = expr_sub(g, to.p[k], from.p[k]);
    const expr F = expr_div(g, parts->line[part], length_of(g, line));
    for (int s = 0; s < 2; s++) {
        for (int k = 0; k < 3; k++) wrench[3 + k] = expr_mul(g, s == 0 ? negative(F) : F, line[k]);
        loops_apply_wrench(parts, &end[s], wrench);
    }
}

/* ---- joints -------------------------------------------------------------------------------------------------------- */

static void measure_hinge(struct robot_parts *parts, int part, expr motion[2])
{
    motion[0] = parts->q[parts->model->link[part].q];
    motion[1] = parts->qd[parts->model->link[part].v];
}

/* F = -(k z + d z' x_dot),  z = x + (h - l)/2 without the backlash b,  h^2 = (x - b/2)^2 + w^2,  l^2 = (x + b/2)^2 + w^2,
   w = b/20: dead_zone() of drive/laws.h                                                                              (113) */
static expr coupling_force(const struct robot_parts *parts, const struct coupling *coupling)
{
    struct graph *g = parts->g;
    const double half = 0.5 * coupling->backlash, w = coupling->backlash / 20;
    expr x = expr_number(g, -coupling->offset), rate = ZERO;
    for (int i = 0; i < coupling->n_terms; i++) {
        const struct coupling_term *term = &coupling->term[i];
        const struct link_model *lm = &parts->model->link[term->link];
        x = expr_add(g, x, expr_scale(g, term->factor, parts->q[lm->q + term->k]));
        rate = expr_add(g, rate, expr_scale(g, term->factor, parts->qd[lm->v + term->k]));
    }
    expr z = x, slope = ONE;
    for (int side = -1; side <= 1 && half > 0; side += 2) {
        const expr edge = expr_sub(g, x, expr_number(g, side * half)), square = expr_number(g, w * w);
        const expr root = expr_function(g, SQRT, expr_add_product(g, square, edge, edge));
        z = expr_add(g, z, expr_scale(g, 0.5 * side, root));
        slope = expr_add(g, slope, expr_scale(g, 0.5 * side, expr_div(g, edge, root)));
    }
    const expr damper = expr_scale(g, coupling->damping, expr_mul(g, slope, rate));
    return negative(expr_add(g, expr_scale(g, coupling->stiffness, z), damper));
}

expr elements_joint_force(const struct robot_parts *parts, int link, int k)
{
    const struct robot *robot = parts->model->robot;
    expr sum = ZERO;
    if (parts->namer != NULL) return ZERO; /* equations have them apart */
    for (int c = 0; c < robot->n_couplings; c++)
        for (int i = 0; robot->coupling[c].elastic && i < robot->coupling[c].n_terms; i++) {
            const struct coupling_term *term = &robot->coupling[c].term[i];
            if (term->link != link || term->k != k) continue;
            const expr F = coupling_force(parts, &robot->coupling[c]);
            sum = expr_add(parts->g, sum, expr_scale(parts->g, term->factor, F));
        }
    return sum;
}

/* ---- all of them --------------------------------------------------------------------------------------------------- */

static const struct twin {
    const struct force_kind *kind;
    void (*measure)(struct robot_parts *parts, int part, expr motion[2]); /* x and its rate, for a drive */
    void (*load)(struct robot_parts *parts, int part);                    /* its wrenches; NULL: none   */
} twins[] = {{&line_element, measure_line, load_line},
             {&hinge_element, measure_hinge, NULL},
             {&coupling_element, NULL, NULL}}; /* in elements_joint_force() */

static const struct twin *twin_of(const struct force_kind *kind)
{
    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++)
        if (twins[i].kind == kind) return &twins[i];
    return NULL;
}

void elements_measure_drives(struct robot_parts *parts, expr *motion)
{
    const struct mechanism *m = parts->mechanism;
    for (int d = 0; d < m->robot->n_drives; d++) {
        const struct force_element *e = &m->element[m->drives.element[d]];
        twin_of(e->kind)->measure(parts, e->part, motion + 2 * d);
    }
}

void elements_load(struct robot_parts *parts)
{
    const struct model *model = parts->model;
    for (int i = 0; i < parts->mechanism->n_elements; i++) {
        const struct force_element *e = &parts->mechanism->element[i];
        if (twin_of(e->kind)->load != NULL) twin_of(e->kind)->load(parts, e->part);
    }
    if (parts->tip_wrench != NULL) loops_apply_wrench(parts, &model->tip_frame, parts->tip_wrench);
    for (int i = 0; parts->frame_wrench != NULL && i < model->robot->n_frames; i++)
        if (model_frame_acts(model, i)) loops_apply_wrench(parts, &model->frame[i], parts->frame_wrench + 6 * i);
}

static bool unknown(const char *part, int number, struct report *report)
{
    report_add(
        report, REPORT_ERROR,
        "%s[%d]: generated code and printed equations do not know this kind of part: remove it, or use the library "
        "(an FMU without --generated, limber eval, limber matrices)",
        part, number);
    return false;
}

bool elements_known(const struct mechanism *m, struct report *report)
{
    for (int i = 0; i < m->constraints->count; i++) {
        const struct constraint *c = &m->constraints->constraint[i];
        if (c->kind != &loop_constraint && c->kind != &coupling_constraint)
            return unknown(c->kind->part, c->part, report);
    }
    for (int i = 0; i < m->n_elements; i++)
        if (twin_of(m->element[i].kind) == NULL) return unknown(m->element[i].kind->part, m->element[i].part, report);
    return true;
}
