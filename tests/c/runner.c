/* limber_tests [SUITE...]: runs these suites, or all of them. A suite is a file NAME_test.c of this folder. */
#include <stdio.h>
#include <string.h>

#include "suites.h"

#define DECLARE(name) int name(void);
SUITE_LIST(DECLARE)

#define ROW(name) {#name, name},
static const struct {
    const char *name;
    int (*run)(void);
} suites[] = {SUITE_LIST(ROW)};

static int run(const char *name)
{
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        if (strcmp(suites[i].name, name) == 0) return suites[i].run();
    fprintf(stderr, "no suite %s: a suite is the name of a file of tests/c without .c\n", name);
    return 2;
}

int main(int argc, char *argv[])
{
    int failed = 0;
    for (int i = 1; i < argc; i++) failed |= run(argv[i]);
    if (argc == 1)
        for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) failed |= suites[i].run();
    return failed;
}
