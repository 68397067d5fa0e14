/* Exact directional derivatives of the dynamics by differentiating the recursion: O(n) per direction.
 *
 * From M qdd + h = Q follows  d(qdd) = M^-1 (dQ - d ID),  ID the inverse dynamics at the known qdd; so a direction is one pass
 * outward and inward of the tangent of dyn_inverse() and one solve with the existing factors (theory.md 43 to 48).
 *
 * Derivatives of a link's vectors are taken relative to its frame: D x = dx - dphi x x, dphi the small rotation of the frame
 * (world axes, dR = [dphi]x R). Bodies are at rest in their frames, so D of a rigid body's inertia is zero, and so is D of vectors
 * fixed to the parent frame (d, h). Terms that depend on the state only are computed once, as columns: per eta_k, eta_dot_k and
 * omega.
 *
 * Order of use:  dyn_configuration(q), dyn_articulate(), dyn_inverse(in, qdd), dyn_velocity(in), dyn_tangent_state(), then any
 * number of dyn_tangent(), each followed by dyn_tangent_motion() if outputs are needed. */
#ifndef DYN_TANGENT_H
#define DYN_TANGENT_H

#include "dyn/dyn.h"
#include "flex/tangent.h"

/* Changes of masses, for all links. */
struct mass_direction {
    const double *payload_mass;    /* n_links                                          */
    const double *payload_com;     /* 3 n_links, axes of T                             */
    const double *payload_inertia; /* 6 n_links, about the center of mass              */
    const double *added_mass;      /* n_links: factor of the added mass of a beam      */
};

/* A direction of the state and of the forces on it. NULL pointers mean zeros. */
struct direction {
    const double *q, *qd;         /* nv: a tangent of q, and qd; with those of prescribed joints */
    const double *tau;            /* n_tau                                                       */
    const double *tip_wrench;     /* 6, world axes                                               */
    const double *frame_wrench;   /* 6 for every frame of the robot, world axes                  */
    const double *prescribed_qdd; /* n_prescribed                                                */
    struct mass_direction masses;
    const double *actuator_force; /* n_actuators                                                 */
    double *drive;                /* of states and inputs of drives; mech/ computes the others   */
    const double *joint_force;    /* nv; read after the outward sweep                            */
};

/* (omega; alpha; a; u) of T, the frame of a section, u = v of T minus v of O; padded to whole vectors */
enum { TWELVE = PADDED(12) };

/* A frame's change in a direction. */
struct frame_tangent {
    double phi[3];    /* small rotation, world axes                   */
    double motion[9]; /* D of omega, alpha, a                         */
    double p[3];      /* dp (not relative), by dyn_tangent_position() */
    double v[3];      /* D v, by dyn_tangent_motion()                 */
};

/* A section of a flexible link. */
struct section_derivative {
    /* columns, by dyn_tangent_state(); world axes */
    double Tw[3][TWELVE]; /* motion of T per omega of O */
    double (*Tq)[TWELVE]; /* m: per eta_k               */
    double (*Tv)[TWELVE]; /* m: per eta_dot_k           */
    /* the section at the state, in F axes, for the columns */
    struct section_tangent shape;
    double omega[3], acc[6];            /* of T                                          */
    double u[3], r[3];                  /* v of T minus v of O; T minus O                */
    double f[6], Y[9];                  /* wrench at T; derivative by theta of Jl' n     */
    struct section_variation variation; /* of the current coordinate                     */

    /* one direction, by dyn_tangent_outward() */
    struct frame_tangent T;
    double J_deta[6];    /* small rotation of T relative to O, and D of r             */
    double x[SIX], y[6]; /* dyn_tangent_motion(): terms of dqdd in acceleration and wrench    */
};

/* Inertia forces of the unit added mass of a link, by dyn_tangent_state() (tangent_masses.c). */
struct added_tangent {
    struct body_state state;
    double wrench[6]; /* at O, world axes */
    double *modal;    /* PADDED(m)        */
};

struct link_tangent {
    struct added_tangent added;         /* of a beam with modes and added mass */
    struct section_derivative *section; /* n_all_sections */

    /* columns, by dyn_tangent_state(); world axes */
    double Bw[3][SIX]; /* wrench of body and hub at O per omega                                                      */
    double (*Bq)[SIX]; /* m: per eta_k                                                                               */
    double (*Bv)[SIX]; /* m: per eta_dot_k                                                                           */
    double Lw[3][SIX]; /* wrench of the payload at the tip per omega of T                                            */
    double *Gq;        /* m columns of PADDED(m): modal forces per eta_k, with stiffness and wrenches at the sections */
    double *Gv;        /* per eta_dot_k, damping included                                                            */
    double *Gw;        /* 3 columns of PADDED(m): per omega                                                          */
    double *Ft;        /* 6 columns of PADDED(m): per (alpha; a), M_rf'                                              */
    struct body_tangent body;
    struct section_tangent hinge;
    struct subspace_change subspace; /* of a joint with several rotational columns           */
    /* forces of the joint: (D H)' f - d(friction, springs, stops) per position, and per velocity */
    double Kq[MOST_VELOCITIES][MOST_VELOCITIES], Kv[MOST_VELOCITIES][MOST_VELOCITIES];

    /* one direction, by dyn_tangent_outward() and dyn_tangent_inward() */
    struct frame_tangent O;
    double f[6];       /* D of the hinge wrench                                             */
    double x[6], y[6]; /* dyn_tangent_motion(): terms of dqdd in acceleration and wrench     */
};

/* A section in as many directions as there are lanes. */
struct section_batch {
    lanes T[9];       /* D of omega, alpha, a of T                                     */
    lanes J_deta[6];  /* as in struct section_derivative                                                     */
    lanes f[6];       /* D of the wrench at T                                          */
    lanes z[6], x[6]; /* as in struct section_work, by dyn_solve_columns()             */
};

/* A link in as many directions as there are lanes. */
struct link_batch {
    bool moves, bends;             /* this link or one inward of it varies; one of its eta varies              */
    lanes O[9];                    /* D of omega, alpha, a                                                     */
    lanes f[6];                    /* D of the wrench at O                                                     */
    lanes *modal;                  /* m                                                                        */
    struct section_batch *section; /* n_sections                                              */
    lanes u[MOST_VELOCITIES], *e, z[6], x[6]; /* as in struct link_work, by dyn_solve_columns()          */
};

/* The directions of a batch, one per lane. Seeds outside [from, to) are zero. */
struct batch {
    int q_from, q_to, v_from, v_to;      /* velocities with varied position, with varied rate                  */
    lanes *q, *qd;                       /* nv                                                                 */
    lanes *prescribed_qdd;               /* n_prescribed; NULL: zero                                           */
    const struct mass_direction *masses; /* of the first lane; NULL: zero                                 */
};

struct jacobian;

/* A coordinate of a link, of its joint or a mode, and what it changes. */
struct coordinate {
    const struct model *model;
    int kind, link, mode;      /* mode: -1: of the joint             */
    struct frame_tangent base; /* of the joint: D of O and dp, D v   */
};

struct tangent {
    struct link_tangent *link;  /* n_links                                                                         */
    struct link_batch *batch;   /* n_links                                                                         */
    lanes *seed_q, *seed_qd;    /* nv: zeros between sweeps                                                        */
    lanes *seed_qdd;            /* n_prescribed                                                                    */
    double *force;              /* nv: change of generalized forces; of prescribed joints by dyn_tangent_motion() */
    double *zeros;              /* as many as any array of struct direction                                        */
    struct direction direction; /* the current one, with zeros for NULL                                            */
    struct jacobian *jacobian;  /* jacobian.h                                                                      */
    struct coordinate *coordinate, one_coordinate; /* NULL: the direction is not of one coordinate                 */
    struct arena arena;
};

/* tangent_masses.c */
enum status tangent_added_make(const struct body *body, struct arena *arena, struct added_tangent *t);
void tangent_added_state(const struct link_model *lm, const struct link_work *w, enum elastic_terms terms,
                         const double *eta, const double *etad, const double *etadd, struct added_tangent *t);
void tangent_masses_out(const struct model *model, const struct work *work, struct tangent *tangent,
                        const struct mass_direction *masses, int link);

enum status tangent_make(const struct model *model, struct tangent **tangent);
void tangent_free(struct tangent *tangent);

/* Columns at the state and accelerations of the last dyn_inverse() (tangent_columns.c). */
void dyn_tangent_state(const struct model *model, const struct work *work, struct tangent *tangent,
                       const struct input *in, const double *qdd);

/* dqdd in a direction; for prescribed joints it is taken from the direction (tangent.c). The arrays of the direction must remain
   valid until its outputs have been read. */
void dyn_tangent(const struct model *model, struct work *work, struct tangent *tangent, const struct input *in,
                 const struct direction *direction, double *dqdd);

/* The same in two parts, for loads that change with the frames they act on: after the first the small rotations of all frames are
   known, the second takes the change of the loads. */
void dyn_tangent_outward(const struct model *model, const struct work *work, struct tangent *tangent,
                         const struct input *in, const struct direction *direction);
void dyn_tangent_inward(const struct model *model, struct work *work, struct tangent *tangent, const struct input *in,
                        const double (*load)[6], double *dqdd);

/* The small rotation of O or a section in the direction, world axes. After dyn_tangent_outward(). */
const double *dyn_tangent_rotation(const struct tangent *tangent, int link, int section);

/* The change of a frame_motion, world axes; dR = [phi]x R. */
struct frame_derivative {
    double p[3], phi[3];
    double v[3], omega[3];
    double a[3], alpha[3];
};

/* Derivatives with respect to q, and to qd. */
enum { BY_Q, BY_QD, DERIVATIVES };

/* The direction of one coordinate, position or rate, at constant accelerations: dyn_tangent_frame() then is the change of a frame,
   without a sweep, because all that is outward of the coordinate moves as one body. */
void dyn_tangent_coordinate(const struct model *model, const struct work *work, struct tangent *tangent, int kind, int j);

/* The change of Q - ID with q and with qd at the qdd of dyn_tangent_state(), nv columns of nv each. These are M times d(qdd)/dq and
   d(qdd)/dqd; no factors are needed. In the rows of prescribed joints: minus the change of the driving force. `loaded`: what the columns
   hold is added to the change of Q. */
void dyn_force_jacobian(const struct model *model, struct work *work, struct tangent *tangent, const struct input *in,
                        bool loaded, double *by_q, double *by_qd);

/* Columns of generalized forces, `count` of nv, replaced by M^-1 times them; for prescribed joints 0, and their force is not read
   (tangent_solve.c). */
void dyn_solve_columns(const struct model *model, struct work *work, struct tangent *tangent, int count,
                       double *columns);

/* d(qdd)/dq and d(qdd)/dqd with constant loads, nv columns of nv each (jacobian.c); `loaded`: with the changes of generalized forces
   that the columns hold. After dyn_jacobian_state(), which is dyn_tangent_state() without what other functions need, or that. */
void dyn_jacobian_state(const struct model *model, const struct work *work, struct tangent *tangent,
                        const struct input *in, const double *qdd);
void dyn_jacobian(const struct model *model, struct work *work, struct tangent *tangent, const struct input *in,
                  bool loaded, double *by_q, double *by_qd);

/* Completes frames, wrenches and the forces of prescribed joints for the dqdd of the last dyn_tangent() (tangent_outputs.c). */
void dyn_tangent_motion(const struct model *model, const struct work *work, struct tangent *tangent,
                        const double *dqdd);

/* Sections that are only observed: columns at the state, after dyn_tangent_state() and dyn_observe(); then, for each direction, after
   dyn_tangent_motion() with the same dqdd. dyn_tangent_frame() then works for every frame of the robot, model->frame[i]. */
void dyn_tangent_observe_state(const struct model *model, const struct work *work, struct tangent *tangent,
                               const struct input *in, const double *qdd);
void dyn_tangent_observe(const struct model *model, const struct work *work, struct tangent *tangent,
                         const double *dqdd);

/* Sets dp of all frames, and D v, as dyn_tangent_motion() also does. After dyn_tangent_outward(). */
void dyn_tangent_position(const struct model *model, const struct work *work, struct tangent *tangent);
void dyn_tangent_velocity(const struct model *model, const struct work *work, struct tangent *tangent);

/* Changes of the results of dyn_frame(), dyn_reaction(), dyn_deflection(). After dyn_tangent_motion(); p and phi of a
   frame need only dyn_tangent_position(), the deflection only dyn_tangent(). */
void dyn_tangent_frame(const struct work *work, const struct tangent *tangent, const struct anchor *anchor,
                       struct frame_derivative *change);
/* Moves the change of a frame's motion to a frame at r, fixed in it; omega and alpha of both. */
void frame_move_change(const double r[3], const double omega[3], const double alpha[3],
                       struct frame_derivative *change);
/* d(R' x) = R' (dx - phi x x), x in world axes. */
void tangent_in_own_axes(const double R[9], const double phi[3], const double x[3], const double dx[3],
                         double change[3]);
void dyn_tangent_reaction(const struct work *work, const struct tangent *tangent, int link, double wrench[6]);
void dyn_tangent_deflection(const struct model *model, const struct work *work, const struct tangent *tangent, int link,
                            double deflection[3], double rotation[3]);

/* ---- the sweeps, over lanes (tangent_sweep.c) -------------------------------------------------------------------- */

/* Base to tips: D of motions and inertia forces. */
void tangent_sweep_out(const struct model *model, const struct work *work, struct tangent *tangent,
                       const struct input *in, const struct batch *batch);
/* A wrench (world axes; NULL: zero) at a frame rotates relative to it, and in the first lane changes by dwrench (NULL: zero). */
void tangent_sweep_load(const struct model *model, const struct work *work, struct tangent *tangent,
                        const struct batch *batch, const struct anchor *anchor, const double *wrench,
                        const double *dwrench);
/* Tips to base: minus the change of the generalized forces of dyn_inverse(), into `count` columns. */
void tangent_sweep_in(const struct model *model, const struct work *work, struct tangent *tangent,
                      const struct batch *batch, int count, double *columns);
/* Small rotation of O or a section, the sum of those inward of it. */
void tangent_sweep_rotation(const struct model *model, const struct work *work, const struct tangent *tangent,
                            const struct batch *batch, int link, int section, lanes *phi);

#endif
