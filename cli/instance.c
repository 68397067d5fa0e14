#include "instance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void cli_table_name(struct table *table, const char *name)
{
    const bool first = table->n_names++ == 0;
    if (table->json) fprintf(table->stream, "%s\"%s\"", first ? "{\"columns\": [" : ", ", name);
    else fprintf(table->stream, "%s%s", first ? "" : ",", name);
}

void cli_table_row(struct table *table, double first, const double *number, int count)
{
    const bool begins = table->n_rows++ == 0; /* the first row ends the line of names */
    if (table->json) fputs(begins ? "],\n\"rows\": [\n[" : ",\n[", table->stream);
    else if (begins) fputc('\n', table->stream);
    fprintf(table->stream, "%.17g", first);
    for (int i = 0; i < count; i++) fprintf(table->stream, "%s%.17g", table->json ? ", " : ",", number[i]);
    fputc(table->json ? ']' : '\n', table->stream);
}

void cli_table_end(const struct table *table)
{
    if (table->json) fputs(table->n_rows > 0 ? "\n]}\n" : "],\n\"rows\": []}\n", table->stream);
    else if (table->n_rows == 0) fputc('\n', table->stream);
}

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
    cli_table_name(table, "time");
    for (int c = 0; c < columns->n; c++)
        cli_table_name(table, instance_variables(sim)->by_reference[columns->reference[c]]->name);
}

void cli_columns_write_row(const struct columns *columns, struct instance *sim, double t, struct table *table)
{
    for (int c = 0; c < columns->n; c++) columns->row[c] = instance_get(sim, columns->reference[c]);
    cli_table_row(table, t, columns->row, columns->n);
}

/* ---- what an equilibrium holds ------------------------------------------------------------------------------------------- */

struct list {
    const char *option, *names;
    const char *other_names, *contradiction; /* a name must not be in both */
    bool lines;
    enum hold hold;
};

static bool is_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

/* Holds or frees the joint or line of one name. Returns what is wrong with the name; NULL: nothing */
static const char *apply_name(const struct list *list, const char *name, size_t length, struct instance *sim)
{
    struct robot *robot = sim_robot(sim);
    bool found = false;
    if (length == 0) return "a name is missing before or after a comma";
    for (const char *other = list->other_names; other != NULL;) {
        const size_t size = strcspn(other, ",");
        if (size == length && memcmp(other, name, length) == 0) return list->contradiction;
        other = other[size] == ',' ? other + size + 1 : NULL;
    }
    for (int i = 0; !list->lines && i < robot->n_links; i++) {
        struct joint *joint = &robot->link[i].joint;
        if (!is_name(joint->name, name, length) || !joint_moves(joint)) continue;
        if (joint->prescribed && list->hold == HOLD_FREE) return "a prescribed joint keeps its position";
        joint->hold = list->hold;
        found = true;
    }
    for (int a = 0; list->lines && a < robot->n_lines; a++) {
        if (!is_name(robot->line[a].name, name, length)) continue;
        if (robot_line_is_spring(robot, a))
            return "the force of a spring follows from its length: it is neither held nor given";
        robot->line[a].hold = list->hold;
        found = true;
    }
    if (found) return NULL;
    return list->lines ? "the robot has no actuator of this name"
                       : "the robot has no joint that moves and has this name";
}

int cli_holding_apply(const struct common *options, struct instance *sim)
{
    const struct holding *h = &options->holding;
    const struct list lists[] = {
        {"--hold", h->hold, h->free, "it is in --free too", false, HOLD_HELD},
        {"--free", h->free, h->hold, "it is in --hold too", false, HOLD_FREE},
        {"--hold-actuators", h->hold_lines, h->free_lines, "it is in --free-actuators too", true, HOLD_HELD},
        {"--free-actuators", h->free_lines, h->hold_lines, "it is in --hold-actuators too", true, HOLD_FREE}};
    for (const struct list *list = lists; list < lists + sizeof lists / sizeof *lists; list++)
        for (const char *name = list->names; name != NULL;) {
            const size_t length = strcspn(name, ",");
            const char *wrong = apply_name(list, name, length, sim);
            if (wrong != NULL) {
                fprintf(stderr, "limber: %s: %s %s: '%.*s': %s\n", options->command, list->option, list->names,
                        (int)length, name, wrong);
                return EXIT_INPUT;
            }
            name = name[length] == ',' ? name + length + 1 : NULL;
        }
    return EXIT_OK;
}
