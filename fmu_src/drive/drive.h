/* A drive, or another companion of an arm: a table of variables and two functions over one array of their values. Everything
   else that makes an FMU of it (integration, saved states, derivatives, dependencies, XML) follows from these.

   v[0 .. n_rows - 1] are the variables in the order of the table, v[n_rows .. n_rows + n_states - 1] the time derivatives of
   the states in their order of the table; the index is the value reference. */
#ifndef DRIVE_DRIVE_H
#define DRIVE_DRIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/limit.h"

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
}; /* what a parameter must be; BELOW_ONE: from 0; UP_TO_ONE: above 0, at most 1; WHOLE_...: an integer from 0, WHOLE_METHOD: a
      method of integration */

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
    int effort;         /* output that acts on the arm: a joint torque or the force of a line actuator; -1: none      */
    int command;        /* input that hold() sets; -1: none                                                           */
    int demand, share;  /* flow from the supply if it is unlimited, independent of the input share: the factor on that
                           flow; -1: no flow                                                                          */

    /* States at the start, from parameters and these inputs. */
    const int *start_inputs;
    int n_start_inputs;
    void (*start)(double *v);
    /* States, and the input command, with which the drive at rest, v[position] given and v[rate] = 0, exerts v[effort]. Returns
       what makes that impossible, in words, perhaps in the text; NULL: nothing. The function is NULL if there is no choice. */
    const char *(*hold)(double *v, char text[CONFLICT_SIZE]);
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

extern const struct drive servo_drive, cylinder_drive, axis_drive, sling_drive, gear_drive, spring_drive;

/* Values of a drive, and of the companion that is made of it: at most this many. */
enum { MOST_VALUES = 128 };

/* For a drive all of whose parameters are compatible, and for one for which any state is possible. */
const char *drive_no_conflict(const double *v, char text[CONFLICT_SIZE]);
const char *drive_no_fault(const double *v);

static inline bool drive_is_state(const struct drive_row *row)
{
    return row->role == OUTPUT_STATE || row->role == LOCAL_STATE;
}

static inline bool drive_has_supply(const struct drive *drive)
{
    return drive->share > 0;
}

/* The numbers of v. */
static inline int drive_values(const struct drive *drive)
{
    return drive->n_rows + drive->n_states;
}

/* The row of this name, which must exist. */
int drive_row(const struct drive *drive, const char *name);

/* Must it be an integer? */
bool drive_is_whole(const struct drive_row *row);

/* What a parameter may be. */
const struct limit *drive_limit(const struct drive_row *row);

/* The unit of the time derivative of a value in `unit`, with one division at most. */
enum { UNIT_SIZE = 32 };
const char *drive_rate_unit(const char *unit, char text[UNIT_SIZE]);

/* What is wrong with the value of a parameter, in words; NULL: nothing. */
const char *drive_value_error(const struct drive_row *row, double value);

/* Values of the drive's table, n_rows + n_states: parameters and inputs with the numbers of the table, the rest 0. */
void drive_defaults(const struct drive *drive, double *v);

/* Does the value `unknown` depend on the value `known`, with these parameters and inputs? By the structure of the tangent: a NaN as
   the seed makes every dependent value NaN. v is overwritten. */
bool drive_value_depends(const struct drive *drive, double *v, int unknown, int known);

#endif
