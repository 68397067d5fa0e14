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
    char temporary[TEMPORARY_SIZE]; /* beside it; "": none, the target is a device or a pipe */
};

/* Opens a file, or sends standard output there: `stream` is NULL or stdout. Problems go to standard error; the result is an exit
   code. */
int result_open(const char *file, FILE *stream, struct result *result);

/* If the code is EXIT_OK and all was written, the result gets the file's name; otherwise a file of this name stays. An exit code: `code`, or
   that of what failed here. Does nothing where the result is not open. */
int result_close(struct result *result, int code);

/* Until result_discard(), a temporary file or folder is removed if the program is interrupted; folders are to be given before their
   files. False: there are too many. */
bool result_remember(const char *path);
void result_discard(const char *path);

/* Removes these files and those of all results that are open, before the program ends */
void result_abandon(void);

/* Writes a whole file. */
int result_write(const char *file, const void *bytes, size_t size);

#endif
