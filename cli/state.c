#include "state.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "robot/read.h"

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
    if (variable->kind == KIND_ACTUATOR_FORCE) return &state->actuator_force[variable->owner];
    const struct link_model *lm = &model->link[variable->owner];
    switch (variable->kind) {
    case KIND_Q:
    case KIND_Q_IN: return &state->q[lm->q];
    case KIND_QD:
    case KIND_QD_IN: return &state->qd[lm->q];
    case KIND_ETA: return &state->q[lm->eta + variable->k];
    case KIND_ETAD: return &state->qd[lm->eta + variable->k];
    case KIND_QDD_IN: return &state->prescribed_qdd[lm->prescribed];
    case KIND_TAU_IN: return &state->tau[lm->tau];
    case KIND_TIP_FORCE: return &state->tip_wrench[3 + variable->k];
    default: return &state->tip_wrench[variable->k]; /* KIND_TIP_TORQUE */
    }
}

void state_to_start(struct state *state, struct sim *sim)
{
    const struct model *model = sim_model(sim);
    const struct variables *v = sim_variables(sim);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (v->first[KIND_Q_START][i] >= 0) {
            sim_set(sim, v->first[KIND_Q_START][i], state->q[lm->q]);
            sim_set(sim, v->first[KIND_QD_START][i], state->qd[lm->q]);
        }
        for (int k = 0; k < lm->m; k++) {
            sim_set(sim, v->first[KIND_ETA_START][i] + k, state->q[lm->eta + k]);
            sim_set(sim, v->first[KIND_ETAD_START][i] + k, state->qd[lm->eta + k]);
        }
    }
    for (int r = 0; r < v->n; r++)
        if (v->row[r].causality == CAUSALITY_INPUT)
            sim_set(sim, v->row[r].reference, *state_place(model, state, &v->row[r]));
}

void state_free(struct state *state)
{
    arena_release(&state->arena);
}
