/* Mode shapes inside the page: tangents of q. */
#include <string.h>

#include "analysis/closure.h"
#include "analysis/failure.h"
#include "analysis/modes.h"
#include "cli.h"
#include "json_out.h"
#include "linearization.h"
#include "sweep.h"
#include "view.h"

/* A shape on all coordinates, x, from the vector of a mode */
typedef void expand_shape(const void *context, const double *vector, double *x);

static void add_mode(struct json_object *list, const struct mode *mode, expand_shape *expand, const void *context,
                     int nv, double *x)
{
    struct json_object *out = json_object_new_object();
    json_add_number(out, "frequency", mode->frequency);
    json_add_number(out, "damping_ratio", mode->damping_ratio);
    json_add_number(out, "growth", mode->growth);
    expand(context, mode->re, x);
    json_add_numbers(out, "re", x, nv);
    expand(context, mode->im, x);
    json_add_numbers(out, "im", x, nv);
    json_object_array_add(list, out);
}

static void expand_motion(const void *context, const double *vector, double *x)
{
    small_motion_expand(context, vector, x);
}

static enum status list_modes(struct cli_model *loaded, bool joints_free, int most, double *x, struct report *report,
                              struct json_object *list)
{
    struct modes modes;
    enum status status = modes_make(&loaded->mechanism, joints_free, report, &modes);
    if (status == STATUS_OK) status = modes_at(&modes, &loaded->state.input, report);
    for (int k = 0; status == STATUS_OK && k < modes.eigen.n && k < most; k++)
        add_mode(list, &modes.eigen.mode[k], expand_motion, &modes.motion, loaded->mechanism.model->nv, x);
    modes_free(&modes);
    return status;
}

/* ---- with drives inside the arm --------------------------------------------------------------------------------------------------- */

struct linear_modes {
    struct linear linear;
    struct driven_modes modes;
};

/* Positions of the linearization, times their nominal values, on all coordinates */
static void expand_linear(const void *context, const double *vector, double *x)
{
    const struct linear_modes *l = context;
    const struct linear *linear = &l->linear;
    const int nv = linear->point->mechanism->model->nv, half = linear->n_positions;
    memset(x, 0, (size_t)nv * sizeof *x);
    for (int s = 0; s < l->modes.n_states; s++) {
        const int position = l->modes.state[s];
        if (position >= half) continue;
        const double amount = vector[s] * linear->x[position].nominal;
        for (int i = 0; i < nv; i++)
            x[i] += linear->basis != NULL ? linear->basis[half * i + position] * amount
                                          : (i == linear->coordinate[position] ? amount : 0);
    }
}

static enum status list_linear_modes(const struct common *options, int most, double *x, struct report *report,
                                     struct json_object *list)
{
    struct operating_point point;
    struct linear_modes l;
    enum status status = linearization_make(options, true, report, &point, &l.linear);
    if (status == STATUS_OK) status = modes_driven_make(&l.linear, options->joints == JOINTS_FREE, report, &l.modes);
    for (int k = 0; status == STATUS_OK && k < l.modes.n && k < most; k++)
        add_mode(list, &l.modes.mode[k], expand_linear, &l, point.mechanism->model->nv, x);
    operating_point_free(&point);
    return status;
}

enum status view_modes(const struct common *options, int most, struct cli_model *loaded, struct report *report,
                       struct json_object **list)
{
    const bool joints_free = options->joints == JOINTS_FREE;
    double *x = arena_allocate(options->arena, (size_t)loaded->mechanism.model->nv, sizeof *x);
    *list = NULL;
    if (x == NULL) return failure_status(report, STATUS_NO_MEMORY);
    *list = json_object_new_array();
    const enum status status = modes_with_drives(loaded->robot, joints_free)
                                   ? list_linear_modes(options, most, x, report, *list)
                                   : list_modes(loaded, joints_free, most, x, report, *list);
    if (status == STATUS_OK) return status;
    json_object_put(*list);
    *list = NULL;
    return status;
}
