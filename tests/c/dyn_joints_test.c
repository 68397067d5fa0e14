/* Joints with several degrees of freedom against elementary ones: robot B is robot A with every such joint split into revolute
   and prismatic joints and massless links (oracle/surgery.h). Both have as many velocities, in the same order; those of A are
   T times those of B, T the identity but for the rates of the three angles of a quaternion's orientation. And what a floating
   robot keeps: its momentum. */
#include "test.h"

#include <string.h>

#include "math/quaternion.h"
#include "math/vec.h"
#include "oracle/derivative.h"
#include "oracle/laws.h"
#include "oracle/surgery.h"

enum { ROBOTS = 300, MOST = 200 };

/* One robot described in two ways, in the same state */
struct pair {
    struct specimen a, b;
    double T[MOST][3], T_rate[MOST][3]; /* rows of omega, by the rates of the angles; elsewhere not used */
    int link[MOST];                     /* of a link of A the one of B with its body                     */
};

/* ---- making ---------------------------------------------------------------------------------------------------------------------- */

/* First velocity of a link's omega, -1: none */
static int omega_of(const struct specimen *s, int link)
{
    const int omega = joint_omega(&s->robot->link[link].joint);
    return omega < 0 ? -1 : s->model->link[link].v + omega;
}

/* R = Rx(x) Ry(y) Rz(z):  omega = T (x, y, z)', in axes of O */
static void angle_rates(const double *angle, const double *rate, double (*T)[3], double (*T_rate)[3])
{
    const double sy = sin(angle[1]), cy = cos(angle[1]), sz = sin(angle[2]), cz = cos(angle[2]);
    const double at[3][3] = {{cy * cz, sz, 0}, {-cy * sz, cz, 0}, {sy, 0, 1}};
    const double by_y[3][3] = {{-sy * cz, 0, 0}, {sy * sz, 0, 0}, {cy, 0, 0}};
    const double by_z[3][3] = {{-cy * sz, cz, 0}, {-cy * cz, -sz, 0}, {0, 0, 0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            T[i][j] = at[i][j];
            T_rate[i][j] = by_y[i][j] * rate[1] + by_z[i][j] * rate[2];
        }
}

static void quaternion_of_angles(const double *angle, double *q)
{
    double turned[4];
    q[0] = 1;
    q[1] = q[2] = q[3] = 0;
    for (int k = 0; k < 3; k++) {
        double about[3] = {0}, turn[4];
        about[k] = angle[k];
        quaternion_exp(about, turn);
        quaternion_multiply(q, turn, turned);
        memcpy(q, turned, sizeof turned);
    }
}

/* y = T x, and with `rate` y = T_rate x (zero but for omegas) */
static void map_velocity(const struct pair *p, bool rate, const double *x, double *y)
{
    const struct specimen *a = &p->a;
    for (int i = 0; i < a->nv; i++) y[i] = rate ? 0 : x[i];
    for (int i = 0; i < a->model->n_links; i++) {
        const int v = omega_of(a, i);
        for (int k = 0; v >= 0 && k < 3; k++) y[v + k] = dot3(rate ? p->T_rate[v + k] : p->T[v + k], x + v);
    }
}

/* y = T' x */
static void map_force(const struct pair *p, const double *x, double *y)
{
    const struct specimen *a = &p->a;
    memcpy(y, x, (size_t)a->nv * sizeof *y);
    for (int i = 0; i < a->model->n_links; i++) {
        const int v = omega_of(a, i);
        for (int j = 0; v >= 0 && j < 3; j++) {
            y[v + j] = 0;
            for (int k = 0; k < 3; k++) y[v + j] += p->T[v + k][j] * x[v + k];
        }
    }
}

/* Positions of a link of A from those of B; the second of three angles stays off the pole */
static void copy_position(struct pair *p, int i)
{
    const struct link_model *lm = &p->a.model->link[i], *body = &p->b.model->link[p->link[i]];
    const int quaternion = joint_quaternion(&p->a.robot->link[i].joint), nv = lm->joint.nv;
    const int first = body->q - (nv > 0 ? nv - 1 : 0); /* coordinates of the split joint are its last ones */
    for (int k = 0; k < (quaternion < 0 ? nv : quaternion); k++) p->a.q[lm->q + k] = p->b.q[first + k];
    memcpy(p->a.q + lm->eta_q, p->b.q + body->eta_q, (size_t)lm->m * sizeof(double));
    if (quaternion < 0) return;
    double *angle = p->b.q + first + quaternion;
    const int v = omega_of(&p->a, i);
    angle[1] /= 3;
    quaternion_of_angles(angle, p->a.q + lm->q + quaternion);
    angle_rates(angle, p->b.qd + v, p->T + v, p->T_rate + v);
}

/* The state of A from that of B; forces the other way round */
static void copy_state(struct pair *p)
{
    struct specimen *a = &p->a, *b = &p->b;
    double add[MOST], tau[MOST] = {0}, given[MOST];
    for (int i = 0; i < a->model->n_links; i++) copy_position(p, i);
    map_velocity(p, false, b->qd, a->qd);
    map_velocity(p, false, b->qdd, a->qdd);
    map_velocity(p, true, b->qd, add);
    for (int i = 0; i < a->nv; i++) {
        a->qdd[i] += add[i];
        if (velocity_tau(a, i) >= 0) tau[i] = a->tau[velocity_tau(a, i)];
    }
    map_force(p, tau, given);
    for (int i = 0; i < a->nv; i++) {
        if (velocity_tau(b, i) >= 0) b->tau[velocity_tau(b, i)] = given[i];
        if (velocity_prescribed(a, i) >= 0) a->prescribed_qdd[velocity_prescribed(a, i)] = a->qdd[i];
    }
    memcpy(a->tip_wrench, b->tip_wrench, sizeof a->tip_wrench);
}

/* Springs and friction of a quaternion have no counterpart in angles */
static void remove_rotation_springs(struct robot *robot)
{
    for (int i = 0; i < robot->n_links; i++)
        if (joint_quaternion(&robot->link[i].joint) >= 0)
            robot->link[i].joint.number[0].stiffness = robot->link[i].joint.number[0].viscous = 0;
}

/* How many joints were split */
static int make_pair(struct pair *p, int seed)
{
    struct random random = {(uint64_t)seed + 77};
    CHECK(specimen_random(&p->a, seed));
    CHECK(specimen_random(&p->b, seed));
    remove_rotation_springs(p->a.robot);
    const int count = split_joints(p->b.robot);
    CHECK(count >= 0 && specimen_remake(&p->a) && specimen_remake(&p->b));
    CHECK(p->a.nv == p->b.nv && p->a.model->n_tau == p->b.model->n_tau);
    for (int i = 0, added = 0; i < p->a.model->n_links; i++) {
        const int nv = p->a.model->link[i].joint.nv;
        added += nv > 1 ? nv - 1 : 0;
        p->link[i] = i + added;
    }
    specimen_random_state(&p->b, &random);
    copy_state(p);
    return count;
}

static void free_pair(struct pair *p)
{
    specimen_free(&p->a);
    specimen_free(&p->b);
}

/* ---- laws ------------------------------------------------------------------------------------------------------------------------- */

/* Frames of all bodies, hinges and tips, for accelerations that both have been given; of the largest of each */
static double frames_apart(struct pair *p)
{
    enum { KINDS = 6 };
    double apart[KINDS] = {0}, size[KINDS] = {1, 1, 1, 1, 1, 1};
    for (int i = 0; i < p->a.model->n_links; i++)
        for (int on_tip = 0; on_tip <= 1; on_tip++) {
            const struct anchor at_a = on_tip ? model_tip(p->a.model, i) : model_hinge(i);
            const struct anchor at_b = on_tip ? model_tip(p->b.model, p->link[i]) : model_hinge(p->link[i]);
            struct frame_motion a, b;
            dyn_frame(p->a.model, p->a.work, &at_a, &a);
            dyn_frame(p->b.model, p->b.work, &at_b, &b);
            const double *const of_a[KINDS] = {a.p, a.R, a.v, a.omega, a.a, a.alpha};
            const double *const of_b[KINDS] = {b.p, b.R, b.v, b.omega, b.a, b.alpha};
            for (int k = 0; k < KINDS; k++) {
                const int n = k == 1 ? 9 : 3;
                apart[k] = larger(apart[k], distance(n, of_a[k], of_b[k]));
                size[k] = larger(size[k], norm(n, of_a[k]));
            }
        }
    double worst = 0;
    for (int k = 0; k < KINDS; k++) worst = larger(worst, apart[k] / size[k]);
    return worst;
}

static double same_motion(struct pair *p)
{
    specimen_evaluate(&p->a, p->a.qdd);
    specimen_evaluate(&p->b, p->b.qdd);
    return frames_apart(p);
}

/* T' force of A = force of B, of the terms that add up */
static double same_forces(struct pair *p)
{
    double terms[MOST], want[MOST];
    force_terms(&p->a, p->a.qdd, terms);
    specimen_evaluate(&p->a, p->a.qdd);
    specimen_evaluate(&p->b, p->b.qdd);
    map_force(p, p->a.force, want);
    return distance(p->a.nv, want, p->b.force) / norm(p->a.nv, terms);
}

/* M_B = T' M_A T, of sqrt(M_ii M_jj) */
static double same_mass(struct pair *p)
{
    const int n = p->a.nv;
    double worst = 0, e[MOST], column[MOST], product[MOST], want[MOST];
    struct specimen *const both[2] = {&p->a, &p->b};
    for (int i = 0; i < 2; i++) {
        dyn_configuration(both[i]->model, both[i]->work, both[i]->q);
        dyn_mass_matrix(both[i]->model, both[i]->work);
    }
    const double *A = p->a.work->M, *B = p->b.work->M;
    for (int j = 0; j < n; j++) {
        memset(e, 0, sizeof e);
        e[j] = 1;
        map_velocity(p, false, e, column);
        for (int i = 0; i < n; i++) {
            product[i] = 0;
            for (int k = 0; k < n; k++) product[i] += A[n * i + k] * column[k];
        }
        map_force(p, product, want);
        for (int i = 0; i < n; i++)
            worst = larger(worst, fabs(want[i] - B[n * i + j]) / sqrt(B[n * i + i] * B[n * j + j]));
    }
    return worst;
}

static double same_energy(struct pair *p)
{
    struct energy a, b;
    specimen_evaluate(&p->a, NULL);
    specimen_evaluate(&p->b, NULL);
    dyn_energy(p->a.model, p->a.work, &p->a.in, &a);
    dyn_energy(p->b.model, p->b.work, &p->b.in, &b);
    const double size = 1 + fabs(a.kinetic) + fabs(a.gravity) + fabs(a.elastic) + fabs(a.power) + fabs(a.tip) + a.loss;
    const double x[6] = {a.kinetic, a.elastic, a.gravity, a.power, a.tip, a.loss};
    const double y[6] = {b.kinetic, b.elastic, b.gravity, b.power, b.tip, b.loss};
    return distance(6, x, y) / size;
}

/* Forward dynamics, recursive and with the mass matrix, of both */
static double same_accelerations(struct pair *p)
{
    double worst = 0;
    for (int composite = 0; composite < 2; composite++) {
        struct specimen *const both[2] = {&p->a, &p->b};
        for (int i = 0; i < 2; i++) {
            struct specimen *s = both[i];
            CHECK((composite ? dyn_forward_composite(s->model, s->work, &s->in, s->qdd)
                             : tree_forward(s->model, s->work, &s->in, s->qdd)) == STATUS_OK);
            specimen_evaluate(s, s->qdd);
        }
        worst = larger(worst, frames_apart(p));
    }
    return worst;
}

/* All random robots that have something to split */
TEST(split_joints_change_nothing)
{
    enum { LAWS = 5 };
    static const struct {
        const char *name;
        double (*error)(struct pair *p);
        double tolerance;
    } law[LAWS] = {{"motion", same_motion, 1e-12},
                   {"forces", same_forces, 1e-12},
                   {"mass matrix", same_mass, 1e-12},
                   {"energies and powers", same_energy, 1e-12},
                   {"accelerations", same_accelerations, 1e-9}};
    static struct pair p;
    double worst[LAWS] = {0};
    int robots = 0, joints = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        const int count = make_pair(&p, seed);
        for (int i = 0; i < LAWS && count > 0; i++) {
            const double error = law[i].error(&p);
            if (!(error <= law[i].tolerance)) printf("     seed %d: %s\n", seed, law[i].name);
            CHECK_NEAR(error, 0, law[i].tolerance);
            worst[i] = larger(worst[i], error);
        }
        robots += count > 0;
        joints += count;
        free_pair(&p);
    }
    CHECK_COVERAGE(robots > ROBOTS / 3 && joints > ROBOTS / 2);
    printf("     %d joints of %d robots\n", joints, robots);
    for (int i = 0; i < LAWS; i++) printf("     %s: worst %.1e\n", law[i].name, worst[i]);
}

/* ---- momentum ------------------------------------------------------------------------------------------------------------------------ */

/* The first six rows of M qd, (force axes of C; torque axes of O about O), as momentum and moment about the world's origin, in
   world axes */
static void momentum(struct specimen *s, void *context, double *y)
{
    double row[6] = {0}, force[3];
    (void)context;
    specimen_evaluate(s, NULL);
    dyn_mass_matrix(s->model, s->work);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < s->nv; j++) row[i] += s->work->M[s->nv * i + j] * s->qd[j];
    mul3(s->robot->link[0].joint.origin.R, row, force);
    mul3(s->work->link[0].O.R, row + 3, y + 3);
    copy3(force, y);
    add_cross3(s->work->link[0].O.p, force, y + 3);
}

/* Drives and springs between the links change nothing; differences leave 1e-11 or so of the forces that add up */
static double momentum_lost(struct specimen *s)
{
    double rate[2][6], terms[MOST];
    set_afloat(s->robot);
    memset(s->robot->gravity, 0, sizeof s->robot->gravity);
    CHECK(specimen_remake(s));
    specimen_random_state(s, &s->random);
    memset(s->tip_wrench, 0, sizeof s->tip_wrench);
    CHECK(tree_forward(s->model, s->work, &s->in, s->qdd) == STATUS_OK);
    const double h = flow_step(s->nv, s->qdd);
    for (int i = 0; i < 2; i++) flow_derivative(s, s->qdd, i == 0 ? h : 4 * h, momentum, NULL, 6, rate[i], NULL);
    force_terms(s, s->qdd, terms);
    return fmin(norm(6, rate[0]), norm(6, rate[1])) / norm(s->nv, terms);
}

TEST(a_floating_robot_keeps_its_momentum)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_random, momentum_lost, 1e-11));
}

SUITE(dyn_joints_test)
