/* Memory that runs out in a program. Loaded before it (LD_PRELOAD), this library runs main() many times, each in a process of its own:
   first with all the memory that it wants, then so that allocation FAULTS_FIRST, and every FAULTS_EVERY-th from there, fails, one in each
   run. (Those after it do not fail: that is the harder case for whoever ignores a failure.) Each run makes a line of the file FAULTS_REPORT:
       failed allocation, allocations, blocks not given back, exit code or -signal, files made (NAME:CHECKSUM,...), standard error
   separated by tabs. A run starts in an empty folder, FAULTS_FOLDER, and its standard output is the file `stdout` there. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

#define EXPORTED __attribute__((visibility("default"))) /* they stand before those of the C library */

/* ---- allocations -------------------------------------------------------------------------------------------------------- */

struct count {
    long allocations, blocks; /* of main(); blocks: taken minus given back */
};

static bool counting;
static long failing;        /* the number of the allocation that fails  */
static struct count *count; /* shared with the process that starts runs */

static bool fails(void)
{
    if (!counting || ++count->allocations != failing) return false;
    errno = ENOMEM;
    return true;
}

static void *counted(void *memory)
{
    if (counting && memory != NULL) count->blocks++;
    return memory;
}

EXPORTED void *malloc(size_t size)
{
    return fails() ? NULL : counted(__libc_malloc(size));
}

EXPORTED void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : counted(__libc_calloc(n, size));
}

EXPORTED void *realloc(void *memory, size_t size)
{
    if (memory == NULL) return malloc(size);
    return fails() ? NULL : __libc_realloc(memory, size);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : counted(__libc_memalign(alignment, size));
}

EXPORTED int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = aligned_alloc(alignment, size);
    return *memory != NULL ? 0 : ENOMEM;
}

EXPORTED void free(void *memory)
{
    const int reason = errno;
    if (counting && memory != NULL) count->blocks--;
    __libc_free(memory);
    errno = reason;
}

/* ---- runs --------------------------------------------------------------------------------------------------------------- */

enum { SECONDS = 60 };

typedef int program(int, char **, char **);
static program *run;
static FILE *report;

static long setting(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? atol(text) : 0;
}

/* FNV-1a */
static uint64_t checksum(const char *file)
{
    uint64_t hash = 14695981039346656037u;
    FILE *stream = fopen(file, "rb");
    for (int c; stream != NULL && (c = getc_unlocked(stream)) != EOF;) hash = (hash ^ (uint64_t)c) * 1099511628211u;
    if (stream != NULL) fclose(stream);
    return hash;
}

/* What a run has made, which is removed */
static void report_files(void)
{
    struct dirent **entry;
    const int n = scandir(".", &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;
        if (entry[i]->d_type == DT_REG && strcmp(name, "stderr") != 0)
            fprintf(report, "%s:%016llx,", name, (unsigned long long)checksum(name));
        if (entry[i]->d_type == DT_REG) (void)unlink(name);
        free(entry[i]);
    }
    if (n >= 0) free(entry);
}

static void report_messages(FILE *messages)
{
    rewind(messages);
    for (int c; (c = getc(messages)) != EOF;) putc(c == '\n' ? '|' : c == '\t' ? ' ' : c, report);
}

/* Buffers of standard streams and the time zone would be blocks that nobody gives back. */
static void child(int argc, char **argv, char **environment, long number)
{
    static char buffer[BUFSIZ];
    if (freopen("stdout", "w", stdout) == NULL || freopen("stderr", "w", stderr) == NULL) _exit(99);
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    setvbuf(stderr, NULL, _IONBF, 0);
    setenv("TZ", "UTC", 1);
    tzset();
    failing = number;
    *count = (struct count){0};
    alarm(SECONDS);
    counting = true;
    const int code = run(argc, argv, environment);
    counting = false;
    exit(code);
}

static void try_one(int argc, char **argv, char **environment, long number)
{
    int status = 0;
    fflush(report);
    const pid_t process = fork();
    if (process == 0) child(argc, argv, environment, number);
    waitpid(process, &status, 0);
    FILE *messages = fopen("stderr", "r");
    fprintf(report, "%ld\t%ld\t%ld\t%d\t", number, count->allocations, count->blocks,
            WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    report_files();
    putc('\t', report);
    if (messages != NULL) report_messages(messages);
    if (messages != NULL) fclose(messages);
    putc('\n', report);
}

static int run_all(int argc, char **argv, char **environment)
{
    const long first = setting("FAULTS_FIRST"), every = setting("FAULTS_EVERY");
    report = fopen(getenv("FAULTS_REPORT"), "w");
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == NULL || count == MAP_FAILED || chdir(getenv("FAULTS_FOLDER")) != 0) return 99;
    unsetenv("LD_PRELOAD"); /* programs that it starts run as usual */
    try_one(argc, argv, environment, 0);
    const long all = count->allocations;
    for (long number = first; number > 0 && number <= all; number += every > 0 ? every : 1)
        try_one(argc, argv, environment, number);
    return fclose(report) == 0 ? 0 : 99;
}

typedef int start_program(program *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

/* The C library's own calls the program's main(). */
EXPORTED int __libc_start_main(program *main, int argc, char **argv, void (*begin)(void), void (*end)(void),
                               void (*link_end)(void), void *stack)
{
    start_program *next;
    void *address = dlsym(RTLD_NEXT, "__libc_start_main");
    memcpy(&next, &address, sizeof address); /* ISO C has no conversion */
    run = main;
    return next(run_all, argc, argv, begin, end, link_end, stack);
}
