/* Composite-body mass matrix and its factorisation: the non-recursive rival of the papers, O(n^3). With joints and modes
   held, everything outboard is one rigid body, ten numbers. (theory.md 36 to 38; Jain and Rodriguez, section 5) */
#include <string.h>

#include "dyn/dyn.h"
#include "math/dense.h"
#include "math/vec.h"

/* Ic += body about a point at distance r */
static void add_shifted(struct rigid *sum, struct rigid body, const double *r)
{
    rigid_shift(&body, r);
    rigid_add(sum, &body);
}

static void composite_inertias(const struct model *model, struct work *work)
{
    for (int i = 0; i < model->n_links; i++) {
        work->link[i].Ic = work->link[i].self;
        work->link[i].IcT = work->link[i].load;
    }
    for (int i = model->n_links - 1; i >= 0; i--) {
        struct link_work *w = &work->link[i];
        const int p = model->link[i].parent;
        if (model->link[i].body != NULL) add_shifted(&w->Ic, w->IcT, w->r);
        if (p >= 0) add_shifted(model->link[p].body == NULL ? &work->link[p].Ic : &work->link[p].IcT, w->Ic, w->d);
    }
}

/* The link's own block of the upper triangle of M, and in `column` the wrench at O of a unit acceleration of each of its
   coordinates; returns their count                                                                                 (36) */
static int own_block(const struct model *model, struct work *work, int i, double *M)
{
    const struct link_model *lm = &model->link[i];
    const struct link_work *w = &work->link[i];
    const int n = model->n, m = lm->m;
    double(*column)[6] = work->column;
    int count = 0;
    if (lm->q >= 0) {
        double unit[6] = {0};
        copy3(w->h, lm->joint == JOINT_REVOLUTE ? unit : unit + 3);
        rigid_mul(&w->Ic, unit, column[count++]);
        M[(n + 1) * lm->q] = along_joint(lm, w, column[0]) + lm->motor_inertia;
    }
    for (int k = 0; k < m; k++, count++) {
        const double *Mff = link_Mff(lm, w);
        double *f = column[count];
        rigid_mul(&w->IcT, w->J[k], f);
        for (int l = 0; l <= k; l++) M[n * (lm->eta + l) + lm->eta + k] = Mff[m * l + k] + dot6(f, w->J[l]);
        add_cross3(w->r, f + 3, f);
        for (int a = 0; a < 6; a++) f[a] += w->F[k][a];
        if (lm->q >= 0) M[n * lm->q + lm->eta + k] = along_joint(lm, w, f);
    }
    return count;
}

/* The columns carried to the base, meeting the coordinates of every ancestor                                       (37) */
static void meet_ancestors(const struct model *model, struct work *work, int i, int count, double *M)
{
    const int n = model->n, first = model->link[i].q >= 0 ? model->link[i].q : model->link[i].eta;
    double(*restrict column)[6] = work->column;
    for (int child = i, p = model->link[i].parent; p >= 0; child = p, p = model->link[p].parent) {
        const struct link_model *lm = &model->link[p];
        const struct link_work *w = &work->link[p];
        for (int c = 0; c < count; c++) add_cross3(work->link[child].d, column[c] + 3, column[c]);
        for (int k = 0; k < lm->m; k++) {
            double *restrict row = M + n * (lm->eta + k) + first;
            double J[6];
            copy6(w->J[k], J);
            for (int c = 0; c < count; c++) row[c] = dot6(J, column[c]);
        }
        if (lm->body != NULL)
            for (int c = 0; c < count; c++) add_cross3(w->r, column[c] + 3, column[c]);
        if (lm->q >= 0)
            for (int c = 0; c < count; c++) M[n * lm->q + first + c] = along_joint(lm, w, column[c]);
    }
}

/* The upper triangle of M; links on different branches do not meet */
static void upper_triangle(const struct model *model, struct work *work, double *M)
{
    if (model->branched) memset(M, 0, (size_t)(model->n * model->n) * sizeof(double));
    composite_inertias(model, work);
    for (int i = 0; i < model->n_links; i++) meet_ancestors(model, work, i, own_block(model, work, i, M), M);
}

void dyn_mass_matrix(const struct model *model, struct work *work)
{
    const int n = model->n;
    upper_triangle(model, work, work->M);
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++) work->M[n * i + j] = work->M[n * j + i];
}

/* Prescribed coordinates are known: their rows become qdd = given - given, that is zero beside a unit diagonal */
static void hold_prescribed(const struct model *model, double *M, double *rhs)
{
    const int n = model->n;
    for (int i = 0; i < model->n_links; i++) {
        const int p = model->link[i].q;
        if (model->link[i].prescribed < 0) continue;
        for (int j = 0; j < n; j++) M[n * p + j] = M[n * j + p] = 0;
        M[n * p + p] = 1;
        rhs[p] = 0;
    }
}

static int link_of(const struct model *model, int coordinate)
{
    int i = model->n_links - 1;
    while (i > 0 && coordinate < (model->link[i].q >= 0 ? model->link[i].q : model->link[i].eta)) i--;
    return i;
}

enum status dyn_forward_composite(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    const int n = model->n;
    dyn_configuration(model, work, in->q);
    dyn_inverse(model, work, in, NULL, work->rhs);
    upper_triangle(model, work, work->factor);

    /* M qdd = tau - h                                                                                              (38) */
    for (int i = 0; i < n; i++) work->rhs[i] = -work->rhs[i];
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->q >= 0 && !lm->passive && in->tau != NULL) work->rhs[lm->q] += in->tau[lm->tau];
    }
    hold_prescribed(model, work->factor, work->rhs);
    const int failed = cholesky_factor(n, work->factor, work->inverse_d);
    if (failed != 0) {
        work->failed_link = link_of(model, failed - 1);
        return STATUS_NOT_POSITIVE;
    }
    cholesky_solve(n, work->factor, work->inverse_d, work->rhs);
    memcpy(qdd, work->rhs, (size_t)n * sizeof(double));
    for (int i = 0; i < model->n_links; i++)
        if (model->link[i].prescribed >= 0) qdd[model->link[i].q] = prescribed_acceleration(&model->link[i], in);
    return STATUS_OK;
}
