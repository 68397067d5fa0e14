#include "dyn/matrices.h"

#include <string.h>

#include "math/vec.h"

enum status model_make_bare(const struct robot *robot, struct model **made, struct report *report)
{
    const enum status status = model_make(robot, made, report);
    if (status != STATUS_OK) return status;
    struct model *model = *made;
    for (int i = 0; i < model->n_links; i++) {
        struct link_model *lm = &model->link[i];
        for (int k = 0; k < MOST_COORDINATES_WITH_NUMBERS; k++) {
            struct joint_numbers *number = &lm->joint.number[k];
            number->viscous = number->coulomb = number->stiffness = 0;
            number->has_limits = false;
        }
        if (lm->body == NULL) continue;
        struct body *body = arena_allocate(&model->arena, 1, sizeof *body);
        double *zeros = arena_allocate(&model->arena, (size_t)lm->m * (size_t)lm->m, sizeof *zeros);
        if (model->arena.failed) {
            model_free(model);
            *made = NULL;
            return STATUS_NO_MEMORY;
        }
        *body = *lm->body;
        body->K = body->D = zeros;
        body->damped = false;
        lm->body = body;
    }
    return STATUS_OK;
}

/* C += 1/2 M A,  A x = omega x x for the angular velocity of a quaternion, else 0: M_dot - 2 C is skew for velocities that are
   not rates of coordinates too, and C qd stays the same */
static void add_frame_rotation(const struct model *bare, const struct work *work, const double *qd, double *C)
{
    const int n = bare->nv;
    for (int i = 0; i < bare->n_links; i++) {
        const int omega = joint_omega(&bare->robot->link[i].joint), v = bare->link[i].v + omega;
        for (int row = 0; omega >= 0 && row < n; row++) {
            double turned[3]; /* M A by rows: (M_row)' A = M_row x omega */
            cross3(work->M + n * row + v, qd + v, turned);
            for (int k = 0; k < 3; k++) C[n * row + v + k] += 0.5 * turned[k];
        }
    }
}

/* The velocity terms are quadratic, h_i = sum_jk Gamma_ijk qd_j qd_k, Gamma symmetric in j and k:
       C_ij = sum_k Gamma_ijk qd_k = 1/2 dh_i/dqd_j,   and dh/dqd = -d(Q - ID)/dqd at qdd = 0 */
void dyn_coriolis(const struct model *bare, struct work *work, struct tangent *tangent, const struct input *in,
                  double *C, double *scratch)
{
    const int n = bare->nv;
    const struct input moving = {.q = in->q, .qd = in->qd};
    double *qdd = scratch, *force = C, *by_q = C, *by_qd = scratch;
    if (n == 0) return;
    dyn_configuration(bare, work, in->q);
    memset(qdd, 0, (size_t)n * sizeof *qdd);
    dyn_inverse(bare, work, &moving, qdd, force);
    dyn_velocity(bare, work, &moving);
    dyn_tangent_state(bare, work, tangent, &moving, qdd);
    dyn_force_jacobian(bare, work, tangent, &moving, false, by_q, by_qd);
    for (int i = 0; i < n; i++) /* transpose */
        for (int j = 0; j < n; j++) C[n * i + j] = -0.5 * by_qd[n * j + i];
    dyn_mass_matrix(bare, work);
    add_frame_rotation(bare, work, in->qd, C);
}

void dyn_gravity(const struct model *bare, struct work *work, const double *q, double *G)
{
    memset(work->rhs, 0, (size_t)bare->nv * sizeof(double)); /* rates */
    const struct input at_rest = {.q = q, .qd = work->rhs};
    dyn_configuration(bare, work, q);
    dyn_inverse(bare, work, &at_rest, NULL, G);
}

void dyn_stiffness(const struct model *model, double *K)
{
    const size_t n = (size_t)model->nv;
    memset(K, 0, n * n * sizeof *K);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; k < lm->joint.nv; k++) /* springs at their rest position, without stops */
            K[(n + 1) * (size_t)(lm->v + k)] = lm->joint.number[lm->joint.coordinates ? k : 0].stiffness;
        for (int k = 0; k < lm->m; k++)
            memcpy(K + n * (size_t)(lm->eta_v + k) + lm->eta_v, lm->body->K + (size_t)lm->m * (size_t)k,
                   (size_t)lm->m * sizeof *K);
    }
}

void dyn_input_matrix(const struct model *model, double *B)
{
    const size_t n = (size_t)model->n_tau;
    memset(B, 0, (size_t)model->nv * n * sizeof *B);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; !lm->passive && k < free_velocities(lm); k++)
            B[n * (size_t)(lm->v + k) + (size_t)(lm->tau + k)] = 1;
    }
}
