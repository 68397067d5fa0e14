/* Packaging: everything that is packed into an FMU. Each part has its own source file, which makes one blob. */
#ifndef FMU_H
#define FMU_H

#include "dyn/work.h"
#include "sim/variables.h"

struct drive;

/* The source of every part: a robot or a drive. */
struct fmu {
    const char *name, *description, *guid;
    const struct variables *variables;
    const struct model *model; /* of a robot; NULL: a drive */
    struct work *work;
    const struct drive *drive; /* NULL: a robot             */
    struct report *report;     /* for the progress          */
};

struct blob {
    const void *bytes; /* NULL: failure */
    size_t size;
};

/* modelDescription.xml */
struct blob description_make(const struct fmu *fmu, struct arena *arena);
/* documentation/index.html: self-contained */
struct blob page_make(const struct fmu *fmu, struct arena *arena);
/* terminalsAndIcons/terminalsAndIcons.xml */
struct blob terminals_make(const struct fmu *fmu, struct arena *arena);
/* model.png, terminalsAndIcons/icon.png */
struct blob icon_make(const struct fmu *fmu, struct arena *arena);

/* Names of the table's enumerations in FMI. */
const char *causality_name(enum causality causality);
const char *variability_name(enum variability variability);

/* "%.17g", or shorter if it reads back as the same number */
enum { NUMBER_SIZE = 32 };
const char *exact_number(double value, char text[NUMBER_SIZE]);

#endif
