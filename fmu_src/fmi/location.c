#include "fmi/location.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
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

/* In place: %20 becomes a blank. A % without a code is not changed, because some importers do not encode paths. */
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

static bool is_slash(char c)
{
    return c == '/' || (platform_has_drives && c == '\\');
}

/* The path after file: and an empty or local host. Another host is valid only on Windows, file://server/share/x; elsewhere it is
   the first folder of a relative path, because some importers write paths like that. */
static char *path_of_uri(char *rest)
{
    if (begins_with(rest, "//localhost/")) rest += strlen("//localhost");
    char *path = rest + strspn(rest, "/");
    const ptrdiff_t slashes = path - rest;
    if (platform_has_drives && isalpha((unsigned char)path[0]) && path[1] == ':') return path;
    if (platform_has_drives && (slashes == 2 || slashes == 4)) return path - 2;
    if (slashes == 2) return path;
    return slashes > 0 ? path - 1 : rest;
}

const char *location_file(const char *location, const char *name, struct arena *arena, const char **error)
{
    const bool uri = location != NULL && begins_with(location, "file:");
    *error = location == NULL                          ? "it is NULL, and the robot file is looked for there"
             : location[0] == '\0'                     ? "it is empty, and the robot file is looked for there"
             : !uri && strstr(location, "://") != NULL ? "only file: locations and plain paths can be read"
                                                       : NULL;
    if (*error != NULL) return NULL;
    const size_t bytes = strlen(location) + strlen(name) + 2;
    char *text = arena_allocate(arena, bytes, 1), *file = text;
    if (text == NULL) {
        *error = "out of memory";
        return NULL;
    }
    memcpy(text, location, strlen(location) + 1);
    if (uri) {
        decode_percent(text);
        file = path_of_uri(text + strlen("file:"));
    }
    size_t length = strlen(file);
    while (length > 1 && is_slash(file[length - 1])) length--;
    char *end = file + length;
    snprintf(end, bytes - (size_t)(end - text), "%s%s", length > 0 && !is_slash(end[-1]) ? "/" : "", name);
    return file;
}

/* ---- the file --------------------------------------------------------------------------------------------------------- */

const char *location_read(const char *file, struct arena *arena, const char **error)
{
    *error = "it does not exist or may not be read";
    FILE *stream = platform_open(file);
    if (stream == NULL) return NULL;
    const long size = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : -1;
    const bool readable = size >= 0 && size <= 1L << 30 && fseek(stream, 0, SEEK_SET) == 0;
    char *text = readable ? arena_allocate(arena, (size_t)size + 1, 1) : NULL;
    *error = !readable                                              ? "it is not a file of readable size"
             : text == NULL                                         ? "out of memory"
             : fread(text, 1, (size_t)size, stream) != (size_t)size ? "it cannot be read"
             : strlen(text) != (size_t)size                         ? "it is not a text"
                                                                    : NULL;
    fclose(stream);
    return *error == NULL ? text : NULL;
}
