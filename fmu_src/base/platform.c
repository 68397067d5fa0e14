#include "base/platform.h"

#if defined(_WIN32)

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

FILE *platform_open(const char *file)
{
    const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, file, -1, NULL, 0);
    if (length == 0) return fopen(file, "rb"); /* not UTF-8 */
    wchar_t *wide = calloc((size_t)length, sizeof *wide);
    if (wide == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, file, -1, wide, length);
    FILE *stream = _wfopen(wide, L"rb");
    free(wide);
    return stream;
}

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

#else

FILE *platform_open(const char *file)
{
    return fopen(file, "rb");
}

#endif
