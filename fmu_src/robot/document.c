#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/platform.h"
#include "robot/read.h"

struct position {
    int line, column; /* from 1 */
};

static const struct position start_of_text = {1, 1};

/* The position of text[to], from that of text[from] */
static struct position advance(struct position at, const char *text, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        at.column++;
        if (text[i] == '\n') at = (struct position){at.line + 1, 1};
    }
    return at;
}

/* json-c silently keeps the last of two members with the same key. But it parses in pieces, and when a piece ends with the colon
   after a key, the unfinished object is on top of the tokener's stack, and may have the key already. */
static const char *repeated_key(const struct json_tokener *tokener)
{
    const struct json_tokener_srec *top = &tokener->stack[tokener->depth];
    if (top->obj_field_name == NULL || !json_object_is_type(top->current, json_type_object)) return NULL;
    return json_object_object_get_ex(top->current, top->obj_field_name, NULL) ? top->obj_field_name : NULL;
}

struct parsing {
    struct reader *reader;
    const char *text;
    size_t length;
    bool valid;
};

/* Feeds the text to the tokener in pieces that end with a colon. */
static void parse(void *context)
{
    struct parsing *parsing = context;
    struct reader *reader = parsing->reader;
    const char *text = parsing->text;
    const size_t length = parsing->length;
    struct json_tokener *tokener = json_tokener_new();
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    enum json_tokener_error error = json_tokener_continue;
    size_t from = 0, to = 0, counted = 0; /* the position `at` is that of text[counted] */
    struct position at = start_of_text;
    for (; error == json_tokener_continue && to <= length; from = to) {
        const char *colon = memchr(text + from, ':', length - from);
        to = colon != NULL ? (size_t)(colon - text) + 1 : length + 1; /* the last piece has the final '\0' */
        reader->root = json_tokener_parse_ex(tokener, text + from, (int)(to - from));
        error = json_tokener_get_error(tokener);
        if (error != json_tokener_continue) break;

        const char *key = repeated_key(tokener);
        if (key == NULL) continue;
        at = advance(at, text, counted, to - 1);
        counted = to - 1;
        report_add(reader->report, REPORT_ERROR, "%s: line %d, column %d: the key \"%s\" occurs twice in one object",
                   reader->file, at.line, at.column, key);
    }
    parsing->valid = error == json_tokener_success;
    if (!parsing->valid) {
        at = advance(start_of_text, text, 0, from + json_tokener_get_parse_end(tokener));
        report_add(reader->report, REPORT_ERROR, "%s: line %d, column %d: not JSON: %s", reader->file, at.line,
                   at.column, json_tokener_error_desc(error));
    }
    json_tokener_free(tokener);
}

bool document_parse(struct reader *reader, const char *text, struct json_path *document)
{
    struct parsing parsing = {.reader = reader, .text = text, .length = strlen(text)};
    if (parsing.length >= INT_MAX) report_add(reader->report, REPORT_ERROR, "%s: larger than 2 GB", reader->file);
    else if (!vendor_run(&reader->memory, parse, &parsing))
        report_add(reader->report, REPORT_ERROR, "%s: %s", reader->file, status_text(STATUS_NO_MEMORY));
    else if (parsing.valid) *document = (struct json_path){.reader = reader, .given = true, .value = reader->root};
    return parsing.valid && !reader->memory.failed;
}

bool document_free(struct reader *reader)
{
    if (!reader->memory.failed) json_object_put(reader->root);
    reader->root = NULL;
    vendor_release(&reader->memory);
    return reader->memory.failed;
}

enum status document_read(const char *file, const char *text, const char *what, struct report *report,
                          void (*read)(struct object *object, void *context), void *context)
{
    const int before = report->errors;
    struct reader reader = {.file = file, .report = report};
    struct json_path document;
    struct object object;
    if (document_parse(&reader, text, &document) && path_open_object(&object, &document, REQUIRED, what))
        read(&object, context);
    if (document_free(&reader)) return STATUS_NO_MEMORY;
    return report->errors == before ? STATUS_OK : STATUS_BAD_DRIVE;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* All bytes of a stream, terminated by '\0'; NULL, with errno, on failure. */
static const char *read_all(FILE *stream, struct arena *arena, size_t *length)
{
    *length = 0;
    char *bytes = NULL;
    for (size_t capacity = 1 << 16;; capacity *= 2) {
        char *larger = arena_allocate(arena, capacity, 1);
        if (larger == NULL) {
            errno = ENOMEM;
            return NULL;
        }
        if (bytes != NULL) memcpy(larger, bytes, *length);
        bytes = larger;
        *length += fread(bytes + *length, 1, capacity - *length - 1, stream);
        if (ferror(stream)) return NULL;
        if (feof(stream)) return bytes; /* the memory was zeroed */
        if (capacity > INT_MAX) {
            errno = EFBIG; /* an endless device */
            return NULL;
        }
    }
}

const char *document_load_file(const char *file, struct arena *arena, size_t *length, struct report *report)
{
    const bool standard_input = strcmp(file, "-") == 0;
    FILE *stream = standard_input ? stdin : platform_open(file);
    const char *text = stream != NULL ? read_all(stream, arena, length) : NULL;
    if (text == NULL) report_add(report, REPORT_ERROR, "%s: cannot be read: %s", file, strerror(errno));
    if (stream != NULL && !standard_input) fclose(stream);
    return text;
}

const char *document_load(const char *file, struct arena *arena, struct report *report)
{
    size_t length;
    const int before = report->errors;
    const char *text = document_load_file(file, arena, &length, report);
    if (text == NULL) return NULL;

    /* a byte-order mark is neither JSON nor part of a column name; a null byte would end the text early */
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0)
        report_add(report, REPORT_ERROR, "%s: begins with a byte-order mark: save it as UTF-8 without one", file);
    const char *null = memchr(text, '\0', length);
    if (null != NULL) {
        const struct position at = advance(start_of_text, text, 0, (size_t)(null - text));
        report_add(report, REPORT_ERROR, "%s: line %d, column %d: a null byte where text is expected", file, at.line,
                   at.column);
    }
    return report->errors == before ? text : NULL;
}
