/* The licenses of the software in an FMU. */
#ifndef LICENSES_H
#define LICENSES_H

#include <stdbool.h>

#define LICENSE_SUMMARY                                                                                  \
    "BSD-3-Clause (Limber, SUNDIALS), MIT (json-c, three.js), on Windows ZPL-2.1 (mingw-w64); texts in " \
    "documentation/licenses"

enum { LICENSE_PARTS = 3 };

struct license {
    const char *what;                 /* the software                              */
    const char *role;                 /* what it does in the FMU                   */
    const char *name;                 /* short name of the license                 */
    const char *file;                 /* within documentation/licenses             */
    const char *parts[LICENSE_PARTS]; /* the text, in consecutive parts; NULL: end */
    bool of_scene;                    /* only where the documentation has a scene  */
};

extern const struct license licenses[];
extern const int license_count;

#endif
