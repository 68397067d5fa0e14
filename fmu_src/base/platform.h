/* Differences between Windows and other platforms. */
#ifndef BASE_PLATFORM_H
#define BASE_PLATFORM_H

#include <stdbool.h>
#include <stdio.h>

/* Paths may begin with a drive letter (C:) and contain backslashes. */
#if defined(_WIN32)
enum { platform_has_drives = true };
#else
enum { platform_has_drives = false };
#endif

/* Opens a file for reading in binary mode. On Windows too the name is UTF-8, or else in the system's code page. NULL with errno
   set on failure; a pipe that has no data within 4 s is one. */
FILE *platform_open(const char *file);

/* strtod() with a decimal point in every locale, for json-c, which would otherwise switch the locale while it reads: on Windows that of
   the whole process. (vendor.c) */
double platform_read_number(const char *text, char **end);

#endif
