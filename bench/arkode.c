/* SUNDIALS ARKODE on the equation of motion, with the exact dense Jacobian: what a library offers beside the integrators of ode/.
       arkode ROBOT TORQUES                 the forced robot: 10 s, torques linear between the rows of a CSV file
       arkode ROBOT TORQUES TABLE RTOL      one run of it; valgrind --tool=callgrind --toggle-collect='integrate*' counts it
   TORQUES is "-" for Cibicik's crane that is struck: without gravity and torques, 0.5 J by an impulse on boom_joint, 2 s.
   Prints the table, rtol, steps, right-hand sides, Jacobians, CPU seconds, and the error of the tip against ARKODE's explicit method
   of order 8 at 1e-12. */
#include <arkode/arkode_arkstep.h>
#include <arkode/arkode_erkstep.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <time.h>

#include "math/vec.h"
#include "sim/robot_instance.h"

#if SUNDIALS_VERSION_MAJOR < 7
#define NO_COMMUNICATOR NULL
#else
#define NO_COMMUNICATOR SUN_COMM_NULL
#endif

enum { MOST_POINTS = 256, MOST_INPUTS = 64, REPEAT = 2 };

/* Communication points t_k with torques; the step from k to k + 1 has straight torques. */
struct problem {
    struct sim *sim;
    int n, points, inputs;
    double t[MOST_POINTS], tau[MOST_POINTS][MOST_INPUTS];
    double *start; /* n states */
};

struct run {
    const char *table;
    double rtol, tip[MOST_POINTS][3], seconds;
    long steps, rhs, jacobians;
};

/* ---- the equation as ARKODE sees it -------------------------------------------------------------------------------- */

static int rhs(sunrealtype t, N_Vector y, N_Vector ydot, void *user)
{
    const struct problem *problem = user;
    return sim_derivatives(problem->sim, t, N_VGetArrayPointer(y), N_VGetArrayPointer(ydot)) == STATUS_OK ? 0 : 1;
}

/* J = [0 I; A B], columns of A and B are those of d(qdd)/dq and d(qdd)/dqd */
static int jacobian(sunrealtype t, N_Vector y, N_Vector fy, SUNMatrix J, void *user, N_Vector a, N_Vector b, N_Vector c)
{
    const struct problem *problem = user;
    struct sim *sim = problem->sim;
    const int n = problem->n / 2;
    (void)fy, (void)a, (void)b, (void)c;
    if (sim_jacobian(sim, t, N_VGetArrayPointer(y), sim->by_q, sim->by_qd) != STATUS_OK) return 1;
    for (int j = 0; j < n; j++) {
        double *by_x = SUNDenseMatrix_Column(J, j), *by_v = SUNDenseMatrix_Column(J, n + j);
        for (int i = 0; i < n; i++) by_x[i] = 0, by_v[i] = i == j;
        memcpy(by_x + n, sim->by_q + j * n, (size_t)n * sizeof(double));
        memcpy(by_v + n, sim->by_qd + j * n, (size_t)n * sizeof(double));
    }
    return 0;
}

static void use_torques(const struct problem *problem, int k)
{
    struct step_inputs *now = &problem->sim->instance.stepper.inputs;
    problem->sim->instance.stepper.moving = true;
    now->from = problem->t[k];
    for (int i = 0; i < problem->inputs; i++) {
        now->u[i] = problem->tau[k][i];
        now->rate[i] = (problem->tau[k + 1][i] - problem->tau[k][i]) / (problem->t[k + 1] - problem->t[k]);
    }
}

/* ---- problems ------------------------------------------------------------------------------------------------------- */

static void set(struct sim *sim, const char *name, double value)
{
    const int r = variables_find(&sim->instance.variables, name);
    if (r < 0) fprintf(stderr, "arkode: this robot has no variable %s\n", name), exit(2);
    instance_set(&sim->instance, r, value);
}

static void initialize(struct problem *problem)
{
    const struct experiment experiment = {.tolerance = 1e-6};
    struct instance *instance = &problem->sim->instance;
    if (instance_initialize(instance, &experiment) != STATUS_OK) exit(1);
    problem->n = instance->variables.n_states;
    problem->inputs = instance->stepper.n_inputs;
    problem->start = calloc((size_t)problem->n, sizeof(double));
    if (problem->start == NULL || problem->inputs > MOST_INPUTS) fputs("arkode: too many inputs\n", stderr), exit(1);
    instance_get_states(instance, problem->start);
}

/* Columns: time, then the inputs by name */
static void force(struct problem *problem, const char *file)
{
    static char line[4096];
    FILE *stream = fopen(file, "r");
    if (stream == NULL || fgets(line, sizeof line, stream) == NULL)
        fprintf(stderr, "arkode: cannot read %s\n", file), exit(2);
    initialize(problem);
    int column[MOST_INPUTS] = {0}, columns = 0;
    for (char *name = strtok(line, ",\r\n"); name != NULL && columns <= MOST_INPUTS; name = strtok(NULL, ",\r\n")) {
        const int r = columns > 0 ? variables_find(&problem->sim->instance.variables, name) : -1;
        if (columns > 0 && r < 0) fprintf(stderr, "arkode: this robot has no input %s\n", name), exit(2);
        if (columns > 0) column[columns - 1] = problem->sim->instance.stepper.input_number[r];
        columns++;
    }
    for (; problem->points < MOST_POINTS && fgets(line, sizeof line, stream) != NULL; problem->points++) {
        char *cell = line;
        problem->t[problem->points] = strtod(cell, &cell);
        for (int i = 0; i < columns - 1; i++) problem->tau[problem->points][column[i]] = strtod(cell + 1, &cell);
    }
    fclose(stream);
}

/* qd = c M^-1 e with the kinetic energy qd' M qd / 2 = c^2 e' M^-1 e / 2; M^-1 e is what a unit torque changes in qdd */
static void strike(struct problem *problem)
{
    static const double ENERGY = 0.5, UNTIL = 2;
    struct sim *sim = problem->sim;
    for (int i = 1; i <= 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "gravity[%d]", i);
        set(sim, name, 0);
    }
    set(sim, "boom_joint.q", 0.52), set(sim, "jib_joint.q", 2.09), set(sim, "hand_joint.q", 0.52);
    initialize(problem);
    const struct stepper *stepper = &sim->instance.stepper;
    const int n = problem->n / 2;
    double *without = calloc((size_t)problem->n, sizeof(double)), *with = calloc((size_t)problem->n, sizeof(double));
    if (without == NULL || with == NULL || sim_derivatives(sim, 0, problem->start, without) != STATUS_OK) exit(1);
    *stepper->place[variables_find(&sim->instance.variables, "boom_joint.tau")] = 1;
    if (sim_derivatives(sim, 0, problem->start, with) != STATUS_OK) exit(1);
    const int struck = 1; /* boom_joint among the velocities */
    const double c = sqrt(2 * ENERGY / (with[n + struck] - without[n + struck]));
    for (int i = n; i < 2 * n; i++) problem->start[i] = c * (with[i] - without[i]);
    problem->points = 101;
    for (int k = 0; k < problem->points; k++) problem->t[k] = k * UNTIL / (problem->points - 1);
    free(without), free(with);
}

/* ---- one run -------------------------------------------------------------------------------------------------------- */

struct arkode {
    SUNContext context;
    N_Vector y, tolerance;
    SUNMatrix J;
    SUNLinearSolver solver;
    void *memory;
    int is_explicit;
};

static int set_table(struct arkode *arkode, const char *table)
{
    if (arkode->is_explicit) return ERKStepSetTableName(arkode->memory, table);
    return ARKStepSetTableName(arkode->memory, table, "ARKODE_ERK_NONE");
}

/* Newton stops at this part of the error test. Chosen on the forced Canadarm alone, at rtol 1e-2, 1e-4 and 1e-6: against the default
   of 0.1, half the cost at 1e-2 and about the same below. There, deducing f from the stages (ARKStepSetDeduceImplicitRhs) saves up
   to half of the right-hand sides but raises the error, by ARK548L2SA 12 times at 1e-2 and hardly at 1e-6, by ESDIRK547L2SA2 500
   times and more; the predictor of higher order costs more right-hand sides. */
static const double NEWTON = 0.003;

static int make_implicit(struct arkode *arkode, struct problem *problem, double rtol)
{
    arkode->memory = ARKStepCreate(NULL, rhs, 0, arkode->y, arkode->context);
    arkode->J = SUNDenseMatrix(problem->n, problem->n, arkode->context);
    arkode->solver = SUNLinSol_Dense(arkode->y, arkode->J, arkode->context);
    return ARKStepSetUserData(arkode->memory, problem) ||
           ARKStepSVtolerances(arkode->memory, rtol, arkode->tolerance) ||
           ARKStepSetLinearSolver(arkode->memory, arkode->solver, arkode->J) ||
           ARKStepSetJacFn(arkode->memory, jacobian) || ARKStepSetNonlinConvCoef(arkode->memory, NEWTON) ||
           ARKStepSetMaxNumSteps(arkode->memory, -1);
}

static int make_explicit(struct arkode *arkode, struct problem *problem, double rtol)
{
    arkode->memory = ERKStepCreate(rhs, 0, arkode->y, arkode->context);
    return ERKStepSetUserData(arkode->memory, problem) ||
           ERKStepSVtolerances(arkode->memory, rtol, arkode->tolerance) || ERKStepSetMaxNumSteps(arkode->memory, -1);
}

/* Nonzero: this version has no such table */
static int arkode_make(struct arkode *arkode, struct problem *problem, const char *table, double rtol)
{
    static const char *const explicit_tables[] = {"ARKODE_VERNER_8_5_6", "ARKODE_FEHLBERG_13_7_8",
                                                  "ARKODE_DORMAND_PRINCE_7_4_5"};
    *arkode = (struct arkode){0};
    for (size_t i = 0; i < sizeof explicit_tables / sizeof explicit_tables[0]; i++)
        if (strcmp(table, explicit_tables[i]) == 0) arkode->is_explicit = 1;
    if (SUNContext_Create(NO_COMMUNICATOR, &arkode->context) != 0) exit(1);
    arkode->y = N_VNew_Serial(problem->n, arkode->context);
    arkode->tolerance = N_VNew_Serial(problem->n, arkode->context);
    const double *nominal = problem->sim->instance.stepper.nominal;
    for (int i = 0; i < problem->n; i++) NV_Ith_S(arkode->tolerance, i) = rtol * nominal[i];
    memcpy(N_VGetArrayPointer(arkode->y), problem->start, (size_t)problem->n * sizeof(double));
    use_torques(problem, 0);
    if ((arkode->is_explicit ? make_explicit : make_implicit)(arkode, problem, rtol) != 0) exit(1);
    return set_table(arkode, table);
}

static void arkode_free(struct arkode *arkode)
{
    if (arkode->is_explicit) ERKStepFree(&arkode->memory);
    else {
        ARKStepFree(&arkode->memory);
        SUNLinSolFree(arkode->solver);
        SUNMatDestroy(arkode->J);
    }
    N_VDestroy(arkode->y), N_VDestroy(arkode->tolerance);
    SUNContext_Free(&arkode->context);
}

static int advance(const struct arkode *arkode, double end)
{
    double t;
    if (arkode->is_explicit)
        return ERKStepSetStopTime(arkode->memory, end) ||
               ERKStepEvolve(arkode->memory, end, arkode->y, &t, ARK_NORMAL) < 0;
    return ARKStepSetStopTime(arkode->memory, end) || ARKStepEvolve(arkode->memory, end, arkode->y, &t, ARK_NORMAL) < 0;
}

/* What is counted and timed. The torques have no jumps: no restart where their slopes change. */
static __attribute__((noinline)) int integrate(const struct arkode *arkode, const struct problem *problem, double *y)
{
    const size_t n = (size_t)problem->n;
    for (int k = 0; k + 1 < problem->points; k++) {
        use_torques(problem, k);
        if (advance(arkode, problem->t[k + 1]) != 0) return 1;
        memcpy(y + (size_t)(k + 1) * n, N_VGetArrayPointer(arkode->y), n * sizeof(double));
    }
    return 0;
}

static void count(const struct arkode *arkode, struct run *run)
{
    long none = 0;
    if (arkode->is_explicit)
        ERKStepGetNumSteps(arkode->memory, &run->steps), ERKStepGetNumRhsEvals(arkode->memory, &run->rhs);
    else {
        ARKStepGetNumSteps(arkode->memory, &run->steps);
        ARKStepGetNumRhsEvals(arkode->memory, &none, &run->rhs);
        ARKStepGetNumJacEvals(arkode->memory, &run->jacobians);
    }
}

static void tips(struct problem *problem, const double *y, struct run *run)
{
    struct instance *instance = &problem->sim->instance;
    for (int k = 0; k < problem->points; k++) {
        instance_set_states(instance, k > 0 ? y + k * problem->n : problem->start);
        if (instance_update(instance) != STATUS_OK) exit(1);
        copy3(problem->sim->outputs.frame[0].position, run->tip[k]);
    }
}

/* 0 on success */
static int simulate(struct problem *problem, const char *table, double rtol, int repeat, struct run *run)
{
    double *y = calloc((size_t)problem->n * (size_t)problem->points, sizeof(double));
    int code = y == NULL;
    *run = (struct run){.table = table, .rtol = rtol, .seconds = HUGE_VAL};
    for (int i = 0; i < repeat && code == 0; i++) {
        struct arkode arkode;
        code = arkode_make(&arkode, problem, table, rtol);
        const clock_t from = clock();
        if (code == 0) code = integrate(&arkode, problem, y);
        run->seconds = fmin(run->seconds, (double)(clock() - from) / CLOCKS_PER_SEC);
        if (code == 0) count(&arkode, run);
        arkode_free(&arkode);
    }
    if (code == 0) tips(problem, y, run);
    free(y);
    return code;
}

static void print(const struct problem *problem, const struct run *run, const struct run *reference)
{
    double error = 0;
    for (int k = 0; k < problem->points; k++)
        for (int i = 0; i < 3; i++) error = fmax(error, fabs(run->tip[k][i] - reference->tip[k][i]));
    printf("%s | %.0e | %ld | %ld | %ld | %.4f | %.1e\n", run->table, run->rtol, run->steps, run->rhs, run->jacobians,
           run->seconds, error);
    fflush(stdout);
}

/* ---- the program ---------------------------------------------------------------------------------------------------- */

static void print_line(void *context, enum report_level level, const char *text)
{
    (void)context;
    if (level == REPORT_ERROR) fprintf(stderr, "%s\n", text);
}

static char *read_text(const char *file)
{
    FILE *stream = fopen(file, "rb");
    char *text = calloc(1, 1 << 20);
    if (stream == NULL || text == NULL || fread(text, 1, (1 << 20) - 1, stream) == 0) return NULL;
    fclose(stream);
    return text;
}

static void print_all(struct problem *problem, const struct run *reference)
{
    static const char *const tables[] = {"ARKODE_VERNER_8_5_6",          "ARKODE_FEHLBERG_13_7_8",
                                         "ARKODE_ARK548L2SA_DIRK_8_4_5", "ARKODE_ESDIRK547L2SA_7_4_5",
                                         "ARKODE_ESDIRK547L2SA2_7_4_5",  "ARKODE_ESDIRK324L2SA_4_2_3"};
    static struct run run;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (int k = 2; k <= 7; k++) {
            if (simulate(problem, tables[i], pow(10, -k), REPEAT, &run) == 0) print(problem, &run, reference);
            else {
                printf("%s | %.0e | fails, or SUNDIALS " SUNDIALS_VERSION " does not have it\n", tables[i],
                       pow(10, -k));
                break;
            }
        }
}

int main(int argc, char **argv)
{
    struct report report = {.line = print_line};
    struct instance *instance;
    char *text = argc == 3 || argc == 5 ? read_text(argv[1]) : NULL;
    if (text == NULL || sim_make(argv[1], text, &report, &instance) != STATUS_OK) {
        fputs("usage: arkode ROBOT TORQUES|- [TABLE RTOL]\n", stderr);
        return 2;
    }
    static struct problem problem;
    static struct run reference, run;
    problem.sim = sim_of(instance);
    if (strcmp(argv[2], "-") == 0) strike(&problem);
    else force(&problem, argv[2]);
    int code = 0;
    if (argc == 5) {
        code = simulate(&problem, argv[3], atof(argv[4]), 1, &run);
        if (code == 0) print(&problem, &run, &run);
    } else if (simulate(&problem, "ARKODE_FEHLBERG_13_7_8", 1e-12, 1, &reference) == 0) print_all(&problem, &reference);
    else code = 1;
    free(problem.start), free(text);
    instance_free(instance);
    return code;
}
