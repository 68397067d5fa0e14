/* Composite-body mass matrix and its factorisation: the non-recursive rival of the papers, O(n^3). With joints and modes
   held, everything outboard is one rigid body, ten numbers. (theory.md 36 to 38; Jain and Rodriguez, section 6) */
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

static void set_pair(const struct model *model, struct work *work, int i, int j, double value)
{
    work->M[model->n * i + j] = work->M[model->n * j + i] = value;
}

/* The link's own block, and in `column` the wrench at O of a unit acceleration of each of its coordinates           (36) */
static int own_block(const struct model *model, struct work *work, int i)
{
    const struct link_model *lm = &model->link[i];
    struct link_work *w = &work->link[i];
    double(*column)[6] = work->column;
    int count = 0;
    if (lm->q >= 0) {
        double unit[6] = {0};
        copy3(w->h, lm->joint == JOINT_REVOLUTE ? unit : unit + 3);
        rigid_mul(&w->Ic, unit, column[count++]);
        set_pair(model, work, lm->q, lm->q, dot6(unit, column[0]) + lm->motor_inertia);
    }
    for (int k = 0; k < lm->m; k++, count++) {
        const double *Mff = link_Mff(lm, w);
        double IJ[6];
        rigid_mul(&w->IcT, w->J[k], IJ);
        for (int l = 0; l <= k; l++) set_pair(model, work, lm->eta + k, lm->eta + l, Mff[lm->m * k + l] + dot6(IJ, w->J[l]));
        copy6(w->F[k], column[count]);
        wrench_add_shifted(column[count], IJ, w->r);
        if (lm->q >= 0)
            set_pair(model, work, lm->q, lm->eta + k, dot3(w->h, lm->joint == JOINT_REVOLUTE ? column[count] : column[count] + 3));
    }
    return count;
}

/* The columns carried to the base, meeting the coordinates of every ancestor                                       (37) */
static void meet_ancestors(const struct model *model, struct work *work, int i, int count)
{
    const int first = model->link[i].q >= 0 ? model->link[i].q : model->link[i].eta;
    double(*column)[6] = work->column;
    for (int child = i, p = model->link[i].parent; p >= 0; child = p, p = model->link[p].parent) {
        const struct link_model *lm = &model->link[p];
        const struct link_work *w = &work->link[p];
        for (int c = 0; c < count; c++) {
            add_cross3(work->link[child].d, column[c] + 3, column[c]);
            for (int k = 0; k < lm->m; k++) set_pair(model, work, lm->eta + k, first + c, dot6(w->J[k], column[c]));
            if (lm->body != NULL) add_cross3(w->r, column[c] + 3, column[c]);
            if (lm->q >= 0) set_pair(model, work, lm->q, first + c, dot3(w->h, lm->joint == JOINT_REVOLUTE ? column[c] : column[c] + 3));
        }
    }
}

void dyn_mass_matrix(const struct model *model, struct work *work)
{
    memset(work->M, 0, (size_t)(model->n * model->n) * sizeof(double));
    composite_inertias(model, work);
    for (int i = 0; i < model->n_links; i++) meet_ancestors(model, work, i, own_block(model, work, i));
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

enum status dyn_forward_composite(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    const int n = model->n;
    dyn_configuration(model, work, in->q);
    dyn_inverse(model, work, in, NULL, work->rhs);
    dyn_mass_matrix(model, work);

    /* M qdd = tau - h                                                                                              (38) */
    memcpy(work->factor, work->M, (size_t)(n * n) * sizeof(double));
    for (int i = 0; i < n; i++) work->rhs[i] = -work->rhs[i];
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->q >= 0 && !lm->passive && in->tau != NULL) work->rhs[lm->q] += in->tau[lm->tau];
    }
    hold_prescribed(model, work->factor, work->rhs);
    if (cholesky_factor(n, work->factor, work->inverse_d) != 0) return STATUS_NOT_POSITIVE;
    cholesky_solve(n, work->factor, work->inverse_d, work->rhs);
    memcpy(qdd, work->rhs, (size_t)n * sizeof(double));
    for (int i = 0; i < model->n_links; i++)
        if (model->link[i].prescribed >= 0) qdd[model->link[i].q] = in->prescribed_qdd != NULL ? in->prescribed_qdd[model->link[i].prescribed] : 0;
    return STATUS_OK;
}
