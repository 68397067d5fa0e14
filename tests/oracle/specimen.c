#include "oracle/specimen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/dense.h"
#include "math/quaternion.h"
#include "oracle/larger.h"
#include "oracle/random_robot.h"

static void print_line(void *context, enum report_level level, const char *text)
{
    (void)context;
    if (level == REPORT_ERROR) printf("%s\n", text);
}

static void release(struct specimen *s)
{
    mechanism_free(&s->mechanism);
    arena_release(&s->arena);
}

static int make_arrays(struct specimen *s)
{
    const size_t n = (size_t)s->model->nv;
    s->nq = s->model->nq;
    s->nv = s->model->nv;
    s->n_frames = s->robot->n_frames;
    s->q = arena_allocate(&s->arena, (size_t)s->nq, sizeof(double));
    s->qd = arena_allocate(&s->arena, n, sizeof(double));
    s->qdd = arena_allocate(&s->arena, n, sizeof(double));
    s->force = arena_allocate(&s->arena, n, sizeof(double));
    s->tau = arena_allocate(&s->arena, (size_t)s->model->n_tau, sizeof(double));
    s->prescribed_qdd = arena_allocate(&s->arena, (size_t)s->model->n_prescribed, sizeof(double));
    s->line_force = arena_allocate(&s->arena, (size_t)s->robot->n_lines, sizeof(double));
    s->frame_wrench = arena_allocate(&s->arena, 6 * (size_t)s->robot->n_frames, sizeof(double));
    memset(s->tip_wrench, 0, sizeof s->tip_wrench);
    s->in = (struct input){.q = s->q,
                           .qd = s->qd,
                           .tau = s->tau,
                           .tip_wrench = s->tip_wrench,
                           .frame_wrench = s->frame_wrench,
                           .prescribed_qdd = s->prescribed_qdd,
                           .line_force = s->line_force};
    if (s->arena.failed) return 0;
    model_start(s->model, s->q, s->qd);
    return 1;
}

int specimen_remake(struct specimen *s)
{
    struct specimen before = *s;
    memset(&s->mechanism, 0, sizeof s->mechanism);
    memset(&s->arena, 0, sizeof s->arena);
    struct report report = {.line = print_line};
    bool made = mechanism_make(s->robot, &s->mechanism, &report) == STATUS_OK;
    s->model = s->mechanism.model;
    s->work = s->mechanism.work;
    made = made && make_arrays(s);
    if (made && before.nq == s->nq && before.nv == s->nv) specimen_copy_state(&before, s);
    if (made && before.n_frames == s->n_frames && s->n_frames > 0)
        memcpy(s->frame_wrench, before.frame_wrench, 6 * (size_t)s->n_frames * sizeof(double));
    release(&before);
    return made;
}

int specimen_read(struct specimen *s, const char *text)
{
    memset(s, 0, sizeof *s);
    struct report report = {.line = print_line};
    if (robot_read_text("robot", text, &s->robot, &report) != STATUS_OK) return 0;
    return specimen_remake(s);
}

/* Evenly over all orientations, of either sign. A spring on the rotation vector jumps at half a turn: not within 0.1 rad of it. */
static void random_quaternion(struct random *random, bool sprung, double *q)
{
    double square;
    do {
        for (int i = 0; i < 4; i++) q[i] = uniform(random, -1, 1);
        square = quaternion_square(q);
    } while (square > 1 || square < 0.01 || (sprung && q[0] * q[0] < 0.0025 * square));
    quaternion_normalize(q);
}

static void random_joint_state(struct specimen *s, int i, struct random *random)
{
    const struct link_model *lm = &s->model->link[i];
    const int quaternion = joint_quaternion(&s->robot->link[i].joint);
    for (int k = 0; k < lm->joint.nv; k++) {
        const int v = lm->v + k;
        const double range = lm->joint.part[k] == TURNS ? 3 : 0.5;
        if (quaternion < 0 || k < quaternion) s->q[lm->q + k] = uniform(random, -range, range);
        s->qd[v] = uniform(random, -1.5, 1.5);
        s->qdd[v] = uniform(random, -3, 3);
        s->tau[lm->tau + k] = lm->passive || lm->prescribed >= 0 ? 0 : uniform(random, -30, 30);
        if (lm->prescribed >= 0) s->prescribed_qdd[lm->prescribed + k] = s->qdd[v];
    }
    if (quaternion >= 0) random_quaternion(random, lm->joint.number[0].stiffness != 0, s->q + lm->q + quaternion);
}

void specimen_random_state(struct specimen *s, struct random *random)
{
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_model *lm = &s->model->link[i];
        random_joint_state(s, i, random);
        for (int k = 0; k < lm->m; k++) {
            s->q[lm->eta_q + k] = uniform(random, -0.1, 0.1);
            s->qd[lm->eta_v + k] = uniform(random, -0.5, 0.5);
            s->qdd[lm->eta_v + k] = uniform(random, -1, 1);
        }
    }
    for (int i = 0; i < 6; i++) s->tip_wrench[i] = uniform(random, -10, 10);
}

int specimen_random(struct specimen *s, int seed)
{
    struct random random = {(uint64_t)seed * 1000003u};
    char *text = random_robot(&random);
    if (text == NULL) return 0;
    const int made = specimen_read(s, text);
    s->text = text;
    if (made) specimen_random_state(s, &random);
    else printf("seed %d: %s\n", seed, text);
    return made;
}

void specimen_free(struct specimen *s)
{
    release(s);
    robot_free(s->robot);
    free(s->text);
}

void specimen_copy_state(const struct specimen *from, struct specimen *to)
{
    memcpy(to->q, from->q, (size_t)from->nq * sizeof(double));
    memcpy(to->qd, from->qd, (size_t)from->nv * sizeof(double));
    memcpy(to->qdd, from->qdd, (size_t)from->nv * sizeof(double));
    memcpy(to->tip_wrench, from->tip_wrench, sizeof to->tip_wrench);
    if (to->model->n_tau == from->model->n_tau) memcpy(to->tau, from->tau, (size_t)from->model->n_tau * sizeof(double));
    if (to->model->n_prescribed == from->model->n_prescribed)
        memcpy(to->prescribed_qdd, from->prescribed_qdd, (size_t)from->model->n_prescribed * sizeof(double));
}

void specimen_evaluate(struct specimen *s, const double *qdd)
{
    dyn_configuration(s->model, s->work, s->q);
    dyn_inverse(s->model, s->work, &s->in, qdd, s->force);
    dyn_velocity(s->model, s->work, &s->in);
    dyn_observe(s->model, s->work, &s->in, qdd);
}

enum status tree_forward(const struct model *model, struct work *work, const struct input *in, double *qdd)
{
    dyn_configuration(model, work, in->q);
    dyn_motion(model, work, in, NULL);
    return dyn_articulate_and_solve(model, work, in, qdd);
}

int velocity_tau(const struct specimen *s, int i)
{
    for (int k = 0; k < s->model->n_links; k++) {
        const struct link_model *lm = &s->model->link[k];
        if (i >= lm->v && i < lm->v + lm->joint.nv) return lm->tau + i - lm->v;
    }
    return -1;
}

int velocity_prescribed(const struct specimen *s, int i)
{
    for (int k = 0; k < s->model->n_links; k++) {
        const struct link_model *lm = &s->model->link[k];
        if (lm->prescribed >= 0 && i >= lm->v && i < lm->v + lm->joint.nv) return lm->prescribed + i - lm->v;
    }
    return -1;
}

void shrink_modes(struct specimen *s, double factor)
{
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_model *lm = &s->model->link[i];
        for (int k = 0; k < lm->m; k++) {
            s->q[lm->eta_q + k] *= factor;
            s->qd[lm->eta_v + k] *= factor;
        }
    }
}

void make_positive(struct specimen *s)
{
    do {
        shrink_modes(s, 0.1);
        dyn_configuration(s->model, s->work, s->q);
        dyn_mass_matrix(s->model, s->work);
        memcpy(s->work->factor, s->work->M, (size_t)(s->nv * s->nv) * sizeof(double));
    } while (cholesky_factor(s->nv, s->work->factor, s->work->inverse_d) != 0);
}

void absolute_product(int n, const double *M, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++) y[i] += fabs(M[n * i + j] * x[j]);
    }
}

void force_terms(struct specimen *s, const double *qdd, double *sum)
{
    double *bias = s->force;
    dyn_configuration(s->model, s->work, s->q);
    dyn_mass_matrix(s->model, s->work);
    absolute_product(s->nv, s->work->M, qdd, sum);
    dyn_inverse(s->model, s->work, &s->in, NULL, bias);
    for (int i = 0; i < s->nv; i++) sum[i] += fabs(bias[i]);
}

/* |x - y| of the size of both, and of `size` at least */
static double apart(int n, const double *x, const double *y, double size)
{
    return distance(n, x, y) / (size + norm(n, x) + norm(n, y));
}

static double frames_apart(const struct frame_motion *a, const struct frame_motion *b)
{
    double worst = apart(3, a->p, b->p, 1);
    worst = larger(worst, apart(9, a->R, b->R, 0));
    worst = larger(worst, apart(3, a->v, b->v, 1));
    worst = larger(worst, apart(3, a->omega, b->omega, 1));
    worst = larger(worst, apart(3, a->a, b->a, 10));
    return larger(worst, apart(3, a->alpha, b->alpha, 10));
}

double specimen_difference(struct specimen *a, struct specimen *b)
{
    const int n = a->nv;
    struct specimen *const both[2] = {a, b};
    struct energy energy[2];
    struct frame_motion tip[2];
    double worst = 0;
    for (int i = 0; i < 2; i++) {
        specimen_evaluate(both[i], both[i]->qdd);
        dyn_mass_matrix(both[i]->model, both[i]->work);
        dyn_energy(both[i]->model, both[i]->work, &both[i]->in, &energy[i]);
        dyn_tip(both[i]->model, both[i]->work, both[i]->model->tip, &tip[i]);
    }
    worst = larger(worst, frames_apart(&tip[0], &tip[1]));
    const double *M = a->work->M, *N = b->work->M;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            worst = larger(worst, fabs(M[n * i + j] - N[n * i + j]) / sqrt(M[n * i + i] * M[n * j + j]));
    worst = larger(worst, apart(n, a->force, b->force, 1));
    const double size = 1 + fabs(energy[0].kinetic) + fabs(energy[0].gravity) + fabs(energy[0].elastic);
    worst = larger(worst, fabs(energy[0].kinetic - energy[1].kinetic) / size);
    worst = larger(worst, fabs(energy[0].gravity - energy[1].gravity) / size);
    worst = larger(worst, fabs(energy[0].elastic - energy[1].elastic) / size);
    worst = larger(worst, fabs(energy[0].loss - energy[1].loss) / (1 + fabs(energy[0].loss)));
    worst = larger(worst, fabs(energy[0].tip - energy[1].tip) / (1 + fabs(energy[0].tip)));
    worst = larger(worst, fabs(energy[0].power - energy[1].power) / (1 + fabs(energy[0].power)));

    if (tree_forward(a->model, a->work, &a->in, a->force) != STATUS_OK) return INFINITY;
    if (tree_forward(b->model, b->work, &b->in, b->force) != STATUS_OK) return INFINITY;
    return larger(worst, 1e-4 * apart(n, a->force, b->force, 1)); /* cond(M) takes some digits */
}

double norm(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

double distance(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}
