#include "flex/beam_mass.h"

#include "flex/quadrature.h"

/* The properties that have moments. */
enum property { OWN_MASS, ADDED_MASS, INERTIA_X, INERTIA_Y, INERTIA_Z, PROPERTIES };

/* moment_k += int p s^k ds, k = 0, 1, 2. Between stations p is a polynomial of degree 4 at most, the quadrature exact. */
static void add_moments(const struct beam *beam, const struct profile *stations, enum property p, double moment[3])
{
    double node[GAUSS_POINTS], weight[GAUSS_POINTS];
    quadrature_gauss_legendre(node, weight);
    const int intervals = stations->n > 0 ? stations->n - 1 : 1;
    for (int i = 0; i < intervals; i++) {
        const double from = stations->n > 0 ? stations->s[i] : 0, to = stations->n > 0 ? stations->s[i + 1] : 1;
        for (int g = 0; g < GAUSS_POINTS; g++) {
            const double s = from + (to - from) * node[g];
            const struct beam_properties at = beam_at(beam, s);
            const double *J = at.inertia_per_length;
            const double value[PROPERTIES] = {at.mass_per_length, at.added_mass_per_length, J[0], J[1], J[2]};
            const double dp = value[p] * (to - from) * weight[g];
            moment[0] += dp;
            moment[1] += dp * s;
            moment[2] += dp * s * s;
        }
    }
}

/* The stations of a quantity: its own, or those of the section that it follows from */
static const struct profile *stations_of(const struct beam *beam, const struct profile *own)
{
    const struct cross_section *c = &beam->section;
    if (!beam->has_section) return own;
    switch (c->shape) {
    case SECTION_TUBE: return &c->outer_diameter;
    case SECTION_ROUND: return &c->diameter;
    case SECTION_RECTANGLE:
    case SECTION_BOX: break;
    }
    return &c->width;
}

struct mass_properties beam_rigid(const struct beam *beam)
{
    const double L = beam->length;
    double m[3] = {0};
    add_moments(beam, stations_of(beam, &beam->mass_per_length), OWN_MASS, m);
    add_moments(beam, &beam->added_mass_per_length, ADDED_MASS, m);
    if (m[0] == 0) return (struct mass_properties){0}; /* no added mass */
    struct mass_properties rigid = {.mass = m[0] * L, .com = {m[1] / m[0] * L, 0, 0}};
    for (int i = 0; i < 3; i++) {
        double J[3] = {0};
        add_moments(beam, stations_of(beam, &beam->inertia_per_length[i]), (enum property)(INERTIA_X + i), J);
        rigid.inertia[i] = J[0] * L + (i > 0 ? (m[2] - m[1] * m[1] / m[0]) * L * L * L : 0);
    }
    return rigid;
}

struct mass_properties beam_added_rigid(const struct beam *beam)
{
    struct beam alone = {.length = beam->length, .mass_per_length = beam->added_mass_per_length};
    alone.mass_per_length.factor = 1;
    return (beam->given & (GIVEN_ADDED_MASS | TABLE_ADDED_MASS)) != 0 ? beam_rigid(&alone)
                                                                      : (struct mass_properties){0};
}

double beam_mean_mass_per_length(const struct beam *beam)
{
    const struct profile *stations = stations_of(beam, &beam->mass_per_length);
    double m[3] = {0};
    if (stations->n == 0) {
        const struct beam_properties at = beam_at(beam, 0);
        return at.mass_per_length;
    }
    add_moments(beam, stations, OWN_MASS, m);
    return m[0];
}
