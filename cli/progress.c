#include "progress.h"

#include <stdio.h>
#include <unistd.h>

void progress_show(const char *what, int done, int all)
{
    if (!isatty(STDERR_FILENO) || (all > 100 && done % (all / 100) != 0)) return;
    if (all > 1) fprintf(stderr, "\r%s: %d of %d\033[K", what, done, all);
    else fprintf(stderr, "\r%s\033[K", what);
}

void progress_end(void)
{
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}
