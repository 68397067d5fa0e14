#include "base/vendor.h"

#include <errno.h>
#include <json-c/linkhash.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <pthread.h>
#endif

#include "base/platform.h"
#include "base/report.h"

/* ---- work that may run out of memory ------------------------------------------------------------------------------------ */

struct run {
    struct run *older;
    const void *thread;
    struct vendor_memory *memory;
    jmp_buf out;
};

#if defined(_WIN32)
typedef SRWLOCK mutex;
#define MUTEX_START         SRWLOCK_INIT
#define mutex_lock(mutex)   AcquireSRWLockExclusive(mutex)
#define mutex_unlock(mutex) ReleaseSRWLockExclusive(mutex)
#else
typedef pthread_mutex_t mutex;
#define MUTEX_START         PTHREAD_MUTEX_INITIALIZER
#define mutex_lock(mutex)   pthread_mutex_lock(mutex)
#define mutex_unlock(mutex) pthread_mutex_unlock(mutex)
#endif

/* The work of all threads that is being done now. An allocator has no argument for it, and thread-local variables of a library need
   memory themselves: if it runs out, the C library ends the process. */
static struct {
    mutex mutex;
    struct run *newest;
} active = {MUTEX_START, NULL};

/* A number of the thread: C11 has an errno for each of them */
static const void *this_thread(void)
{
    return &errno;
}

bool vendor_run(struct vendor_memory *memory, void (*work)(void *context), void *context)
{
    struct run run = {.thread = this_thread(), .memory = memory};
    mutex_lock(&active.mutex);
    run.older = active.newest;
    active.newest = &run;
    mutex_unlock(&active.mutex);

    if (setjmp(run.out) == 0) work(context);
    else memory->failed = true;

    mutex_lock(&active.mutex);
    struct run **at = &active.newest;
    while (*at != &run) at = &(*at)->older;
    *at = run.older;
    mutex_unlock(&active.mutex);
    return !memory->failed;
}

/* ---- blocks --------------------------------------------------------------------------------------------------------------- */

/* Stored in front of each block; its size preserves the alignment of malloc() */
struct vendor_block {
    struct vendor_block *next, **link; /* link: what points to it; NULL outside of vendor_run() */
};

void vendor_release(struct vendor_memory *memory)
{
    while (memory->first != NULL) {
        struct vendor_block *block = memory->first;
        memory->first = block->next;
        free(block);
    }
}

/* ---- what json-c and SUNDIALS call: as the functions of the C library, but inside of vendor_run() none returns NULL ---------- */

/* Adds a new block to those of the work that this thread does, and returns the part for the user. Leaves the work if the block is NULL. */
static void *add_block(struct vendor_block *block)
{
    const void *thread = this_thread();
    mutex_lock(&active.mutex);
    struct run *run = active.newest;
    while (run != NULL && run->thread != thread) run = run->older;
    mutex_unlock(&active.mutex);
    if (block == NULL) {
        if (run != NULL) longjmp(run->out, 1);
        return NULL;
    }
    *block = (struct vendor_block){0};
    if (run != NULL) {
        block->next = run->memory->first;
        block->link = &run->memory->first;
        if (block->next != NULL) block->next->link = &block->next;
        run->memory->first = block;
    }
    return block + 1;
}

static size_t with_header(size_t size)
{
    return size <= SIZE_MAX - sizeof(struct vendor_block) ? size + sizeof(struct vendor_block) : SIZE_MAX;
}

void *vendor_malloc(size_t size)
{
    return add_block(malloc(with_header(size)));
}

void *vendor_calloc(size_t count, size_t size)
{
    const bool too_large = size != 0 && count > SIZE_MAX / size;
    return add_block(calloc(1, too_large ? SIZE_MAX : with_header(count * size)));
}

void *vendor_realloc(void *memory, size_t size)
{
    if (memory == NULL) return vendor_malloc(size);
    struct vendor_block *block = realloc((struct vendor_block *)memory - 1, with_header(size));
    if (block == NULL) return add_block(NULL); /* the old one is still in its place */
    if (block->link != NULL) *block->link = block;
    if (block->link != NULL && block->next != NULL) block->next->link = &block->next;
    return block + 1;
}

void vendor_free(void *memory)
{
    if (memory == NULL) return;
    struct vendor_block *block = (struct vendor_block *)memory - 1;
    if (block->link != NULL) *block->link = block->next;
    if (block->link != NULL && block->next != NULL) block->next->link = block->link;
    free(block);
}

char *vendor_strdup(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = vendor_malloc(bytes);
    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

PRINTF_LIKE(2, 0)
int vendor_vasprintf(char **text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    *text = length >= 0 ? vendor_malloc((size_t)length + 1) : NULL;
    return *text != NULL ? vsnprintf(*text, (size_t)length + 1, format, arguments) : -1;
}

PRINTF_LIKE(2, 0)
int vendor_mingw_vasprintf(char **text, const char *format, va_list arguments)
{
    return vendor_vasprintf(text, format, arguments);
}

PRINTF_LIKE(3, 0)
int vendor_vasprintf_chk(char **text, int flag, const char *format, va_list arguments)
{
    (void)flag;
    return vendor_vasprintf(text, format, arguments);
}

/* ---- numbers with a decimal point in every locale --------------------------------------------------------------------------- */

double platform_read_number(const char *text, char **end)
{
    const char *point = localeconv()->decimal_point, *dot = strchr(text, '.');
    if (strcmp(point, ".") == 0 || dot == NULL) return strtod(text, end);
    const size_t before = (size_t)(dot - text), width = strlen(point);
    char *local = vendor_malloc(strlen(text) + width), *stop;
    if (local == NULL) return NAN;
    memcpy(local, text, before);
    memcpy(local + before, point, width);
    memcpy(local + before + width, dot + 1, strlen(dot));
    const double number = strtod(local, &stop);
    const size_t read = (size_t)(stop - local);
    if (end != NULL) *end = (char *)text + (read > before ? read - width + 1 : read);
    vendor_free(local);
    return number;
}

/* json-c would set another locale for the thread while it reads, and allocate memory for it. */
void *vendor_uselocale(void *locale)
{
    return locale;
}

void *vendor_duplocale(void *locale)
{
    return locale;
}

void *vendor_newlocale(int mask, const char *name, void *base)
{
    (void)mask, (void)name, (void)base;
    return &active; /* any but NULL */
}

void vendor_freelocale(void *locale)
{
    (void)locale;
}

/* ---- the hash function of json-c ---------------------------------------------------------------------------------------------- */

/* The seed is the same in every process, so that a robot file is always read in the same way. */
int vendor_random_seed(void)
{
    return 2026;
}

/* json-c computes its seed when it first needs it, without a lock. Therefore it is made to do so when the library is loaded, before there
   are threads. */
__attribute__((constructor)) static void set_seed(void)
{
    struct lh_table *table = lh_kchar_table_new(1, NULL);
    if (table == NULL) return; /* then threads may set it at the same time, to the same value */
    lh_get_hash(table, "");
    lh_table_free(table);
}
