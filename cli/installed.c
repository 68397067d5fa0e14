#include "installed.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool installed_path(const char *name, char path[PATH_SIZE], bool *found)
{
    static const char *const folder[] = {LIMBER_FMU_FOLDER "/", ""};
    const ssize_t read = readlink("/proc/self/exe", path, PATH_SIZE - 1); /* the running program */
    path[read > 0 ? read : 0] = '\0';
    const char *slash = strrchr(path, '/');
    const size_t length = slash != NULL ? (size_t)(slash + 1 - path) : 0, capacity = PATH_SIZE - length;
    bool fits = length > 0;
    *found = false;
    for (int pass = 1; pass <= 3 && fits && !*found;
         pass++) { /* if it does not exist, the first place is named in messages */
        fits = (size_t)snprintf(path + length, capacity, "%s%s", folder[pass % 2], name) < capacity;
        *found = fits && access(path, F_OK) == 0;
    }
    return fits;
}
