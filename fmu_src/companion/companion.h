/* A companion of an arm: a drive (drive/drive.h) as an instance of its own, with the parameters of its integration. */
#ifndef COMPANION_H
#define COMPANION_H

#include "drive/drive.h"
#include "sim/instance.h"

/* All of them; NULL ends the list. */
extern const struct drive *const companion_drives[];

/* Parameters of the integration, which follow after the derivatives. */
enum { SOLVER_ROWS = 6 };
static inline int solver_reference(const struct drive *drive, int which)
{
    return drive->n_rows + drive->n_states + which;
}

/* The table of variables of a drive, with the start values of its file. The text: {"format": "limber-drive/1", "drive": NAME,
   "parameters": {NAME: VALUE, ...}}; `file` is what messages call it. Reports parameters with which the drive cannot start. */
enum status companion_variables(const struct drive *drive, const char *file, const char *text, struct report *report,
                                struct arena *arena, struct variables *variables);

/* An instance of a drive from this text (a drive file); as instance_make(). */
enum status companion_make(const struct drive *drive, const char *name, const char *text, struct report *report,
                           struct instance **instance);

/* Whether the unknown depends on the known, in a table of companion_variables(). */
bool companion_depends(const struct drive *drive, const struct variables *variables, const struct variable *unknown,
                       const struct variable *known);

/* The same in initialization mode, where the knowns are inputs and parameters. */
bool companion_depends_at_start(const struct drive *drive, const struct variables *variables,
                                const struct variable *unknown, const struct variable *known);

#endif
