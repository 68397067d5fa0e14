/* One robot, said in two ways: every answer must be the same. Differences are of the answers' own size; the ways round
   differently, some hundred operations each: 1e-12. */
#include "test.h"

#include <string.h>

#include "math/rotation.h"
#include "math/vec.h"
#include "oracle/specimen.h"
#include "oracle/surgery.h"

enum { ROBOTS = 300, MOST = 200 };

/* What a test does to the second of two equal robots; returns how often it found something to do, -1 without memory. */
typedef int change(struct robot *robot);

static void check_unchanged(change *apply)
{
    double worst = 0;
    int changed = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen a, b;
        CHECK(specimen_random(&a, seed));
        CHECK(specimen_random(&b, seed));
        const int count = apply(b.robot);
        CHECK(count >= 0);
        changed += count > 0;
        CHECK(specimen_remake(&b));
        if (count > 0 && a.nv == b.nv) {
            const double difference = specimen_difference(&a, &b);
            CHECK_NEAR(difference, 0, 1e-12);
            worst = fmax(worst, difference);
        }
        CHECK(a.nv == b.nv);
        specimen_free(&a);
        specimen_free(&b);
    }
    CHECK_COVERAGE(changed >= ROBOTS / 5);
    printf("     worst %.1e over %d robots\n", worst, changed);
}

static int beams_to_rigid(struct robot *robot)
{
    int count = 0;
    for (int i = 0; i < robot->n_links; i++) {
        struct link *link = &robot->link[i];
        if (link->type != BODY_BEAM || robot_link_modes(link) > 0) continue;
        beam_to_rigid(link);
        count++;
    }
    return count;
}

static int no_bending(struct robot *robot) /* takes all modes away, so that there is something to do */
{
    for (int i = 0; i < robot->n_links; i++)
        if (robot->link[i].type == BODY_BEAM) memset(robot->link[i].beam.family, 0, sizeof robot->link[i].beam.family);
    return 1;
}

/* modes {}: a beam is the rigid body it is */
TEST(beam_without_modes_is_rigid)
{
    double worst = 0;
    int changed = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen a, b;
        CHECK(specimen_random(&a, seed));
        CHECK(specimen_random(&b, seed));
        no_bending(a.robot);
        no_bending(b.robot);
        changed += beams_to_rigid(b.robot) > 0;
        CHECK(specimen_remake(&a));
        CHECK(specimen_remake(&b));
        struct random random = {(uint64_t)seed};
        specimen_random_state(&a, &random);
        specimen_copy_state(&a, &b);
        if (a.nv > 0) worst = fmax(worst, specimen_difference(&a, &b));
        specimen_free(&a);
        specimen_free(&b);
    }
    CHECK_NEAR(worst, 0, 1e-12);
    CHECK_COVERAGE(changed >= ROBOTS / 2);
    printf("     worst %.1e over %d robots\n", worst, changed);
}

static int payloads_to_links(struct robot *robot)
{
    int count = 0;
    for (int i = 0, n = robot->n_links; i < n; i++) {
        if (!robot->link[i].has_payload) continue;
        struct link *load = append_fixed(robot, i);
        if (load == NULL) return -1;
        load->rigid = robot->link[i].payload;
        robot->link[i].has_payload = false;
        memset(&robot->link[i].payload, 0, sizeof robot->link[i].payload);
        count++;
    }
    return count;
}

/* A payload is a link that is fixed to the tip. */
TEST(payload_is_a_fixed_link)
{
    check_unchanged(payloads_to_links);
}

static int hubs_to_links(struct robot *robot)
{
    int count = 0;
    for (int i = 0; i < robot->n_links; i++) {
        if (!robot->link[i].has_hub) continue;
        struct link *hub = insert_carrier(robot, i);
        if (hub == NULL) return -1;
        hub->rigid = robot->link[i + 1].hub;
        robot->link[i + 1].has_hub = false;
        memset(&robot->link[i + 1].hub, 0, sizeof robot->link[i + 1].hub);
        count++;
        i++;
    }
    return count;
}

/* A hub is a link of its own, the body fixed to it. */
TEST(hub_is_a_link_with_the_joint)
{
    check_unchanged(hubs_to_links);
}

static int split_rigid_bodies(struct robot *robot)
{
    int count = 0;
    for (int i = 0, n = robot->n_links; i < n; i++) {
        struct link *link = &robot->link[i];
        if (link->type != BODY_RIGID) continue;
        /* half the body as a link at the tip: seen from there its com is R'(c - p), its inertia R' I R */
        struct link *half = append_fixed(robot, i);
        if (half == NULL) return -1;
        link = &robot->link[i];
        const struct pose *tip = &link->rigid_tip;
        double arm[3], back[9];
        for (int k = 0; k < 3; k++) arm[k] = link->rigid.com[k] - tip->p[k];
        for (int k = 0; k < 9; k++) back[k] = tip->R[3 * (k % 3) + k / 3];
        tmul3(tip->R, arm, half->rigid.com);
        rotate_sym3(back, link->rigid.inertia, half->rigid.inertia);
        half->rigid.mass = link->rigid.mass *= 0.5;
        for (int k = 0; k < 6; k++) {
            link->rigid.inertia[k] *= 0.5;
            half->rigid.inertia[k] *= 0.5;
        }
        count++;
    }
    return count;
}

/* Two halves of a rigid body, one fixed to the other, are the body. */
TEST(fixed_links_are_one_body)
{
    check_unchanged(split_rigid_bodies);
}

/* The answer of a prescribed joint, applied as tau to the same joint left free, gives the prescribed acceleration. */
TEST(prescribed_answer_moves_the_free_joint)
{
    double worst = 0;
    int changed = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen a, b;
        CHECK(specimen_random(&a, seed));
        if (a.model->n_prescribed > 0) {
            CHECK(specimen_random(&b, seed));
            for (int i = 0; i < b.robot->n_links; i++) b.robot->link[i].joint.prescribed = false;
            CHECK(specimen_remake(&b));
            CHECK(dyn_forward(a.model, a.work, &a.in, a.qdd) == STATUS_OK);
            dyn_inverse(a.model, a.work, &a.in, a.qdd, a.force);
            for (int i = 0; i < a.model->n_links; i++)
                for (int k = 0; a.model->link[i].prescribed >= 0 && k < a.model->link[i].joint.nv; k++)
                    b.tau[b.model->link[i].tau + k] = a.force[a.model->link[i].v + k];
            CHECK(dyn_forward(b.model, b.work, &b.in, b.qdd) == STATUS_OK);
            const double difference = distance(a.nv, a.qdd, b.qdd) / norm(a.nv, a.qdd);
            CHECK_NEAR(difference, 0, 1e-9); /* cond(M) eps, twice */
            worst = fmax(worst, difference);
            changed++;
            specimen_free(&b);
        }
        specimen_free(&a);
    }
    CHECK_COVERAGE(changed >= ROBOTS / 4);
    printf("     worst %.1e over %d robots\n", worst, changed);
}

/* Moving the world moves the tip and nothing else. */
TEST(the_world_has_no_place_and_no_direction)
{
    double worst = 0;
    struct random random = {11};
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen a, b;
        double rpy[3], t[3], R[9], p[3], turned[9], v[3], acc[3];
        struct frame_motion tip, moved;
        for (int i = 0; i < 3; i++) rpy[i] = uniform(&random, -3, 3);
        for (int i = 0; i < 3; i++) t[i] = uniform(&random, -2, 2);
        rotation_rpy(rpy, R);
        CHECK(specimen_random(&a, seed));
        CHECK(specimen_random(&b, seed));
        move_world(b.robot, R, t);
        CHECK(specimen_remake(&b));
        mul3(R, a.tip_wrench, b.tip_wrench);
        mul3(R, a.tip_wrench + 3, b.tip_wrench + 3);

        specimen_evaluate(&a, a.qdd);
        specimen_evaluate(&b, b.qdd);
        dyn_tip(a.model, a.work, a.model->tip, &tip);
        dyn_tip(b.model, b.work, b.model->tip, &moved);
        copy3(t, p);
        add_mul3(R, tip.p, p);
        matmul3(R, tip.R, turned);
        mul3(R, tip.v, v);
        mul3(R, tip.a, acc);
        worst = fmax(worst, distance(a.nv, a.force, b.force) / norm(a.nv, a.force));
        worst = fmax(worst, distance(3, p, moved.p) / (1 + norm(3, p)));
        worst = fmax(worst, distance(9, turned, moved.R));
        worst = fmax(worst, distance(3, v, moved.v) / (1 + norm(3, v)));
        worst = fmax(worst, distance(3, acc, moved.a) / (10 + norm(3, acc)));
        specimen_free(&a);
        specimen_free(&b);
    }
    CHECK_NEAR(worst, 0, 1e-12);
    printf("     worst %.1e\n", worst);
}

SUITE(dyn_equivalence_test)
