/* limber check ROBOT: validates a robot file and prints what it is. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/names.h"
#include "analysis/summary.h"
#include "cli.h"
#include "drive/drive.h"
#include "json_out.h"

static const char *const loop_types[] = {
    [LOOP_BALL] = "ball", [LOOP_PLANAR_PIN] = "planar-pin", [LOOP_PIN] = "pin", [LOOP_WELD] = "weld"};
static const char *const body_types[] = {[BODY_RIGID] = "rigid", [BODY_BEAM] = "beam", [BODY_NODAL] = "nodal"};

static const struct option rows[] = {OPTION_ROBOT, OPTION_JSON("JSON instead of a table"), OPTION_OUTPUT, {0}};

static const char details[] =
    "For loops and rigid couplings, the command prints their constraints, how many of them are independent, and the "
    "start positions that "
    "close them (in JSON a STATE, `start`), and notes which joints move for that and how far (in JSON `notes`). Loops "
    "that cannot be closed are an error, and so is a joint that would have to move by more than 0.3 rad or 0.3 m, "
    "unless the loop has \"start\": \"approximate\".\n"
    "Warnings (in JSON `warnings`) point to values that are valid but unusual and probably mistakes, with the value "
    "and the usual range, and to links whose first frequency would change by more than 1 % with more modes. They do "
    "not change the exit code.";

/* Arrays of strings */
struct messages {
    struct json_object *warnings, *notes;
};

/* ---- what a link is ---------------------------------------------------------------------------------------------- */

static const char *motion_of(const struct joint *joint)
{
    if (!joint_moves(joint)) return "none";
    return joint->prescribed ? "prescribed" : joint->passive ? "passive" : "driven";
}

static const char *parent_of(const struct robot *robot, const struct link *link)
{
    return link->mount.link < 0 ? "world" : robot->link[link->mount.link].name;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* null if the number is not finite, which JSON cannot express: products of huge numbers overflow */
static struct json_object *json_number(double number)
{
    return isfinite(number) ? json_object_new_double(number) : NULL;
}

static struct json_object *json_joint(const struct joint *joint)
{
    struct json_object *json = json_object_new_object(), *all = json_object_new_array();
    const int count = joint_number_count(joint);
    bool any = false;
    json_add_text(json, "name", joint->name);
    json_add_text(json, "type", joint_type_name(joint));
    json_add_text(json, "motion", motion_of(joint));
    for (int k = 0; k < count; k++) {
        struct json_object *limits = NULL; /* this coordinate has none */
        if (joint->number[k].has_limits) {
            limits = json_object_new_array(); /* null: none on that side */
            json_object_array_add(limits, json_number(joint->number[k].limits.lower));
            json_object_array_add(limits, json_number(joint->number[k].limits.upper));
            any = true;
        }
        json_object_array_add(all, limits);
    }
    if (any) json_add(json, "limits", json_object_get(count == 1 ? json_object_array_get_idx(all, 0) : all));
    json_object_put(all);
    return json;
}

/* A link whose coordinates begin at `first` */
static struct json_object *json_link(const struct robot *robot, const struct summary *summary, int i, int first)
{
    const struct link *link = &robot->link[i];
    const struct link_summary *item = &summary->link[i];
    struct json_object *json = json_object_new_object(), *names = json_object_new_array(), *frequencies = NULL;
    json_add_text(json, "name", link->name);
    json_add_text(json, "parent", parent_of(robot, link));
    json_add_text(json, "type", body_types[link->type]);
    json_add(json, "joint", json_joint(&link->joint));
    for (int k = first; k < first + item->n_coordinates; k++) {
        char name[NAME_SIZE];
        name_coordinate(summary->mechanism.model, POSITION, k, name);
        json_object_array_add(names, json_object_new_string(name));
    }
    json_add(json, "coordinates", names);
    json_add(json, "mass", json_number(item->mass));
    if (item->n_frequencies >= 0)
        frequencies = json_object_new_array(); /* null: the modal mass matrix is not definite */
    for (int k = 0; k < item->n_frequencies; k++) json_object_array_add(frequencies, json_number(item->frequency[k]));
    json_add(json, "frequencies", frequencies);
    return json;
}

static struct json_object *json_frames(const struct robot *robot)
{
    struct json_object *frames = json_object_new_array();
    for (int i = 0; i < robot->n_frames; i++) {
        const struct robot_frame *frame = &robot->frame[i];
        struct json_object *one = json_object_new_object(), *node = json_object_new_object();
        char text[SITE_SIZE];
        json_add_text(one, "name", frame->name);
        json_add_text(one, "link", robot->link[frame->site.link].name);
        json_add_whole(node, "node", frame->site.node);
        if (frame->site.type == AT_STATION) json_add_number(one, "at", frame->site.x);
        else if (frame->site.type == AT_NODE) json_add(one, "at", json_object_get(node));
        else json_add_text(one, "at", robot_site_text(&frame->site, text));
        json_object_put(node);
        json_add(one, "sensor", json_object_new_boolean(frame->sensor));
        json_add(one, "load", json_object_new_boolean(frame->load));
        json_object_array_add(frames, one);
    }
    return frames;
}

/* Couplings; of rigid ones whether their equation is independent */
static struct json_object *json_couplings(const struct robot *robot, const struct summary *summary)
{
    struct json_object *couplings = json_object_new_array();
    const struct model *model = summary->mechanism.model;
    for (int i = 0, rigid = robot->n_loops; i < robot->n_couplings; i++) {
        const struct coupling *coupling = &robot->coupling[i];
        struct json_object *one = json_object_new_object(), *terms = json_object_new_object();
        for (int k = 0; k < coupling->n_terms; k++) {
            char name[NAME_SIZE];
            name_coordinate(model, POSITION, model->link[coupling->term[k].link].q + coupling->term[k].k, name);
            json_add(terms, name, json_number(coupling->term[k].factor));
        }
        json_add_text(one, "name", coupling->name);
        json_add_text(one, "type", coupling->elastic ? "elastic" : "rigid");
        json_add(one, "terms", terms);
        if (!coupling->elastic) json_add_whole(one, "independent", summary->independent[rigid++]);
        json_object_array_add(couplings, one);
    }
    return couplings;
}

/* Loops, and the closed start as a STATE */
static void add_closure(const struct robot *robot, const struct summary *summary, struct json_object *json)
{
    struct json_object *loops = json_object_new_array(), *start = json_object_new_object();
    for (int i = 0; i < robot->n_loops; i++) {
        struct json_object *one = json_object_new_object(), *between = json_object_new_array();
        const struct loop *loop = &robot->loop[i];
        for (int s = 0; s < 2; s++)
            json_object_array_add(between, json_object_new_string(robot->link[robot->site[loop->site + s].link].name));
        json_add_text(one, "name", loop->name);
        json_add_text(one, "type", loop_types[loop->type]);
        json_add(one, "between", between);
        json_add_whole(one, "equations", loop_equations(loop->type));
        json_add_whole(one, "independent", summary->independent[i]);
        json_object_array_add(loops, one);
    }
    json_add_numbers(start, "q", summary->start.at.q, summary->mechanism.model->nq);
    json_add_numbers(start, "qd", summary->start.at.qd, summary->mechanism.model->nv);
    json_add(json, "loops", loops);
    json_add(json, "start", start);
}

/* Prints the robot; the caller keeps the arrays of messages. */
static void print_json(const struct robot *robot, const struct summary *summary, const struct messages *messages)
{
    struct json_object *json = json_object_new_object(), *links = json_object_new_array();
    int first = 0;
    for (int i = 0; i < robot->n_links; i++) {
        json_object_array_add(links, json_link(robot, summary, i, first));
        first += summary->link[i].n_coordinates;
    }
    json_add_text(json, "name", robot->name);
    json_add(json, "links", links);
    json_add_whole(json, "n", summary->n);
    json_add_whole(json, "nv", summary->mechanism.model->nv);
    json_add(json, "mass", json_number(summary->mass));
    if (robot->n_frames > 0) json_add(json, "frames", json_frames(robot));
    if (robot->n_couplings > 0) json_add(json, "couplings", json_couplings(robot, summary));
    if (robot_is_closed(robot)) add_closure(robot, summary, json);
    if (robot_is_closed(robot)) json_add(json, "notes", json_object_get(messages->notes));
    json_add(json, "warnings", json_object_get(messages->warnings));
    puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                  JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(json);
}

/* ---- table ------------------------------------------------------------------------------------------------------- */

static void print_links(const struct robot *robot, const struct summary *summary)
{
    enum { SHOWN = 6 };         /* frequencies of a link; the JSON has them all */
    int width[] = {4, 6, 5, 9}; /* they fit every name in the table */
    for (int i = 0; i < robot->n_links; i++) {
        const struct link *link = &robot->link[i];
        const char *const cell[] = {link->name, parent_of(robot, link), link->joint.name,
                                    joint_type_name(&link->joint)};
        for (int c = 0; c < 4; c++)
            if ((int)strlen(cell[c]) > width[c]) width[c] = (int)strlen(cell[c]);
    }
    printf("%-*s  %-5s  %-*s  %-*s  %-*s  %-10s  %11s  %10s  %s\n", width[0], "link", "body", width[1], "parent",
           width[2], "joint", width[3], "type", "motion", "coordinates", "mass [kg]", "frequencies [Hz]");
    for (int i = 0; i < robot->n_links; i++) {
        const struct link *link = &robot->link[i];
        const struct link_summary *item = &summary->link[i];
        const int count = item->n_frequencies;
        printf("%-*s  %-5s  %-*s  %-*s  %-*s  %-10s  %11d  %10.6g ", width[0], link->name, body_types[link->type],
               width[1], parent_of(robot, link), width[2], link->joint.name, width[3], joint_type_name(&link->joint),
               motion_of(&link->joint), item->n_coordinates, item->mass);
        for (int k = 0; k < count && k < SHOWN; k++) printf(" %.5g", item->frequency[k]);
        printf("%s\n", count < 0 ? " none: modal mass matrix not positive definite" : count > SHOWN ? " ..." : "");
    }
}

/* "world", "boom at x = 1.2 m"; "boom" for the tip, where most things attach */
static const char *attached_to(const struct robot *robot, const struct site *site, char text[], size_t size)
{
    char at[SITE_SIZE];
    if (site->link < 0) return "world";
    if (site->type == AT_TIP) return robot->link[site->link].name;
    snprintf(text, size, "%s at %s", robot->link[site->link].name, robot_site_text(site, at));
    return text;
}

static void print_connections(const struct robot *robot, const struct summary *summary)
{
    const bool closed = robot_is_closed(robot);
    char a[NAME_SIZE + SITE_SIZE], b[NAME_SIZE + SITE_SIZE];
    for (int i = 0; i < robot->n_loops; i++) {
        const struct loop *loop = &robot->loop[i];
        printf("loop %s joins %s and %s: %s, %d equations, %d independent\n", loop->name,
               attached_to(robot, &robot->site[loop->site], a, sizeof a),
               attached_to(robot, &robot->site[loop->site + 1], b, sizeof b), loop_types[loop->type],
               loop_equations(loop->type), summary->independent[i]);
    }
    for (int i = 0, rigid = robot->n_loops; i < robot->n_couplings; i++) {
        const struct coupling *coupling = &robot->coupling[i];
        const bool redundant = !coupling->elastic && summary->independent[rigid++] == 0;
        printf("coupling %s:", coupling->name);
        for (int k = 0; k < coupling->n_terms; k++) {
            const struct coupling_term *term = &coupling->term[k];
            name_coordinate(summary->mechanism.model, POSITION, summary->mechanism.model->link[term->link].q + term->k,
                            a);
            printf("%s %.9g %s", term->factor < 0 ? " -" : k > 0 ? " +" : "", fabs(term->factor), a);
        }
        printf(" = %.9g, %s\n", coupling->offset,
               coupling->elastic ? "elastic"
               : redundant       ? "rigid, not independent"
                                 : "rigid");
    }
    if (closed) printf("closes at the start:");
    for (int i = 0; i < robot->n_links && closed; i++) {
        const struct link_model *lm = &summary->mechanism.model->link[i];
        if (lm->joint.nq > 0) printf(" %s", robot->link[i].joint.name);
        for (int k = 0; k < lm->joint.nq; k++) printf("%s%.9g", k > 0 ? ", " : " ", summary->start.at.q[lm->q + k]);
    }
    if (closed) printf("\n");
    for (int i = 0; i < robot->n_lines; i++) {
        const struct line *line = &robot->line[i];
        printf("actuator %s from %s to %s\n", line->name, attached_to(robot, &robot->site[line->site], a, sizeof a),
               attached_to(robot, &robot->site[line->site + 1], b, sizeof b));
    }
    for (int i = 0; i < robot->n_supplies; i++) {
        const struct supply *supply = &robot->supply[i];
        printf("supply %s: %g Pa, at most %g m3/s\n", supply->name, supply->pressure, supply->flow_limit);
    }
    for (int i = 0; i < robot->n_drives; i++) {
        const struct robot_drive *item = &robot->drive[i];
        char name[MOST_NAME];
        printf("drive %s: %s, %d states%s%s\n", robot_drive_name(robot, i, name), item->drive->name,
               item->drive->n_states, item->supply >= 0 ? ", supply " : "",
               item->supply >= 0 ? robot->supply[item->supply].name : "");
    }
}

/* Warnings or notes, a line each */
static void print_lines(const char *kind, const struct json_object *lines)
{
    for (size_t i = 0; i < json_object_array_length(lines); i++)
        printf("%s: %s\n", kind, json_object_get_string(json_object_array_get_idx(lines, i)));
}

static void print_table(const struct robot *robot, const struct summary *summary, const struct messages *messages)
{
    const int nv = summary->mechanism.model->nv;
    printf("%s: %d coordinates", robot->name, summary->n);
    if (nv < summary->n) printf(" (%d velocities)", nv);
    printf(", %.6g kg, tip of %s\n", summary->mass, robot->link[robot->tip].name);
    if (*robot->description != '\0') printf("%s\n", robot->description);
    printf("\n");
    print_links(robot, summary);
    for (int i = 0; i < robot->n_links; i++) {
        const struct joint *joint = &robot->link[i].joint;
        for (int k = 0; k < joint_number_count(joint); k++) {
            const struct limits *limits = &joint->number[k].limits;
            if (!joint->number[k].has_limits) continue;
            printf("joint %s", joint->name);
            if (joint_number_count(joint) > 1) printf(", coordinate %d,", k + 1);
            printf(" stops at %g and %g, stiffness %g, damping %g\n", limits->lower, limits->upper, limits->stiffness,
                   limits->damping);
        }
    }
    for (int i = 0; i < robot->n_frames; i++) {
        const struct robot_frame *frame = &robot->frame[i];
        char text[SITE_SIZE];
        printf("frame %s on %s at %s%s%s%s\n", frame->name, robot->link[frame->site.link].name,
               robot_site_text(&frame->site, text), frame->sensor || frame->load ? ": " : "",
               frame->sensor ? "sensor" : "", frame->load ? (frame->sensor ? ", load" : "load") : "");
    }
    print_connections(robot, summary);
    print_lines("note", messages->notes);
    print_lines("warning", messages->warnings);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* Errors go to standard error as they come, warnings and notes are collected. */
static void take_message(void *context, enum report_level level, const char *text)
{
    const struct messages *messages = context;
    if (level == REPORT_WARNING) json_object_array_add(messages->warnings, json_object_new_string(text));
    else fprintf(stderr, "%s\n", text);
}

static void take_note(void *context, const char *text)
{
    const struct messages *messages = context;
    json_object_array_add(messages->notes, json_object_new_string(text));
}

static int run(const void *given, struct report *unused)
{
    const struct common *options = given;
    struct messages messages = {json_object_new_array(), json_object_new_array()};
    struct report report = {
        .line = take_message, .note = take_note, .progress = cli_progress_show, .context = &messages};
    struct robot *robot;
    struct summary summary = {0};
    (void)unused; /* the report of this command has notes */
    enum status status = robot_read_file(options->robot, &robot, &report);
    if (status == STATUS_OK) status = summary_make(options->robot, robot, &report, &summary);
    cli_progress_end();
    if (status == STATUS_OK) (options->json ? print_json : print_table)(robot, &summary, &messages);
    summary_free(&summary);
    robot_free(robot);
    json_object_put(messages.warnings);
    json_object_put(messages.notes);
    return cli_exit_code(status);
}

const struct command command_check = {
    .name = "check",
    .summary = "validates a robot file and prints its links, joints, coordinates, masses, frequencies and warnings",
    .details = details,
    .option = rows,
    .size = sizeof(struct common),
    .run = run};
