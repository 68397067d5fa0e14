/* M^-1 of as many columns as there are lanes: dyn_solve_forces() for each of them, in one sweep in and out. (theory.md 33) */
#include <string.h>

#include "dyn/tangent.h"
#include "dyn/tangent_lanes.h"
#include "math/vec.h"

/* e = L^-1 (force - J' z_T),   z = X' z_T + W' e */
INLINE void gather_modes(const int m, const struct link_work *w, struct link_batch *b)
{
    const int row = PADDED(m);
    for (int k = 0; k < m; k++)
        for (int i = 0; i < 6; i++) b->e[k] -= b->zT[i] * w->Jt[row * i + k];
    for (int k = 0; k < m - 1; k++)
        for (int i = k + 1; i < m; i++) b->e[i] -= w->L[row * k + i] * b->e[k];
    for (int i = 0; i < 6; i++) b->z[i] += b->zT[i];
    add_cross_left(w->r, b->zT + 3, b->z);
    for (int k = 0; k < m; k++) add_scaled(6, w->W[k], b->e[k], b->z);
}

/* eta_ddot = L^-T (Delta^-1 e - W x),   x_T = X x + J eta_ddot */
INLINE void spread_modes(const int m, const struct link_work *w, struct link_batch *b)
{
    const int row = PADDED(m);
    for (int k = 0; k < m; k++) b->e[k] = w->inverse_d[k] * b->e[k] - dot_lanes(6, w->W[k], b->x);
    for (int k = m - 2; k >= 0; k--)
        for (int i = k + 1; i < m; i++) b->e[k] -= w->L[row * k + i] * b->e[i];
    memcpy(b->xT, b->x, sizeof b->xT);
    add_cross_right(b->x, w->r, b->xT + 3);
    for (int k = 0; k < m; k++) add_scaled(6, w->J[k], b->e[k], b->xT);
}

static void gather(const struct model *model, const struct work *work, struct link_batch *batch, int count,
                   const double *columns)
{
    for (int i = 0; i < model->n_links; i++) {
        memset(batch[i].z, 0, sizeof batch[i].z);
        memset(batch[i].zT, 0, sizeof batch[i].zT);
    }
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        struct link_batch *b = &batch[i];
        for (int k = 0; k < lm->m; k++) b->e[k] = take(count, model->n, lm->eta + k, columns);
        if (lm->body != NULL) WITH_CONSTANT_COUNT(M, lm->m, gather_modes(M, w, b))
        if (lm->q >= 0 && lm->prescribed < 0) {
            /* u = Q_q - h' z,   z += U u/D */
            b->u = take(count, model->n, lm->q, columns) -
                   dot_lanes(3, w->h, lm->joint == JOINT_REVOLUTE ? b->z : b->z + 3);
            add_scaled(6, w->U, w->inverse_D * b->u, b->z);
        }
        if (lm->parent >= 0) {
            lanes *sum = model->link[lm->parent].body == NULL ? batch[lm->parent].z : batch[lm->parent].zT;
            for (int k = 0; k < 6; k++) sum[k] += b->z[k];
            add_cross_left(w->d, b->z + 3, sum);
        }
    }
}

static void spread(const struct model *model, const struct work *work, struct link_batch *batch, int count,
                   double *columns)
{
    static const lanes rest[6];
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        struct link_batch *b = &batch[i];
        const struct link_batch *parent = lm->parent < 0 ? NULL : &batch[lm->parent];
        const lanes *x = parent == NULL ? rest : model->link[lm->parent].body == NULL ? parent->x : parent->xT;
        memcpy(b->x, x, sizeof b->x);
        add_cross_right(x, w->d, b->x + 3);
        if (lm->q >= 0) {
            lanes a = {0};
            if (lm->prescribed < 0) a = (b->u - dot_lanes(6, w->U, b->x)) * w->inverse_D;
            add_scaled(3, w->h, a, lm->joint == JOINT_REVOLUTE ? b->x : b->x + 3);
            put(a, count, model->n, lm->q, columns);
        }
        if (lm->body != NULL) WITH_CONSTANT_COUNT(M, lm->m, spread_modes(M, w, b))
        for (int k = 0; k < lm->m; k++) put(b->e[k], count, model->n, lm->eta + k, columns);
    }
}

void dyn_solve_columns(const struct model *model, struct work *work, struct tangent *tangent, int count,
                       double *columns)
{
    const int n = model->n;
    bool updated = false; /* the factors of updated.c have a solution of their own */
    for (int i = 0; i < model->n_links; i++) updated = updated || model->link[i].updated != NULL;
    for (int first = 0; first < count; first += updated ? 1 : LANES) {
        double *at = columns + (size_t)n * (size_t)first;
        const int lanes_used = count - first < LANES ? count - first : LANES;
        if (updated) {
            dyn_solve_forces(model, work, at, at); /* reads all before it writes */
        } else {
            gather(model, work, tangent->batch, lanes_used, at);
            spread(model, work, tangent->batch, lanes_used, at);
        }
    }
}
