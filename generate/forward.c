/* Articulated-body forward dynamics: modes are eliminated before the joint of their link (theory.md 29 to 33). */
#include <string.h>

#include "generate/elements.h"
#include "generate/loops.h"

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* F += X' P_T J,  D_f += J' P_T J,  P += X' P_T X of a section                                                    (91) */
static void fold_section(struct graph *g, struct link_part *part, int section)
{
    const int m = part->m;
    const struct section_part *s = &part->section[section];
    struct spatial P = part->frame[1 + section].P;
    for (int k = 0; k < m; k++) {
        expr PJ[6];
        spatial_times(g, &P, s->J[k], PJ);
        for (int l = 0; l <= k; l++) {
            expr *D = &part->D[m * k + l];
            part->D[m * l + k] = *D = expr_add(g, *D, dot_n(g, 6, s->J[l], PJ));
        }
        add_vector(g, 6, PJ, part->F[k]);
        add_cross(g, s->r, PJ + 3, part->F[k]);
    }
    spatial_shift(g, s->r, &P);
    spatial_add(g, &P, &part->frame->P);
}

/* D_f = L Delta L',  W = Delta^-1 L^-1 F',  P -= F D_f^-1 F'; L below the diagonal of D                              (30) */
static void eliminate_modes(struct graph *g, struct link_part *part)
{
    const int m = part->m;
    expr *D = part->D;
    for (int k = 0; k < m; k++) {
        const expr inverse = expr_div(g, ONE, D[(m + 1) * k]);
        part->inverse_d[k] = inverse;
        for (int i = 0; i < 6; i++) part->W[k][i] = expr_mul(g, inverse, part->F[k][i]);
        for (int i = k + 1; i < m; i++) {
            const expr L = expr_mul(g, inverse, D[m * i + k]);
            for (int j = k + 1; j <= i; j++) D[m * i + j] = expr_sub_product(g, D[m * i + j], L, D[m * j + k]);
            for (int a = 0; a < 6; a++) part->F[i][a] = expr_sub_product(g, part->F[i][a], L, part->F[k][a]);
        }
        for (int i = k + 1; i < m; i++) D[m * i + k] = expr_mul(g, inverse, D[m * i + k]);
        spatial_downdate(g, part->W[k], part->F[k], &part->frame->P);
    }
}

/* U = P h,   D = h' P h + Jm,   P+ = P - U U'/D, whose row and column along h are Jm U/D                            (32).
   Without elimination, for composite bodies, only U. */
static void eliminate_column(struct graph *g, const struct element *e, bool eliminate, double inertia,
                             struct eliminated *to, struct spatial *P)
{
    const int at = e->part + e->axis;
    expr h[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
    h[at] = ONE;
    spatial_times(g, P, h, to->U);
    if (!eliminate) return;
    to->inverse_D = expr_div(g, ONE, expr_add(g, to->U[at], expr_number(g, inertia)));
    for (int i = 0; i < 6; i++) to->G[i] = expr_mul(g, to->inverse_D, to->U[i]);
    spatial_downdate(g, to->G, to->U, P);
    for (int j = 0; j < 6; j++) {
        const expr left = expr_scale(g, inertia, to->G[j]);
        if (at < 3 && j < 3) P->A[packed(at, j)] = left;
        else if (at < 3) P->B[3 * at + j - 3] = left;
        else if (j < 3) P->B[3 * j + at - 3] = left;
        else P->C[packed(at - 3, j - 3)] = left;
    }
}

static bool is_free(const struct link_part *part)
{
    return part->lm->prescribed < 0;
}

void parts_articulate(struct robot_parts *parts, bool eliminate)
{
    struct graph *g = parts->g;
    for (int i = 0; i < parts->n; i++) { /* the bodies of the parts themselves */
        struct link_part *part = &parts->part[i];
        part->frame->P = spatial_of(&part->solid);
        if (part->m == 0) continue;
        const struct solid held = flexible_solid(parts, part);
        const struct spatial own = spatial_of(&held);
        spatial_add(g, &own, &part->frame->P);
    }
    for (int i = parts->n - 1; i >= 0; i--) {
        struct link_part *part = &parts->part[i];
        for (int s = 0; s < part->n_sections; s++) fold_section(g, part, s);
        if (eliminate) eliminate_modes(g, part);
        struct spatial P = part->frame->P;
        for (int e = part->path.n - 1; e >= 0; e--) {
            const struct element *element = &part->path.element[e];
            if (element->move != COLUMN) path_element_spatial_back(g, element, &P);
            else if (!eliminate || is_free(part))
                eliminate_column(g, element, eliminate, part->lm->joint.motor_inertia[element->k], &part->column[e],
                                 &P);
        }
        if (part->parent >= 0) spatial_add(g, &P, &parts->part[part->parent].frame[1 + part->mount].P);
    }
}

/* ---- solution ---------------------------------------------------------------------------------------------------- */

void residual_make(struct robot_parts *parts, struct residual *r)
{
    r->z = arena_allocate(&parts->arena, (size_t)parts->n, sizeof *r->z);
    r->u = arena_allocate(&parts->arena, (size_t)parts->model->nv, sizeof *r->u);
    for (int i = 0; r->z != NULL && i < parts->n; i++)
        r->z[i] = arena_allocate(&parts->arena, 1 + (size_t)parts->part[i].n_sections, sizeof *r->z[i]);
}

/* e = L^-1 (e - sum J' z_T),   z += sum X' z_T + W' e; z: of the part, then of its sections */
static void gather_modes(struct graph *g, const struct link_part *part, expr (*z)[6], expr *e)
{
    const int m = part->m;
    for (int s = 0; s < part->n_sections; s++) {
        const struct section_part *at = &part->section[s];
        const expr *z_T = z[1 + s];
        for (int k = 0; k < m; k++) e[k] = expr_sub(g, e[k], dot_n(g, 6, at->J[k], z_T));
        add_vector(g, 6, z_T, z[0]);
        add_cross(g, at->r, z_T + 3, z[0]);
    }
    for (int k = 0; k < m; k++) {
        for (int l = 0; l < k; l++) e[k] = expr_sub_product(g, e[k], part->D[m * k + l], e[l]);
        add_scaled(g, 6, e[k], part->W[k], z[0]);
    }
}

/* For each column of a joint u = Q - h' z,   z += U u/D, whose component along h becomes Q - Jm u/D */
void parts_gather(struct robot_parts *parts, struct residual *r, const expr *Q)
{
    struct graph *g = parts->g;
    for (int i = parts->n - 1; i >= 0; i--) {
        struct link_part *part = &parts->part[i];
        const struct link_model *lm = part->lm;
        expr *z = r->z[i][0];
        memcpy(r->u + lm->eta_v, Q + lm->eta_v, (size_t)part->m * sizeof *Q);
        gather_modes(g, part, r->z[i], r->u + lm->eta_v);
        for (int e = part->path.n - 1; e >= 0; e--) {
            const struct element *element = &part->path.element[e];
            const struct eliminated *by = &part->column[e];
            const int k = element->k, at = element->part + element->axis;
            if (element->move != COLUMN) path_element_wrench_back(g, element, z);
            if (element->move != COLUMN || !is_free(part)) continue;
            const expr u = expr_sub(g, Q[lm->v + k], z[at]);
            add_scaled(g, 6, u, by->G, z);
            z[at] = expr_sub(g, Q[lm->v + k], expr_scale(g, lm->joint.motor_inertia[k], expr_mul(g, u, by->inverse_D)));
            r->u[lm->v + k] = u;
        }
        if (part->parent >= 0) add_vector(g, 6, z, r->z[part->parent][1 + part->mount]);
    }
}

/* eta_ddot = L^-T (Delta^-1 e - W x),   x_T = X x + J eta_ddot */
static void spread_modes(struct graph *g, struct link_part *part, const expr *e, expr *etadd)
{
    const int m = part->m;
    for (int k = m - 1; k >= 0; k--) {
        etadd[k] = expr_sub(g, expr_mul(g, part->inverse_d[k], e[k]), dot_n(g, 6, part->W[k], part->frame->x));
        for (int l = k + 1; l < m; l++) etadd[k] = expr_sub_product(g, etadd[k], part->D[m * l + k], etadd[l]);
    }
    for (int s = 0; s < part->n_sections; s++) {
        const struct section_part *at = &part->section[s];
        const expr *x = part->frame->x;
        expr *x_T = part->frame[1 + s].x;
        memcpy(x_T, x, sizeof part->frame->x);
        add_cross(g, x, at->r, x_T + 3);
        for (int k = 0; k < m; k++) add_scaled(g, 6, etadd[k], at->J[k], x_T);
    }
}

/* For each column of a joint qdd = (u - U' x)/D,   x += h qdd */
void parts_spread(struct robot_parts *parts, const struct residual *r, expr *qdd)
{
    struct graph *g = parts->g;
    for (int i = 0; i < parts->n; i++) {
        struct link_part *part = &parts->part[i];
        const struct link_model *lm = part->lm;
        expr *x = part->frame->x;
        memset(x, 0, sizeof part->frame->x);
        if (part->parent >= 0) memcpy(x, parts->part[part->parent].frame[1 + part->mount].x, sizeof part->frame->x);
        for (int e = 0; e < part->path.n; e++) {
            const struct element *element = &part->path.element[e];
            const struct eliminated *by = &part->column[e];
            const int at = element->part + element->axis, k = element->k;
            if (element->move != COLUMN) path_element_motion_forth(g, element, x);
            else if (!is_free(part)) qdd[lm->v + k] = motion_given_acceleration(parts, lm, k, NULL);
            if (element->move != COLUMN || !is_free(part)) continue;
            expr sum = expr_mul(g, r->u[lm->v + k], by->inverse_D);
            for (int j = 0; j < 6; j++)
                if (j != at) sum = expr_sub_product(g, sum, by->G[j], x[j]);
            const expr Jm_D = expr_scale(g, lm->joint.motor_inertia[k], by->inverse_D); /* U_h/D = 1 - Jm/D */
            sum = expr_add_product(g, sum, Jm_D, x[at]);
            qdd[lm->v + k] = expr_sub(g, sum, x[at]);
            x[at] = sum;
        }
        spread_modes(g, part, r->u + lm->eta_v, qdd + lm->eta_v);
    }
}

/* ---- forward dynamics -------------------------------------------------------------------------------------------- */

void forward_solution(struct robot_parts *parts, struct loop_parts *loops, expr *qdd, expr *lambda)
{
    struct graph *g = parts->g;
    struct residual r;
    loops_make(parts, loops);
    expr *Q = arena_allocate(&parts->arena, (size_t)parts->model->nv, sizeof *Q),
         *gap = arena_allocate(&parts->arena, (size_t)loops->n, sizeof *gap);
    residual_make(parts, &r);
    if (parts->arena.failed) return;
    parts_motion(parts, NULL);
    for (int i = 0; i < parts->n; i++) { /* Q - b of joints and modes, with drives */
        const struct link_part *part = &parts->part[i];
        const struct link_model *lm = part->lm;
        for (int k = 0; k < lm->joint.nv; k++)
            Q[lm->v + k] =
                expr_add(g, motion_joint_force(parts, part, k), lm->passive ? ZERO : parts->tau[lm->tau + k]);
        for (int k = 0; k < part->m; k++)
            Q[lm->eta_v + k] = expr_sub(g, motion_elastic_force(parts, part, k), part->b_eta[k]);
    }
    for (int i = 0; i < loops->n; i++) gap[i] = loops_gap_acceleration(parts, &loops->row[i], NULL);
    elements_load(parts);
    for (int i = 0; i < parts->n; i++) /* the inertia forces of the motion as wrenches */
        for (int s = 0; s <= parts->part[i].n_sections; s++)
            memcpy(r.z[i][s], parts->part[i].frame[s].b, sizeof r.z[i][s]);
    parts_articulate(parts, true);
    loops_factor(parts, loops);
    parts_gather(parts, &r, Q);
    loops_close(parts, loops, gap, &r, lambda);
    parts_spread(parts, &r, qdd);
}
