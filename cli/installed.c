#include "installed.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The folder of the running program, with a slash; its length, 0 where it is not known */
static size_t program_folder(char path[PATH_SIZE])
{
    const ssize_t length = readlink("/proc/self/exe", path, PATH_SIZE - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash + 1 - path) : 0;
}

bool installed_path(const char *name, char path[PATH_SIZE], bool *found)
{
    static const char *const folder[] = {LIMBER_FMU_FOLDER "/", ""};
    const size_t length = program_folder(path), room = PATH_SIZE - length;
    bool fits = length > 0;
    *found = false;
    for (int pass = 1; pass <= 3 && fits && !*found; pass++) { /* if it does not exist, messages name the first place */
        fits = (size_t)snprintf(path + length, room, "%s%s", folder[pass % 2], name) < room;
        *found = fits && access(path, F_OK) == 0;
    }
    return fits;
}
