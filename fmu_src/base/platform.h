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

/* From here on setlocale() acts on this thread alone. Elsewhere there is uselocale(), and nothing is done. Hand what it returns
   to platform_put_back_locale(). */
int platform_own_locale(void);
void platform_put_back_locale(int before);

#endif
