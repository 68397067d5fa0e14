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
 * number of directions, dyn_tangent_outward() to dyn_tangent_solve(), each followed by dyn_tangent_motion() if outputs are needed: what
 * a function needs stands in its first line (work.h). */
#ifndef DYN_TANGENT_H
#define DYN_TANGENT_H

#include "dyn/dyn.h"
#include "flex/tangent.h"

/* What has been computed at the state and in the present direction. */
enum tangent_done {
    TANGENT_STATE = 1,      /* columns, at the accelerations of the last dyn_inverse()        */
    TANGENT_COORDINATE = 2, /* the direction is that of one coordinate                        */
    TANGENT_OUTWARD = 4,    /* changes of all frames, at constant accelerations               */
    TANGENT_INWARD = 8,     /* changes of wrenches and generalized forces                     */
    TANGENT_MOTION = 16     /* both again, with the changes of the accelerations              */
};

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
    const double *line_force;  /* n_lines                                                 */
    double *drive;             /* of states and inputs of drives; mech/ computes the others   */
    const double *joint_force; /* nv; read after the outward sweep                            */
};

/* (omega; alpha; a; u) of T, the frame of a section, u = v of T minus v of O; padded to whole vectors */
enum { TWELVE = PADDED(12) };

/* A frame's change in a direction. */
struct frame_tangent {
    double phi[3];    /* small rotation, world axes                   */
    double motion[9]; /* D of omega, alpha, a                         */
    double p[3];      /* dp (not relative)                            */
    double v[3];      /* D v                                          */
};

/* A section of a flexible link. */
struct section_derivative {
    /* columns, by dyn_tangent_state(); world axes */
    double (*Tq)[TWELVE]; /* m: motion of T per eta_k   */
    double (*Tv)[TWELVE]; /* m: per eta_dot_k           */
    /* the section at the state, in F axes, for the columns */
    struct section_tangent shape;
    double omega[3], acc[6];            /* of T                                          */
    double u[3], r[3];                  /* v of T minus v of O; T minus O                */
    double f[6], Y[9];                  /* wrench at T; derivative by theta of Jl' n     */
    struct section_variation variation; /* of the current coordinate                     */

    /* one direction, by dyn_tangent_outward() */
    struct frame_tangent T;
    double J_deta[6]; /* small rotation of T relative to O, and D of r             */
    double df[6];     /* D of the wrench at T                                      */
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
    double Bw[3][SIX]; /* wrench of a flexible body at O per omega                                                   */
    double (*Bq)[SIX]; /* m: per eta_k                                                                               */
    double (*Bv)[SIX]; /* m: per eta_dot_k                                                                           */
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
    double f[6];   /* D of the hinge wrench                                             */
    double *modal; /* m: D of the modal forces                                          */
};

/* As in struct section_work and struct link_work, in as many columns as there are lanes, by dyn_solve_columns(). */
struct section_solution {
    lanes z[6], x[6];
};

struct link_solution {
    lanes u[MOST_VELOCITIES], *e, z[6], x[6];
    struct section_solution *section; /* n_sections */
};

struct jacobian;

/* A coordinate of a link, of its joint or a mode, and what it changes. */
struct coordinate {
    const struct model *model;
    bool rate;
    int link, mode;            /* mode: -1: of the joint             */
    struct frame_tangent base; /* of the joint: D of O and dp, D v   */
};

struct tangent {
    struct link_tangent *link; /* n_links                                                                         */
    struct link_solution *solution; /* n_links                                                                     */
    double *force;                /* nv: change of generalized forces; of joints for dqdd after dyn_tangent_motion() */
    double *dqdd;                 /* nv: accelerations in the changes of frames: those of prescribed joints, or all  */
    double *zeros;                /* as many as any array of struct direction                                        */
    struct direction direction;   /* the current one, with zeros for NULL                                            */
    struct jacobian *jacobian;    /* jacobian.h                                                                      */
    struct coordinate coordinate; /* by dyn_tangent_coordinate()                                                   */
    unsigned done;                /* enum tangent_done                                                             */
    struct arena arena;
};

/* tangent_masses.c */
void tangent_added_make(const struct body *body, struct arena *arena, struct added_tangent *t);
void tangent_added_state(const struct link_model *lm, const struct link_work *w, enum elastic_terms terms,
                         const double *eta, const double *etad, const double *etadd, struct added_tangent *t);
void tangent_masses_out(const struct model *model, const struct work *work, struct tangent *tangent, int link);

enum status tangent_make(const struct model *model, struct tangent **tangent);
void tangent_free(struct tangent *tangent);

/* Columns at the state and accelerations of the last dyn_inverse() (tangent_columns.c). */
void dyn_tangent_state(const struct model *model, const struct work *work, struct tangent *tangent,
                       const struct input *in, const double *qdd);

/* One direction in two parts, for loads that change with the frames they act on: after the first the changes of all frames are known,
   at constant accelerations, the second takes the change of the loads (NULL: none). The arrays of the direction must remain valid until
   its outputs have been read. */
void dyn_tangent_outward(const struct model *model, const struct work *work, struct tangent *tangent,
                         const struct direction *direction);
void dyn_tangent_inward(const struct model *model, const struct work *work, struct tangent *tangent,
                        const struct input *in, const double (*load)[6]);

/* dqdd at constant multipliers from the force of dyn_tangent_inward(); 0 for prescribed joints. */
void dyn_tangent_solve(const struct model *model, struct work *work, struct tangent *tangent, double *dqdd);

/* The change of a frame_motion, world axes; dR = [phi]x R. */
struct frame_derivative {
    double p[3], phi[3];
    double v[3], omega[3];
    double a[3], alpha[3];
};

/* Derivatives with respect to q, and to qd. */
enum { BY_Q, BY_QD, DERIVATIVES };

/* The direction of one coordinate, position or rate, at constant accelerations: without a sweep, because all that is outward of the
   coordinate moves as one body, and with it a frame that is fixed to O or a section. */
void dyn_tangent_coordinate(const struct model *model, const struct work *work, struct tangent *tangent, bool rate,
                            int j);
void dyn_coordinate_frame(const struct work *work, const struct tangent *tangent, const struct anchor *anchor,
                          const struct frame_motion *frame, struct frame_derivative *change);

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
   that the columns hold. */
void dyn_jacobian(const struct model *model, struct work *work, struct tangent *tangent, const struct input *in,
                  bool loaded, double *by_q, double *by_qd);

void dyn_tangent_copy_prescribed(const struct model *model, const struct tangent *tangent, double *dqdd);

/* Changes of frames, wrenches and forces of joints in the last direction with these dqdd, in which those of prescribed joints are set. */
void dyn_tangent_motion(const struct model *model, const struct work *work, struct tangent *tangent,
                        const struct input *in, const double (*load)[6], double *dqdd);

/* Sections that are only observed: columns at the state, and their changes in a direction. dyn_tangent_frame() then works for every frame
   of the robot, model->frame[i]. */
void dyn_tangent_observe_state(const struct model *model, const struct work *work, struct tangent *tangent,
                               const struct input *in, const double *qdd);
void dyn_tangent_observe(const struct model *model, const struct work *work, struct tangent *tangent);

/* Changes of the results of dyn_frame(), dyn_reaction(), dyn_deflection(); those of alpha and a of a frame at constant accelerations before
   dyn_tangent_motion(). */
void dyn_tangent_frame(const struct work *work, const struct tangent *tangent, const struct anchor *anchor,
                       struct frame_derivative *change);
/* d(R' x) = R' (dx - phi x x), x in world axes. */
void tangent_in_own_axes(const double R[9], const double phi[3], const double x[3], const double dx[3],
                         double change[3]);
void dyn_tangent_reaction(const struct work *work, const struct tangent *tangent, int link, double wrench[6]);
void dyn_tangent_deflection(const struct model *model, const struct work *work, const struct tangent *tangent, int link,
                            double deflection[3], double rotation[3]);

/* ---- parts of them ------------------------------------------------------------------------------------------------- */

/* All that is outward of a varied frame moves with it as one body: its change, as that of a frame with this place and motion. With
   g = D alpha - D omega x omega
   D alpha = g + D omega x omega,   D a += g x r + 2 D omega x (v - v_from),   D v += D omega x r,   dp += phi x r     (103) */
void tangent_carry(const struct frame *from, const struct frame_tangent *t, const double *p, const double *v,
                   const double *omega, struct frame_tangent *moved);

/* The change of O with the position or rate of velocity k of its joint; of a section, with that of a mode. */
void tangent_hinge(const struct model *model, const struct work *work, const struct tangent *tangent, int link, int k,
                   bool rate, struct frame_tangent *base);
void tangent_mode(const struct work *work, const struct tangent *tangent, int link, int section, int k, bool rate,
                  struct frame_tangent *base);

/* The change of a section in the direction, after that of O of its link. */
void tangent_section_out(const struct link_model *lm, const struct work *work, struct tangent *tangent, int link,
                         int section);

#endif
