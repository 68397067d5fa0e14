/* A result file: it appears under its name only when it is complete, and not if the command fails or is interrupted. */
#ifndef CLI_RESULT_H
#define CLI_RESULT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

enum { TEMPORARY_SIZE = PATH_MAX + 32 };

struct result {
    const char *given; /* the file's name as given, for messages; NULL: not open    */
    FILE *stream;
    char file[PATH_MAX];            /* the file itself, where the name is a link                 */
    char temporary[TEMPORARY_SIZE]; /* beside it; "": written at once, as what is there is no file (a device, a pipe) */
};

/* Opens a file, or sends standard output there: `stream` is NULL or stdout. Problems go to standard error; the result is an exit
   code. */
int result_open(const char *file, FILE *stream, struct result *result);

/* With code EXIT_OK, and all written, the result takes the file's name; else what had this name stays. An exit code: `code`, or
   that of what failed here. Does nothing where the result is not open. */
int result_close(struct result *result, int code);

/* A temporary file, or a folder before its files, is removed if the program is interrupted, up to result_forget(). False: too many. */
bool result_remember(const char *path);
void result_forget(const char *path);

/* Removes these files and those of all results that are open, before the program ends */
void result_abandon(void);

/* A whole file at once */
int result_write(const char *file, const void *bytes, size_t size);

#endif
