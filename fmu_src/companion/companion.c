#include "companion/companion.h"

#include <stdio.h>
#include <string.h>

#include "robot/read.h"

const struct drive *const companion_drives[] = {&servo_drive, &cylinder_drive, &axis_drive, &sling_drive,
                                                &gear_drive,  &spring_drive,   NULL};

enum { PREFIX_SIZE = 1024 };

static const struct drive_row solver_rows[SOLVER_ROWS] = {
    {"solver.relative_tolerance", PARAMETER, "1", NULL, 0, BELOW_ONE,
     "relative tolerance (0: the importer's, else 1e-6)"},
    {"solver.max_step", PARAMETER, "s", NULL, 0, NOT_NEGATIVE, "largest internal step; 0: no limit"},
    {"solver.max_order", PARAMETER, NULL, NULL, 0, WHOLE_UP_TO_FIVE,
     "largest order of CVODE, 1 to 5; 0: chosen by tolerance"},
    {"solver.method", PARAMETER, NULL, NULL, 0, WHOLE_METHOD,
     "method of integration: 0 automatic, 1 CVODE, 2 ESDIRK, 3 explicit, 4 symmetric"},
    {"solver.fixed_step", PARAMETER, "s", NULL, 0, NOT_NEGATIVE,
     "equal internal steps of at most this length, for real time (methods 0, 2, 4); 0: steps by error control"},
    {"solver.max_steps", PARAMETER, NULL, NULL, 0, WHOLE,
     "largest number of internal steps per communication step; 0: 1e8"}};

/* ---- the table --------------------------------------------------------------------------------------------------------- */

static struct variable variable_of(const struct drive_row *row, int reference)
{
    static const enum causality causality[] = {
        [INPUT] = CAUSALITY_INPUT,         [OUTPUT] = CAUSALITY_OUTPUT,     [LOCAL] = CAUSALITY_LOCAL,
        [OUTPUT_STATE] = CAUSALITY_OUTPUT, [LOCAL_STATE] = CAUSALITY_LOCAL, [PARAMETER] = CAUSALITY_PARAMETER};
    const bool parameter = row->role == PARAMETER;
    return (struct variable){.name = row->name,
                             .description = row->description,
                             .unit = row->unit,
                             .display_unit = row->display_unit,
                             .type = drive_limit(row)->whole ? TYPE_INTEGER : TYPE_REAL,
                             .causality = causality[row->role],
                             .variability = parameter ? VARIABILITY_FIXED : VARIABILITY_CONTINUOUS,
                             .initial = parameter            ? INITIAL_EXACT
                                        : row->role == INPUT ? INITIAL_NONE
                                                             : INITIAL_CALCULATED,
                             .reference = reference,
                             .start = drive_is_state(row) ? 0 : row->number,
                             .nominal = drive_is_state(row) ? row->number : 0,
                             NO_RELATIONS,
                             .limit = parameter ? drive_limit(row) : NULL};
}

/* der(state) */
static struct variable derivative_of(const struct variable *state, int state_row, int reference, struct arena *arena)
{
    struct variable derivative = *state;
    char unit[UNIT_SIZE];
    derivative.name = arena_joined(arena, "der(", state->name, ")");
    derivative.unit = arena_string(arena, drive_rate_unit(state->unit, unit));
    derivative.display_unit = NULL;
    derivative.description = "derivative of the state";
    derivative.causality = CAUSALITY_LOCAL;
    derivative.initial = INITIAL_CALCULATED;
    derivative.reference = reference;
    derivative.nominal = 0;
    derivative.state = derivative.rate = -1;
    derivative.derivative_of = state_row;
    return derivative;
}

static enum status make_table(const struct drive *drive, struct arena *arena, struct variables *v)
{
    const int values = drive->n_rows + drive->n_states + SOLVER_ROWS;
    memset(v, 0, sizeof *v);
    v->row = arena_allocate(arena, (size_t)values, sizeof *v->row);
    v->by_reference = arena_allocate(arena, (size_t)values, sizeof *v->by_reference);
    v->state = arena_allocate(arena, (size_t)drive->n_states, sizeof *v->state);
    v->derivative = arena_allocate(arena, (size_t)drive->n_states, sizeof *v->derivative);
    if (arena->failed || values > MOST_VALUES) return STATUS_NO_MEMORY;
    for (int r = 0; r < drive->n_rows; r++) {
        v->row[v->n++] = variable_of(&drive->row[r], r);
        if (!drive_is_state(&drive->row[r])) continue;
        v->row[r].state = v->n_states;
        v->state[v->n_states++] = r;
    }
    for (int i = 0; i < drive->n_driven; i++) v->row[drive->position + i].rate = drive->rate + i;
    for (int s = 0; s < v->n_states; s++) {
        const int row = v->derivative[s] = v->n++;
        v->row[v->state[s]].rate = row;
        v->row[row] = derivative_of(&v->row[v->state[s]], v->state[s], row, arena);
    }
    v->solver = solver_parameters(solver_reference(drive, 0), false); /* always dense */
    v->start_static = -1;
    for (int i = 0; i < SOLVER_ROWS; i++, v->n++) v->row[v->n] = variable_of(&solver_rows[i], v->n);
    v->n_values = v->n;
    for (int r = 0; r < v->n; r++) v->by_reference[r] = &v->row[r];
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* ---- the file ---------------------------------------------------------------------------------------------------------- */

struct companion {
    const struct drive *drive;
    struct variables *variables;
};

static void read_file(struct object *file, void *context)
{
    const struct drive *drive = ((struct companion *)context)->drive;
    struct variables *v = ((struct companion *)context)->variables;
    struct object parameters;
    read_word(file, "format", "the format", "limber-drive/1");
    read_word(file, "drive", "the drive of this library", drive->name);
    if (path_open_object(&parameters, MEMBER(file, "parameters"), OPTIONAL, "parameters")) {
        for (int r = 0; r < v->n; r++) {
            const int solver = r - solver_reference(drive, 0);
            const struct drive_row *row = solver >= 0 ? &solver_rows[solver] : &drive->row[r];
            if (v->row[r].causality == CAUSALITY_PARAMETER) read_drive_parameter(&parameters, row, &v->row[r].start);
        }
        path_close_object(&parameters);
    }
    path_close_object(file);
}

static void start_values(const struct variables *variables, double v[MOST_VALUES])
{
    for (int r = 0; r < variables->n_values; r++) v[r] = variables->by_reference[r]->start;
}

enum status companion_variables(const struct drive *drive, const char *file, const char *text, struct report *report,
                                struct arena *arena, struct variables *v)
{
    const int before = report->errors;
    struct companion companion = {drive, v};
    enum status status = make_table(drive, arena, v);
    if (status == STATUS_OK) status = document_read(file, text, "a drive file", report, read_file, &companion);
    if (status != STATUS_OK) return status;

    double start[MOST_VALUES] = {0};
    char conflict_text[CONFLICT_SIZE], prefix[PREFIX_SIZE];
    start_values(v, start);
    const char *conflict = drive_conflict(drive, start, conflict_text);
    if (conflict != NULL) report_add(report, REPORT_ERROR, "%s: %s: %s", file, drive->name, conflict);
    snprintf(prefix, sizeof prefix, "%s: ", file);
    solver_report_conflicts(v, start, prefix, report);
    return report->errors == before ? STATUS_OK : STATUS_BAD_DRIVE;
}

/* ---- checks and structure ---------------------------------------------------------------------------------------------- */

bool companion_depends(const struct drive *drive, const struct variables *variables, const struct variable *unknown,
                       const struct variable *known)
{
    double v[MOST_VALUES] = {0};
    start_values(variables, v);
    return drive_value_depends(drive, v, unknown->reference, known->reference);
}

/* Directly, or through a state that starts from an input; the parameters of the integration have no effect */
bool companion_depends_at_start(const struct drive *drive, const struct variables *variables,
                                const struct variable *unknown, const struct variable *known)
{
    if (known->causality == CAUSALITY_PARAMETER) return known->reference < solver_reference(drive, 0);
    if (unknown->state < 0 && companion_depends(drive, variables, unknown, known)) return true;
    bool acts_on_start = false;
    for (int i = 0; i < drive->n_start_inputs; i++)
        acts_on_start = acts_on_start || drive->start_inputs[i] == known->reference;
    if (!acts_on_start) return false;
    for (int s = 0; s < variables->n_states; s++)
        if (companion_depends(drive, variables, unknown, &variables->row[variables->state[s]])) return true;
    return unknown->state >= 0;
}
