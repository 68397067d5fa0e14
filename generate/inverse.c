/* Inverse dynamics, mass matrix and bias (theory.md 34 to 38). */
#include <string.h>

#include "generate/parts.h"

/* f_eta = b_eta - elastic forces + sum J' f_T,   f += sum X' f_T */
static void section_forces(struct robot_parts *parts, struct link_part *part, expr *modal)
{
    struct graph *g = parts->g;
    for (int k = 0; k < part->m; k++) modal[k] = sub(g, part->b_eta[k], elastic_force(parts, part, k));
    for (int s = 0; s < part->n_sections; s++) {
        const struct section_part *at = &part->section[s];
        for (int k = 0; k < part->m; k++) modal[k] = add(g, modal[k], dot_n(g, 6, at->J[k], at->b));
        add_vector(g, 6, at->b, part->b);
        add_cross(g, at->r, at->b + 3, part->b);
    }
}

/* f_q = h' f + Jm qdd - joint forces */
void generalized_forces(struct robot_parts *parts, const expr *qdd, expr *force)
{
    struct graph *g = parts->g;
    for (int i = parts->n - 1; i >= 0; i--) {
        struct link_part *part = &parts->part[i];
        const struct link_model *lm = part->lm;
        expr *f = part->b;
        section_forces(parts, part, force + lm->eta_v);
        for (int e = part->path.n - 1; e >= 0; e--) {
            const struct element *element = &part->path.element[e];
            const int k = element->k;
            if (element->move != COLUMN) {
                element_wrench_back(g, element, f);
                continue;
            }
            const expr inertia = scaled(g, lm->joint.motor_inertia[k], qdd[lm->v + k]);
            force[lm->v + k] = sub(g, add(g, f[element->part + element->axis], inertia), joint_force(parts, part, k));
        }
        if (part->parent < 0) continue;
        struct link_part *parent = &parts->part[part->parent];
        add_vector(g, 6, f, part->mount >= 0 ? parent->section[part->mount].b : parent->b);
    }
}

void inverse_dynamics(struct robot_parts *parts, expr *force)
{
    parts_motion(parts, parts->qdd);
    generalized_forces(parts, parts->qdd, force);
}

/* ---- mass matrix ------------------------------------------------------------------------------------------------- */

/* Carries a wrench on part i inward from element e of its path; its components along columns and modes are entries of M */
static void carry(struct robot_parts *parts, int i, int e, int row, expr f[6], expr *M)
{
    struct graph *g = parts->g;
    const int n = parts->model->nv;
    while (i >= 0) {
        const struct link_part *part = &parts->part[i];
        for (; e >= 0; e--) {
            const struct element *element = &part->path.element[e];
            const int column = part->lm->v + element->k;
            if (element->move != COLUMN) element_wrench_back(g, element, f);
            else M[n * row + column] = M[n * column + row] = f[element->part + element->axis];
        }
        const int mount = part->mount;
        i = part->parent;
        if (i >= 0) e = parts->part[i].path.n - 1;
        if (mount < 0) continue;
        const struct link_part *parent = &parts->part[i];
        const struct section_part *s = &parent->section[mount];
        for (int k = 0; k < parent->m; k++) {
            const int column = parent->lm->eta_v + k;
            M[n * row + column] = M[n * column + row] = dot_n(g, 6, s->J[k], f);
        }
        add_cross(g, s->r, f + 3, f);
    }
}

void mass_matrix(struct robot_parts *parts, expr *M)
{
    struct graph *g = parts->g;
    const int n = parts->model->nv;
    expr *bias = M + n * n;
    expr *zero = arena_take(&parts->arena, (size_t)n, sizeof *zero);
    if (zero == NULL) return;
    memset(M, 0, (size_t)(n * n) * sizeof *M);
    parts_motion(parts, zero);
    parts_articulate(parts, false);
    for (int i = 0; i < parts->n; i++) {
        const struct link_part *part = &parts->part[i];
        const int eta = part->lm->eta_v, last = part->path.n - 1;
        for (int k = 0; k < part->m; k++) {
            expr f[6];
            memcpy(f, part->F[k], sizeof f);
            carry(parts, i, last, eta + k, f, M);
            for (int l = 0; l < part->m; l++) M[n * (eta + k) + eta + l] = part->D[part->m * k + l];
        }
        for (int e = last; e >= 0; e--) {
            const struct element *element = &part->path.element[e];
            if (element->move != COLUMN) continue;
            const int row = part->lm->v + element->k;
            expr f[6];
            memcpy(f, part->column[e].U, sizeof f);
            carry(parts, i, e, row, f, M);
            M[(n + 1) * row] = add(g, M[(n + 1) * row], number(g, part->lm->joint.motor_inertia[element->k]));
        }
    }
    generalized_forces(parts, zero, bias);
}
