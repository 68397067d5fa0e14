/* Generated functions in place of recursions. They hold the numbers of the robot file, so they are used only while the robot has these
   numbers; otherwise the library computes the same. */
#include <math.h>
#include <string.h>

#include "sim/robot_instance.h"
#include "sim/variables_row.h"

/* ---- whether it can be used -------------------------------------------------------------------------------------- */

/* The first parameter that differs from the number in the code; NULL: none. Start values are not in the code, nor drives; kept
   parameters are its arguments. */
static const struct variable *changed_parameter(const struct sim *sim)
{
    const struct variables *v = &sim->instance.variables;
    for (int r = 0; r < v->n_values; r++) {
        const struct variable *variable = v->by_reference[r];
        const struct table_row *row = variable->row;
        if (variable->causality != CAUSALITY_PARAMETER || variable->start_of >= 0 || row == NULL) continue;
        if (row->owner == DRIVE || row->owner == SUPPLY || row->number->write == NULL) continue;
        bool kept = false;
        for (int i = 0; i < sim->code.functions->n_kept; i++) kept = kept || sim->code.kept[i] == variable;
        if (!kept && row->number->read(sim->robot, variable) != variable->start) return variable;
    }
    return NULL;
}

void code_adapt(struct sim *sim)
{
    struct sim_code *code = &sim->code;
    if (code->functions == NULL) return;
    const struct variable *changed = changed_parameter(sim);
    if (changed != NULL && code->in_use)
        report_note(sim->instance.report,
                    "%s: %s is a number in the generated code and was changed: the library computes instead "
                    "(limber fmu --generated --keep keeps gravity and payload masses as arguments)",
                    sim->instance.name, changed->name);
    code->in_use = changed == NULL;
    for (int i = 0; i < code->functions->n_kept; i++)
        code->parameters[i] = code->kept[i]->row->number->read(sim->robot, code->kept[i]);
}

enum status sim_use_code(struct instance *instance, const struct robot_code *functions)
{
    struct sim *sim = sim_of(instance);
    struct sim_code *code = &sim->code;
    const struct variables *v = &instance->variables;
    const size_t n_kept = (size_t)functions->n_kept, n_active = (size_t)functions->n_active;
    bool fits = strcmp(functions->guid, instance->guid) == 0;
    code->kept = arena_allocate(&instance->arena, n_kept, sizeof *code->kept);
    code->parameters = arena_allocate(&instance->arena, n_kept, sizeof *code->parameters);
    arena_arrays(&instance->arena, n_active, ARRAYS(&code->lambda, &code->gap));
    code->tau = arena_allocate(&instance->arena, (size_t)sim->mechanism.model->n_tau, sizeof *code->tau);
    code->line_force = arena_allocate(&instance->arena, (size_t)sim->robot->n_lines, sizeof(double));
    code->y = arena_allocate(&instance->arena, (size_t)v->n_states, sizeof *code->y);
    if (instance->arena.failed) return STATUS_NO_MEMORY;
    for (int i = 0; fits && i < functions->n_kept; i++) {
        const int row = variables_find(v, functions->kept[i]);
        fits = row >= 0;
        if (fits) code->kept[i] = v->by_reference[v->row[row].reference];
    }
    if (fits) {
        code->functions = functions;
        code_adapt(sim);
        report_note(instance->report, "%s: steps use generated code", instance->name);
    } else {
        report_add(instance->report, REPORT_WARNING,
                   "%s: the generated code is of another robot file: the library computes instead", instance->name);
    }
    return STATUS_OK;
}

/* ---- the functions ----------------------------------------------------------------------------------------------- */

static struct code_arguments arguments_of(const struct sim *sim)
{
    const struct input *in = &sim->in;
    return (struct code_arguments){.q = in->q,
                                   .qd = in->qd,
                                   .tau = sim->code.tau,
                                   .qdd = sim->qdd,
                                   .prescribed_qdd = in->prescribed_qdd,
                                   .line_force = sim->code.line_force,
                                   .tip_wrench = in->tip_wrench,
                                   .frame_wrench = in->frame_wrench,
                                   .parameters = sim->code.parameters,
                                   .lambda = sim->code.lambda};
}

static bool all_finite(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(x[i]);
    return isfinite(sum);
}

/* Forces on joints and lines, from drives or given. False: the drives have no efforts here, or the code may not be used: its constraints
   must be those that are active */
static bool take_forces(struct sim *sim)
{
    const struct constraints *loops = sim->mechanism.constraints;
    const struct sim_code *code = &sim->code;
    if (!code->in_use || loops->n_active != code->functions->n_active) return false;
    for (int k = 0; k < loops->n_active; k++)
        if (loops->active[k] != code->functions->active[k]) return false;
    if (sim->robot->n_drives > 0 && mechanism_efforts(&sim->mechanism, &sim->in) != STATUS_OK) return false;
    memcpy(code->tau, sim->in.tau, (size_t)sim->mechanism.model->n_tau * sizeof(double));
    memcpy(code->line_force, sim->in.line_force, (size_t)sim->robot->n_lines * sizeof(double));
    if (sim->robot->n_drives > 0) drives_copy_efforts(&sim->mechanism, sim->at.drive, code->tau, code->line_force);
    return true;
}

bool code_forward(struct sim *sim)
{
    const struct sim_code *code = &sim->code;
    struct constraints *loops = sim->mechanism.constraints;
    if (!take_forces(sim)) return false;
    const struct code_arguments arguments = arguments_of(sim);
    code->functions->forward(&arguments, sim->qdd, code->lambda);
    constraints_scatter(loops, code->lambda, loops->lambda);
    return all_finite(sim->mechanism.model->nv, sim->qdd) && all_finite(loops->n_active, code->lambda);
}

bool code_residual(struct sim *sim, const double *lambda, double *gap_acceleration)
{
    const struct sim_code *code = &sim->code;
    const struct robot_code *functions = code->functions;
    const struct constraints *loops = sim->mechanism.constraints;
    if (!take_forces(sim)) return false;
    for (int k = 0; k < loops->n_active; k++) code->lambda[k] = lambda[loops->active[k]];
    const struct code_arguments arguments = arguments_of(sim);
    functions->residual(&arguments, sim->force, code->gap);
    constraints_scatter(loops, code->gap, gap_acceleration);
    return all_finite(sim->mechanism.model->nv, sim->force) && all_finite(loops->n_active, code->gap);
}

enum status code_factors(struct sim *sim)
{
    if (!sim->code.no_factors) return STATUS_OK;
    sim->code.no_factors = false;
    sim_take(sim, sim->code.t, sim->code.y);
    return sim_forward(sim);
}
