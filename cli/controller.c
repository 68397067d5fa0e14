/* limber drive controller ROBOT -o FILE.fmu: packs the FMU of a controller with a model of the robot inside. */
#include "controller/controller.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "drive_arguments.h"
#include "robot/read.h"

enum { TEXT_SIZE = 512 };

static const struct library_source sources = {.name = "controller",
                                              .variable = {"LIMBER_DRIVE_LIBRARY", "LIMBER_DRIVE_DLL"}};

static int put_parameters(const struct settings *settings, struct arena *arena, struct json_object *parameters)
{
    int code = EXIT_OK;
    for (int i = 0; i < settings->n && code == EXIT_OK; i++) {
        const char *name = NULL;
        double value = 0;
        char number[NUMBER_SIZE];
        code = cli_settings_split("drive", settings, i, arena, &name, &value);
        if (code == EXIT_OK)
            json_object_object_add(parameters, name, json_object_new_double_s(value, xml_exact_number(value, number)));
    }
    return code;
}

static struct json_object *sensor_names(const struct settings *sensors)
{
    struct json_object *names = json_object_new_array();
    for (int i = 0; i < sensors->n; i++) json_object_array_add(names, json_object_new_string(sensors->text[i]));
    return names;
}

/* resources/controller.json; NULL where that fails */
static const char *write_file(const char *robot_file, const struct settings *settings, const struct settings *sensors,
                              struct arena *arena, struct report *report, int *code)
{
    const char *text = document_load(robot_file, arena, report), *file = NULL;
    struct reader reader = {.file = robot_file, .report = report};
    struct json_path robot;
    const bool valid = text != NULL && document_parse(&reader, text, &robot);
    *code = cli_exit_code(text == NULL ? STATUS_NO_FILE : valid ? STATUS_OK : STATUS_BAD_ROBOT);
    if (*code != EXIT_OK) {
        document_free(&reader);
        return NULL;
    }
    struct json_object *all = json_object_new_object(), *parameters = json_object_new_object();
    json_object_object_add(all, "format", json_object_new_string("limber-controller/1"));
    json_object_object_add(all, "parameters", parameters);
    if (sensors->n > 0) json_object_object_add(all, "sensors", sensor_names(sensors));
    json_object_object_add(all, "robot", json_object_get(robot.value));
    *code = put_parameters(settings, arena, parameters);
    if (*code == EXIT_OK)
        file = arena_string(
            arena, json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(all);
    document_free(&reader);
    return file;
}

static enum status pack(const struct pack_options *options, const char *file, struct arena *arena,
                        struct report *report)
{
    struct instance *controller = NULL;
    enum status status = controller_make(options->subject, file, report, &controller);
    if (status != STATUS_OK && report->errors == 0)
        report_add(report, REPORT_ERROR, "%s: %s", options->subject, status_text(status));
    if (status == STATUS_OK) {
        struct instance *arm = controller_arm(controller);
        struct libraries libraries;
        char name[TEXT_SIZE], description[TEXT_SIZE];
        snprintf(name, sizeof name, "%s_controller", sim_robot(arm)->name);
        snprintf(description, sizeof description, "Controller with a model of %s inside", sim_robot(arm)->name);
        const struct fmu fmu = {.name = name,
                                .description = description,
                                .guid = instance_guid(controller),
                                .variables = instance_variables(controller),
                                .model = sim_model(arm),
                                .mechanism = sim_mechanism(arm)};
        status = pack_libraries(options, &sources, arena, &libraries, report)
                     ? pack_write(options, &fmu, (struct blob){file, strlen(file)}, &libraries, report)
                     : STATUS_NO_FILE;
    }
    instance_free(controller);
    return status;
}

int command_drive_controller(int argc, char **argv)
{
    struct pack_options options = {
        .command = "drive", .noun = "the robot file of the controller's model", .file = "FILE.fmu"};
    struct settings settings = {0}, sensors = {0};
    int code = drive_arguments(argc, argv, &options, &settings, &sensors);
    if (code != EXIT_OK) return code;

    struct report report = {.line = pack_print_error, .context = &options};
    struct arena arena = {0};
    const char *file = write_file(options.subject, &settings, &sensors, &arena, &report, &code);
    if (file != NULL) code = cli_exit_code(pack(&options, file, &arena, &report));
    else if (code == EXIT_OK) code = cli_no_memory("drive");
    arena_release(&arena);
    return code;
}
