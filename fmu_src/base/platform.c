#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#endif
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

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum { LONGEST_WAIT = 4000 }; /* [ms] */

/* Whether reading does not block: a pipe that nobody writes to would block for ever. */
static bool has_data(int file)
{
    struct pollfd at = {.fd = file, .events = POLLIN};
    if (lseek(file, 0, SEEK_CUR) >= 0) return true;
    const int ready = poll(&at, 1, LONGEST_WAIT);
    if (ready == 0) errno = ETIMEDOUT;
    return ready > 0 && fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK) == 0;
}

FILE *platform_open(const char *file)
{
    const int opened = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (opened < 0) return NULL;
    FILE *stream = has_data(opened) ? fdopen(opened, "rb") : NULL;
    if (stream == NULL) {
        const int reason = errno;
        (void)close(opened);
        errno = reason;
    }
    return stream;
}

#endif
