#include "generate/drives.h"

#include <string.h>

#include "analysis/random_state.h"

/* ---- lists of values --------------------------------------------------------------------------------------------- */

enum list { MOTIONS, EFFORTS, INPUTS, STATES, RATES };

/* Numbers, among all values of the drives, of what a list has, at most MOST_VALUES of each drive */
static int list_drive(const struct robot_drive *rd, enum list list, int index[MOST_VALUES])
{
    const struct drive *drive = rd->drive;
    int n = 0, states = 0;
    if (list == MOTIONS) {
        index[n++] = rd->first + drive->position;
        index[n++] = rd->first + drive->rate;
    }
    if (list == EFFORTS) index[n++] = rd->first + drive->effort;
    for (int r = 0; r < drive->n_rows; r++) {
        const bool state = drive_is_state(&drive->row[r]);
        if (list == STATES ? state : list == INPUTS && drive->row[r].role == INPUT && robot_drive_input(rd, r))
            index[n++] = rd->first + r;
        if (list == RATES && state) index[n++] = rd->first + drive->n_rows + states++;
    }
    return n;
}

int drives_count_inputs(const struct robot *robot)
{
    int n = 0, index[MOST_VALUES];
    for (int d = 0; d < robot->n_drives; d++) n += list_drive(&robot->drive[d], INPUTS, index);
    return n;
}

void drives_set(const struct robot *robot, const double *input, const double *state, double *values)
{
    int index[MOST_VALUES];
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        robot_drive_values(robot, rd, values + rd->first);
        for (int i = 0, n = list_drive(rd, INPUTS, index); i < n; i++) values[index[i]] = *input++;
        for (int i = 0, n = list_drive(rd, STATES, index); i < n; i++) values[index[i]] = *state++;
    }
}

void drives_random(const struct robot *robot, uint64_t *seed, double *input, double *state)
{
    int index[MOST_VALUES];
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        double v[MOST_VALUES];
        robot_drive_values(robot, rd, v);
        rd->drive->start(v);
        for (int i = 0, n = list_drive(rd, INPUTS, index); i < n; i++) *input++ = 0.5 * random_unit(seed);
        for (int i = 0, n = list_drive(rd, STATES, index); i < n; i++) {
            const int r = index[i] - rd->first;
            *state++ = v[r] + 0.1 * rd->drive->row[r].number * random_unit(seed);
        }
    }
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

bool drives_need(const struct robot *robot, const struct drive_text *text)
{
    bool need = false;
    for (int d = 0; d < robot->n_drives; d++)
        need = need || text->name[0] == '\0' || strcmp(robot->drive[d].drive->name, text->name) == 0;
    return need;
}

void drives_write_text(FILE *file, const struct generation *what, const struct drive_text *text)
{
    const char *name = text->name, *prefix = what->prefix;
    if (name[0] != '\0')
        fprintf(
            file,
            "/* Part of Limber; license in %s_drive.h */\n#include \"%s_drive.h\"\n\n#define %s_drive %s_%s_drive\n\n",
            prefix, prefix, name, prefix, name);
    for (const char *const *line = text->line; *line != NULL; line++) fputs(*line, file);
}

static void write_list(FILE *file, const struct robot *robot, enum list list)
{
    static const char *const name[] = {"moved", "effort", "given", "held", "rate"};
    int index[MOST_VALUES];
    fprintf(file, "static const int %s[] = {", name[list]);
    for (int d = 0; d < robot->n_drives; d++)
        for (int i = 0, n = list_drive(&robot->drive[d], list, index); i < n; i++) fprintf(file, "%d, ", index[i]);
    fputs("-1};\n", file);
}

void drives_write_names(FILE *file, const struct robot *robot)
{
    for (enum list list = INPUTS; list <= STATES; list++)
        for (int d = 0, at = 0; d < robot->n_drives; d++) {
            const struct robot_drive *rd = &robot->drive[d];
            int index[MOST_VALUES];
            char name[MOST_NAME];
            for (int i = 0, n = list_drive(rd, list, index); i < n; i++)
                fprintf(file, "/* drive_%s[%d]: %s.%s */\n", list == INPUTS ? "input" : "state", at++,
                        robot_drive_name(robot, d, name), rd->drive->row[index[i] - rd->first].name);
        }
}

static const char functions_text[] =
    "static void evaluate(double *v)\n{\n"
    "    double demand, share;\n"
    "    supply_values(DRIVES, member, -1, 1, v);\n"
    "    for (int s = 0; s < SUPPLIES; s++) supply_evaluate(DRIVES, member, s, flow_limit[s], v, &demand, "
    "&share);\n}\n\n"
    "static void change(const double *v, double *dv)\n{\n"
    "    double ddemand, dshare;\n"
    "    supply_changes(DRIVES, member, -1, 0, v, dv);\n"
    "    for (int s = 0; s < SUPPLIES; s++) supply_tangent(DRIVES, member, s, flow_limit[s], v, dv, &ddemand, "
    "&dshare);\n}\n\n"
    "/* All values, from the motion of what the drives move, inputs and states */\n"
    "static void take(const double *motion, const double *input, const double *state, double *v)\n{\n"
    "    for (int i = 0; i < VALUES; i++) v[i] = parameter[i];\n"
    "    for (int i = 0; i < 2 * DRIVES; i++) v[moved[i]] = motion[i];\n"
    "    for (int i = 0; given[i] >= 0; i++) v[given[i]] = input[i];\n"
    "    for (int i = 0; held[i] >= 0; i++) v[held[i]] = state[i];\n"
    "    evaluate(v);\n}\n\n"
    "/* Derivatives of the efforts by motion[j], the rest of the state held */\n"
    "static void differentiate(const double *v, double *slopes)\n{\n"
    "    for (int j = 0; j < 2 * DRIVES; j++) {\n"
    "        double dv[VALUES] = {0};\n"
    "        dv[moved[j]] = 1;\n"
    "        change(v, dv);\n"
    "        for (int i = 0; i < DRIVES; i++) slopes[2 * DRIVES * i + j] = dv[effort[i]];\n"
    "    }\n}\n\n";

void drives_write(FILE *file, const struct generation *what)
{
    const struct robot *robot = what->mechanism->robot;
    fprintf(file,
            "/* %s: functions with the drives inside the arm. */\n#include \"%s.h\"\n\n#include \"%s_drive.h\"\n\n",
            robot->name, what->prefix, what->prefix);
    for (const struct drive_text *text = drive_texts; text->name != NULL; text++)
        if (text->name[0] != '\0' && drives_need(robot, text))
            fprintf(file, "extern const struct drive %s_%s_drive;\n", what->prefix, text->name);
    fprintf(file, "\nenum { DRIVES = %d, SUPPLIES = %d, VALUES = %d };\n", robot->n_drives, robot->n_supplies,
            robot_drive_value_count(robot));
    fputs("static const struct drive_member member[DRIVES] = {", file);
    for (int d = 0; d < robot->n_drives; d++)
        fprintf(file, "{&%s_%s_drive, %d, %d}, ", what->prefix, robot->drive[d].drive->name, robot->drive[d].first,
                robot->drive[d].supply);
    fputs("};\nstatic const double flow_limit[] = {", file);
    for (int s = 0; s < robot->n_supplies; s++) fprintf(file, "%.17g, ", robot->supply[s].flow_limit);
    fputs("0};\n", file);
    fputs("static const double parameter[VALUES] = {", file);
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        double v[MOST_VALUES];
        robot_drive_values(robot, rd, v);
        for (int i = 0; i < drive_values(rd->drive); i++)
            fprintf(file, "%s%.17g", rd->first + i == 0 ? "" : i % 6 == 0 ? ",\n    " : ", ", v[i]);
    }
    fputs("};\n/* which of the values are what */\n", file);
    const enum list last = robot_drive_states(robot) > 0 ? RATES : STATES;
    for (enum list list = MOTIONS; list <= last; list++) write_list(file, robot, list);
    fprintf(file, "\n%s", functions_text);
}
