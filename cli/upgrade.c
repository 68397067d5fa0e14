/* limber upgrade OLD -o NEW: a robot file of format 1 as one of format 2 with the same meaning. The text is edited, not
   written again: numbers, order and layout stay. */
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "pack.h"
#include "result.h"
#include "robot/read.h"

/* ---- places in the text of a valid JSON document ------------------------------------------------------------------ */

static const char *skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* Behind the string that begins at p */
static const char *skip_string(const char *p)
{
    for (p++; *p != '"'; p++)
        if (*p == '\\') p++;
    return p + 1;
}

/* Behind the value that begins at p */
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
    const char *space; /* behind the brace or comma */
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

/* The next item of an array; NULL behind the last. */
static const char *next_item(const char **p)
{
    if (**p == ']') return NULL;
    const char *item = skip_space(*p + 1);
    *p = skip_space(skip_value(item));
    return item;
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

/* A last member, laid out as the one before it. */
static void add_foreshortening(struct upgrade *upgrade, const char *beam)
{
    struct text_member last = {beam, beam, beam};
    while (next_member(&beam, &last)) continue;
    const size_t space = (size_t)(last.key - last.space);
    copy_up_to(upgrade, skip_value(last.value));
    append(upgrade, ",", 1);
    append(upgrade, last.space, space <= MOST_SPACE ? space : 0);
    append(upgrade, addition, strlen(addition));
}

/* Format 2 changes the default for beams that bend. */
static bool needs_addition(const struct link *link, const char *beam)
{
    const bool bends = link->beam.family[FAMILY_Y].count > 0 || link->beam.family[FAMILY_Z].count > 0;
    return link->type == BODY_BEAM && bends && beam != NULL && find_value(beam, "foreshortening") == NULL;
}

/* "limber-robot/1" becomes "limber-robot/2". */
static bool change_format(char *text)
{
    const char *format = find_value(skip_space(text), "format");
    if (format == NULL) return false;
    text[skip_string(format) - text - 2] = '2';
    return true;
}

/* False where the text spells a key in an unusual way. */
static bool edit(char *text, struct upgrade *upgrade, struct arena *arena)
{
    const size_t n = (size_t)upgrade->old->n_links, length = strlen(text);
    upgrade->text = arena_allocate(arena, length + n * (sizeof addition + MOST_SPACE + 1) + 1, 1);
    upgrade->beam = arena_allocate(arena, n, sizeof *upgrade->beam);
    if (arena->failed || !change_format(text)) return false;
    const char *links = find_value(skip_space(text), "links");
    upgrade->from = text;
    for (int i = 0; links != NULL && i < upgrade->old->n_links; i++) {
        const char *link = next_item(&links), *beam = find_value(link, "beam");
        if (!needs_addition(&upgrade->old->link[i], beam)) continue;
        add_foreshortening(upgrade, beam);
        upgrade->beam[upgrade->n_beams++] = i;
    }
    copy_up_to(upgrade, text + length);
    return true;
}

/* ---- the command ---------------------------------------------------------------------------------------------------- */

static void print_json(const struct pack_options *options, const struct upgrade *upgrade)
{
    struct json_object *json = json_object_new_object(), *beams = json_object_new_array();
    for (int i = 0; i < upgrade->n_beams; i++)
        json_object_array_add(beams, json_object_new_string(upgrade->old->link[upgrade->beam[i]].name));
    json_object_object_add(json, "file", json_object_new_string(options->output));
    json_object_object_add(json, "name", json_object_new_string(upgrade->old->name));
    json_object_object_add(json, "format", json_object_new_string("limber-robot/2"));
    json_object_object_add(json, "foreshortening_false", beams);
    puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(json);
}

static void print_summary(const struct pack_options *options, const struct upgrade *upgrade)
{
    if (options->json) {
        print_json(options, upgrade);
        return;
    }
    printf("%s: %s, limber-robot/2", options->output, upgrade->old->name);
    for (int i = 0; i < upgrade->n_beams; i++)
        printf("%s%s", i > 0 ? ", " : "; \"foreshortening\": false added to ",
               upgrade->old->link[upgrade->beam[i]].name);
    putchar('\n');
}

static int write_text(const struct pack_options *options, const struct upgrade *upgrade)
{
    const int code = result_write(options->output, upgrade->text, upgrade->length);
    if (code == EXIT_OK) print_summary(options, upgrade);
    return code;
}

/* The new text must read as format 2, whose rules on names are stricter. */
static int upgrade_text(const struct pack_options *options, const struct robot *old, char *text, struct arena *arena,
                        struct report *report)
{
    struct upgrade upgrade = {.old = old};
    struct robot *new;
    if (old->format != 1) {
        report_add(report, REPORT_ERROR, "%s: is already limber-robot/%d: nothing to upgrade", options->subject,
                   old->format);
        return EXIT_INPUT;
    }
    if (!edit(text, &upgrade, arena)) {
        report_add(report, REPORT_ERROR, "%s: cannot be edited: write the key \"format\" without escapes",
                   options->subject);
        return EXIT_INPUT;
    }
    const enum status status = robot_read_text(options->subject, upgrade.text, &new, report);
    robot_free(new);
    return status == STATUS_OK ? write_text(options, &upgrade) : EXIT_INPUT;
}

int command_upgrade(int argc, char **argv)
{
    struct pack_options options = {.command = "upgrade", .noun = "OLD.json", .file = "NEW.json"};
    int code = pack_arguments(&options, argc, argv);
    if (code != EXIT_OK) return code;

    struct report report = {.line = cli_print_error};
    struct arena arena = {0};
    struct robot *old = NULL;
    const char *text = document_load(options.subject, &arena, &report);
    char *copy = text != NULL ? arena_string(&arena, text) : NULL; /* to be edited */
    code = text != NULL && copy == NULL ? cli_no_memory("upgrade") : EXIT_INPUT;
    if (copy != NULL && robot_read_text(options.subject, copy, &old, &report) == STATUS_OK)
        code = upgrade_text(&options, old, copy, &arena, &report);
    robot_free(old);
    arena_release(&arena);
    return code;
}
