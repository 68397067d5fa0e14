/* The work struct: everything an algorithm writes. One per thread; its arrays are allocated once, at the start. Spatial vectors
   are (angular; linear) in world axes, at the link's hinge point O unless another point is named. */
#ifndef DYN_WORK_H
#define DYN_WORK_H

#include <assert.h>

#include "dyn/model.h"
#include "flex/inertia.h"
#include "math/rotation.h"

/* What has been computed since the last dyn_configuration(). What a function needs stands in its first line; a debug build stops there
   and names it. */
enum done {
    DYN_CONFIGURATION = 1, /* frames and mass blocks at q                             */
    DYN_POSITION = 2,      /* origins of all frames                                   */
    DYN_MOTION = 4,        /* angular velocities, accelerations, inertia forces       */
    DYN_VELOCITY = 8,      /* velocities of the origins                               */
    DYN_OBSERVED = 16,     /* sections that are only observed                         */
    DYN_FACTORS = 32,      /* of the mass matrix                                      */
    DYN_REACTIONS = 64,    /* wrenches at the hinges                                  */
    DYN_STAGED = 128       /* by the stages of a mechanism, which are still valid     */
};
#define NEEDS(work, what) (assert(((work)->done & (unsigned)(what)) == (unsigned)(what)), (void)(what))

/* A frame and its motion. */
struct frame {
    double R[9];     /* orientation: columns are its axes in the world                                       */
    double p[3];     /* origin, by dyn_velocity()                                                    [m]     */
    double omega[3]; /* angular velocity                                                             [rad/s] */
    double v[3];     /* velocity of the origin, by dyn_velocity()                                    [m/s]   */
    double acc[6];   /* (alpha; a) of the origin minus gravity, for the accelerations passed to dyn_motion() */
};

/* A section of a flexible link, with its frame T, on which something acts: the tip is the first. */
struct section_work {
    /* configuration, by dyn_configuration() */
    struct frame T;              /* the section's frame                                                      */
    double r[3];                 /* T minus O                                                           [m]  */
    double theta[3];             /* rotation vector of T in F                                                */
    struct exp_coefficients exp; /* of theta                                                                 */
    double (*J)[SIX];            /* m: velocity of T per eta_dot, O fixed                                    */
    double *Jt;                  /* 6 x m: the same by rows of PADDED(m)                                     */
    double RJ[9];                /* beams whose F is O: R Jl, of which the angular parts of J are columns     */
    double *H_eta;               /* PADDED(m): H eta; NULL without foreshortening                            */
    /* motion, by dyn_motion() */
    double b[6]; /* inertia wrench of the payload at T, minus the loads there [N m; N] */
    /* articulated body, by dyn_articulate() */
    struct inertia P; /* of what is attached to T, at T  */
    /* solution, by dyn_articulate_and_solve(), dyn_solve_forces() */
    double z[6];   /* bias wrench at T                                         */
    double x[SIX]; /* terms of qdd and eta_ddot in the acceleration of T       */
    /* inverse dynamics, by dyn_inverse() */
    double f[6]; /* wrench at T */
    /* composite body, by dyn_mass_matrix() */
    struct rigid Ic; /* of the part outward of T, about T */
};

struct link_work {
    /* configuration, by dyn_configuration() */
    struct frame O;
    double h[MOST_VELOCITIES][3]; /* columns of the joint's motion subspace: unit vectors                 */
    double d[3];                  /* O minus the origin of the parent frame                       [m]    */
    struct rigid self;            /* body and hub about O, modes locked                                   */
    struct rigid hub;             /* flexible: hub about O, included in self                              */
    struct rigid load;            /* flexible: payload about the tip                                      */
    /* flexible links only */
    struct section_work *section;  /* n_all_sections: the tip, then others; NULL: rigid                    */
    double *RF;                    /* orientation of F: that of O, or its own if the hinge node moves      */
    double rF[3];                  /* F's origin minus O                                            [m]    */
    double theta_d[3];             /* rotation vector of O in F                                            */
    struct exp_coefficients exp_d; /* of theta_d                                                           */
    double (*JF)[SIX];             /* m: velocity of F per eta_dot, O fixed; NULL if F is O                */
    double (*F)[SIX];              /* m: M_rf at O, of the body only                                       */
    double *M0;                    /* m rows of PADDED(m): M_ff at O; body.Mff if F is O                   */
    struct body_state body;

    /* motion, by dyn_motion() */
    double b[6];   /* inertia wrench of body and hub at O, minus the loads there    [N m; N] */
    double *b_eta; /* PADDED(m): modal inertia forces                                        */

    /* articulated body, by dyn_articulate() */
    struct inertia P;                  /* at O: before the hinge is eliminated, then after                     */
    double U[MOST_VELOCITIES][6];      /* P h_k, P with the columns after k eliminated                         */
    double inverse_D[MOST_VELOCITIES]; /* 1 / (h_k' P h_k + Jm)                                                */
    double *own_modes;                 /* what the link itself adds to D_f: M0, or the same of a Newton matrix */
    const double *own_hinge;           /* and to D of its hinge: Jm, or the same of a Newton matrix            */
    double *L;                         /* m x m by rows of PADDED(m): L' of D_f = L Delta L'                   */
    double *inverse_d;                 /* m                                                                    */
    double (*Z)[SIX];                  /* m: L^-1 F'                                                           */
    double (*W)[SIX];                  /* m: Delta^-1 L^-1 F', elimination gains of the modes                  */
    /* solution, by dyn_articulate_and_solve(), dyn_solve_forces() */
    double z[SIX];             /* bias wrench of the subtree at O, with its joints free                */
    double u[MOST_VELOCITIES]; /* hinge residuals                                                      */
    double *e;                 /* PADDED(m): modal residuals, L^-1 (...)                               */
    double x[6];               /* terms of qdd and eta_ddot in the acceleration of O                   */

    /* inverse dynamics, by dyn_inverse() */
    double f[6]; /* reaction: wrench of the joint on the link at O */

    /* Newton matrix, by dyn_newton_terms(): derivatives of the joint's forces; Jm + gamma d + gamma^2 k */
    double k_joint[MOST_VELOCITIES], d_joint[MOST_VELOCITIES], newton_hinge[MOST_VELOCITIES];

    /* composite body, by dyn_mass_matrix() */
    struct rigid Ic; /* composite of the subtree about O */
};

/* Of joints with one angle, by links; PADDED(n_links). */
struct joint_angles {
    double *angle, *sine, *cosine;
};

struct work {
    struct frame world;     /* its acc is minus gravity, by dyn_motion()          */
    struct link_work *link; /* n_links                                            */
    double *M;              /* nv x nv                                            */
    double *factor;         /* nv x nv, composite: factor of M                    */
    double *inverse_d;      /* nv                                                 */
    double *rhs;            /* nv                                                 */
    struct joint_angles angles;
    int failed_link;     /* link of STATUS_NOT_POSITIVE                        */
    unsigned done;       /* enum done                                          */
    double (*column)[6]; /* largest number of coordinates of a link: composite */
    struct arena arena;
};

/* newton: its dyn_articulate() factors a Newton matrix, by the terms of dyn_newton_terms(). */
enum status work_make(const struct model *model, bool newton, struct work **work);
void work_free(struct work *work);
/* After model_set_masses() of a link. */
void work_reset(const struct model *model, struct work *work, int link);

/* The section of the parent that a link is attached to; NULL: O of the parent, or the world. */
static inline struct section_work *mount_section(const struct link_model *lm, const struct work *work)
{
    return lm->mount < 0 ? NULL : &work->link[lm->parent].section[lm->mount];
}

/* The parent frame of a link. */
static inline const struct frame *mount_frame(const struct link_model *lm, const struct work *work)
{
    if (lm->parent < 0) return &work->world;
    return lm->mount < 0 ? &work->link[lm->parent].O : &mount_section(lm, work)->T;
}

/* The generalized force of velocity k from a wrench at O: h'n for a rotational column, h'f for a translational one. */
static inline double along_column(const struct link_model *lm, const struct link_work *w, int k, const double *wrench)
{
    return dot3(w->h[k], wrench + lm->joint.part[k]);
}

#endif
