/* limber upgrade OLD -o NEW: a robot file of format 1 as one of format 2 with the same meaning. The text is edited, not
   written again: numbers, order and layout stay. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json_out.h"
#include "result.h"
#include "robot/read.h"

static const struct option rows[] = {{"OLD.json", NULL, OPTION_ARGUMENT, TO_COMMON(robot), .help = NULL},
                                     OPTION_FILE("NEW.json", "the file to write; not the one that is read"),
                                     OPTION_JSON("JSON summary"),
                                     {0}};

static const char details[] =
    "Numbers, order and layout of the text stay. The format changes, and beams with bending modes that have no "
    "`foreshortening` get `\"foreshortening\": false`: in format 2 the default is true. A file whose names violate the "
    "stricter rules of format 2 is rejected, with both places in the message.";

/* ---- places in the text of a valid JSON document ------------------------------------------------------------------ */

static const char *skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* The end of the string that begins at p */
static const char *skip_string(const char *p)
{
    for (p++; *p != '"'; p++)
        if (*p == '\\') p++;
    return p + 1;
}

/* The end of the value that begins at p */
static const char *skip_value(const char *p)
{
    int depth = 0;
    do {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        if (*p == '{' || *p == '[') depth++;
        if (*p == '}' || *p == ']') depth--;
        p++;
    } while (depth > 0 || strchr(",]} \t\r\n", *p) == NULL);
    return p;
}

/* A member of the object that begins at p: its key, its value, and what is before the key. */
struct text_member {
    const char *key, *value;
    const char *space; /* after the brace or comma */
};

/* The next member, where p is at the brace, the comma or the end before it; false behind the last. */
static bool next_member(const char **p, struct text_member *member)
{
    if (**p == '}') return false;
    member->space = *p + 1;
    member->key = skip_space(member->space);
    if (*member->key != '"') return false; /* an empty object */
    member->value = skip_space(skip_space(skip_string(member->key)) + 1);
    *p = skip_space(skip_value(member->value));
    return true;
}

/* The value of a member; NULL where the object has none of this key. */
static const char *find_value(const char *object, const char *key)
{
    const size_t length = strlen(key);
    struct text_member member;
    while (next_member(&object, &member))
        if (strncmp(member.key + 1, key, length) == 0 && member.key[1 + length] == '"') return member.value;
    return NULL;
}

/* ---- editing ------------------------------------------------------------------------------------------------------ */

enum { MOST_SPACE = 64 };

static const char addition[] = "\"foreshortening\": false";

struct upgrade {
    const struct robot *old; /* what the text means */
    const char *from;        /* what of the text is not copied yet */
    char *text;              /* the new text */
    size_t length;
    int *beam; /* links whose beams were given the addition */
    int n_beams;
};

static void append(struct upgrade *upgrade, const char *from, size_t length)
{
    memcpy(upgrade->text + upgrade->length, from, length);
    upgrade->length += length;
}

static void copy_up_to(struct upgrade *upgrade, const char *to)
{
    append(upgrade, upgrade->from, (size_t)(to - upgrade->from));
    upgrade->from = to;
}

/* Beams that bend get what was the default in format 1. False if the text spells a key in an unusual way. */
static bool edit(char *text, struct upgrade *upgrade, struct arena *arena)
{
    const size_t n = (size_t)upgrade->old->n_links, length = strlen(text);
    upgrade->text = arena_allocate(arena, length + n * (sizeof addition + MOST_SPACE + 1) + 1, 1);
    upgrade->beam = arena_allocate(arena, n, sizeof *upgrade->beam);
    const char *format = find_value(skip_space(text), "format"), *links = find_value(skip_space(text), "links");
    if (arena->failed || format == NULL) return false;
    text[skip_string(format) - text - 2] = '2'; /* "limber-robot/1" becomes "limber-robot/2" */
    upgrade->from = text;
    for (int i = 0; links != NULL && i < upgrade->old->n_links; i++) {
        const char *link = skip_space(links + 1), *beam = find_value(link, "beam");
        links = skip_space(skip_value(link));
        const struct link *old = &upgrade->old->link[i];
        const bool bends = old->beam.family[FAMILY_Y].count > 0 || old->beam.family[FAMILY_Z].count > 0;
        if (old->type != BODY_BEAM || !bends || beam == NULL || find_value(beam, "foreshortening") != NULL) continue;
        struct text_member last = {beam, beam, beam};
        while (next_member(&beam, &last)) continue;
        const size_t space = (size_t)(last.key - last.space);
        copy_up_to(upgrade, skip_value(last.value));
        append(upgrade, ",", 1);
        append(upgrade, last.space, space <= MOST_SPACE ? space : 0); /* laid out as the member before */
        append(upgrade, addition, strlen(addition));
        upgrade->beam[upgrade->n_beams++] = i;
    }
    copy_up_to(upgrade, text + length);
    return true;
}

/* ---- the command ---------------------------------------------------------------------------------------------------- */

static void print_summary(const struct common *options, const struct upgrade *upgrade)
{
    struct json_object *json = json_object_new_object(), *beams = json_object_new_array();
    if (!options->json) printf("%s: %s, limber-robot/2", options->output, upgrade->old->name);
    for (int i = 0; i < upgrade->n_beams; i++) {
        const char *name = upgrade->old->link[upgrade->beam[i]].name;
        json_object_array_add(beams, json_object_new_string(name));
        if (!options->json) printf("%s%s", i > 0 ? ", " : "; \"foreshortening\": false added to ", name);
    }
    json_add_text(json, "file", options->output);
    json_add_text(json, "name", upgrade->old->name);
    json_add_text(json, "format", "limber-robot/2");
    json_add(json, "foreshortening_false", beams);
    if (options->json) {
        json_print(json);
        return;
    }
    putchar('\n');
    json_object_put(json);
}

static int run(const void *given, struct report *unused)
{
    const struct common *options = given;
    struct report report = {.line = cli_print_error, .context = (void *)(uintptr_t) "limber"};
    struct arena arena = {0};
    struct robot *old = NULL, *new = NULL;
    const char *text = document_load(options->robot, &arena, &report);
    char *copy = text != NULL ? arena_string(&arena, text) : NULL; /* to be edited */
    int code = text != NULL && copy == NULL ? cli_no_memory("upgrade") : EXIT_INPUT;
    (void)unused;
    if (copy != NULL && robot_read_text(options->robot, copy, &old, &report) == STATUS_OK) {
        struct upgrade upgrade = {.old = old};
        if (old->format != 1)
            report_add(&report, REPORT_ERROR, "%s: is already limber-robot/%d: nothing to upgrade", options->robot,
                       old->format);
        else if (!edit(copy, &upgrade, &arena))
            report_add(&report, REPORT_ERROR, "%s: cannot be edited: write the key \"format\" without escapes",
                       options->robot);
        else if (robot_read_text(options->robot, upgrade.text, &new, &report) == STATUS_OK) /* stricter in format 2 */
            code = result_write(options->output, upgrade.text, upgrade.length);
        if (code == EXIT_OK) print_summary(options, &upgrade);
    }
    robot_free(new);
    robot_free(old);
    arena_release(&arena);
    return code;
}

const struct command command_upgrade = {.name = "upgrade",
                                        .summary =
                                            "writes a robot file of format 1 as one of format 2 with the same meaning",
                                        .details = details,
                                        .option = rows,
                                        .size = sizeof(struct common),
                                        .run = run};
