#include <math.h>

#include "robot/read.h"

/* ---- mode families ----------------------------------------------------------------------------------------------- */

enum kind { BENDING, ROD, KIND_COUNT }; /* of families: y and z, twist and axial */

static const struct {
    const char *key;
    enum kind kind;
    struct number_field stiffness; /* what the family's modes need; a profile */
} families[FAMILY_COUNT] = {
    [FAMILY_Y] = {"y", BENDING,
                  NUMBER(beam, EIz, OPTIONAL, NON_NEGATIVE, "bending stiffness along y", "N.m^2", GIVEN_EIZ)},
    [FAMILY_Z] = {"z", BENDING,
                  NUMBER(beam, EIy, OPTIONAL, NON_NEGATIVE, "bending stiffness along z", "N.m^2", GIVEN_EIY)},
    [FAMILY_TWIST] = {"twist", ROD, NUMBER(beam, GJ, OPTIONAL, NON_NEGATIVE, "torsional stiffness", "N.m^2", GIVEN_GJ)},
    [FAMILY_AXIAL] = {"axial", ROD, NUMBER(beam, EA, OPTIONAL, NON_NEGATIVE, "axial stiffness", "N", GIVEN_EA)},
};

static const struct {
    const char *name;
    struct {
        int least, most; /* valid counts; 0: the shape is not for this kind of family */
        int absent;      /* count if the file gives none; 0: it must                  */
        int format;      /* the first that has it                                     */
    } kind[KIND_COUNT];
} shapes[] = {
    [SHAPE_CLAMPED_FREE] = {"clamped-free", {{1, MOST_MODES, 0, 1}, {1, MOST_MODES, 0, 1}}},
    [SHAPE_CLAMPED_MASS] = {"clamped-mass", {[BENDING] = {1, MOST_MODES, 0, 1}}},
    [SHAPE_PINNED_PINNED] = {"pinned-pinned", {[BENDING] = {1, MOST_MODES, 0, 1}}},
    [SHAPE_HERMITE] = {"hermite", {[BENDING] = {2, 2, 2, 1}}},
    [SHAPE_POLYNOMIAL] = {"polynomial", {[BENDING] = {1, MOST_MODES, 0, 1}}},
    [SHAPE_CRAIG_BAMPTON] = {"craig-bampton", {[BENDING] = {2, MOST_MODES, 0, 1}, [ROD] = {1, MOST_MODES, 0, 2}}},
    [SHAPE_LINEAR] = {"linear", {[ROD] = {1, 1, 1, 1}}},
};
enum { SHAPE_COUNT = FIELD_COUNT(shapes) };

static const struct number_field tip_load[] = {
    NUMBER(mode_family, tip_mass, OPTIONAL, NON_NEGATIVE, "mass at the tip", "kg", 0),
    NUMBER(mode_family, tip_inertia, OPTIONAL, NON_NEGATIVE, "inertia at the tip", "kg.m^2", 0),
};

static void read_family(const struct json_path *at, enum kind kind, struct mode_family *family)
{
    struct object object;
    if (!path_open_object(&object, at, OPTIONAL, "mode family")) return;
    struct choice choice[SHAPE_COUNT]; /* the shapes of families of this kind */
    int shape[SHAPE_COUNT], legal = 0;
    for (int s = 0; s < SHAPE_COUNT; s++) {
        if (shapes[s].kind[kind].most == 0) continue;
        choice[legal] = (struct choice){shapes[s].name, shapes[s].kind[kind].format};
        shape[legal++] = s;
    }
    const int chosen = read_choice_of_format(MEMBER(&object, "shape"), "mode shape", legal, choice);
    const struct json_path count_at = path_member(&object, "count");
    if (chosen >= 0) {
        family->shape = (enum shape)shape[chosen];
        family->count = shapes[family->shape].kind[kind].absent;
        read_integer(&count_at, family->count > 0 ? OPTIONAL : REQUIRED, "number of modes",
                     shapes[family->shape].kind[kind].least, shapes[family->shape].kind[kind].most, &family->count);
    }
    for (int i = 0; i < FIELD_COUNT(tip_load) && chosen >= 0 && family->shape != SHAPE_CLAMPED_MASS; i++)
        path_reject(&object, tip_load[i].key, "only the shape \"clamped-mass\" has a load at the tip");
    read_fields(&object, FIELD_COUNT(tip_load), tip_load, family);
    path_close_object(&object);
}

/* ---- the numbers of the beam ------------------------------------------------------------------------------------- */

static const struct number_field length = NUMBER(beam, length, REQUIRED, POSITIVE, "length", "m", GIVEN_LENGTH);
static const struct number_field mass_per_length =
    NUMBER(beam, mass_per_length, REQUIRED, POSITIVE, "mass per length", "kg/m", GIVEN_MASS_PER_LENGTH);
static const struct number_field added_mass =
    NUMBER(beam, added_mass_per_length, OPTIONAL, NON_NEGATIVE, "added mass per length", "kg/m", GIVEN_ADDED_MASS);
static const struct number_field damping_ratio =
    NUMBER(beam, damping_ratio, OPTIONAL, NON_NEGATIVE, "damping ratio", "1", GIVEN_DAMPING_RATIO);
static const struct quantity inertia_per_length = {"inertia per length about x, y, z", "kg.m", NON_NEGATIVE};
static const struct quantity rayleigh = {"Rayleigh damping alpha, beta", "1/s, s", NON_NEGATIVE};

/* A number of the beam, or a table along x */
static void read_property(const struct json_path *at, const struct number_field *field, struct beam *beam)
{
    struct profile *profile = (struct profile *)(void *)((char *)beam + field->offset);
    const enum profile_kind kind = read_profile(at, field->need, &field->quantity, beam->length, profile);
    if (kind == IS_NUMBER) beam->given |= field->given;
    if (kind == IS_TABLE) beam->given |= TABLE_OF(field->given);
}

/* The numbers that follow from material and section if the file gives these; used[f]: the beam has family f. */
static void read_derived_numbers(struct object *object, const bool used[FAMILY_COUNT], struct beam *beam)
{
    read_property(MEMBER(object, mass_per_length.key), &mass_per_length, beam);
    for (int f = 0; f < FAMILY_COUNT; f++) {
        struct number_field stiffness = families[f].stiffness;
        if (used[f]) {
            stiffness.need = REQUIRED;
            stiffness.quantity.range = POSITIVE;
        }
        read_property(MEMBER(object, stiffness.key), &stiffness, beam);
    }

    /* the only inertia of twist is that of the sections about x: it must not be zero everywhere */
    const struct json_path at = path_member(object, "inertia_per_length");
    struct profile *J = beam->inertia_per_length;
    const enum profile_kind kind = read_profiles(&at, OPTIONAL, &inertia_per_length, beam->length, 3, J);
    double largest = J[0].n == 0 ? J[0].factor : 0;
    for (int i = 0; i < J[0].n; i++) largest = fmax(largest, J[0].value[i]);
    if (kind == IS_TABLE) beam->given |= TABLE_INERTIA_PER_LENGTH;
    if (used[FAMILY_TWIST] && (kind != NOT_GIVEN || !at.given) && !(largest > 0))
        path_error(&at, "twist modes need a positive inertia per length about x [kg.m]");
}

/* In format 2 a beam that bends has foreshortening unless the file says false; from format 3 on the file says what it has. */
static void read_stiffening(struct object *object, struct beam *beam)
{
    static const char *const names[] = {"none", "axial", NULL};
    const int format = object->at.reader->robot->format;
    const bool bends = beam->family[FAMILY_Y].count > 0 || beam->family[FAMILY_Z].count > 0;
    const struct json_path at = format_member(object, 3, "stiffening"), shear_at = format_member(object, 3, "shear");
    if (format < 3) {
        beam->foreshortening = format == 2 && bends;
        read_flag(MEMBER(object, "foreshortening"), "foreshortening", &beam->foreshortening);
        return;
    }
    path_reject(object, "foreshortening",
                "limber-robot/3 has \"stiffening\": \"none\" for false and \"axial\" for true");
    if (value_is_string(&at) && name_same(read_string(&at, REQUIRED, "stiffening"), "full"))
        path_error(&at, "\"full\" is not available yet: give \"none\" or \"axial\"");
    else beam->foreshortening = read_choice(&at, bends ? REQUIRED : OPTIONAL, "stiffening", names) == 1;
    bool shear = value_is_object(&shear_at);
    if (!shear_at.given && bends && beam->has_section)
        path_error(&shear_at, "a beam that bends, with material and section, must state \"shear\": false");
    else if (shear || (read_flag(&shear_at, "shear", &shear) && shear))
        path_error(&shear_at, "shear is not available yet: give false");
}

void read_beam(const struct json_path *at, struct beam *beam)
{
    static const char *const derived = "follows from material and section: give one or the other";
    struct object object, modes;
    if (!path_open_object(&object, at, OPTIONAL, "beam")) return;
    beam->given |= read_fields(&object, 1, &length, beam);

    bool used[FAMILY_COUNT] = {false}; /* by the file */
    const struct json_path modes_at = path_member(&object, "modes");
    if (path_open_object(&modes, &modes_at, REQUIRED, "modes ({} makes a rigid beam)")) {
        for (int f = 0; f < FAMILY_COUNT; f++) {
            const struct json_path family_at = path_member(&modes, families[f].key);
            used[f] = family_at.given;
            read_family(&family_at, families[f].kind, &beam->family[f]);
        }
        path_close_object(&modes);
    }

    if (path_member(&object, "material").given || path_member(&object, "section").given) {
        read_section(&object, beam);
        path_reject(&object, mass_per_length.key, derived);
        for (int f = 0; f < FAMILY_COUNT; f++) path_reject(&object, families[f].stiffness.key, derived);
        path_reject(&object, "inertia_per_length", derived);
    } else {
        read_derived_numbers(&object, used, beam);
    }

    read_stiffening(&object, beam);
    read_numbers(MEMBER(&object, "rayleigh"), OPTIONAL, &rayleigh, 2, beam->rayleigh);
    beam->given |= read_fields(&object, 1, &damping_ratio, beam);
    const struct json_path added_at = format_member(&object, 2, added_mass.key);
    if (added_at.given) read_property(&added_at, &added_mass, beam);
    path_close_object(&object);
}
