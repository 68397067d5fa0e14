#include "instance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* ---- parameters ---------------------------------------------------------------------------------------------------------- */

int settings_add(const char *command, const char *text, struct settings *settings)
{
    if (strchr(text, '=') == NULL) return cli_usage(command, "--set takes NAME=VALUE, not '%s'", text);
    if (settings->n == MOST_SETTINGS)
        return cli_usage(command, "--set %s: more than %d settings", text, (int)MOST_SETTINGS);
    settings->text[settings->n++] = text;
    return EXIT_FINE;
}

static bool read_value(const char *text, double *value)
{
    char *end;
    *value = strcmp(text, "true") == 0;
    if (*value != 0 || strcmp(text, "false") == 0) return true;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

int settings_split(const char *command, const struct settings *settings, int i, struct arena *arena, const char **name,
                   double *value)
{
    char *own = arena_string(arena, settings->text[i]);
    if (own == NULL) return EXIT_COMPUTATION;
    char *text = strchr(own, '=');
    *text++ = '\0';
    *name = own;
    if (read_value(text, value)) return EXIT_FINE;
    fprintf(stderr, "limber: %s: --set %s: '%s' is not a finite number\n", command, own, text);
    return EXIT_INPUT;
}

int settings_apply(const char *command, const struct settings *settings, struct instance *sim, struct arena *arena)
{
    const struct variables *v = instance_variables(sim);
    for (int i = 0; i < settings->n; i++) {
        const char *name;
        double value;
        const int code = settings_split(command, settings, i, arena, &name, &value);
        if (code != EXIT_FINE) return code;
        const int row = variables_find(v, name);
        if (row < 0 || v->row[row].causality != CAUSALITY_PARAMETER) {
            fprintf(stderr, "limber: %s: --set: %s: no such parameter of this robot\n", command, name);
            return EXIT_INPUT;
        }
        instance_set(sim, v->row[row].reference, value);
    }
    return EXIT_FINE;
}

/* ---- tables -------------------------------------------------------------------------------------------------------------- */

int columns_choose(const struct instance *sim, struct arena *arena, struct columns *columns)
{
    const struct variables *v = instance_variables(sim);
    columns->reference = arena_take(arena, (size_t)v->n_values, sizeof(int));
    columns->row = arena_take(arena, (size_t)v->n_values, sizeof(double));
    if (arena->failed) return EXIT_COMPUTATION;
    for (int causality = CAUSALITY_OUTPUT; causality <= CAUSALITY_LOCAL; causality++)
        for (int r = 0; r < v->n_values; r++)
            if ((int)v->by_reference[r]->causality == causality) columns->reference[columns->n++] = r;
    return EXIT_FINE;
}

void columns_write_names(const struct columns *columns, const struct instance *sim, struct table *table)
{
    table_name(table, "time");
    for (int c = 0; c < columns->n; c++)
        table_name(table, instance_variables(sim)->by_reference[columns->reference[c]]->name);
}

void columns_write_row(const struct columns *columns, struct instance *sim, double t, struct table *table)
{
    for (int c = 0; c < columns->n; c++) columns->row[c] = instance_get(sim, columns->reference[c]);
    table_row(table, t, columns->row, columns->n);
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

void show_progress(double t, double end)
{
    if (!isatty(STDERR_FILENO)) return;
    if (t < end) fprintf(stderr, "\r%.3g of %.3g s", t, end);
    else fputs("\r                              \r", stderr);
}
