/* The smallest test harness that says what failed and where. A file dyn_laws_test.c is one suite of the program limber_tests:
       TEST(name) { CHECK(...); CHECK_NEAR(got, want, tolerance); }
       SUITE(dyn_laws_test)
   A suite runs its tests in the order of the file. */
#ifndef TEST_H
#define TEST_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/larger.h"

static int test_failed_checks, test_passed, test_failed;

struct test {
    const char *name;
    void (*run)(void);
    struct test *next;
};

static struct test *test_first, **test_end = &test_first;

#define TEST(name)                                                 \
    static void name(void);                                        \
    __attribute__((constructor)) static void test_add_##name(void) \
    {                                                              \
        static struct test test = {#name, name, NULL};             \
        *test_end = &test;                                         \
        test_end = &test.next;                                     \
    }                                                              \
    static void name(void)

#define CHECK(condition)                                                   \
    do {                                                                   \
        if (!(condition)) {                                                \
            printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            test_failed_checks++;                                          \
        }                                                                  \
    } while (0)

/* |got - want| <= tolerance; false for NaN */
#define CHECK_NEAR(got, want, tolerance)                                                                      \
    do {                                                                                                      \
        const double test_got = (got), test_want = (want), test_tolerance = (tolerance);                      \
        if (!(fabs(test_got - test_want) <= test_tolerance)) {                                                \
            printf("%s:%d: %s = %.17g, expected %s = %.17g within %g, off by %g\n", __FILE__, __LINE__, #got, \
                   test_got, #want, test_want, test_tolerance, fabs(test_got - test_want));                   \
            test_failed_checks++;                                                                             \
        }                                                                                                     \
    } while (0)

static inline void test_run(const char *name, void (*run)(void))
{
    const int before = test_failed_checks;
    run();
    const bool ok = test_failed_checks == before;
    printf("%s %s\n", ok ? "ok  " : "FAIL", name);
    if (ok) test_passed++;
    else test_failed++;
}

static inline bool test_is_quick(void)
{
    const char *tests = getenv("LIMBER_TESTS");
    return tests != NULL && strcmp(tests, "quick") == 0;
}

/* How many of n random cases to try: all, or a tenth with LIMBER_TESTS=quick. */
static inline int test_sample(int n)
{
    return test_is_quick() ? (n + 9) / 10 : n;
}

/* What the random cases must have covered: checked where all of them were tried. */
#define CHECK_COVERAGE(condition) CHECK(test_is_quick() || (condition))

static int test_summary(void)
{
    printf("%d passed, %d failed\n", test_passed, test_failed);
    return test_failed == 0 ? 0 : 1;
}

#define SUITE(suite)                                                                                                 \
    int suite(void)                                                                                                  \
    {                                                                                                                \
        for (const struct test *test = test_first; test != NULL; test = test->next) test_run(test->name, test->run); \
        return test_summary();                                                                                       \
    }

#endif
