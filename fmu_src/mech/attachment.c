#include "mech/attachment.h"

#include <string.h>

#include "math/vec.h"

void attachment_place(const struct model *model, const struct work *work, const struct anchor *anchor, bool solved,
                      struct attachment *attachment)
{
    struct frame_motion *frame = &attachment->frame;
    const struct anchor carrier = {.link = anchor->link, .section = anchor->section};
    if (anchor->link < 0) {
        memset(frame, 0, sizeof *frame);
        identity3(frame->R);
    } else {
        dyn_frame(model, work, &carrier, frame);
        if (solved) {
            const struct link_work *w = &work->link[anchor->link];
            const double *x = anchor->section < 0 ? w->x : w->section[anchor->section].x;
            axpy3(1, x, frame->alpha);
            axpy3(1, x + 3, frame->a);
        }
    }
    frame_move(&anchor->at, attachment->r, frame);
}

/* p + r, v + omega x r */
void attachment_place_point(const struct work *work, const struct anchor *anchor, struct attachment *attachment)
{
    struct frame_motion *point = &attachment->frame;
    if (anchor->link < 0) {
        copy3(anchor->at.p, attachment->r);
        copy3(anchor->at.p, point->p);
        memset(point->v, 0, sizeof point->v);
        return;
    }
    NEEDS(work, DYN_POSITION);
    const struct frame *carrier = dyn_anchor_frame(work, anchor);
    mul3(carrier->R, anchor->at.p, attachment->r);
    copy3(carrier->omega, point->omega);
    copy3(carrier->acc, point->alpha);
    for (int k = 0; k < 3; k++) point->p[k] = carrier->p[k] + attachment->r[k];
    copy3(carrier->v, point->v);
    add_cross3(carrier->omega, attachment->r, point->v);
}

void attachment_change(const struct work *work, const struct tangent *tangent, const struct anchor *anchor,
                       struct attachment *attachment)
{
    struct frame_derivative *change = &attachment->change;
    if (anchor->link < 0) memset(change, 0, sizeof *change);
    else if ((tangent->done & TANGENT_OUTWARD) != 0) dyn_tangent_frame(work, tangent, anchor, change);
    else dyn_coordinate_frame(work, tangent, anchor, &attachment->frame, change);
}
