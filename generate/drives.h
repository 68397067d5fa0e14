/* Drives inside the arm in generated code: their equations are those of fmu_src/drive, as text, so that there is no second form of them. */
#ifndef GENERATE_DRIVES_H
#define GENERATE_DRIVES_H

#include "drive/drive.h"
#include "generate/generate.h"

/* Sources of fmu_src/drive: the equations of a drive, or the headers that they need. */
struct drive_text {
    const char *name;        /* of the drive; "": the headers            */
    const char *const *line; /* until NULL                               */
};
extern const struct drive_text drive_texts[]; /* until a NULL name; made by build/drive_text.py */

/* Whether the robot needs a text. */
bool drives_need(const struct robot *robot, const struct drive_text *text);
/* Writes a text that the robot needs. */
void drives_write_text(FILE *file, const struct generation *what, const struct drive_text *text);
/* Which inputs and states are which, as comments. */
void drives_write_names(FILE *file, const struct robot *robot);
/* What the functions with drives call: all values of the drives and their changes. */
void drives_write(FILE *file, const struct generation *what);

int drives_count_inputs(const struct robot *robot);
/* All values of the drives, from their inputs and states. */
void drives_set(const struct robot *robot, const double *input, const double *state, double *values);
/* Inputs at random, and states near those of the start. */
void drives_random(const struct robot *robot, uint64_t *seed, double *input, double *state);

#endif
