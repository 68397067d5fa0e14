/* The robot as the generated recursions see it. A part is a rigid or flexible body with a joint; rigid links on fixed joints belong to
   the part that carries them. Spatial quantities are in the axes of the part's frame and at its origin: for a flexible part O,
   for a rigid one a frame of our choice with z along the joint. The world's frame is chosen as well. */
#ifndef GENERATE_PARTS_H
#define GENERATE_PARTS_H

#include <math.h>

#include "base/arena.h"
#include "generate/path.h"
#include "mech/mechanism.h"

/* The arguments of a generated function, in this order. */
enum argument {
    ARG_Q,
    ARG_QD,
    ARG_TAU,
    ARG_QDD,
    ARG_PRESCRIBED,
    ARG_LINE,
    ARG_TIP_WRENCH,
    ARG_FRAME_WRENCH,
    ARG_KEPT,
    ARG_DRIVE_INPUT, /* inputs of the drives inside the arm, drive by drive                           */
    ARG_DRIVE_STATE, /* states, likewise                                                              */
    ARG_SLOPES,      /* derivatives of their efforts by position and rate of the first drive, of the second, ... */
    ARG_LAMBDA,      /* of the active constraints                                                     */
    ARGUMENTS
};

/* Elimination of a column of a joint. */
struct eliminated {
    expr U[6], G[6], inverse_D; /* P h, U/D, 1/D */
};

/* The frame of a part, or of a section of it, in axes of F at the origin of T. */
struct frame_part {
    expr omega[3], acc[6]; /* motion                       */
    expr b[6];             /* inertia forces               */
    struct spatial P;      /* inertia of what it carries   */
    expr x[6];             /* acceleration of a solution   */
};

/* A section of a flexible part. */
struct section_part {
    expr r[3], theta[3];
    expr (*J)[6];       /* m: velocity of T per eta_dot */
    struct solid solid; /* payload and what is fixed to T */
};

struct shortened;
struct geometric_part;

struct link_part {
    int link;                    /* of the model                                                     */
    const struct link_model *lm; /* of that link                                                     */
    int parent, mount;           /* part and its section that carry the joint; -1: the world, -1: O  */
    struct pose C;               /* joint frame in O or T of the parent                              */
    struct pose own;             /* the part's frame in O                                            */
    struct path path;            /* from the parent's frame, or T in axes of F, to the part's frame  */
    struct solid solid;          /* rigid part, or hub, with what is fixed to it                     */

    /* flexible: modal integrals at a state, F axes */
    int m;
    const expr *eta, *etad;
    expr c[3], N[6];
    expr (*rho)[3];                   /* n_shapes                              */
    expr (*F)[6];                     /* m: M_rf, then with what is attached   */
    expr *D;                          /* m x m: M_ff, then its factors         */
    expr *inverse_d;                  /* m                                     */
    expr (*W)[6];                     /* m                                     */
    struct shortened *shortened;      /* NULL: no foreshortening  */
    struct geometric_part *geometric; /* NULL: no geometric stiffness */
    int n_sections;
    struct section_part *section;

    /* flexible, where the hinge node moves: the part's frame has the axes of F and the origin O */
    bool hinge_moves;
    expr hinge[3], theta_d[3]; /* O and its rotation vector in F    */
    expr (*JF)[6];             /* m: velocity of F per eta_dot      */

    struct frame_part *frame;  /* 1 + n_sections: of the part, of its sections */
    expr *b_eta;               /* inertia forces of the modes                  */
    struct eliminated *column; /* of each element of the path                  */
};

/* Where a link is: a part, a section of it or -1, and the pose of O of the link in its O or T. */
struct host {
    int part, section;
    struct pose at;
};

struct robot_parts;

/* Names for the numbers of a robot, for equations to read: the frames are then those of the robot file. */
struct namer {
    /* The expression in place of a number, which is known by where it is stored. */
    expr (*symbol)(struct namer *namer, const struct robot_parts *parts, const double *at);
    /* May replace the rotation vector of a section of a link, or its rate, by a symbol. */
    void (*turn)(struct namer *namer, const struct robot_parts *parts, int link, const struct section *at, bool rate,
                 expr theta[3]);
};

struct robot_parts {
    struct graph *g;
    struct namer *namer; /* NULL: numbers are numbers */
    const struct mechanism *mechanism;
    const struct model *model;
    int n;
    struct link_part *part;
    struct host *host;            /* n_links */
    struct mass_properties *body; /* n_links, only with names: a rigid link or rigid beam, in O */
    struct pose world;            /* our world frame in the world */
    const double *const *kept;    /* n_kept numbers of the robot that stay arguments */
    int n_kept;
    int first[ARGUMENTS + 1]; /* inputs of the graph that hold an argument */
    expr *q, *qd, *tau, *qdd, *prescribed, *line;
    expr *tip_wrench, *frame_wrench; /* none: they are zero */
    expr gravity[3];                 /* in our world frame */
    struct arena arena;
};

/* The first input of the graph of each argument, and the number of all inputs. */
void parts_number_arguments(const struct mechanism *mechanism, int n_kept, bool wrenches, int first[ARGUMENTS + 1]);

/* namer: NULL, numbers are numbers. wrenches: those on the tip and on frames are arguments; else they are zero. */
enum status parts_make(struct graph *g, const struct mechanism *mechanism, struct namer *namer,
                       const double *const *kept, int n_kept, bool wrenches, struct robot_parts *parts);
void parts_free(struct robot_parts *parts);

/* A number of the robot as an expression. */
static inline expr constant(const struct robot_parts *parts, const double *at)
{
    if (parts->namer != NULL) return parts->namer->symbol(parts->namer, parts, at);
    const expr number = expr_number(parts->g, *at);
    for (int i = 0; i < parts->n_kept; i++)
        if (parts->kept[i] == at) return expr_input(parts->g, parts->first[ARG_KEPT] + i);
    return number;
}

/* Whether an entry of a symmetric n x n matrix is only rounding error of zero, against the diagonal. */
static inline bool entry_is_zero(const double *M, int n, int i, int j)
{
    return fabs(M[n * i + j]) <= 1e-13 * sqrt(fabs(M[(n + 1) * i] * M[(n + 1) * j]));
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* The hinge node of a flexible part in F, if it moves (flexible.c). */
void flexible_hinge(struct robot_parts *parts, struct link_part *part);
/* Turns from F to the hinge frame O, or with a minus back. */
void path_hinge(struct robot_parts *parts, const struct link_part *part, bool minus, struct path *path);
/* Mass of a flexible body with modes locked, about O in axes of F. */
struct solid flexible_solid(struct robot_parts *parts, const struct link_part *part);
/* Sections, mass blocks of flexible parts. */
void flexible_configuration(struct robot_parts *parts, struct link_part *part);
/* Inertia forces b, b_eta for eta_ddot = 0, and the motion of sections. */
void flexible_motion(struct robot_parts *parts, struct link_part *part);

/* Outward: frames' motion and inertia forces; qdd: NULL for zero except for prescribed joints (motion.c). */
void parts_motion(struct robot_parts *parts, const expr *qdd);
/* The acceleration given for velocity k of a link, or ZERO. */
expr motion_given_acceleration(const struct robot_parts *parts, const struct link_model *lm, int k, const expr *qdd);
/* Forces of friction, springs, stops and elastic couplings on velocity k of the part's joint. */
expr motion_joint_force(const struct robot_parts *parts, const struct link_part *part, int k);
/* Q - b of elastic coordinate k without inertia: -(K eta + D eta_dot). */
expr motion_elastic_force(const struct robot_parts *parts, const struct link_part *part, int k);

/* Inward: factors; without elimination composite bodies, and P h in U of every column (forward.c). After parts_motion(). */
void parts_articulate(struct robot_parts *parts, bool eliminate);

/* A right-hand side of the equations of motion, and what is left of it by elimination. */
struct residual {
    expr (**z)[6]; /* of each part: 1 + n_sections wrenches, at its frame and its sections */
    expr *u;       /* nv: residuals of columns and modes                                   */
};
/* Zero; `failed` of the arena: out of memory. */
void residual_make(struct robot_parts *parts, struct residual *r);
/* Inward: Q are generalized forces of joints and modes, nv. */
void parts_gather(struct robot_parts *parts, struct residual *r, const expr *Q);
/* Outward: accelerations. */
void parts_spread(struct robot_parts *parts, const struct residual *r, expr *qdd);

/* Generalized forces of a wrench on a part, or on a section of it, added to `along`, nv; f is overwritten (inverse.c). */
void inverse_project_wrench(struct robot_parts *parts, int part, int section, expr f[6], expr *along);

/* A frame in the world. */
struct placed {
    expr R[9], p[3];     /* columns of R are its axes              */
    expr omega[3], v[3]; /* of its origin, in axes of the frame    */
};
/* The pose b seen from the pose a, both given in the same frame. */
struct pose parts_pose_relative(const struct pose *a, const struct pose *b);
/* The path from the frame of a part, or of a section in axes of F, to an anchor of the model; sets where it starts. */
void path_to_anchor(struct robot_parts *parts, const struct anchor *anchor, int *part, int *section, struct path *path);
/* The frame of an anchor of the model. */
struct placed frames_anchor(struct robot_parts *parts, const struct anchor *anchor);

/* The functions: outputs in the order of the library. What is missing if memory runs out is told by `failed` of arena and graph. */
/* nv and n_active; the factors remain in parts and loops. */
struct loop_parts;
void forward_solution(struct robot_parts *parts, struct loop_parts *loops, expr *qdd, expr *lambda);
/* qdd, d(qdd)/dx and d(qdd)/dqd, nv and nv columns of nv each. */
void forward_jacobian(struct robot_parts *parts, expr *qdd_and_derivatives);
/* Forces of mechanism_residual() and accelerations of the gaps of active constraints, at accelerations and multipliers that are inputs
   (residual.c). */
void motion_residual(struct robot_parts *parts, expr *force_and_gaps); /* nv, n_active */
/* Inward, for the inertia forces of parts_motion(qdd). */
void inverse_generalized_forces(struct robot_parts *parts, const expr *qdd, expr *force);
void inverse_mass_matrix(struct robot_parts *parts, expr *M_and_bias); /* nv x nv, nv */
void frames_tip(struct robot_parts *parts, expr *tip);                 /* p 3, R 9, v 3, omega 3 */

#endif
