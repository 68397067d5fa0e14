/* Closing from a guess, putting back onto the loops, and equations that follow from others. */
#include "test.h"

#include <string.h>

#include "support/closed.h"

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

/* A four-bar in the x-y plane: crank 1 m, coupler 2 m, rocker 1.5 m, its foot at x = foot. `joint` is what the coupler's and
   the rocker's joint have beside their axis, `loop` joins the coupler's end and the rocker's. */
static int four_bar(struct closed *c, double foot, const char *crank, const char *joint, const char *loop)
{
    char text[3000];
    const char *body = "\"rigid\": {\"mass\": 1, \"com\": [0.5, 0, 0], \"inertia\": [0.1, 0.1, 0.1, 0, 0, 0], \"tip\": "
                       "{\"xyz\": [%g, 0, 0]}}";
    char body1[200], body2[200], body3[200];
    snprintf(body1, sizeof body1, body, 1.0);
    snprintf(body2, sizeof body2, body, 2.0);
    snprintf(body3, sizeof body3, body, 1.5);
    snprintf(text, sizeof text,
             "{\"format\": \"limber-robot/1\", \"name\": \"bars\", \"gravity\": [0, -9.81, 0], \"links\": ["
             "{\"name\": \"crank\", \"joint\": {\"name\": \"a\", \"type\": \"revolute\"%s}, %s},"
             "{\"name\": \"coupler\", \"joint\": {\"name\": \"b\", \"type\": \"revolute\"%s}, %s},"
             "{\"name\": \"rocker\", \"parent\": \"world\", \"joint\": {\"name\": \"c\", \"type\": \"revolute\", "
             "\"origin\": {\"xyz\": [%g, 0, 0]}%s}, %s}], \"loops\": [%s]}",
             crank, body1, joint, body2, foot, joint, body3, loop);
    return closed_read(c, text);
}

#define PASSIVE          ", \"passive\": true"
#define PRESCRIBED       ", \"motion\": \"prescribed\""
#define JOIN(name, rest) "{\"name\": \"" name "\", \"between\": [\"coupler\", \"rocker\"], " rest "}"
#define PLANAR           JOIN("end", "\"type\": \"planar-pin\", \"plane\": [[1, 0, 0], [0, 1, 0]]")
#define PIN              JOIN("end", "\"type\": \"pin\"")

static enum status close(struct closed *c, struct heard *heard)
{
    return constraints_close(&c->s.mechanism, c->s.q, listen(heard));
}

static double open_by(struct closed *c)
{
    double gap[MOST_ROWS];
    closed_gap(c, c->s.qd, NULL, gap, NULL, NULL);
    return norm(c->s.mechanism.constraints->n_rows, gap);
}

/* ---- closing ------------------------------------------------------------------------------------------------------------------ */

TEST(passive_joints_move_first)
{
    struct closed c;
    struct heard heard;
    CHECK(four_bar(&c, 2, "", PASSIVE, PLANAR));
    c.s.q[0] = 1.1, c.s.q[1] = -0.5, c.s.q[2] = 2.5;
    CHECK(open_by(&c) > 0.1);
    CHECK(close(&c, &heard) == STATUS_OK);
    CHECK(heard.text[0] == '\0');
    CHECK(c.s.q[0] == 1.1);
    CHECK(c.s.q[1] != -0.5 && c.s.q[2] != 2.5);
    CHECK(open_by(&c) < 1e-12);
    closed_free(&c);
}

/* Elbow up stays elbow up */
TEST(the_nearest_of_two_assemblies_is_found)
{
    for (int side = -1; side <= 1; side += 2) {
        struct closed c;
        struct heard heard;
        CHECK(four_bar(&c, 2, "", PASSIVE, PIN));
        c.s.q[0] = 1.2, c.s.q[1] = 1.2 * side - 1.2, c.s.q[2] = 1.5 * side;
        CHECK(close(&c, &heard) == STATUS_OK);
        CHECK(side * sin(c.s.q[2]) > 0);
        CHECK(open_by(&c) < 1e-12);
        closed_free(&c);
    }
}

TEST(driven_tau_move_where_passive_ones_do_not_suffice)
{
    struct closed c;
    struct heard heard;
    CHECK(four_bar(&c, 2, "", "", PLANAR)); /* no joint is passive */
    c.s.q[0] = 1.1, c.s.q[1] = -0.5, c.s.q[2] = 2.5;
    CHECK(close(&c, &heard) == STATUS_OK);
    CHECK(open_by(&c) < 1e-12);
    closed_free(&c);

    CHECK(four_bar(&c, 4, "", PASSIVE,
                   PLANAR)); /* the crank must turn towards the foot: 2.5 + 1.5 reach it nowhere else */
    c.s.q[0] = 1.6, c.s.q[1] = -1, c.s.q[2] = 2.5;
    CHECK(close(&c, &heard) == STATUS_OK);
    CHECK(c.s.q[0] < 1.6);
    CHECK(open_by(&c) < 1e-12);
    closed_free(&c);
}

TEST(prescribed_joints_never_move)
{
    struct closed c;
    struct heard heard;
    CHECK(four_bar(&c, 2, PRESCRIBED, PASSIVE, PIN));
    c.s.q[0] = 1.1, c.s.q[1] = -0.5, c.s.q[2] = 2.5;
    CHECK(close(&c, &heard) == STATUS_OK);
    CHECK(c.s.q[0] == 1.1);
    CHECK(open_by(&c) < 1e-12);
    closed_free(&c);

    CHECK(four_bar(&c, 4, PRESCRIBED, PASSIVE, PIN)); /* 5 m from the crank's end to the foot, 3.5 m of links */
    c.s.q[0] = acos(-1), c.s.q[1] = -3, c.s.q[2] = 3;
    CHECK(close(&c, &heard) == STATUS_OPEN_LOOP);
    CHECK(c.s.q[0] == acos(-1) && c.s.q[1] == -3 && c.s.q[2] == 3); /* the guess is left as it was */
    CHECK(strstr(heard.text, "loops[0] (end)") != NULL);
    CHECK(strstr(heard.text, "a gap of 1.5 m") != NULL);
    CHECK(heard.report.errors == 1);
    closed_free(&c);
}

TEST(links_that_are_too_short_are_told)
{
    struct closed c;
    struct heard heard;
    CHECK(four_bar(&c, 5, "", PASSIVE, PLANAR));
    c.s.q[0] = 0.3, c.s.q[1] = 0.2, c.s.q[2] = 2.9;
    CHECK(close(&c, &heard) == STATUS_OPEN_LOOP);
    CHECK(strstr(heard.text, "loops[0] (end): cannot be closed") != NULL);
    CHECK(strstr(heard.text, "a gap of 0.5 m remains") != NULL);
    closed_free(&c);
}

/* All right angles are right at half turns too, and of a weld at thirds: not what is meant */
TEST(nothing_is_joined_turned_round)
{
    static const char *const types[] = {"pin\", \"axis\": [1, 0, 0]", "weld"};
    for (int i = 0; i < 2; i++) {
        struct closed c;
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
        CHECK(closed_read(&c, text));
        c.s.q[0] = 0.7;
        CHECK(close(&c, &heard) == STATUS_OK);
        CHECK_NEAR(c.s.q[0], 0, 1e-12);
        c.s.q[0] = 2.9;
        if (close(&c, &heard) == STATUS_OK) {
            CHECK_NEAR(cos(c.s.q[0]), 1, 1e-12);
        } else {
            CHECK(strstr(heard.text, "loops[0] (both)") != NULL);
            CHECK(strstr(heard.text, "misalignment of 3.14 rad") != NULL);
        }
        closed_free(&c);
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
    for (int type = ANY_LOOP; type <= LOOP_WELD; type++)
        for (int seed = 0; seed < ROBOTS; seed++) {
            struct closed c;
            struct heard heard;
            double q[MOST];
            CHECK(closed_random(&c, seed, type, 1 + seed % 2, true));
            struct specimen *s = &c.s;
            push(s, &random, 0.3, 0.01);
            memcpy(q, s->q, (size_t)s->nq * sizeof *q);
            const enum status status = close(&c, &heard);
            CHECK(status == STATUS_OK || status == STATUS_OPEN_LOOP);
            if (status == STATUS_OK) closed++;
            else open++;
            if (status == STATUS_OK) CHECK(open_by(&c) < 1e-10);
            else CHECK(heard.report.errors > 0 && memcmp(q, s->q, (size_t)s->nq * sizeof *q) == 0);
            CHECK(prescribed_stand_still(s, q));
            closed_free(&c);
        }
    printf("     %d closed, %d not\n", closed, open);
    CHECK(closed > 4 * open);
}

/* ---- putting back --------------------------------------------------------------------------------------------------------------- */

/* x'M y */
static double mass_product(const struct specimen *s, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < s->nv; i++)
        for (int j = 0; j < s->nv; j++) sum += x[i] * s->work->M[s->nv * i + j] * y[j];
    return sum;
}

static enum status project(struct closed *c, double *err_q, double *err_qd)
{
    struct specimen *s = &c->s;
    return constraints_project(&c->s.mechanism, BY_NEW_FACTORS, s->q, s->qd, err_q, err_qd);
}

/* Once back, nothing moves any more; rates are changed by what is M-orthogonal to all that the loops allow; prescribed joints
   stay; an error estimate keeps what the loops allow, and no more */
TEST(projection)
{
    static double G[MOST_ROWS * MOST];
    double q[MOST], qd[MOST], change[MOST], err_q[MOST], err_qd[MOST], before[MOST];
    struct random random = {6};
    int tried = 0;
    for (int type = ANY_LOOP; type <= LOOP_WELD; type++)
        for (int seed = 0; seed < ROBOTS; seed++) {
            struct closed c;
            CHECK(closed_random(&c, seed, type, 1, true));
            struct specimen *s = &c.s;
            const size_t size = (size_t)s->nv * sizeof *qd, size_q = (size_t)s->nq * sizeof *q;
            for (int i = 0; i < s->nv; i++) {
                err_q[i] = uniform(&random, -1, 1);
                err_qd[i] = uniform(&random, -1, 1);
                s->qd[i] += 0.1 * err_q[i];
            }
            push(s, &random, 1e-4, 1e-5);
            for (int i = 0; i < s->nv; i++)
                if (velocity_prescribed(s, i) >= 0) err_q[i] = err_qd[i] = 0;
            memcpy(qd, s->qd, size);
            memcpy(before, err_qd, size);
            if (c.s.mechanism.constraints->n_active < c.s.mechanism.constraints->n_rows ||
                closed_independence(&c) < 1e-4) { /* it may not be able to close */
                closed_free(&c);
                continue;
            }
            tried++;
            CHECK(project(&c, err_q, err_qd) == STATUS_OK);
            CHECK(open_by(&c) < 1e-11);

            /* G qd = 0, G err = 0; M (qd - before) is in the range of G', so orthogonal to any projected vector */
            closed_jacobian(&c, G);
            for (int row = 0; row < c.s.mechanism.constraints->n_rows; row++) {
                double rate[3] = {0}, terms[3] = {1, 1, 1};
                const double *const vector[3] = {s->qd, err_q, err_qd};
                for (int k = 0; k < 3; k++) {
                    for (int i = 0; i < s->nv; i++) {
                        rate[k] += G[s->nv * row + i] * vector[k][i];
                        terms[k] += fabs(G[s->nv * row + i] * vector[k][i]);
                    }
                    CHECK_NEAR(rate[k], 0, 1e-10 * terms[k]);
                }
            }
            dyn_mass_matrix(s->model, s->work);
            for (int i = 0; i < s->nv; i++) change[i] = s->qd[i] - qd[i];
            CHECK_NEAR(mass_product(s, change, err_q), 0,
                       1e-10 * (1 + mass_norm(s, change)) * (1 + mass_norm(s, err_q)));
            for (int i = 0; i < s->nv; i++) change[i] = before[i] - err_qd[i];
            CHECK_NEAR(mass_product(s, change, err_qd), 0,
                       1e-10 * (1 + mass_norm(s, change)) * (1 + mass_norm(s, err_qd)));

            memcpy(q, s->q, size_q);
            memcpy(qd, s->qd, size);
            memcpy(before, err_q, size);
            CHECK(project(&c, err_q, NULL) == STATUS_OK);
            model_difference(s->model, q, s->q, change);
            CHECK(norm(s->nv, change) < 1e-11);
            CHECK(distance(s->nv, qd, s->qd) < 1e-10);
            CHECK(distance(s->nv, before, err_q) < 1e-10 * (1 + norm(s->nv, before)));
            CHECK(prescribed_stand_still(s, q));

            /* back from near by with the factors of here */
            for (int i = 0; i < s->nv; i++) s->qd[i] += uniform(&random, -1e-3, 1e-3);
            push(s, &random, 1e-6, 0);
            CHECK(constraints_project(&c.s.mechanism, BY_FORWARD_FACTORS, s->q, s->qd, NULL, NULL) == STATUS_OK);
            CHECK(open_by(&c) < 1e-11);
            dyn_motion(s->model, s->work, &s->in, NULL);
            dyn_velocity(s->model, s->work, &s->in);
            constraints_gap(&c.s.mechanism);
            for (int row = 0; row < c.s.mechanism.constraints->n_rows; row++)
                CHECK_NEAR(c.s.mechanism.constraints->rate[row], 0, 1e-10);
            closed_free(&c);
        }
    printf("     %d robots\n", tried);
    CHECK(tried > ROBOTS);
}

/* ---- equations that follow from others --------------------------------------------------------------------------------------------- */

/* Closes, chooses, gives the robot some speed on the loops; says how many equations are kept */
static int choose(struct closed *c, struct heard *heard)
{
    struct specimen *s = &c->s;
    CHECK(close(c, heard) == STATUS_OK);
    CHECK(constraints_choose(&c->s.mechanism, s->q, listen(heard)) == STATUS_OK);
    for (int i = 0; i < s->nv; i++) s->qd[i] = 1 + i;
    CHECK(project(c, NULL, NULL) == STATUS_OK);
    return c->s.mechanism.constraints->n_active;
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
        struct closed c;
        struct heard heard;
        CHECK(four_bar(&c, 2, "", PASSIVE, loop[i]));
        struct specimen *s = &c.s;
        s->q[0] = 1.1, s->q[1] = -0.5, s->q[2] = 2.5;
        CHECK(choose(&c, &heard) == 2);
        CHECK(closed_rank(&c) == 2);
        if (i == 0) CHECK(heard.text[0] == '\0');
        if (i == 1) CHECK(strstr(heard.text, "loops[0] (end): 3 of its 5 constraints are redundant") != NULL);
        CHECK(heard.report.warnings == (i == 0 ? 0 : i == 3 ? 2 : 1));
        for (int composite = 0; composite < 2; composite++) {
            CHECK((composite ? mechanism_forward_composite(&c.s.mechanism, &s->in, qdd[i])
                             : mechanism_forward(&c.s.mechanism, &s->in, qdd[i])) == STATUS_OK);
            CHECK_NEAR(distance(s->nv, qdd[i], qdd[0]), 0, 1e-10 * norm(s->nv, qdd[0]));
            closed_gap(&c, s->qd, qdd[i], NULL, rate, acceleration);
            CHECK(norm(c.s.mechanism.constraints->n_rows, rate) < 1e-13);
            CHECK(norm(c.s.mechanism.constraints->n_rows, acceleration) < 1e-11);
        }
        closed_free(&c);
    }
}

/* A weld of a four-bar leaves no freedom: three equations, no motion */
TEST(a_weld_locks_a_planar_mechanism)
{
    struct closed c;
    struct heard heard;
    double qdd[MOST];
    CHECK(four_bar(&c, 2, "", PASSIVE, JOIN("end", "\"type\": \"weld\", \"at\": [{}, {\"rpy\": [0, 0, -1.9]}]")));
    struct specimen *s = &c.s;
    s->q[0] = 1.1, s->q[1] = -0.5, s->q[2] = 2.5;
    CHECK(choose(&c, &heard) == 3);
    CHECK(strstr(heard.text, "3 of its 6 constraints") != NULL);
    CHECK(norm(3, s->qd) < 1e-12);
    CHECK(mechanism_forward(&c.s.mechanism, &s->in, qdd) == STATUS_OK);
    CHECK(norm(3, qdd) < 1e-10);
    closed_free(&c);
}

/* Links fixed to each other: a loop between them says nothing, and does nothing */
TEST(a_loop_between_links_that_are_fixed_to_each_other)
{
    static const char *const type[] = {"ball", "pin", "weld"};
    for (int i = 0; i < 3; i++) {
        struct closed c;
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
        CHECK(closed_read(&c, text));
        struct specimen *s = &c.s;
        s->q[0] = 0.4;
        CHECK(choose(&c, &heard) == 0);
        CHECK(strstr(heard.text, "loops[0] (idle)") != NULL && strstr(heard.text, "always satisfied") != NULL);
        CHECK(mechanism_forward(&c.s.mechanism, &s->in, qdd) == STATUS_OK);
        CHECK(dyn_forward(s->model, s->work, &s->in, open) == STATUS_OK);
        CHECK(qdd[0] == open[0] && norm(c.s.mechanism.constraints->n_rows, c.s.mechanism.constraints->lambda) == 0);
        closed_free(&c);
    }
}

int main(void)
{
    RUN(passive_joints_move_first);
    RUN(the_nearest_of_two_assemblies_is_found);
    RUN(driven_tau_move_where_passive_ones_do_not_suffice);
    RUN(prescribed_joints_never_move);
    RUN(links_that_are_too_short_are_told);
    RUN(nothing_is_joined_turned_round);
    RUN(random_robots_close_again);
    RUN(projection);
    RUN(a_planar_mechanism_in_space);
    RUN(a_weld_locks_a_planar_mechanism);
    RUN(a_loop_between_links_that_are_fixed_to_each_other);
    return test_summary();
}
