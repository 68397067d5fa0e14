#include "flex/quadrature.h"

#include <math.h>

/* P_n and P_n' at x:  (i+1) P_{i+1} = (2i+1) x P_i - i P_{i-1},   (x^2 - 1) P_n' = n (x P_n - P_{n-1}) */
static double legendre(int n, double x, double *derivative)
{
    double previous = 1, P = x;
    for (int i = 1; i < n; i++) {
        const double next = ((2 * i + 1) * x * P - i * previous) / (i + 1);
        previous = P;
        P = next;
    }
    *derivative = n * (x * P - previous) / ((x - 1) * (x + 1));
    return P;
}

void quadrature_gauss_legendre(double node[GAUSS_POINTS], double weight[GAUSS_POINTS])
{
    const int n = GAUSS_POINTS;
    const double pi = 3.14159265358979323846;
    for (int i = 0; i < n / 2; i++) {
        double x = cos(pi * (i + 0.75) / (n + 0.5)), dP; /* the i-th zero from the top, to 1e-3 or better */
        for (int step = 0; step < 6; step++) x -= legendre(n, x, &dP) / dP;
        legendre(n, x, &dP);
        node[i] = (1 - x) / 2;
        node[n - 1 - i] = (1 + x) / 2;
        weight[i] = weight[n - 1 - i] = 1 / ((1 - x) * (1 + x) * dP * dP);
    }
}

/* ---- panels ------------------------------------------------------------------------------------------------------ */

int quadrature_panels_for_shapes(const struct beam *beam)
{
    int most = 1;
    for (int i = 0; i < FAMILY_COUNT; i++)
        if (beam->family[i].count > most) most = beam->family[i].count;
    return 2 * most + 2;
}

/* Ends of panels while they are listed; x = NULL: they are counted. */
struct panel_list {
    const struct beam *beam;
    int n;
    double *x;
};

/* Adds the ends of [s0, s1] after s0; halves it while properties are not smooth and it is long enough to matter */
static void add_panel(struct panel_list *list, double s0, double s1)
{
    static const double SHORTEST = 1e-13;
    if (s1 - s0 < SHORTEST || beam_is_smooth(list->beam, s0, s1)) {
        list->n++;
        if (list->x != NULL) list->x[list->n] = list->beam->length * s1;
        return;
    }
    add_panel(list, s0, 0.5 * (s0 + s1));
    add_panel(list, 0.5 * (s0 + s1), s1);
}

static void list_panels(struct panel_list *list, int stations, const double *s)
{
    const int for_shapes = quadrature_panels_for_shapes(list->beam);
    list->n = 0;
    for (int i = 0; i + 1 < stations; i++) {
        const double h = s[i + 1] - s[i];
        const int count = (int)fmax(1, ceil(h * for_shapes - 1e-9));
        for (int k = 0; k < count; k++) add_panel(list, s[i] + h * k / count, s[i] + h * (k + 1) / count);
    }
}

enum status quadrature_panels_make(const struct beam *beam, struct arena *arena, struct panels *panels)
{
    double *s = arena_allocate(arena, (size_t)beam_station_count(beam) + 2, sizeof *s);
    if (s == NULL) return STATUS_NO_MEMORY;
    const int stations = beam_stations(beam, s);
    struct panel_list list = {.beam = beam};
    list_panels(&list, stations, s);
    list.x = arena_allocate(arena, (size_t)list.n + 1, sizeof *list.x);
    if (list.x == NULL) return STATUS_NO_MEMORY;
    list_panels(&list, stations, s);
    panels->n = list.n;
    panels->x = list.x;
    return STATUS_OK;
}
