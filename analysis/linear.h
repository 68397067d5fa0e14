/* A robot linearized about an operating point: dx/dt = A x + B u, y = C x + D u for deviations from it. Inputs and outputs are
   those of the FMU; so are the states, except that the four numbers of a quaternion are replaced by its tangent, a small rotation
   vector dtheta in axes of the hinge frame: quaternion = quaternion0 o exp(dtheta/2). States are all tangents of q, then all
   velocities, then those of drives inside the arm. The derivatives are exact (instance_directional()). */
#ifndef ANALYSIS_LINEAR_H
#define ANALYSIS_LINEAR_H

#include "analysis/operating_point.h"

/* A state, an input or an output. */
struct signal {
    const char *name, *unit; /* unit: NULL: none                                                  */
    int reference;           /* value reference of an input or output; -1: a state                */
    double nominal;          /* of a state                                                        */
};

struct linear {
    struct operating_point *point;
    int n_states, n_inputs, n_outputs;
    int n_positions; /* tangents of q, and as many velocities; the other states are of drives                */
    struct signal *x, *u, *y;
    double *A, *B, *C, *D; /* row major                                                                        */
    int *coordinate;       /* n_positions: the velocities of the model that are states, and so is their tangent of q */
    double *basis;         /* nv x n_positions, row major: change of all tangents with these, by linear_minimal() of a
                              closed robot; else NULL                                                          */
};

/* At a point after operating_point_move(), with memory of the point, which must outlive the linearization. Problems are reported, here
   and below. */
enum status linear_make(struct operating_point *point, struct report *report, struct linear *linear);

/* Reduces a closed robot to minimal coordinates (minimal.c): states that the loops leave free. A, B, C, D are then those of motions on
   the loops, with prescribed motions among the inputs. An open robot stays as it is. */
enum status linear_minimal(struct linear *linear, struct report *report);

/* Index of the input or output with this name; -1, with a report, if there is none. */
int linear_find_input(const struct linear *linear, const char *name, struct report *report);
int linear_find_output(const struct linear *linear, const char *name, struct report *report);

#endif
