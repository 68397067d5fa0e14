/* Evaluations, matrices and summaries agree with each other and with closed forms. */
#include <string.h>

#include "analysis/evaluation.h"
#include "analysis/matrices.h"
#include "analysis/summary.h"
#include "oracle/slopes.h"
#include "test.h"

enum { SEEDS = 60 };

/* A state of the specimen, with accelerations */
static void take_state(const struct specimen *s, struct state *state)
{
    struct report silent = {0};
    CHECK(state_start(s->model, &silent, state) == STATUS_OK);
    memcpy(state->at.q, s->q, (size_t)s->nq * sizeof(double));
    memcpy(state->at.qd, s->qd, (size_t)s->nv * sizeof(double));
    memcpy(state->at.tau, s->tau, (size_t)s->model->n_tau * sizeof(double));
    memcpy(state->at.prescribed_qdd, s->prescribed_qdd, (size_t)s->model->n_prescribed * sizeof(double));
    memcpy(state->at.tip_wrench, s->tip_wrench, 6 * sizeof(double));
    state->qdd = s->qdd;
}

/* inverse = M qdd + h less the share of the tip wrench; both algorithms find the same qdd; M is that of the matrices */
TEST(parts_of_an_evaluation_agree)
{
    for (int seed = 0; seed < SEEDS; seed++) {
        struct specimen s;
        struct state state;
        struct evaluation recursive, composite;
        struct matrices matrices;
        struct report silent = {0};
        CHECK(specimen_random(&s, seed));
        memset(s.tip_wrench, 0, sizeof s.tip_wrench);
        take_state(&s, &state);
        CHECK(evaluation_at(&s.mechanism, &state, false, &silent, &recursive) == STATUS_OK);
        CHECK(evaluation_at(&s.mechanism, &state, true, &silent, &composite) == STATUS_OK);
        CHECK(matrices_at(&s.mechanism, &state.input, &silent, &matrices) == STATUS_OK);
        for (int i = 0; i < s.nv; i++) {
            double sum = recursive.bias[i], size = fabs(sum);
            for (int j = 0; j < s.nv; j++) {
                CHECK(recursive.M[s.nv * i + j] == matrices.M[s.nv * i + j]);
                sum += recursive.M[s.nv * i + j] * s.qdd[j];
                size += fabs(recursive.M[s.nv * i + j] * s.qdd[j]);
            }
            CHECK_NEAR(recursive.inverse[i], sum, 1e-11 * (1 + size));
        }
        dyn_configuration(s.model, s.work, s.q);
        dyn_mass_matrix(s.model, s.work);
        CHECK(mass_distance(&s, recursive.qdd, composite.qdd) <= 1e-9 * (1 + mass_norm(&s, composite.qdd)));
        arena_release(&recursive.arena);
        arena_release(&composite.arena);
        arena_release(&matrices.arena);
        arena_release(&state.arena);
        specimen_free(&s);
    }
}

/* Sums over the links of a four-bar, and its closed start */
TEST(summaries)
{
    struct report silent = {0};
    struct robot *robot;
    struct summary summary;
    CHECK(robot_read_file("resources/four-bar.json", &robot, &silent) == STATUS_OK);
    CHECK(summary_make("four-bar", robot, &silent, &summary) == STATUS_OK);
    double mass = 0;
    int n = 0;
    for (int i = 0; i < robot->n_links; i++) {
        const struct link_summary *link = &summary.link[i];
        mass += link->mass;
        n += link->n_coordinates;
        CHECK(link->n_frequencies == robot_link_modes(&robot->link[i]));
        for (int k = 1; k < link->n_frequencies; k++) CHECK(link->frequency[k] >= link->frequency[k - 1]);
    }
    CHECK(summary.mass == mass && summary.n == n && n == summary.mechanism.model->nv);
    CHECK(summary.independent[0] > 0 && summary.independent[0] <= loop_equations(robot->loop[0].type));
    const struct input in = {.q = summary.start.at.q, .qd = summary.start.at.qd};
    dyn_configuration(summary.mechanism.model, summary.mechanism.work, in.q);
    dyn_motion(summary.mechanism.model, summary.mechanism.work, &in, NULL);
    dyn_velocity(summary.mechanism.model, summary.mechanism.work, &in);
    constraints_gap(&summary.mechanism, &in);
    CHECK(constraints_largest_gap(summary.mechanism.constraints) <= 1e-9);
    summary_free(&summary);
    robot_free(robot);
}

SUITE(analysis_evaluation_test)
