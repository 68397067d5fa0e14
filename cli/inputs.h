/* Inputs of a simulation: the columns of a CSV file as functions of time. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "analysis/csv.h"
#include "sim/sim.h"

/* An input between two rows: straight line, spline, constant. Prescribed motion (J.q, J.qd, J.qdd) is always one curve: with
   BETWEEN_HELD q + qd s + qdd s^2/2 from each row on, otherwise the quintic through q, qd, qdd of both rows. */
enum between { BETWEEN_LINEAR, BETWEEN_CUBIC, BETWEEN_HELD };

/* A column, or the three of a prescribed coordinate. */
struct input_rows {
    bool is_motion;
    double *x[3]; /* n_rows each: values, slopes of the spline; for a motion q, qd, qdd. NULL: unused */
};

/* Where a time is between the rows. */
struct piece {
    double asked, t; /* the time that was asked for; the same without rounding errors at the ends of the step */
    int row;         /* where the piece starts; -1: before the first                                      */
    double h, s;     /* of a piece between two rows: its length, the fraction of it before t             */
};

struct inputs {
    enum between between;
    int n_rows, n_columns;
    double *t; /* n_rows */
    struct input_rows *column;
    int *place;               /* [value reference]: 3 * column + derivative; -1: the file has no column */
    bool *ends_step;          /* n_rows: the integrator must not step over this row                     */
    double from, to;          /* the present step [s]; values at its ends are limits from within        */
    int next;                 /* first row after `from`                                                 */
    struct piece piece;       /* of the last evaluation; asked: NAN: of a step before                   */
    struct input_curve curve; /* for instance_follow()                                                  */
};

/* Reads the columns of a file into memory of the arena; the inputs of the instance have their constant values. Missing columns of
   a motion are derived from the others: derivatives from neighboring rows, integrals starting at the constant value. Prints errors
   and returns an exit code. `inputs` must not be moved afterwards. */
int inputs_read(const char *file, enum between between, struct instance *sim, struct arena *arena,
                struct report *report, struct inputs *inputs);

/* Chooses the rows that end a step; `tolerance`: relative tolerance of the simulation. */
void inputs_choose_ends(struct inputs *inputs, double tolerance);

/* Begins a step at t and returns its end: the next row that ends a step, or `end` if that is earlier. */
double inputs_begin_step(struct inputs *inputs, double t, double end);

#endif
