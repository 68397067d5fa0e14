#include "units.h"

#include <string.h>

const char *const base_unit_name[BASE_COUNT] = {"kg", "m", "s", "rad", "A"};

static const struct symbol {
    const char *name;
    int exponent[BASE_COUNT]; /* kg, m, s, rad, A */
} symbols[] = {{"1", {0}},
               {"kg", {1}},
               {"m", {0, 1}},
               {"s", {0, 0, 1}},
               {"rad", {0, 0, 0, 1}},
               {"N", {1, 1, -2}},
               {"J", {1, 2, -2}},
               {"W", {1, 2, -3}},
               {"Pa", {1, -1, -2}},
               {"A", {0, 0, 0, 0, 1}},
               {"V", {1, 2, -3, 0, -1}},
               {"Ohm", {1, 2, -3, 0, -2}},
               {"H", {1, 2, -2, 0, -2}}};

#define DEGREES_PER_RADIAN 57.295779513082323
const struct display_unit display_units[] = {{"rad", "deg", DEGREES_PER_RADIAN},
                                             {"rad/s", "deg/s", DEGREES_PER_RADIAN},
                                             {"m", "mm", 1000},
                                             {"Pa", "bar", 1e-5},
                                             {"m3/s", "l/min", 60000}};
const int display_unit_count = sizeof display_units / sizeof display_units[0];

static const struct symbol *find_symbol(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (strlen(symbols[i].name) == length && memcmp(symbols[i].name, name, length) == 0) return &symbols[i];
    return NULL;
}

bool unit_exponents(const char *unit, int exponent[BASE_COUNT])
{
    memset(exponent, 0, BASE_COUNT * sizeof *exponent);
    int sign = 1;
    bool divided = false, inside = false;
    for (const char *at = unit;; at++) {
        if (*at == '(' && sign < 0 && !inside) inside = true, at++;
        const size_t letters = *at == '1' ? 1 : strcspn(at, "./()0123456789");
        const struct symbol *symbol = find_symbol(at, letters);
        if (symbol == NULL) return false;
        at += letters;
        const int power = *at >= '0' && *at <= '9' ? *at++ - '0' : 1;
        for (int b = 0; b < BASE_COUNT; b++) exponent[b] += sign * power * symbol->exponent[b];
        if (*at == ')' && inside) return at[1] == '\0';
        if (*at == '\0') return !inside;
        if (*at != '.' && (*at != '/' || divided)) return false;
        divided = divided || *at == '/';
        sign = inside || *at == '/' ? -1 : 1;
    }
}
