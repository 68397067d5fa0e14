#include "oracle/variable_slopes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/larger.h"
#include "sim/variables_row.h"

enum { MOST = 2048 }; /* variables */

void move_at_random(struct instance *instance, struct random *random)
{
    const struct variables *v = instance_variables(instance);
    for (int r = 0; r < v->n_values; r++) {
        const struct variable *variable = v->by_reference[r];
        const double size = variable->state >= 0 ? variable->nominal : 1;
        if (variable->state >= 0 || variable->causality == CAUSALITY_INPUT)
            instance_set(instance, r, instance_get(instance, r) + uniform(random, -0.3, 0.3) * size);
    }
}

/* The mass of a payload, or an added mass, which may change between steps */
static bool is_parameter(const struct variable *variable)
{
    return variable->variability == VARIABILITY_TUNABLE && variable->row->place != NULL && variable->row->count == 1;
}

static bool is_unknown(const struct variable *variable)
{
    return variable->causality == CAUSALITY_OUTPUT || variable->derivative_of >= 0;
}

static void take_values(struct instance *instance, double *value)
{
    const struct variables *v = instance_variables(instance);
    const bool updated = instance_update(instance) == STATUS_OK;
    for (int r = 0; r < v->n_values; r++) value[r] = updated ? instance_get(instance, r) : NAN;
}

/* Central differences of eighth order */
void slopes_by(struct instance *instance, int known, double h, double *slope)
{
    static const double weight[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    const int n = instance_variables(instance)->n_values;
    const double at = instance_get(instance, known);
    double value[MOST];
    memset(slope, 0, (size_t)n * sizeof *slope);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        instance_set(instance, known, at + k * h);
        take_values(instance, value);
        for (int r = 0; r < n; r++) slope[r] += (k < 0 ? -1 : 1) * weight[abs(k) - 1] / h * value[r];
    }
    instance_set(instance, known, at);
}

double largest_slope(const double *slope, int n)
{
    double largest = 1;
    for (int r = 0; r < n; r++) largest = larger(largest, fabs(slope[r]));
    return largest;
}

static int check_known(struct instance *instance, const struct structure *structure, int known, double *worst)
{
    const struct variables *v = instance_variables(instance);
    const double nominal = v->by_reference[known]->nominal, h = nominal > 0 ? larger(2e-3 * nominal, 1e-4) : 1e-2,
                 one = 1;
    double slope[MOST], change[MOST];
    int n = 0, wrong = 0, row[MOST], reference[MOST];
    slopes_by(instance, known, h, slope);
    const double size = largest_slope(slope, v->n_values);
    for (int u = 0; u < v->n; u++) {
        if (!is_unknown(&v->row[u])) continue;
        row[n] = u;
        reference[n++] = v->row[u].reference;
    }
    if (instance_directional(instance, n, reference, 1, &known, &one, change) != STATUS_OK) return 1;
    for (int i = 0; i < n; i++) {
        const struct variable *unknown = &v->row[row[i]];
        const double error = fabs(change[i] - slope[reference[i]]) / size;
        const bool declared = is_parameter(v->by_reference[known]) || /* not an argument after initialization */
                              variable_depends(unknown, v->by_reference[known], structure);
        const bool zero = fabs(change[i]) <= 1e-13 * size;
        *worst = larger(*worst, error);
        if (error < 1e-6 && (zero || declared)) continue;
        wrong++;
        printf("     d %s/d %s: %g, not %g%s\n", unknown->name, v->by_reference[known]->name, change[i],
               slope[reference[i]], declared ? "" : ", not declared");
    }
    return wrong;
}

int count_wrong_slopes(struct instance *instance, double *worst)
{
    struct arena arena = {0};
    const struct variables *v = instance_variables(instance);
    const struct structure *structure = structure_make(sim_model(instance), &arena);
    int wrong = v->n > MOST;
    for (int r = 0; r < v->n_values && v->n <= MOST; r++)
        if (v->by_reference[r]->state >= 0 || v->by_reference[r]->causality == CAUSALITY_INPUT ||
            (is_parameter(v->by_reference[r]) && instance_get(instance, r) > 0.1)) /* differences need both sides */
            wrong += check_known(instance, structure, r, worst);
    arena_release(&arena);
    return wrong;
}
