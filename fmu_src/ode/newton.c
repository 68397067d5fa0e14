#include "ode/newton.h"

#include <stdbool.h>
#include <string.h>

#include "math/quaternion.h"

/* The position of each velocity that belongs to no quaternion: they correspond in order */
static void match_positions(const struct ode *ode, int *position)
{
    memset(position, 0, (size_t)ode->n_v * sizeof *position);
    for (int k = 0; k < ode->n_quaternions; k++)
        for (int i = 0; i < 3; i++) position[ode->quaternion[k].v + i] = -1;
    for (int j = 0, x = 0; j < ode->n_v; j++) {
        if (position[j] < 0) continue;
        for (int k = 0; k < ode->n_quaternions; k++)
            if (ode->quaternion[k].x == x) {
                x += 4;
                k = -1; /* another quaternion may follow */
            }
        position[j] = x < ode->n_x ? x++ : -1;
    }
}

void newton_make(struct newton *newton, const struct ode *ode, struct arena *arena)
{
    const size_t n = (size_t)ode->n_v;
    *newton = (struct newton){
        .n_x = ode->n_x, .n_v = ode->n_v, .n_quaternions = ode->n_quaternions, .quaternion = ode->quaternion};
    newton->A = ode->n_x > 0 ? arena_allocate(arena, n * n, sizeof *newton->A) : NULL;
    newton->B = arena_allocate(arena, n * n, sizeof *newton->B);
    newton->point = arena_allocate(arena, (size_t)ode->n_quaternions, sizeof *newton->point);
    newton->position = arena_allocate(arena, n, sizeof *newton->position);
    newton->dx = arena_allocate(arena, n, sizeof *newton->dx);
    if (!arena->failed) match_positions(ode, newton->position);
}

/* ---- the matrix ---------------------------------------------------------------------------------------------------- */

double newton_D(const double omega[3], double gamma)
{
    return 1 + gamma * gamma * dot3(omega, omega) / 4;
}

/* Columns v .. v + 2 of N = -gamma (B + gamma A C),  C = E P T = (1 - gamma/2 [omega]x)/D; the 1 is added later */
static void quaternion_columns(const struct newton *newton, const struct quaternion_point *point, int v, double *N)
{
    const double gamma = newton->gamma, half = gamma / 2;
    const size_t n = (size_t)newton->n_v, first = n * (size_t)v;
    const double *A = newton->A + first, *B = newton->B + first;
    double C[9];
    skew3(point->omega, C);
    for (int i = 0; i < 9; i++) C[i] = ((i % 4 == 0 ? 1 : 0) - half * C[i]) / point->D;
    for (size_t j = 0; j < 3; j++)
        for (size_t i = 0; i < n; i++)
            N[first + n * j + i] =
                -gamma * (B[n * j + i] + gamma * (A[i] * C[j] + A[n + i] * C[3 + j] + A[2 * n + i] * C[6 + j]));
}

void newton_at(struct newton *newton, double gamma, const double *y)
{
    newton->gamma = gamma;
    for (int k = 0; k < newton->n_quaternions; k++) {
        const double *q = y + newton->quaternion[k].x, *omega = y + newton->n_x + newton->quaternion[k].v;
        struct quaternion_point *point = &newton->point[k];
        memcpy(point->q, q, sizeof point->q);
        memcpy(point->omega, omega, sizeof point->omega);
        point->D = newton_D(omega, gamma);
        point->square = quaternion_square(q);
    }
}

void newton_matrix(struct newton *newton, double gamma, const double *y, double *N)
{
    const size_t n = (size_t)newton->n_v;
    const double *A = newton->A, *B = newton->B;
    newton_at(newton, gamma, y);
    for (size_t i = 0; i < n * n; i++) N[i] = -gamma * (A != NULL ? B[i] + gamma * A[i] : B[i]);
    for (int k = 0; k < newton->n_quaternions; k++)
        quaternion_columns(newton, &newton->point[k], newton->quaternion[k].v, N);
    for (size_t i = 0; i < n; i++) N[i * (n + 1)] += 1;
}

/* ---- the two sides of its solution --------------------------------------------------------------------------------- */

void newton_P(const double omega[3], double gamma, double D, const double p[4], double Pp[4])
{
    quaternion_rate(p, omega, Pp);
    for (int i = 0; i < 4; i++) Pp[i] = (p[i] + gamma * Pp[i]) / D;
}

void newton_tangent(const struct newton *newton, const double *r, double *dx)
{
    for (int j = 0; j < newton->n_v; j++) dx[j] = newton->position[j] >= 0 ? r[newton->position[j]] : 0;
    for (int k = 0; k < newton->n_quaternions; k++) {
        /* E P a = 2 vec(conj(q) o P a)/|q|^2 */
        const struct quaternion_point *point = &newton->point[k];
        double Pa[4], tangent[4];
        newton_P(point->omega, newton->gamma, point->D, r + newton->quaternion[k].x, Pa);
        quaternion_conjugate_multiply(point->q, Pa, tangent);
        for (int i = 0; i < 3; i++) dx[newton->quaternion[k].v + i] = 2 * tangent[1 + i] / point->square;
    }
}

void newton_reduce(const struct newton *newton, const double *r, double *c)
{
    const size_t n = (size_t)newton->n_v;
    const double *b = r + newton->n_x, gamma = newton->gamma;
    newton_tangent(newton, r, newton->dx);
    memcpy(c, b, n * sizeof *c);
    for (size_t j = 0; j < n && newton->A != NULL; j++)
        for (size_t i = 0; i < n; i++) c[i] += gamma * newton->dx[j] * newton->A[n * j + i];
}

void newton_expand(const struct newton *newton, const double *r, const double *dv, double *d)
{
    const double gamma = newton->gamma;
    for (int j = 0; j < newton->n_v; j++) {
        const int x = newton->position[j];
        if (x >= 0) d[x] = r[x] + gamma * dv[j];
        d[newton->n_x + j] = dv[j];
    }
    for (int k = 0; k < newton->n_quaternions; k++) {
        const struct quaternion_place *place = &newton->quaternion[k];
        double p[4];
        quaternion_rate(newton->point[k].q, dv + place->v, p); /* T dv */
        for (int i = 0; i < 4; i++) p[i] = r[place->x + i] + gamma * p[i];
        newton_P(newton->point[k].omega, gamma, newton->point[k].D, p, d + place->x);
    }
}
