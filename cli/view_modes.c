/* Mode shapes inside the page: tangents of q. */
#include <string.h>

#include "analysis/closure.h"
#include "analysis/driven_modes.h"
#include "analysis/failure.h"
#include "analysis/modes.h"
#include "cli.h"
#include "json_out.h"
#include "linearization.h"
#include "view.h"

static struct json_object *new_mode(double frequency, double damping_ratio, double growth)
{
    struct json_object *out = json_object_new_object();
    json_object_object_add(out, "frequency", json_object_new_double(frequency));
    json_object_object_add(out, "damping_ratio", json_object_new_double(damping_ratio));
    json_object_object_add(out, "growth", json_object_new_double(growth));
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

static struct json_object *modes_json(const struct modes *modes, int most, double *x)
{
    struct json_object *list = json_object_new_array();
    for (int k = 0; k < modes->eigen.n && k < most; k++) {
        const struct mode *mode = &modes->eigen.mode[k];
        struct json_object *out = new_mode(mode->frequency, mode->damping_ratio, mode->growth);
        add_shape(out, "re", &modes->motion, mode->re, modes->mechanism->model->nv, x);
        add_shape(out, "im", &modes->motion, mode->im, modes->mechanism->model->nv, x);
        json_object_array_add(list, out);
    }
    return list;
}

static enum status plain_modes(struct cli_model *loaded, bool joints_free, int most, struct arena *arena,
                               struct report *report, struct json_object **list)
{
    struct modes modes;
    double *x = arena_allocate(arena, (size_t)loaded->mechanism.model->nv, sizeof *x);
    enum status status = modes_make(&loaded->mechanism, joints_free, report, &modes);
    if (status == STATUS_OK) status = modes_at(&modes, &loaded->state.input, report);
    if (status == STATUS_OK && x == NULL) status = failure_status(report, STATUS_NO_MEMORY);
    if (status == STATUS_OK) *list = modes_json(&modes, most, x);
    modes_free(&modes);
    return status;
}

/* ---- with drives inside the arm --------------------------------------------------------------------------------------------------- */

/* Positions of the linearization, times their nominal values, on all coordinates */
static void add_driven_shape(struct json_object *mode, const char *key, const struct linear *linear,
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

static struct json_object *driven_json(const struct linear *linear, const struct driven_modes *modes, int most,
                                       double *x)
{
    struct json_object *list = json_object_new_array();
    for (int k = 0; k < modes->n && k < most; k++) {
        const struct driven_mode *mode = &modes->mode[k];
        struct json_object *out = new_mode(mode->frequency, mode->damping_ratio, mode->growth);
        add_driven_shape(out, "re", linear, modes, mode->re, x);
        add_driven_shape(out, "im", linear, modes, mode->im, x);
        json_object_array_add(list, out);
    }
    return list;
}

static enum status driven_list(const char *robot, const char *at, bool joints_free, int most, struct arena *arena,
                               struct report *report, struct json_object **list)
{
    const struct linear_options options = {.robot = robot, .at = at};
    struct linearization l;
    struct driven_modes modes = {0};
    enum status status = linearization_make("view", &options, true, report, &l);
    if (status == STATUS_OK) status = driven_modes_make(&l.linear, joints_free, report, &modes);
    if (status == STATUS_OK) {
        double *x = arena_allocate(arena, (size_t)l.point.mechanism->model->nv, sizeof *x);
        if (x != NULL) *list = driven_json(&l.linear, &modes, most, x);
        else status = failure_status(report, STATUS_NO_MEMORY);
    }
    driven_modes_free(&modes);
    linearization_free(&l);
    return status;
}

enum status view_modes(const char *robot, const char *at, bool joints_free, int most, struct cli_model *loaded,
                       struct report *report, struct json_object **list)
{
    struct arena arena = {0};
    bool driven = false;
    for (int d = 0; d < loaded->robot->n_drives; d++)
        driven = driven || joints_free || loaded->robot->drive[d].actuator >= 0;
    *list = NULL;
    const enum status status = driven ? driven_list(robot, at, joints_free, most, &arena, report, list)
                                      : plain_modes(loaded, joints_free, most, &arena, report, list);
    arena_release(&arena);
    return status;
}
