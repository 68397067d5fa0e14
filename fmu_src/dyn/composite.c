/* Composite-body mass matrix and its factorization: the non-recursive alternative of the papers, O(n^3). With joints and modes
   locked, everything outward of a joint is one rigid body, ten numbers. (theory.md 36 to 38; Jain and Rodriguez, section 5) */
#include <string.h>

#include "dyn/dyn.h"
#include "math/dense.h"
#include "math/vec.h"

/* Ic += body, moved by r */
static void add_shifted(struct rigid *sum, struct rigid body, const double *r)
{
    rigid_shift(&body, r);
    rigid_add(sum, &body);
}

void dyn_composite_inertias(const struct model *model, struct work *work)
{
    for (int i = 0; i < model->n_links; i++) {
        struct link_work *w = &work->link[i];
        w->Ic = w->self;
        for (int s = 0; s < model->link[i].n_sections; s++) w->section[s].Ic = (struct rigid){0};
        if (model->link[i].has_payload) w->section[0].Ic = w->load;
    }
    for (int i = model->n_links - 1; i >= 0; i--) {
        const struct link_model *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        for (int s = 0; s < lm->n_sections; s++)
            if (lm->section[s].has_inertia) add_shifted(&w->Ic, w->section[s].Ic, w->section[s].r);
        if (lm->parent >= 0)
            add_shifted(lm->mount < 0 ? &work->link[lm->parent].Ic : &mount_section(lm, work)->Ic, w->Ic, w->d);
    }
}

/* The link's own block of the upper triangle of M, and the columns of the link's coordinates: the wrench at O for a unit
   acceleration of each                                                                                                       (36) */
static void own_block(const struct model *model, struct work *work, int i, double *M)
{
    const struct link_model *lm = &model->link[i];
    const struct link_work *w = &work->link[i];
    const int n = model->nv, m = lm->m, nv = lm->joint.nv;
    double(*column)[6] = work->column;
    for (int k = 0; k < nv; k++) {
        double unit[6] = {0};
        copy3(w->h[k], unit + lm->joint.part[k]);
        rigid_mul(&w->Ic, unit, column[k]);
        for (int l = 0; l <= k; l++) M[n * (lm->v + l) + lm->v + k] = along_column(lm, w, l, column[k]);
        M[(n + 1) * (lm->v + k)] += lm->joint.motor_inertia[k];
    }
    for (int k = 0; k < m; k++) {
        double *f = column[nv + k];
        for (int l = 0; l <= k; l++) M[n * (lm->eta_v + l) + lm->eta_v + k] = w->M0[PADDED(m) * l + k];
        copy6(w->F[k], f);
        for (int s = 0; s < lm->n_sections; s++) { /* D_f += J' I J,   F += X' I J */
            const struct section_work *section = &w->section[s];
            double IJ[6];
            if (!lm->section[s].has_inertia) continue;
            rigid_mul(&section->Ic, section->J[k], IJ);
            for (int l = 0; l <= k; l++) M[n * (lm->eta_v + l) + lm->eta_v + k] += dot6(IJ, section->J[l]);
            wrench_add_shifted(f, IJ, section->r);
        }
        for (int l = 0; l < nv; l++) M[n * (lm->v + l) + lm->eta_v + k] = along_column(lm, w, l, f);
    }
}

/* Moves the columns inward to the base and projects them onto the coordinates of every ancestor                    (37) */
static void ancestor_blocks(const struct model *model, struct work *work, int i, double *M)
{
    const int n = model->nv, first = model->link[i].v, count = model->link[i].joint.nv + model->link[i].m;
    double(*restrict column)[6] = work->column;
    if (count == 0) return;
    for (int child = i, p = model->link[i].parent; p >= 0; child = p, p = model->link[p].parent) {
        const struct link_model *lm = &model->link[p];
        const struct link_work *w = &work->link[p];
        for (int c = 0; c < count; c++) add_cross3(work->link[child].d, column[c] + 3, column[c]);
        const struct section_work *mount = mount_section(&model->link[child], work);
        for (int k = 0; k < lm->m; k++) {
            double *restrict row = M + n * (lm->eta_v + k) + first;
            double J[6] = {0}; /* the modes do not move a child on O */
            if (mount != NULL) copy6(mount->J[k], J);
            for (int c = 0; c < count; c++) row[c] = dot6(J, column[c]);
        }
        if (mount != NULL)
            for (int c = 0; c < count; c++) add_cross3(mount->r, column[c] + 3, column[c]);
        for (int k = 0; k < lm->joint.nv; k++)
            for (int c = 0; c < count; c++) M[n * (lm->v + k) + first + c] = along_column(lm, w, k, column[c]);
    }
}

/* The upper triangle of M; blocks of links on different branches are zero */
static void upper_triangle(const struct model *model, struct work *work, double *M)
{
    if (model->branched) memset(M, 0, (size_t)(model->nv * model->nv) * sizeof(double));
    dyn_composite_inertias(model, work);
    for (int i = 0; i < model->n_links; i++) {
        own_block(model, work, i, M);
        ancestor_blocks(model, work, i, M);
    }
}

void dyn_mass_matrix(const struct model *model, struct work *work)
{
    NEEDS(work, DYN_CONFIGURATION);
    const int n = model->nv;
    upper_triangle(model, work, work->M);
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++) work->M[n * i + j] = work->M[n * j + i];
}

void dyn_solve_composite(const struct model *model, const struct work *work, double *x)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = free_velocities(lm); k < lm->joint.nv; k++) x[lm->v + k] = 0;
    }
    cholesky_solve(model->nv, work->factor, work->inverse_d, x);
}

enum status dyn_forward_composite(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    const int n = model->nv;
    double *M = work->factor, *rhs = work->rhs;
    dyn_configuration(model, work, in->q);
    dyn_inverse(model, work, in, NULL, rhs);
    upper_triangle(model, work, M);

    /* M qdd = tau - h; the rows and columns of prescribed joints become those of the identity (38) */
    for (int i = 0; i < n; i++) rhs[i] = -rhs[i];
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; !lm->passive && in->tau != NULL && k < lm->joint.nv; k++)
            rhs[lm->v + k] += in->tau[lm->tau + k];
        for (int p = lm->v; lm->prescribed >= 0 && p < lm->v + lm->joint.nv; p++) {
            for (int j = 0; j < n; j++) M[n * p + j] = M[n * j + p] = 0;
            M[(n + 1) * p] = 1;
        }
    }
    const int failed = cholesky_factor(n, M, work->inverse_d);
    if (failed != 0) {
        work->failed_link = model->n_links - 1;
        while (work->failed_link > 0 && failed - 1 < model->link[work->failed_link].v) work->failed_link--;
        return STATUS_NOT_POSITIVE;
    }
    dyn_solve_composite(model, work, rhs);
    memcpy(qdd, rhs, (size_t)n * sizeof(double));
    for (int i = 0; i < model->n_links; i++)
        if (model->link[i].prescribed >= 0) dyn_copy_prescribed(&model->link[i], in, qdd);
    return STATUS_OK;
}
