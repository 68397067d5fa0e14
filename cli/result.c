#include "result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static int report_failure(const struct result *result, const char *how)
{
    fprintf(stderr, "limber: %s: %s be written: %s\n", result->given, how, strerror(errno));
    return EXIT_INPUT;
}

int result_open(const char *file, FILE *stream, struct result *result)
{
    struct stat old;
    const bool exists = stat(file, &old) == 0, replaced = exists && S_ISREG(old.st_mode);
    *result = (struct result){.given = file};
    if (replaced ? realpath(file, result->file) == NULL
                 : (size_t)snprintf(result->file, sizeof result->file, "%s", file) >= sizeof result->file) {
        if (!replaced) errno = ENAMETOOLONG;
        return report_failure(result, "cannot");
    }
    if (replaced || !exists)
        snprintf(result->temporary, sizeof result->temporary, "%s.%ld.part", result->file, (long)getpid());
    const char *name = exists && !replaced ? result->file : result->temporary, *mode = exists && !replaced ? "w" : "wx";
    result->stream = stream != NULL ? freopen(name, mode, stream) : fopen(name, mode);
    if (result->stream == NULL) return report_failure(result, "cannot");
    if (replaced) (void)fchmod(fileno(result->stream), old.st_mode & 07777);
    return EXIT_OK;
}

int result_close(struct result *result, int code)
{
    if (result->stream == NULL) return code;
    bool bad = ferror(result->stream) != 0;
    bad = fclose(result->stream) != 0 || bad;
    result->stream = NULL;
    const bool named = code == EXIT_OK && !bad && result->temporary[0] != '\0';
    if (named) bad = rename(result->temporary, result->file) != 0;
    if (bad) report_failure(result, "could not");
    if (result->temporary[0] != '\0' && (bad || !named)) (void)remove(result->temporary);
    return bad && code == EXIT_OK ? EXIT_INPUT : code;
}
