/* The seed of json-c's hash function. json-c sets it at the first hash and reads it without a lock: a data race if that is in threads, so
   base/vendor.c hashes before main(). No thread may set it again. (helgrind does not see this race: json-c writes the seed by an atomic
   instruction, which helgrind takes for a read.) The linker calls __wrap_vendor_random_seed() where json-c asks for a seed. */
#include <json-c/linkhash.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4 };

int __real_vendor_random_seed(void);
int __wrap_vendor_random_seed(void);

static int seeds; /* how often json-c has asked */

int __wrap_vendor_random_seed(void)
{
    seeds++;
    return __real_vendor_random_seed();
}

static void *take_hash(void *table)
{
    lh_get_hash(table, "format");
    return NULL;
}

int main(void)
{
    struct lh_table *table[THREADS];
    pthread_t thread[THREADS];
    const int before = seeds;
    for (int i = 0; i < THREADS; i++) table[i] = lh_kchar_table_new(1, NULL);
    for (int i = 0; i < THREADS; i++)
        if (table[i] == NULL || pthread_create(&thread[i], NULL, take_hash, table[i]) != 0) return 2;
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) lh_table_free(table[i]);
    if (before == 1 && seeds == 1) return 0;
    printf("json-c asked for a seed %d times before main() and %d times after\n", before, seeds - before);
    return 1;
}
