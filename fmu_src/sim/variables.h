/* The variable table: every variable that an importer sees, once. The XML, the getters and setters, the columns of `limber
   simulate` and the saved state are generated from it; names are nowhere else.

   Every value, whatever its type, is one double in the instance's array `value`, at its value reference. What a variable of a
   robot does (where it is, how it is computed, its derivative, what it depends on, its limits) is written in its row in
   variables.c; the functions below use the row. */
#ifndef SIM_VARIABLES_H
#define SIM_VARIABLES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/limit.h"
#include "base/status.h"

struct model;
struct robot;
struct point;
struct outputs;
struct structure;
struct table_row;
struct drive_row;

enum causality { CAUSALITY_INPUT, CAUSALITY_OUTPUT, CAUSALITY_LOCAL, CAUSALITY_PARAMETER };
enum variability { VARIABILITY_CONTINUOUS, VARIABILITY_FIXED, VARIABILITY_TUNABLE, VARIABILITY_DISCRETE };
enum initial { INITIAL_NONE, INITIAL_EXACT, INITIAL_CALCULATED };
enum variable_type { TYPE_REAL, TYPE_INTEGER, TYPE_BOOLEAN };

struct variable {
    const char *name;
    const char *description;
    const char *unit;         /* "1" where dimensionless; NULL: not a Real                                */
    const char *display_unit; /* NULL: none                                                               */
    enum variable_type type;
    enum causality causality;
    enum variability variability;
    enum initial initial;
    const struct table_row *row;      /* row of the robot's table; NULL: a variable of a drive                  */
    const struct drive_row *in_drive; /* row of a drive inside the arm; NULL: not of one, or a derivative */
    int owner;         /* link, loop, coupling, line, frame (0: the tip), drive, supply; 0 for the robot's own */
    int k;             /* position, velocity, component, mode or equation, value of a drive, from 0 */
    int reference;     /* value reference: index into the values                                 */
    double start;      /* of inputs and parameters                                               */
    double nominal;    /* of states; 0: none                                                     */
    int state;         /* its number in the state vector; -1: not a state                        */
    int start_of;      /* parameter: number of the state that it is the start value of, else -1  */
    int rate;          /* state or input: reference of its time derivative; -1: not a variable   */
    int derivative_of; /* row of the state that it is declared the derivative of, else -1        */
    bool reinit;       /* state: an event of the FMU may change it (instance_project())          */
    const struct limit *limit; /* of a parameter; NULL: none                                     */
};

/* Initializers of a variable that no other refers to */
#define NO_RELATIONS .state = -1, .start_of = -1, .rate = -1, .derivative_of = -1

/* Value references of the parameters of the integration, solver.*, which follow each other in every table */
struct solver_parameters {
    int relative_tolerance, max_step, max_order, method, fixed_step, max_steps;
    int dense_jacobian; /* -1: no such parameter; all of them where nothing is integrated */
};
static inline struct solver_parameters solver_parameters(int first, bool dense_jacobian)
{
    return (struct solver_parameters){
        first, first + 1, first + 2, first + 3, first + 4, first + 5, dense_jacobian ? first + 6 : -1};
}

struct variables {
    int n;                                /* rows, aliases included        */
    int n_values;                         /* value references              */
    struct variable *row;                 /* n, in the order of the XML    */
    const struct variable **by_reference; /* n_values: the row that is not an alias                              */
    int n_states;
    int *state;      /* n_states: rows of the states, in the order of the state vector: (q; qd; w) without prescribed */
    int *derivative; /* n_states: rows of their derivatives                                                        */
    bool discrete;   /* outputs change at sample times alone: for co-simulation only                               */

    /* value references of parameters that the instance itself acts on */
    struct solver_parameters solver;
    int start_static; /* start from the static equilibrium; -1: no such parameter */
};

/* The table of a robot. */
enum status variables_make(const struct model *model, struct arena *arena, struct variables *variables);

/* Row of that name, -1 where there is none. */
int variables_find(const struct variables *variables, const char *name);

/* "{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}": a hash of the text that the instance is made from and of its table. */
enum { GUID_SIZE = 40 };
void variables_guid(const struct variables *variables, const char *text, char guid[GUID_SIZE]);

/* ---- what the rows of a robot know ----------------------------------------------------------------------------------------- */

/* Where a state, an input or a tunable parameter is in a point, or in a direction (sim/point.h); NULL: it is none of these. */
double *variable_place(const struct variable *variable, const struct point *point);

/* A computed variable, from the outputs of an instance (sim/outputs.h). */
double variable_value(const struct variable *variable, const struct outputs *outputs);

/* Its change, from the changes of the outputs in a direction; false: no derivative is provided. */
bool variable_change(const struct variable *variable, const struct outputs *changes, double *change);

/* Writes the value of a parameter to its number in the robot; true if that changes the model. */
bool variable_to_robot(const struct variable *variable, double value, struct robot *robot);

/* ---- dependencies (variables_depends.c) ------------------------------------------------------------------------------------ */

/* The structure of a robot that dependencies follow from; NULL: no memory. */
const struct structure *structure_make(const struct model *model, struct arena *arena);

/* Does an unknown (output, state derivative) depend on a known (input, state)? True unless the structure of the robot excludes
   it for any values of states, inputs and parameters. */
bool variable_depends(const struct variable *unknown, const struct variable *known, const struct structure *structure);

/* The same in initialization mode, where the knowns are inputs and parameters (variables_start.c). What an unknown depends on: a
   position that a loop or the static start may move, a velocity, a state of a drive. */
struct start_dependence {
    bool found, velocity, drive;
};
struct start_dependence variable_start_dependence(const struct variable *unknown, const struct variables *variables,
                                                  const struct structure *structure);
bool variable_depends_at_start(const struct variable *unknown, const struct variable *known,
                               const struct start_dependence *by, const struct variables *variables,
                               const struct structure *structure);

#endif
