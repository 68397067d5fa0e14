#include "instance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "robot/nearest.h"

/* ---- names --------------------------------------------------------------------------------------------------------------- */

/* Of n names: one that continues `name` as in j.viscous[1], boom.EIz_scale; otherwise the most similar one, of the same link or joint if
   that has any; NULL: none. Reorders `known`. */
static const char *meant_by(const char *name, int n, const char **known)
{
    const size_t length = strlen(name), part = strcspn(name, ".");
    int own = 0;
    for (int i = 0; i < n; i++) {
        const char *one = known[i];
        if (strcspn(one, ".") != part || strncmp(one, name, part) != 0) continue;
        if (strncmp(one, name, length) == 0 && one[length] != '\0' && strchr("._[", one[length]) != NULL) return one;
        known[i] = known[own];
        known[own++] = one;
    }
    return nearest(name, own > 0 ? own : n, known);
}

int cli_find_variable(const char *place, const struct variables *variables, enum causality causality, const char *name,
                      struct arena *arena)
{
    const int row = variables_find(variables, name);
    if (row >= 0 && variables->row[row].causality == causality) return row;

    const char **known = arena_allocate(arena, (size_t)variables->n, sizeof *known);
    int n = 0;
    for (int r = 0; known != NULL && r < variables->n; r++)
        if (variables->row[r].causality == causality) known[n++] = variables->row[r].name;
    const char *meant = known != NULL ? meant_by(name, n, known) : NULL;
    fprintf(stderr, "limber: %s: %s: no such %s of this robot", place, name,
            causality == CAUSALITY_INPUT ? "input" : "parameter");
    if (meant != NULL) fprintf(stderr, ", did you mean \"%s\"?", meant);
    fprintf(stderr, "\n");
    return -1;
}

/* ---- parameters ---------------------------------------------------------------------------------------------------------- */

int cli_settings_split(const struct common *options, int i, const char **name, double *value)
{
    char *own = arena_string(options->arena, options->set.text[i]), *end;
    if (own == NULL) return cli_no_memory(options->command);
    char *text = strchr(own, '=');
    *text++ = '\0';
    *name = own;
    *value = strcmp(text, "true") == 0;
    if (*value != 0 || strcmp(text, "false") == 0) return EXIT_OK;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*value)) return EXIT_OK;
    fprintf(stderr, "limber: %s: --set %s: '%s' is not a finite number\n", options->command, own, text);
    return EXIT_INPUT;
}

int cli_settings_apply(const struct common *options, struct instance *sim)
{
    const struct variables *v = instance_variables(sim);
    for (int i = 0; i < options->set.n; i++) {
        const char *name;
        double value;
        const int code = cli_settings_split(options, i, &name, &value);
        if (code != EXIT_OK) return code;
        char place[64];
        snprintf(place, sizeof place, "%s: --set", options->command);
        const int row = cli_find_variable(place, v, CAUSALITY_PARAMETER, name, options->arena);
        if (row < 0) return EXIT_INPUT;
        instance_set(sim, v->row[row].reference, value);
    }
    return EXIT_OK;
}

/* ---- tables -------------------------------------------------------------------------------------------------------------- */

int cli_columns_choose(const struct common *options, const struct instance *sim, struct columns *columns)
{
    const struct variables *v = instance_variables(sim);
    columns->reference = arena_allocate(options->arena, (size_t)v->n_values, sizeof(int));
    columns->row = arena_allocate(options->arena, (size_t)v->n_values, sizeof(double));
    if (options->arena->failed) return cli_no_memory(options->command);
    for (int causality = CAUSALITY_OUTPUT; causality <= CAUSALITY_LOCAL; causality++)
        for (int r = 0; r < v->n_values; r++)
            if ((int)v->by_reference[r]->causality == causality) columns->reference[columns->n++] = r;
    return EXIT_OK;
}

void cli_columns_write_names(const struct columns *columns, const struct instance *sim, struct table *table)
{
    table_name(table, "time");
    for (int c = 0; c < columns->n; c++)
        table_name(table, instance_variables(sim)->by_reference[columns->reference[c]]->name);
}

void cli_columns_write_row(const struct columns *columns, struct instance *sim, double t, struct table *table)
{
    for (int c = 0; c < columns->n; c++) columns->row[c] = instance_get(sim, columns->reference[c]);
    table_row(table, t, columns->row, columns->n);
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

void cli_show_progress(double t, double end)
{
    if (!isatty(STDERR_FILENO)) return;
    if (t < end) fprintf(stderr, "\r%.3g of %.3g s", t, end);
    else fputs("\r                              \r", stderr);
}
