/* limber upgrade OLD -o NEW: a robot file as one of a newer format with the same meaning. The text is edited, not
   written again: numbers, order and layout stay. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json_out.h"
#include "result.h"
#include "robot/read.h"

struct options {
    struct common common;
    int format; /* 1: 2, 2: 3; 0: the newest */
};

enum { NEWEST = 3 };

static const struct option rows[] = {{"OLD.json", NULL, OPTION_ARGUMENT, TO_COMMON(robot), .help = NULL},
                                     {"--to", "2|3", OPTION_CHOICE, TO(format), .help = "the format (default: 3)"},
                                     OPTION_FILE("NEW.json", "the file to write; not the one that is read"),
                                     OPTION_JSON("JSON summary"),
                                     {0}};

static const char details[] =
    "Numbers, order and layout of the text stay. The format changes, and what its new defaults would change is spelled "
    "out: `stiffening` in place of `foreshortening`, and `\"shear\": false` of beams with material and section; with "
    "--to "
    "2 `\"foreshortening\": false` of beams with bending modes that have none. A file whose names violate the stricter "
    "rules of the newer formats is rejected, with both places in the message.";

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

static bool is_key(const struct text_member *member, const char *key)
{
    const size_t length = strlen(key);
    return strncmp(member->key + 1, key, length) == 0 && member->key[1 + length] == '"';
}

/* The value of a member; NULL where the object has none of this key. */
static const char *find_value(const char *object, const char *key)
{
    struct text_member member;
    while (next_member(&object, &member))
        if (is_key(&member, key)) return member.value;
    return NULL;
}

/* ---- editing ------------------------------------------------------------------------------------------------------ */

enum { MOST_SPACE = 64, MOST_ADDED = 128 }; /* before a key; to a beam, without space */

struct upgrade {
    const struct robot *old; /* what the text means */
    int format;              /* of the new text     */
    const char *from;        /* what of the text is not copied yet */
    char *text;              /* the new text */
    size_t length;
    int *beam; /* links whose beams now state what the new format would change */
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

/* Behind the last member of an object, laid out like it */
static void append_member(struct upgrade *upgrade, const struct text_member *last, const char *member)
{
    const size_t space = (size_t)(last->key - last->space);
    append(upgrade, ",", 1);
    append(upgrade, last->space, space <= MOST_SPACE ? space : 0);
    append(upgrade, member, strlen(member));
}

/* What format 3 has in place of foreshortening, what was the default in an older format, and that shear is left out; true if something
   was added. */
static bool edit_beam(struct upgrade *upgrade, const char *text, const struct beam *old)
{
    const bool bends = old->family[FAMILY_Y].count > 0 || old->family[FAMILY_Z].count > 0, to_3 = upgrade->format == 3;
    const char *stated = !to_3                 ? "\"foreshortening\": false"
                         : old->foreshortening ? "\"stiffening\": \"axial\""
                                               : "\"stiffening\": \"none\"";
    struct text_member member = {text, text, text};
    bool given = false;
    while (next_member(&text, &member)) {
        if (!is_key(&member, "foreshortening")) continue;
        given = true;
        if (!to_3) continue;
        copy_up_to(upgrade, member.key);
        append(upgrade, stated, strlen(stated));
        upgrade->from = skip_value(member.value);
    }
    copy_up_to(upgrade, skip_value(member.value));
    if (bends && !given) append_member(upgrade, &member, stated);
    if (bends && to_3 && old->has_section) append_member(upgrade, &member, "\"shear\": false");
    return bends && (to_3 || !given);
}

/* False if the text spells a key in an unusual way. */
static bool edit(char *text, struct upgrade *upgrade, struct arena *arena)
{
    const size_t n = (size_t)upgrade->old->n_links, length = strlen(text);
    upgrade->text = arena_allocate(arena, length + n * (MOST_ADDED + 2 * MOST_SPACE) + 1, 1);
    upgrade->beam = arena_allocate(arena, n, sizeof *upgrade->beam);
    const char *format = find_value(skip_space(text), "format"), *links = find_value(skip_space(text), "links");
    if (arena->failed || format == NULL) return false;
    text[skip_string(format) - text - 2] =
        (char)('0' + upgrade->format); /* "limber-robot/1" becomes "limber-robot/2" */
    upgrade->from = text;
    for (int i = 0; links != NULL && i < upgrade->old->n_links; i++) {
        const char *link = skip_space(links + 1), *beam = find_value(link, "beam");
        const struct link *old = &upgrade->old->link[i];
        links = skip_space(skip_value(link));
        if (old->type == BODY_BEAM && beam != NULL && edit_beam(upgrade, beam, &old->beam))
            upgrade->beam[upgrade->n_beams++] = i;
    }
    copy_up_to(upgrade, text + length);
    return true;
}

/* ---- the command ---------------------------------------------------------------------------------------------------- */

static void print_summary(const struct common *options, const struct upgrade *upgrade)
{
    struct json_object *json = json_object_new_object(), *beams = json_object_new_array();
    const bool to_3 = upgrade->format == 3;
    const char *format = to_3 ? "limber-robot/3" : "limber-robot/2";
    if (!options->json) printf("%s: %s, %s", options->output, upgrade->old->name, format);
    for (int i = 0; i < upgrade->n_beams; i++) {
        const char *name = upgrade->old->link[upgrade->beam[i]].name;
        json_object_array_add(beams, json_object_new_string(name));
        if (!options->json)
            printf("%s%s", i > 0 ? ", " : to_3 ? "; `stiffening` of " : "; \"foreshortening\": false added to ", name);
    }
    json_add_text(json, "file", options->output);
    json_add_text(json, "name", upgrade->old->name);
    json_add_text(json, "format", format);
    json_add(json, to_3 ? "stiffening" : "foreshortening_false", beams);
    if (options->json) {
        json_print(json);
        return;
    }
    putchar('\n');
    json_object_put(json);
}

static int run(const void *given, struct report *unused)
{
    const struct options *all = given;
    const struct common *options = &all->common;
    struct report report = {.line = cli_print_error, .context = (void *)(uintptr_t) "limber"};
    struct robot *old = NULL, *new = NULL;
    const char *text = document_load(options->robot, options->arena, &report);
    char *copy = text != NULL ? arena_string(options->arena, text) : NULL; /* to be edited */
    int code = text != NULL && copy == NULL ? cli_no_memory("upgrade") : EXIT_INPUT;
    (void)unused;
    if (copy != NULL && robot_read_text(options->robot, copy, &old, &report) == STATUS_OK) {
        struct upgrade upgrade = {.old = old, .format = all->format > 0 ? all->format + 1 : NEWEST};
        if (old->format >= upgrade.format)
            report_add(&report, REPORT_ERROR,
                       "%s: is already limber-robot/%d, and no file is converted to an older format", options->robot,
                       old->format);
        else if (!edit(copy, &upgrade, options->arena))
            report_add(&report, REPORT_ERROR, "%s: cannot be edited: write the key \"format\" without escapes",
                       options->robot);
        else if (robot_read_text(options->robot, upgrade.text, &new, &report) ==
                 STATUS_OK) /* stricter in newer formats */
            code = result_write(options->output, upgrade.text, upgrade.length);
        if (code == EXIT_OK) print_summary(options, &upgrade);
    }
    robot_free(new);
    robot_free(old);
    return code;
}

const struct command command_upgrade = {.name = "upgrade",
                                        .summary = "writes a robot file as one of a newer format with the same meaning",
                                        .details = details,
                                        .option = rows,
                                        .size = sizeof(struct options),
                                        .run = run};
