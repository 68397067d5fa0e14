#include "base/platform.h"

#if defined(_WIN32)

#include <errno.h>
#include <stdlib.h>
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

#else

FILE *platform_open(const char *file)
{
    return fopen(file, "rb");
}

#endif
