/* Packaging: everything that is packed into an FMU. Each part has its own source file, which makes one blob. */
#ifndef FMU_H
#define FMU_H

#include "mech/mechanism.h"
#include "sim/variables.h"

struct drive;

struct blob {
    const void *bytes; /* NULL: failure */
    size_t size;
};

/* The source of every part: a robot, a drive, or a controller, which has discrete variables and the model of a robot. */
struct fmu {
    const char *name, *description, *guid;
    const struct variables *variables;
    const struct model *model; /* of a robot or a controller; NULL: a drive */
    struct mechanism *mechanism;
    const double *pose;        /* nq: positions for the picture; NULL: the start */
    const struct drive *drive; /* NULL: not a drive */
    struct report *report;     /* for the progress */
    struct blob viewer;        /* script of the scene in the documentation; no bytes: there is none */
};

/* modelDescription.xml */
struct blob description_make(const struct fmu *fmu, struct arena *arena);
/* documentation/index.html: self-contained but for viewer.js beside it; `resource`: the robot's or drive's file */
struct blob page_make(const struct fmu *fmu, struct blob resource, struct arena *arena);
/* terminalsAndIcons/terminalsAndIcons.xml */
struct blob terminals_make(const struct fmu *fmu, struct arena *arena);
/* model.png, terminalsAndIcons/icon.png */
struct blob icon_make(const struct fmu *fmu, struct arena *arena);

/* Names of the table's enumerations in FMI. */
const char *description_causality(enum causality causality);
const char *description_variability(enum variability variability);

/* "%.17g", or shorter if it reads back as the same number */
enum { NUMBER_SIZE = 32 };
const char *xml_exact_number(double value, char text[NUMBER_SIZE]);

#endif
