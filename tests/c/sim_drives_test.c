/* Drives inside the arm: derivatives, dependencies, the Newton matrix, integration, saved states, power, on random chains whose joints and
   line actuators have every type of drive. */
#include "test.h"

#include <stdarg.h>
#include <string.h>

#include "drive/drive.h"
#include "ode/esdirk.h"
#include "ode/explicit.h"
#include "ode/gauss.h"
#include "oracle/problem.h"
#include "oracle/random.h"
#include "oracle/variable_slopes.h"
#include "sim/robot_instance.h"

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
static struct instance *random_instance(int seed, bool moved, struct report *report)
{
    static char text[TEXT];
    struct random random = {.state = (uint64_t)seed};
    struct instance *instance = NULL;
    random_text(&random, text);
    CHECK(sim_make("random", text, report, &instance) == STATUS_OK);
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
    const double nominal = v->by_reference[known]->nominal, h = nominal > 0 ? fmax(1e-4 * nominal, 1e-4) : 1e-3,
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
        struct report report = {0};
        struct arena arena = {0};
        struct instance *instance = random_instance(seed, true, &report);
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

/* The integrator's dense Jacobian is the difference of its right-hand side */
TEST(dense_jacobian)
{
    static double A[MOST_Y * MOST_Y], B[MOST_Y * MOST_Y];
    double y[MOST_Y], up[MOST_Y], down[MOST_Y];
    for (int seed = 0; seed < test_sample(SEEDS); seed++) {
        struct report report = {0};
        struct instance *instance = random_instance(seed, true, &report);
        const struct ode *ode = &instance->stepper.ode;
        const double *nominal = instance->stepper.nominal;
        instance_get_states(instance, y);
        CHECK(ode->jacobian(ode->context, 0, y, A, B) == STATUS_OK);
        for (int j = 0; j < ode->n_x + ode->n_v; j++) {
            const double *column = j < ode->n_x ? A + ode->n_v * j : B + ode->n_v * (j - ode->n_x);
            const double at = y[j], h = 1e-5 * nominal[j];
            y[j] = at + h;
            CHECK(ode->rhs(ode->context, 0, y, up) == STATUS_OK);
            y[j] = at - h;
            CHECK(ode->rhs(ode->context, 0, y, down) == STATUS_OK);
            y[j] = at;
            for (int i = 0; i < ode->n_v; i++) {
                const double slope = (up[ode->n_x + i] - down[ode->n_x + i]) / (2 * h);
                const double size = fabs(up[ode->n_x + i]) + nominal[ode->n_x + i];
                CHECK_NEAR(column[i], slope, 1e-4 * fabs(slope) + 1e-5 * size / nominal[j]);
            }
        }
        for (int j = ode->n_x; j < ode->n_v; j++) CHECK(A[ode->n_v * j] == 0);
        instance_free(instance);
    }
}

/* ---- the Newton matrix ------------------------------------------------------------------------------------------------- */

/* N z = M z + (what a change (gamma^2 z; gamma z) of the state changes), and M z is the change of the residual with z */
TEST(solution_with_the_newton_matrix)
{
    static const double gammas[] = {0, 1e-5, 1e-3, 0.1};
    double y[MOST_Y], z[MOST_Y], r[MOST_Y], r0[MOST_Y], S[MOST_Y], dx[MOST_Y], dv[MOST_Y], worst = 0;
    for (int seed = 0; seed < test_sample(SEEDS); seed++) {
        struct random random = {.state = (uint64_t)(1000 + seed)};
        struct report report = {0};
        struct instance *instance = random_instance(seed, true, &report);
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
            for (int i = 0; i < ode->n_v; i++) worst = fmax(worst, fabs(r[i] - z[i]) / nominal[i]);
            for (int i = 0; i < ode->n_v; i++) CHECK_NEAR(r[i] / nominal[i], z[i] / nominal[i], 1e-6);
        }
        instance_free(instance);
    }
    printf("     worst %.1e\n", worst);
}

/* Its slopes with the states of drives are exact, at constant shares of the supply */
TEST(slopes_of_the_newton_matrix)
{
    double y[MOST_Y], z[MOST_Y] = {0}, up[MOST_Y], down[MOST_Y], S[MOST_Y], dx[MOST_Y] = {0}, dv[MOST_Y] = {0};
    for (int seed = 0; seed < test_sample(SEEDS); seed++) {
        struct report report = {0};
        struct instance *instance = random_instance(seed, true, &report);
        const struct ode *ode = &instance->stepper.ode;
        const struct sim *sim = sim_of(instance);
        const double *nominal = instance->stepper.nominal;
        instance_get_states(instance, y);
        CHECK(ode->factor(ode->context, 0, y, 1e-3) == STATUS_OK);
        bool limited = false;
        for (int s = 0; s < sim->robot->n_supplies; s++) limited |= sim->drives.share[s] < 1;
        for (int j = sim->n_free; j < ode->n_v && !limited; j++) {
            double *w = &y[ode->n_x + j];
            const double at = *w, h = 1e-4 * nominal[ode->n_x + j];
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
        instance_free(instance);
    }
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

/* Fixed steps of ESDIRK have its order 5: halving them divides the error by 32 */
TEST(order_of_convergence)
{
    struct problem problem;
    double reference[MOST_STATES], y[MOST_STATES], error[2];
    CHECK(problem_load(&problem, crane));
    CHECK(problem_solve(&problem, explicit_make, (struct integrator_options){.relative_tolerance = 1e-12}, 0.02, 0.01,
                        reference, NULL) == STATUS_OK);
    for (int k = 0; k < 2; k++) {
        const struct integrator_options options = {.relative_tolerance = 1e-6, .fixed_step = 4e-5 / (1 << k)};
        CHECK(problem_solve(&problem, esdirk_make, options, 0.02, 0.01, y, NULL) == STATUS_OK);
        error[k] = problem_distance(&problem, y, reference);
    }
    printf("     errors %.1e, %.1e\n", error[0], error[1]);
    CHECK(error[0] > 20 * error[1] && error[0] < 1e-3);
    problem_free(&problem);
}

/* A restored copy continues with the same bits */
TEST(saved_states)
{
    static unsigned char bytes[1 << 18], again[1 << 18];
    double x[2][MOST_Y];
    for (int seed = 0; seed < test_sample(10); seed++) {
        struct report report = {0};
        struct instance *a = random_instance(seed, false, &report), *b = random_instance(seed, false, &report);
        const size_t size = instance_saved_size(a);
        CHECK(size <= sizeof bytes);
        CHECK(instance_step(a, 0.01) == STATUS_OK);
        instance_save(a, bytes);
        CHECK(instance_restore(b, bytes, true) == STATUS_OK);
        instance_save(b, again);
        CHECK(memcmp(bytes, again, size) == 0);
        CHECK(instance_step(a, 0.01) == STATUS_OK && instance_step(b, 0.01) == STATUS_OK);
        instance_get_states(a, x[0]);
        instance_get_states(b, x[1]);
        CHECK(memcmp(x[0], x[1], (size_t)instance_variables(a)->n_states * sizeof(double)) == 0);
        instance_free(a);
        instance_free(b);
    }
}

/* ---- power ------------------------------------------------------------------------------------------------------------- */

static double value_of(const struct instance *instance, const char *name)
{
    const int row = variables_find(instance_variables(instance), name);
    CHECK(row >= 0);
    return row >= 0 ? instance_get(instance, instance_variables(instance)->row[row].reference) : 0;
}

/* What the drives deliver is what the arm receives, and what they take is delivered, stored or lost */
TEST(power_of_drives)
{
    static const char *const taken[] = {"power.supply", "power.electrical", "power.motor"};
    for (int seed = 0; seed < test_sample(SEEDS); seed++) {
        struct report report = {0};
        struct instance *instance = random_instance(seed, true, &report);
        const struct variables *v = instance_variables(instance);
        const struct robot *robot = sim_robot(instance);
        double delivered = 0, size = 1;
        for (int d = 0; d < robot->n_drives; d++) {
            char owner[MOST_NAME];
            const size_t length = strlen(robot_drive_name(robot, d, owner));
            double balance = 0, largest = 0;
            for (int r = 0; r < v->n_values; r++) {
                const char *name = v->by_reference[r]->name;
                if (strncmp(name, owner, length) != 0 || strncmp(name + length, ".power.", 7) != 0) continue;
                const double power = instance_get(instance, r);
                bool is_taken = false;
                for (int k = 0; k < 3; k++) is_taken |= strcmp(name + length + 1, taken[k]) == 0;
                balance += is_taken ? power : -power;
                largest = fmax(largest, fabs(power));
                if (strcmp(name + length, ".power.mechanical") == 0) delivered += power, size += fabs(power);
            }
            CHECK_NEAR(balance, 0, 1e-12 * largest);
        }
        for (int a = 0; a < robot->n_actuators; a++) {
            char force[MOST_NAME], rate[MOST_NAME];
            if (robot_drive_of_actuator(robot, a) != NULL) continue;
            snprintf(force, sizeof force, "%s.force", robot->actuator[a].name);
            snprintf(rate, sizeof rate, "%s.rate", robot->actuator[a].name);
            delivered += value_of(instance, force) * value_of(instance, rate);
        }
        for (int i = 0; i < robot->n_links; i++)
            CHECK(robot->link[i].joint.passive || robot_drive_of_link(robot, i) != NULL);
        CHECK_NEAR(delivered, value_of(instance, "power.joints") + value_of(instance, "power.actuators"), 1e-12 * size);
        instance_free(instance);
    }
}

int sim_drives_test(void)
{
    RUN(derivatives_and_dependencies);
    RUN(dense_jacobian);
    RUN(solution_with_the_newton_matrix);
    RUN(slopes_of_the_newton_matrix);
    RUN(methods_agree);
    RUN(order_of_convergence);
    RUN(saved_states);
    RUN(power_of_drives);
    return test_summary();
}
