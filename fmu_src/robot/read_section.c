/* Material and cross section of a beam, one section or a table of sections along x. */
#include <math.h>
#include <string.h>

#include "robot/read.h"

/* ---- sections ---------------------------------------------------------------------------------------------------- */

static const struct number_field outer_diameter =
    NUMBER(cross_section, outer_diameter, REQUIRED, POSITIVE, "outer diameter", "m", GIVEN_OUTER_DIAMETER);
static const struct number_field diameter =
    NUMBER(cross_section, diameter, REQUIRED, POSITIVE, "diameter", "m", GIVEN_DIAMETER);
static const struct number_field width =
    NUMBER(cross_section, width, REQUIRED, POSITIVE, "width along y", "m", GIVEN_WIDTH);
static const struct number_field height =
    NUMBER(cross_section, height, REQUIRED, POSITIVE, "height along z", "m", GIVEN_HEIGHT);
static const struct number_field wall =
    NUMBER(cross_section, wall, REQUIRED, POSITIVE, "wall thickness", "m", GIVEN_WALL);

enum { MOST_DIMENSIONS = 3 };

static const struct {
    const char *name;
    const struct number_field *dimension[MOST_DIMENSIONS];
} shapes[] = {
    [SECTION_TUBE] = {"tube", {&outer_diameter, &wall}},
    [SECTION_ROUND] = {"round", {&diameter}},
    [SECTION_RECTANGLE] = {"rectangle", {&width, &height}},
    [SECTION_BOX] = {"box", {&width, &height, &wall}},
};
enum { SHAPE_COUNT = FIELD_COUNT(shapes) };

static struct profile *profile_of(struct cross_section *section, const struct number_field *dimension)
{
    return (struct profile *)(void *)((char *)section + dimension->offset);
}

/* One section, with constant dimensions; returns their flags. The shape is -1 if it is not valid. */
static unsigned read_one(const struct json_path *at, struct cross_section *section, int *shape)
{
    struct object object;
    unsigned given = 0;
    *shape = -1;
    if (!path_open_object(&object, at, REQUIRED, "section (beside material)")) return 0;
    const char *names[SHAPE_COUNT + 1] = {NULL};
    for (int s = 0; s < SHAPE_COUNT; s++) names[s] = shapes[s].name;
    *shape = read_choice(MEMBER(&object, "shape"), REQUIRED, "shape of the section", names);
    if (*shape < 0) return 0; /* valid dimensions depend on it */
    *section = (struct cross_section){.shape = (enum section_shape) * shape, .scale = 1};
    for (int i = 0; i < MOST_DIMENSIONS && shapes[*shape].dimension[i] != NULL; i++)
        given |= read_fields(&object, 1, shapes[*shape].dimension[i], section); /* the factor is the first member */

    /* twice the wall thickness must be less than every outer dimension */
    double outer;
    if (beam_section_without_hollow(section, &outer) >= 0 && section->wall.factor > 0 && outer > 0)
        path_error(MEMBER(&object, wall.key), "wall thickness must be less than half of %g m", outer);
    path_close_object(&object);
    return given;
}

/* {"x": [...], "section": [...]}: sections of one shape at the stations x, as profiles of their dimensions */
static void read_section_table(struct object *table, double length, struct cross_section *section)
{
    int n, count, first, shape;
    const double *s;
    if (format_reject(&table->at, 2, "a table of sections along x")) return;
    const struct json_path x_at = path_member(table, "x"), at = path_member(table, "section");
    path_close_object(table);
    if (!read_stations(&x_at, length, &n, &s)) return;
    if (!path_open_array(&at, REQUIRED, n, n, "sections, one for each station x,", &count)) return;
    double *value = read_allocate(&at, n * MOST_DIMENSIONS);
    for (int i = 0; i < n && value != NULL; i++) {
        const struct json_path one_at = path_item(&at, i);
        struct cross_section one = {0};
        read_one(&one_at, &one, &shape);
        if (i == 0) {
            first = shape;
            *section = one;
        }
        if (shape >= 0 && first >= 0 && shape != first) {
            path_error(&one_at, "all sections of a table must have one shape: the first is a %s", shapes[first].name);
            continue;
        }
        for (int k = 0; shape >= 0 && k < MOST_DIMENSIONS && shapes[shape].dimension[k] != NULL; k++) {
            value[n * k + i] = profile_of(&one, shapes[shape].dimension[k])->factor;
            *profile_of(section, shapes[shape].dimension[k]) = (struct profile){1, n, s, value + n * k};
        }
    }
}

/* ---- material ---------------------------------------------------------------------------------------------------- */

static const struct number_field material_numbers[] = {
    NUMBER(material, E, REQUIRED, POSITIVE, "Young's modulus", "Pa", 0),
    NUMBER(material, density, REQUIRED, POSITIVE, "density", "kg/m^3", 0),
    NUMBER(material, G, OPTIONAL, POSITIVE, "shear modulus", "Pa", 0),
};
static const struct quantity poisson = {"Poisson's ratio", "1", ANY};

static void read_material(const struct json_path *at, struct material *material)
{
    struct object object;
    if (!path_open_object(&object, at, REQUIRED, "material (beside section)")) return;
    read_fields(&object, FIELD_COUNT(material_numbers), material_numbers, material);
    const struct json_path G_at = path_member(&object, "G"), poisson_at = path_member(&object, "poisson");
    double nu;
    const bool has_poisson = read_number(&poisson_at, OPTIONAL, &poisson, &nu);

    if (G_at.given == poisson_at.given) path_error(at, "material must have exactly one of G and poisson");
    if (has_poisson && !(nu > -1 && nu <= 0.5))
        path_error(&poisson_at, "Poisson's ratio must be above -1 and at most 0.5 [1]");
    if (has_poisson) material->G = material->E / (2 * (1 + nu));
    path_close_object(&object);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

static bool overflows(const struct beam *beam, double s)
{
    const struct beam_properties p = beam_at(beam, s);
    return !isfinite(p.mass_per_length) || !isfinite(p.EIy) || !isfinite(p.EIz) || !isfinite(p.GJ) || !isfinite(p.EA) ||
           !isfinite(p.inertia_per_length[0]);
}

void read_section(struct object *beam_object, struct beam *beam)
{
    const struct json_path material_at = path_member(beam_object, "material"),
                           section_at = path_member(beam_object, "section");
    const int errors = section_at.reader->report->errors;
    struct object section;
    int shape;
    beam->has_section = true;
    read_material(&material_at, &beam->material);
    beam->given |= GIVEN_MATERIAL;
    if (value_is_object(&section_at) && path_open_object(&section, &section_at, REQUIRED, "section") &&
        path_has_key(&section, "x")) {
        beam->given |= TABLE_SECTION;
        read_section_table(&section, beam->length, &beam->section);
    } else {
        beam->given |= read_one(&section_at, &beam->section, &shape);
    }
    if (section_at.reader->report->errors > errors) return;
    const struct profile *dimension = profile_of(&beam->section, shapes[beam->section.shape].dimension[0]);
    bool overflow = overflows(beam, 0);
    for (int i = 0; i < dimension->n; i++) overflow = overflow || overflows(beam, dimension->s[i]);
    if (overflow) path_error(&section_at, "with this material the beam's stiffness or mass overflows: check units");
}
