#include "generate/shortened.h"

#include "math/lanes.h"

enum { X_AXIS, Y_AXIS, Z_AXIS };

struct shortened *shortened_make(struct robot_parts *parts, const struct link_part *part)
{
    const size_t m = (size_t)part->m;
    struct arena *arena = &parts->arena;
    if (part->lm->body->shortening == NULL || parts->model->terms == TERMS_RUTHLESS) return NULL;
    struct shortened *at = arena_allocate(arena, 1, sizeof *at);
    if (at == NULL) return NULL;
    at->S_eta = arena_allocate(arena, m, sizeof(expr));
    at->U = arena_allocate(arena, m * m, sizeof(expr));
    at->sigma = arena_allocate(arena, m, sizeof *at->sigma);
    at->Q = arena_allocate(arena, m * m, sizeof(expr));
    return arena->failed ? NULL : at;
}

/* Row `factor` of C eta: S eta, B eta, U */
static expr contracted(struct graph *g, const struct link_part *part, int factor, int j)
{
    const int row = PADDED(part->m), column = (2 + part->m) * row;
    expr sum = ZERO;
    for (int l = 0; l < part->m; l++)
        sum =
            expr_add(g, sum, expr_scale(g, part->lm->body->shortening->C[column * l + row * factor + j], part->eta[l]));
    return sum;
}

/* Q from the products eta_i eta_j of a group of planes */
static void quartic(struct graph *g, const struct link_part *part, const struct pair_group *group, expr *Q)
{
    const struct shortening *sh = part->lm->body->shortening;
    const struct bending_plane *a = &sh->plane[group->a], *b = &sh->plane[group->b];
    const int m = part->m, row = PADDED(group->n);
    int q = 0;
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < (a == b ? i + 1 : b->n); j++, q++) {
            expr sum = ZERO;
            int p = 0;
            for (int k = 0; k < a->n; k++)
                for (int l = 0; l < (a == b ? k + 1 : b->n); l++, p++) {
                    const expr product = expr_mul(g, part->eta[a->first + k], part->eta[b->first + l]);
                    sum = expr_add(g, sum, expr_scale(g, group->W[row * p + q], product));
                }
            Q[m * (a->first + i) + b->first + j] = Q[m * (b->first + j) + a->first + i] = sum;
        }
}

/* sigma_k = -(B eta)_k e_x;  second order: rho_k -= 1/2 (U eta)_k e_x,
   sigma_k += 1/2 (Q eta)_k e_x - sum over l of eta_l U_lk e_a(l) */
void shortened_integrals(struct robot_parts *parts, struct link_part *part)
{
    struct graph *g = parts->g;
    const struct body *body = part->lm->body;
    struct shortened *at = part->shortened;
    const int m = part->m;
    if (at == NULL) return;
    at->x_f = ZERO;
    for (int j = 0; j < m; j++) {
        const expr B_eta = contracted(g, part, 1, j);
        at->S_eta[j] = contracted(g, part, 0, j);
        for (int k = 0; k < m; k++) at->U[m * k + j] = contracted(g, part, 2 + k, j);
        at->sigma[j][0] = negative(B_eta);
        at->x_f = expr_add(g, at->x_f, expr_scale(g, 0.5, expr_mul(g, part->eta[j], B_eta)));
    }
    if (parts->model->terms != TERMS_FULL) return;
    for (int i = 0; i < body->shortening->n_groups; i++) quartic(g, part, &body->shortening->group[i], at->Q);
    for (int k = 0; k < m; k++) {
        const int axis = body->tip.axis[k];
        at->sigma[k][0] = expr_add(g, at->sigma[k][0], expr_scale(g, 0.5, dot_n(g, m, at->Q + m * k, part->eta)));
        for (int l = 0; l < m; l++)
            at->sigma[l][axis] = expr_sub_product(g, at->sigma[l][axis], part->eta[k], at->U[m * k + l]);
    }
    for (int s = 0; s < body->n_shapes; s++) {
        const expr U_eta = dot_n(g, m, at->U + m * body->k[s], part->eta);
        part->rho[s][0] = expr_sub(g, part->rho[s][0], expr_scale(g, 0.5, U_eta));
    }
}

/* c -= 1/2 eta' S eta e_x,   N_xa -= int f r_a dm, and for a = x - int f x dm */
void shortened_moments(struct robot_parts *parts, struct link_part *part)
{
    struct graph *g = parts->g;
    const struct shortened *at = part->shortened;
    if (at == NULL || parts->model->terms != TERMS_FULL) return;
    part->c[0] = expr_sub(g, part->c[0], expr_scale(g, 0.5, dot_n(g, part->m, at->S_eta, part->eta)));
    part->N[0] = expr_sub(g, part->N[0], at->x_f);
    for (int a = 0; a < 3; a++) {
        expr sum = ZERO;
        for (int k = 0; k < part->m; k++) sum = expr_add_product(g, sum, at->sigma[k][a], part->eta[k]);
        part->N[packed(0, a)] = expr_add(g, part->N[packed(0, a)], expr_scale(g, 0.5, sum));
    }
}

/* sigma x e_x and -(S eta)_k e_x */
void shortened_coupling(struct graph *g, struct link_part *part)
{
    for (int k = 0; part->shortened != NULL && k < part->m; k++) {
        const expr *sigma = part->shortened->sigma[k];
        part->F[k][1] = expr_add(g, part->F[k][1], sigma[Z_AXIS]);
        part->F[k][2] = expr_sub(g, part->F[k][2], sigma[Y_AXIS]);
        part->F[k][3] = expr_sub(g, part->F[k][3], part->shortened->S_eta[k]);
    }
}

/* M_ff += Q, and -U of the axial modes with its transpose                                                            (13) */
void shortened_mass(struct graph *g, struct link_part *part)
{
    const struct shortened *at = part->shortened;
    const int m = part->m;
    if (at == NULL) return;
    for (int i = 0; i < m * m; i++) part->D[i] = expr_add(g, part->D[i], at->Q[i]);
    for (int k = 0; k < m; k++)
        for (int j = 0; part->lm->body->tip.axis[k] == X_AXIS && j < m; j++) {
            part->D[m * k + j] = expr_sub(g, part->D[m * k + j], at->U[m * k + j]);
            part->D[m * j + k] = expr_sub(g, part->D[m * j + k], at->U[m * k + j]);
        }
}

expr shortened_rate(struct robot_parts *parts, const struct link_part *part, int k)
{
    if (part->shortened == NULL || parts->model->terms != TERMS_FULL) return ZERO;
    return negative(dot_n(parts->g, part->m, part->shortened->U + part->m * k, part->etad));
}

/* Row r of int eta_dot' H eta_dot (h_1 ...; phi_1 ...; 1) dm */
static expr centripetal_integral(struct graph *g, const struct link_part *part, int r)
{
    const struct shortening *sh = part->lm->body->shortening;
    const int column = PADDED(sh->n_pairs + part->m + 1);
    expr sum = ZERO;
    for (int p = 0; p < sh->n_pairs; p++)
        sum = expr_add(g, sum,
                       expr_scale(g, sh->G[column * p + r], expr_mul(g, part->etad[sh->i[p]], part->etad[sh->j[p]])));
    return sum;
}

/* The terms of r_ddot = -eta_dot' H eta_dot e_x                                                                  (16, 17) */
static void centripetal(struct graph *g, struct link_part *part)
{
    const struct body *body = part->lm->body;
    const struct shortening *sh = body->shortening;
    expr moment[3] = {ZERO, ZERO, ZERO};
    for (int p = 0; p < sh->n_pairs; p++) { /* modal_k += int (H eta)_k eta_dot' H eta_dot dm */
        const int i = sh->i[p], j = sh->j[p];
        const expr integral = centripetal_integral(g, part, p);
        part->b_eta[i] = expr_add_product(g, part->b_eta[i], integral, part->eta[j]);
        if (i != j) part->b_eta[j] = expr_add_product(g, part->b_eta[j], integral, part->eta[i]);
    }
    for (int k = 0; k < part->m; k++) {
        const expr integral = centripetal_integral(g, part, sh->n_pairs + k);
        const int axis = body->tip.axis[k];
        moment[axis] = expr_add_product(g, moment[axis], part->eta[k], integral);
        if (axis == X_AXIS) part->b_eta[k] = expr_sub(g, part->b_eta[k], integral);
    }
    part->frame->b[3] = expr_sub(g, part->frame->b[3], centripetal_integral(g, part, sh->n_pairs + part->m));
    part->frame->b[1] = expr_sub(g, part->frame->b[1], moment[Z_AXIS]);
    part->frame->b[2] = expr_add(g, part->frame->b[2], moment[Y_AXIS]);
}

/* int chi_k (a + B r + 2 omega x r_dot)_x dm; in `linear` int chi_k (a + B x e_x)_x dm */
static void modal_forces(struct robot_parts *parts, struct link_part *part, const expr omega[3], expr a_x,
                         const expr B[9])
{
    struct graph *g = parts->g;
    const struct shortened *at = part->shortened;
    const bool full = parts->model->terms == TERMS_FULL;
    const expr W[3] = {ZERO, expr_scale(g, -2, omega[2]), expr_scale(g, 2, omega[1])};
    for (int l = 0; l < part->m; l++) {
        expr sum = expr_sub_product(g, part->b_eta[l], a_x, at->S_eta[l]);
        sum = expr_add(g, sum, full ? dot(g, B, at->sigma[l]) : expr_mul(g, B[0], at->sigma[l][0]));
        for (int k = 0; full && k < part->m; k++)
            sum = expr_sub_product(g, sum, expr_mul(g, W[part->lm->body->tip.axis[k]], part->etad[k]),
                                   at->U[part->m * k + l]);
        part->b_eta[l] = sum;
    }
}

void shortened_force(struct robot_parts *parts, struct link_part *part, const expr omega[3], expr a_x, const expr B[9],
                     struct rates *rates)
{
    struct graph *g = parts->g;
    const struct shortened *at = part->shortened;
    expr Q[3] = {ZERO, ZERO, ZERO};
    if (at == NULL) return;
    modal_forces(parts, part, omega, a_x, B);
    if (parts->model->terms != TERMS_FULL) return;
    for (int k = 0; k < part->m; k++) add_scaled(g, 3, part->etad[k], at->sigma[k], Q);
    rates->cd[0] = expr_sub(g, rates->cd[0], dot_n(g, part->m, part->etad, at->S_eta));
    rates->Q_omega[0] = expr_add(g, rates->Q_omega[0], dot(g, Q, omega));
    rates->trace = expr_add(g, rates->trace, Q[0]);
    centripetal(g, part);
}
