/* What json-c and SUNDIALS call in place of functions of the C library. An FMU library has this file once, beside its sets of
   instructions (fmi/set.h). */
#include "base/platform.h"

#if defined(_WIN32)

#include <locale.h>
#include <stdlib.h>
#include <string.h>

double platform_read_number(const char *text, char **end)
{
    const char point = localeconv()->decimal_point[0];
    char *local = point != '.' ? _strdup(text) : NULL;
    if (local == NULL) return strtod(text, end);
    char *dot = strchr(local, '.'), *stop;
    if (dot != NULL) *dot = point;
    const double number = strtod(local, &stop);
    if (end != NULL) *end = (char *)text + (stop - local);
    free(local);
    return number;
}

#endif
