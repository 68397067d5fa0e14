#include "base/platform.h"

#if defined(_WIN32)

#include <errno.h>
#include <locale.h>
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

/* The compiler's own _configthreadlocale() does nothing; the system's library has one that does. -1: not even that. */
static int configure_thread_locale(int how)
{
    const HMODULE library = GetModuleHandleW(L"msvcrt.dll");
    const FARPROC function = library != NULL ? GetProcAddress(library, "_configthreadlocale") : NULL;
    return function != NULL ? ((int (*)(int))(void (*)(void))function)(how) : -1;
}

int platform_own_locale(void)
{
    return configure_thread_locale(_ENABLE_PER_THREAD_LOCALE);
}

void platform_put_back_locale(int before)
{
    if (before > 0) configure_thread_locale(before);
}

#else

FILE *platform_open(const char *file)
{
    return fopen(file, "rb");
}

int platform_own_locale(void)
{
    return 0;
}

void platform_put_back_locale(int before)
{
    (void)before;
}

#endif
