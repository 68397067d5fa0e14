/* One model, many threads, each with its own work: the same numbers, bit by bit, as alone. */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/specimen.h"

enum { STATES = 40, MOST = 200, MOST_THREADS = 8, ROUNDS = 5 };

/* What one thread works on, and what it found. */
struct job {
    const struct model *model;
    const struct specimen *state; /* STATES of them: only q, qd and inputs are read */
    double *answer;               /* STATES x 3 n: accelerations twice, forces      */
    int failed;
};

static void *work_through(void *context)
{
    struct job *job = context;
    const struct model *model = job->model;
    const int n = model->nv;
    struct work *work;
    if (work_make(model, false, &work) != STATUS_OK) {
        job->failed = 1;
        return NULL;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < STATES; i++) {
            double *answer = job->answer + (ptrdiff_t)3 * n * i;
            job->failed |= tree_forward(model, work, &job->state[i].in, answer) != STATUS_OK;
            job->failed |= dyn_forward_composite(model, work, &job->state[i].in, answer + n) != STATUS_OK;
            dyn_inverse(model, work, &job->state[i].in, answer, answer + (ptrdiff_t)2 * n);
        }
    work_free(work);
    return NULL;
}

static void check_threads(int seed, int n_threads)
{
    struct specimen state[STATES];
    struct random random = {(uint64_t)seed};
    for (int i = 0; i < STATES; i++) {
        CHECK(specimen_random(&state[i], seed));
        specimen_random_state(&state[i], &random);
    }
    const struct model *model = state[0].model;
    const size_t size = (size_t)(3 * model->nv * STATES) * sizeof(double);
    struct job alone = {model, state, calloc(1, size), 0}, job[MOST_THREADS];
    pthread_t thread[MOST_THREADS];
    work_through(&alone);
    CHECK(!alone.failed && norm(3 * model->nv * STATES, alone.answer) > 0);
    for (int i = 0; i < n_threads; i++) {
        job[i] = (struct job){model, state, calloc(1, size), 0};
        CHECK(pthread_create(&thread[i], NULL, work_through, &job[i]) == 0);
    }
    for (int i = 0; i < n_threads; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
        CHECK(!job[i].failed);
        CHECK(memcmp(job[i].answer, alone.answer, size) == 0);
        free(job[i].answer);
    }
    free(alone.answer);
    for (int i = 0; i < STATES; i++) specimen_free(&state[i]);
}

TEST(threads_give_the_same_numbers)
{
    for (int seed = 0; seed < 20; seed++) check_threads(seed, seed < 10 ? 2 : MOST_THREADS);
}

SUITE(dyn_threads_test)
