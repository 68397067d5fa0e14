/* Memory that runs out. Every allocation of an instance's life, in the FMU or in the C library on its behalf, fails once: the call
   fails with a message, or the numbers are those of a life without failures; nothing crashes and nothing leaks. Prints what broke this,
   and the number of allocations. (An allocation after that fails no more: that is the harder case for whoever ignores a failure.) */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "life.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

#define EXPORTED __attribute__((visibility("default"))) /* they stand before those of the C library */

static bool counting;
static long allocations, failing,
    blocks; /* failing: the number of the one that fails; blocks: taken minus given back */

static bool fails(void)
{
    return counting && ++allocations == failing;
}

static void *counted(void *memory)
{
    if (counting && memory != NULL) blocks++;
    return memory;
}

EXPORTED void *malloc(size_t size)
{
    return fails() ? NULL : counted(__libc_malloc(size));
}

EXPORTED void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : counted(__libc_calloc(count, size));
}

EXPORTED void *realloc(void *memory, size_t size)
{
    if (memory == NULL) return malloc(size);
    return fails() ? NULL : __libc_realloc(memory, size);
}

EXPORTED void free(void *memory)
{
    if (counting && memory != NULL) blocks--;
    __libc_free(memory);
}

static void after_call(const char *name)
{
    (void)name;
}

static bool live_counted(const struct fmu *fmu, struct record *record, long number)
{
    memset(record, 0, sizeof *record);
    failing = number;
    allocations = blocks = 0;
    counting = true;
    const bool good = live(fmu, fmi2CoSimulation, record);
    counting = false;
    return good;
}

static const char *judge(bool good, const struct record *record, const struct record *normal)
{
    if (blocks != 0) return "leaks";
    if (!good && record->messages == 0) return "fails without a message";
    if (good &&
        (record->count != normal->count || memcmp(record->number, normal->number, normal->count * sizeof(double)) != 0))
        return "gives other numbers";
    return NULL;
}

/* In a process of its own, because it may crash */
static int try_one(const struct fmu *fmu, const struct record *normal, long number)
{
    static struct record record;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const bool good = live_counted(fmu, &record, number);
        const char *fault = judge(good, &record, normal);
        if (fault != NULL)
            printf("allocation %ld %s (%ld blocks; %s: %s)\n", number, fault, blocks,
                   record.failed != NULL ? record.failed : "all calls", record.text);
        fflush(stdout);
        _exit(fault != NULL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) return WEXITSTATUS(status) != 0;
    printf("allocation %ld crashes: signal %d\n", number, WTERMSIG(status));
    return 1;
}

int main(int n, char **words)
{
    static struct fmu fmu;
    static struct record normal;
    if (!load_fmu(&fmu, n, words)) return 2;
    live_counted(&fmu, &normal, 0); /* once for what the C library keeps */
    if (!live_counted(&fmu, &normal, 0) || blocks != 0 || allocations == 0) {
        printf("without failures: %s %s, %ld blocks are left\n", normal.failed, normal.text, blocks);
        return 1;
    }
    const long all = allocations;
    long faults = 0;
    for (long number = 1; number <= all; number++) faults += try_one(&fmu, &normal, number);
    printf("%ld allocations\n", all);
    return faults > 0;
}
