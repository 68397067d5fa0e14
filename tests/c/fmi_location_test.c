/* What importers write for the folder of the resources. */
#include "fmi/location.h"

#include <string.h>

#include "test.h"

static int means(const char *location, const char *file)
{
    struct arena arena = {0};
    const char *fault = NULL, *got = location_file(location, "robot.json", &arena, &fault);
    const int same = (file == NULL) == (got == NULL) && (file == NULL || strcmp(got, file) == 0);
    if (!same) printf("%s -> %s, expected %s\n", location, got != NULL ? got : fault, file != NULL ? file : "a fault");
    if (got == NULL) CHECK(fault != NULL);
    arena_release(&arena);
    return same;
}

TEST(every_spelling_of_a_folder)
{
    CHECK(means("file:///a/b", "/a/b/robot.json"));
    CHECK(means("file:/a/b", "/a/b/robot.json"));
    CHECK(means("file:////a/b", "/a/b/robot.json"));
    CHECK(means("file://localhost/a/b", "/a/b/robot.json"));
    CHECK(means("FILE:///a/b", "/a/b/robot.json"));
    CHECK(means("file:///a/b/", "/a/b/robot.json"));
    CHECK(means("file:///a/b//", "/a/b/robot.json"));
    CHECK(means("/a/b", "/a/b/robot.json"));
    CHECK(means("/a/b/", "/a/b/robot.json"));
    CHECK(means("a/b", "a/b/robot.json"));
    CHECK(means("file://a/b", "a/b/robot.json"));
    CHECK(means("/", "/robot.json"));
    CHECK(means("file:///", "/robot.json"));
}

TEST(percent_codes)
{
    CHECK(means("file:///a%20b/%C3%A4/c%25d", "/a b/\xC3\xA4/c%d/robot.json"));
    CHECK(means("file:///a%2fb", "/a/b/robot.json"));
    CHECK(means("file:///100%", "/100%/robot.json")); /* not a code: stays */
    CHECK(means("file:///a%2", "/a%2/robot.json"));
    CHECK(means("file:///a%zzb", "/a%zzb/robot.json"));
    CHECK(means("file:///a%00b", "/a%00b/robot.json")); /* nothing ends the name early */
    CHECK(means("/a%20b", "/a%20b/robot.json"));        /* a plain path is what it says */
}

TEST(what_is_no_folder)
{
    CHECK(means(NULL, NULL));
    CHECK(means("", NULL));
    CHECK(means("http://a/b", NULL));
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
