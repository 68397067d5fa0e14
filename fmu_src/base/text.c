#if defined(__linux__)
#define _GNU_SOURCE /* fopencookie() */
#endif
#include "base/text.h"

#if defined(__linux__)

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static ssize_t append(void *context, const char *bytes, size_t size)
{
    struct text *text = context;
    if (text->capacity - text->size <= size) { /* one byte is for the end */
        const size_t capacity = 2 * (text->size + size) + 256;
        char *larger = realloc(text->bytes, capacity);
        if (larger == NULL) return 0; /* an error of the stream, which it keeps */
        text->bytes = larger;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
    return (ssize_t)size;
}

FILE *text_open(struct text *text)
{
    *text = (struct text){0};
    if (append(text, "", 0) != 0 || text->bytes == NULL) return NULL;
    text->stream = fopencookie(text, "w", (cookie_io_functions_t){.write = append});
    return text->stream;
}

char *text_close(struct text *text)
{
    bool failed = text->stream == NULL || fflush(text->stream) != 0 || ferror(text->stream);
    if (text->stream != NULL) failed = fclose(text->stream) != 0 || failed;
    text->stream = NULL;
    if (!failed) return text->bytes;
    free(text->bytes);
    text->bytes = NULL;
    return NULL;
}

#endif
