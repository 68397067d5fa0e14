/* Derivatives with respect to masses: payloads, and the added mass of beams. At constant motion, the wrench of a payload and the
   forces of an added mass change; the latter are linear in its factor, so their change is the force of the unit mass. (theory.md 18c) */
#include "dyn/dyn.h"
#include "dyn/tangent.h"
#include "flex/beam.h"
#include "math/vec.h"

/* ---- payloads ---------------------------------------------------------------------------------------------------- */

/* J += s (2 (a.b) 1 - a b' - b a') / 2: for a = b the inertia of a point mass s at a */
static void add_point_inertia(double s, const double a[3], const double b[3], double J[6])
{
    for (int i = 0; i < 3; i++) J[i] += s * (dot3(a, b) - a[i] * b[i]);
    J[3] -= 0.5 * s * (a[0] * b[1] + a[1] * b[0]);
    J[4] -= 0.5 * s * (a[0] * b[2] + a[2] * b[0]);
    J[5] -= 0.5 * s * (a[1] * b[2] + a[2] * b[1]);
}

/* Change of the payload about the tip, in T; of a rigid link about O:
   d h = dm c + m dc,   d J = dI + dm (|c|^2 1 - c c') + m (2 c.dc 1 - c dc' - dc c') */
static struct rigid payload_change(const struct link *link, const struct link_model *lm, double dm, const double *dcom,
                                   const double *dinertia)
{
    const double m = link->payload.mass;
    double c[3], dc[3];
    struct rigid d = {.m = dm};
    if (lm->body == NULL) {
        copy3(lm->tip.p, c);
        add_mul3(lm->tip.R, link->payload.com, c);
        mul3(lm->tip.R, dcom, dc);
        rotate_sym3(lm->tip.R, dinertia, d.J);
    } else {
        copy3(link->payload.com, c);
        copy3(dcom, dc);
        copy6(dinertia, d.J);
    }
    for (int i = 0; i < 3; i++) d.h[i] = dm * c[i] + m * dc[i];
    add_point_inertia(dm, c, c, d.J);
    add_point_inertia(2 * m, c, dc, d.J);
    return d;
}

/* f += factor times the inertia wrench of a body that is fixed in a frame */
static void add_inertia_wrench(const struct frame *frame, const struct rigid *body, double factor, double *f)
{
    struct rigid turned;
    double wrench[6];
    rigid_rotate(body, frame->R, &turned);
    rigid_wrench(&turned, frame->omega, frame->acc, wrench);
    axpy6(factor, wrench, f);
}

/* ---- added mass -------------------------------------------------------------------------------------------------- */

void tangent_added_make(const struct body *body, struct arena *arena, struct added_tangent *t)
{
    t->modal = arena_allocate(arena, (size_t)PADDED(body->m), sizeof(double));
    body_state_make(body->added->unit, arena, &t->state);
}

void tangent_added_state(const struct link_model *lm, const struct link_work *w, enum elastic_terms terms,
                         const double *eta, const double *etad, const double *etadd, struct added_tangent *t)
{
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const struct body *unit = lm->body->added->unit;
    const int m = lm->m;
    double omega[3], acc[6], wrench[6];
    dyn_body_motion(lm->body, w, eta, etad, omega, acc);
    dyn_body_acceleration(lm->body, w, etadd, acc);
    body_inertia(unit, terms, eta, &t->state);
    body_force(unit, terms, &t->state, eta, etad, omega, acc, wrench, t->modal);
    if (!unit->hinge_moves) beam_coupling(unit, terms, &t->state, I, t->state.coupling);
    for (int k = 0; k < m; k++) { /* (wrench; modal) += (M_rf; M_ff) eta_ddot */
        axpy6(etadd[k], t->state.coupling[k], wrench);
        for (int l = 0; l < m; l++) t->modal[k] += t->state.Mff[PADDED(m) * k + l] * etadd[l];
    }
    mul3(w->RF, wrench, t->wrench);
    mul3(w->RF, wrench + 3, t->wrench + 3);
    for (int k = 0; w->JF != NULL && k < m; k++) /* the hinge of a beam rotates and does not move: rF = 0 */
        t->modal[k] += dot6(w->JF[k], t->wrench);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

void tangent_masses_out(const struct model *model, const struct work *work, struct tangent *tangent, int i)
{
    const struct link *link = &model->robot->link[i];
    const struct link_model *lm = &model->link[i];
    const struct link_work *w = &work->link[i];
    const struct mass_direction *masses = &tangent->direction.masses;
    struct link_tangent *t = &tangent->link[i];
    const double added = masses->added_mass[i];
    if (link->has_payload) {
        const struct rigid d = payload_change(link, lm, masses->payload_mass[i], masses->payload_com + 3 * i,
                                              masses->payload_inertia + 6 * i);
        if (lm->body == NULL) add_inertia_wrench(&w->O, &d, 1, t->f);
        else add_inertia_wrench(&w->section[0].T, &d, 1, t->section[0].df);
    }
    if (added == 0) return;
    if (lm->body == NULL) {
        add_inertia_wrench(&w->O, &lm->added, added, t->f);
    } else if (lm->body->added != NULL) {
        axpy6(added, t->added.wrench, t->f);
        for (int k = 0; k < lm->m; k++) t->modal[k] += added * t->added.modal[k];
    }
}
