/* Instances in threads: all are made at the same time, go through their life several times, and give the same numbers. */
#include <pthread.h>

#include "life.h"

enum { THREADS = 4 };

struct thread {
    pthread_t id;
    const struct fmu *fmu;
    struct record record[2]; /* of each interface */
    bool good;
};

static void after_call(const char *name)
{
    (void)name;
}

static void *live_twice(void *context)
{
    struct thread *thread = context;
    thread->good = live(thread->fmu, fmi2CoSimulation, &thread->record[0]) &&
                   (!thread->fmu->exchanged || live(thread->fmu, fmi2ModelExchange, &thread->record[1]));
    return NULL;
}

int main(int n, char **words)
{
    static struct fmu fmu;
    static struct thread thread[THREADS];
    if (!load_fmu(&fmu, n, words)) return 2;
    for (int i = 0; i < THREADS; i++) {
        thread[i].fmu = &fmu;
        if (pthread_create(&thread[i].id, NULL, live_twice, &thread[i]) != 0) return 2;
    }
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i].id, NULL);
    for (int i = 0; i < THREADS; i++) {
        const bool same = memcmp(&thread[i].record, &thread[0].record, sizeof thread[i].record) == 0;
        if (thread[i].good && same && thread[i].record[0].count > 0) continue;
        printf("thread %d: %s\n", i, thread[i].good ? "other numbers" : thread[i].record[0].text);
        return 1;
    }
    return 0;
}
