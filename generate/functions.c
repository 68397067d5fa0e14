/* The functions that are generated: their expressions, and the library's results to compare with. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/random_state.h"
#include "generate/drives.h"
#include "generate/elements.h"
#include "generate/loops.h"
#include "math/vec.h"

#define TAKES(argument) (1u << (argument))
#define STATE           (TAKES(ARG_Q) | TAKES(ARG_QD) | TAKES(ARG_KEPT))
#define LOADS           (TAKES(ARG_LINE) | TAKES(ARG_TIP_WRENCH) | TAKES(ARG_FRAME_WRENCH))
#define FORCED          (STATE | TAKES(ARG_TAU) | TAKES(ARG_PRESCRIBED) | LOADS)
#define WITH_DRIVES     (FORCED | TAKES(ARG_DRIVE_INPUT) | TAKES(ARG_DRIVE_STATE))

static const struct {
    const char *name, *what;
    unsigned arguments;
    const char *result[MOST_OUTPUTS];
} functions[FUNCTIONS] = {
    {"forward",
     "forward dynamics: accelerations of joints and elastic coordinates, and multipliers of the active constraints",
     FORCED,
     {"qdd", "lambda"}},
    {"inverse",
     "inverse dynamics of the tree: M qdd + bias, forces of lines and loops not included",
     STATE | TAKES(ARG_QDD),
     {"force"}},
    {"mass", "mass matrix, nv rows of nv, and bias: inverse dynamics at qdd = 0", STATE, {"M", "bias"}},
    {"jacobian",
     "forward dynamics with its derivatives, nv columns of nv each; of a quaternion by a small rotation vector in axes "
     "of the hinge frame",
     FORCED | TAKES(ARG_SLOPES),
     {"qdd", "by_q", "by_qd"}},
    {"tip",
     "tip frame in the world: origin, orientation by rows, velocity of the origin, angular velocity",
     STATE,
     {"p", "R", "v", "omega"}},
    {"residual",
     "equations of motion: inverse dynamics minus tau, loads and forces of the multipliers lambda; accelerations of "
     "the gaps",
     STATE | TAKES(ARG_TAU) | TAKES(ARG_QDD) | LOADS | TAKES(ARG_LAMBDA),
     {"force", "gap_acceleration"}},
    {"motion", "position and rate of what each drive moves", STATE, {"motion"}},
    {"driven",
     "forward dynamics with the drives inside the arm, in place of their given forces; rates of the states "
     "of the drives",
     WITH_DRIVES,
     {"qdd", "lambda", "drive_rate"}},
    {"driven_jacobian",
     "forward dynamics with the drives inside the arm and its derivatives, nv columns of nv each, with the states of "
     "the drives held",
     WITH_DRIVES,
     {"qdd", "by_q", "by_qd"}},
};

int generate_count(const struct generation *what)
{
    return what->mechanism->robot->n_drives > 0 ? FUNCTIONS : MOTION;
}

struct generated generate_describe(const struct generation *what, int i)
{
    static const char *const argument[ARGUMENTS] = {
        "q",           "qd",         "tau",          "qdd",        "prescribed_qdd",
        "line_force",  "tip_wrench", "frame_wrench", "parameters", "drive_input",
        "drive_state", "slopes",     "lambda"};
    const int n = what->mechanism->model->nv, rows = what->mechanism->constraints->n_active;
    const struct robot *robot = what->mechanism->robot;
    const int count[FUNCTIONS][MOST_OUTPUTS] = {[FORWARD] = {n, rows},
                                                [INVERSE] = {n},
                                                [MASS] = {n * n, n},
                                                [JACOBIAN] = {n, n * n, n * n},
                                                [TIP] = {3, 9, 3, 3},
                                                [RESIDUAL] = {n, rows},
                                                [MOTION] = {2 * robot->n_drives},
                                                [DRIVEN] = {n, rows, robot_drive_states(robot)},
                                                [DRIVEN_JACOBIAN] = {n, n * n, n * n}};
    struct generated function = {.name = functions[i].name, .what = functions[i].what};
    for (int k = 0; k < ARGUMENTS; k++) {
        const int first = generate_first(what, k), size = generate_first(what, k + 1) - first;
        if ((functions[i].arguments & TAKES(k)) != 0 && size > 0)
            function.parameter[function.n++] = (struct parameter){argument[k], size, first};
    }
    function.n_arguments = function.n;
    for (int k = 0; k < MOST_OUTPUTS; k++) {
        if (count[i][k] == 0) continue;
        function.parameter[function.n++] = (struct parameter){functions[i].result[k], count[i][k], function.n_results};
        function.n_results += count[i][k];
    }
    return function;
}

/* ---- kept parameters --------------------------------------------------------------------------------------------- */

static bool add_kept(struct generation *what, const double *at)
{
    if (what->n_kept == MOST_KEPT) return false;
    what->kept[what->n_kept++] = at;
    return true;
}

bool generate_keep(struct generation *what, const char *name)
{
    static const char mass[] = "payload.mass";
    const struct robot *robot = what->mechanism->robot;
    const double *gravity = what->mechanism->model->gravity;
    if (strcmp(name, "gravity") == 0)
        return add_kept(what, gravity) && add_kept(what, gravity + 1) && add_kept(what, gravity + 2);
    if (strcmp(name, mass) == 0) return add_kept(what, &robot->link[robot->tip].payload.mass);
    for (int i = 0; i < robot->n_links; i++) {
        const size_t length = strlen(robot->link[i].name);
        if (strncmp(name, robot->link[i].name, length) == 0 && name[length] == '.' &&
            strcmp(name + length + 1, mass) == 0)
            return add_kept(what, &robot->link[i].payload.mass);
    }
    return false;
}

const char *generate_kept_name(const struct generation *what, int i, char name[KEPT_NAME])
{
    const struct robot *robot = what->mechanism->robot;
    for (int k = 0; k < 3; k++)
        if (what->kept[i] == &what->mechanism->model->gravity[k]) snprintf(name, KEPT_NAME, "gravity[%d]", k + 1);
    for (int k = 0; k < robot->n_links; k++)
        if (what->kept[i] == &robot->link[k].payload.mass)
            snprintf(name, KEPT_NAME, "%s.payload.mass", robot->link[k].name);
    return name;
}

void generate_prefix(const char *name, char prefix[PREFIX_SIZE])
{
    int n = 0;
    if (!isalpha((unsigned char)name[0])) prefix[n++] = 'r';
    for (; *name != '\0' && n < PREFIX_SIZE - 1; name++) prefix[n++] = isalnum((unsigned char)*name) ? *name : '_';
    prefix[n] = '\0';
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

enum status generate_expressions(const struct generation *what, int i, struct graph *g, struct robot_parts *parts,
                                 expr **output, int *n_outputs)
{
    struct loop_parts loops;
    if (!graph_make(g)) return STATUS_NO_MEMORY;
    enum status status = parts_make(g, what->mechanism, NULL, what->kept, what->n_kept, what->wrenches, parts);
    if (status != STATUS_OK) return status;
    *n_outputs = generate_describe(what, i).n_results;
    *output = arena_allocate(&parts->arena, (size_t)*n_outputs, sizeof **output);
    if (*output == NULL) return STATUS_NO_MEMORY;
    switch (i) {
    case FORWARD: forward_solution(parts, &loops, *output, *output + parts->model->nv); break;
    case INVERSE:
        parts_motion(parts, parts->qdd);
        inverse_generalized_forces(parts, parts->qdd, *output);
        break;
    case MASS: inverse_mass_matrix(parts, *output); break;
    case JACOBIAN: forward_jacobian(parts, *output); break;
    case TIP: frames_tip(parts, *output); break;
    case MOTION: elements_measure_drives(parts, *output); break;
    default: motion_residual(parts, *output);
    }
    return g->failed || parts->arena.failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* ---- results of the library -------------------------------------------------------------------------------------- */

int generate_first(const struct generation *what, int argument)
{
    int first[ARGUMENTS + 1];
    parts_number_arguments(what->mechanism, what->n_kept, what->wrenches, first);
    return first[argument];
}

/* drive: memory for all values of the drives, or NULL, without drives */
static struct input input_of(const struct generation *what, const double *inputs, double *drive)
{
    if (drive != NULL)
        drives_set(what->mechanism->robot, inputs + generate_first(what, ARG_DRIVE_INPUT),
                   inputs + generate_first(what, ARG_DRIVE_STATE), drive);
    return (struct input){.drive = drive,
                          .q = inputs,
                          .qd = inputs + generate_first(what, ARG_QD),
                          .tau = inputs + generate_first(what, ARG_TAU),
                          .prescribed_qdd = inputs + generate_first(what, ARG_PRESCRIBED),
                          .line_force = inputs + generate_first(what, ARG_LINE),
                          .tip_wrench = what->wrenches ? inputs + generate_first(what, ARG_TIP_WRENCH) : NULL,
                          .frame_wrench = what->wrenches ? inputs + generate_first(what, ARG_FRAME_WRENCH) : NULL};
}

/* The largest difference of two results is at most a tenth of the tolerance */
static bool agree(const struct generation *what, const double *a, const double *b)
{
    double size = 0, error = 0;
    for (int i = 0; i < what->mechanism->model->nv; i++) {
        size = fmax(size, fabs(a[i]));
        error = fmax(error, fabs(a[i] - b[i]));
    }
    return error <= 0.1 * what->tolerance * size;
}

/* Rounding errors in the positions do not change the forward dynamics */
static bool steady(const struct generation *what, uint64_t *seed, struct input *in, double *near, double *qdd)
{
    enum { NEIGHBOURS = 4 };
    struct mechanism *m = what->mechanism;
    const double *q = in->q;
    double *other = near + m->model->nq;
    bool good = mechanism_forward(m, in, qdd) == STATUS_OK;
    in->q = near;
    for (int k = 0; good && k < NEIGHBOURS; k++) {
        for (int i = 0; i < m->model->nq; i++) near[i] = q[i] * (1 + 2 * DBL_EPSILON * random_unit(seed));
        good = mechanism_forward(m, in, other) == STATUS_OK && agree(what, qdd, other);
    }
    in->q = q;
    return good;
}

/* Nor those with drives, and recursive and composite forward dynamics agree. The accelerations are overwritten. */
static bool well_conditioned(const struct generation *what, uint64_t *seed, double *inputs, double *near)
{
    struct mechanism *m = what->mechanism;
    double *recursive = inputs + generate_first(what, ARG_QDD), *other = near + m->model->nq;
    struct input in = input_of(what, inputs, NULL);
    if (!steady(what, seed, &in, near, recursive)) return false;
    if (mechanism_forward_composite(m, &in, other) != STATUS_OK || !agree(what, recursive, other)) return false;
    if (m->robot->n_drives == 0) return true;
    in = input_of(what, inputs, other + m->model->nv);
    return steady(what, seed, &in, near, recursive);
}

/* Of joints and lines with drives the state is near the start, since a cylinder has a short stroke */
static void set_drives(const struct generation *what, uint64_t *seed, double *inputs, double *near)
{
    const struct model *model = what->mechanism->model;
    double *q = inputs + generate_first(what, ARG_Q);
    model_start(model, q, near);
    for (int k = 0; k < model->nv; k++) near[k] = 0.02 * random_unit(seed);
    model_move(model, q, near, 1);
    drives_random(model->robot, seed, inputs + generate_first(what, ARG_DRIVE_INPUT),
                  inputs + generate_first(what, ARG_DRIVE_STATE));
    for (int k = generate_first(what, ARG_SLOPES); k < generate_first(what, ARG_LAMBDA); k++) inputs[k] = 0;
}

enum status generate_random_inputs(const struct generation *what, uint64_t *seed, double *inputs)
{
    enum { TRIALS = 200 };
    const struct model *model = what->mechanism->model;
    double *near = calloc((size_t)(model->nq + model->nv + robot_drive_value_count(model->robot)) + 1, sizeof *near);
    const int first = generate_first(what, ARG_QDD), kept = generate_first(what, ARG_KEPT);
    bool good = false;
    if (near == NULL) return STATUS_NO_MEMORY;
    for (int i = 0; i < TRIALS && !good; i++) {
        random_state(model, seed, inputs, inputs + generate_first(what, ARG_QD),
                     inputs + generate_first(what, ARG_TAU));
        for (int k = first; k < generate_first(what, ARGUMENTS); k++) {
            const bool is_kept = k >= kept && k < kept + what->n_kept;
            inputs[k] = is_kept ? *what->kept[k - kept] : random_unit(seed);
        }
        if (model->robot->n_drives > 0) set_drives(what, seed, inputs, near);
        good = well_conditioned(what, seed, inputs, near);
    }
    for (int k = first; good && k < generate_first(what, ARG_PRESCRIBED); k++) inputs[k] = random_unit(seed);
    free(near);
    return good ? STATUS_OK : STATUS_NOT_POSITIVE;
}

/* The library has multipliers and gaps for all constraints, generated code for those that are active */
static enum status residual_reference(struct mechanism *m, const struct input *in, const double *qdd,
                                      const double *lambda, double *result)
{
    const struct constraints *loops = m->constraints;
    double *all = m->newton_constraints->lambda, *gap = m->newton_constraints->dlambda; /* free for any use */
    for (int k = 0; k < loops->n_rows; k++) all[k] = 0;
    for (int k = 0; k < loops->n_active; k++) all[loops->active[k]] = lambda[k];
    const enum status status = mechanism_residual(m, in, qdd, all, result, gap);
    for (int k = 0; k < loops->n_active; k++) result[m->model->nv + k] = gap[loops->active[k]];
    return status;
}

/* Accelerations, derivatives if function i has them, and else multipliers; with drives, all of whose values are computed */
static enum status forward_reference(const struct generation *what, int i, struct input *in, double *result)
{
    struct mechanism *m = what->mechanism;
    const struct constraints *loops = m->constraints;
    const int n = m->model->nv;
    if (i == JACOBIAN || i == DRIVEN_JACOBIAN)
        return mechanism_forward_jacobian(m, in, result, result + n, result + n + n * n);
    const enum status status = mechanism_forward(m, in, result);
    for (int k = 0; k < loops->n_active; k++) result[n + k] = loops->lambda[loops->active[k]];
    return status;
}

static enum status driven_reference(const struct generation *what, int i, const double *inputs, double *result)
{
    const struct robot *robot = what->mechanism->robot;
    double *drive = calloc((size_t)robot_drive_value_count(robot), sizeof *drive);
    if (drive == NULL) return STATUS_NO_MEMORY;
    struct input in = input_of(what, inputs, drive);
    mechanism_set(what->mechanism, &in);
    const enum status status = i == MOTION ? drives_measure(what->mechanism) : forward_reference(what, i, &in, result);
    for (int d = 0; i == MOTION && d < robot->n_drives; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        result[2 * d] = in.drive[rd->first + rd->drive->position];
        result[2 * d + 1] = in.drive[rd->first + rd->drive->rate];
    }
    if (i == DRIVEN)
        drives_rates(robot, in.drive, result + what->mechanism->model->nv + what->mechanism->constraints->n_active);
    free(drive);
    return status;
}

enum status generate_reference(const struct generation *what, int i, const double *inputs, double *result)
{
    struct mechanism *m = what->mechanism;
    const int n = m->model->nv;
    const double *qdd = inputs + generate_first(what, ARG_QDD), *lambda = inputs + generate_first(what, ARG_LAMBDA);
    struct input in = input_of(what, inputs, NULL);
    if (i >= MOTION) return driven_reference(what, i, inputs, result);
    if (i == RESIDUAL) return residual_reference(m, &in, qdd, lambda, result);
    if (i == FORWARD || i == JACOBIAN) return forward_reference(what, i, &in, result);
    in.tip_wrench = in.frame_wrench = in.line_force = NULL;
    dyn_configuration(m->model, m->work, in.q);
    const enum status status = mechanism_load_elements(m, &in, &in); /* elastic couplings */
    if (status != STATUS_OK) return status;
    if (i == INVERSE) {
        dyn_inverse(m->model, m->work, &in, qdd, result);
    } else if (i == MASS) {
        dyn_mass_matrix(m->model, m->work);
        memcpy(result, m->work->M, (size_t)(n * n) * sizeof *result);
        memset(m->work->rhs, 0, (size_t)n * sizeof *result); /* accelerations */
        dyn_inverse(m->model, m->work, &in, m->work->rhs, result + n * n);
    } else {
        struct frame_motion tip;
        dyn_motion(m->model, m->work, &in, NULL);
        dyn_velocity(m->model, m->work, &in);
        dyn_frame(m->model, m->work, &m->model->tip_frame, &tip);
        copy3(tip.p, result);
        copy9(tip.R, result + 3);
        copy3(tip.v, result + 12);
        copy3(tip.omega, result + 15);
    }
    return STATUS_OK;
}
