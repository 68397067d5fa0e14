#include "robot/read.h"

#include <json-c/json.h>

static void read_robot(const struct json_path *document, struct robot *robot)
{
    static const char *const formats[] = {"limber-robot/1", "limber-robot/2", "limber-robot/3", NULL};
    static const char *const terms[] = {"full", "linear", "ruthless", NULL}; /* in the order of enum elastic_terms */
    static const struct quantity gravity = {"gravity", "m/s^2", ANY};
    struct object object;
    robot->elastic_terms = TERMS_FULL;
    robot->description = "";
    if (!path_open_object(&object, document, REQUIRED, "robot file")) return;

    robot->format = 1 + read_choice(MEMBER(&object, "format"), REQUIRED, "format", formats); /* 0: unknown */
    robot->name = read_identifier(MEMBER(&object, "name"), "robot name");
    const char *description = read_text(MEMBER(&object, "description"), OPTIONAL, "description");
    if (description != NULL) robot->description = arena_string(&robot->arena, description);
    read_numbers(MEMBER(&object, "gravity"), OPTIONAL, &gravity, 3, robot->gravity);
    const int chosen = read_choice(MEMBER(&object, "elastic_terms"), OPTIONAL, "elastic_terms", terms);
    if (chosen >= 0) robot->elastic_terms = (enum elastic_terms)(TERMS_FULL + chosen);

    const struct json_path links_at = path_member(&object, "links"), loops_at = path_member(&object, "loops");
    const struct json_path lines_at = path_member(&object, "actuators"), tip_at = path_member(&object, "tip");
    const struct json_path frames_at = format_member(&object, 2, "frames");
    const struct json_path couplings_at = format_member(&object, 3, "couplings");
    read_supplies(MEMBER_OF(&object, 2, "supplies"), robot);
    read_frames_open(&frames_at, robot);
    read_links(&links_at, robot);
    if (robot->n_links > 0) { /* the rest refers to links */
        read_frames(document->reader);
        read_loops(&loops_at, robot);
        read_lines(&lines_at, robot);
        read_couplings(&couplings_at, robot);
        robot->tip = robot->n_links - 1;
        read_link_name(&tip_at, OPTIONAL, "tip", &robot->tip);
    }
    path_close_object(&object);
}

enum status robot_read_text(const char *name, const char *text, struct robot **robot, struct report *report)
{
    *robot = NULL;
    struct reader reader = {.file = name, .report = report};
    const int errors_before = report->errors;
    struct json_path document;
    if (!document_parse(&reader, text, &document)) return document_free(&reader) ? STATUS_NO_MEMORY : STATUS_BAD_ROBOT;

    reader.robot = robot_new();
    if (reader.robot != NULL) read_robot(&document, reader.robot);
    const bool no_memory = document_free(&reader) || reader.robot == NULL || reader.robot->arena.failed;
    if (no_memory) report_add(report, REPORT_ERROR, "%s: %s", name, status_text(STATUS_NO_MEMORY));
    if (report->errors == errors_before) {
        *robot = reader.robot;
        return STATUS_OK;
    }
    robot_free(reader.robot);
    return no_memory ? STATUS_NO_MEMORY : STATUS_BAD_ROBOT;
}

enum status robot_read_file(const char *file, struct robot **robot, struct report *report)
{
    struct arena arena = {0};
    *robot = NULL;
    const char *text = document_load(file, &arena, report);
    const enum status status = text != NULL ? robot_read_text(file, text, robot, report) : STATUS_NO_FILE;
    arena_release(&arena);
    return status;
}
