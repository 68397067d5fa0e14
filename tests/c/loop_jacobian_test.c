/* Closed robots: the Jacobian, made many columns at a time, is the tangent in every unit direction; projection ends on the loops
   whichever factors it began with. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop/loop.h"
#include "support/specimen.h"

/* Two arms of three links, bending, twisting and stretching, joined at frames off their tips */
static const char ARMS[] =
    "{\"format\": \"limber-robot/1\", \"name\": \"arms\", \"gravity\": [0, -9.81, 0], \"links\": [" /* */
    "{\"name\": \"a\", \"parent\": \"world\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1], \"viscous\": "
    "1}, "
    "\"beam\": {\"length\": 1, \"mass_per_length\": 2, \"EIz\": 50, \"EIy\": 60, \"GJ\": 30, \"inertia_per_length\": "
    "[0.01, "
    "0.005, 0.005], \"modes\": {\"y\": {\"shape\": \"hermite\"}, \"z\": {\"shape\": \"hermite\"}, \"twist\": "
    "{\"shape\": "
    "\"linear\"}}}},"
    "{\"name\": \"b\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 1, 0], \"coulomb\": 0.5, "
    "\"coulomb_velocity\": 1}, "
    "\"rigid\": {\"mass\": 1, \"com\": [0.2, 0.05, 0], \"inertia\": [0.02, 0.03, 0.03, 0, 0, 0], \"tip\": {\"xyz\": "
    "[0.5, 0.1, "
    "0]}}},"
    "{\"name\": \"c\", \"joint\": {\"type\": \"prismatic\", \"axis\": [1, 1, 0]}, \"rigid\": {\"mass\": 0.7, "
    "\"inertia\": "
    "[0.01, 0.01, 0.01, 0, 0, 0], \"tip\": {\"xyz\": [0.3, 0, 0.1]}}},"
    "{\"name\": \"d\", \"parent\": \"world\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1], \"origin\": "
    "{\"xyz\": "
    "[1, 0.2, 0]}}, \"rigid\": {\"mass\": 1, \"com\": [0.3, 0, 0], \"inertia\": [0.02, 0.03, 0.03, 0, 0, 0], \"tip\": "
    "{\"xyz\": [0.6, 0, 0]}}},"
    "{\"name\": \"e\", \"joint\": {\"type\": \"revolute\", \"axis\": [1, 0, 1]}, \"beam\": {\"length\": 0.8, "
    "\"mass_per_length\": 1, \"EIz\": 40, \"EIy\": 40, \"GJ\": 20, \"EA\": 4000, \"inertia_per_length\": [0.01, 0.005, "
    "0.005], "
    "\"modes\": {\"y\": {\"shape\": \"hermite\"}, \"z\": {\"shape\": \"clamped-free\", \"count\": 1}, \"twist\": "
    "{\"shape\": "
    "\"linear\"}, \"axial\": {\"shape\": \"linear\"}}}, \"payload\": {\"mass\": 0.4}}],"
    "\"loops\": [{\"name\": \"joined\", %s, \"between\": [\"c\", \"e\"], \"at\": [{\"xyz\": [0.1, -0.2, 0.05], "
    "\"rpy\": [0.3, "
    "0.1, 0]}, {\"xyz\": [0, 0.1, 0.1], \"rpy\": [0, 0, 0.4]}]}]}";

static const char *const KINDS[] = {"\"type\": \"ball\"", "\"type\": \"planar-pin\", \"plane\": [[1, 0, 0], [0, 1, 0]]",
                                    "\"type\": \"pin\", \"axis\": [0, 0.6, 0.8]", "\"type\": \"weld\""};
enum { N_KINDS = 4, N_STATES = 5 };

struct closed {
    struct specimen s;
    struct loops *loops;
    struct tangent *tangent;
};

static int make(const char *kind, int seed, struct closed *c)
{
    char text[sizeof ARMS + 200];
    struct random random = {(uint64_t)seed};
    snprintf(text, sizeof text, ARMS, kind);
    if (!specimen_read(&c->s, text)) return 0;
    if (loops_make(c->s.model, &c->loops) != STATUS_OK || tangent_make(c->s.model, &c->tangent) != STATUS_OK) return 0;
    specimen_random_state(&c->s, &random);
    return 1;
}

static void drop(struct closed *c)
{
    tangent_free(c->tangent);
    loops_free(c->loops);
    specimen_free(&c->s);
}

static double largest_of(int count, const double *x)
{
    double largest = 0;
    for (int i = 0; i < count; i++) largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* d(qdd)/dq and d(qdd)/dqd, all columns, against one direction after the other */
static void check_columns(struct closed *c)
{
    struct specimen *s = &c->s;
    const int n = s->n;
    CHECK(loops_forward(s->model, s->work, c->tangent, c->loops, &s->in, s->qdd) == STATUS_OK);
    const struct input in = loops_input(c->loops, &s->in);
    dyn_inverse(s->model, s->work, &in, s->qdd, s->force);
    dyn_velocity(s->model, s->work, &in);
    dyn_tangent_state(s->model, s->work, c->tangent, &in, s->qdd);
    const size_t nn = (size_t)(n * n);
    double *by = calloc(2 * nn, sizeof *by), *one = calloc((size_t)n, sizeof *one),
           *dqdd = calloc((size_t)n, sizeof *dqdd);
    if (by == NULL || one == NULL || dqdd == NULL) abort();
    loops_jacobian(s->model, s->work, c->tangent, c->loops, &in, by, by + nn);
    CHECK(largest_of(n * n, by) > 1 && largest_of(n * n, by + nn) > 0.1);
    for (int rate = 0; rate < 2; rate++)
        for (int j = 0; j < n; j++) {
            const struct direction q = {.q = one}, qd = {.qd = one};
            const double *column = by + nn * (size_t)rate + (size_t)(n * j);
            one[j] = 1;
            loops_tangent(s->model, s->work, c->tangent, c->loops, &in, rate ? &qd : &q, false, dqdd);
            one[j] = 0;
            for (int i = 0; i < n; i++) CHECK_NEAR(column[i], dqdd[i], 1e-11 * (1 + largest_of(n, dqdd)));
        }
    free(dqdd);
    free(one);
    free(by);
}

TEST(jacobian_is_the_tangent_in_unit_directions)
{
    for (int kind = 0; kind < N_KINDS; kind++)
        for (int seed = 0; seed < N_STATES; seed++) {
            struct closed c = {0};
            CHECK(make(KINDS[kind], seed, &c));
            if (c.tangent != NULL) check_columns(&c);
            drop(&c);
        }
}

/* Off the loops by 1e-3 or less, and back: gap and rate vanish, with factors made there and with those of the closed state */
static void check_projection(struct closed *c, struct random *random, bool near)
{
    struct specimen *s = &c->s;
    for (int i = 0; i < s->n; i++) {
        s->q[i] += uniform(random, -1e-3, 1e-3);
        s->qd[i] += uniform(random, -1, 1);
    }
    CHECK(loops_project(s->model, s->work, c->tangent, c->loops, near, s->q, s->qd, NULL, NULL) == STATUS_OK);
    dyn_configuration(s->model, s->work, s->q);
    dyn_motion(s->model, s->work, &s->in, NULL);
    dyn_velocity(s->model, s->work, &s->in);
    loops_gap(s->model, s->work, c->loops);
    CHECK_NEAR(largest_of(c->loops->n_rows, c->loops->gap), 0, 1e-11);
    CHECK_NEAR(largest_of(c->loops->n_rows, c->loops->rate), 0, 1e-11);
}

TEST(projection_ends_on_the_loops)
{
    for (int kind = 0; kind < N_KINDS; kind++) {
        struct closed c = {0};
        struct random random = {7};
        struct report report = {0};
        CHECK(make(KINDS[kind], 1, &c));
        if (c.tangent == NULL) continue;
        CHECK(loops_close(c.s.model, c.s.work, c.loops, c.s.q, &report) == STATUS_OK);
        check_projection(&c, &random, false);
        CHECK(loops_forward(c.s.model, c.s.work, c.tangent, c.loops, &c.s.in, c.s.qdd) == STATUS_OK);
        for (int i = 0; i < N_STATES; i++) check_projection(&c, &random, true);
        drop(&c);
    }
}

int main(void)
{
    RUN(jacobian_is_the_tangent_in_unit_directions);
    RUN(projection_ends_on_the_loops);
    return test_summary();
}
