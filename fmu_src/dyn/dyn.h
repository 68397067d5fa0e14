/* The algorithms. Each is f(const model, work, ...): passes over the links outward, inward, outward.
   Order of use:  dyn_configuration(q) -> dyn_motion(qd, qdd) -> one of the solvers. */
#ifndef DYN_DYN_H
#define DYN_DYN_H

#include "dyn/work.h"

/* A wrench (moment; force) on O or a section of a link, at its origin, world axes: of loops and lines. */
struct load {
    int link;    /* -1: on the world, without effect */
    int section; /* -1: O                            */
    double wrench[6];
};

/* A state and the forces on it. NULL pointers mean zeros. */
struct input {
    const double *q, *qd;     /* nq, nv                                                          */
    const double *tau;        /* n_tau: torque or force for every joint velocity                 */
    const double *tip_wrench; /* (torque; force) on the tip frame, world axes   [N m; N]         */
    /* 6 for every frame of the robot: (torque; force) at its origin, world axes; without effect on frames that are only observed
       (model_frame_acts()) */
    const double *frame_wrench;
    const double *prescribed_qdd; /* n_prescribed                                                    */
    const double *line_force;     /* n_lines; mech/ converts them to loads              [N]      */
    double *
        drive; /* all values of the drives inside the arm, of which mech/ computes those that follow from states, inputs and
                      motion; NULL: their efforts are in tau and line_force                       */
    const double *joint_force; /* nv: more forces on the velocities of joints                    */
    int n_loads;
    const struct load *load; /* additional wrenches                                             */
};

/* Frames and mass blocks at q (kinematics.c, theory.md 20 to 24). */
void dyn_configuration(const struct model *model, struct work *work, const double *q);

/* T and J of a section, by the configuration of its link (theory.md 22). */
void dyn_section_position(const struct body *body, const struct section *shape, const double *eta,
                          const struct link_work *w, struct section_work *s);

/* Angular velocities, accelerations and inertia forces at qd for the accelerations qdd; qdd = NULL: zero except for prescribed
   joints (motion.c, theory.md 25 to 28). */
void dyn_motion(const struct model *model, struct work *work, const struct input *in, const double *qdd);

/* Adds wrenches to the inertia forces of dyn_motion(), as those of its input. */
void dyn_add_loads(struct work *work, int n_loads, const struct load *load);

/* (omega; acc) of F in F axes, from the motion of O, for eta_ddot = 0 (theory.md 27). */
void dyn_body_motion(const struct body *body, const struct link_work *w, const double *eta, const double *etad,
                     double omega[3], double acc[6]);
/* Adds the terms in eta_ddot to acc of F: none if the hinge node does not move. */
void dyn_body_acceleration(const struct body *body, const struct link_work *w, const double *etadd, double acc[6]);

/* Positions of the frames' origins, p of O and of the sections, which only constraints and elements need. */
void dyn_position(const struct model *model, struct work *work);

/* Positions and velocities of the frames' origins: p and v of O and of the sections. */
void dyn_velocity(const struct model *model, struct work *work, const struct input *in);

/* The sections that are only observed, for the accelerations qdd of the last dyn_motion(), which may be NULL: dyn_frame() then works
   for every frame of the robot, model->frame[i]. */
void dyn_observe(const struct model *model, struct work *work, const struct input *in, const double *qdd);

/* Factors the mass matrix body by body, M = U D U' without forming it (articulated.c, theory.md 29 to 33a). If it is not positive
   definite, work->failed_link is the link whose joint or modes have no inertia. */
enum status dyn_articulate(const struct model *model, struct work *work);

/* Forward dynamics: dyn_articulate(), and in the same inward pass the solution of M qdd = generalized forces, with the inertia forces of
   dyn_motion(): O(n). */
enum status dyn_articulate_and_solve(const struct model *model, struct work *work, const struct input *in, double *qdd);

/* x = M^-1 force, nv each, zero for prescribed coordinates, with these factors. */
void dyn_solve_forces(const struct model *model, struct work *work, const double *force, double *x);

/* ---- the Newton matrix N = M + gamma D + gamma^2 K of an implicit step (newton.c, theory.md 73) ------------------------- */

/* K and D hold link elasticity and damping, and the derivatives of the forces of springs, friction and stops of the joints at (q, qd)
   where these are not negative. For a work made for it, before dyn_articulate(). */
void dyn_newton_terms(const struct model *model, struct work *work, const double *q, const double *qd, double gamma);

/* force = K dx + D dv with the terms of the last dyn_newton_terms(); dx a tangent, nv numbers each. */
void dyn_newton_force(const struct model *model, const struct work *work, const double *dx, const double *dv,
                      double *force);

/* Forward dynamics by mass matrix and Cholesky factorization: the alternative (composite.c, theory.md 36 to 38). */
enum status dyn_forward_composite(const struct model *model, struct work *work, const struct input *in, double *qdd);

/* x = M^-1 x with its factors, zero for prescribed coordinates. */
void dyn_solve_composite(const struct model *model, const struct work *work, double *x);

/* Inertias of all that is outward of the frames, with joints and modes locked: Ic of O and the sections. */
void dyn_composite_inertias(const struct model *model, struct work *work);

/* M at the configuration of the last dyn_configuration(), nv x nv in work->M. */
void dyn_mass_matrix(const struct model *model, struct work *work);

/* Generalized forces M qdd + h - (part of the tip wrench) by the outward and inward recursion; qdd as in dyn_motion(), which
   dyn_inverse() calls. The hinge wrenches remain in work (inverse.c, theory.md 34, 35). */
void dyn_inverse_forces(const struct model *model, struct work *work, const struct input *in, const double *qdd,
                        double *force);
static inline void dyn_inverse(const struct model *model, struct work *work, const struct input *in, const double *qdd,
                               double *force)
{
    dyn_motion(model, work, in, qdd);
    dyn_inverse_forces(model, work, in, qdd, force);
}

/* Given accelerations of a prescribed joint; NULL: zero, or the joint is not prescribed. */
static inline const double *prescribed_acceleration(const struct link_model *lm, const struct input *in)
{
    return lm->prescribed >= 0 && in->prescribed_qdd != NULL ? in->prescribed_qdd + lm->prescribed : NULL;
}

/* Copies the given accelerations of a prescribed joint to qdd. */
void dyn_copy_prescribed(const struct link_model *lm, const struct input *in, double *qdd);

/* Forces of friction, springs and stops of a joint with N velocities. */
INLINE void joint_own_forces(const int N, const struct link_model *lm, const struct input *in, double *force)
{
    if (N == 1) force[0] = joint_coordinate_force(&lm->joint.number[0], in->q[lm->q], in->qd[lm->v]);
    else joint_forces(&lm->joint, in->q + lm->q, in->qd + lm->v, force);
}

/* Elastic forces -(K eta + D eta_dot), added to force[m]. */
void dyn_add_elastic_force(const struct body *body, const double *eta, const double *etad, double *force);

struct energy {
    double kinetic, elastic, gravity; /* elastic: strain, joint springs, stops           [J] */
    double power;                     /* sum tau qd of the driven joints                 [W] */
    double tip;                       /* power of the tip wrench                         [W] */
    double frames;                    /* power of the wrenches on frames                 [W] */
    double loss;                      /* dissipated by friction, link damping and stops  [W] */
};

/* (energy.c, theory.md 39) */
void dyn_energy(const struct model *model, const struct work *work, const struct input *in, struct energy *energy);

/* Pose, velocity and acceleration of a frame, world axes. */
struct frame_motion {
    double p[3], R[9];
    double v[3], omega[3];
    double a[3], alpha[3];
};

/* O or a section of a link; any frame fixed to a link; the tip frame, for the accelerations of the last dyn_motion() (frames.c). */
const struct frame *dyn_anchor_frame(const struct work *work, const struct anchor *anchor);
void dyn_frame(const struct model *model, const struct work *work, const struct anchor *anchor,
               struct frame_motion *motion);
void dyn_tip(const struct model *model, const struct work *work, int link, struct frame_motion *tip);

/* Moves the motion of a frame to a frame fixed in it, at a pose from it: r is the distance, world axes. */
void frame_move(const struct pose *at, double r[3], struct frame_motion *motion);

/* A wrench at the origin of a frame, as a load on O or the section that the frame is fixed to. */
struct load dyn_anchor_load(const struct work *work, const struct anchor *anchor, const double wrench[6]);

/* Generalized forces of a load, added to force[nv]: the transposed Jacobian of its frame, O(depth). After
   dyn_configuration(). */
void dyn_frame_force(const struct model *model, const struct work *work, const struct load *load, double *force);

/* For a flexible link: position of T in O minus its value at eta = 0, and the rotation vector of T in O, which is zero at eta = 0;
   axes of O. Zero for a rigid link. */
void dyn_deflection(const struct model *model, const struct work *work, int link, double deflection[3],
                    double rotation[3]);

/* The reaction of the joint on the link at O, (moment; force) in axes of O. */
void dyn_reaction(const struct work *work, int link, double wrench[6]);

#endif
