/* A drive, or another companion of an arm: a table of variables and two functions over one array of their values. Everything
   else that makes an FMU of it (integration, saved states, derivatives, dependencies, XML) follows from these.

   v[0 .. n_rows - 1] are the variables in the order of the table, v[n_rows .. n_rows + n_states - 1] the time derivatives of
   the states in their order of the table; the index is the value reference. */
#ifndef DRIVE_H
#define DRIVE_H

#include <stdbool.h>

#include "sim/instance.h"

enum role { INPUT, OUTPUT, LOCAL, OUTPUT_STATE, LOCAL_STATE, PARAMETER };
enum demand {
    ANY_NUMBER,
    NOT_NEGATIVE,
    BELOW_ONE,
    ABOVE_ZERO,
    UP_TO_ONE,
    WHOLE_UP_TO_FIVE,
    WHOLE_METHOD,
    WHOLE
}; /* what a parameter must be; BELOW_ONE: from 0; UP_TO_ONE: above 0, at most 1; WHOLE_...: an integer from 0, WHOLE_METHOD: an
      enum method */

enum { CONFLICT_SIZE = 160 };

struct drive_row {
    const char *name;
    enum role role;
    const char *unit, *display_unit; /* NULL: none, or not the same in every use              */
    double number;                   /* start of an input or a parameter, nominal of a state  */
    enum demand demand;
    const char *description;
};

struct drive {
    const char *name, *description;
    int n_rows, n_states;
    const struct drive_row *row;
    int n_driven;       /* inputs position + i and rate + i, i < n_driven: the motion of what is driven */
    int position, rate; /* continues, within a step, at its rate                                        */

    /* States at the start, from parameters and inputs. */
    void (*start)(double *v);
    /* Outputs, locals and time derivatives of the states, from inputs, states and parameters. */
    void (*evaluate)(double *v);
    /* The time derivatives of the states as evaluate() sets them; other values may be set or not. */
    void (*rates)(double *v);
    /* Their change dv where inputs and states change by dv: linear in dv, without branches on it. */
    void (*tangent)(const double *v, double *dv);
    /* What is wrong with the parameters together, in words, perhaps in the text; NULL: nothing. Each alone is as demanded. */
    const char *(*conflict)(const double *v, char text[CONFLICT_SIZE]);
    /* What makes inputs and states impossible, in words; NULL: nothing. */
    const char *(*fault)(const double *v);
};

/* A drive's list of rows, X(identifier, members of struct drive_row ...), makes its indices and its table. */
#define DRIVE_INDEX(identifier, ...) identifier,
#define DRIVE_ROW(identifier, ...)   {__VA_ARGS__},

extern const struct drive servo_drive, cylinder_drive, axis_drive, sling_drive;

/* All of them; NULL ends the list. */
extern const struct drive *const all_drives[];

/* The parameters of the integration follow behind the derivatives. */
enum { RELATIVE_TOLERANCE, MAX_STEP, MAX_ORDER, METHOD, FIXED_STEP, MAX_STEPS, SOLVER_ROWS };
static inline int solver_reference(const struct drive *drive, int which)
{
    return drive->n_rows + drive->n_states + which;
}

/* The table of variables of a drive, with the start values of its file. The text: {"format": "limber-drive/1", "drive": NAME,
   "parameters": {NAME: VALUE, ...}}; `file` is what messages call it. Reports parameters with which the drive cannot start. */
enum status drive_variables(const struct drive *drive, const char *file, const char *text, struct report *report,
                            struct arena *arena, struct variables *variables);

/* An instance of a drive from this text (a drive file); as instance_make(). */
enum status drive_make(const struct drive *drive, const char *name, const char *text, struct report *report,
                       struct instance **instance);

/* For a drive all of whose parameters are compatible, and for one for which any state is possible. */
const char *drive_no_conflict(const double *v, char text[CONFLICT_SIZE]);
const char *drive_no_fault(const double *v);

/* What is wrong with a value of a parameter, in words; NULL: nothing. */
const char *drive_parameter_error(const struct drive *drive, int reference, double value);

/* Does the unknown depend on the known? By the structure of the tangent: a NaN as the seed makes every dependent value NaN. */
bool drive_depends(const struct drive *drive, const struct variables *variables, const struct variable *unknown,
                   const struct variable *known);

#endif
