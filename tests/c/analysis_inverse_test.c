/* Motions and inverse dynamics along them; linear algebra of closed robots. */
#include <string.h>

#include "analysis/independent.h"
#include "analysis/inverse.h"
#include "analysis/least_squares.h"
#include "oracle/random.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

static const char *const PENDULUM =
    "{\"format\": \"limber-robot/1\", \"name\": \"p\", \"gravity\": [0, -9.81, 0], \"links\": [{\"name\": \"rod\","
    " \"joint\": {\"name\": \"hinge\", \"type\": \"revolute\", \"start\": {\"position\": 0.4}},"
    " \"rigid\": {\"mass\": 2, \"com\": [0.4, 0, 0], \"inertia\": [0, 0, 0.1, 0, 0, 0]}}]}";

/* tau = (J + m l^2) qdd + m g l cos q, links rigid or not */
TEST(pendulum_follows_a_cycloid)
{
    const double k = 0.8, T = 1.3;
    for (int rigid = 0; rigid < 2; rigid++) {
        struct report silent = {0};
        struct robot *robot;
        struct motion motion;
        struct inverse inverse;
        const struct inverse_options options = {.rigid = rigid};
        CHECK(robot_read_text("p", PENDULUM, &robot, &silent) == STATUS_OK && motion_count(robot, rigid) == 1);
        CHECK(motion_cycloid(robot, rigid, &k, &T, 1, 0.1, &silent, &motion) == STATUS_OK && motion.n_rows == 11);
        CHECK(inverse_make("p", PENDULUM, robot, &motion, &options, &silent, &inverse) == STATUS_OK);
        CHECK(inverse.n_inputs == 1 && strcmp(inverse.name[0], "hinge.tau") == 0);
        enum status status = inverse_start(&inverse, &silent);
        for (int row = 0; row < motion.n_rows && status == STATUS_OK; row++) {
            const double t = motion_time(&motion, row), q = 0.4 + k * (t - T / PI * sin(PI * t / T)),
                         qdd = k * PI / T * sin(PI * t / T);
            CHECK(inverse.row == row);
            CHECK_NEAR(inverse.input[0], 0.42 * qdd + 2 * 9.81 * 0.4 * cos(q), 1e-12);
            if (row + 1 < motion.n_rows) status = inverse_next(&inverse, &silent);
        }
        CHECK(status == STATUS_OK && silent.errors == 0);
        inverse_free(&inverse);
        arena_release(&motion.arena);
        robot_free(robot);
    }
}

/* A table of a cycloid comes back to fourth order: 2^4 less for half the step */
TEST(tables_are_interpolated_to_fourth_order)
{
    double worst[2] = {0};
    struct report silent = {0};
    struct robot *robot;
    CHECK(robot_read_text("p", PENDULUM, &robot, &silent) == STATUS_OK);
    for (int fine = 0; fine < 2; fine++) {
        const double k = 0.8, T = 1.3;
        static double number[4 * 41];
        char time[] = "time", q[] = "hinge.q", qd[] = "hinge.qd", qdd[] = "hinge.qdd", *names[4] = {time, qdd, q, qd};
        struct motion exact, table;
        CHECK(motion_cycloid(robot, false, &k, &T, 1, fine ? 0.025 : 0.05, &silent, &exact) == STATUS_OK);
        const struct csv csv = {.file = "t", .n_columns = 4, .n_rows = exact.n_rows, .name = names, .number = number};
        for (int row = 0; row < exact.n_rows; row++) {
            double x[3], *to = number + 4 * row;
            motion_at(&exact, motion_row(&exact, row), 0, 0, x);
            to[0] = motion_time(&exact, row), to[1] = x[2], to[2] = x[0], to[3] = x[1];
        }
        CHECK(motion_from_table(robot, false, &csv, &silent, &table) == STATUS_OK);
        for (int i = 0; i <= 1000; i++) {
            double x[3], want[3];
            motion_at(&table, 0.001 * i, 0, 0, x);
            motion_at(&exact, 0.001 * i, 0, 0, want);
            for (int d = 0; d < 2; d++) worst[fine] = larger(worst[fine], fabs(x[d] - want[d]));
        }
        arena_release(&table.arena);
        arena_release(&exact.arena);
    }
    CHECK(worst[0] < 1e-6 && worst[1] < worst[0] / 12);
    robot_free(robot);
}

TEST(missing_columns_and_robots_without_drives)
{
    struct report silent = {0};
    struct robot *robot;
    struct motion motion;
    struct inverse inverse;
    double number[2] = {0, 1};
    char time[] = "time", q[] = "hinge.q", *names[2] = {time, q};
    const struct csv csv = {.file = "t", .n_columns = 2, .n_rows = 1, .name = names, .number = number};
    const struct inverse_options options = {0};
    CHECK(robot_read_text("p", PENDULUM, &robot, &silent) == STATUS_OK);
    CHECK(motion_from_table(robot, false, &csv, &silent, &motion) == STATUS_BAD_INPUT && silent.errors == 2);
    arena_release(&motion.arena);
    robot_free(robot);

    const char *const still = "{\"format\": \"limber-robot/1\", \"name\": \"s\", \"links\": [{\"name\": \"rod\","
                              " \"joint\": {\"type\": \"revolute\", \"passive\": true}, \"rigid\": {\"mass\": 2}}]}";
    CHECK(robot_read_text("s", still, &robot, &silent) == STATUS_OK);
    CHECK(motion_cycloid(robot, false, NULL, NULL, 1, 0.1, &silent, &motion) == STATUS_OK);
    CHECK(inverse_make("s", still, robot, &motion, &options, &silent, &inverse) == STATUS_BAD_INPUT);
    CHECK(silent.errors == 3);
    inverse_free(&inverse);
    arena_release(&motion.arena);
    robot_free(robot);
}

/* ---- linear algebra --------------------------------------------------------------------------------------------------------------- */

/* G N = 0, the free rows of N are those of the identity, and what must not be solved for stays free */
TEST(independent_coordinates_span_the_null_space)
{
    enum { N = 9, K = 4 };
    for (int seed = 0; seed < 200; seed++) {
        struct random random = {(uint64_t)seed};
        double G[K * N], used[K * N], null[N * (N - K)];
        enum solve_for wish[N];
        int row_of[N], free_one[N];
        for (int i = 0; i < K * N; i++) G[i] = used[i] = uniform(&random, -1, 1);
        for (int j = 0; j < N; j++) wish[j] = j == seed % N ? SOLVE_NEVER : (enum solve_for)(1 + pick(&random, 2));
        CHECK(independent_coordinates(N, K, used, wish, row_of, free_one, null));
        bool kept = false;
        for (int c = 0; c < N - K; c++) {
            kept = kept || free_one[c] == seed % N;
            for (int b = 0; b < N - K; b++) CHECK(null[(N - K) * free_one[b] + c] == (b == c));
            for (int i = 0; i < K; i++) {
                double sum = 0, size = 0;
                for (int j = 0; j < N; j++) {
                    sum += G[N * i + j] * null[(N - K) * j + c];
                    size += fabs(G[N * i + j] * null[(N - K) * j + c]);
                }
                CHECK_NEAR(sum, 0, 1e-11 * size);
            }
        }
        CHECK(kept);
    }
}

/* A'(A x - b) = 0 for b = A w + r, A'r = 0: x is the smallest solution of A x = A w, x'(w - x) = 0 */
TEST(least_squares_is_least)
{
    enum { ROWS = 4, COLUMNS = 6 };
    struct random random = {1};
    struct arena arena = {0};
    double A[ROWS * COLUMNS], used[ROWS * COLUMNS], r[ROWS] = {1, 1, 0, -1}, w[COLUMNS], x[COLUMNS], product = 0;
    int rank;
    for (int i = 0; i < ROWS * COLUMNS; i++) A[i] = uniform(&random, -1, 1);
    for (int j = 0; j < COLUMNS; j++) A[ROWS * j + 3] = A[ROWS * j] + A[ROWS * j + 1]; /* rank 3 */
    for (int j = 0; j < COLUMNS; j++) w[j] = uniform(&random, -1, 1);
    for (int i = 0; i < ROWS; i++) {
        x[i] = r[i];
        for (int j = 0; j < COLUMNS; j++) x[i] += A[ROWS * j + i] * w[j];
    }
    memcpy(used, A, sizeof A);
    CHECK(least_squares(ROWS, COLUMNS, used, x, &arena, &rank) == STATUS_OK && rank == 3);
    for (int j = 0; j < COLUMNS; j++) product += x[j] * (w[j] - x[j]);
    CHECK_NEAR(product, 0, 1e-12);
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;
        for (int j = 0; j < COLUMNS; j++) sum += A[ROWS * j + i] * (w[j] - x[j]);
        CHECK_NEAR(sum, 0, 1e-12);
    }
    arena_release(&arena);
}

SUITE(analysis_inverse_test)
