/* robot_clone(): the same robot, with memory of its own. */
#include "oracle/specimen.h"
#include "robot/read.h"
#include "test.h"

enum { SEEDS = 100 };

/* Mechanisms of robot and clone compute the same, bit for bit, after the robot is gone too */
TEST(clone_computes_the_same)
{
    for (int seed = 0; seed < SEEDS; seed++) {
        struct specimen s;
        struct robot *clone, *again;
        struct mechanism of_clone;
        struct report silent = {0};
        double qdd[200], want[200];
        CHECK(specimen_random(&s, seed) && s.nq <= 200);
        CHECK(robot_clone(s.robot, &clone) == STATUS_OK && robot_clone(clone, &again) == STATUS_OK);
        robot_free(clone);
        CHECK(mechanism_make(again, &of_clone, &silent) == STATUS_OK);
        CHECK(mechanism_forward(&s.mechanism, &s.in, want) == STATUS_OK);
        CHECK(mechanism_forward(&of_clone, &s.in, qdd) == STATUS_OK);
        for (int i = 0; i < s.nv; i++) CHECK(qdd[i] == want[i]);
        mechanism_free(&of_clone);
        robot_free(again);
        specimen_free(&s);
    }
}

/* Every array and every name is copied: what is edited in the clone stays in the original */
TEST(edits_stay_in_the_clone)
{
    static const char *const files[] = {"resources/crane.json", "resources/four-bar.json", "tests/data/good/nodal.json",
                                        "tests/data/good/f2-nodal-geometric.json"};
    for (int f = 0; f < 4; f++) {
        struct report silent = {0};
        struct robot *robot = NULL, *clone = NULL;
        CHECK(robot_read_file(files[f], &robot, &silent) == STATUS_OK && robot_clone(robot, &clone) == STATUS_OK);
        CHECK(clone->name != robot->name && clone->description != robot->description);
        for (int i = 0; i < robot->n_links; i++) {
            const struct link *a = &robot->link[i], *b = &clone->link[i];
            CHECK(a != b && a->name != b->name && a->joint.name != b->joint.name);
            if (a->type != BODY_NODAL) continue;
            CHECK(a->nodal.node != b->nodal.node && a->nodal.stiffness != b->nodal.stiffness);
            CHECK(a->nodal.damping != b->nodal.damping);
            CHECK((a->nodal.geometric == NULL && b->nodal.geometric == NULL) ||
                  a->nodal.geometric != b->nodal.geometric);
            for (int k = 0; k < a->nodal.n_nodes; k++)
                CHECK(a->nodal.node[k].translation != b->nodal.node[k].translation &&
                      a->nodal.node[k].rotation != b->nodal.node[k].rotation);
        }
        for (int i = 0; i < robot->n_loops; i++) CHECK(robot->loop[i].name != clone->loop[i].name);
        for (int i = 0; i < robot->n_lines; i++) CHECK(robot->line[i].name != clone->line[i].name);
        const double viscous = robot->link[0].joint.number[0].viscous;
        clone->link[0].joint.number[0].viscous = viscous + 1;
        clone->link[0].joint.prescribed = !robot->link[0].joint.prescribed;
        CHECK(robot->link[0].joint.number[0].viscous == viscous);
        CHECK(clone->link[0].joint.prescribed != robot->link[0].joint.prescribed);
        robot_free(clone);
        robot_free(robot);
    }
}

SUITE(robot_clone_test)
