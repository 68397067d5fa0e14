/* Velocities and accelerations of tips, nodes and beam sections are the derivatives of their poses along the flow. */
#include "test.h"

#include <string.h>

#include "math/vec.h"
#include "oracle/derivative.h"
#include "oracle/scatter.h"
#include "oracle/section_motion.h"

enum { ROBOTS = 150 };

/* A frame to follow: a link's tip, or a section of a flexible link. */
struct followed {
    int link;
    const struct section *section; /* NULL: the tip */
    const struct anchor *anchor;   /* any frame; NULL: one of these */
};

static void motion_of(struct specimen *s, const struct followed *frame, const double *qdd, struct frame_motion *motion)
{
    specimen_evaluate(s, qdd);
    if (frame->anchor != NULL) dyn_frame(s->model, s->work, frame->anchor, motion);
    else if (frame->section == NULL) dyn_tip(s->model, s->work, frame->link, motion);
    else motion_of_section(s->model, s->work, &s->in, qdd, frame->link, frame->section, motion);
}

/* (p, R, v, omega) */
static void pose_and_velocity(struct specimen *s, void *context, double *y)
{
    struct frame_motion motion;
    motion_of(s, context, s->qdd, &motion);
    copy3(motion.p, y);
    copy9(motion.R, y + 3);
    copy3(motion.v, y + 12);
    copy3(motion.omega, y + 15);
}

/* p' = v,  R' = [omega]x R,  v' = a,  omega' = alpha;  eighth-order differences leave 1e-12 or so */
static double check_followed(struct specimen *s, struct followed *frame)
{
    struct frame_motion motion;
    double rate[18], spin[9], turned[9];
    motion_of(s, frame, s->qdd, &motion);
    flow_derivative(s, s->qdd, flow_step(s->nv, s->qdd), pose_and_velocity, frame, 18, rate, NULL);
    skew3(motion.omega, spin);
    matmul3(spin, motion.R, turned);
    const double speed = 1 + norm(3, motion.v) + norm(3, motion.omega);
    const double size = speed * speed + norm(3, motion.a) + norm(3, motion.alpha);
    CHECK_NEAR(distance(3, rate, motion.v), 0, 1e-11 * size);
    CHECK_NEAR(distance(9, rate + 3, turned), 0, 1e-11 * size);
    CHECK_NEAR(distance(3, rate + 12, motion.a), 0, 1e-11 * size);
    CHECK_NEAR(distance(3, rate + 15, motion.alpha), 0, 1e-11 * size);
    return fmax(fmax(distance(3, rate, motion.v), distance(9, rate + 3, turned)),
                fmax(distance(3, rate + 12, motion.a), distance(3, rate + 15, motion.alpha))) /
           size;
}

TEST(tips_move_as_their_poses_do)
{
    double worst = 0;
    for (int seed = 0; seed < ROBOTS; seed++) {
        struct specimen s;
        CHECK(specimen_random(&s, seed));
        for (int i = 0; i < s.model->n_links; i++) {
            struct followed tip = {.link = i};
            worst = fmax(worst, check_followed(&s, &tip));
        }
        specimen_free(&s);
    }
    printf("     worst %.1e\n", worst);
}

/* Loads and sensors, on links whose parents carry them anywhere */
TEST(frames_move_as_their_poses_do)
{
    double worst = 0;
    int observed = 0;
    for (int seed = 1; seed < ROBOTS; seed += 2) {
        struct specimen s;
        CHECK(specimen_mixed(&s, seed));
        for (int i = 0; i < s.n_frames; i++) {
            struct followed frame = {.anchor = &s.model->frame[i]};
            worst = fmax(worst, check_followed(&s, &frame));
            observed += !model_frame_acts(s.model, i);
        }
        specimen_free(&s);
    }
    CHECK(observed > 20);
    printf("     worst %.1e, %d of sections that are only observed\n", worst, observed);
}

TEST(sections_move_as_their_poses_do)
{
    double worst = 0;
    struct random random = {7};
    for (int seed = 0; seed < ROBOTS; seed++) {
        struct specimen s;
        CHECK(specimen_random(&s, seed));
        for (int i = 0; i < s.model->n_links; i++) {
            const struct link *link = &s.robot->link[i];
            if (s.model->link[i].body == NULL) continue;
            struct section section;
            const double x = uniform(&random, 0, link->beam.length);
            const int node = link->type == BODY_NODAL ? pick(&random, link->nodal.n_nodes) : 0;
            CHECK(body_section(link, x, node, &s.arena, &section) == STATUS_OK);
            struct followed followed = {.link = i, .section = &section};
            worst = fmax(worst, check_followed(&s, &followed));
        }
        specimen_free(&s);
    }
    printf("     worst %.1e\n", worst);
}

static double apart(const struct frame_motion *a, const struct frame_motion *b)
{
    double worst = fmax(distance(3, a->p, b->p), distance(9, a->R, b->R));
    worst = fmax(worst, fmax(distance(3, a->v, b->v), distance(3, a->omega, b->omega)));
    return fmax(worst, fmax(distance(3, a->a, b->a), distance(3, a->alpha, b->alpha)));
}

/* The section at the end is the tip; the one at the hinge is O. Accelerations up to 1e3 m/s^2 keep 1e-11 of it. */
TEST(end_sections_are_tip_and_hinge)
{
    for (int seed = 0; seed < ROBOTS; seed++) {
        struct specimen s;
        CHECK(specimen_random(&s, seed));
        for (int i = 0; i < s.model->n_links; i++) {
            const struct link *link = &s.robot->link[i];
            if (s.model->link[i].body == NULL) continue;
            struct section section;
            struct frame_motion tip, at_end, at_hinge, hinge = {0};
            specimen_evaluate(&s, s.qdd);
            dyn_tip(s.model, s.work, i, &tip);
            CHECK(body_section(link, link->beam.length, link->nodal.tip_node, &s.arena, &section) == STATUS_OK);
            motion_of_section(s.model, s.work, &s.in, s.qdd, i, &section, &at_end);
            CHECK_NEAR(apart(&tip, &at_end), 0, 1e-12 * (100 + norm(3, tip.a) + norm(3, tip.alpha)));

            CHECK(body_section(link, 0, link->nodal.hinge_node, &s.arena, &section) == STATUS_OK);
            motion_of_section(s.model, s.work, &s.in, s.qdd, i, &section, &at_hinge);
            const struct frame *O = &s.work->link[i].O;
            copy3(O->p, hinge.p);
            copy9(O->R, hinge.R);
            copy3(O->v, hinge.v);
            copy3(O->omega, hinge.omega);
            copy3(O->acc, hinge.alpha);
            for (int k = 0; k < 3; k++) hinge.a[k] = O->acc[3 + k] + s.model->gravity[k];
            CHECK_NEAR(apart(&hinge, &at_hinge), 0, 1e-12 * (100 + norm(3, hinge.a) + norm(3, hinge.alpha)));
        }
        specimen_free(&s);
    }
}

SUITE(dyn_frames_test)
