#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/platform.h"
#include "robot/read.h"

struct position {
    int line, column;
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

/* Line and column, from 1, of a byte of the text. */
static struct position position_of(const char *text, size_t offset)
{
    return advance(start_of_text, text, 0, offset);
}

/* json-c silently keeps the last of two members with the same key. But it parses in pieces, and when a piece ends with the colon
   after a key, the unfinished object is on top of the tokener's stack: look whether it has the key already. */
static const char *repeated_key(const struct json_tokener *tokener)
{
    const struct json_tokener_srec *top = &tokener->stack[tokener->depth];
    if (top->obj_field_name == NULL || !json_object_is_type(top->current, json_type_object)) return NULL;
    return json_object_object_get_ex(top->current, top->obj_field_name, NULL) ? top->obj_field_name : NULL;
}

/* Feeds the text to the tokener in pieces that end with a colon. */
static struct json_object *parse(struct reader *reader, struct json_tokener *tokener, const char *text, size_t length,
                                 bool *valid)
{
    struct json_object *root = NULL;
    enum json_tokener_error error = json_tokener_continue;
    size_t from = 0, to = 0, counted = 0; /* the position `at` is that of text[counted] */
    struct position at = start_of_text;
    for (; error == json_tokener_continue && to <= length; from = to) {
        const char *colon = memchr(text + from, ':', length - from);
        to = colon != NULL ? (size_t)(colon - text) + 1 : length + 1; /* the last piece has the final '\0' */
        root = json_tokener_parse_ex(tokener, text + from, (int)(to - from));
        error = json_tokener_get_error(tokener);
        if (error != json_tokener_continue) break;

        const char *key = repeated_key(tokener);
        if (key == NULL) continue;
        at = advance(at, text, counted, to - 1);
        counted = to - 1;
        report_add(reader->report, REPORT_ERROR, "%s: line %d, column %d: the key \"%s\" occurs twice in one object",
                   reader->file, at.line, at.column, key);
    }
    *valid = error == json_tokener_success;
    if (!*valid) {
        at = position_of(text, from + json_tokener_get_parse_end(tokener));
        report_add(reader->report, REPORT_ERROR, "%s: line %d, column %d: not JSON: %s", reader->file, at.line,
                   at.column, json_tokener_error_desc(error));
    }
    return root;
}

struct parsing {
    struct reader *reader;
    const char *text;
    size_t length;
    bool valid;
};

static void parse_all(void *context)
{
    struct parsing *parsing = context;
    struct json_tokener *tokener = json_tokener_new();
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    parsing->reader->root = parse(parsing->reader, tokener, parsing->text, parsing->length, &parsing->valid);
    json_tokener_free(tokener);
}

struct json_object *document_parse(struct reader *reader, const char *text, bool *valid)
{
    struct parsing parsing = {.reader = reader, .text = text, .length = strlen(text)};
    *valid = false;
    if (parsing.length >= INT_MAX) {
        report_add(reader->report, REPORT_ERROR, "%s: larger than 2 GB", reader->file);
        return NULL;
    }
    if (!vendor_run(&reader->memory, parse_all, &parsing)) {
        report_add(reader->report, REPORT_ERROR, "%s: %s", reader->file, status_text(STATUS_NO_MEMORY));
        return NULL;
    }
    *valid = parsing.valid;
    return reader->root;
}

bool document_free(struct reader *reader)
{
    if (!reader->memory.failed) json_object_put(reader->root);
    reader->root = NULL;
    vendor_release(&reader->memory);
    return reader->memory.failed;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* All bytes of a stream, terminated by '\0'; NULL, with errno, on failure. */
static const char *slurp(FILE *stream, struct arena *arena, size_t *length)
{
    *length = 0;
    char *bytes = NULL;
    for (size_t room = 1 << 16;; room *= 2) {
        char *larger = arena_allocate(arena, room, 1);
        if (larger == NULL) {
            errno = ENOMEM;
            return NULL;
        }
        if (bytes != NULL) memcpy(larger, bytes, *length);
        bytes = larger;
        *length += fread(bytes + *length, 1, room - *length - 1, stream);
        if (ferror(stream)) return NULL;
        if (feof(stream)) return bytes; /* the memory was zeroed */
        if (room > INT_MAX) {
            errno = EFBIG; /* an endless device */
            return NULL;
        }
    }
}

const char *document_load_file(const char *file, struct arena *arena, size_t *length, struct report *report)
{
    const bool standard_input = strcmp(file, "-") == 0;
    FILE *stream = standard_input ? stdin : platform_open(file);
    const char *text = stream != NULL ? slurp(stream, arena, length) : NULL;
    if (text == NULL) report_add(report, REPORT_ERROR, "%s: cannot be read: %s", file, strerror(errno));
    if (stream != NULL && !standard_input) fclose(stream);
    return text;
}

/* A null byte would end the text early; a byte-order mark is neither JSON nor part of a column name */
static bool is_text(const char *file, const char *text, size_t length, struct report *report)
{
    const int before = report->errors;
    const char *null = memchr(text, '\0', length);
    const struct position at = position_of(text, null != NULL ? (size_t)(null - text) : 0);
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0)
        report_add(report, REPORT_ERROR, "%s: begins with a byte-order mark: save it as UTF-8 without one", file);
    if (null != NULL)
        report_add(report, REPORT_ERROR, "%s: line %d, column %d: a null byte where text is expected", file, at.line,
                   at.column);
    return report->errors == before;
}

const char *document_load(const char *file, struct arena *arena, struct report *report)
{
    size_t length;
    const char *text = document_load_file(file, arena, &length, report);
    return text != NULL && is_text(file, text, length, report) ? text : NULL;
}
