#include "fmi/location.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/platform.h"

/* ---- the location --------------------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* In place: %20 becomes a blank. A % that begins no code stays as it is: some importers write paths unencoded. */
static void decode_percent(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        const int high = *from == '%' ? hex_digit(from[1]) : -1, low = high >= 0 ? hex_digit(from[2]) : -1;
        if (low < 0 || (high == 0 && low == 0)) {
            *to++ = *from;
        } else {
            *to++ = (char)(16 * high + low);
            from += 2;
        }
    }
    *to = '\0';
}

static bool begins_with(const char *text, const char *lower_case)
{
    for (; *lower_case != '\0'; text++, lower_case++)
        if (tolower((unsigned char)*text) != *lower_case) return false;
    return true;
}

/* What stands behind file: and an empty or local host. Some importers put file:// before a relative path: what looks like a
   host is its first folder, also in file://C:/x. */
static const char *path_of_uri(const char *rest)
{
    if (begins_with(rest, "//localhost/")) return rest + strlen("//localhost");
    if (rest[0] == '/' && rest[1] == '/' && rest[2] != '/') return rest + 2;
    while (rest[0] == '/' && rest[1] == '/') rest++;
    return rest;
}

/* In place: /C:/x becomes C:/x. */
static void drop_slash_before_drive(char *file)
{
    if (file[0] == '/' && isalpha((unsigned char)file[1]) && file[2] == ':') memmove(file, file + 1, strlen(file));
}

static bool is_slash(char c)
{
    return c == '/' || (platform_has_drives && c == '\\');
}

const char *location_file(const char *location, const char *name, struct arena *arena, const char **fault)
{
    *fault = NULL;
    if (location == NULL) *fault = "it is NULL, and the robot file is looked for there";
    else if (location[0] == '\0') *fault = "it is empty, and the robot file is looked for there";
    if (*fault != NULL) return NULL;

    const bool uri = begins_with(location, "file:");
    const char *path = uri ? path_of_uri(location + strlen("file:")) : location;
    if (!uri && strstr(location, "://") != NULL) *fault = "only file: locations and plain paths can be read";
    if (*fault != NULL) return NULL;

    const size_t room = strlen(path) + strlen(name) + 2;
    char *file = arena_take(arena, room, 1);
    if (file == NULL) {
        *fault = "out of memory";
        return NULL;
    }
    memcpy(file, path, strlen(path) + 1);
    if (uri) decode_percent(file);
    if (uri && platform_has_drives) drop_slash_before_drive(file);
    size_t length = strlen(file);
    while (length > 1 && is_slash(file[length - 1])) length--;
    snprintf(file + length, room - length, "%s%s", length > 0 && !is_slash(file[length - 1]) ? "/" : "", name);
    return file;
}

/* ---- the file --------------------------------------------------------------------------------------------------------- */

static const char *read_stream(FILE *stream, struct arena *arena, const char **fault)
{
    long size = -1;
    if (fseek(stream, 0, SEEK_END) == 0) size = ftell(stream);
    if (size < 0 || size > 1L << 30 || fseek(stream, 0, SEEK_SET) != 0) {
        *fault = "it is not a file of readable size";
        return NULL;
    }
    char *text = arena_take(arena, (size_t)size + 1, 1);
    if (text == NULL) *fault = "out of memory";
    else if (fread(text, 1, (size_t)size, stream) != (size_t)size) *fault = "it cannot be read";
    else if (strlen(text) != (size_t)size) *fault = "it is not a text";
    return *fault == NULL ? text : NULL;
}

const char *location_read(const char *file, struct arena *arena, const char **fault)
{
    *fault = NULL;
    FILE *stream = platform_open(file);
    if (stream == NULL) {
        *fault = "it does not exist or may not be read";
        return NULL;
    }
    const char *text = read_stream(stream, arena, fault);
    fclose(stream);
    return text;
}
