#include "robot/beam.h"

#include <math.h>
#include <stddef.h>

static const double PI = 3.14159265358979323846;

/* ---- along x ----------------------------------------------------------------------------------------------------- */

double beam_profile_at(const struct profile *profile, double s)
{
    if (profile->n == 0) return profile->factor;
    int low = 0, high = profile->n - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (profile->s[middle] <= s) low = middle;
        else high = middle;
    }
    const double t = (s - profile->s[low]) / (profile->s[high] - profile->s[low]);
    return profile->factor * (profile->value[low] + t * (profile->value[high] - profile->value[low]));
}

enum { OUTER_DIAMETER, DIAMETER, WIDTH, HEIGHT, WALL, DIMENSIONS_OF_SECTION }; /* width along y, height along z */

static void list_dimensions(const struct cross_section *section, const struct profile *list[DIMENSIONS_OF_SECTION])
{
    list[OUTER_DIAMETER] = &section->outer_diameter;
    list[DIAMETER] = &section->diameter;
    list[WIDTH] = &section->width;
    list[HEIGHT] = &section->height;
    list[WALL] = &section->wall;
}

void beam_profiles(const struct beam *beam, const struct profile *list[BEAM_PROFILES])
{
    list[0] = &beam->mass_per_length;
    list[1] = &beam->EIy;
    list[2] = &beam->EIz;
    list[3] = &beam->GJ;
    list[4] = &beam->EA;
    for (int i = 0; i < 3; i++) list[5 + i] = &beam->inertia_per_length[i];
    list[8] = &beam->added_mass_per_length;
    list_dimensions(&beam->section, list + BEAM_PROFILES - DIMENSIONS_OF_SECTION);
}

enum family beam_family(const struct beam *beam, int *k)
{
    int family = 0;
    for (; family < FAMILY_COUNT - 1 && *k >= beam->family[family].count; family++) *k -= beam->family[family].count;
    return (enum family)family;
}

int beam_station_count(const struct beam *beam)
{
    const struct profile *list[BEAM_PROFILES];
    int count = 0;
    beam_profiles(beam, list);
    for (int i = 0; i < BEAM_PROFILES; i++) count += list[i]->n;
    return count;
}

int beam_stations(const struct beam *beam, double *s)
{
    static const double SAME = 1e-13;
    const struct profile *list[BEAM_PROFILES];
    int n = 2;
    s[0] = 0;
    s[1] = 1;
    beam_profiles(beam, list);
    for (int i = 0; i < BEAM_PROFILES; i++)
        for (int k = 0; k < list[i]->n; k++) { /* inserted unless s has it */
            const double station = list[i]->s[k];
            int at = n;
            while (at > 0 && s[at - 1] > station) at--;
            if ((at > 0 && station - s[at - 1] < SAME) || (at < n && s[at] - station < SAME)) continue;
            for (int j = n++; j > at; j--) s[j] = s[j - 1];
            s[at] = station;
        }
    return n;
}

/* ---- cross sections ---------------------------------------------------------------------------------------------- */

struct area {
    double A;      /* int dA                                                    [m^2] */
    double Iy, Iz; /* int z^2 dA (bending along z), int y^2 dA (along y)        [m^4] */
    double J;      /* torsion constant                                          [m^4] */
};

static struct area ring(double outer, double inner)
{
    const double I = PI / 64 * (pow(outer, 4) - pow(inner, 4));
    return (struct area){PI / 4 * (outer * outer - inner * inner), I, I, 2 * I};
}

/* Saint-Venant's torsion of a rectangle with sides a >= b (Timoshenko and Goodier, 109):
   J = a b^3 (1/3 - 64 b/(pi^5 a) S),   S = sum over odd n of tanh(n pi a / 2b) / n^5
   The terms of S - sum 1/n^5 (= 31/32 zeta(5)) decrease as exp(-n pi a/b): a dozen of them suffice. */
static double torsion_of_rectangle(double side_1, double side_2)
{
    const double a = fmax(side_1, side_2), b = fmin(side_1, side_2), zeta_5 = 1.03692775514336992633;
    double S = 31.0 / 32 * zeta_5;
    for (int n = 1; n < 25; n += 2) S -= 2 / (1 + exp(n * PI * a / b)) / pow(n, 5); /* 1 - tanh x = 2/(1 + exp 2x) */
    return a * pow(b, 3) * (1.0 / 3 - 64 * b / (pow(PI, 5) * a) * S);
}

static struct area rectangle(double y, double z)
{
    return (struct area){y * z, y * pow(z, 3) / 12, z * pow(y, 3) / 12, torsion_of_rectangle(y, z)};
}

/* Torsion of a closed thin wall by Bredt:  J = 4 Am^2 t / s,  Am and s the area within the wall's middle line and its length */
static struct area box(double y, double z, double t)
{
    const double yi = y - 2 * t, zi = z - 2 * t, ym = y - t, zm = z - t;
    return (struct area){y * z - yi * zi, (y * pow(z, 3) - yi * pow(zi, 3)) / 12,
                         (z * pow(y, 3) - zi * pow(yi, 3)) / 12, 4 * pow(ym * zm, 2) * t / (2 * (ym + zm))};
}

/* [m] */
static void find_dimensions(const struct cross_section *section, double s, double d[DIMENSIONS_OF_SECTION])
{
    const struct profile *list[DIMENSIONS_OF_SECTION];
    list_dimensions(section, list);
    for (int i = 0; i < DIMENSIONS_OF_SECTION; i++) d[i] = section->scale * beam_profile_at(list[i], s);
}

static struct area area_at(const struct cross_section *section, double s)
{
    double d[DIMENSIONS_OF_SECTION];
    find_dimensions(section, s, d);
    switch (section->shape) {
    case SECTION_TUBE: return ring(d[OUTER_DIAMETER], d[OUTER_DIAMETER] - 2 * d[WALL]);
    case SECTION_ROUND: return ring(d[DIAMETER], 0);
    case SECTION_RECTANGLE: return rectangle(d[WIDTH], d[HEIGHT]);
    case SECTION_BOX: return box(d[WIDTH], d[HEIGHT], d[WALL]);
    }
    return (struct area){0};
}

bool beam_is_smooth(const struct beam *beam, double s0, double s1)
{
    const struct profile *list[DIMENSIONS_OF_SECTION];
    list_dimensions(&beam->section, list);
    for (int i = 0; i < DIMENSIONS_OF_SECTION; i++) {
        const double d0 = beam_profile_at(list[i], s0), d1 = beam_profile_at(list[i], s1);
        if (fmax(d0, d1) > 2 * fmin(d0, d1)) return false;
    }
    return true;
}

/* Dimensions are linear between stations: a section that is hollow at both ends of an interval is hollow within */
double beam_section_without_hollow(const struct cross_section *section, double *outer)
{
    const bool round = section->shape == SECTION_TUBE;
    if (!round && section->shape != SECTION_BOX) return -1;
    const int stations = section->wall.n > 0 ? section->wall.n : 1;
    for (int i = 0; i < stations; i++) {
        const double s = section->wall.n > 0 ? section->wall.s[i] : 0;
        double d[DIMENSIONS_OF_SECTION];
        find_dimensions(section, s, d);
        *outer = round ? d[OUTER_DIAMETER] : fmin(d[WIDTH], d[HEIGHT]);
        if (!(2 * d[WALL] < *outer)) return s;
    }
    return -1;
}

/* ---- properties -------------------------------------------------------------------------------------------------- */

struct beam_properties beam_at(const struct beam *beam, double s)
{
    struct beam_properties p = {0};
    if (beam->has_section) {
        const struct area area = area_at(&beam->section, s);
        const double E = beam->material.E, rho = beam->material.density;
        p = (struct beam_properties){.mass_per_length = rho * area.A,
                                     .EIy = E * area.Iy,
                                     .EIz = E * area.Iz,
                                     .GJ = beam->material.G * area.J,
                                     .EA = E * area.A,
                                     .inertia_per_length = {rho * (area.Iy + area.Iz), rho * area.Iy, rho * area.Iz}};
    } else {
        p.mass_per_length = beam_profile_at(&beam->mass_per_length, s);
        p.EIy = beam_profile_at(&beam->EIy, s);
        p.EIz = beam_profile_at(&beam->EIz, s);
        p.GJ = beam_profile_at(&beam->GJ, s);
        p.EA = beam_profile_at(&beam->EA, s);
        for (int i = 0; i < 3; i++) p.inertia_per_length[i] = beam_profile_at(&beam->inertia_per_length[i], s);
    }
    p.added_mass_per_length = beam_profile_at(&beam->added_mass_per_length, s);
    return p;
}
