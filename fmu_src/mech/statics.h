/* Static equilibrium of a mechanism: positions and forces for which nothing accelerates. (theory.md 97 to 100)
 *
 * Unknown are the coordinates that may move (joints that are free, all elastic coordinates), the multipliers of the loops and the
 * forces of lines that hold:
 *
 *     f(x) - tau - G' lambda - B F = 0 on the coordinates that move,   gap(x) = 0,   l(x) = l_start of the lines that are held
 *
 * by Newton's method with the exact tangent, so that unstable equilibria are found as well as stable ones; where that fails, by
 * following the path on which the forces that hold the start are released. */
#ifndef MECH_STATICS_H
#define MECH_STATICS_H

#include "mech/mechanism.h"

/* What a line does: its force is given; it is a spring (a drive without states), whose force depends on its length; its length is
   kept, and the force is found; or the force is found such that a joint that does not move needs no torque of its own
   (statics.balanced). */
enum line_role { LINE_GIVEN, LINE_SPRING, LINE_KEPT, LINE_BALANCES };

struct statics {
    /* the question: filled by the caller, or by statics_ask() */
    bool *moves;          /* nv: coordinates that may move                                                           */
    bool *balanced;       /* nv: coordinates that stay, and on which no force is left; as many as LINE_BALANCES       */
    enum line_role *line; /* n_lines                                                                             */

    /* the point: where the search begins, then the equilibrium */
    size_t point_size; /* of q, lambda and F, one after the other                                                  */
    double *q;       /* nq                                                                                            */
    double *dF;      /* n_lines: dF/dl of springs [N/m]                                                           */
    double *F;       /* n_lines [N]                                                                               */
    double *tau;     /* n_tau: of joints that move; those of the others are set to zero                               */
    double *lambda;  /* n_rows of the constraints                                                                     */
    struct input in; /* these and zero velocities; the caller adds wrenches                                          */

    /* the answer */
    double *holding;      /* nv: forces that hold the coordinates which do not move; rounding on the others           */
    double residual;      /* size of the forces that are left on coordinates that move                               */
    double load;          /* size of all the terms that balance each other                                           */
    int iterations;       /* evaluations of the tangent                                                              */
    bool followed_a_path; /* Newton's method alone did not succeed                                                   */
    int ambiguous; /* forces of loops and lines that hold the same point, as many directions: F is the smallest */

    /* equations and unknowns: coordinates that move, active rows of the loops, forces that are found */
    int n, k, h, N;
    int *coordinate; /* n: in qd                                                                                     */
    int *force;      /* h: lines                                                                                 */
    int *row_of;     /* h: coordinate that is balanced; -1: the length is kept                                       */
    double *length;  /* n_lines: at the start [m]                                                                */

    /* work */
    double *zero;                   /* nv                                                                          */
    double *f, *terms, *B;          /* nv; nv: sizes of the terms of f; h x nv                                     */
    double *r, *r_unit, *x_unit;    /* N: residual; units of rows and of unknowns                                  */
    double *start;                  /* N: residual where a path begins                                             */
    double *path_unit[2];           /* N: units of rows and unknowns along the path                                */
    double *J;                      /* (N + 1)^2, column major: tangent in these units                             */
    double *step, *along, *scratch; /* N + 1                                                                    */
    int *pivot[2];                  /* N + 1                                                                       */
    int rank;                       /* of J                                                                        */
    double *by_q, *by_qd;           /* nv x nv                                                                     */
    double *kept, *before;          /* nq + n_rows + n_lines: points to return to                              */
    double *guess, *begin;          /* likewise: where the search and where a path begins                          */
    double *gap_acceleration;       /* n_rows                                                                      */
    double fraction;                /* of `start` that is still applied; 0 at an equilibrium                       */
    double spring;                  /* of springs to the start that are applied with it, in units of the path      */
    struct arena arena;
};

/* How far an equilibrium is stable: directions that loops and held lines leave, in which the potential has a maximum, and in which it
   is flat. */
struct stability {
    int directions, unstable, indifferent;
};

enum status statics_make(const struct mechanism *m, struct statics *s);
void statics_free(struct statics *s);

/* The usual question: driven joints are held and passive ones free, unless the robot file says otherwise (`static`). A passive joint of
   six degrees of freedom is held. Lines are held in length; in an open robot with one line for each joint that lines move
   (joint_actuated()) these joints are held by the forces of the lines. */
void statics_ask(const struct mechanism *m, struct statics *s);

/* Solves from s->q, s->F, s->lambda = 0 with the loads of s->in. The loops must be closed there and their active rows chosen.
   STATUS_NO_EQUILIBRIUM: the point is the start, with the residual and the load there. STATUS_UNBALANCED: lines have no lever arms
   about the joints that they balance. */
enum status statics_solve(struct mechanism *m, struct statics *s);

/* Of the equilibrium that was found. Allocates scratch memory. */
enum status statics_stability(struct mechanism *m, struct statics *s, struct stability *stability);

/* The change of the equilibrium where forces (nv), gaps (by row) and lengths (by line) of the equations change, NULL: not: dx
   (nv), dlambda (n_rows), dF (n_lines), by the implicit function theorem. After statics_differentiate(). */
enum status statics_differentiate(struct mechanism *m, struct statics *s);
void statics_change(const struct mechanism *m, struct statics *s, const double *force, const double *gap,
                    const double *length, double *dx, double *dlambda, double *dF);

/* ---- shared with the path (statics_path.c) ----------------------------------------------------------------------------- */

/* r at the point, minus `fraction` of that of the start and of springs to it; its norm in r_unit, infinite if r cannot be computed. */
double statics_residual(struct mechanism *m, struct statics *s);
/* What is released along a path in row i: the residual of its start less springs to it. After statics_residual(). */
double statics_released(const struct statics *s, int i);
/* by_q and B at the point. After statics_residual(). */
void statics_derivatives(struct mechanism *m, struct statics *s);
/* statics_residual(), statics_derivatives(), and the units of rows and unknowns for the present sizes of terms and stiffness; on failure,
   why the residual cannot be computed. */
enum status statics_linearize(struct mechanism *m, struct statics *s);
/* J in these units; with `border` its columns have N + 1 elements. After statics_derivatives(). */
void statics_matrix(const struct mechanism *m, struct statics *s, bool border);
/* Moves the point by a fraction of a step in the units of the unknowns. */
void statics_move(struct mechanism *m, struct statics *s, const double *step, double fraction);
/* The largest fraction of a step that moves no joint by more than `most`. */
double statics_longest(const struct mechanism *m, const struct statics *s, const double *step, double most);
/* Copies the point to an array, and back. */
static inline void statics_keep(const struct statics *s, double *kept)
{
    memcpy(kept, s->q, s->point_size * sizeof *kept);
}
static inline void statics_return(struct statics *s, const double *kept)
{
    memcpy(s->q, kept, s->point_size * sizeof *kept);
}
/* Multipliers and forces that leave the least residual at the point, and units there. */
void statics_estimate(struct mechanism *m, struct statics *s);
/* Of all forces of loops and lines that hold the point, finds those with the smallest forces of lines; sets s->ambiguous. Allocates
   scratch memory. */
enum status statics_minimize_forces(struct mechanism *m, struct statics *s);
/* Newton's method from the point. */
enum status statics_newton(struct mechanism *m, struct statics *s);
/* Follows the path from the point to an equilibrium. */
enum status statics_follow(struct mechanism *m, struct statics *s);

#endif
