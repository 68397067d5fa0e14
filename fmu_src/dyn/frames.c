/* Frames that are reported: tips, and any section of a flexible link. */
#include "dyn/dyn.h"
#include "flex/section.h"
#include "math/vec.h"

/* Gravity was an acceleration of the base: give it back. */
static void finish(const struct model *model, const double *acc, struct frame_motion *out)
{
    copy3(acc, out->alpha);
    for (int i = 0; i < 3; i++) out->a[i] = acc[3 + i] + model->gravity[i];
}

void dyn_tip(const struct model *model, const struct work *work, int link, struct frame_motion *tip)
{
    const struct link_model *lm = &model->link[link];
    const struct link_work *w = &work->link[link];
    const struct frame *frame = lm->body == NULL ? &w->O : &w->T;
    double acc[6];
    copy9(frame->R, tip->R);
    copy3(frame->p, tip->p);
    copy3(frame->v, tip->v);
    copy3(frame->omega, tip->omega);
    copy6(frame->acc, acc);
    if (lm->body == NULL) { /* T is fixed in O */
        double r[3], wr[3];
        matmul3(frame->R, lm->tip.R, tip->R);
        mul3(frame->R, lm->tip.p, r);
        for (int i = 0; i < 3; i++) tip->p[i] += r[i];
        cross3(frame->omega, r, wr);
        for (int i = 0; i < 3; i++) tip->v[i] += wr[i];
        add_cross3(frame->acc, r, acc + 3);
        add_cross3(frame->omega, wr, acc + 3);
    }
    finish(model, acc, tip);
}
