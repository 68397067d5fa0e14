#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "robot/nearest.h"
#include "robot/read.h"

/* ---- messages ---------------------------------------------------------------------------------------------------- */

enum { SHOWN_VALUE = 60, TEXT_SIZE = 1024 };

/* Text that grows up to its size and is cut there. */
struct text {
    char s[TEXT_SIZE];
    size_t length;
};

PRINTF_LIKE(2, 0)
static void append_list(struct text *text, const char *format, va_list arguments)
{
    const size_t left = sizeof text->s - text->length;
    const int wanted = vsnprintf(text->s + text->length, left, format, arguments);
    if (wanted > 0) text->length += (size_t)wanted < left ? (size_t)wanted : left - 1;
}

PRINTF_LIKE(2, 3)
static void append(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append_list(text, format, arguments);
    va_end(arguments);
}

/* links[2].beam.EIz */
static void append_path(struct text *text, const struct json_path *at)
{
    if (at->parent == NULL) return;
    append_path(text, at->parent);
    if (at->key == NULL) append(text, "[%d]", at->index);
    else append(text, "%s%s", at->parent->parent != NULL ? "." : "", at->key);
}

struct shown {
    struct json_object *value;
    int flags; /* of json-c */
    const char *text;
};

static void write_value(void *context)
{
    struct shown *shown = context;
    shown->text = json_object_to_json_string_ext(shown->value, shown->flags);
}

PRINTF_LIKE(3, 0)
static void report_place(const struct json_path *at, enum report_level level, const char *format, va_list arguments)
{
    struct text text = {.length = 0};
    append_path(&text, at);
    if (at->given && at->parent != NULL) {
        struct shown shown = {at->value, JSON_C_TO_STRING_NOSLASHESCAPE, "null"};
        const bool written = at->value == NULL || vendor_run(&at->reader->memory, write_value, &shown);
        const char *value = written ? shown.text : "(out of memory)";
        append(&text, " = %.*s%s", SHOWN_VALUE, value, strlen(value) > SHOWN_VALUE ? "..." : "");
    }
    if (text.length > 0) append(&text, ": ");
    if (!at->given) append(&text, "missing: ");
    append_list(&text, format, arguments);
    for (char *c = text.s; *c != '\0'; c++) /* one line, whatever characters the keys of the file have */
        if ((unsigned char)*c < ' ') *c = '?';
    report_add(at->reader->report, level, "%s: %s", at->reader->file, text.s);
}

void path_error(const struct json_path *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report_place(at, REPORT_ERROR, format, arguments);
    va_end(arguments);
}

void path_warn(const struct json_path *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report_place(at, REPORT_WARNING, format, arguments);
    va_end(arguments);
}

bool path_absent(const struct json_path *at, enum need need)
{
    return !at->given && need == OPTIONAL;
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

bool path_open_object(struct object *object, const struct json_path *at, enum need need, const char *what)
{
    object->at = *at;
    object->n_asked = 0;
    if (path_absent(at, need)) return false;
    if (value_is_object(at)) return true;
    path_error(at, "%s must be an object {...}", what);
    return false;
}

static bool was_asked(const struct object *object, const char *key)
{
    for (int i = 0; i < object->n_asked; i++)
        if (strcmp(object->asked[i], key) == 0) return true;
    return false;
}

struct json_path path_member(struct object *object, const char *key)
{
    if (object->n_asked < MAX_KEYS && !was_asked(object, key)) object->asked[object->n_asked++] = key;
    struct json_path place = {.reader = object->at.reader, .parent = &object->at, .key = key};
    place.given = json_object_object_get_ex(object->at.value, key, &place.value);
    return place;
}

bool path_has_key(const struct object *object, const char *key)
{
    return json_object_object_get_ex(object->at.value, key, NULL);
}

void path_close_object(const struct object *object)
{
    json_object_object_foreach(object->at.value, key, value)
    {
        if (was_asked(object, key)) continue;
        const struct json_path at = {
            .reader = object->at.reader, .parent = &object->at, .key = key, .given = true, .value = value};
        const char *meant = nearest(key, object->n_asked, object->asked);
        struct text known = {.length = 0};
        for (int i = 0; i < object->n_asked && meant == NULL; i++)
            append(&known, "%s%s", i > 0 ? ", " : "", object->asked[i]);
        if (meant != NULL) path_error(&at, "unknown key, did you mean \"%s\"?", meant);
        else path_error(&at, "unknown key, known here: %s", known.s);
    }
}

void path_reject(struct object *object, const char *key, const char *why)
{
    const struct json_path at = path_member(object, key);
    if (at.given) path_error(&at, "%s", why);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

bool path_open_array(const struct json_path *at, enum need need, int least, int most, const char *what, int *length)
{
    *length = 0;
    if (path_absent(at, need)) return false;
    const bool array = value_is_array(at);
    const size_t items = array ? json_object_array_length(at->value) : 0;
    if (array && items >= (size_t)least && (most < 0 || items <= (size_t)most)) {
        *length = (int)items;
        return true;
    }
    if (most < 0) path_error(at, "%s must be an array of %d or more", what, least);
    else path_error(at, "%s must be an array of %d", what, most);
    return false;
}

struct json_path path_item(const struct json_path *array, int index)
{
    return (struct json_path){.reader = array->reader,
                              .parent = array,
                              .index = index,
                              .given = true,
                              .value = json_object_array_get_idx(array->value, (size_t)index)};
}

void *path_open_list(const struct json_path *at, enum need need, const char *what, size_t size, int *count)
{
    if (!path_open_array(at, need, need == REQUIRED, -1, what, count)) return NULL;
    void *list = arena_allocate(&at->reader->robot->arena, (size_t)*count, size);
    if (list == NULL) *count = 0;
    return list;
}

void path_each_member(const struct json_path *object, void (*read)(void *context, const struct json_path *member),
                      void *context)
{
    json_object_object_foreach(object->value, key, value)
    {
        const struct json_path member = {
            .reader = object->reader, .parent = object, .key = key, .given = true, .value = value};
        read(context, &member);
    }
}

const char *path_text(const struct json_path *at, struct arena *arena)
{
    struct shown whole = {at->value, JSON_C_TO_STRING_PLAIN, NULL};
    return vendor_run(&at->reader->memory, write_value, &whole) ? arena_string(arena, whole.text) : NULL;
}
