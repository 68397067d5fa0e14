#include "limber.h"

#include <stdio.h>
#include <stdlib.h>

#include "dyn/dyn.h"
#include "mech/mechanism.h"

struct limber {
    struct robot *robot;
    struct mechanism mechanism;
};

static void print_line(void *context, enum report_level level, const char *text)
{
    (void)context;
    (void)level;
    fprintf(stderr, "%s\n", text);
}

static int comparable(const struct model *model)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->body != NULL || lm->joint.nv != 1 || lm->joint.part[0] != TURNS || lm->prescribed >= 0) return 0;
    }
    return model->robot->n_loops + model->robot->n_lines == 0;
}

struct limber *limber_make(const char *robot_file)
{
    struct report report = {.line = print_line};
    struct limber *limber = calloc(1, sizeof *limber);
    if (limber == NULL) return NULL;
    if (robot_read_file(robot_file, &limber->robot, &report) == STATUS_OK &&
        mechanism_make(limber->robot, &limber->mechanism, &report) == STATUS_OK && comparable(limber->mechanism.model))
        return limber;
    fprintf(stderr, "%s: expected a tree of rigid links with revolute joints\n", robot_file);
    return NULL;
}

void limber_free(struct limber *limber)
{
    mechanism_free(&limber->mechanism);
    robot_free(limber->robot);
    free(limber);
}

int limber_links(const struct limber *limber)
{
    return limber->mechanism.model->n_links;
}

void limber_link(const struct limber *limber, int i, struct limber_link *link)
{
    const struct link_model *lm = &limber->mechanism.model->link[i];
    const double m = lm->rigid.m;
    double c[3], square = 0;
    link->parent = lm->parent;
    for (int k = 0; k < 9; k++) link->R[k] = lm->R[k];
    for (int k = 0; k < 3; k++) {
        link->t[k] = lm->t[k];
        link->axis[k] = lm->joint.axis[k];
        link->com[k] = c[k] = lm->rigid.h[k] / m;
        square += c[k] * c[k];
    }
    link->mass = m;
    /* about the center of mass: J - m (c.c 1 - c c') */
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++)
        link->inertia[k] = lm->rigid.J[k] - m * ((k < 3 ? square : 0) - c[row[k]] * c[column[k]]);
}

void limber_gravity(const struct limber *limber, double gravity[3])
{
    for (int k = 0; k < 3; k++) gravity[k] = limber->mechanism.model->gravity[k];
}

void limber_forward(struct limber *limber, const double *q, const double *qd, const double *tau, double *qdd)
{
    const struct input in = {.q = q, .qd = qd, .tau = tau};
    (void)mechanism_forward(&limber->mechanism, &in, qdd);
}

void limber_inverse(struct limber *limber, const double *q, const double *qd, const double *qdd, double *tau)
{
    const struct input in = {.q = q, .qd = qd};
    dyn_configuration(limber->mechanism.model, limber->mechanism.work, q);
    dyn_inverse(limber->mechanism.model, limber->mechanism.work, &in, qdd, tau);
}

void limber_derivatives(struct limber *limber, const double *q, const double *qd, const double *tau, double *qdd,
                        double *by_q, double *by_qd)
{
    const struct input in = {.q = q, .qd = qd, .tau = tau};
    (void)mechanism_forward_jacobian(&limber->mechanism, &in, qdd, by_q, by_qd);
}
