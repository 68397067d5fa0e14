/* A drive, or another companion of an arm: a table of variables, and functions of one array of their values. Everything else that an
   FMU needs (integration, saved states, derivatives, dependencies, XML) follows from these.

   v[0 .. n_rows - 1] are the variables in the order of the table, v[n_rows .. n_rows + n_states - 1] the time derivatives of
   the states in their order of the table; the index is the value reference. */
#ifndef DRIVE_DRIVE_H
#define DRIVE_DRIVE_H

#include <stdbool.h>

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
}; /* what a parameter must be; BELOW_ONE: at least 0 and below 1; UP_TO_ONE: above 0, at most 1; WHOLE_...: an integer, at least 0;
      WHOLE_METHOD: a method of integration */

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
    int n_driven;       /* inputs position + i and rate + i, i < n_driven, are the motion of what is driven: */
    int position, rate; /* within a step the position continues at its rate                                 */
    int effort;         /* inside an arm: output that acts on it, a joint torque or the force of a line      */
    int command;        /* with hold(): input that it sets                                                            */
    int demand, share;  /* flow from the supply if it is unlimited, independent of the input share: the factor on that
                           flow; share = -1: no flow                                                                  */

    /* Sets the states at the start, from parameters and these inputs. */
    const int *start_inputs;
    int n_start_inputs;
    void (*start)(double *v);
    /* Sets the states and the input command so that the drive at rest, at the given v[position] and with v[rate] = 0, exerts v[effort].
       Returns NULL, or the reason why that is impossible, which may be written to the text. The function is NULL if the effort follows
       from the position. */
    const char *(*hold)(double *v, char text[CONFLICT_SIZE]);
    /* Computes outputs, locals and time derivatives of the states from inputs, states and parameters. */
    void (*evaluate)(double *v);
    /* Computes the time derivatives of the states as evaluate() does, and perhaps other values; NULL: evaluate() is as fast. */
    void (*rates)(double *v);
    /* The change of these values with changes of inputs and states, all in dv: linear in dv, without branches that depend on dv. */
    void (*tangent)(const double *v, double *dv);
    /* Returns NULL, or why the parameters, each of which is in its range, are not compatible; this may be written to the text. The function
       is NULL if they always are. */
    const char *(*conflict)(const double *v, char text[CONFLICT_SIZE]);
    /* Returns NULL, or why inputs and states are impossible. The function is NULL if none are. */
    const char *(*error)(const double *v);
};

/* Indices and table of a drive from its list of rows, X(identifier, members of struct drive_row ...). */
#define DRIVE_INDEX(identifier, ...) identifier,
#define DRIVE_ROW(identifier, ...)   {__VA_ARGS__},

extern const struct drive servo_drive, cylinder_drive, axis_drive, sling_drive, gear_drive, spring_drive;

/* Largest number of values of a drive, and of a companion. */
enum { MOST_VALUES = 128 };

static inline const char *drive_conflict(const struct drive *drive, const double *v, char text[CONFLICT_SIZE])
{
    return drive->conflict != NULL ? drive->conflict(v, text) : NULL;
}

static inline const char *drive_error(const struct drive *drive, const double *v)
{
    return drive->error != NULL ? drive->error(v) : NULL;
}

static inline bool drive_is_state(const struct drive_row *row)
{
    return row->role == OUTPUT_STATE || row->role == LOCAL_STATE;
}

static inline bool drive_has_supply(const struct drive *drive)
{
    return drive->share > 0;
}

/* The length of v. */
static inline int drive_values(const struct drive *drive)
{
    return drive->n_rows + drive->n_states;
}

/* The row of this name, which must exist. */
int drive_row(const struct drive *drive, const char *name);

/* The range of a parameter. */
const struct limit *drive_limit(const struct drive_row *row);

/* The unit of the time derivative of a value in `unit`, with one division at most. */
enum { UNIT_SIZE = 32 };
const char *drive_rate_unit(const char *unit, char text[UNIT_SIZE]);

/* Why a parameter must not have this value; NULL: it may. */
const char *drive_value_error(const struct drive_row *row, double value);

/* Values of the drive's table, n_rows + n_states: parameters and inputs with the numbers of the table, the rest 0. */
void drive_defaults(const struct drive *drive, double *v);

/* Whether the value `unknown` depends on the value `known`, with these parameters and inputs: the tangent of NaN in `known` is NaN in
   every dependent value. v is overwritten. */
bool drive_value_depends(const struct drive *drive, double *v, int unknown, int known);

#endif
