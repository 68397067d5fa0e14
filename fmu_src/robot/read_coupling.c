/* Couplings of joint coordinates. */
#include <stdio.h>
#include <string.h>

#include "robot/read.h"

enum { MOST_KEY = 2 * MOST_NAME };

/* J.q, J.q[2], J.position[3]: position k of a joint, as the FMU calls it; "": a part of a quaternion */
static void write_coordinate(const struct joint *joint, int k, char text[MOST_KEY])
{
    const struct joint_group group = joint_position_group(joint, k);
    text[0] = '\0';
    if (joint_quaternion(joint) >= 0 && k >= joint_quaternion(joint)) return;
    const int length = snprintf(text, MOST_KEY, "%s.%s", joint->name, group.name);
    if (group.count > 1) snprintf(text + length, (size_t)(MOST_KEY - length), "[%d]", k - group.first + 1);
}

/* The coordinate that the key of a term names; false, with an error reported, if there is none. */
static bool find_coordinate(const struct json_path *at, struct coupling_term *term)
{
    const struct robot *robot = at->reader->robot;
    const size_t length = strcspn(at->key, ".");
    const struct joint *joint = NULL;
    char text[MOST_KEY], first[MOST_KEY] = "", last[MOST_KEY] = "";
    for (int i = 0; i < robot->n_links && joint == NULL; i++) {
        const char *name = robot->link[i].joint.name;
        if (name == NULL || strlen(name) != length || strncmp(name, at->key, length) != 0) continue;
        term->link = i;
        joint = &robot->link[i].joint;
    }
    for (int k = 0; joint != NULL && k < joint_positions(joint); k++) {
        write_coordinate(joint, k, text);
        if (text[0] == '\0') continue;
        term->k = k;
        if (strcmp(text, at->key) == 0) return true;
        strcpy(first[0] == '\0' ? first : last, text);
    }
    if (joint == NULL) path_error(at, "a term must begin with the name of a joint: J.q, J.q[k] or J.position[k]");
    else if (first[0] == '\0') path_error(at, "a %s joint has no coordinate to couple", joint_type_name(joint));
    else if (last[0] == '\0') path_error(at, "the coordinate of this joint is %s", first);
    else path_error(at, "the coordinates of this joint are %s to %s", first, last);
    return false;
}

static void read_term(void *context, const struct json_path *at)
{
    static const struct quantity factor = {"factor", "gap per coordinate", ANY};
    struct coupling *coupling = context;
    struct coupling_term *term = &coupling->term[coupling->n_terms];
    if (find_coordinate(at, term) && read_number(at, REQUIRED, &factor, &term->factor)) coupling->n_terms++;
}

static void count_term(void *context, const struct json_path *at)
{
    (void)at;
    ++*(int *)context;
}

static void read_terms(const struct json_path *at, struct coupling *coupling)
{
    struct object object;
    int count = 0;
    bool acts = false;
    if (!path_open_object(&object, at, REQUIRED, "terms of a coupling")) return;
    path_each_member(at, count_term, &count);
    coupling->term = arena_allocate(&at->reader->robot->arena, (size_t)count, sizeof *coupling->term);
    if (coupling->term == NULL) return;
    path_each_member(at, read_term, coupling);
    for (int i = 0; i < coupling->n_terms; i++) acts = acts || coupling->term[i].factor != 0;
    if (coupling->n_terms == count && !acts) path_error(at, "a coupling needs a term with a factor that is not zero");
}

static const struct number_field offset = NUMBER(coupling, offset, OPTIONAL, ANY, "offset", "rad or m", 0);
static const struct number_field numbers[] = {
    NUMBER(coupling, stiffness, OPTIONAL, NON_NEGATIVE, "stiffness", "N.m/rad or N/m", 0),
    NUMBER(coupling, damping, OPTIONAL, NON_NEGATIVE, "damping", "N.m.s/rad or N.s/m", 0),
    NUMBER(coupling, backlash, OPTIONAL, NON_NEGATIVE, "backlash", "rad or m", 0),
};

static void read_coupling(const struct json_path *at, struct coupling *coupling)
{
    static const char *const rigid = "without stiffness the coupling is rigid: give stiffness or leave this out";
    struct object object;
    if (!path_open_object(&object, at, REQUIRED, "coupling")) return;
    coupling->name = read_part_name(MEMBER(&object, "name"), "coupling name");
    read_terms(MEMBER(&object, "terms"), coupling);
    read_fields(&object, 1, &offset, coupling);
    coupling->elastic = path_has_key(&object, "stiffness");
    read_fields(&object, FIELD_COUNT(numbers), numbers, coupling);
    for (int i = 1; i < FIELD_COUNT(numbers) && !coupling->elastic; i++) path_reject(&object, numbers[i].key, rigid);
    path_close_object(&object);
}

void read_couplings(const struct json_path *at, struct robot *robot)
{
    int count;
    robot->coupling = path_open_list(at, OPTIONAL, "couplings", sizeof *robot->coupling, &count);
    for (int i = 0; i < count; i++, robot->n_couplings++) read_coupling(ITEM(at, i), &robot->coupling[i]);
}
