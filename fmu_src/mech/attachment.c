#include "mech/attachment.h"

#include "math/vec.h"

void attachment_move(const struct pose *at, struct attachment *attachment)
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

/* dr = phi x r,  dp + dr,  dv + domega x r + omega x dr,  ... */
void attachment_move_change(const struct attachment *attachment, struct frame_derivative *d)
{
    const struct frame_motion *f = &attachment->frame;
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
