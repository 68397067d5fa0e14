/* A beam's stiffness and mass from its material and the shape of its section. */
#include <math.h>

#include "robot/read.h"

static const double PI = 3.14159265358979323846;

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

struct dimensions {
    double outer_diameter, diameter, width, height, wall; /* [m]; width along y, height along z */
};

struct area {
    double A;      /* int dA                                     [m^2] */
    double Iy, Iz; /* int z^2 dA (bending along z), int y^2 dA (along y)  [m^4] */
    double J;      /* torsion constant                           [m^4] */
};

static struct area ring(double outer, double inner)
{
    const double I = PI / 64 * (pow(outer, 4) - pow(inner, 4));
    return (struct area){PI / 4 * (outer * outer - inner * inner), I, I, 2 * I};
}

static struct area tube(const struct dimensions *d)
{
    return ring(d->outer_diameter, d->outer_diameter - 2 * d->wall);
}

static struct area round_bar(const struct dimensions *d)
{
    return ring(d->diameter, 0);
}

/* Saint-Venant's torsion of a rectangle with sides a >= b (Timoshenko and Goodier, 109):
   J = a b^3 (1/3 - 64 b/(pi^5 a) S),   S = sum over odd n of tanh(n pi a / 2b) / n^5
   With sum 1/n^5 = 31/32 zeta(5) taken out, what is left of S falls like exp(-n pi a/b): a dozen terms are exact. */
static double torsion_of_rectangle(double side_1, double side_2)
{
    const double a = fmax(side_1, side_2), b = fmin(side_1, side_2), zeta_5 = 1.03692775514336992633;
    double S = 31.0 / 32 * zeta_5;
    for (int n = 1; n < 25; n += 2) S -= 2 / (1 + exp(n * PI * a / b)) / pow(n, 5); /* 1 - tanh x = 2/(1 + exp 2x) */
    return a * pow(b, 3) * (1.0 / 3 - 64 * b / (pow(PI, 5) * a) * S);
}

static struct area rectangle(const struct dimensions *d)
{
    const double y = d->width, z = d->height;
    return (struct area){y * z, y * pow(z, 3) / 12, z * pow(y, 3) / 12, torsion_of_rectangle(y, z)};
}

/* Torsion of a closed thin wall by Bredt:  J = 4 Am^2 t / s,  Am and s the area within the wall's middle line and its length */
static struct area box(const struct dimensions *d)
{
    const double y = d->width, z = d->height, t = d->wall, yi = y - 2 * t, zi = z - 2 * t;
    const double ym = y - t, zm = z - t;
    return (struct area){y * z - yi * zi, (y * pow(z, 3) - yi * pow(zi, 3)) / 12,
                         (z * pow(y, 3) - zi * pow(yi, 3)) / 12, 4 * pow(ym * zm, 2) * t / (2 * (ym + zm))};
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static const struct number_field outer_diameter =
    NUMBER(dimensions, outer_diameter, REQUIRED, POSITIVE, "outer diameter", "m", 0);
static const struct number_field diameter = NUMBER(dimensions, diameter, REQUIRED, POSITIVE, "diameter", "m", 0);
static const struct number_field width = NUMBER(dimensions, width, REQUIRED, POSITIVE, "width along y", "m", 0);
static const struct number_field height = NUMBER(dimensions, height, REQUIRED, POSITIVE, "height along z", "m", 0);
static const struct number_field wall = NUMBER(dimensions, wall, REQUIRED, POSITIVE, "wall thickness", "m", 0);

enum { MOST_DIMENSIONS = 3 };

static const struct {
    const char *name;
    const struct number_field *dimension[MOST_DIMENSIONS];
    struct area (*area)(const struct dimensions *);
} sections[] = {
    {"tube", {&outer_diameter, &wall}, tube},
    {"round", {&diameter}, round_bar},
    {"rectangle", {&width, &height}, rectangle},
    {"box", {&width, &height, &wall}, box},
};
enum { SECTION_COUNT = FIELD_COUNT(sections) };

struct material {
    double E, G, poisson, density; /* [Pa], [Pa], [1], [kg/m^3] */
};
enum { HAS_POISSON = 1 };

static const struct number_field material_numbers[] = {
    NUMBER(material, E, REQUIRED, POSITIVE, "Young's modulus", "Pa", 0),
    NUMBER(material, density, REQUIRED, POSITIVE, "density", "kg/m^3", 0),
    NUMBER(material, G, OPTIONAL, POSITIVE, "shear modulus", "Pa", 0),
    NUMBER(material, poisson, OPTIONAL, ANY, "Poisson's ratio", "1", HAS_POISSON),
};

/* The section must be hollow: twice the wall thickness is less than every outer dimension. */
static void check_wall(struct object *section, const struct dimensions *d)
{
    const struct place at = member(section, wall.key);
    const double across = d->outer_diameter > 0 ? d->outer_diameter : fmin(d->width, d->height);
    if (across > 0 && !(2 * d->wall < across))
        report_error(&at, "wall thickness must be less than half of %g m", across);
}

static int read_shape(struct object *section)
{
    const char *names[SECTION_COUNT + 1] = {NULL};
    for (int s = 0; s < SECTION_COUNT; s++) names[s] = sections[s].name;
    const struct place at = member(section, "shape");
    return read_choice(&at, REQUIRED, "shape of the section", names);
}

static void read_area(const struct place *at, struct area *area)
{
    struct object section;
    if (!object_open(&section, at, REQUIRED, "section (beside material)")) return;
    if (has_key(&section, "x")) {
        refuse_unsupported(at, "a table of sections along x", "give one section");
        return;
    }
    const int shape = read_shape(&section);
    if (shape < 0) return; /* valid dimensions depend on it            */

    struct dimensions d = {0};
    for (int i = 0; i < MOST_DIMENSIONS && sections[shape].dimension[i] != NULL; i++) {
        read_fields(&section, 1, sections[shape].dimension[i], &d);
    }
    if (d.wall > 0) check_wall(&section, &d);
    *area = sections[shape].area(&d);
    object_close(&section);
}

static void read_material(const struct place *at, struct material *material)
{
    struct object object;
    if (!object_open(&object, at, REQUIRED, "material (beside section)")) return;
    const unsigned given = read_fields(&object, FIELD_COUNT(material_numbers), material_numbers, material);
    const struct place G_at = member(&object, "G"), poisson_at = member(&object, "poisson");
    const double nu = material->poisson;

    if (G_at.given == poisson_at.given) report_error(at, "material must have exactly one of G and poisson");
    if ((given & HAS_POISSON) && !(nu > -1 && nu <= 0.5))
        report_error(&poisson_at, "Poisson's ratio must be above -1 and at most 0.5 [1]");
    if (given & HAS_POISSON) material->G = material->E / (2 * (1 + nu));
    object_close(&object);
}

void read_section(struct object *beam_object, struct beam *beam)
{
    const struct place material_at = member(beam_object, "material"), section_at = member(beam_object, "section");
    struct material material = {0};
    struct area area = {0};
    read_material(&material_at, &material);
    read_area(&section_at, &area);

    const double rho = material.density;
    beam->E = material.E;
    beam->density = rho;
    beam->mass_per_length = rho * area.A;
    beam->EIy = material.E * area.Iy;
    beam->EIz = material.E * area.Iz;
    beam->GJ = material.G * area.J;
    beam->EA = material.E * area.A;
    beam->inertia_per_length[0] = rho * (area.Iy + area.Iz);
    beam->inertia_per_length[1] = rho * area.Iy;
    beam->inertia_per_length[2] = rho * area.Iz;
    const double derived[] = {beam->mass_per_length,      beam->EIy, beam->EIz, beam->GJ, beam->EA,
                              beam->inertia_per_length[0]};
    for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++)
        if (!isfinite(derived[i])) {
            report_error(&section_at, "with this material the beam's stiffness or mass overflows: check units");
            break;
        }
}
