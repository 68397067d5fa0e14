/* THE variable table: every variable that an importer sees, once. The XML, the getters and setters, the columns of
   `limber simulate` and the saved state walk it; nothing else knows a name.

   Every value, whatever its type, is one double in the instance's array `value`, at its value reference. Variables of one
   kind and one owner stand together, so first[KIND][owner] + k finds them. */
#ifndef SIM_VARIABLES_H
#define SIM_VARIABLES_H

#include "base/arena.h"
#include "base/status.h"

struct model;

enum causality { CAUSALITY_INPUT, CAUSALITY_OUTPUT, CAUSALITY_LOCAL, CAUSALITY_PARAMETER };
enum variability { VARIABILITY_CONTINUOUS, VARIABILITY_FIXED, VARIABILITY_TUNABLE };
enum initial { INITIAL_NONE, INITIAL_EXACT, INITIAL_CALCULATED };
enum variable_type { TYPE_REAL, TYPE_INTEGER, TYPE_BOOLEAN, TYPE_ENUMERATION };

/* What a variable is; the owner (a link, a loop, an actuator, or the robot) says of what. */
enum kind {
    KIND_TAU_IN, /* driven joint                                  */
    KIND_Q_IN,   /* prescribed joint: its motion                  */
    KIND_QD_IN,
    KIND_QDD_IN,
    KIND_TIP_FORCE,
    KIND_TIP_TORQUE,
    KIND_ACTUATOR_FORCE, /* actuator                                      */
    KIND_Q,              /* joint that moves by itself: states            */
    KIND_QD,
    KIND_QDD,
    KIND_TAU_OUT, /* prescribed joint: what the drive must give    */
    KIND_TIP_POSITION,
    KIND_TIP_QUATERNION,
    KIND_TIP_VELOCITY,
    KIND_TIP_ANGULAR_VELOCITY,
    KIND_TIP_ACCELERATION,
    KIND_DEFLECTION, /* flexible link                                 */
    KIND_ROTATION,
    KIND_ROOT_FORCE, /* every link                                    */
    KIND_ROOT_MOMENT,
    KIND_LOOP_FORCE, /* loop: its multipliers                         */
    KIND_ACTUATOR_LENGTH,
    KIND_ACTUATOR_RATE,
    KIND_ETA, /* flexible link: states                         */
    KIND_ETAD,
    KIND_ETADD,
    KIND_ENERGY_KINETIC,
    KIND_ENERGY_ELASTIC,
    KIND_ENERGY_GRAVITY,
    KIND_ENERGY_TOTAL,
    KIND_POWER_JOINTS,
    KIND_POWER_ACTUATORS,
    KIND_POWER_LOSSES,
    KIND_Q_START, /* parameters from here on                       */
    KIND_QD_START,
    KIND_ETA_START,
    KIND_ETAD_START,
    KIND_GRAVITY,
    KIND_LENGTH,
    KIND_MASS_PER_LENGTH,
    KIND_EIY,
    KIND_EIZ,
    KIND_GJ,
    KIND_EA,
    KIND_DAMPING_RATIO,
    KIND_VISCOUS,
    KIND_COULOMB,
    KIND_MOTOR_INERTIA,
    KIND_STIFFNESS,
    KIND_REST,
    KIND_PAYLOAD_MASS,
    KIND_ELASTIC_TERMS,
    KIND_START_STATIC,
    KIND_RELATIVE_TOLERANCE,
    KIND_MAX_STEP,
    KIND_MAX_ORDER,
    KIND_COUNT
};

struct variable {
    const char *name;
    const char *description;
    const char *unit;         /* "1" where dimensionless; NULL: not a Real        */
    const char *display_unit; /* NULL: none                                      */
    enum variable_type type;
    enum causality causality;
    enum variability variability;
    enum initial initial;
    enum kind kind;
    int owner;         /* link; 0 for the robot's own                      */
    int k;             /* component or mode, from 0                        */
    int reference;     /* value reference: index into the values           */
    double start;      /* of inputs and parameters                         */
    double nominal;    /* of states; 0: none                               */
    int derivative_of; /* index of the state it derives, else -1           */
};

struct variables {
    int n;                                /* rows, aliases included        */
    int n_values;                         /* value references              */
    struct variable *row;                 /* n, in the order of the XML    */
    const struct variable **by_reference; /* n_values: the row that is not an alias */
    int *first[KIND_COUNT];               /* [owner]: first value reference of that kind, -1 where it has none */
    int n_states;                         /* 2 (n - n_prescribed)          */
    int *state;      /* n_states: rows of the states, in the order of the state vector: (q; qd) without prescribed */
    int *derivative; /* n_states: rows of their derivatives (aliases of qd and qdd) */
};

enum status variables_make(const struct model *model, struct arena *arena, struct variables *variables);

/* Row of that name, -1 where there is none. */
int variables_find(const struct variables *variables, const char *name);

/* "{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}": a hash of the text that the instance is made from and of its table. */
enum { GUID_SIZE = 40 };
void variables_guid(const struct variables *variables, const char *text, char guid[GUID_SIZE]);

#endif
