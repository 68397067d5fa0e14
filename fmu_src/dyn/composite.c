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

static void composite_inertias(const struct model *model, struct work *work)
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

/* What the sections add to the columns of mode k: D_f += J' I J in M, F += X' I J in f */
static void add_sections(const struct link_model *lm, const struct link_work *w, int k, int n, double *M, double *f)
{
    for (int s = 0; s < lm->n_sections; s++) {
        const struct section_work *section = &w->section[s];
        double IJ[6];
        if (!lm->section[s].has_inertia) continue;
        rigid_mul(&section->Ic, section->J[k], IJ);
        for (int l = 0; l <= k; l++) M[n * (lm->eta_v + l) + lm->eta_v + k] += dot6(IJ, section->J[l]);
        wrench_add_shifted(f, IJ, section->r);
    }
}

/* The link's own block of the upper triangle of M, and in `column` the wrench at O of a unit acceleration of each of its
   coordinates; returns their count                                                                                 (36) */
static int own_block(const struct model *model, struct work *work, int i, double *M)
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
        add_sections(lm, w, k, n, M, f);
        for (int l = 0; l < nv; l++) M[n * (lm->v + l) + lm->eta_v + k] = along_column(lm, w, l, f);
    }
    return nv + m;
}

/* Moves the columns inward to the base and projects them onto the coordinates of every ancestor                    (37) */
static void ancestor_blocks(const struct model *model, struct work *work, int i, int count, double *M)
{
    const int n = model->nv, first = model->link[i].v;
    double(*restrict column)[6] = work->column;
    if (count == 0) return;
    for (int child = i, p = model->link[i].parent; p >= 0; child = p, p = model->link[p].parent) {
        const struct link_model *lm = &model->link[p];
        const struct link_work *w = &work->link[p];
        for (int c = 0; c < count; c++) add_cross3(work->link[child].d, column[c] + 3, column[c]);
        const struct section_work *carrier = mount_section(&model->link[child], work);
        for (int k = 0; k < lm->m; k++) {
            double *restrict row = M + n * (lm->eta_v + k) + first;
            double J[6] = {0}; /* a child on O does not feel the modes */
            if (carrier != NULL) copy6(carrier->J[k], J);
            for (int c = 0; c < count; c++) row[c] = dot6(J, column[c]);
        }
        if (carrier != NULL)
            for (int c = 0; c < count; c++) add_cross3(carrier->r, column[c] + 3, column[c]);
        for (int k = 0; k < lm->joint.nv; k++)
            for (int c = 0; c < count; c++) M[n * (lm->v + k) + first + c] = along_column(lm, w, k, column[c]);
    }
}

/* The upper triangle of M; blocks of links on different branches are zero */
static void upper_triangle(const struct model *model, struct work *work, double *M)
{
    if (model->branched) memset(M, 0, (size_t)(model->nv * model->nv) * sizeof(double));
    composite_inertias(model, work);
    for (int i = 0; i < model->n_links; i++) ancestor_blocks(model, work, i, own_block(model, work, i, M), M);
}

void dyn_mass_matrix(const struct model *model, struct work *work)
{
    const int n = model->nv;
    upper_triangle(model, work, work->M);
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++) work->M[n * i + j] = work->M[n * j + i];
}

/* Prescribed accelerations are known: their rows and columns become those of the identity, with right-hand side zero */
static void eliminate_prescribed(const struct model *model, double *M, double *rhs)
{
    const int n = model->nv;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int p = lm->v; lm->prescribed >= 0 && p < lm->v + lm->joint.nv; p++) {
            for (int j = 0; j < n; j++) M[n * p + j] = M[n * j + p] = 0;
            M[n * p + p] = 1;
            rhs[p] = 0;
        }
    }
}

static int link_of(const struct model *model, int velocity)
{
    int i = model->n_links - 1;
    while (i > 0 && velocity < model->link[i].v) i--;
    return i;
}

enum status dyn_forward_composite(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    const int n = model->nv;
    dyn_configuration(model, work, in->q);
    dyn_inverse(model, work, in, NULL, work->rhs);
    upper_triangle(model, work, work->factor);

    /* M qdd = tau - h                                                                                              (38) */
    for (int i = 0; i < n; i++) work->rhs[i] = -work->rhs[i];
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; !lm->passive && in->tau != NULL && k < lm->joint.nv; k++)
            work->rhs[lm->v + k] += in->tau[lm->tau + k];
    }
    eliminate_prescribed(model, work->factor, work->rhs);
    const int failed = cholesky_factor(n, work->factor, work->inverse_d);
    if (failed != 0) {
        work->failed_link = link_of(model, failed - 1);
        return STATUS_NOT_POSITIVE;
    }
    cholesky_solve(n, work->factor, work->inverse_d, work->rhs);
    memcpy(qdd, work->rhs, (size_t)n * sizeof(double));
    for (int i = 0; i < model->n_links; i++)
        if (model->link[i].prescribed >= 0) dyn_copy_prescribed(&model->link[i], in, qdd);
    return STATUS_OK;
}
