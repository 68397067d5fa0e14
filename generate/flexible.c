/* Flexible parts at a state: sections, mass blocks, inertia forces, in axes of F (theory.md 9 to 28). The modal integrals of the
   library's struct body are the constants. */
#include <string.h>

#include "generate/geometric.h"
#include "math/lanes.h"

static expr entry_or_zero(const struct robot_parts *parts, const double *M, int n, int i, int j)
{
    return entry_is_zero(M, n, i, j) ? ZERO : constant(parts, &M[n * i + j]);
}

static int axis_of(const struct body *body, int s)
{
    return s >= body->axis_start[2] ? 2 : s >= body->axis_start[1] ? 1 : 0;
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

/* u = Phi z, theta = Lambda z */
static void section_sums(const struct robot_parts *parts, const struct section *shape, int m, const expr *z, expr *u,
                         expr *theta)
{
    struct graph *g = parts->g;
    for (int i = 0; i < 3; i++) {
        u[i] = theta[i] = ZERO;
        for (int k = 0; k < m; k++) {
            u[i] = expr_add_product(g, u[i], constant(parts, &shape->Phi[3 * k + i]), z[k]);
            theta[i] = expr_add_product(g, theta[i], constant(parts, &shape->Lambda[3 * k + i]), z[k]);
        }
    }
}

static void name_turn(const struct robot_parts *parts, const struct link_part *part, const struct section *shape,
                      bool rate, expr theta[3])
{
    if (parts->namer != NULL) parts->namer->turn(parts->namer, parts, part->link, shape, rate, theta);
}

/* Coefficients of Exp and its left Jacobian at y = theta . theta:  a = S_2, b = S_3 and their derivatives */
struct coefficients {
    expr a, b, da, db;
};

static struct coefficients coefficients_of(struct graph *g, const expr theta[3])
{
    const expr y = dot(g, theta, theta), S4 = expr_stumpff(g, 4, y), S5 = expr_stumpff(g, 5, y);
    struct coefficients e;
    e.a = expr_sub_product(g, expr_number(g, 0.5), y, S4);
    e.b = expr_sub_product(g, expr_number(g, 1.0 / 6), y, S5);
    e.da = expr_sub(g, S4, expr_scale(g, 0.5, e.b));
    e.db = expr_scale(g, 0.5, expr_sub(g, expr_scale(g, 3, S5), S4));
    return e;
}

/* Jl(theta) x = x + a theta x x + b theta x (theta x x) */
static struct vector left_jacobian_times(struct graph *g, const expr theta[3], const expr x[3])
{
    const struct coefficients e = coefficients_of(g, theta);
    const struct vector c = cross(g, theta, x), cc = cross(g, theta, c.e);
    struct vector w = {{x[0], x[1], x[2]}};
    add_scaled(g, 3, e.a, c.e, w.e);
    add_scaled(g, 3, e.b, cc.e, w.e);
    return w;
}

/* Columns (Jl Lambda_k; Phi_k), F fixed, through Jl e_i so that modes about one axis share it                         (theory.md 22) */
static void section_columns(const struct robot_parts *parts, int m, const struct section *shape, const expr theta[3],
                            expr (*J)[6])
{
    struct graph *g = parts->g;
    struct vector turn[3];
    for (int i = 0; i < 3; i++) {
        const expr e[3] = {i == 0 ? ONE : ZERO, i == 1 ? ONE : ZERO, i == 2 ? ONE : ZERO};
        turn[i] = left_jacobian_times(g, theta, e);
    }
    for (int k = 0; k < m; k++) {
        memset(J[k], 0, sizeof J[k]);
        for (int i = 0; i < 3; i++) {
            add_scaled(g, 3, constant(parts, &shape->Lambda[3 * k + i]), turn[i].e, J[k]);
            J[k][3 + i] = constant(parts, &shape->Phi[3 * k + i]);
        }
    }
}

/* H z, element k; 0 without foreshortening */
static expr H_times(const struct robot_parts *parts, const struct section *shape, int m, const expr *z, int k)
{
    expr sum = ZERO;
    for (int l = 0; shape->H != NULL && l < m; l++)
        sum = expr_add_product(parts->g, sum, constant(parts, &shape->H[PADDED(m) * k + l]), z[l]);
    return sum;
}

/* r = x + Phi eta - 1/2 eta' H eta e_x,   theta = Lambda eta */
static void displacement(const struct robot_parts *parts, const struct link_part *part, const struct section *shape,
                         expr r[3], expr theta[3])
{
    struct graph *g = parts->g;
    section_sums(parts, shape, part->m, part->eta, r, theta);
    for (int i = 0; i < 3; i++) r[i] = expr_add(g, r[i], constant(parts, &shape->x[i]));
    for (int k = 0; k < part->m; k++) {
        const expr half = expr_scale(g, 0.5, H_times(parts, shape, part->m, part->eta, k));
        r[0] = expr_sub_product(g, r[0], half, part->eta[k]);
    }
    name_turn(parts, part, shape, false, theta);
}

/* T from O; where the hinge node moves, J_T = J_T|F + (T relative to F) J_F                                  (22) */
static void place_section(const struct robot_parts *parts, const struct link_part *part, const struct section *shape,
                          struct section_part *s)
{
    struct graph *g = parts->g;
    displacement(parts, part, shape, s->r, s->theta);
    section_columns(parts, part->m, shape, s->theta, s->J);
    for (int k = 0; k < part->m; k++)
        s->J[k][3] = expr_sub(g, s->J[k][3], H_times(parts, shape, part->m, part->eta, k));
    for (int k = 0; part->hinge_moves && k < part->m; k++) {
        add_vector(g, 6, part->JF[k], s->J[k]);
        add_cross(g, part->JF[k], s->r, s->J[k] + 3);
    }
    for (int i = 0; part->hinge_moves && i < 3; i++) s->r[i] = expr_sub(g, s->r[i], part->hinge[i]);
}

/* ---- the hinge node ---------------------------------------------------------------------------------------------- */

/* J_F = (-W_k; W_k x rho_d - Phi_k),  W = Jl(theta_d) Lambda_d                                                       (21) */
void flexible_hinge(struct robot_parts *parts, struct link_part *part)
{
    struct graph *g = parts->g;
    const struct body *body = part->lm->body;
    part->hinge_moves = body->hinge_moves;
    if (!body->hinge_moves) return;
    displacement(parts, part, &body->hinge, part->hinge, part->theta_d);
    section_columns(parts, part->m, &body->hinge, part->theta_d, part->JF);
    for (int k = 0; k < part->m; k++) {
        for (int i = 0; i < 6; i++) part->JF[k][i] = negative(part->JF[k][i]);
        add_cross(g, part->hinge, part->JF[k], part->JF[k] + 3);
    }
}

void path_hinge(struct robot_parts *parts, const struct link_part *part, bool minus, struct path *path)
{
    expr theta[3];
    if (!part->hinge_moves) return;
    for (int i = 0; i < 3; i++) theta[i] = minus ? negative(part->theta_d[i]) : part->theta_d[i];
    path_deflection(parts->g, theta, path);
}

/* F minus O */
static struct vector frame_offset(const struct link_part *part)
{
    struct vector r = {{ZERO, ZERO, ZERO}};
    for (int i = 0; part->hinge_moves && i < 3; i++) r.e[i] = negative(part->hinge[i]);
    return r;
}

static struct solid solid_at_frame(const struct robot_parts *parts, const struct link_part *part)
{
    struct graph *g = parts->g;
    struct solid held = {.m = constant(parts, &part->lm->body->mass)};
    const expr trace = expr_add(g, expr_add(g, part->N[0], part->N[1]), part->N[2]);
    memcpy(held.h, part->c, sizeof held.h);
    for (int k = 0; k < 6; k++) held.J[k] = k < 3 ? expr_sub(g, trace, part->N[k]) : negative(part->N[k]);
    return held;
}

struct solid flexible_solid(struct robot_parts *parts, const struct link_part *part)
{
    struct solid held = solid_at_frame(parts, part);
    spatial_shift_solid(parts->g, frame_offset(part).e, &held);
    return held;
}

/* With V_F = X V_O + J_F eta_dot:  M_rf = X'(M_rf + M_rr J_F),
   M_ff = M_ff + J_F' M_rf + M_rf' J_F + J_F' M_rr J_F                                                                (24) */
static void refer_to_hinge(const struct robot_parts *parts, struct link_part *part)
{
    struct graph *g = parts->g;
    const int m = part->m;
    const struct solid held = solid_at_frame(parts, part);
    const struct spatial Mrr = spatial_of(&held);
    for (int k = 0; k < m; k++) {
        expr MJ[6];
        spatial_times(g, &Mrr, part->JF[k], MJ);
        for (int l = 0; l < m; l++) {
            expr *D = &part->D[m * l + k];
            *D = expr_add(g, *D, dot_n(g, 6, part->JF[l], MJ));
            *D = expr_add(g, *D, dot_n(g, 6, part->JF[l], part->F[k]));
            *D = expr_add(g, *D, dot_n(g, 6, part->F[l], part->JF[k]));
        }
    }
    for (int k = 0; k < m; k++) {
        expr MJ[6];
        spatial_times(g, &Mrr, part->JF[k], MJ);
        add_vector(g, 6, MJ, part->F[k]);
        add_cross(g, frame_offset(part).e, part->F[k] + 3, part->F[k]);
    }
}

/* ---- mass blocks ------------------------------------------------------------------------------------------------- */

/* rho_s = b_s + sum over t of G_st eta_k(t) e_a(t), the sum not in `ruthless`                                 (10) */
static void first_moments(const struct robot_parts *parts, struct link_part *part)
{
    const struct body *body = part->lm->body;
    const int n = body->n_shapes;
    for (int s = 0; s < n; s++)
        for (int a = 0; a < 3; a++) part->rho[s][a] = constant(parts, &body->b[n * a + s]);
    for (int s = 0; parts->model->terms != TERMS_RUTHLESS && s < n; s++)
        for (int t = 0; t < n; t++) {
            expr *sum = &part->rho[s][axis_of(body, t)];
            *sum = expr_add_product(parts->g, *sum, entry_or_zero(parts, body->G, n, s, t), part->eta[body->k[t]]);
        }
}

/* c = c0 + sum s_s eta_k e_a,   N = N0 + sum eta_k (e_a rho_s' + b_s e_a')                                      (9, 11) */
static void second_moments(const struct robot_parts *parts, struct link_part *part)
{
    struct graph *g = parts->g;
    const enum elastic_terms terms = parts->model->terms;
    const struct body *body = part->lm->body;
    const int n = body->n_shapes;
    for (int i = 0; i < 3; i++) part->c[i] = constant(parts, &body->c0[i]);
    for (int i = 0; i < 6; i++) part->N[i] = constant(parts, &body->N0[i]);
    for (int s = 0; terms != TERMS_RUTHLESS && s < n; s++) {
        const int a = axis_of(body, s);
        const expr eta = part->eta[body->k[s]];
        part->c[a] = expr_add_product(g, part->c[a], constant(parts, &body->s[s]), eta);
        for (int i = 0; i < 6; i++) {
            const int row = packed_row(i), column = packed_column(i);
            const expr rho = terms == TERMS_FULL ? part->rho[s][column] : constant(parts, &body->b[n * column + s]);
            if (row == a) part->N[i] = expr_add_product(g, part->N[i], eta, rho);
            if (column == a) part->N[i] = expr_add_product(g, part->N[i], constant(parts, &body->b[n * row + s]), eta);
        }
    }
}

/* M_rf: sum rho_s x e_a + JL;  sum s_s e_a                                                                         (12) */
static void coupling(const struct robot_parts *parts, struct link_part *part)
{
    struct graph *g = parts->g;
    const struct body *body = part->lm->body;
    for (int k = 0; k < part->m; k++)
        for (int i = 0; i < 6; i++) part->F[k][i] = i < 3 ? constant(parts, &body->JL[3 * k + i]) : ZERO;
    for (int s = 0; s < body->n_shapes; s++) {
        const int a = axis_of(body, s), b = (a + 1) % 3, c = (a + 2) % 3;
        expr *F = part->F[body->k[s]];
        F[b] = expr_add(g, F[b], part->rho[s][c]);
        F[c] = expr_sub(g, F[c], part->rho[s][b]);
        F[3 + a] = expr_add(g, F[3 + a], constant(parts, &body->s[s]));
    }
}

void flexible_configuration(struct robot_parts *parts, struct link_part *part)
{
    struct graph *g = parts->g;
    const struct body *body = part->lm->body;
    const int m = part->m;
    for (int s = 0; s < part->n_sections; s++)
        place_section(parts, part, &part->lm->section[s].shape, &part->section[s]);
    first_moments(parts, part);
    shortened_integrals(parts, part);
    geometric_field_at(parts, part);
    second_moments(parts, part);
    shortened_moments(parts, part);
    geometric_moments(parts, part);
    coupling(parts, part);
    shortened_coupling(g, part);
    geometric_couplings(g, part);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) part->D[m * i + j] = entry_or_zero(parts, body->Mff0, m, i, j);
    shortened_mass(g, part);
    geometric_mass(parts, part);
    if (part->hinge_moves) refer_to_hinge(parts, part);
}

/* ---- inertia forces ---------------------------------------------------------------------------------------------- */

/* r_dot = Phi eta_dot without foreshortening, and of theta = Lambda eta, td = Lambda eta_dot:  w = Jl td,
   wd = y_dot (da theta x td + db theta x (theta x td)) + b td x (theta x td),  y_dot = 2 theta . td      (6) */
static void section_rates(const struct robot_parts *parts, const struct link_part *part, const struct section *shape,
                          const expr theta[3], expr rd[3], expr w[3], expr wd[3])
{
    struct graph *g = parts->g;
    expr td[3];
    section_sums(parts, shape, part->m, part->etad, rd, td);
    name_turn(parts, part, shape, true, td);
    const struct coefficients e = coefficients_of(g, theta);
    const struct vector c = cross(g, theta, td), cc = cross(g, theta, c.e), tc = cross(g, td, c.e);
    const expr rate = expr_scale(g, 2, dot(g, theta, td));
    const struct vector jacobian = left_jacobian_times(g, theta, td);
    for (int i = 0; i < 3; i++) {
        const expr change = expr_add_product(g, expr_mul(g, e.da, c.e[i]), e.db, cc.e[i]);
        w[i] = jacobian.e[i];
        wd[i] = expr_add_product(g, expr_mul(g, rate, change), e.b, tc.e[i]);
    }
}

/* Motion of F from that of O, in axes of F (27):  omega = omega_O - w_d,  alpha = alpha_O - omega x w_d - wd_d,
   a = a_O - B rho - 2 omega x rho_dot */
static struct frame_part frame_motion(const struct robot_parts *parts, const struct link_part *part)
{
    struct graph *g = parts->g;
    struct frame_part F = *part->frame;
    expr rd[3], w[3], wd[3], B[9];
    if (!part->hinge_moves) return F;
    section_rates(parts, part, &part->lm->body->hinge, part->theta_d, rd, w, wd);
    for (int i = 0; i < 3; i++) {
        F.omega[i] = expr_sub(g, F.omega[i], w[i]);
        F.acc[i] = expr_sub(g, F.acc[i], wd[i]);
    }
    add_cross(g, w, F.omega, F.acc);
    spatial_point_accelerations(g, F.omega, F.acc, B);
    const struct vector Br = matrix_times(g, B, part->hinge), twice = scaled(g, 2, F.omega);
    add_scaled(g, 3, negative(ONE), Br.e, F.acc + 3);
    add_cross(g, rd, twice.e, F.acc + 3);
    return F;
}

/* Motion of T for eta_ddot = 0: omega + w,  alpha + omega x w + wd,  a + B r + 2 omega x r_dot                     (28) */
static void section_motion(const struct robot_parts *parts, const struct link_part *part, const struct section *shape,
                           const struct frame_part *F, const expr B[9], const struct section_part *s,
                           struct frame_part *T)
{
    struct graph *g = parts->g;
    expr r[3], rd[3], w[3], wd[3];
    section_rates(parts, part, shape, s->theta, rd, w, wd);
    expr rdd = ZERO; /* r_dot -= eta' H eta_dot e_x,   r_ddot = -eta_dot' H eta_dot e_x */
    for (int k = 0; k < part->m; k++) {
        rd[0] = expr_sub_product(g, rd[0], H_times(parts, shape, part->m, part->eta, k), part->etad[k]);
        rdd = expr_sub_product(g, rdd, H_times(parts, shape, part->m, part->etad, k), part->etad[k]);
    }
    memcpy(T->acc, F->acc, sizeof T->acc);
    memcpy(T->omega, F->omega, sizeof T->omega);
    for (int i = 0; i < 3; i++) r[i] = part->hinge_moves ? expr_add(g, s->r[i], part->hinge[i]) : s->r[i];
    const struct vector Br = matrix_times(g, B, r);
    add_vector(g, 3, w, T->omega);
    add_vector(g, 3, wd, T->acc);
    add_cross(g, F->omega, w, T->acc);
    const struct vector twice = scaled(g, 2, F->omega);
    add_vector(g, 3, Br.e, T->acc + 3);
    add_cross(g, twice.e, rd, T->acc + 3);
    T->acc[3] = expr_add(g, T->acc[3], rdd);
}

/* rho_dot_s = sum over t of G_st eta_dot_k(t) e_a(t) in the modal forces, and the sums of the rates               (16, 17) */
static void add_rates(struct robot_parts *parts, const expr omega[3], struct link_part *part, struct rates *rates)
{
    struct graph *g = parts->g;
    const enum elastic_terms terms = parts->model->terms;
    const struct body *body = part->lm->body;
    const int n = body->n_shapes;
    const struct vector twice = scaled(g, 2, omega);
    for (int k = 0; k < part->m; k++)
        for (int i = 0; i < 3; i++)
            rates->spin[i] = expr_add_product(g, rates->spin[i], constant(parts, &body->JL[3 * k + i]), part->etad[k]);
    for (int s = 0; s < n; s++) {
        const int a = axis_of(body, s);
        const expr zd = part->etad[body->k[s]];
        expr mu[3], rhod[3] = {ZERO, ZERO, ZERO}, *modal = &part->b_eta[body->k[s]];
        for (int i = 0; i < 3; i++)
            mu[i] = terms == TERMS_FULL ? part->rho[s][i] : constant(parts, &body->b[n * i + s]);
        for (int t = 0; t < n; t++)
            rhod[axis_of(body, t)] = expr_add_product(g, rhod[axis_of(body, t)], entry_or_zero(parts, body->G, n, s, t),
                                                      part->etad[body->k[t]]);
        rhod[0] = expr_add(g, rhod[0], shortened_rate(parts, part, body->k[s]));
        geometric_shape_rate(parts, part, s, rhod);
        *modal = expr_add(g, *modal, cross(g, twice.e, rhod).e[a]);
        rates->cd[a] = expr_add_product(g, rates->cd[a], constant(parts, &body->s[s]), zd);
        rates->Q_omega[a] = expr_add_product(g, rates->Q_omega[a], zd, dot(g, mu, omega));
        rates->trace = expr_add_product(g, rates->trace, zd, mu[a]);
    }
}

/* Inertia forces of the body at F:  modal_k = sum (s_s a + B rho_s) . e_a + JL_k . alpha, with the rates,
   of these: force 2 omega x c_dot,  moment 2 (tr(Q) omega - Q omega) + omega x spin                (15 to 17) */
static void body_forces(struct robot_parts *parts, const struct frame_part *F, const expr B[9], struct link_part *part)
{
    struct graph *g = parts->g;
    const struct body *body = part->lm->body;
    spatial_wrench_of(g, constant(parts, &body->mass), part->c, part->N, B, F->acc + 3, part->frame->b);
    for (int k = 0; k < part->m; k++) {
        part->b_eta[k] = ZERO;
        for (int i = 0; i < 3; i++)
            part->b_eta[k] = expr_add_product(g, part->b_eta[k], constant(parts, &body->JL[3 * k + i]), F->acc[i]);
    }
    for (int s = 0; s < body->n_shapes; s++) {
        const int a = axis_of(body, s);
        expr *modal = &part->b_eta[body->k[s]];
        *modal = expr_add_product(g, *modal, constant(parts, &body->s[s]), F->acc[3 + a]);
        *modal = expr_add(g, *modal, dot(g, B + 3 * a, part->rho[s]));
    }
    if (parts->model->terms == TERMS_RUTHLESS) return; /* rates are of first order */
    struct rates rates = {0};
    add_rates(parts, F->omega, part, &rates);
    shortened_force(parts, part, F->omega, F->acc[3], B, &rates);
    geometric_forces(parts, part, F->omega, F->acc, B, &rates);
    for (int i = 0; i < 3; i++) {
        const expr moment = expr_sub(g, expr_mul(g, rates.trace, F->omega[i]), rates.Q_omega[i]);
        part->frame->b[i] = expr_add(g, part->frame->b[i], expr_scale(g, 2, moment));
    }
    add_cross(g, F->omega, rates.spin, part->frame->b);
    add_cross(g, scaled(g, 2, F->omega).e, rates.cd, part->frame->b + 3);
}

void flexible_motion(struct robot_parts *parts, struct link_part *part)
{
    struct graph *g = parts->g;
    const struct frame_part F = frame_motion(parts, part);
    expr B[9], hub[6];
    spatial_point_accelerations(g, F.omega, F.acc, B);
    body_forces(parts, &F, B, part);
    if (part->hinge_moves) { /* at O */
        for (int k = 0; k < part->m; k++)
            part->b_eta[k] = expr_add(g, part->b_eta[k], dot_n(g, 6, part->JF[k], part->frame->b));
        add_cross(g, frame_offset(part).e, part->frame->b + 3, part->frame->b);
    }
    for (int s = 0; s < part->n_sections; s++)
        section_motion(parts, part, &part->lm->section[s].shape, &F, B, &part->section[s], &part->frame[1 + s]);
    spatial_solid_wrench(g, &part->solid, part->frame->omega, part->frame->acc, hub);
    add_vector(g, 6, hub, part->frame->b);
}
