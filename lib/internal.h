/* The structs behind the handles of limber.h, which callers do not see. */
#ifndef LIB_INTERNAL_H
#define LIB_INTERNAL_H

#include <limber.h>
#include <stdbool.h>

#include "mech/mechanism.h"
#include "sim/point.h"
#include "sim/variables.h"

/* The caller's message callback, and the report that leads to it. */
struct messages {
    limber_message *message;
    void *context;
    struct report report;
};

struct limber_robot {
    struct messages messages;
    const char *name; /* its name in messages                                                 */
    const char *text; /* of the robot file, for analyses that make an instance of their own    */
    struct robot *robot;
    struct mechanism mechanism;
    bool redundancy_reported; /* redundant constraints were reported by an earlier closing                */

    struct point at; /* the state and the applied forces                                      */
    struct input in; /* points to its arrays                                                  */

    /* the variable table of its FMU: parameters, names of coordinates */
    struct variables variables;
    int n_parameters;
    const struct variable **parameter;            /* n_parameters                             */
    const struct variable **position, **velocity; /* nq, nv                                   */
    double *value, *old_value;                    /* by value reference: those of parameters  */

    /* scratch */
    double *next_q, *next_qd, *qdd, *force; /* nq, nv, nv, nv                 */
    double *zeros;                          /* nv                             */
    double *unit;                           /* n_tau: zeros between functions */
    double *by_q, *by_qd;                   /* nv x nv                        */
    struct arena arena;
};

/* ---- messages (limber.c) -------------------------------------------------------------------------------------- */

/* Initializes the report; the struct must not be moved afterwards. */
void lib_messages_start(struct messages *messages, limber_message *message, void *context);

/* Reports a failure of a call, `function` being its name, and returns the status. */
PRINTF_LIKE(4, 5)
int lib_call_failed(struct messages *messages, int status, const char *function, const char *format, ...);

bool lib_all_finite(int count, const double *number);

/* ---- robots --------------------------------------------------------------------------------------------------- */

/* The variable table, with the parameters of the file (parameters.c). */
enum status parameters_make(limber_robot *robot);

/* q and qd at the start: of the parameters, and of the file for prescribed joints. */
void parameters_start(const limber_robot *robot, double *q, double *qd);

#endif
