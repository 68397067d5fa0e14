#include "state.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "robot/read.h"
#include "sim/point.h"

/* A joint without a drive takes no tau. */
static void check_tau(const struct place *at, const struct model *model, const double *tau)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->tau < 0 || tau[lm->tau] == 0 || !(lm->passive || lm->prescribed >= 0)) continue;
        const struct place number_at = item(at, lm->tau);
        complain(&number_at, "must be 0: joint '%s' is %s and takes no torque", model->robot->link[i].joint.name,
                 lm->passive ? "passive" : "prescribed");
    }
}

static void read_state(const struct place *document, const struct model *model, struct state *state, double *qdd)
{
    const struct {
        const char *key;
        int count;
        double *values;
        struct quantity quantity;
    } members[] = {
        {"q", model->n, state->q, {"q, one number per coordinate,", "rad, m", ANY}},
        {"qd", model->n, state->qd, {"qd, one number per coordinate,", "rad/s, m/s", ANY}},
        {"tau", model->n_joints, state->tau, {"tau, one number per joint that is not fixed,", "N.m, N", ANY}},
        {"tip_force", 3, state->tip_wrench + 3, {"tip force", "N", ANY}},
        {"tip_torque", 3, state->tip_wrench, {"tip torque", "N.m", ANY}},
        {"prescribed_qdd",
         model->n_prescribed,
         state->prescribed_qdd,
         {"one number per prescribed joint", "rad/s^2, m/s^2", ANY}},
        {"actuator_force", model->robot->n_actuators, state->actuator_force, {"one number per actuator", "N", ANY}},
        {"qdd", model->n, qdd, {"qdd, one number per coordinate,", "rad/s^2, m/s^2", ANY}},
    };
    struct object object;
    if (!object_open(&object, document, REQUIRED, "state (an object with q, qd, tau, ...)")) return;
    for (int i = 0; i < FIELD_COUNT(members); i++) {
        const struct place at = member(&object, members[i].key);
        const bool read = read_numbers(&at, OPTIONAL, &members[i].quantity, members[i].count, members[i].values);
        if (read && members[i].values == state->tau) check_tau(&at, model, state->tau);
        if (read && members[i].values == qdd) state->qdd = qdd;
    }
    object_close(&object);
}

static void start_state(const struct model *model, struct state *state)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct joint *joint = &model->robot->link[i].joint;
        if (model->link[i].q < 0) continue;
        state->q[model->link[i].q] = joint->start_position;
        state->qd[model->link[i].q] = joint->start_velocity;
    }
}

static int take_arrays(const struct model *model, struct state *state)
{
    memset(state, 0, sizeof *state);
    state->q = arena_take(&state->arena, (size_t)model->n, sizeof(double));
    state->qd = arena_take(&state->arena, (size_t)model->n, sizeof(double));
    state->tau = arena_take(&state->arena, (size_t)model->n_joints, sizeof(double));
    state->prescribed_qdd = arena_take(&state->arena, (size_t)model->n_prescribed, sizeof(double));
    state->actuator_force = arena_take(&state->arena, (size_t)model->robot->n_actuators, sizeof(double));
    state->input = (struct input){.q = state->q,
                                  .qd = state->qd,
                                  .tau = state->tau,
                                  .tip_wrench = state->tip_wrench,
                                  .prescribed_qdd = state->prescribed_qdd,
                                  .actuator_force = state->actuator_force};
    return state->arena.failed;
}

int state_read(const struct model *model, const char *file, struct state *state)
{
    struct report report = {.line = cli_print_error};
    struct reader reader = {.file = file, .report = &report};
    if (take_arrays(model, state) != 0) {
        report_add(&report, REPORT_ERROR, "%s", status_text(STATUS_NO_MEMORY));
        return report.errors;
    }
    if (file == NULL) {
        start_state(model, state);
        return 0;
    }
    size_t length;
    bool valid = false;
    const char *text = document_load(file, &state->arena, &length, &report);
    double *qdd = arena_take(&state->arena, (size_t)model->n, sizeof *qdd);
    struct json_object *root = text != NULL && qdd != NULL ? document_parse(&reader, text, length, &valid) : NULL;
    if (valid) {
        const struct place document = {.reader = &reader, .given = true, .value = root};
        read_state(&document, model, state, qdd);
    }
    json_object_put(root);
    return report.errors;
}

double *state_place(const struct model *model, struct state *state, const struct variable *variable)
{
    const struct point point = {.model = model,
                                .q = state->q,
                                .qd = state->qd,
                                .tau = state->tau,
                                .prescribed_qdd = state->prescribed_qdd,
                                .actuator_force = state->actuator_force,
                                .tip_wrench = state->tip_wrench};
    return variable_place(variable, &point);
}

void state_to_start(struct state *state, struct instance *sim)
{
    const struct model *model = sim_model(sim);
    const struct variables *v = instance_variables(sim);
    for (int r = 0; r < v->n_values; r++) {
        const struct variable *variable = v->by_reference[r];
        const struct variable *place = variable->start_of >= 0                  ? &v->row[v->state[variable->start_of]]
                                       : variable->causality == CAUSALITY_INPUT ? variable
                                                                                : NULL;
        if (place != NULL) instance_set(sim, r, *state_place(model, state, place));
    }
}

void state_free(struct state *state)
{
    arena_release(&state->arena);
}
