/* Drives inside the arm: derivatives, dependencies, the Newton matrix, integration, power, on random chains whose joints and
   lines have every type of drive. */
#include "drive/drive.h"
#include "loaded.h"
#include "ode/methods.h"
#include "oracle/larger.h"
#include "oracle/problem.h"
#include "oracle/random.h"
#include "oracle/variable_slopes.h"
#include "sim/robot_instance.h"
#include "sim_jacobian.h"

enum { SEEDS = 30, TEXT = 1 << 15, MOST = 2048, MOST_Y = 256 };

static const struct experiment experiment = {0};

/* ---- random robots ----------------------------------------------------------------------------------------------------- */

PRINTF_LIKE(2, 3)
static void add(char *text, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, TEXT - length, format, arguments);
    va_end(arguments);
}

static void add_joint_drive(char *text, struct random *random)
{
    const int type = (int)uniform(random, 0, 3);
    if (type == 0) add(text, ", \"drive\": {\"type\": \"servo\", \"friction_rate\": 0.5, \"current_limit\": 60}");
    if (type == 1)
        add(text, ", \"drive\": {\"type\": \"gear\", \"stiffness\": %.17g, \"damping\": 20, \"backlash\": %g}",
            uniform(random, 1e3, 1e4), uniform(random, 0, 2) < 1 ? 0 : 0.3);
    if (type == 2) add(text, ", \"passive\": true");
}

/* A chain of beams and rigid links in space */
static void add_links(char *text, struct random *random, int links)
{
    for (int i = 0; i < links; i++) {
        add(text, "%s{\"name\": \"l%d\", \"joint\": {\"name\": \"j%d\", \"type\": \"revolute\", \"axis\": [%g, %g, 1]",
            i > 0 ? "," : "", i, i, uniform(random, -1, 1), uniform(random, -1, 1));
        add_joint_drive(text, random);
        add(text, ", \"start\": {\"position\": %g}, \"viscous\": 1}, ", uniform(random, -1, 1));
        if (uniform(random, 0, 2) < 1)
            add(text, "\"rigid\": {\"mass\": 20, \"com\": [0.5, 0, 0], \"inertia\": [1, 2, 2, 0, 0, 0], "
                      "\"tip\": {\"xyz\": [1, 0.1, 0]}}}");
        else
            add(text, "\"beam\": {\"length\": 1.2, \"mass_per_length\": 10, \"EIy\": 3e4, \"EIz\": 4e4, "
                      "\"damping_ratio\": 0.02, \"modes\": {\"y\": {\"shape\": \"clamped-free\", \"count\": 1}, \"z\": "
                      "{\"shape\": \"clamped-free\", \"count\": 1}}}, \"payload\": {\"mass\": 5}}");
    }
}

/* Lines between each link and what is before it: cylinders, most of them on a common supply, springs, and one without a drive */
static void add_lines(char *text, struct random *random, int links)
{
    for (int i = 0; i < links; i++) {
        const double type = uniform(random, 0, 4);
        add(text, "%s{\"name\": \"a%d\", \"type\": \"line\", \"from\": ", i > 0 ? "," : "", i);
        if (i == 0) add(text, "{\"link\": \"world\", \"xyz\": [0.3, -0.8, 0.2]}");
        else add(text, "{\"link\": \"l%d\", \"frame\": \"hinge\", \"xyz\": [0.2, -0.6, 0.1]}", i - 1);
        add(text, ", \"to\": {\"link\": \"l%d\", \"frame\": \"tip\", \"xyz\": [0, %g, 0]}", i,
            uniform(random, -0.3, 0));
        if (type < 2)
            add(text,
                ", \"drive\": {\"type\": \"cylinder\", \"length_closed\": 0.01, \"stroke\": 4, \"friction_rate\": "
                "0.5%s%s}",
                type < 1.5 ? ", \"supply\": \"pump\"" : "", type < 0.7 ? ", \"counterbalance1\": 1e7" : "");
        else if (type < 3) add(text, ", \"drive\": {\"type\": \"spring\", \"stiffness\": 2000, \"damping\": 30}");
        add(text, "}");
    }
}

static void random_text(struct random *random, char *text)
{
    const int links = 2 + (int)uniform(random, 0, 3);
    strcpy(text, "{\"format\": \"limber-robot/2\", \"name\": \"driven\", \"gravity\": [0, 0, -9.81], \"links\": [");
    add_links(text, random, links);
    add(text, "], \"actuators\": [");
    add_lines(text, random, links);
    add(text, "], \"supplies\": [{\"name\": \"pump\", \"pressure\": 2e7, \"flow_limit\": 4e-4}]}");
}

/* Initialized, at its start or at a random state with random inputs */
static struct instance *random_instance(int seed, bool moved)
{
    static struct report silent;
    static char text[TEXT];
    struct random random = {.state = (uint64_t)seed};
    struct instance *instance = NULL;
    random_text(&random, text);
    CHECK(sim_make("random", text, &silent, &instance) == STATUS_OK);
    CHECK(instance_initialize(instance, &experiment) == STATUS_OK);
    if (moved) move_at_random(instance, &random);
    CHECK(instance_update(instance) == STATUS_OK);
    return instance;
}

/* ---- derivatives ------------------------------------------------------------------------------------------------------- */

static bool is_unknown(const struct variable *variable)
{
    return variable->causality == CAUSALITY_OUTPUT || variable->causality == CAUSALITY_LOCAL;
}

/* Each to 1e-5 of its own slope, or to the rounding of the difference, which the values and what adds up to them make */
static int check_known(struct instance *instance, const struct structure *structure, int known)
{
    const struct variables *v = instance_variables(instance);
    const double nominal = v->by_reference[known]->nominal, h = nominal > 0 ? larger(1e-4 * nominal, 1e-4) : 1e-3,
                 one = 1;
    double slope[MOST], change;
    int wrong = 0;
    slopes_by(instance, known, h, slope);
    for (int r = 0; r < v->n_values; r++) {
        const struct variable *unknown = v->by_reference[r];
        const bool power = strncmp(unknown->name, "energy.", 7) == 0 || strncmp(unknown->name, "power.", 6) == 0;
        if (!is_unknown(unknown) || power || unknown->reference == known) continue;
        if (instance_directional(instance, 1, &r, 1, &known, &one, &change) != STATUS_OK) return 1;
        const double rounding = 1e-10 * (fabs(instance_get(instance, r)) + 1) / h;
        const bool declared = variable_depends(unknown, v->by_reference[known], structure);
        if (fabs(change - slope[r]) <= 1e-5 * fabs(slope[r]) + rounding &&
            (fabs(change) <= 1e-3 * rounding || declared))
            continue;
        wrong++;
        printf("     d %s/d %s: %g, not %g%s\n", unknown->name, v->by_reference[known]->name, change, slope[r],
               declared ? "" : ", not declared");
    }
    return wrong;
}

TEST(derivatives_and_dependencies)
{
    int drives[4] = {0};
    for (int seed = 0; seed < test_sample(SEEDS); seed++) {
        struct arena arena = {0};
        struct instance *instance = random_instance(seed, true);
        const struct robot *robot = sim_robot(instance);
        const struct variables *v = instance_variables(instance);
        const struct structure *structure = structure_make(sim_model(instance), &arena);
        for (int d = 0; d < robot->n_drives; d++)
            for (int k = 0; k < 4; k++)
                drives[k] += strcmp(robot->drive[d].drive->name,
                                    (const char *const[]){"servo", "gear", "cylinder", "spring"}[k]) == 0;
        int wrong = 0;
        for (int r = 0; r < v->n_values; r++)
            if (v->by_reference[r]->state >= 0 || v->by_reference[r]->causality == CAUSALITY_INPUT)
                wrong += check_known(instance, structure, r);
        if (wrong > 0) printf("     seed %d\n", seed);
        CHECK(wrong == 0);
        arena_release(&arena);
        instance_free(instance);
    }
    for (int k = 0; k < 4; k++) CHECK(drives[k] > 0);
}

/* 1e-5: differences across the rounded corners of drives */
TEST(dense_jacobian)
{
    for (int seed = 0; seed < test_sample(SEEDS); seed++) {
        struct instance *instance = random_instance(seed, true);
        CHECK(jacobian_error(sim_of(instance), 0) < 1e-5);
        instance_free(instance);
    }
}

/* Its columns are the directions of its states, each element relative to the largest of its row */
TEST(dense_jacobian_is_unit_directions)
{
    static double A[MOST_Y * MOST_Y], B[MOST_Y * MOST_Y];
    double y[MOST_Y], change[MOST_Y], row[MOST_Y], worst = 0;
    int limited = 0;
    for (int seed = 0; seed < test_sample(SEEDS); seed++) {
        struct instance *instance = random_instance(seed, true);
        struct sim *sim = sim_of(instance);
        const struct drives *drives = &sim->mechanism.drives;
        const int n = instance->stepper.ode.n_v, n_x = instance->stepper.ode.n_x;
        instance_get_states(instance, y);
        CHECK(sim_jacobian(sim, 0, y, A, B) == STATUS_OK);
        for (int s = 0; s < sim->robot->n_supplies; s++) limited += drives->share[s] < 1;
        const struct input in = mechanism_loaded(&sim->mechanism, &sim->in);
        for (int i = 0; i < n; i++) row[i] = 0;
        for (int k = 0; k < n * n; k++) row[k % n] = larger(row[k % n], larger(fabs(A[k]), fabs(B[k])));
        for (int j = 0; j < 2 * n; j++) {
            if (j < n && j >= sim->n_free) continue; /* states of drives are no positions */
            sim_clear_seed(sim);
            if (j < n) sim->dx[sim->free_coordinate[j]] = 1;
            else *sim->seed_state[n_x + j - n] = 1;
            sim_tangent(sim, &in);
            for (int i = 0; i < sim->n_free; i++) change[i] = sim->dqdd[sim->free_coordinate[i]];
            drives_rates(sim->robot, sim->seed.drive, change + sim->n_free);
            const double *column = j < n ? A + n * j : B + n * (j - n);
            for (int i = 0; i < n; i++) worst = larger(worst, fabs(column[i] - change[i]) / (row[i] + 1e-9));
        }
        instance_free(instance);
    }
    printf("     worst %.1e, %d supplies limited\n", worst, limited);
    CHECK(worst < 1e-11 && limited > 0);
}

/* ---- the Newton matrix ------------------------------------------------------------------------------------------------- */

/* Its slopes with the states of drives are exact, at constant shares of the supply */
static void check_drive_slopes(struct instance *instance, double *y)
{
    double z[MOST_Y] = {0}, up[MOST_Y], down[MOST_Y], S[MOST_Y], dx[MOST_Y] = {0}, dv[MOST_Y] = {0};
    const struct ode *ode = &instance->stepper.ode;
    const struct sim *sim = sim_of(instance);
    CHECK(ode->factor(ode->context, 0, y, 1e-3) == STATUS_OK);
    bool limited = false;
    for (int s = 0; s < sim->robot->n_supplies; s++) limited |= sim->mechanism.drives.share[s] < 1;
    for (int j = sim->n_free; j < ode->n_v && !limited; j++) {
        double *w = &y[ode->n_x + j];
        const double at = *w, h = 1e-4 * instance->stepper.nominal[ode->n_x + j];
        dv[j] = 1;
        ode->stiffness(ode->context, dx, dv, S);
        dv[j] = 0;
        *w = at + h;
        CHECK(ode->residual(ode->context, 0, y, z, up) == STATUS_OK);
        *w = at - h;
        CHECK(ode->residual(ode->context, 0, y, z, down) == STATUS_OK);
        *w = at;
        for (int i = 0; i < ode->n_v; i++) {
            const double slope = (up[i] - down[i]) / (2 * h);
            CHECK_NEAR(S[i], slope, 1e-4 * fabs(slope) + 1e-9 * (fabs(up[i]) + 1) / h);
        }
    }
}

/* N z = M z + (what a change (gamma^2 z; gamma z) of the state changes), and M z is the change of the residual with z */
TEST(newton_matrix_of_drives)
{
    static const double gammas[] = {0, 1e-5, 1e-3, 0.1};
    double y[MOST_Y], z[MOST_Y], r[MOST_Y], r0[MOST_Y], S[MOST_Y], dx[MOST_Y], dv[MOST_Y], worst = 0;
    for (int seed = 0; seed < test_sample(SEEDS); seed++) {
        struct random random = {.state = (uint64_t)(1000 + seed)};
        struct instance *instance = random_instance(seed, true);
        const struct ode *ode = &instance->stepper.ode;
        const double *nominal = instance->stepper.nominal + ode->n_x;
        instance_get_states(instance, y);
        for (int g = 0; g < 4; g++) {
            const double gamma = gammas[g];
            for (int i = 0; i < ode->n_v; i++) z[i] = uniform(&random, -1, 1) * nominal[i];
            for (int i = 0; i < ode->n_v; i++) dv[i] = gamma * z[i], dx[i] = gamma * dv[i], r0[i] = 0;
            CHECK(ode->factor(ode->context, 0, y, gamma) == STATUS_OK);
            ode->stiffness(ode->context, dx, dv, S);
            CHECK(ode->residual(ode->context, 0, y, z, r) == STATUS_OK);
            memset(dx, 0, sizeof dx);
            CHECK(ode->residual(ode->context, 0, y, dx, r0) == STATUS_OK);
            for (int i = 0; i < ode->n_v; i++) r[i] += S[i] - r0[i];
            ode->solve(ode->context, r);
            for (int i = 0; i < ode->n_v; i++) worst = larger(worst, fabs(r[i] - z[i]) / nominal[i]);
            for (int i = 0; i < ode->n_v; i++) CHECK_NEAR(r[i] / nominal[i], z[i] / nominal[i], 1e-6);
        }
        check_drive_slopes(instance, y);
        instance_free(instance);
    }
    printf("     worst %.1e\n", worst);
}

/* ---- integration ------------------------------------------------------------------------------------------------------- */

static const char *const crane = "resources/crane-drives.json";

/* All methods solve the same equation; the O(n) and the dense Newton matrix find the same steps */
TEST(methods_agree)
{
    static integrator_maker *const makers[] = {esdirk_make, gauss_make, explicit_make};
    struct problem problem;
    double y[4][MOST_STATES];
    CHECK(problem_load(&problem, crane));
    for (int k = 0; k < 4; k++) {
        const struct integrator_options options = {.relative_tolerance = 1e-9, .dense = k == 3};
        CHECK(problem_solve(&problem, makers[k % 3], options, 0.05, 0.01, y[k], NULL) == STATUS_OK);
    }
    for (int k = 0; k < 4; k++) CHECK_NEAR(problem_distance(&problem, y[k], y[2]), 0, 1e-6);
    problem_free(&problem);
}

/* ---- power ------------------------------------------------------------------------------------------------------------- */

static double value_of(const struct instance *instance, const char *owner, const char *what)
{
    return instance_get(instance, named(instance, "%s.%s", owner, what));
}

/* What the drives deliver is what the arm receives; what they take, store and lose is checked with the companions */
TEST(power_of_drives)
{
    for (int seed = 0; seed < test_sample(SEEDS); seed++) {
        struct instance *instance = random_instance(seed, true);
        const struct robot *robot = sim_robot(instance);
        double delivered = 0, size = 1;
        for (int d = 0; d < robot->n_drives; d++) {
            char owner[MOST_NAME];
            const double power = value_of(instance, robot_drive_name(robot, d, owner), "power.mechanical");
            delivered += power, size += fabs(power);
        }
        for (int a = 0; a < robot->n_lines; a++) {
            const char *name = robot->line[a].name;
            if (robot_drive_of_line(robot, a) != NULL) continue;
            delivered += value_of(instance, name, "force") * value_of(instance, name, "rate");
        }
        for (int i = 0; i < robot->n_links; i++)
            CHECK(robot->link[i].joint.passive || robot_drive_of_link(robot, i) != NULL);
        const double received = value_of(instance, "power", "joints") + value_of(instance, "power", "actuators");
        CHECK_NEAR(delivered, received, 1e-12 * size);
        instance_free(instance);
    }
}

SUITE(sim_drives_test)
