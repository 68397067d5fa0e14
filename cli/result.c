#include "result.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* ---- interruption: a signal that ends the program removes what is not complete ------------------------------------- */

enum { MOST_OPEN = 16 };
static char unfinished[MOST_OPEN][TEMPORARY_SIZE]; /* for the signal handler; "": free */

/* The newest first, so that folders are empty when they are removed */
void result_abandon(void)
{
    for (int i = MOST_OPEN - 1; i >= 0; i--)
        if (unfinished[i][0] != '\0' && unlink(unfinished[i]) != 0) (void)rmdir(unfinished[i]);
}

static void remove_unfinished(int number)
{
    result_abandon();
    (void)raise(number); /* the default action was restored (SA_RESETHAND) */
}

/* If a file becomes too large, the write fails; the signal would end the program. */
static void catch_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct sigaction old, own = {.sa_handler = remove_unfinished, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&own.sa_mask);
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) (void)sigaction(ends[i], &own, NULL);
    }
    (void)signal(SIGXFSZ, SIG_IGN);
}

/* The first letter is written last, so that a signal handler sees the whole name or none */
bool result_remember(const char *path)
{
    int i = 0;
    while (i < MOST_OPEN && unfinished[i][0] != '\0') i++;
    catch_signals();
    if (i == MOST_OPEN || path[0] == '\0') return false;
    snprintf(unfinished[i] + 1, TEMPORARY_SIZE - 1, "%s", path + 1);
    atomic_signal_fence(memory_order_seq_cst);
    unfinished[i][0] = path[0];
    return true;
}

void result_discard(const char *path)
{
    for (int i = 0; i < MOST_OPEN; i++)
        if (strcmp(unfinished[i], path) == 0) unfinished[i][0] = '\0';
}

/* ---- files --------------------------------------------------------------------------------------------------------- */

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
    errno = ENAMETOOLONG;
    if (replaced ? realpath(file, result->file) == NULL : snprintf(result->file, PATH_MAX, "%s", file) >= PATH_MAX)
        return report_failure(result, "cannot");
    if (replaced || !exists) {
        snprintf(result->temporary, sizeof result->temporary, "%s.%ld.part", result->file, (long)getpid());
        errno = EMFILE;
        if (!result_remember(result->temporary)) return report_failure(result, "cannot");
    }
    const char *name = exists && !replaced ? result->file : result->temporary, *mode = exists && !replaced ? "w" : "wx";
    result->stream = stream != NULL ? freopen(name, mode, stream) : fopen(name, mode);
    if (result->stream == NULL) {
        result_discard(result->temporary);
        return report_failure(result, "cannot");
    }
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
    result_discard(result->temporary);
    return bad && code == EXIT_OK ? EXIT_INPUT : code;
}

int result_write(const char *file, const void *bytes, size_t size)
{
    struct result result;
    const int code = result_open(file, NULL, &result);
    if (code != EXIT_OK) return code;
    (void)fwrite(bytes, 1, size, result.stream); /* errors are kept by the stream */
    return result_close(&result, code);
}
