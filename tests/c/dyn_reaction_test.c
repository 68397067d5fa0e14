/* What the joints carry: against a prescribed joint put into every direction, and against the momentum of the whole robot. */
#include "test.h"

#include <string.h>

#include "math/vec.h"
#include "oracle/derivative.h"
#include "oracle/laws.h"
#include "oracle/surgery.h"

enum { ROBOTS = 60, MOST = 200 };

/* y of n numbers: zero at `at`, else those of x in their order */
static void copy_but_one(int n, int at, const double *x, double *y)
{
    for (int i = 0; i < n; i++) y[i] = i == at ? 0 : x[i < at ? i : i - 1];
}

/* Cuts link `link` from its joint and puts a prescribed joint into the cut that does not move: revolute about e_k, or
   prismatic along it. Its answer is that component of the wrench. */
static double answer_in_cut(const struct specimen *s, int seed, int link, int component)
{
    struct specimen cut;
    CHECK(specimen_random(&cut, seed));
    CHECK(insert_carrier(cut.robot, link) != NULL);
    struct joint *joint = &cut.robot->link[link + 1].joint;
    joint->type = component < 3 ? JOINT_REVOLUTE : JOINT_PRISMATIC;
    joint->prescribed = true;
    memset(joint->axis, 0, sizeof joint->axis);
    joint->axis[component % 3] = 1;
    CHECK(specimen_remake(&cut));
    const int at = cut.model->link[link + 1].v; /* the coordinate that is new, at zero */
    copy_but_one(cut.nq, cut.model->link[link + 1].q, s->q, cut.q);
    copy_but_one(cut.nv, at, s->qd, cut.qd);
    copy_but_one(cut.nv, at, s->qdd, cut.qdd);
    memcpy(cut.tip_wrench, s->tip_wrench, sizeof cut.tip_wrench);
    specimen_evaluate(&cut, cut.qdd);
    const double force = cut.force[at];
    specimen_free(&cut);
    return force;
}

/* Both add up the same wrenches: 1e-12 of the largest among those that meet. */
TEST(reaction_is_the_answer_of_a_joint_in_the_cut)
{
    double worst = 0;
    struct random random = {5};
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen s;
        CHECK(specimen_random(&s, seed));
        const int link = pick(&random, s.model->n_links);
        double wrench[6], answer[6];
        specimen_evaluate(&s, s.qdd);
        dyn_reaction(s.work, link, wrench);
        for (int k = 0; k < 6; k++) answer[k] = answer_in_cut(&s, seed, link, k);
        worst = larger(worst, distance(6, wrench, answer) / (1 + norm(6, wrench)));
        specimen_free(&s);
    }
    CHECK_NEAR(worst, 0, 1e-12);
}

/* First moments of the whole robot, m c, one axis at a time: minus the gravity energy for unit gravity. */
static void first_moments(struct specimen *s, void *context, double *y)
{
    (void)context;
    double gravity[3];
    copy3(s->model->gravity, gravity);
    specimen_evaluate(s, NULL);
    for (int k = 0; k < 3; k++) {
        struct energy energy;
        memset(s->model->gravity, 0, sizeof s->model->gravity);
        s->model->gravity[k] = 1;
        dyn_energy(s->model, s->work, &s->in, &energy);
        y[k] = -energy.gravity;
    }
    copy3(gravity, s->model->gravity);
}

static double total_mass(const struct robot *robot)
{
    double mass = 0;
    for (int i = 0; i < robot->n_links; i++) {
        const struct link *link = &robot->link[i];
        mass += link->hub.mass + link->payload.mass;
        if (link->type == BODY_RIGID) mass += link->rigid.mass;
        else if (link->type == BODY_BEAM) mass += link->beam.mass_per_length.factor * link->beam.length;
        else
            for (int k = 0; k < link->nodal.n_nodes; k++) mass += link->nodal.node[k].body.mass;
    }
    return mass;
}

/* d^2/dt^2 (m c) = sum of the reactions of links on the world + tip force + m g;  second differences leave 1e-9 or so */
static double base_balance(struct specimen *s)
{
    double rate[3], force[3], size = 0;
    flow_derivative(s, s->qdd, 4 * flow_step(s->nv, s->qdd), first_moments, NULL, 3, NULL, rate);
    specimen_evaluate(s, s->qdd);
    copy3(s->tip_wrench + 3, force);
    axpy3(total_mass(s->robot), s->model->gravity, force);
    size = norm(3, force) + norm(3, rate);
    for (int i = 0; i < s->model->n_links; i++) {
        if (s->model->link[i].parent >= 0) continue;
        double wrench[6];
        dyn_reaction(s->work, i, wrench);
        add_mul3(s->work->link[i].O.R, wrench + 3, force);
        size += norm(3, wrench + 3);
    }
    return distance(3, rate, force) / size;
}

TEST(base_reactions_balance_the_momentum)
{
    CHECK(law_holds(test_sample(3 * ROBOTS), specimen_random, base_balance, 1e-9));
}

SUITE(dyn_reaction_test)
