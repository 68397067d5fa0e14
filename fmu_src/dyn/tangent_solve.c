/* M^-1 times as many columns as there are lanes, in one sweep in and out. (theory.md 33, 69) */
#include <string.h>

#include "dyn/tangent.h"
#include "dyn/tangent_lanes.h"
#include "math/vec.h"

/* e -= J' z_T,   z += X' z_T of a section */
INLINE void gather_section(const int m, const struct section_work *w, const struct section_solution *s, lanes *e,
                           lanes *z)
{
    for (int k = 0; k < m; k++)
        for (int i = 0; i < 6; i++) e[k] -= s->z[i] * w->Jt[PADDED(m) * i + k];
    for (int i = 0; i < 6; i++) z[i] += s->z[i];
    add_cross_left(w->r, s->z + 3, z);
}

/* e = L^-1 (force - sum J' z_T),   z = sum X' z_T + W' e */
INLINE void gather_modes(const int m, int n_sections, const struct link_work *w, struct link_solution *b)
{
    const int row = PADDED(m);
    gather_section(m, &w->section[0], &b->section[0], b->e, b->z);
    for (int s = 1; s < n_sections; s++) gather_section(m, &w->section[s], &b->section[s], b->e, b->z);
    for (int k = 0; k < m - 1; k++)
        for (int i = k + 1; i < m; i++) b->e[i] -= w->L[row * k + i] * b->e[k];
    for (int k = 0; k < m; k++) add_scaled(6, w->W[k], b->e[k], b->z);
}

/* x_T = X x + J eta_ddot of a section */
INLINE void spread_section(const int m, const struct section_work *w, const lanes *x, const lanes *etadd,
                           struct section_solution *s)
{
    memcpy(s->x, x, sizeof s->x);
    add_cross_right(x, w->r, s->x + 3);
    for (int k = 0; k < m; k++) add_scaled(6, w->J[k], etadd[k], s->x);
}

/* eta_ddot = L^-T (Delta^-1 e - W x) */
INLINE void spread_modes(const int m, int n_sections, const struct link_work *w, struct link_solution *b)
{
    const int row = PADDED(m);
    for (int k = 0; k < m; k++) b->e[k] = w->inverse_d[k] * b->e[k] - dot_lanes(6, w->W[k], b->x);
    for (int k = m - 2; k >= 0; k--)
        for (int i = k + 1; i < m; i++) b->e[k] -= w->L[row * k + i] * b->e[i];
    spread_section(m, &w->section[0], b->x, b->e, &b->section[0]);
    for (int s = 1; s < n_sections; s++) spread_section(m, &w->section[s], b->x, b->e, &b->section[s]);
}

/* u = Q_q - h' z,   z += U u/D                                                                                       (33) */
INLINE void gather_hinge(const int nv, const struct link_model *lm, const struct link_work *w, int n, int count,
                         const double *columns, struct link_solution *b)
{
    for (int k = nv - 1; k >= 0; k--) {
        b->u[k] = load_columns(count, n, lm->v + k, columns) - dot_lanes(3, w->h[k], b->z + lm->joint.part[k]);
        add_scaled(6, w->U[k], w->inverse_D[k] * b->u[k], b->z);
    }
}

static void gather(const struct model *model, struct work *work, struct link_solution *batch, int count,
                   const double *columns)
{
    for (int i = 0; i < model->n_links; i++) {
        memset(batch[i].z, 0, sizeof batch[i].z);
        for (int s = 0; s < model->link[i].n_sections; s++)
            memset(batch[i].section[s].z, 0, sizeof batch[i].section[s].z);
    }
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        struct link_solution *b = &batch[i];
        for (int k = 0; k < lm->m; k++) b->e[k] = load_columns(count, model->nv, lm->eta_v + k, columns);
        if (lm->body != NULL) WITH_CONSTANT_COUNT(M, lm->m, gather_modes(M, lm->n_sections, w, b))
        WITH_COLUMNS(N, free_velocities(lm), gather_hinge(N, lm, w, model->nv, count, columns, b));
        if (lm->parent >= 0) {
            struct link_solution *parent = &batch[lm->parent];
            lanes *sum = lm->mount < 0 ? parent->z : parent->section[lm->mount].z;
            for (int k = 0; k < 6; k++) sum[k] += b->z[k];
            add_cross_left(w->d, b->z + 3, sum);
        }
    }
}

/* qdd = (u - U' x)/D,   x += h qdd; prescribed joints do not accelerate */
INLINE void spread_hinge(const int nv, const struct link_model *lm, const struct link_work *w, int n, int count,
                         struct link_solution *b, double *columns)
{
    for (int k = 0; k < nv; k++) {
        const lanes a = (b->u[k] - dot_lanes(6, w->U[k], b->x)) * w->inverse_D[k];
        add_scaled(3, w->h[k], a, b->x + lm->joint.part[k]);
        store_columns(a, count, n, lm->v + k, columns);
    }
}

static void spread(const struct model *model, struct work *work, struct link_solution *batch, int count,
                   double *columns)
{
    static const lanes rest[6];
    const int n = model->nv;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        struct link_solution *b = &batch[i];
        const struct link_solution *parent = lm->parent < 0 ? NULL : &batch[lm->parent];
        const lanes *x = parent == NULL ? rest : lm->mount < 0 ? parent->x : parent->section[lm->mount].x, zero = {0};
        memcpy(b->x, x, sizeof b->x);
        add_cross_right(x, w->d, b->x + 3);
        WITH_COLUMNS(N, free_velocities(lm), spread_hinge(N, lm, w, n, count, b, columns));
        for (int k = free_velocities(lm); k < lm->joint.nv; k++) store_columns(zero, count, n, lm->v + k, columns);
        if (lm->body != NULL) WITH_CONSTANT_COUNT(M, lm->m, spread_modes(M, lm->n_sections, w, b))
        for (int k = 0; k < lm->m; k++) store_columns(b->e[k], count, n, lm->eta_v + k, columns);
    }
}

void dyn_solve_columns(const struct model *model, struct work *work, struct tangent *tangent, int count,
                       double *columns)
{
    NEEDS(work, DYN_FACTORS);
    for (int first = 0; first < count; first += LANES) {
        double *at = columns + (size_t)model->nv * (size_t)first;
        const int lanes_used = count - first < LANES ? count - first : LANES;
        gather(model, work, tangent->solution, lanes_used, at);
        spread(model, work, tangent->solution, lanes_used, at);
    }
}
