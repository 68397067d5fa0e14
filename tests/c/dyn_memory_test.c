/* No algorithm takes or gives back memory once model, work and loops are made. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "oracle/closed.h"
#include "oracle/scatter.h"

static volatile long
    allocations; /* calls so far that took or gave back memory; compilers believe malloc() changes nothing */

/* Under the address sanitizer its hooks count; elsewhere these functions stand before the C library's. */
#if defined(__SANITIZE_ADDRESS__)
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static void count_malloc(const volatile void *memory, size_t size)
{
    (void)memory;
    (void)size;
    allocations++;
}

static void count_free(const volatile void *memory)
{
    (void)memory;
    allocations++;
}

static int start_counting(void)
{
    return __sanitizer_install_malloc_and_free_hooks(count_malloc, count_free) != 0;
}
#elif defined(__GLIBC__)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *memory, size_t size)
{
    allocations++;
    return __libc_realloc(memory, size);
}

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t size)
{
    allocations++;
    return __libc_memalign(alignment, size);
}

__attribute__((visibility("default"))) void free(void *memory)
{
    allocations++;
    __libc_free(memory);
}

static int start_counting(void)
{
    return 1;
}
#else
static int start_counting(void)
{
    return 0;
}
#endif

static int counting;

/* Every algorithm of dyn.h once. */
static void everything(struct specimen *s)
{
    struct energy energy;
    struct frame_motion motion;
    double wrench[6];
    CHECK(tree_forward(s->model, s->work, &s->in, s->qdd) == STATUS_OK);
    CHECK(dyn_forward_composite(s->model, s->work, &s->in, s->qdd) == STATUS_OK);
    dyn_configuration(s->model, s->work, s->q);
    dyn_motion(s->model, s->work, &s->in, s->qdd);
    CHECK(dyn_articulate(s->model, s->work) == STATUS_OK);
    dyn_solve_forces(s->model, s->work, s->force, s->qdd);
    dyn_mass_matrix(s->model, s->work);
    dyn_inverse(s->model, s->work, &s->in, s->qdd, s->force);
    dyn_velocity(s->model, s->work, &s->in);
    dyn_energy(s->model, s->work, &s->in, &energy);
    for (int i = 0; i < s->model->n_links; i++) {
        dyn_tip(s->model, s->work, i, &motion);
        dyn_reaction(s->work, i, wrench);
    }
    dyn_observe(s->model, s->work, &s->in, s->qdd);
    for (int i = 0; i < s->n_frames; i++) dyn_frame(s->model, s->work, &s->model->frame[i], &motion);
}

TEST(the_counter_counts)
{
    counting = start_counting();
    if (!counting) return;
    const long before = allocations;
    void *volatile memory = malloc(10);
    CHECK(allocations == before + 1);
    memory = realloc(memory, 100000);
    free(memory);
    CHECK(allocations >= before + 3);
    memory = calloc(3, 5);
    free(memory);
    memory = aligned_alloc(32, 64);
    free(memory);
    CHECK(allocations >= before + 7);
}

TEST(algorithms_allocate_nothing)
{
    if (!counting) printf("     not counted: no hooks for this C library\n");
    for (int seed = 0; seed < 60; seed++) {
        for (int terms = TERMS_FULL; terms <= TERMS_RUTHLESS; terms++) {
            struct specimen s;
            CHECK(specimen_mixed(&s, seed));
            s.robot->elastic_terms = (enum elastic_terms)terms;
            CHECK(specimen_remake(&s));
            make_positive(&s);
            const long before = allocations;
            everything(&s);
            everything(&s);
            CHECK(allocations == before);
            specimen_free(&s);
        }
    }
}

/* Every algorithm of mech/ that is used while integrating, once. */
static void everything_closed(struct specimen *s, double *by_q, double *by_qd)
{
    struct mechanism *m = &s->mechanism;
    struct report silent = {0};
    CHECK(constraints_choose(m, s->q, &silent) == STATUS_OK);
    CHECK(mechanism_forward_composite(m, &s->in, s->qdd) == STATUS_OK);
    CHECK(mechanism_forward(m, &s->in, s->qdd) == STATUS_OK);
    const struct input in = mechanism_loaded(m, &s->in);
    dyn_inverse(s->model, s->work, &in, s->qdd, s->force);
    dyn_velocity(s->model, s->work, &in);
    dyn_tangent_state(s->model, s->work, m->tangent, &in, s->qdd);
    mechanism_jacobian(m, &in, by_q, by_qd);
    mechanism_tangent(m, &in, &(struct direction){.q = s->qd}, true, s->force);
    constraints_gap(m, &s->in);
    CHECK(constraints_project(m, BY_NEW_FACTORS, s->q, s->qd, s->qdd, s->force) == STATUS_OK);
}

TEST(closed_robots_allocate_at_the_start_alone)
{
    static double by_q[MOST * MOST], by_qd[MOST * MOST];
    for (int seed = 0; seed < 60; seed++) {
        struct specimen s;
        struct report silent = {0};
        struct random random = {(uint64_t)seed};
        CHECK(closed_random(&s, seed, ANY_LOOP, 1 + seed % 3, true));
        CHECK(seed % 2 == 0 || closed_add_couplings(&s, &random, true));
        const long before = allocations;
        everything_closed(&s, by_q, by_qd);
        CHECK(allocations == before);
        CHECK(constraints_close(&s.mechanism, NULL, s.q, &silent) == STATUS_OK);
        CHECK(!counting || allocations > before); /* scratch */
        const long after = allocations;
        everything_closed(&s, by_q, by_qd);
        CHECK(allocations == after);
        specimen_free(&s);
    }
}

/* Factors of the added mass of all beams, and a payload that moves */
static void set_masses(struct robot *robot, double factor)
{
    for (int i = 0; i < robot->n_links; i++) {
        struct link *link = &robot->link[i];
        link->beam.given |= GIVEN_ADDED_MASS;
        link->beam.added_mass_per_length.factor = factor + 0.1 * i;
        link->payload.com[1] = 0.1 * factor;
        link->payload.mass = link->has_payload ? factor : 0;
    }
}

/* Masses that change in place are those of a mechanism made with them */
TEST(masses_change_without_memory)
{
    static double changed[MOST];
    for (int seed = 0; seed < 60; seed++)
        for (int terms = TERMS_FULL; terms <= TERMS_RUTHLESS; terms++) {
            struct specimen s;
            CHECK(specimen_random(&s, seed));
            s.robot->elastic_terms = (enum elastic_terms)terms;
            set_masses(s.robot, 0.7);
            CHECK(specimen_remake(&s));
            make_positive(&s);
            const long before = allocations;
            set_masses(s.robot, 2.3);
            for (int i = 0; i < s.model->n_links; i++) mechanism_set_masses(&s.mechanism, i);
            CHECK(mechanism_forward(&s.mechanism, &s.in, changed) == STATUS_OK);
            CHECK(allocations == before);
            CHECK(specimen_remake(&s));
            CHECK(mechanism_forward(&s.mechanism, &s.in, s.qdd) == STATUS_OK);
            CHECK_NEAR(distance(s.nv, changed, s.qdd), 0, 1e-9 * norm(s.nv, s.qdd)); /* cond(M) eps */
            specimen_free(&s);
        }
}

SUITE(dyn_memory_test)
