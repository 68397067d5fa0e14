#include "generate/loops.h"

#include <string.h>

/* ---- directions -------------------------------------------------------------------------------------------------- */

/* A vector of our world frame in axes of a part */
static struct vector world_to_part(struct robot_parts *parts, int part, struct vector x)
{
    if (part < 0) return x;
    return path_forth(parts->g, &parts->part[part].path, world_to_part(parts, parts->part[part].parent, x));
}

/* A vector in axes of a part in our world frame */
static struct vector part_to_world(struct robot_parts *parts, int part, struct vector x)
{
    for (; part >= 0; part = parts->part[part].parent) x = path_back(parts->g, &parts->part[part].path, x);
    return x;
}

/* A vector of the world in our world frame: R' x */
static struct vector world_to_ours(struct robot_parts *parts, const expr x[3])
{
    return transposed_numbers_times(parts->g, parts->world.R, x);
}

static void make_site(struct robot_parts *parts, const struct anchor *anchor, struct site_part *site)
{
    path_to_anchor(parts, anchor, &site->part, &site->section, &site->path);
    struct vector r = {{ZERO, ZERO, ZERO}};
    for (int i = site->path.n - 1; i >= 0; i--) {
        const struct element *e = &site->path.element[i];
        if (e->move == SLIDE) r.e[e->axis] = expr_add(parts->g, r.e[e->axis], e->amount);
        else path_element_back(parts->g, e, r.e);
    }
    memcpy(site->r, r.e, sizeof r.e);
}

/* A vector fixed in the anchor's frame, in axes of our world */
static struct vector anchor_to_world(struct robot_parts *parts, const struct site_part *site, const double x[3])
{
    struct vector v;
    for (int i = 0; i < 3; i++) v.e[i] = expr_number(parts->g, x[i]);
    return part_to_world(parts, site->part, path_back(parts->g, &site->path, v));
}

/* (r x u; u), u in axes of what carries the site */
static void force_wrench(struct graph *g, const struct site_part *site, const struct vector *u, expr wrench[6])
{
    const struct vector moment = cross(g, site->r, u->e);
    memcpy(wrench, moment.e, sizeof moment.e);
    memcpy(wrench + 3, u->e, sizeof u->e);
}

/* u or c = a x b in axes of our world */
static struct vector direction_of(struct robot_parts *parts, const struct constraint_part *row)
{
    struct graph *g = parts->g;
    const struct equation *e = row->equation;
    if (e->turns) return anchor_to_world(parts, &row->side[SIDE_PLANE], e->u);
    if (e->rotational) {
        const struct vector a = anchor_to_world(parts, &row->side[SIDE_A], e->a),
                            b = anchor_to_world(parts, &row->side[SIDE_B], e->b);
        return cross(g, a.e, b.e);
    }
    const expr u[3] = {expr_number(g, e->u[0]), expr_number(g, e->u[1]), expr_number(g, e->u[2])};
    return world_to_ours(parts, u);
}

/* Unit multipliers: (r x u; u) and (-r x u; -u), or (c; 0) and (-c; 0); on a plane that turns (u x (p_A - p_B); 0)   (96) */
static void make_row(struct robot_parts *parts, const struct anchor *anchor, struct constraint_part *row)
{
    struct graph *g = parts->g;
    const struct equation *e = row->equation;
    row->n_sides = e->turns ? LOOP_SITES : SIDE_PLANE;
    for (int s = 0; s < row->n_sides; s++) make_site(parts, &anchor[s], &row->side[s]);
    row->direction = direction_of(parts, row);
    for (int s = 0; s < SIDE_PLANE; s++) {
        const struct vector u = world_to_part(parts, row->side[s].part, row->direction);
        memset(row->wrench[s], 0, sizeof row->wrench[s]);
        if (e->rotational) memcpy(row->wrench[s], u.e, sizeof u.e);
        else force_wrench(g, &row->side[s], &u, row->wrench[s]);
        for (int i = 0; s == SIDE_B && i < 6; i++) row->wrench[s][i] = negative(row->wrench[s][i]);
    }
    if (!e->turns) return;
    const struct placed A = frames_anchor(parts, &anchor[SIDE_A]), B = frames_anchor(parts, &anchor[SIDE_B]);
    const struct vector v_A = matrix_times(g, A.R, A.v), v_B = matrix_times(g, B.R, B.v);
    expr p[3], v[3];
    for (int i = 0; i < 3; i++) {
        p[i] = expr_sub(g, A.p[i], B.p[i]);
        v[i] = expr_sub(g, v_A.e[i], v_B.e[i]);
    }
    row->distance = world_to_ours(parts, p);
    row->rate = world_to_ours(parts, v);
    const struct vector moment =
        world_to_part(parts, row->side[SIDE_PLANE].part, cross(g, row->direction.e, row->distance.e));
    memcpy(row->wrench[SIDE_PLANE], moment.e, sizeof moment.e);
}

void loops_make(struct robot_parts *parts, struct loop_parts *loops)
{
    const struct constraints *constraints = parts->mechanism->constraints;
    const size_t n = (size_t)constraints->n_active, nv = (size_t)parts->model->nv;
    loops->n = constraints->n_active;
    loops->row = arena_allocate(&parts->arena, n, sizeof *loops->row);
    loops->unit = arena_allocate(&parts->arena, n, sizeof *loops->unit);
    loops->weighted = arena_allocate(&parts->arena, n, sizeof *loops->weighted);
    loops->inverse_pivot = arena_allocate(&parts->arena, nv, sizeof(expr));
    loops->S = arena_allocate(&parts->arena, n * n, sizeof(expr));
    loops->inverse_d = arena_allocate(&parts->arena, n, sizeof(expr));
    for (int i = 0; !parts->arena.failed && i < loops->n; i++) {
        const int row = constraints->active[i];
        const struct constraint *c = constraints->of_row[row];
        if (c->kind == &coupling_constraint) {
            loops->row[i].coupling = &parts->model->robot->coupling[c->part];
        } else {
            loops->row[i].equation = &constraints->loop[c->part].equation[row - c->first];
            make_row(parts, parts->model->site + parts->model->robot->loop[c->part].site, &loops->row[i]);
        }
        loops->weighted[i] = arena_allocate(&parts->arena, nv, sizeof(expr));
        residual_make(parts, &loops->unit[i]);
    }
}

/* ---- accelerations of gaps ----------------------------------------------------------------------------------------- */

static struct frame_part *site_frame(const struct robot_parts *parts, const struct site_part *site)
{
    return &parts->part[site->part].frame[1 + site->section];
}

/* (omega; alpha) of a side in axes of our world */
static void side_rotation(struct robot_parts *parts, const struct site_part *site, struct vector *omega,
                          struct vector *alpha)
{
    memset(omega, 0, sizeof *omega);
    memset(alpha, 0, sizeof *alpha);
    if (site->part < 0) return;
    const expr *w = site_frame(parts, site)->omega, *acc = site_frame(parts, site)->acc;
    *omega = part_to_world(parts, site->part, (struct vector){{w[0], w[1], w[2]}});
    *alpha = part_to_world(parts, site->part, (struct vector){{acc[0], acc[1], acc[2]}});
}

/* c'(alpha_A - alpha_B) + c_dot'(omega_A - omega_B),  c_dot = (omega_A x a) x b + a x (omega_B x b)                   (51) */
static expr rotation_acceleration(struct robot_parts *parts, const struct constraint_part *row)
{
    struct graph *g = parts->g;
    struct vector omega[2], alpha[2], difference, turn;
    for (int s = 0; s < 2; s++) side_rotation(parts, &row->side[s], &omega[s], &alpha[s]);
    const struct vector a = anchor_to_world(parts, &row->side[0], row->equation->a),
                        b = anchor_to_world(parts, &row->side[1], row->equation->b), c = cross(g, a.e, b.e),
                        wa = cross(g, omega[0].e, a.e), wb = cross(g, omega[1].e, b.e);
    struct vector cd = cross(g, wa.e, b.e);
    add_cross(g, a.e, wb.e, cd.e);
    for (int i = 0; i < 3; i++) {
        difference.e[i] = expr_sub(g, alpha[0].e[i], alpha[1].e[i]);
        turn.e[i] = expr_sub(g, omega[0].e[i], omega[1].e[i]);
    }
    return expr_add(g, dot(g, c.e, difference.e), dot(g, cd.e, turn.e));
}

/* sum of c_i qdd_i                                                                                                    (112) */
static expr coupling_acceleration(struct robot_parts *parts, const struct coupling *coupling, const expr *qdd)
{
    expr sum = ZERO;
    for (int i = 0; i < coupling->n_terms; i++) {
        const struct coupling_term *term = &coupling->term[i];
        const expr given = motion_given_acceleration(parts, &parts->model->link[term->link], term->k, qdd);
        sum = expr_add(parts->g, sum, expr_scale(parts->g, term->factor, given));
    }
    return sum;
}

/* u'(a + B r) of both sides, with their signs; the base accelerates with minus gravity, which is added again. If the plane of the gap
   turns, also 2 u_dot'(v_A - v_B) + u_ddot'(p_A - p_B)                                                                (95) */
expr loops_gap_acceleration(struct robot_parts *parts, const struct constraint_part *row, const expr *qdd)
{
    struct graph *g = parts->g;
    expr sum = ZERO;
    if (row->coupling != NULL) return coupling_acceleration(parts, row->coupling, qdd);
    if (row->equation->rotational) return rotation_acceleration(parts, row);
    for (int s = 0; s < SIDE_PLANE; s++) {
        const struct site_part *site = &row->side[s];
        expr B[9], a[3];
        if (site->part < 0) continue;
        const struct frame_part *frame = site_frame(parts, site);
        spatial_point_accelerations(g, frame->omega, frame->acc, B);
        const struct vector Br = matrix_times(g, B, site->r);
        for (int i = 0; i < 3; i++) a[i] = expr_add(g, frame->acc[3 + i], Br.e[i]);
        sum = expr_add(g, sum, dot(g, a, row->wrench[s] + 3));
    }
    if (row->equation->turns) { /* u_dot = omega x u,  u_ddot = alpha x u + omega x u_dot */
        struct vector omega, alpha;
        side_rotation(parts, &row->side[SIDE_PLANE], &omega, &alpha);
        const struct vector ud = cross(g, omega.e, row->direction.e);
        struct vector udd = cross(g, alpha.e, row->direction.e);
        add_cross(g, omega.e, ud.e, udd.e);
        const expr change = dot(g, udd.e, row->distance.e), rate = dot(g, ud.e, row->rate.e);
        sum = expr_add(g, sum, expr_add(g, expr_scale(g, 2, rate), change));
    }
    const expr gravity = dot(g, row->direction.e, parts->gravity); /* the same on both sides, except on the world */
    if (row->side[SIDE_B].part < 0) sum = expr_add(g, sum, gravity);
    if (row->side[SIDE_A].part < 0) sum = expr_sub(g, sum, gravity);
    return sum;
}

/* ---- multipliers ------------------------------------------------------------------------------------------------- */

void loops_add_row(struct robot_parts *parts, const struct constraint_part *row, expr lambda, expr *force)
{
    for (int s = 0; s < row->n_sides; s++) {
        const struct site_part *site = &row->side[s];
        expr wrench[6] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
        add_scaled(parts->g, 6, lambda, row->wrench[s], wrench);
        inverse_project_wrench(parts, site->part, site->section, wrench, force);
    }
    for (int i = 0; row->coupling != NULL && i < row->coupling->n_terms; i++) {
        const struct coupling_term *term = &row->coupling->term[i];
        expr *sum = &force[parts->model->link[term->link].v + term->k];
        *sum = expr_add(parts->g, *sum, expr_scale(parts->g, term->factor, lambda));
    }
}

/* S = L Delta L' */
static void factor_S(struct graph *g, int n, expr *S, expr *inverse_d)
{
    for (int k = 0; k < n; k++) {
        inverse_d[k] = expr_div(g, ONE, S[(n + 1) * k]);
        for (int i = k + 1; i < n; i++) {
            const expr L = expr_mul(g, inverse_d[k], S[n * i + k]);
            for (int j = k + 1; j <= i; j++) S[n * i + j] = expr_sub_product(g, S[n * i + j], L, S[n * j + k]);
        }
        for (int i = k + 1; i < n; i++) S[n * i + k] = expr_mul(g, inverse_d[k], S[n * i + k]);
    }
}

/* With the residuals of a unit wrench, S_ij = sum over pivots of u_i u_j/D: no outward sweep is needed */
void loops_factor(struct robot_parts *parts, struct loop_parts *loops)
{
    struct graph *g = parts->g;
    const int nv = parts->model->nv, n = loops->n;
    expr *Q = arena_allocate(&parts->arena, (size_t)nv, sizeof *Q);
    if (Q == NULL) return;
    for (int i = 0; i < parts->n; i++) {
        const struct link_part *part = &parts->part[i];
        for (int e = 0; e < part->path.n; e++)
            if (part->path.element[e].move == COLUMN && part->lm->prescribed < 0)
                loops->inverse_pivot[part->lm->v + part->path.element[e].k] = part->column[e].inverse_D;
        for (int k = 0; k < part->m; k++) loops->inverse_pivot[part->lm->eta_v + k] = part->inverse_d[k];
    }
    for (int i = 0; i < n; i++) {
        struct residual *r = &loops->unit[i];
        for (int s = 0; s < loops->row[i].n_sides; s++) {
            const struct site_part *site = &loops->row[i].side[s];
            if (site->part >= 0)
                add_scaled(g, 6, negative(ONE), loops->row[i].wrench[s], r->z[site->part][1 + site->section]);
        }
        memset(Q, 0, (size_t)nv * sizeof *Q);
        if (loops->row[i].coupling != NULL) loops_add_row(parts, &loops->row[i], ONE, Q);
        parts_gather(parts, r, Q);
        for (int k = 0; k < nv; k++) loops->weighted[i][k] = expr_mul(g, loops->inverse_pivot[k], r->u[k]);
        for (int j = 0; j <= i; j++) loops->S[n * i + j] = dot_n(g, nv, loops->weighted[j], r->u);
    }
    factor_S(g, n, loops->S, loops->inverse_d);
}

void loops_close(struct robot_parts *parts, const struct loop_parts *loops, const expr *gap, struct residual *r,
                 expr *lambda)
{
    struct graph *g = parts->g;
    const int nv = parts->model->nv, n = loops->n;
    for (int i = 0; i < n; i++) {
        lambda[i] = negative(expr_add(g, dot_n(g, nv, loops->weighted[i], r->u), gap[i]));
        for (int j = 0; j < i; j++) lambda[i] = expr_sub_product(g, lambda[i], loops->S[n * i + j], lambda[j]);
    }
    for (int i = n - 1; i >= 0; i--) {
        lambda[i] = expr_mul(g, loops->inverse_d[i], lambda[i]);
        for (int j = i + 1; j < n; j++) lambda[i] = expr_sub_product(g, lambda[i], loops->S[n * j + i], lambda[j]);
    }
    for (int i = 0; i < n; i++) add_scaled(g, nv, lambda[i], loops->unit[i].u, r->u);
}

/* ---- loads ------------------------------------------------------------------------------------------------------- */

/* b -= factor wrench */
static void load_with(struct robot_parts *parts, const struct site_part *site, expr by, const expr wrench[6])
{
    if (site->part >= 0) add_scaled(parts->g, 6, negative(by), wrench, site_frame(parts, site)->b);
}

void loops_apply(struct robot_parts *parts, const struct loop_parts *loops, const expr *lambda)
{
    for (int i = 0; i < loops->n; i++)
        for (int s = 0; s < loops->row[i].n_sides; s++)
            load_with(parts, &loops->row[i].side[s], lambda[i], loops->row[i].wrench[s]);
}

void loops_apply_wrench(struct robot_parts *parts, const struct anchor *anchor, const expr given[6])
{
    struct site_part site;
    expr wrench[6];
    make_site(parts, anchor, &site);
    const struct vector torque = world_to_part(parts, site.part, world_to_ours(parts, given)),
                        force = world_to_part(parts, site.part, world_to_ours(parts, given + 3));
    force_wrench(parts->g, &site, &force, wrench);
    add_vector(parts->g, 3, torque.e, wrench);
    load_with(parts, &site, ONE, wrench);
}
