/* One robot, said in two ways: every answer must be the same. Differences are of the answers' own size; the ways round
   differently, some hundred operations each: 1e-12. */
#include "test.h"

#include <string.h>

#include "math/rotation.h"
#include "math/vec.h"
#include "oracle/laws.h"
#include "oracle/surgery.h"

enum { ROBOTS = 300, MOST = 200 };

/* What a test does to the second of two equal robots; returns how often it found something to do, -1 without memory. */
typedef int change(struct robot *robot);

static void no_bending(struct robot *robot)
{
    for (int i = 0; i < robot->n_links; i++)
        if (robot->link[i].type == BODY_BEAM) memset(robot->link[i].beam.family, 0, sizeof robot->link[i].beam.family);
}

/* Robots with all their modes, or with beams that do not bend */
static void check_unchanged(bool bends, change *apply)
{
    double worst = 0;
    int changed = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen a, b;
        struct random random = {(uint64_t)seed};
        CHECK(specimen_random(&a, seed) && specimen_random(&b, seed));
        if (!bends) no_bending(a.robot), no_bending(b.robot);
        const int count = apply(b.robot);
        CHECK(count >= 0 && specimen_remake(&a) && specimen_remake(&b) && a.nv == b.nv);
        if (!bends) specimen_random_state(&a, &random);
        specimen_copy_state(&a, &b);
        if (count > 0 && a.nv > 0) worst = larger(worst, specimen_difference(&a, &b));
        changed += count > 0;
        specimen_free(&a);
        specimen_free(&b);
    }
    CHECK_NEAR(worst, 0, 1e-12);
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

/* modes {}: a beam is the rigid body it is */
TEST(beam_without_modes_is_rigid)
{
    check_unchanged(false, beams_to_rigid);
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
    check_unchanged(true, payloads_to_links);
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
    check_unchanged(true, hubs_to_links);
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
    check_unchanged(true, split_rigid_bodies);
}

/* The answer of a prescribed joint, applied as tau to the same joint left free, gives the prescribed acceleration. */
static double answer_of_free_joint(struct specimen *s)
{
    double qdd[MOST];
    const int n = s->nv;
    if (s->model->n_prescribed == 0) return LEFT_OUT;
    CHECK(tree_forward(s->model, s->work, &s->in, qdd) == STATUS_OK);
    dyn_inverse(s->model, s->work, &s->in, qdd, s->force);
    for (int i = 0; i < s->model->n_links; i++)
        for (int k = 0; s->model->link[i].prescribed >= 0 && k < s->model->link[i].joint.nv; k++)
            s->tau[s->model->link[i].tau + k] = s->force[s->model->link[i].v + k];
    for (int i = 0; i < s->robot->n_links; i++) s->robot->link[i].joint.prescribed = false;
    CHECK(specimen_remake(s));
    CHECK(tree_forward(s->model, s->work, &s->in, s->qdd) == STATUS_OK);
    return distance(n, qdd, s->qdd) / norm(n, qdd);
}

TEST(prescribed_answer_moves_the_free_joint)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_random, answer_of_free_joint, 1e-9)); /* cond(M) eps, twice */
}

/* Moving the world moves the tip and nothing else. */
static double change_by_moving(struct specimen *s)
{
    double rpy[3], t[3], R[9], p[3], turned[9], v[3], acc[3], force[MOST];
    struct frame_motion tip, moved;
    specimen_evaluate(s, s->qdd);
    memcpy(force, s->force, (size_t)s->nv * sizeof *force);
    dyn_tip(s->model, s->work, s->model->tip, &tip);
    for (int i = 0; i < 3; i++) {
        rpy[i] = uniform(&s->random, -3, 3);
        t[i] = uniform(&s->random, -2, 2);
    }
    rotation_rpy(rpy, R);
    move_world(s->robot, R, t);
    CHECK(specimen_remake(s));
    for (int k = 0; k < 6; k += 3) {
        mul3(R, s->tip_wrench + k, v);
        copy3(v, s->tip_wrench + k);
    }
    specimen_evaluate(s, s->qdd);
    dyn_tip(s->model, s->work, s->model->tip, &moved);
    copy3(t, p);
    add_mul3(R, tip.p, p);
    matmul3(R, tip.R, turned);
    mul3(R, tip.v, v);
    mul3(R, tip.a, acc);
    const double apart[] = {distance(s->nv, force, s->force) / norm(s->nv, force),
                            distance(3, p, moved.p) / (1 + norm(3, p)), distance(9, turned, moved.R),
                            distance(3, v, moved.v) / (1 + norm(3, v)),
                            distance(3, acc, moved.a) / (10 + norm(3, acc))};
    return norm(5, apart);
}

TEST(the_world_has_no_place_and_no_direction)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_random, change_by_moving, 1e-12));
}

SUITE(dyn_equivalence_test)
