/* Text in memory that is written as a stream. (open_memstream() drops text for which there is no memory, without an error.) Used by the
   program, not by FMUs. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdio.h>

struct text {
    FILE *stream;
    char *bytes;
    size_t size, capacity;
};

/* The stream; NULL: out of memory. The text must not move until it is closed. */
FILE *text_open(struct text *text);

/* Closes the stream. The text, for free(); NULL if memory ran out. */
char *text_close(struct text *text);

#endif
