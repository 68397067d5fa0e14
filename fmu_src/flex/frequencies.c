#include "flex/frequencies.h"

#include <math.h>

#include "flex/body.h"
#include "math/eigen.h"

int frequencies_of_link(const struct link *link, double *hz, int max)
{
    const double two_pi = 6.283185307179586;
    const int m = robot_link_modes(link);
    if (m == 0) return 0;

    struct arena arena = {0};
    struct body body;
    struct link straight = *link;
    straight.beam.foreshortening = false; /* it changes neither K nor the mass of the undeformed body */
    const size_t mm = (size_t)(m * m);
    double *work = arena_allocate(&arena, 2 * mm, sizeof *work), *V = arena_allocate(&arena, mm, sizeof *V);
    double *w2 = arena_allocate(&arena, (size_t)m, sizeof *w2);
    int count = -1;
    const enum status status = arena.failed ? STATUS_NO_MEMORY : body_make(&straight, &arena, &body);
    if (status == STATUS_NO_MEMORY) count = FREQUENCIES_NO_MEMORY;
    if (status == STATUS_OK && eigen_generalized(m, body.K, body.Mff0, work, V, w2) == 0) {
        count = m < max ? m : max;
        for (int i = 0; i < count; i++) hz[i] = sqrt(fmax(w2[i], 0)) / two_pi;
    }
    arena_release(&arena);
    return count;
}
