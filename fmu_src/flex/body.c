/* Modal integrals of beams and nodal bodies. */
#include "flex/body.h"

#include <math.h>
#include <string.h>

#include "flex/axes.h"
#include "flex/quadrature.h"
#include "flex/shapes.h"
#include "math/dense.h"
#include "math/eigen.h"
#include "math/vec.h"

/* r = (x + a - f, v, w): the axis along which a family moves; twist does not move the beam axis */
static const int family_axis[FAMILY_COUNT] = {Y, Z, -1, X};
/* theta = (psi, -w', v'): the axis a family rotates about, from which derivative, with which sign */
static const int spin_axis[FAMILY_COUNT] = {Z, Y, X, -1};
static const int spin_order[FAMILY_COUNT] = {1, 1, 0, 0};
static const double spin_sign[FAMILY_COUNT] = {1, -1, 1, 0};

/* ---- storage ---------------------------------------------------------------------------------------------------- */

static enum status body_storage(struct arena *arena, struct body *body)
{
    const size_t m = (size_t)body->m, n = (size_t)body->n_shapes;
    body->k = arena_allocate(arena, n, sizeof *body->k);
    body->s = arena_allocate(arena, n, sizeof(double));
    body->b = arena_allocate(arena, 3 * n, sizeof(double));
    body->G = arena_allocate(arena, n * n, sizeof(double));
    body->JL = arena_allocate(arena, 3 * m, sizeof(double));
    arena_arrays(arena, m * m, ARRAYS(&body->Mff0, &body->K, &body->D));
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* N0 += tr(J)/2 I - J, so that tr(N) I - N includes the spin inertia J (theory.md 14) */
static void add_spin(double N0[6], const double J[6])
{
    const double half = 0.5 * (J[0] + J[1] + J[2]);
    for (int i = 0; i < 3; i++) N0[i] += half - J[i];
    for (int i = 3; i < 6; i++) N0[i] -= J[i];
}

/* ---- beams ------------------------------------------------------------------------------------------------------ */

/* First elastic coordinate of a family. */
static int family_start(const struct beam *beam, int family)
{
    int start = 0;
    for (int i = 0; i < family; i++) start += beam->family[i].count;
    return start;
}

static void lay_out_shapes(const struct beam *beam, struct body *body)
{
    static const int along[3] = {FAMILY_AXIAL, FAMILY_Y, FAMILY_Z};
    int s = 0;
    for (int a = X; a <= Z; a++) {
        body->axis_start[a] = s;
        for (int i = 0; i < beam->family[along[a]].count; i++, s++) body->k[s] = family_start(beam, along[a]) + i;
    }
    body->axis_start[3] = s;
}

/* All shape functions of a beam at one x: phi, phi', phi'' for each elastic coordinate. */
struct beam_functions {
    int m;
    struct shape_function *function; /* m     */
    int *family;                     /* m     */
    double *value;                   /* m x 3 */
    struct pair_integrals pairs;     /* of the foreshortening; n = 0: none */
    double node[GAUSS_POINTS], weight[GAUSS_POINTS];
    struct panels panels;
};

static enum status make_functions(const struct beam *beam, struct arena *arena, struct beam_functions *fn)
{
    fn->m = family_start(beam, FAMILY_COUNT);
    const size_t m = (size_t)fn->m;
    quadrature_gauss_legendre(fn->node, fn->weight);
    fn->function = arena_allocate(arena, m, sizeof *fn->function);
    fn->family = arena_allocate(arena, m, sizeof *fn->family);
    fn->value = arena_allocate(arena, 3 * m, sizeof(double));
    if (arena->failed) return STATUS_NO_MEMORY;
    int i = 0;
    for (int family = 0; family < FAMILY_COUNT; family++)
        for (int k = 1; k <= beam->family[family].count; k++, i++) {
            shape_make(beam, (enum family)family, k, &fn->function[i]);
            fn->family[i] = family;
        }
    fn->pairs.n = 0;
    if (quadrature_panels_make(beam, arena, &fn->panels) != STATUS_OK) return STATUS_NO_MEMORY;
    return beam->foreshortening ? shortening_pairs_make(beam, fn->m, arena, &fn->pairs) : STATUS_OK;
}

static void evaluate_functions(struct beam_functions *fn, double x)
{
    for (int i = 0; i < fn->m; i++) shape_value(&fn->function[i], x, fn->value + 3 * i);
}

/* h_ij += int_from^to phi'_i phi'_j dx for every pair */
static void add_slope_products(struct beam_functions *fn, double from, double to, double *h)
{
    for (int g = 0; g < GAUSS_POINTS; g++) {
        evaluate_functions(fn, from + (to - from) * fn->node[g]);
        const double w = (to - from) * fn->weight[g];
        for (int p = 0; p < fn->pairs.n; p++)
            h[p] += w * fn->value[3 * fn->pairs.i[p] + 1] * fn->value[3 * fn->pairs.j[p] + 1];
    }
}

/* The part of a beam that is integrated: the beam itself, or its added mass with factor 1, which has no rotary inertia and no
   stiffness. */
enum part { BARE, ADDED };

/* Modal mass, stiffness and spin; families do not couple */
static void add_mode_point(const struct body *body, const struct beam_functions *fn, const struct beam_properties *at,
                           double dx)
{
    const int m = body->m;
    const double stiffness[FAMILY_COUNT] = {at->EIz, at->EIy, at->GJ, at->EA};
    const int strain_order[FAMILY_COUNT] = {2, 2, 1, 1};
    const double dm = at->mass_per_length * dx, *J = at->inertia_per_length;
    for (int i = 0; i < m; i++) {
        const int family = fn->family[i], axis = spin_axis[family], d = strain_order[family];
        const double spin_i = spin_sign[family] * fn->value[3 * i + spin_order[family]];
        if (axis >= 0) body->JL[3 * i + axis] += J[axis] * spin_i * dx;
        for (int j = 0; j < m; j++) {
            if (fn->family[j] != family) continue;
            const double spin_j = spin_sign[family] * fn->value[3 * j + spin_order[family]];
            if (family_axis[family] >= 0) body->Mff0[m * i + j] += dm * fn->value[3 * i] * fn->value[3 * j];
            if (axis >= 0) body->Mff0[m * i + j] += J[axis] * spin_i * spin_j * dx;
            body->K[m * i + j] += stiffness[family] * fn->value[3 * i + d] * fn->value[3 * j + d] * dx;
        }
    }
}

/* Adds the integrand at x, with weight dx, to every integral over the beam except G of the pairs, which is summed panel by panel.
   Returns its mass. */
static double add_beam_point(const struct beam *beam, enum part part, struct body *body, struct beam_functions *fn,
                             double x, double dx)
{
    const struct pair_integrals *pairs = &fn->pairs;
    struct beam_properties at = beam_at(beam, x / beam->length);
    if (part == ADDED) {
        struct profile unit = beam->added_mass_per_length;
        unit.factor = 1;
        at = (struct beam_properties){.mass_per_length = beam_profile_at(&unit, x / beam->length)};
    }
    const int n = body->n_shapes;
    const double dm = at.mass_per_length * dx, *J = at.inertia_per_length;
    evaluate_functions(fn, x);
    for (int p = 0; p < pairs->n; p++) {
        const double h = dm * pairs->h[p];
        pairs->s[p] += h;
        pairs->b[p] += h * x;
        for (int k = 0; k < fn->m; k++)
            if (family_axis[fn->family[k]] >= 0) pairs->T[fn->m * p + k] += h * fn->value[3 * k];
    }
    body->mass += dm;
    body->c0[0] += dm * x;
    body->N0[0] += dm * x * x;
    for (int s = 0; s < n; s++) {
        const double phi = dm * fn->value[3 * body->k[s]];
        body->s[s] += phi;
        body->b[s] += x * phi;
        for (int t = s; t < n; t++) body->G[n * s + t] += phi * fn->value[3 * body->k[t]];
    }
    add_spin(body->N0, (const double[6]){J[0] * dx, J[1] * dx, J[2] * dx, 0, 0, 0});
    add_mode_point(body, fn, &at, dx);
    return dm;
}

static void integrate_beam(const struct beam *beam, enum part part, struct body *body, struct beam_functions *fn)
{
    for (int panel = 0; panel < fn->panels.n; panel++) {
        const double from = fn->panels.x[panel], to = fn->panels.x[panel + 1];
        double dm[GAUSS_POINTS];
        for (int g = 0; g < GAUSS_POINTS; g++) {
            const double x = from + (to - from) * fn->node[g];
            if (fn->pairs.n > 0) {
                fn->pairs.h = fn->pairs.row + (size_t)g * (size_t)PADDED(fn->pairs.n);
                memcpy(fn->pairs.h, fn->pairs.h_panel, (size_t)fn->pairs.n * sizeof(double));
                add_slope_products(fn, from, x, fn->pairs.h);
            }
            dm[g] = add_beam_point(beam, part, body, fn, x, (to - from) * fn->weight[g]);
        }
        if (fn->pairs.n == 0) continue;
        shortening_pairs_add_gram(&fn->pairs, dm);
        add_slope_products(fn, from, to, fn->pairs.h_panel);
    }
    for (int s = 0; s < body->n_shapes; s++)
        for (int t = 0; t < s; t++) body->G[body->n_shapes * s + t] = body->G[body->n_shapes * t + s];
}

/* Phi, Lambda and H of the section at x */
static enum status beam_section(const struct beam *beam, struct beam_functions *fn, double x, struct arena *arena,
                                struct section *section)
{
    const int m = fn->m, row = PADDED(m);
    double *Phi, *Lambda, *phi, *lambda;
    arena_arrays(arena, 3 * (size_t)m, ARRAYS(&Phi, &Lambda));
    arena_arrays(arena, (size_t)m, ARRAYS(&phi, &lambda));
    double *H = fn->pairs.n > 0 && x > 0 ? arena_allocate(arena, (size_t)(m * row), sizeof *H) : NULL;
    int *axis = arena_allocate(arena, (size_t)m, sizeof *axis), *turn = arena_allocate(arena, (size_t)m, sizeof *turn);
    if (arena->failed) return STATUS_NO_MEMORY;

    if (H != NULL) {
        const struct pair_integrals *pairs = &fn->pairs;
        memset(pairs->h, 0, (size_t)pairs->n * sizeof(double));
        const int panels = quadrature_panels_for_shapes(beam);
        for (int panel = 0; panel < panels; panel++)
            add_slope_products(fn, x * panel / panels, x * (panel + 1) / panels, pairs->h);
        for (int p = 0; p < pairs->n; p++)
            H[row * pairs->i[p] + pairs->j[p]] = H[row * pairs->j[p] + pairs->i[p]] = pairs->h[p];
    }
    evaluate_functions(fn, x);
    for (int i = 0; i < m; i++) {
        const int family = fn->family[i];
        axis[i] = family_axis[family] >= 0 ? family_axis[family] : X;
        turn[i] = spin_axis[family] >= 0 ? spin_axis[family] : X;
        if (family_axis[family] >= 0) Phi[3 * i + family_axis[family]] = phi[i] = fn->value[3 * i];
        if (spin_axis[family] >= 0)
            Lambda[3 * i + spin_axis[family]] = lambda[i] = spin_sign[family] * fn->value[3 * i + spin_order[family]];
    }
    *section = (struct section){
        .x = {x}, .Phi = Phi, .Lambda = Lambda, .H = H, .phi = phi, .lambda = lambda, .axis = axis, .turn = turn};
    return STATUS_OK;
}

/* D = Mff V diag(2 zeta w) V' Mff + alpha Mff + beta K,  V the mass-normalized modes (theory.md 18) */
static enum status beam_damping(const struct beam *beam, struct body *body, struct arena *scratch)
{
    const int m = body->m;
    const size_t mm = (size_t)(m * m);
    for (int i = 0; i < m * m; i++) body->D[i] = beam->rayleigh[0] * body->Mff0[i] + beam->rayleigh[1] * body->K[i];
    if (beam->damping_ratio == 0) return STATUS_OK;
    double *V = arena_allocate(scratch, mm, sizeof *V), *w2 = arena_allocate(scratch, (size_t)m, sizeof *w2);
    double *MV = arena_allocate(scratch, mm, sizeof *MV), *work = arena_allocate(scratch, 3 * mm, sizeof *work);
    if (scratch->failed) return STATUS_NO_MEMORY;
    if (eigen_generalized(m, body->K, body->Mff0, work, V, w2) != 0) return STATUS_NOT_POSITIVE;

    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < m; k++) MV[m * i + j] += body->Mff0[m * i + k] * V[m * k + j];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double d = 0;
            for (int k = 0; k < m; k++)
                d += 2 * beam->damping_ratio * sqrt(fmax(w2[k], 0)) * MV[m * i + k] * MV[m * j + k];
            body->D[m * i + j] += d;
        }
    return STATUS_OK;
}

/* Whether O can differ from F: the hinge node is not at the origin, or some mode moves it. */
static bool section_differs(const struct section *hinge, int m)
{
    bool differs = hinge->x[0] != 0 || hinge->x[1] != 0 || hinge->x[2] != 0;
    for (int i = 0; i < 3 * m; i++) differs = differs || hinge->Phi[i] != 0 || hinge->Lambda[i] != 0;
    return differs;
}

/* The integrals of a beam by mode instead of by shape */
static enum status integrals_by_mode(struct body *body, struct arena *arena)
{
    const int m = body->m, n = body->n_shapes, row = PADDED(m);
    const size_t size = (size_t)row;
    arena_arrays(arena, size, ARRAYS(&body->mode_s, &body->mode_b, &body->mode_JL, &body->zeros));
    body->mode_G = arena_allocate(arena, (size_t)m * size, sizeof *body->mode_G);
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < n; i++) {
        body->mode_s[body->k[i]] = body->s[i];
        body->mode_b[body->k[i]] = body->b[i];
        for (int j = 0; j < n; j++) body->mode_G[row * body->k[i] + body->k[j]] = body->G[n * i + j];
    }
    for (int k = 0; k < m; k++) body->mode_JL[k] = body->JL[3 * k + body->tip.turn[k]];
    return STATUS_OK;
}

/* All integrals of a part of the beam, and its sections at hinge and tip */
static enum status make_part(const struct beam *beam, enum part part, struct arena *arena, struct arena *scratch,
                             struct body *body)
{
    struct beam_functions fn;
    body->m = family_start(beam, FAMILY_COUNT);
    body->n_shapes = body->m - beam->family[FAMILY_TWIST].count;
    if (body_storage(arena, body) != STATUS_OK || make_functions(beam, scratch, &fn) != STATUS_OK)
        return STATUS_NO_MEMORY;
    lay_out_shapes(beam, body);
    for (int family = 0; family < FAMILY_COUNT; family++)
        if (beam->family[family].count > 0) body->block_start[body->n_blocks++] = family_start(beam, family);
    body->block_start[body->n_blocks] = body->m;
    integrate_beam(beam, part, body, &fn);
    /* Eigenfunctions are orthogonal with respect to K: other terms are rounding errors of the quadrature and are set to zero */
    const int m = body->m;
    double *K = body->K;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            if (i != j && fabs(K[m * i + j]) <= 1e-13 * sqrt(K[(m + 1) * i] * K[(m + 1) * j])) K[m * i + j] = 0;

    if (beam_section(beam, &fn, 0, arena, &body->hinge) != STATUS_OK) return STATUS_NO_MEMORY;
    if (beam_section(beam, &fn, beam->length, arena, &body->tip) != STATUS_OK) return STATUS_NO_MEMORY;
    body->hinge_moves = section_differs(&body->hinge, body->m);
    body->beam = true;
    if (integrals_by_mode(body, arena) != STATUS_OK) return STATUS_NO_MEMORY;
    if (fn.pairs.n > 0) {
        struct shortening *shortening;
        if (shortening_make(beam, body, &fn.pairs, arena, &shortening) != STATUS_OK) return STATUS_NO_MEMORY;
        body->shortening = shortening;
    }
    return STATUS_OK;
}

/* D does not depend on the added mass: it is computed before that is added */
static enum status make_beam(const struct beam *beam, struct arena *arena, struct arena *scratch, struct body *body)
{
    enum status status = make_part(beam, BARE, arena, scratch, body);
    if (status != STATUS_OK) return status;
    status = beam_damping(beam, body, scratch);

    /* Families do not couple in D: entries between their blocks are rounding errors of the eigenvectors */
    const int m = body->m, *start = body->block_start;
    for (int b = 0; b < body->n_blocks; b++)
        for (int i = start[b]; i < start[b + 1]; i++)
            for (int j = 0; j < m; j++)
                if (j < start[b] || j >= start[b + 1]) body->D[m * i + j] = 0;
    if (status != STATUS_OK || (beam->given & (GIVEN_ADDED_MASS | TABLE_ADDED_MASS)) == 0) return status;

    struct body *unit = arena_allocate(arena, 1, sizeof *unit);
    if (unit == NULL) return STATUS_NO_MEMORY;
    status = make_part(beam, ADDED, arena, scratch, unit);
    if (status == STATUS_OK) status = added_mass_make(unit, arena, body);
    if (status == STATUS_OK) body_set_added_mass(body, beam->added_mass_per_length.factor);
    return status;
}

/* ---- nodal bodies ----------------------------------------------------------------------------------------------- */

/* Adds a node; Psi: scratch, 3 x modes */
static void add_node(const struct nodal *nodal, const struct node *node, struct body *body, double *Psi)
{
    const int m = nodal->modes, n = body->n_shapes;
    const double mu = node->body.mass, *I = node->body.inertia;
    double r0[3];
    for (int i = 0; i < 3; i++) r0[i] = node->position[i] + node->body.com[i];

    body->mass += mu;
    axpy3(mu, r0, body->c0);
    const double rr[6] = {r0[0] * r0[0], r0[1] * r0[1], r0[2] * r0[2], r0[0] * r0[1], r0[0] * r0[2], r0[1] * r0[2]};
    for (int i = 0; i < 6; i++) body->N0[i] += mu * rr[i];
    add_spin(body->N0, I);
    for (int k = 0; k < m; k++) { /* Psi = Phi - [p]x Lambda: displacement of the node's center of mass */
        const double lambda[3] = {node->rotation[k], node->rotation[m + k], node->rotation[2 * m + k]};
        double turned[3];
        cross3(lambda, node->body.com, turned);
        for (int a = 0; a < 3; a++) Psi[m * a + k] = node->translation[m * a + k] + turned[a];
    }
    for (int s = 0; s < n; s++) { /* shape s = m a + k moves along a with Psi_ak: the same order as in the arrays */
        body->s[s] += mu * Psi[s];
        for (int a = 0; a < 3; a++) body->b[n * a + s] += mu * Psi[s] * r0[a];
        for (int t = 0; t < n; t++) body->G[n * s + t] += mu * Psi[s] * Psi[t];
    }
    for (int k = 0; k < m; k++) {
        const double lambda[3] = {node->rotation[k], node->rotation[m + k], node->rotation[2 * m + k]};
        double Il[3];
        symmul3(I, lambda, Il);
        axpy3(1, Il, body->JL + 3 * k);
        for (int j = 0; j < m; j++)
            for (int a = 0; a < 3; a++)
                body->Mff0[m * k + j] += mu * Psi[m * a + k] * Psi[m * a + j] + Il[a] * node->rotation[m * a + j];
    }
}

static enum status node_section(const struct nodal *nodal, int index, struct arena *arena, struct section *section)
{
    const int m = nodal->modes;
    const struct node *node = &nodal->node[index];
    double *Phi, *Lambda;
    arena_arrays(arena, 3 * (size_t)m, ARRAYS(&Phi, &Lambda));
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int k = 0; k < m; k++)
        for (int a = 0; a < 3; a++) {
            Phi[3 * k + a] = node->translation[m * a + k];
            Lambda[3 * k + a] = node->rotation[m * a + k];
        }
    *section = (struct section){.Phi = Phi, .Lambda = Lambda};
    copy3(node->position, section->x);
    return STATUS_OK;
}

static enum status make_nodal(const struct nodal *nodal, struct arena *arena, struct arena *scratch, struct body *body)
{
    const int m = nodal->modes;
    body->m = m;
    body->n_shapes = 3 * m;
    double *Psi = arena_allocate(scratch, 3 * (size_t)m, sizeof *Psi);
    if (scratch->failed || body_storage(arena, body) != STATUS_OK) return STATUS_NO_MEMORY;
    for (int s = 0; s < 3 * m; s++) body->k[s] = s % m;
    for (int a = 0; a <= 3; a++) body->axis_start[a] = a * m;
    body->n_blocks = 1;
    body->block_start[1] = m;
    for (int i = 0; i < nodal->n_nodes; i++) add_node(nodal, &nodal->node[i], body, Psi);
    memcpy(body->K, nodal->stiffness, (size_t)(m * m) * sizeof(double));
    memcpy(body->D, nodal->damping, (size_t)(m * m) * sizeof(double));

    if (nodal->geometric != NULL && geometric_make(nodal, body, arena, &body->geometric) != STATUS_OK)
        return STATUS_NO_MEMORY;
    if (node_section(nodal, nodal->hinge_node, arena, &body->hinge) != STATUS_OK) return STATUS_NO_MEMORY;
    body->hinge_moves = section_differs(&body->hinge, m);
    return node_section(nodal, nodal->tip_node, arena, &body->tip);
}

/* ---- both ------------------------------------------------------------------------------------------------------- */

static enum status check_mass(struct body *body, struct arena *scratch)
{
    const int m = body->m;
    const size_t mm = (size_t)(m * m);
    double *U = arena_allocate(scratch, mm, sizeof *U),
           *inverse_d = arena_allocate(scratch, (size_t)m, sizeof *inverse_d);
    if (scratch->failed) return STATUS_NO_MEMORY;
    memcpy(U, body->Mff0, mm * sizeof *U);
    if (cholesky_factor(m, U, inverse_d) != 0) return STATUS_NOT_POSITIVE;
    body->independence = 1;
    for (int i = 0; i < m; i++)
        body->independence = fmin(body->independence, 1 / (inverse_d[i] * body->Mff0[(m + 1) * i]));
    return STATUS_OK;
}

enum status body_make(const struct link *link, struct arena *arena, struct body *body)
{
    struct arena scratch = {0};
    memset(body, 0, sizeof *body);
    enum status status = link->type == BODY_BEAM ? make_beam(&link->beam, arena, &scratch, body)
                                                 : make_nodal(&link->nodal, arena, &scratch, body);
    if (status == STATUS_OK) status = check_mass(body, &scratch);
    if (status == STATUS_OK) {
        body->diagonal = true;
        for (int i = 0; i < body->m * body->m; i++) {
            if (i % (body->m + 1) != 0 && body->K[i] != 0) body->diagonal = false;
            if (body->D[i] != 0) body->damped = true;
        }
    }
    arena_release(&scratch);
    return status;
}

void body_report(const struct link *link, int index, enum status status, const struct body *body, struct report *report)
{
    const bool beam = link->type == BODY_BEAM;
    const char *place = beam ? "beam.modes" : "nodal";
    if (status == STATUS_NOT_POSITIVE)
        report_add(report, REPORT_ERROR,
                   "links[%d].%s: the modal mass matrix of link '%s' is not positive definite to working precision: %s",
                   index, place, link->name,
                   beam ? "use fewer modes, or shapes that are less similar (polynomials soon become nearly dependent)"
                        : "its modes must be linearly independent, and each must move some mass");
    else if (status == STATUS_OK && body->independence < 1e-7)
        report_add(
            report, REPORT_WARNING,
            "links[%d].%s: the shapes are nearly dependent: accelerations of single modes lose %.0f of 16 digits; use "
            "fewer modes or craig-bampton",
            index, place, -log10(body->independence));
}

enum status body_section(const struct link *link, double x, int node, struct arena *arena, struct section *section)
{
    if (link->type == BODY_NODAL) return node_section(&link->nodal, node, arena, section);

    struct arena scratch = {0};
    struct beam_functions fn;
    enum status status = make_functions(&link->beam, &scratch, &fn);
    if (status == STATUS_OK) status = beam_section(&link->beam, &fn, x, arena, section);
    arena_release(&scratch);
    return status;
}
