/* Frames fixed to links: for output, loops, lines and loads. */
#include <string.h>

#include "dyn/dyn.h"
#include "math/vec.h"

void dyn_tip(const struct model *model, const struct work *work, int link, struct frame_motion *tip)
{
    const struct anchor anchor = model_tip(model, link);
    dyn_frame(model, work, &anchor, tip);
}

const struct frame *dyn_anchor_frame(const struct work *work, const struct anchor *anchor)
{
    const struct link_work *w = &work->link[anchor->link];
    return anchor->section < 0 ? &w->O : &w->section[anchor->section].T;
}

/* p + r,  v + omega x r,  a + alpha x r + omega x (omega x r) */
void frame_move(const struct pose *at, double r[3], struct frame_motion *f)
{
    double R[9], wr[3];
    mul3(f->R, at->p, r);
    matmul3(f->R, at->R, R);
    copy9(R, f->R);
    cross3(f->omega, r, wr);
    axpy3(1, r, f->p);
    axpy3(1, wr, f->v);
    add_cross3(f->alpha, r, f->a);
    add_cross3(f->omega, wr, f->a);
}

void dyn_frame(const struct model *model, const struct work *work, const struct anchor *anchor,
               struct frame_motion *motion)
{
    NEEDS(work, DYN_CONFIGURATION);
    if (anchor->section >= model->link[anchor->link].n_sections) NEEDS(work, DYN_OBSERVED);
    const struct frame *frame = dyn_anchor_frame(work, anchor);
    copy9(frame->R, motion->R);
    copy3(frame->p, motion->p);
    copy3(frame->v, motion->v);
    copy3(frame->omega, motion->omega);
    copy3(frame->acc, motion->alpha);
    copy3(frame->acc + 3, motion->a);
    axpy3(1, model->gravity, motion->a); /* which is an acceleration of the base */
    double r[3];
    if (anchor->offset) frame_move(&anchor->at, r, motion);
}

struct load dyn_anchor_load(const struct work *work, const struct anchor *anchor, const double wrench[6])
{
    struct load load = {.link = anchor->link, .section = anchor->section};
    copy6(wrench, load.wrench);
    if (anchor->link < 0 || !anchor->offset) return load;
    double r[3];
    mul3(dyn_anchor_frame(work, anchor)->R, anchor->at.p, r);
    add_cross3(r, wrench + 3, load.wrench);
    return load;
}

void dyn_frame_force(const struct model *model, const struct work *work, const struct load *load, double *force)
{
    NEEDS(work, DYN_CONFIGURATION);
    double f[6];
    copy6(load->wrench, f);
    for (int i = load->link, section = load->section; i >= 0;
         section = model->link[i].mount, i = model->link[i].parent) {
        const struct link_model *lm = &model->link[i];
        const struct link_work *w = &work->link[i];
        if (section >= 0) {
            const struct section_work *s = &w->section[section];
            for (int k = 0; k < lm->m; k++) force[lm->eta_v + k] += dot6(s->J[k], f);
            add_cross3(s->r, f + 3, f);
        }
        for (int k = 0; k < lm->joint.nv; k++) force[lm->v + k] += along_column(lm, w, k, f);
        add_cross3(w->d, f + 3, f);
    }
}

void dyn_deflection(const struct model *model, const struct work *work, int link, double deflection[3],
                    double rotation[3])
{
    NEEDS(work, DYN_CONFIGURATION);
    const struct body *body = model->link[link].body;
    const struct link_work *w = &work->link[link];
    memset(deflection, 0, 3 * sizeof *deflection);
    memset(rotation, 0, 3 * sizeof *rotation);
    if (body == NULL) return;
    tmul3(w->O.R, w->section[0].r, deflection);
    for (int i = 0; i < 3; i++) deflection[i] -= body->tip.x[i] - body->hinge.x[i];
    if (w->JF == NULL) copy3(w->section[0].theta, rotation);
    else rotation_between(w->theta_d, w->section[0].theta, rotation);
}
