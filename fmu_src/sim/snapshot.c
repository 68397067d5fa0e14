/* A saved state: the numbers that are the state of an instance, one after the other, without pointers. */
#include <math.h>
#include <string.h>

#include "sim/stepper.h"

enum { SCALARS = 7, PARTS = 6 + OWN_PARTS };

static void list_parts(struct stepper *stepper, double scalars[SCALARS], struct saved_part part[PARTS])
{
    const int inputs = stepper->n_inputs;
    const struct saved_part all[PARTS] = {{stepper->value, stepper->variables->n_values},
                                          stepper->own[0],
                                          stepper->own[1],
                                          {stepper->inputs.u, inputs},
                                          {stepper->inputs.rate, inputs},
                                          {stepper->given, inputs},
                                          {stepper->memory, stepper->n_memory},
                                          {scalars, SCALARS}};
    memcpy(part, all, sizeof all);
}

size_t stepper_saved_size(const struct stepper *stepper)
{
    const int numbers = stepper->variables->n_values + stepper->own[0].count + stepper->own[1].count +
                        3 * stepper->n_inputs + stepper->n_memory + SCALARS;
    return (size_t)numbers * sizeof(double);
}

void stepper_save(struct stepper *stepper, unsigned char *bytes)
{
    struct saved_part part[PARTS];
    const struct integrator *integrator = stepper->integrator;
    if (integrator != NULL && !stepper->restart && integrator_has_history(integrator)) {
        /* a history cannot be saved: from here on this instance restarts too, with the present step size */
        stepper->first_step = integrator_step_size(integrator);
        stepper->restart = true;
    }
    if (integrator != NULL) integrator_save(integrator, stepper->memory);
    double scalars[SCALARS] = {stepper->start_time, stepper->local,       stepper->carry,  stepper->first_step,
                               stepper->tolerance,  stepper->inputs.from, stepper->restart};
    list_parts(stepper, scalars, part);
    for (int i = 0; i < PARTS; i++) {
        const size_t size = (size_t)part[i].count * sizeof(double);
        if (size > 0) memcpy(bytes, part[i].numbers, size);
        bytes += size;
    }
}

enum status stepper_restore(struct stepper *stepper, const unsigned char *bytes, double *tolerance)
{
    struct saved_part part[PARTS];
    double scalars[SCALARS]; /* they are last */
    memcpy(scalars, bytes + stepper_saved_size(stepper) - sizeof scalars, sizeof scalars);
    for (int i = 0; i < SCALARS; i++)
        if (!isfinite(scalars[i])) return STATUS_BAD_INPUT;
    list_parts(stepper, scalars, part);
    for (int i = 0; i < PARTS; i++) {
        const size_t size = (size_t)part[i].count * sizeof(double);
        if (size > 0) memcpy(part[i].numbers, bytes, size);
        bytes += size;
    }
    stepper->start_time = scalars[0];
    stepper->local = scalars[1];
    stepper->carry = scalars[2];
    stepper->first_step = scalars[3];
    *tolerance = scalars[4];
    stepper->inputs.from = scalars[5];
    stepper_interrupt(stepper);
    stepper->restart = scalars[6] != 0;
    return STATUS_OK;
}
