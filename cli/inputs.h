/* Inputs of a simulation: the columns of a CSV file as functions of time. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "analysis/csv.h"
#include "sim/sim.h"

/* What a column does between two rows. Prescribed motion (J.q, J.qd, J.qdd) is one curve in any case: with BETWEEN_HELD
   q + qd s + qdd s^2/2 from each row on, otherwise the quintic through q, qd, qdd of both rows. */
enum between { BETWEEN_LINEAR, BETWEEN_CUBIC, BETWEEN_HELD };

/* A column, or the three of a prescribed coordinate. */
struct input_rows {
    bool is_motion;
    double *x[3]; /* n_rows each: values; slopes of a spline. Of a motion: q, qd, qdd. NULL: not used */
};

struct inputs {
    enum between between;
    int n_rows, n_columns;
    double *t; /* n_rows */
    struct input_rows *column;
    int *place;               /* [value reference]: 3 column + derivative; -1: no column has this input */
    bool *ends_step;          /* n_rows: the integrator must not step over it                           */
    double from, to;          /* the present step [s]: at its ends the curves are those within it       */
    int row;                  /* last one before the time of the last evaluation; -1: none              */
    int next;                 /* first row after `from`                                                 */
    struct input_curve curve; /* for instance_follow()                                                  */
};

/* Reads the columns of a file for an instance whose inputs have their constant values, into memory of the arena. What is left out of
   a motion is derived from what is given: derivatives from neighboring rows, integrals from the constant value on. Problems are
   printed; the result is an exit code. The inputs must not be moved. */
int inputs_read(const char *file, enum between between, struct instance *sim, struct arena *arena,
                struct report *report, struct inputs *inputs);

/* Chooses the rows that end a step, for a relative tolerance of the simulation. */
void inputs_choose_ends(struct inputs *inputs, double tolerance);

/* Begins a step at t. It ends at the time returned: at a row that ends steps, at the latest at `end`. */
double inputs_begin_step(struct inputs *inputs, double t, double end);

#endif
