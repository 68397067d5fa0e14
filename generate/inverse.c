/* Inverse dynamics, mass matrix and bias (theory.md 34 to 38). */
#include <string.h>

#include "generate/parts.h"

/* f_eta = b_eta - elastic forces + sum J' f_T,   f += sum X' f_T,   f_q = h' f + Jm qdd - joint forces */
void inverse_generalized_forces(struct robot_parts *parts, const expr *qdd, expr *force)
{
    struct graph *g = parts->g;
    for (int i = parts->n - 1; i >= 0; i--) {
        struct link_part *part = &parts->part[i];
        const struct link_model *lm = part->lm;
        expr *f = part->frame->b, *modal = force + lm->eta_v;
        for (int k = 0; k < part->m; k++) modal[k] = expr_sub(g, part->b_eta[k], motion_elastic_force(parts, part, k));
        for (int s = 0; s < part->n_sections; s++) {
            const struct section_part *at = &part->section[s];
            const expr *f_T = part->frame[1 + s].b;
            for (int k = 0; k < part->m; k++) modal[k] = expr_add(g, modal[k], dot_n(g, 6, at->J[k], f_T));
            add_vector(g, 6, f_T, f);
            add_cross(g, at->r, f_T + 3, f);
        }
        for (int e = part->path.n - 1; e >= 0; e--) {
            const struct element *element = &part->path.element[e];
            const int k = element->k;
            if (element->move != COLUMN) {
                path_element_wrench_back(g, element, f);
                continue;
            }
            const expr inertia = expr_mul(g, constant(parts, &lm->joint.motor_inertia[k]), qdd[lm->v + k]);
            force[lm->v + k] =
                expr_sub(g, expr_add(g, f[element->part + element->axis], inertia), motion_joint_force(parts, part, k));
        }
        if (part->parent >= 0) add_vector(g, 6, f, parts->part[part->parent].frame[1 + part->mount].b);
    }
}

/* ---- mass matrix ------------------------------------------------------------------------------------------------- */

/* From a section of part i, or if that is -1 from element e of its path: f_eta += J' f at sections, f_q += h' f */
static void project_from(struct robot_parts *parts, int i, int section, int e, expr f[6], expr *along)
{
    struct graph *g = parts->g;
    while (i >= 0) {
        const struct link_part *part = &parts->part[i];
        for (int k = 0; section >= 0 && k < part->m; k++) {
            expr *sum = &along[part->lm->eta_v + k];
            *sum = expr_add(g, *sum, dot_n(g, 6, part->section[section].J[k], f));
        }
        if (section >= 0) add_cross(g, part->section[section].r, f + 3, f);
        for (; e >= 0; e--) {
            const struct element *element = &part->path.element[e];
            expr *sum = &along[part->lm->v + element->k];
            if (element->move != COLUMN) path_element_wrench_back(g, element, f);
            else *sum = expr_add(g, *sum, f[element->part + element->axis]);
        }
        section = part->mount;
        i = part->parent;
        if (i >= 0) e = parts->part[i].path.n - 1;
    }
}

void inverse_project_wrench(struct robot_parts *parts, int part, int section, expr f[6], expr *along)
{
    if (part >= 0) project_from(parts, part, section, parts->part[part].path.n - 1, f, along);
}

/* Row and column of M: the wrench of a unit acceleration, carried inward from element e of the path of part i */
static void set_mass_row(struct robot_parts *parts, int i, int e, int row, const expr force[6], expr *along, expr *M)
{
    const int n = parts->model->nv;
    expr f[6];
    memcpy(f, force, sizeof f);
    memset(along, 0, (size_t)n * sizeof *along);
    project_from(parts, i, -1, e, f, along);
    for (int column = 0; column < n; column++)
        if (along[column] != ZERO) M[n * row + column] = M[n * column + row] = along[column];
}

void inverse_mass_matrix(struct robot_parts *parts, expr *M)
{
    struct graph *g = parts->g;
    const int n = parts->model->nv;
    expr *bias = M + n * n;
    expr *zero = arena_allocate(&parts->arena, (size_t)n, sizeof *zero);
    expr *along = arena_allocate(&parts->arena, (size_t)n, sizeof *along);
    if (zero == NULL || along == NULL) return;
    memset(M, 0, (size_t)(n * n) * sizeof *M);
    parts_motion(parts, zero);
    parts_articulate(parts, false);
    for (int i = 0; i < parts->n; i++) {
        const struct link_part *part = &parts->part[i];
        const int eta = part->lm->eta_v, last = part->path.n - 1;
        for (int k = 0; k < part->m; k++) {
            set_mass_row(parts, i, last, eta + k, part->F[k], along, M);
            for (int l = 0; l < part->m; l++) M[n * (eta + k) + eta + l] = part->D[part->m * k + l];
        }
        for (int e = last; e >= 0; e--) {
            const struct element *element = &part->path.element[e];
            if (element->move != COLUMN) continue;
            const int row = part->lm->v + element->k;
            set_mass_row(parts, i, e, row, part->column[e].U, along, M);
            M[(n + 1) * row] =
                expr_add(g, M[(n + 1) * row], constant(parts, &part->lm->joint.motor_inertia[element->k]));
        }
    }
    inverse_generalized_forces(parts, zero, bias);
}
