/* What importers write for the folder of the resources. */
#include "fmi/location.h"

#include <string.h>

#include "test.h"

TEST(every_spelling_of_a_folder)
{
    static const char *const cases[][2] = {
        {"file:///a/b", "/a/b/robot.json"},
        {"file:/a/b", "/a/b/robot.json"},
        {"file:////a/b", "/a/b/robot.json"},
        {"file://localhost/a/b", "/a/b/robot.json"},
        {"FILE:///a/b", "/a/b/robot.json"},
        {"file:///a/b//", "/a/b/robot.json"},
        {"/a/b", "/a/b/robot.json"},
        {"/a/b/", "/a/b/robot.json"},
        {"a/b", "a/b/robot.json"},
        {"file://a/b", "a/b/robot.json"},
        {"/", "/robot.json"},
        {"file:///", "/robot.json"},
        {"file:///a%20b/%C3%A4/c%25d", "/a b/\xC3\xA4/c%d/robot.json"},
        {"file:///a%2fb", "/a/b/robot.json"},
        {"file:///100%", "/100%/robot.json"}, /* not a code: stays */
        {"file:///a%2", "/a%2/robot.json"},
        {"file:///a%zzb", "/a%zzb/robot.json"},
        {"file:///a%00b", "/a%00b/robot.json"}, /* nothing ends the name early */
        {"/a%20b", "/a%20b/robot.json"},        /* a plain path is what it says */
        {NULL, NULL},                           /* no folders */
        {"", NULL},
        {"http://a/b", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        const char *location = cases[i][0], *want = cases[i][1], *fault = NULL;
        const char *got = location_file(location, "robot.json", &arena, &fault);
        const bool same = got == NULL || want == NULL ? got == want : strcmp(got, want) == 0;
        if (!same) printf("%s -> %s\n", location, got != NULL ? got : fault);
        CHECK(same && (got == NULL) == (fault != NULL));
        arena_release(&arena);
    }
}

TEST(files_that_cannot_be_read)
{
    struct arena arena = {0};
    const char *fault = NULL;
    CHECK(location_read("/no/such/file", &arena, &fault) == NULL && fault != NULL);
    CHECK(location_read("/", &arena, &fault) == NULL && fault != NULL);
    CHECK(location_read("/dev/null", &arena, &fault) != NULL && fault == NULL);
    arena_release(&arena);
}

SUITE(fmi_location_test)
