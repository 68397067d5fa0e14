/* Units as products of base units, and display units. */
#ifndef UNITS_H
#define UNITS_H

#include <stdbool.h>

enum base_unit { BASE_KG, BASE_M, BASE_S, BASE_RAD, BASE_A, BASE_COUNT };
extern const char *const base_unit_name[BASE_COUNT];

/* Exponents of a unit such as "N.m.s/rad": symbols followed by an exponent, multiplied by '.', divided by '/', once at most,
   which applies to the next symbol, or to those in parentheses: "m3/(s.Pa)". False if it is not such a unit. */
bool unit_exponents(const char *unit, int exponent[BASE_COUNT]);

/* The value in `name` is factor times the value in `unit`. */
struct display_unit {
    const char *unit, *name;
    double factor;
};
extern const struct display_unit display_units[];
extern const int display_unit_count;

#endif
