#include "state.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct member {
    const char *key;
    int count;
    double *values;
    const char *meaning;
    bool seen;
};

/* The whole of a stream, NUL terminated; the caller frees it. */
static char *read_stream(FILE *stream)
{
    size_t room = 4096, used = 0;
    char *text = malloc(room);
    while (text != NULL) {
        used += fread(text + used, 1, room - used - 1, stream);
        if (used < room - 1) break;
        char *larger = realloc(text, room *= 2);
        if (larger == NULL) free(text);
        text = larger;
    }
    if (text != NULL) text[used] = '\0';
    return text;
}

static struct json_object *parse(const char *file)
{
    FILE *stream = strcmp(file, "-") == 0 ? stdin : fopen(file, "rb");
    char *text = stream != NULL ? read_stream(stream) : NULL;
    if (stream != NULL && stream != stdin) fclose(stream);
    if (text == NULL) {
        fprintf(stderr, "limber: %s: cannot be read\n", file);
        return NULL;
    }
    struct json_tokener *tokener = json_tokener_new_ex(64);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    struct json_object *object = json_tokener_parse_ex(tokener, text, (int)strlen(text) + 1);
    if (json_tokener_get_error(tokener) != json_tokener_success) {
        fprintf(stderr, "limber: %s: at byte %zu: %s\n", file, json_tokener_get_parse_end(tokener),
                json_tokener_error_desc(json_tokener_get_error(tokener)));
        json_object_put(object);
        object = NULL;
    }
    json_tokener_free(tokener);
    free(text);
    return object;
}

static int read_member(const char *file, struct member *member, struct json_object *value)
{
    member->seen = true;
    if (!json_object_is_type(value, json_type_array) || (int)json_object_array_length(value) != member->count) {
        fprintf(stderr, "limber: %s: %s: expected an array of %d numbers (%s)", file, member->key, member->count,
                member->meaning);
        if (json_object_is_type(value, json_type_array))
            fprintf(stderr, ", it has %zu", json_object_array_length(value));
        fputc('\n', stderr);
        return 1;
    }
    int bad = 0;
    for (int i = 0; i < member->count; i++) {
        struct json_object *number = json_object_array_get_idx(value, (size_t)i);
        const bool is_number =
            json_object_is_type(number, json_type_double) || json_object_is_type(number, json_type_int);
        member->values[i] = is_number ? json_object_get_double(number) : NAN;
        if (!isfinite(member->values[i])) {
            fprintf(stderr, "limber: %s: %s[%d] = %s: expected a finite number\n", file, member->key, i,
                    number == NULL ? "null" : json_object_to_json_string(number));
            bad++;
        }
    }
    return bad;
}

static int read_members(const char *file, struct json_object *object, struct member *members, int count)
{
    int bad = 0;
    if (!json_object_is_type(object, json_type_object)) {
        fprintf(stderr, "limber: %s: expected an object with q, qd, tau, ...\n", file);
        return 1;
    }
    json_object_object_foreach(object, key, value)
    {
        struct member *member = NULL;
        for (int i = 0; i < count; i++)
            if (strcmp(members[i].key, key) == 0) member = &members[i];
        if (member == NULL) {
            fprintf(stderr, "limber: %s: unknown key \"%s\": expected", file, key);
            for (int i = 0; i < count; i++) fprintf(stderr, "%s %s", i == 0 ? "" : ",", members[i].key);
            fputc('\n', stderr);
            bad++;
        } else {
            bad += read_member(file, member, value);
        }
    }
    return bad;
}

static int check_tau(const char *file, const struct model *model, const double *tau)
{
    int bad = 0;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        if (lm->tau < 0 || tau[lm->tau] == 0 || !(lm->passive || lm->prescribed >= 0)) continue;
        fprintf(stderr, "limber: %s: tau[%d] = %g: joint '%s' is %s and takes no torque: expected 0\n", file, lm->tau,
                tau[lm->tau], model->robot->link[i].joint.name, lm->passive ? "passive" : "prescribed");
        bad++;
    }
    return bad;
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

int state_read(const struct model *model, const char *file, struct state *state)
{
    memset(state, 0, sizeof *state);
    const int n = model->n, n_actuators = model->robot->n_actuators;
    state->q = arena_take(&state->arena, (size_t)n, sizeof(double));
    state->qd = arena_take(&state->arena, (size_t)n, sizeof(double));
    state->tau = arena_take(&state->arena, (size_t)model->n_joints, sizeof(double));
    state->prescribed_qdd = arena_take(&state->arena, (size_t)model->n_prescribed, sizeof(double));
    state->actuator_force = arena_take(&state->arena, (size_t)n_actuators, sizeof(double));
    double *qdd = arena_take(&state->arena, (size_t)n, sizeof(double));
    if (state->arena.failed) {
        fprintf(stderr, "limber: out of memory\n");
        return 1;
    }
    state->input = (struct input){state->q, state->qd, state->tau, state->tip_wrench, state->prescribed_qdd};
    if (file == NULL) {
        start_state(model, state);
        return 0;
    }
    struct json_object *object = parse(file);
    if (object == NULL) return 1;
    struct member members[] = {
        {"q", n, state->q, "one per coordinate", false},
        {"qd", n, state->qd, "one per coordinate", false},
        {"tau", model->n_joints, state->tau, "one per joint that is not fixed", false},
        {"tip_force", 3, state->tip_wrench + 3, "world axes", false},
        {"tip_torque", 3, state->tip_wrench, "world axes", false},
        {"prescribed_qdd", model->n_prescribed, state->prescribed_qdd, "one per prescribed joint", false},
        {"actuator_force", n_actuators, state->actuator_force, "one per actuator", false},
        {"qdd", n, qdd, "one per coordinate", false}};
    enum { COUNT = sizeof members / sizeof members[0] };
    const int bad = read_members(file, object, members, COUNT) + check_tau(file, model, state->tau);
    if (members[COUNT - 1].seen) state->qdd = qdd;
    json_object_put(object);
    return bad;
}

void state_free(struct state *state)
{
    arena_release(&state->arena);
}
