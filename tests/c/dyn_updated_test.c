/* Ruthless beams: the modes eliminated by an update of their constant factor (updated.c), by a factor made anew in every
   state (articulated.c), and by the mass matrix (composite.c) must give the same accelerations. Differences are measured in
   the norm of the mass matrix, |d|^2 = d' M d, in units of |qdd|: the size of an acceleration whatever its coordinates. What
   rounding may leave there is eps times the root of cond(M), which shapes that are alike bring to 1e6: 1e-9. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "dyn/updated.h"
#include "support/specimen.h"

enum { ROBOTS = 400, STATES = 3, ALWAYS = 0, NEVER = 1000 };

/* What the robots had in them */
struct seen {
    int links, loaded, unloaded, hubs, payloads, prismatic, several, prescribed, branched, bent, largest;
};

/* Makes every beam one that may be updated: no foreshortening, clamped at the hinge, up to 20 modes. */
static void make_plain(struct robot *robot, struct random *random)
{
    robot->elastic_terms = TERMS_RUTHLESS;
    for (int i = 0; i < robot->n_links; i++) {
        struct beam *beam = &robot->link[i].beam;
        if (robot->link[i].type != BODY_BEAM) continue;
        beam->foreshortening = false;
        for (int family = 0; family < FAMILY_COUNT; family++) {
            struct mode_family *modes = &beam->family[family];
            if (modes->count > 0 && (modes->shape == SHAPE_PINNED_PINNED || chance(random, 0.5))) {
                modes->shape = SHAPE_CLAMPED_FREE;
                modes->count = 1 + pick(random, family < 2 ? 9 : 2);
            }
        }
    }
}

static void look(const struct specimen *s, struct seen *seen)
{
    for (int i = 0; i < s->model->n_links; i++) {
        const struct link_model *lm = &s->model->link[i];
        seen->prismatic += lm->joint.type == JOINT_PRISMATIC;
        seen->several += lm->joint.nv > 1;
        seen->prescribed += lm->prescribed >= 0;
        if (lm->updated == NULL) continue;
        seen->links++;
        *(lm->section[0].has_inertia ? &seen->loaded : &seen->unloaded) += 1;
        seen->hubs += lm->has_hub;
        seen->payloads += lm->has_payload;
        seen->bent += norm(3, s->work->link[i].section[0].theta) > 0.5;
        if (lm->m > seen->largest) seen->largest = lm->m;
    }
    seen->branched += s->model->branched;
}

/* |x| in the norm of work->M */
static double mass_norm(const struct specimen *s, const double *x)
{
    double sum = 0;
    for (int i = 0; i < s->nv; i++)
        for (int j = 0; j < s->nv; j++) sum += x[i] * s->work->M[s->nv * i + j] * x[j];
    return sqrt(fmax(sum, 0));
}

/* |qdd - other| / |qdd| of s in its state */
static double apart(const struct specimen *s, const double *qdd, const double *other)
{
    double *difference = malloc((size_t)(s->nv + 1) * sizeof *difference);
    if (difference == NULL) return NAN;
    for (int i = 0; i < s->nv; i++) difference[i] = qdd[i] - other[i];
    const double result = mass_norm(s, difference) / (1e-300 + mass_norm(s, qdd));
    free(difference);
    return result;
}

/* The same robot twice, its modes changed; the first is updated, the second never. */
static int make_pair(struct specimen *a, struct specimen *b, int seed)
{
    if (!specimen_random(a, seed) || !specimen_random(b, seed)) return 0;
    struct random one = {(uint64_t)seed}, same = one;
    make_plain(a->robot, &one);
    make_plain(b->robot, &same);
    return specimen_remake(a) && specimen_remake(b) && specimen_update_from(a, ALWAYS) &&
           specimen_update_from(b, NEVER);
}

TEST(update_is_elimination)
{
    struct seen seen = {0};
    double worst_direct = 0, worst_composite = 0, worst_forces = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen a, b;
        struct random random = {(uint64_t)seed};
        CHECK(make_pair(&a, &b, seed));
        for (int state = 0; state < STATES && a.nv > 0; state++) {
            specimen_random_state(&a, &random);
            specimen_copy_state(&a, &b);
            CHECK(dyn_forward(a.model, a.work, &a.in, a.qdd) == STATUS_OK);
            dyn_mass_matrix(a.model, a.work);
            CHECK(dyn_forward(b.model, b.work, &b.in, b.qdd) == STATUS_OK);
            CHECK(dyn_forward_composite(b.model, b.work, &b.in, b.force) == STATUS_OK);
            const double direct = apart(&a, a.qdd, b.qdd), composite = apart(&a, a.qdd, b.force);
            CHECK_NEAR(direct, 0, 1e-9);
            CHECK_NEAR(composite, 0, 1e-9);
            worst_direct = fmax(worst_direct, direct);
            worst_composite = fmax(worst_composite, composite);
            specimen_random_state(&a, &random); /* a.qdd serves as forces */
            memcpy(a.force, a.qdd, (size_t)a.nv * sizeof(double));
            memcpy(b.force, a.qdd, (size_t)a.nv * sizeof(double));
            dyn_solve_columns(a.model, a.work, a.mechanism.tangent, 1, a.force);
            dyn_solve_columns(b.model, b.work, b.mechanism.tangent, 1, b.force);
            worst_forces = fmax(worst_forces, apart(&a, a.force, b.force));
            look(&a, &seen);
        }
        specimen_free(&a);
        specimen_free(&b);
    }
    CHECK_NEAR(worst_forces, 0, 1e-9);
    printf("     worst %.1e of direct, %.1e of composite, %.1e for plain forces\n", worst_direct, worst_composite,
           worst_forces);
    printf("     %d links: %d loaded, %d not, %d with hub, %d payload, %d bent, up to %d modes; %d prismatic, "
           "%d with several columns, %d prescribed, %d trees\n",
           seen.links, seen.loaded, seen.unloaded, seen.hubs, seen.payloads, seen.bent, seen.largest, seen.prismatic,
           seen.several, seen.prescribed, seen.branched);
    CHECK_COVERAGE(seen.loaded > 100 && seen.unloaded > 100 && seen.hubs > 100 && seen.payloads > 100 &&
                   seen.bent > 100);
    CHECK_COVERAGE(seen.prismatic > 100 && seen.several > 100 && seen.prescribed > 100 && seen.branched > 100 &&
                   seen.largest >= 16);
}

/* Q_1' Q_1 = 1,  Q_1' Y_2 = 0, to rounding                                                              (theory.md 40) */
TEST(directions_are_orthonormal)
{
    double worst = 0;
    for (int seed = 0; seed < test_sample(ROBOTS); seed++) {
        struct specimen a, b;
        CHECK(make_pair(&a, &b, seed));
        for (int i = 0; i < a.model->n_links; i++) {
            const struct updated *u = a.model->link[i].updated;
            const struct body *body = a.model->link[i].body;
            for (int j = 0; u != NULL && j < u->n; j++) {
                const int block = u->at[j] / PER_MODE, column = u->at[j] % PER_MODE;
                double product[PER_MODE] = {0}, size[PER_MODE] = {0};
                for (int k = body->block_start[block]; k < body->block_start[block + 1]; k++)
                    for (int c = 0; c < PER_MODE; c++) {
                        product[c] += u->QY[k][column] * u->QY[k][c];
                        size[c] += u->QY[k][c] * u->QY[k][c];
                    }
                for (int c = 0; c < PER_MODE; c++)
                    worst = fmax(worst, fabs(product[c] - (c == column)) / (1e-300 + fmax(size[c], c < Y_TURN)));
            }
        }
        specimen_free(&a);
        specimen_free(&b);
    }
    CHECK_NEAR(worst, 0, 1e-12);
    printf("     worst %.1e\n", worst);
}

int dyn_updated_test(void)
{
    RUN(update_is_elimination);
    RUN(directions_are_orthonormal);
    return test_summary();
}
