/* The added mass of a beam. All mass integrals are linear in its factor: I = I_bare + factor I_unit              (theory.md 18c) */
#include <string.h>

#include "flex/body.h"
#include "math/lanes.h"

/* Mass integrals of a body that are arrays */
struct integral {
    double *number;
    int count;
};
enum { MOST_INTEGRALS = 13 };

static int list_integrals(const struct body *body, struct integral list[MOST_INTEGRALS])
{
    const int m = body->m, n = body->n_shapes, row = PADDED(m);
    const struct integral own[] = {{body->s, n},           {body->b, n},        {body->G, n * n},
                                   {body->Mff0, m * m},    {body->mode_s, row}, {body->mode_b, row},
                                   {body->mode_G, m * row}};
    int count = (int)(sizeof own / sizeof *own);
    memcpy(list, own, sizeof own);
    const struct shortening *sh = body->shortening;
    if (sh == NULL) return count;
    list[count++] = (struct integral){sh->C, (2 + m) * m * row};
    list[count++] = (struct integral){sh->G, sh->n_pairs * PADDED(sh->n_pairs + m + 1)};
    list[count++] = (struct integral){sh->Mff0, m * row};
    for (int g = 0; g < sh->n_groups; g++)
        list[count++] = (struct integral){sh->group[g].W, sh->group[g].n * PADDED(sh->group[g].n)};
    return count;
}

enum status added_mass_make(const struct body *unit, struct arena *arena, struct body *body)
{
    struct integral list[MOST_INTEGRALS];
    const int count = list_integrals(body, list);
    struct added_mass *added = arena_allocate(arena, 1, sizeof *added);
    double **bare = arena_allocate(arena, (size_t)count, sizeof *bare);
    for (int i = 0; i < count && !arena->failed; i++) {
        bare[i] = arena_allocate(arena, (size_t)list[i].count, sizeof **bare);
        if (bare[i] != NULL) memcpy(bare[i], list[i].number, (size_t)list[i].count * sizeof **bare);
    }
    if (arena->failed) return STATUS_NO_MEMORY;
    *added = (struct added_mass){.unit = unit, .bare = bare, .mass = body->mass};
    memcpy(added->c0, body->c0, sizeof added->c0);
    memcpy(added->N0, body->N0, sizeof added->N0);
    body->added = added;
    return STATUS_OK;
}

void body_set_added_mass(struct body *body, double factor)
{
    const struct added_mass *added = body->added;
    struct integral list[MOST_INTEGRALS], unit[MOST_INTEGRALS];
    const int count = list_integrals(body, list);
    list_integrals(added->unit, unit);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < list[i].count; k++) list[i].number[k] = added->bare[i][k] + factor * unit[i].number[k];
    body->mass = added->mass + factor * added->unit->mass;
    for (int i = 0; i < 3; i++) body->c0[i] = added->c0[i] + factor * added->unit->c0[i];
    for (int i = 0; i < 6; i++) body->N0[i] = added->N0[i] + factor * added->unit->N0[i];
}
