/* Force elements: what exerts forces between places of a mechanism or on its joints. An element measures one number x that follows
   from the positions (a length, an angle, a gap) and its rate, and its force F acts along x: the generalized forces are J' F with
   J = dx/dq. A kind of element is a file with its operations and a row of the table in elements.c. (theory.md 59, 60, 101, 102, 113) */
#ifndef MECH_ELEMENT_H
#define MECH_ELEMENT_H

#include "math/dense.h"
#include "mech/attachment.h"

struct mechanism;
struct force_kind;

/* Numbers of an element that are outputs of the FMU, as NAME.name: x, its rate, or the force along it. */
enum element_number { ELEMENT_X, ELEMENT_RATE, ELEMENT_FORCE, ELEMENT_NUMBERS };
struct element_output {
    const char *name, *angle_unit, *unit; /* where x is an angle, a distance */
    enum element_number number;
    const char *description;
};

struct force_element {
    const struct force_kind *kind;
    const char *name;
    int part;  /* what it is in the robot: number of a line, of the link of a joint, of a coupling  */
    int drive; /* the drive that exerts its force; -1: none                                              */
    int site;  /* of the robot: the first where it acts                                                  */
    int load;  /* first of its kind->n_ends wrenches among those of the mechanism                        */
    const struct anchor *anchor; /* n_ends: where these act                                              */
    struct attachment *end;      /* n_ends                                                               */

    /* at a state */
    double x, rate;          /* what it measures, by elements_measure()               [m or rad; 1/s] */
    double u[3];             /* of a line: its direction                                              */
    double F;                /* force along x, by elements_act()                             [N, N m] */
    double by_x, by_rate;    /* derivatives of F, of a law of its own                                 */
    double energy, loss;     /* of a law of its own                                            [J, W] */
    double dx, drate, du[3]; /* changes in a direction, by elements_change()                          */
    double dF;               /* by elements_change_loads()                                            */

    /* in the Newton matrix, of which its term is J' s J: at the state of mechanism_newton_factor() */
    double s;         /* gamma^2 k + gamma d, after its own states are eliminated    (theory.md 102) */
    double *J;        /* nv; NULL: x is the position of a joint                                      */
    struct span span; /* of J                                                                */
};

struct force_kind {
    const char *part; /* in messages: the key of the robot file */
    bool on_joint;    /* x is the position of a joint           */
    bool given;       /* without a drive its force is an input  */
    int n_ends;       /* places where it acts                   */
    int n_outputs;
    const struct element_output *output;
    /* Of one without ends: whether position k of the joint of a link changes x. */
    bool (*moved_by)(const struct robot *robot, int part, int link, int k);
    bool (*is_angle)(const struct model *model, int part); /* NULL: x is a distance */
    /* Sets x, rate and places. STATUS_SHORT_LINE: it has no direction. */
    enum status (*measure)(struct mechanism *m, const struct input *in, struct force_element *e);
    /* Sets F without a drive, its derivatives, energy and loss. */
    void (*force)(struct mechanism *m, const struct input *in, struct force_element *e);
    /* Sets its wrenches; NULL: it acts on joints, by add_force(). */
    void (*set_loads)(struct mechanism *m, const struct force_element *e);
    /* force += J' F at the present places. */
    void (*add_force)(const struct mechanism *m, const struct force_element *e, double F, double *force);
    /* Sets dx, drate and du. */
    void (*change)(struct mechanism *m, const struct direction *direction, struct force_element *e);
    /* Sets the changes of its wrenches for dF and du; NULL: it acts on joints. */
    void (*change_loads)(struct mechanism *m, const struct force_element *e);
    /* dF without a drive where it is not by_x dx + by_rate drate; NULL. */
    double (*force_change)(const struct direction *direction, const struct force_element *e);
};

extern const struct force_kind line_element, hinge_element, coupling_element;

/* Whether the gap of a coupling is an angle: all its coordinates turn. */
bool coupling_is_angle(const struct model *model, int part);

/* All elements of a robot, in their order, without arrays. */
int elements_list(const struct robot *robot, struct arena *arena, struct force_element **list);
/* Its numbers at the state, or their changes. */
void element_numbers(const struct force_element *e, bool changes, double number[ELEMENT_NUMBERS]);

/* Elements of the robot: all its lines in their order, joints with drives, elastic couplings. Also after the model was made
   again. From the arena; the caller checks whether it failed. */
void elements_make(struct mechanism *m, struct arena *arena);
void elements_place(struct mechanism *m);

/* The element that a drive acts through. */
struct force_element *element_of_drive(struct mechanism *m, int drive);

/* Measures all elements at the present places; rates need DYN_VELOCITY. */
enum status elements_measure(struct mechanism *m, const struct input *in);

/* elements_measure(), then forces of all elements and drives, and their wrenches and forces on joints. */
enum status elements_act(struct mechanism *m, const struct input *in);

/* J = dx/dq, nv numbers. */
void element_row(const struct mechanism *m, const struct force_element *e, double *row);

/* Changes of all elements in a direction, of the drives and of the loads, at the changed places. */
void elements_change_loads(struct mechanism *m, const struct input *in, const struct direction *direction);

/* ---- in the Newton matrix ------------------------------------------------------------------------------------------------

   A force on the position of a joint adds s to the diagonal, like motor inertia. Other elements change the matrix by a term of low
   rank: with Y = N^-1 J' of the matrix without them, constraints included,

       (N + J' s J) x = f:   x = N^-1 f - Y (1/s + J Y)^-1 J N^-1 f                                           (Woodbury) */
struct element_rows {
    int n_active, *active; /* elements with s != 0 and a row                                                     */
    double *Y, *mu;        /* in that order, n_active x nv and n_active x n_rows: N^-1 J' and its multipliers    */
    double *T;             /* n_active x n_active: factors of 1/s + J Y                                          */
    int *pivot;            /* n_elements                                                                         */
    double *rhs;           /* n_elements                                                                         */
};

/* The velocity of x for generalized velocities v (or a change of it), and force += J' F, at the state of the last
   mechanism_newton_factor(). */
double element_velocity(const struct mechanism *m, const struct force_element *e, const double *v);
void element_add_force(const struct mechanism *m, const struct force_element *e, double F, double *force);

#endif
