/* Closing from a guess, putting back onto the loops, and equations that follow from others. */
#include "test.h"

#include <string.h>

#include "oracle/closed.h"
#include "oracle/laws.h"

enum { ROBOTS = 100 };

/* ---- messages ---------------------------------------------------------------------------------------------------------------- */

struct heard {
    char text[1000];
    struct report report;
};

static void hear(void *context, enum report_level level, const char *text)
{
    struct heard *heard = context;
    (void)level;
    if (heard->text[0] == '\0') snprintf(heard->text, sizeof heard->text, "%s", text);
}

static struct report *listen(struct heard *heard)
{
    *heard = (struct heard){.report = {.line = hear, .context = heard}};
    return &heard->report;
}

/* ---- robots ------------------------------------------------------------------------------------------------------------------ */

#define BODY(length)                                                                                            \
    "\"rigid\": {\"mass\": 1, \"com\": [0.5, 0, 0], \"inertia\": [0.1, 0.1, 0.1, 0, 0, 0], \"tip\": {\"xyz\": " \
    "[" length ", 0, 0]}}"

/* A four-bar in the x-y plane: crank 1 m, coupler 2 m, rocker 1.5 m, its foot at x = foot. `joint` is what the coupler's and
   the rocker's joint have beside their axis, `loop` joins the coupler's end and the rocker's. */
static int four_bar(struct specimen *s, double foot, const char *crank, const char *joint, const char *loop)
{
    char text[3000];
    snprintf(text, sizeof text,
             "{\"format\": \"limber-robot/1\", \"name\": \"bars\", \"gravity\": [0, -9.81, 0], \"links\": ["
             "{\"name\": \"crank\", \"joint\": {\"name\": \"a\", \"type\": \"revolute\"%s}, " BODY(
                 "1") "},"
                      "{\"name\": \"coupler\", \"joint\": {\"name\": \"b\", \"type\": \"revolute\"%s}, " BODY(
                          "2") "},"
                               "{\"name\": \"rocker\", \"parent\": \"world\", \"joint\": {\"name\": \"c\", \"type\": "
                               "\"revolute\", "
                               "\"origin\": {\"xyz\": [%g, 0, 0]}%s}, " BODY("1.5") "}], \"loops\": [%s]}",
             crank, joint, foot, joint, loop);
    return specimen_read(s, text);
}

static int make_closed(struct specimen *s, int seed)
{
    return closed_random(s, seed / 5, seed % 5 - 1, 1, true);
}

#define PASSIVE          ", \"passive\": true"
#define PRESCRIBED       ", \"motion\": \"prescribed\""
#define JOIN(name, rest) "{\"name\": \"" name "\", \"between\": [\"coupler\", \"rocker\"], " rest "}"
#define PLANAR           JOIN("end", "\"type\": \"planar-pin\", \"plane\": [[1, 0, 0], [0, 1, 0]]")
#define PIN              JOIN("end", "\"type\": \"pin\"")

static enum status close(struct specimen *s, struct heard *heard)
{
    return constraints_close(&s->mechanism, NULL, s->q, listen(heard));
}

static double open_by(struct specimen *s)
{
    double gap[MOST_ROWS];
    closed_gap(s, s->qd, NULL, gap, NULL, NULL);
    return norm(s->mechanism.constraints->n_rows, gap);
}

/* ---- closing ------------------------------------------------------------------------------------------------------------------ */

static const double PI = 3.14159265358979323846;

/* Passive joints move first, and prescribed ones never: the crank stays. It moves where the passive joints do not suffice, as there are
   none or since links of 2.5 + 1.5 m reach a foot at 4 m nowhere else. Elbow up stays elbow up. What cannot be closed is left as it was,
   and told. */
TEST(a_four_bar_is_closed_from_a_guess)
{
    static const struct {
        double foot;
        const char *crank, *joint, *loop;
        double guess[3];
        int moves;        /* sign of the crank's motion                     */
        const char *told; /* of a loop that cannot be closed; NULL: it can */
    } cases[] = {{2, "", PASSIVE, PLANAR, {1.1, -0.5, 2.5}, 0, NULL},
                 {2, "", PASSIVE, PIN, {1.2, 0, 1.5}, 0, NULL},
                 {2, "", PASSIVE, PIN, {1.2, -2.4, -1.5}, 0, NULL},
                 {2, PRESCRIBED, PASSIVE, PIN, {1.1, -0.5, 2.5}, 0, NULL},
                 {2, "", "", PLANAR, {1.1, -0.5, 2.5}, 1, NULL},
                 {4, "", PASSIVE, PLANAR, {1.6, -1, 2.5}, -1, NULL},
                 {4, PRESCRIBED, PASSIVE, PIN, {PI, -3, 3}, 0, "a gap of 1.5 m"}, /* 5 m to the foot, 3.5 m of links */
                 {5, "", PASSIVE, PLANAR, {0.3, 0.2, 2.9}, 0, "a gap of 0.5 m remains"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct specimen s;
        struct heard heard;
        const double *guess = cases[i].guess;
        CHECK(four_bar(&s, cases[i].foot, cases[i].crank, cases[i].joint, cases[i].loop));
        memcpy(s.q, guess, sizeof cases[i].guess);
        CHECK(open_by(&s) > 0.1);
        const enum status status = close(&s, &heard);
        if (cases[i].told != NULL) {
            CHECK(status == STATUS_OPEN_LOOP && heard.report.errors == 1 && memcmp(s.q, guess, 3 * sizeof *guess) == 0);
            CHECK(strstr(heard.text, "loops[0] (end)") != NULL && strstr(heard.text, cases[i].told) != NULL);
        } else {
            CHECK(status == STATUS_OK && heard.text[0] == '\0' && open_by(&s) < 1e-12);
            CHECK((s.q[0] == guess[0]) == (cases[i].moves == 0) && cases[i].moves * (s.q[0] - guess[0]) >= 0);
            CHECK(s.q[1] != guess[1] && s.q[2] * guess[2] > 0);
        }
        specimen_free(&s);
    }
}

/* All right angles are right at half turns too, and of a weld at thirds: not what is meant */
TEST(nothing_is_joined_turned_round)
{
    static const char *const types[] = {"pin\", \"axis\": [1, 0, 0]", "weld"};
    for (int i = 0; i < 2; i++) {
        struct specimen s;
        struct heard heard;
        char text[1500];
        snprintf(
            text, sizeof text,
            "{\"format\": \"limber-robot/1\", \"name\": \"turned\", \"links\": ["
            "{\"name\": \"a\", \"parent\": \"world\", \"joint\": {\"type\": \"fixed\"}, \"rigid\": {\"mass\": 1}},"
            "{\"name\": \"b\", \"parent\": \"world\", \"joint\": {\"type\": \"revolute\"}, \"rigid\": {\"mass\": 1,"
            "\"inertia\": [1, 1, 1, 0, 0, 0]}}],"
            "\"loops\": [{\"name\": \"both\", \"between\": [\"a\", \"b\"], \"type\": \"%s%s}]}",
            types[i], i == 0 ? "" : "\"");
        CHECK(specimen_read(&s, text));
        s.q[0] = 0.7;
        CHECK(close(&s, &heard) == STATUS_OK);
        CHECK_NEAR(s.q[0], 0, 1e-12);
        s.q[0] = 2.9;
        if (close(&s, &heard) == STATUS_OK) {
            CHECK_NEAR(cos(s.q[0]), 1, 1e-12);
        } else {
            CHECK(strstr(heard.text, "loops[0] (both)") != NULL);
            CHECK(strstr(heard.text, "misalignment of 3.14 rad") != NULL);
        }
        specimen_free(&s);
    }
}

/* Moves q by as much at random: joints that are not prescribed, and modes */
static void push(struct specimen *s, struct random *random, double joints, double modes)
{
    double dx[MOST] = {0};
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_model *lm = &s->model->link[i];
        for (int k = 0; modes > 0 && k < lm->m; k++) dx[lm->eta_v + k] = uniform(random, -modes, modes);
        for (int k = 0; k < free_velocities(lm); k++) dx[lm->v + k] = uniform(random, -joints, joints);
    }
    model_move(s->model, s->q, dx, 1);
}

/* Whether prescribed joints stand where they do in q */
static bool prescribed_stand_still(const struct specimen *s, const double *q)
{
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_model *lm = &s->model->link[i];
        for (int k = 0; lm->prescribed >= 0 && k < lm->joint.nq; k++)
            if (s->q[lm->q + k] != q[lm->q + k]) return false;
    }
    return true;
}

/* Robots that were closed, pushed off: found again, or told; what is prescribed stays */
TEST(random_robots_close_again)
{
    int closed = 0, open = 0;
    struct random random = {5};
    for (int seed = 0; seed < test_sample(5 * ROBOTS); seed++) {
        struct specimen s;
        struct heard heard;
        double q[MOST];
        CHECK(closed_random(&s, seed / 5, seed % 5 - 1, 1 + seed / 5 % 2, true));
        push(&s, &random, 0.3, 0.01);
        memcpy(q, s.q, (size_t)s.nq * sizeof *q);
        const enum status status = close(&s, &heard);
        if (status == STATUS_OK) CHECK(open_by(&s) < 1e-10);
        else
            CHECK(status == STATUS_OPEN_LOOP && heard.report.errors > 0 &&
                  memcmp(q, s.q, (size_t)s.nq * sizeof *q) == 0);
        closed += status == STATUS_OK;
        open += status != STATUS_OK;
        CHECK(prescribed_stand_still(&s, q));
        specimen_free(&s);
    }
    printf("     %d closed, %d not\n", closed, open);
    CHECK(closed >= 4 * open);
}

/* ---- the least change, in the loop only ------------------------------------------------------------------------------------------ */

/* Joints of the loop: those whose rates, alone, part its two sides seen from either of them, so on one of the two ways to the world but
   not on both */
static bool on_the_way(const struct model *model, int from, int link)
{
    while (from >= 0 && from != link) from = model->link[from].parent;
    return from == link;
}

static bool joint_of_loop(const struct model *model, int link)
{
    const struct site *side = model->robot->site + model->robot->loop[0].site;
    return on_the_way(model, side[0].link, link) != on_the_way(model, side[1].link, link);
}

/* The part of x that rows of G do not span, columns that did not move left out: Gram-Schmidt, twice */
static double unexplained(struct specimen *s, const bool *moving, double *x)
{
    static double G[MOST_ROWS * MOST];
    const int n = s->nv, rows = s->mechanism.constraints->n_rows;
    closed_jacobian(s, G);
    for (int i = 0; i < rows; i++) {
        double *g = G + n * i, before, length;
        for (int j = 0; j < n; j++) g[j] *= moving[j];
        before = norm(n, g);
        for (int k = 0; k < 2 * i; k++) {
            double along = 0;
            for (int j = 0; j < n; j++) along += G[n * (k % i) + j] * g[j];
            for (int j = 0; j < n; j++) g[j] -= along * G[n * (k % i) + j];
        }
        length = norm(n, g);
        for (int j = 0; j < n; j++) g[j] = length > 1e-6 * before ? g[j] / length : 0;
    }
    for (int k = 0; k < 2 * rows; k++) {
        double along = 0;
        for (int j = 0; j < n; j++) along += G[n * (k % rows) + j] * x[j];
        for (int j = 0; j < n; j++) x[j] -= along * G[n * (k % rows) + j];
    }
    return norm(n, x);
}

/* Which coordinates moved, and so which might have; false: links had to bend */
static bool list_moving(const struct specimen *s, const double *change, bool *moving)
{
    bool drives = false;
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_model *lm = &s->model->link[i];
        for (int k = 0; k < lm->m; k++)
            if (change[lm->eta_v + k] != 0) return false;
        drives = drives || (!lm->passive && norm(lm->joint.nv, change + lm->v) > 1e-14);
    }
    memset(moving, 0, (size_t)s->nv * sizeof *moving);
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_model *lm = &s->model->link[i];
        for (int k = 0; k < free_velocities(lm); k++)
            moving[lm->v + k] = joint_of_loop(s->model, i) && (lm->passive || drives);
    }
    return true;
}

/* Joints outside the loop stay as they are (quaternions to rounding). The change of those in it is the least: stationary under the constraints, so
   a combination of rows of G. Steps end below 1e-10, or where rounding hides that the change shrinks: sqrt(eps) of it. */
TEST(closing_is_the_least_change_of_the_joints_of_the_loop)
{
    int closed = 0, outside = 0, free = 0;
    struct random random = {8};
    for (int seed = 0; seed < test_sample(5 * ROBOTS); seed++) {
        struct specimen s;
        struct heard heard;
        double q[MOST], change[MOST];
        bool moving[MOST];
        CHECK(make_closed(&s, seed));
        push(&s, &random, 0.1, 0);
        memcpy(q, s.q, (size_t)s.nq * sizeof *q);
        const bool closes = close(&s, &heard) == STATUS_OK;
        model_difference(s.model, q, s.q, change);
        for (int i = 0; i < s.model->n_links && closes; i++) {
            const struct link_model *lm = &s.model->link[i];
            if (joint_of_loop(s.model, i)) continue;
            outside += lm->joint.nv;
            CHECK(norm(lm->joint.nv, change + lm->v) <= (lm->joint.nq > lm->joint.nv ? 1e-14 : 0));
        }
        if (closes && list_moving(&s, change, moving)) {
            const double size = norm(s.nv, change);
            int count = -closed_rank(&s);
            for (int j = 0; j < s.nv; j++) count += moving[j];
            free += count > 0;
            closed++;
            CHECK(unexplained(&s, moving, change) <= 1e-6 * size + 1e-9);
        }
        specimen_free(&s);
    }
    printf("     %d closed, %d with freedom, %d velocities outside\n", closed, free, outside);
    CHECK_COVERAGE(closed > ROBOTS && free > ROBOTS / 4 && outside > ROBOTS);
}

/* Two four-bars side by side on a sprung base: the one that is open closes by its own joints. The other, which is closed, and the
   base, which tilts the world's plane of both, stay. */
TEST(loops_without_common_joints_do_not_act_on_each_other)
{
    char text[6000];
    const char *bar =
        "{\"name\": \"%s%d\", \"parent\": \"%s%s\", \"joint\": {\"name\": \"j%s%d\", \"type\": \"revolute\", "
        "\"origin\": {\"xyz\": [%g, 0, %g]}, \"start\": {\"position\": %.17g}%s}, \"rigid\": {\"mass\": 1, "
        "\"com\": [0.5, 0, 0], \"inertia\": [0.1, 0.1, 0.1, 0, 0, 0], \"tip\": {\"xyz\": [%g, 0, 0]}}}, ";
    static const double length[3] = {1, 2, 1.5};
    static const char *const name[3] = {"crank", "coupler", "rocker"};
    int at = snprintf(
        text, sizeof text,
        "{\"format\": \"limber-robot/1\", \"name\": \"two\", \"links\": [{\"name\": \"base\", \"joint\": "
        "{\"name\": \"sprung\", \"type\": \"revolute\", \"axis\": [1, 0, 0], \"passive\": true, \"stiffness\": "
        "1000}, \"rigid\": {\"mass\": 5, \"inertia\": [1, 1, 1, 0, 0, 0]}}, ");
    for (int i = 0; i < 6; i++) {
        const int k = i % 3;
        at += snprintf(text + at, sizeof text - (size_t)at, bar, name[k], i / 3, k == 1 ? "crank" : "base",
                       k == 1 ? (i < 3 ? "0" : "1") : "", name[k], i / 3, k == 2 ? 2.0 : 0.0, k == 2 ? 0.3 : 0.0,
                       k == 0   ? 1.1
                       : k == 1 ? -0.5
                                : 2.5,
                       k == 0 ? "" : PASSIVE, length[k]);
    }
    snprintf(text + at - 2, sizeof text - (size_t)at + 2,
             "], \"loops\": [{\"name\": \"a\", \"type\": \"planar-pin\", \"between\": [\"coupler0\", \"rocker0\"], "
             "\"plane\": "
             "[[1, 0, 0], [0, 1, 0]]}, {\"name\": \"b\", \"type\": \"planar-pin\", \"between\": [\"coupler1\", "
             "\"rocker1\"], \"plane\": [[1, 0, 0], [0, 1, 0]]}]}");
    struct specimen s;
    struct heard heard;
    double q[7], *const x = q;
    CHECK(specimen_read(&s, text));
    const double guess[7] = {0.01, 1.1, -0.5, 2.5, 1.1, -0.5, 2.5};
    memcpy(s.q, guess, sizeof guess);
    CHECK(close(&s, &heard) == STATUS_OK);
    CHECK(s.q[0] == 0.01 && s.q[1] == 1.1 && s.q[4] == 1.1);
    memcpy(x, s.q, sizeof q);
    s.q[6] += 0.1; /* the second rocker is 0.1 rad off */
    CHECK(close(&s, &heard) == STATUS_OK && open_by(&s) < 1e-12);
    for (int i = 0; i < 5; i++) CHECK(s.q[i] == x[i]);
    for (int i = 5; i < 7; i++) CHECK_NEAR(s.q[i], x[i], 1e-11);
    specimen_free(&s);
}

/* ---- the start of the file -------------------------------------------------------------------------------------------------------- */

static void take_note(void *context, const char *text)
{
    struct heard *heard = context;
    snprintf(heard->text + strlen(heard->text), sizeof heard->text - strlen(heard->text), "%s\n", text);
}

/* What moves is noted, with the amount. More than 0.3 rad is an error where the file said so and the loop did not allow it. */
TEST(joints_that_the_start_moves_are_told)
{
    for (int allowed = 0; allowed < 2; allowed++)
        for (int own = 0; own < 2; own++) {
            struct specimen s;
            struct heard heard;
            double q[3];
            CHECK(four_bar(&s, 2, ", \"start\": {\"position\": 1.1}", PASSIVE ", \"start\": {\"position\": 0.5}",
                           PLANAR));
            model_start(s.model, s.q, s.qd);
            s.mechanism.constraints->constraint[0].approximate = allowed;
            memcpy(q, s.q, sizeof q);
            if (!own) s.q[0] = q[0] = 1.101;
            listen(&heard);
            heard.report.note = take_note;
            const enum status status = constraints_close_start(&s.mechanism, s.q, &heard.report);
            CHECK(status == (own && !allowed ? STATUS_OPEN_LOOP : STATUS_OK));
            CHECK(heard.report.errors == (own && !allowed));
            double most = 0;
            char expected[100];
            for (int i = 1; i < 3; i++) {
                snprintf(expected, sizeof expected, "joint '%c' moves by %.6g rad", "abc"[i], s.q[i] - q[i]);
                CHECK(strstr(heard.text, expected) != NULL);
                most = larger(most, fabs(s.q[i] - q[i]));
            }
            CHECK(most > 0.3 && strstr(heard.text, "joint 'a'") == NULL);
            heard.text[0] = '\0';
            CHECK(constraints_close_start(&s.mechanism, s.q, &heard.report) == STATUS_OK);
            CHECK(heard.text[0] == '\0'); /* a closed start moves nothing */
            specimen_free(&s);
        }
}

/* ---- putting back --------------------------------------------------------------------------------------------------------------- */

static enum status project(struct specimen *s, double *err_q, double *err_qd)
{
    return constraints_project(&s->mechanism, BY_NEW_FACTORS, s->q, s->qd, err_q, err_qd);
}

/* |G x| of the terms that add up */
static double rate_along(struct specimen *s, const double *x)
{
    static double G[MOST_ROWS * MOST];
    double worst = 0;
    closed_jacobian(s, G);
    for (int row = 0; row < s->mechanism.constraints->n_rows; row++) {
        double rate = 0, terms = 1;
        for (int i = 0; i < s->nv; i++) {
            rate += G[s->nv * row + i] * x[i];
            terms += fabs(G[s->nv * row + i] * x[i]);
        }
        worst = larger(worst, fabs(rate) / terms);
    }
    return worst;
}

/* (x - before)'M y of the size of both */
static double mass_angle(const struct specimen *s, const double *x, const double *before, const double *y)
{
    double change[MOST];
    for (int i = 0; i < s->nv; i++) change[i] = x[i] - before[i];
    return mass_product(s, change, y) / ((1 + mass_norm(s, change)) * (1 + mass_norm(s, y)));
}

/* Once back, nothing moves any more; rates are changed by what is M-orthogonal to all that the loops allow; prescribed joints
   stay; an error estimate keeps what the loops allow, and no more. A robot whose equations are dependent may not be able to close. */
static double projection_error(struct specimen *s)
{
    const struct constraints *loops = s->mechanism.constraints;
    double q[MOST], qd[MOST], change[MOST], err_q[MOST], err_qd[MOST], before[MOST], worst = 0;
    const size_t size = (size_t)s->nv * sizeof *qd;
    for (int i = 0; i < s->nv; i++) {
        err_q[i] = uniform(&s->random, -1, 1);
        err_qd[i] = uniform(&s->random, -1, 1);
        s->qd[i] += 0.1 * err_q[i];
        if (velocity_prescribed(s, i) >= 0) err_q[i] = err_qd[i] = 0;
    }
    push(s, &s->random, 1e-4, 1e-5);
    memcpy(qd, s->qd, size);
    memcpy(before, err_qd, size);
    if (loops->n_active < loops->n_rows || closed_independence(s) < 1e-4) return LEFT_OUT;
    CHECK(project(s, err_q, err_qd) == STATUS_OK);
    CHECK(open_by(s) < 1e-11);

    /* G qd = 0, G err = 0; M (qd - before) is in the range of G', so orthogonal to any projected vector */
    worst = larger(rate_along(s, s->qd), larger(rate_along(s, err_q), rate_along(s, err_qd)));
    dyn_mass_matrix(s->model, s->work);
    worst = larger(worst, fabs(mass_angle(s, s->qd, qd, err_q)));
    worst = larger(worst, fabs(mass_angle(s, err_qd, before, err_qd)));

    memcpy(q, s->q, (size_t)s->nq * sizeof *q);
    memcpy(qd, s->qd, size);
    memcpy(before, err_q, size);
    CHECK(project(s, err_q, NULL) == STATUS_OK);
    model_difference(s->model, q, s->q, change);
    worst = larger(worst, larger(10 * norm(s->nv, change), distance(s->nv, qd, s->qd)));
    worst = larger(worst, distance(s->nv, before, err_q) / (1 + norm(s->nv, before)));
    CHECK(prescribed_stand_still(s, q));

    /* back from near by with the factors of here */
    for (int i = 0; i < s->nv; i++) s->qd[i] += uniform(&s->random, -1e-3, 1e-3);
    push(s, &s->random, 1e-6, 0);
    CHECK(constraints_project(&s->mechanism, BY_FORWARD_FACTORS, s->q, s->qd, NULL, NULL) == STATUS_OK);
    CHECK(open_by(s) < 1e-11);
    dyn_motion(s->model, s->work, &s->in, NULL);
    dyn_velocity(s->model, s->work, &s->in);
    constraints_gap(&s->mechanism, &s->in);
    return larger(worst, norm(loops->n_rows, loops->rate));
}

TEST(projection)
{
    CHECK(law_holds(test_sample(5 * ROBOTS), make_closed, projection_error, 1e-10));
}

/* ---- equations that follow from others --------------------------------------------------------------------------------------------- */

/* Closes, chooses, gives the robot some speed on the loops; says how many equations are kept */
static int choose(struct specimen *s, struct heard *heard)
{
    CHECK(close(s, heard) == STATUS_OK);
    CHECK(constraints_choose(&s->mechanism, s->q, listen(heard)) == STATUS_OK);
    for (int i = 0; i < s->nv; i++) s->qd[i] = 1 + i;
    CHECK(project(s, NULL, NULL) == STATUS_OK);
    return s->mechanism.constraints->n_active;
}

/* A four-bar in space has one freedom whatever joins it: accelerations are those of the planar pin, for which two equations are
   just enough, and all equations hold, left out or not */
TEST(a_planar_mechanism_in_space)
{
    static const char *const loop[] = {PLANAR, PIN, JOIN("end", "\"type\": \"ball\""),
                                       PIN ", " JOIN("again", "\"type\": \"pin\""),
                                       PLANAR ", " JOIN("again", "\"type\": \"ball\"")};
    double qdd[5][MOST], rate[MOST_ROWS], acceleration[MOST_ROWS];
    for (int i = 0; i < 5; i++) {
        struct specimen s;
        struct heard heard;
        CHECK(four_bar(&s, 2, "", PASSIVE, loop[i]));
        s.q[0] = 1.1, s.q[1] = -0.5, s.q[2] = 2.5;
        CHECK(choose(&s, &heard) == 2);
        CHECK(closed_rank(&s) == 2);
        if (i == 0) CHECK(heard.text[0] == '\0');
        if (i == 1) CHECK(strstr(heard.text, "loops[0] (end): 3 of its 5 constraints are redundant") != NULL);
        CHECK(heard.report.warnings == (i == 0 ? 0 : 1)); /* one message for all loops */
        if (i == 3)
            CHECK(strstr(heard.text, "loops[0] (end): 3 of its 5, loops[1] (again): 5 of its 5 constraints") != NULL);
        for (int composite = 0; composite < 2; composite++) {
            CHECK((composite ? mechanism_forward_composite(&s.mechanism, &s.in, qdd[i])
                             : mechanism_forward(&s.mechanism, &s.in, qdd[i])) == STATUS_OK);
            CHECK_NEAR(distance(s.nv, qdd[i], qdd[0]), 0, 1e-10 * norm(s.nv, qdd[0]));
            closed_gap(&s, s.qd, qdd[i], NULL, rate, acceleration);
            CHECK(norm(s.mechanism.constraints->n_rows, rate) < 1e-13);
            CHECK(norm(s.mechanism.constraints->n_rows, acceleration) < 1e-11);
        }
        specimen_free(&s);
    }
}

/* A weld of a four-bar leaves no freedom: three equations, no motion */
TEST(a_weld_locks_a_planar_mechanism)
{
    struct specimen s;
    struct heard heard;
    double qdd[MOST];
    CHECK(four_bar(&s, 2, "", PASSIVE, JOIN("end", "\"type\": \"weld\", \"at\": [{}, {\"rpy\": [0, 0, -1.9]}]")));
    s.q[0] = 1.1, s.q[1] = -0.5, s.q[2] = 2.5;
    CHECK(choose(&s, &heard) == 3);
    CHECK(strstr(heard.text, "3 of its 6 constraints") != NULL);
    CHECK(norm(3, s.qd) < 1e-12);
    CHECK(mechanism_forward(&s.mechanism, &s.in, qdd) == STATUS_OK);
    CHECK(norm(3, qdd) < 1e-10);
    specimen_free(&s);
}

/* Links fixed to each other: a loop between them says nothing, and does nothing */
TEST(a_loop_between_links_that_are_fixed_to_each_other)
{
    static const char *const type[] = {"ball", "pin", "weld"};
    for (int i = 0; i < 3; i++) {
        struct specimen s;
        struct heard heard;
        double qdd[MOST], open[MOST];
        char text[1500];
        snprintf(
            text, sizeof text,
            "{\"format\": \"limber-robot/1\", \"name\": \"fixed\", \"gravity\": [1, 2, 3], \"links\": ["
            "{\"name\": \"a\", \"joint\": {\"type\": \"revolute\", \"axis\": [1, 2, 3]}, \"rigid\": {\"mass\": 1, "
            "\"inertia\": [1, 1, 1, 0, 0, 0], \"tip\": {\"xyz\": [0.1, 0.7, 0.3], \"rpy\": [0.3, 0.5, 0.7]}}},"
            "{\"name\": \"b\", \"joint\": {\"type\": \"fixed\", \"origin\": {\"xyz\": [0.3, 0.1, 0.7]}}, \"rigid\": "
            "{\"mass\": 1, \"tip\": {\"xyz\": [0.3, 0.1, 0.7]}}}],"
            "\"loops\": [{\"name\": \"idle\", \"type\": \"%s\", \"between\": [\"a\", \"b\"], \"at\": [{\"xyz\": [0.6, "
            "0.2, 1.4]}, {}]}]}",
            type[i]);
        CHECK(specimen_read(&s, text));
        s.q[0] = 0.4;
        CHECK(choose(&s, &heard) == 0);
        CHECK(strstr(heard.text, "loops[0] (idle)") != NULL && strstr(heard.text, "always satisfied") != NULL);
        CHECK(mechanism_forward(&s.mechanism, &s.in, qdd) == STATUS_OK);
        CHECK(tree_forward(s.model, s.work, &s.in, open) == STATUS_OK);
        CHECK(qdd[0] == open[0] && norm(s.mechanism.constraints->n_rows, s.mechanism.constraints->lambda) == 0);
        specimen_free(&s);
    }
}

SUITE(mech_close_test)
