/* Mode shapes inside the page: tangents of q. */
#include <string.h>

#include "analysis/closure.h"
#include "analysis/driven_modes.h"
#include "analysis/failure.h"
#include "analysis/modes.h"
#include "cli.h"
#include "json_out.h"
#include "linearization.h"
#include "sweep.h"
#include "view.h"

static struct json_object *new_mode(double frequency, double damping_ratio, double growth)
{
    struct json_object *out = json_object_new_object();
    json_add_number(out, "frequency", frequency);
    json_add_number(out, "damping_ratio", damping_ratio);
    json_add_number(out, "growth", growth);
    return out;
}

/* x = N y on the coordinates that move, zero on the others */
static void add_shape(struct json_object *mode, const char *key, const struct small_motion *motion, const double *y,
                      int nv, double *x)
{
    memset(x, 0, (size_t)nv * sizeof *x);
    for (int i = 0; i < motion->n; i++) {
        double *to = &x[motion->coordinate[i]];
        if (motion->N == NULL) *to = y[i];
        for (int j = 0; motion->N != NULL && j < motion->r; j++) *to += motion->N[motion->r * i + j] * y[j];
    }
    json_add_numbers(mode, key, x, nv);
}

static enum status list_modes(struct cli_model *loaded, bool joints_free, int most, double *x, struct report *report,
                              struct json_object *list)
{
    struct modes modes;
    enum status status = modes_make(&loaded->mechanism, joints_free, report, &modes);
    if (status == STATUS_OK) status = modes_at(&modes, &loaded->state.input, report);
    for (int k = 0; status == STATUS_OK && k < modes.eigen.n && k < most; k++) {
        const struct mode *mode = &modes.eigen.mode[k];
        struct json_object *out = new_mode(mode->frequency, mode->damping_ratio, mode->growth);
        add_shape(out, "re", &modes.motion, mode->re, loaded->mechanism.model->nv, x);
        add_shape(out, "im", &modes.motion, mode->im, loaded->mechanism.model->nv, x);
        json_object_array_add(list, out);
    }
    modes_free(&modes);
    return status;
}

/* ---- with drives inside the arm --------------------------------------------------------------------------------------------------- */

/* Positions of the linearization, times their nominal values, on all coordinates */
static void add_linear_shape(struct json_object *mode, const char *key, const struct linear *linear,
                             const struct driven_modes *modes, const double *vector, double *x)
{
    const int nv = linear->point->mechanism->model->nv, half = linear->n_positions;
    memset(x, 0, (size_t)nv * sizeof *x);
    for (int s = 0; s < modes->n_states; s++) {
        const int position = modes->state[s];
        if (position >= half) continue;
        const double amount = vector[s] * linear->x[position].nominal;
        for (int i = 0; i < nv; i++)
            x[i] += linear->basis != NULL ? linear->basis[half * i + position] * amount
                                          : (i == linear->coordinate[position] ? amount : 0);
    }
    json_add_numbers(mode, key, x, nv);
}

static enum status list_linear_modes(const struct common *options, int most, double *x, struct report *report,
                                     struct json_object *list)
{
    struct linearization l;
    struct driven_modes modes = {0};
    enum status status = linearization_make(options, true, report, &l);
    if (status == STATUS_OK) status = driven_modes_make(&l.linear, options->joints == JOINTS_FREE, report, &modes);
    for (int k = 0; status == STATUS_OK && k < modes.n && k < most; k++) {
        const struct driven_mode *mode = &modes.mode[k];
        struct json_object *out = new_mode(mode->frequency, mode->damping_ratio, mode->growth);
        add_linear_shape(out, "re", &l.linear, &modes, mode->re, x);
        add_linear_shape(out, "im", &l.linear, &modes, mode->im, x);
        json_object_array_add(list, out);
    }
    driven_modes_free(&modes);
    linearization_free(&l);
    return status;
}

enum status view_modes(const struct common *options, int most, struct cli_model *loaded, struct report *report,
                       struct json_object **list)
{
    const bool joints_free = options->joints == JOINTS_FREE;
    struct arena arena = {0};
    double *x = arena_allocate(&arena, (size_t)loaded->mechanism.model->nv, sizeof *x);
    *list = NULL;
    if (arena.failed) return failure_status(report, STATUS_NO_MEMORY);
    *list = json_object_new_array();
    const enum status status = modes_with_drives(loaded->robot, joints_free)
                                   ? list_linear_modes(options, most, x, report, *list)
                                   : list_modes(loaded, joints_free, most, x, report, *list);
    arena_release(&arena);
    if (status == STATUS_OK) return status;
    json_object_put(*list);
    *list = NULL;
    return status;
}
