/* d(qdd)/dq and d(qdd)/dqd of a tree in O(n depth), without sweeps over the columns' subtrees (theory.md 103 to 110).
 *
 * A varied coordinate moves all that is outward of it as one rigid body, by a small rotation phi, and changes its motion: relative
 * to the frames that move with it, omega changes by the same w everywhere, alpha and a by
 *     D alpha = g + w x omega,   D a = g_a + g x p + 2 w x v                                                            (103)
 * with constants (g; g_a); p and v are position and velocity of the frame's origin relative to the reference, O of the first link. So
 * what a whole subtree adds to the equations is linear in nine numbers: (g; g_a) is an acceleration, to which the articulated body
 * responds by its inertia P; the response to w, and to phi where loads act, is collected once for the whole robot, as further
 * right-hand sides of the same elimination. */
#ifndef DYN_JACOBIAN_H
#define DYN_JACOBIAN_H

#include "dyn/tangent.h"

/* Seeds of a subtree: the change w of its angular velocity, then its small rotation phi, which has an effect only if there are
   loads. So there are 3 seeds without loads, 6 with loads. */
enum { W, PHI = 3 };

/* A column of the motion subspace and its elimination, at the reference. */
struct hinge_response {
    double S[6], U[6];
    double inverse_D;
    double u[SIX]; /* hinge residual per seed */
};

/* A frame: O or a section. */
struct frame_response {
    double p[3], v[3]; /* relative to the reference                          */
    double Z[6][SIX];  /* wrench at the reference of what is outward, per seed. O: with the hinge free */
};

struct link_response {
    struct frame_response O, *section; /* n_sections                                   */
    struct hinge_response hinge[MOST_VELOCITIES];
    double (*E)[SIX]; /* m: modal residuals per seed                  */
    double (*F)[6];   /* m: locked: wrench at O per eta_ddot          */
};

/* What a varied coordinate does to a frame that moves with it, one coordinate per lane: wrench, acceleration (g; g_a) and seeds. */
struct frame_change {
    double z[6][LANES], c[6][LANES], seed[6][LANES];
};

/* The coordinates of a link that a batch varies. */
struct link_change {
    struct frame_change O, *section;      /* z of O: added after the hinge is eliminated            */
    double force[MOST_VELOCITIES][LANES]; /* on the joint's velocities                              */
    double b[6][LANES], (*modal)[LANES];  /* of modes: wrench of the body at the reference, m forces */
};

/* A frame in LANES columns. */
struct frame_columns {
    lanes z[6], x[6], seed[6];
};

struct link_columns {
    struct frame_columns O, *section;
    lanes u[MOST_VELOCITIES], *e;
    struct link_change change;
};

/* Effect of the joint of a plain link (rigid, with one free velocity) on everything outward of it, at the reference. */
struct hinge_effect {
    double seed[6], c[6], z[6];
    double force; /* on its own velocity */
};

struct jacobian {
    struct link_response *link;          /* n_links                                                       */
    struct hinge_effect (*plain)[DERIVATIVES]; /* n_links: of links in a run                                    */
    int *lane;                           /* n_links: lane of a link in a run that the batch varies        */
    struct link_columns *columns[DERIVATIVES]; /* n_links                                                       */
    bool *varied, *reached;              /* n_links: varied by the batch; varied, or inward of a varied link */
    /* n_links: first and last link of the run, a chain of plain links to which nothing else is attached except at its end; -1: the
       link is not plain */
    int *run_start, *run_end;
    int seeds;   /* 3 or 6 */
    bool locked; /* joints and modes are not free: columns of forces */
};

/* Velocities of a joint that have a row: prescribed joints have forces, but not accelerations that change. */
static inline int moving_velocities(const struct link_model *lm, bool locked)
{
    return locked ? lm->joint.nv : free_velocities(lm);
}

struct jacobian *jacobian_make(const struct model *model, struct arena *arena);

/* Responses to all seeds (response.c). */
void jacobian_respond(const struct model *model, struct work *work, const struct tangent *tangent,
                      const struct input *in);
/* D (omega, alpha, a) of O as the position, or the rate, of a joint's velocity k changes                     (25, 26, 67) */
INLINE void hinge_change(const int kind, const struct link_model *lm, const struct link_work *w,
                         const struct link_tangent *t, const struct frame *C, int k, double *D)
{
    const double *h = w->h[k];
    if (lm->joint.part[k] == SLIDES) {
        double wh[3];
        memset(D, 0, 9 * sizeof *D);
        cross3(C->omega, h, wh);
        if (kind == BY_QD) axpy3(2, wh, D + 6);
        else cross3(C->acc, h, D + 6), add_cross3(C->omega, wh, D + 6);
    } else if (kind == BY_QD) {
        copy3(h, D);
        cross3(C->omega, h, D + 3);
        memset(D + 6, 0, 3 * sizeof *D);
    } else {
        cross3(w->O.omega, h, D);
        cross3(w->O.acc, h, D + 3);
        cross3(w->O.acc + 3, h, D + 6);
    }
    if (!lm->joint.several_turns) return;
    if (kind == BY_QD) {
        axpy3(1, t->subspace.rate[k], D + 3);
    } else {
        axpy3(1, t->subspace.velocity[k], D);
        axpy3(1, t->subspace.acceleration[k], D + 3);
        add_cross3(C->omega, t->subspace.velocity[k], D + 3);
    }
}

/* The joint's wrench f rotates with the link, or moves with it                                               (109) */
INLINE void add_joint_wrench(bool turns, const double *h, const double *p, const double *f, double *z)
{
    double turned[3];
    if (turns) {
        cross3(h, f + 3, turned);
        add_cross3(h, f, z);
        add_cross3(p, turned, z);
        axpy3(1, turned, z + 3);
    } else {
        add_cross3(h, f + 3, z);
    }
}

/* Runs `statement` with the number of seeds as a constant. */
#define WITH_SEEDS(N, count, statement) \
    do {                                \
        if ((count) == 3) {             \
            enum { N = 3 };             \
            statement;                  \
        } else {                        \
            enum { N = 6 };             \
            statement;                  \
        }                               \
    } while (0)

INLINE void add_response(const int seeds, const struct frame_response *frame, const double *seed, double *z)
{
    for (int i = 0; i < 6; i++) {
        double sum = z[i];
        for (int l = 0; l < seeds; l++) sum += frame->Z[i][l] * seed[l];
        z[i] = sum;
    }
}

/* The wrench P c that a subtree adds, moved to the reference, + Z s */
INLINE void response_wrench(const struct frame_response *frame, int seeds, const double *seed, double z[6])
{
    const double f[3] = {z[3], z[4], z[5]};
    add_cross3(frame->p, f, z);
    WITH_SEEDS(N, seeds, add_response(N, frame, seed, z));
}

/* A wrench at the reference, moved to a frame at p. */
INLINE void wrench_to(const double *p, const lanes *z, lanes *at)
{
    at[0] = z[0] - (p[1] * z[5] - p[2] * z[4]);
    at[1] = z[1] - (p[2] * z[3] - p[0] * z[5]);
    at[2] = z[2] - (p[0] * z[4] - p[1] * z[3]);
    for (int i = 3; i < 6; i++) at[i] = z[i];
}

#endif
