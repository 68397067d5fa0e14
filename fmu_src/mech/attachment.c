#include "mech/attachment.h"

#include <string.h>

#include "math/vec.h"

/* p + r,  v + omega x r,  a + alpha x r + omega x (omega x r) */
static void move(const struct pose *at, struct attachment *attachment)
{
    struct frame_motion *f = &attachment->frame;
    double R[9], wr[3], *r = attachment->r;
    mul3(f->R, at->p, r);
    matmul3(f->R, at->R, R);
    copy9(R, f->R);
    cross3(f->omega, r, wr);
    axpy3(1, r, f->p);
    axpy3(1, wr, f->v);
    add_cross3(f->alpha, r, f->a);
    add_cross3(f->omega, wr, f->a);
}

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
    move(&anchor->at, attachment);
}

void attachment_change(const struct work *work, const struct tangent *tangent, const struct anchor *anchor,
                       struct attachment *attachment)
{
    const struct anchor carrier = {.link = anchor->link, .section = anchor->section};
    memset(&attachment->change, 0, sizeof attachment->change);
    if (anchor->link < 0) return;
    dyn_tangent_frame(work, tangent, &carrier, &attachment->change);
    attachment_move_change(attachment);
}

/* dr = phi x r,  dp + dr,  dv + domega x r + omega x dr,  ... */
void attachment_move_change(struct attachment *attachment)
{
    const struct frame_motion *f = &attachment->frame;
    struct frame_derivative *d = &attachment->change;
    const double *r = attachment->r;
    double dr[3], wr[3], dwr[3];
    cross3(d->phi, r, dr);
    cross3(f->omega, r, wr);
    cross3(d->omega, r, dwr);
    add_cross3(f->omega, dr, dwr);
    axpy3(1, dr, d->p);
    axpy3(1, dwr, d->v);
    add_cross3(d->alpha, r, d->a);
    add_cross3(f->alpha, dr, d->a);
    add_cross3(d->omega, wr, d->a);
    add_cross3(f->omega, dwr, d->a);
}
