/* A straight beam as its file describes it, and its properties at every x. */
#ifndef ROBOT_BEAM_H
#define ROBOT_BEAM_H

#include <stdbool.h>

/* Mode families of a beam, in the order of its elastic coordinates. */
enum family { FAMILY_Y, FAMILY_Z, FAMILY_TWIST, FAMILY_AXIAL, FAMILY_COUNT };

enum shape {
    SHAPE_CLAMPED_FREE, /* bending: eigenfunctions; twist, axial: sin((2k-1) pi x / 2L) */
    SHAPE_CLAMPED_MASS,
    SHAPE_PINNED_PINNED,
    SHAPE_HERMITE,
    SHAPE_POLYNOMIAL,
    SHAPE_CRAIG_BAMPTON,
    SHAPE_LINEAR
};

struct mode_family {
    enum shape shape;
    int count;          /* 0: the family is absent */
    double tip_mass;    /* clamped-mass only [kg]      */
    double tip_inertia; /* clamped-mass only [kg m^2]  */
};

/* A quantity along the beam, as a function of s = x/L: the factor alone, or the factor times a table that is linear between its
   stations. Stations are at fractions of the length: if the length changes, they move. */
struct profile {
    double factor;
    int n;               /* stations; 0: constant                */
    const double *s;     /* n, strictly ascending from 0 to 1    */
    const double *value; /* n                                    */
};

struct material {
    double E, G;    /* [Pa]     */
    double density; /* [kg/m^3] */
};

enum section_shape { SECTION_TUBE, SECTION_ROUND, SECTION_RECTANGLE, SECTION_BOX };

/* A cross section whose dimensions may vary along the beam; dimensions that the shape does not have are zero. */
struct cross_section {
    enum section_shape shape;
    double scale;                  /* of all dimensions                    */
    struct profile outer_diameter; /* tube                             [m] */
    struct profile diameter;       /* round                            [m] */
    struct profile width, height;  /* rectangle, box: along y, along z [m] */
    struct profile wall;           /* tube, box                        [m] */
};

/* Which optional numbers and tables the file gives (they become parameters of the FMU). */
enum beam_given {
    GIVEN_EIY = 1 << 0,
    GIVEN_EIZ = 1 << 1,
    GIVEN_GJ = 1 << 2,
    GIVEN_EA = 1 << 3,
    GIVEN_DAMPING_RATIO = 1 << 4,
    GIVEN_LENGTH = 1 << 5,
    GIVEN_MASS_PER_LENGTH = 1 << 6,
    GIVEN_ADDED_MASS = 1 << 7,
    TABLE_EIY = 1 << 8,
    TABLE_EIZ = 1 << 9,
    TABLE_GJ = 1 << 10,
    TABLE_EA = 1 << 11,
    TABLE_INERTIA_PER_LENGTH = 1 << 12,
    TABLE_MASS_PER_LENGTH = 1 << 14,
    TABLE_ADDED_MASS = 1 << 15,
    GIVEN_MATERIAL = 1 << 16,
    GIVEN_OUTER_DIAMETER = 1 << 17,
    GIVEN_DIAMETER = 1 << 18,
    GIVEN_WIDTH = 1 << 19,
    GIVEN_HEIGHT = 1 << 20,
    GIVEN_WALL = 1 << 21,
    TABLE_SECTION = 1 << 22
};
/* The flag of a table, from the flag of the number that it replaces. */
#define TABLE_OF(given) ((given) << 8)

struct beam {
    double length; /* [m] */
    /* material and section, or the numbers that follow from them */
    bool has_section;
    struct material material;
    struct cross_section section;
    struct profile mass_per_length;       /* [kg/m]                     */
    struct profile EIy, EIz, GJ;          /* [N m^2]: EIz bends along y */
    struct profile EA;                    /* [N]                        */
    struct profile inertia_per_length[3]; /* [kg m]                     */

    struct profile added_mass_per_length; /* moves with the axis; no stiffness, rotary inertia, damping [kg/m] */
    struct mode_family family[FAMILY_COUNT];
    bool foreshortening;
    double damping_ratio;
    double rayleigh[2]; /* alpha [1/s], beta [s] */
    unsigned given;     /* enum beam_given */
};

/* Properties of a beam at one x. */
struct beam_properties {
    double mass_per_length;       /* without added mass [kg/m]  */
    double added_mass_per_length; /* [kg/m]                     */
    double EIy, EIz, GJ;          /* [N m^2]                    */
    double EA;                    /* [N]                        */
    double inertia_per_length[3]; /* [kg m]                     */
};

double beam_profile_at(const struct profile *profile, double s);

/* Every profile of a beam, those of its section included. */
enum { BEAM_PROFILES = 14 };
void beam_profiles(const struct beam *beam, const struct profile *list[BEAM_PROFILES]);

/* The properties at x = s L, s from 0 to 1. */
struct beam_properties beam_at(const struct beam *beam, double s);

/* The family of elastic coordinate k of a beam; k becomes its number in the family, from 0. */
enum family beam_family(const struct beam *beam, int *k);

/* Total number of stations of all tables. The stations of all tables, with 0 and 1, ascending, without repetitions; returns their number,
   at most that total + 2. */
int beam_station_count(const struct beam *beam);
int beam_stations(const struct beam *beam, double *s);

/* Whether properties are close to polynomials of moderate degree in x on [s0, s1]: no dimension of the section changes by more than a
   factor of two. (The torsion constants of boxes and rectangles are not polynomials of the dimensions.) */
bool beam_is_smooth(const struct beam *beam, double s0, double s1);

/* The first station s at which the wall fills the section, and the smallest outer dimension there; -1: none. */
double beam_section_without_hollow(const struct cross_section *section, double *outer);

#endif
