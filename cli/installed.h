/* Files that belong to this program: beside it where it is built, in lib/limber of its prefix where it is installed. */
#ifndef CLI_INSTALLED_H
#define CLI_INSTALLED_H

#include <stdbool.h>

enum { PATH_SIZE = 4096 };

/* The path of a file; where there is none, that of the first place, and `found` is false. False: the path is too long. */
bool installed_path(const char *name, char path[PATH_SIZE], bool *found);

#endif
