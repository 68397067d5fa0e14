/* Straight-line C code of one robot (limber generate): functions.c lists the functions, write.c writes the files. */
#ifndef GENERATE_GENERATE_H
#define GENERATE_GENERATE_H

#include <stdint.h>

#include "generate/graph/code.h"
#include "generate/parts.h"

enum { MOST_KEPT = 16, MOST_OUTPUTS = 4 };

/* A request: the robot, the prefix of its functions, the parameters that stay arguments. */
struct generation {
    struct mechanism *mechanism; /* the active constraints are those at the start */
    const char *prefix;
    bool wrenches;    /* those on the tip and on frames are arguments */
    double tolerance; /* of the test program, relative to the largest number of a result */
    int n_kept;
    const double *kept[MOST_KEPT]; /* numbers of the robot */
};

/* A generated function. */
struct generated {
    const char *name;                                         /* after the prefix               */
    const char *what;                                         /* the comment above it           */
    int n_arguments, n, n_results;                            /* n: with results; n_results: their numbers */
    struct parameter parameter[ARGUMENTS + MOST_OUTPUTS + 1]; /* arguments, then results, then zero */
    struct operation_counts counts;                           /* by generate_write()            */
};

/* Those from MOTION on are of robots with drives inside the arm; those from DRIVEN on call others. */
enum { FORWARD, INVERSE, MASS, JACOBIAN, TIP, RESIDUAL, MOTION, DRIVEN, DRIVEN_JACOBIAN, FUNCTIONS };
enum { KEPT_NAME = 256 };

/* Parameter by its name: `gravity`, `payload.mass` of the tip link, `LINK.payload.mass`. False: there is no such parameter. */
bool generate_keep(struct generation *what, const char *name);
/* The variable of an FMU for the number i of the parameters that are kept. */
const char *generate_kept_name(const struct generation *what, int i, char name[KEPT_NAME]);

/* How many functions the robot has. */
int generate_count(const struct generation *what);

/* Expressions of function i; the parts and the graph are made by it and freed by the caller. */
enum status generate_expressions(const struct generation *what, int i, struct graph *g, struct robot_parts *parts,
                                 expr **output, int *n_outputs);
/* What it is called and takes. */
struct generated generate_describe(const struct generation *what, int i);

/* Numbers before an argument among all inputs; before ARGUMENTS: all of them. */
int generate_first(const struct generation *what, int argument);

/* The library's result at values of all arguments, in the order of the graph's inputs. */
enum status generate_reference(const struct generation *what, int i, const double *inputs, double *result);
/* Values of all arguments at a random state, not too near a singular one: there the library's two algorithms agree to a tenth of
   the tolerance. STATUS_NOT_POSITIVE: none was found; STATUS_NO_MEMORY. */
enum status generate_random_inputs(const struct generation *what, uint64_t *seed, double *inputs);

/* Where the code goes. `open` makes a stream for the file of this name, NULL on failure, which it reports itself; the caller of
   generate_write() closes all of them. */
struct code_files {
    FILE *(*open)(void *context, const char *name);
    void *context;
};
enum { CODE_FILES = 24 };

/* Writes header, functions, test program and CMake file; fills `function`, FUNCTIONS of them. */
enum status generate_write(const struct generation *what, const struct code_files *files, struct generated *function);

/* The sources of an FMU's generated code (sim/robot_code.h): forward dynamics, residual, and the table of
   them. guid: of the instance. */
enum status generate_write_fmu(const struct generation *what, const char *guid, const struct code_files *files);
/* Name of the robot as a C identifier: the prefix of its functions. */
enum { PREFIX_SIZE = 64 };
void generate_prefix(const char *name, char prefix[PREFIX_SIZE]);

#endif
