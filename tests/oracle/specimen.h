/* A robot with its model, its work and one state: what a law is tried on. */
#ifndef ORACLE_SPECIMEN_H
#define ORACLE_SPECIMEN_H

#include "mech/mechanism.h"
#include "oracle/random.h"

struct specimen {
    char *text;          /* the robot file                                                          */
    struct robot *robot; /* may be changed by the test; then specimen_remake()                      */
    struct mechanism mechanism;
    struct model *model; /* of the mechanism */
    struct work *work;
    int nq, nv, n_frames;
    double *q;              /* nq                                                                   */
    double *qd;             /* nv                                                                   */
    double *qdd;            /* nv: room for accelerations, and after specimen_random() some of order 1 */
    double *force;          /* nv: room for generalized forces                                      */
    double *tau;            /* n_tau                                                                */
    double *prescribed_qdd; /* n_prescribed                                                         */
    double *line_force;     /* of the lines, which random robots have not                       */
    double *frame_wrench;   /* 6 of every frame, which random robots have not                       */
    double tip_wrench[6];
    struct input in; /* all of the above                                                     */
    struct random random;
    struct arena arena;
};

/* Nonzero when it worked; otherwise the reason stands on standard output. */
int specimen_random(struct specimen *specimen, int seed);       /* random robot in a random state */
int specimen_read(struct specimen *specimen, const char *text); /* this robot at its start        */
int specimen_remake(struct specimen *specimen);                 /* mechanism and arrays anew; keeps the state */
void specimen_random_state(struct specimen *specimen, struct random *random);
void specimen_free(struct specimen *specimen);

/* Copies what two robots of the same coordinates share: q, qd, qdd, tip wrench; where their numbers agree also tau and
   prescribed accelerations. */
void specimen_copy_state(const struct specimen *from, struct specimen *to);

/* The usual order of calls, for the accelerations qdd (NULL: none): configuration, motion, inverse dynamics into
   specimen->force, velocities. */
void specimen_evaluate(struct specimen *specimen, const double *qdd);

/* Accelerations of the tree: configuration, motion, and both passes of the articulated-body recursion. */
enum status tree_forward(const struct model *model, struct work *work, const struct input *in, double *qdd);

/* Where velocity i is found among tau and among the prescribed velocities; -1: it is not. */
int velocity_tau(const struct specimen *specimen, int i);
int velocity_prescribed(const struct specimen *specimen, int i);

/* Elastic coordinates and rates times a factor. */
void shrink_modes(struct specimen *specimen, double factor);

/* Modes at a tenth, and as often again until M is positive definite: without its square terms (`linear`) it is so near eta = 0
   alone. */
void make_positive(struct specimen *specimen);

/* |M| |qdd| + |h|: the terms that add up to the generalized forces, component by component. M stays in work. */
void force_terms(struct specimen *specimen, const double *qdd, double *sum);

/* The largest relative difference of anything that is computed (mass matrix, forces for the same qdd, energies, powers, tip,
   forward dynamics in 1e-4 of its size) of two robots that share their coordinates and state. */
double specimen_difference(struct specimen *a, struct specimen *b);

/* y = |M| |x|: what adds up, term by term, to M x */
void absolute_product(int n, const double *M, const double *x, double *y);

double norm(int n, const double *x);                      /* Euclidean */
double distance(int n, const double *x, const double *y); /* |x - y|   */

#endif
