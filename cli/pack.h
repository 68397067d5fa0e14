/* Packing an FMU: fmu, drive. */
#ifndef CLI_PACK_H
#define CLI_PACK_H

#include "base/report.h"
#include "options.h"
#include "package.h"

/* Writes the FMU and prints a summary. Its shared libraries are the files that environment variables name, or else those beside this program;
   the one for Windows may be missing, unless it was named. `generated`: instead the library of generated code, for this platform only;
   NULL: none. Does nothing if errors were reported. */
enum status pack_write(const struct common *options, const struct fmu *fmu, struct blob resource,
                       const struct blob *generated, struct report *report);

#endif
