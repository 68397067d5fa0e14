/* What Windows does in another way than the rest. */
#ifndef BASE_PLATFORM_H
#define BASE_PLATFORM_H

#include <stdbool.h>
#include <stdio.h>

/* Paths may begin with C: and have backslashes. */
#if defined(_WIN32)
enum { platform_has_drives = true };
#else
enum { platform_has_drives = false };
#endif

/* Opens a file for reading, byte by byte; its name is UTF-8 on Windows too, or else in the system's code page. NULL with errno
   where that fails. */
FILE *platform_open(const char *file);

#if defined(_WIN32)
/* strtod() with a decimal point in every locale, for json-c (build/windows.sh): it would else switch the locale of the whole
   process while it reads. Elsewhere it can switch that of one thread. */
double platform_read_number(const char *text, char **end);
#endif

#endif
