/* limber drive controller ROBOT -o FILE.fmu: packs the FMU of a controller with a model of the robot inside. */
#include "controller/controller.h"

#include <stdio.h>
#include <string.h>

#include "analysis/failure.h"
#include "cli.h"
#include "json_out.h"
#include "pack.h"
#include "robot/read.h"
#include "sim/sim.h"

enum { TEXT_SIZE = 512 };

/* resources/controller.json; NULL on failure */
static const char *write_file(const struct drive_options *options, struct report *report, int *code)
{
    const char *text = document_load(options->common.robot, options->common.arena, report), *file = NULL;
    struct reader reader = {.file = options->common.robot, .report = report};
    struct json_path robot;
    const bool valid = text != NULL && document_parse(&reader, text, &robot);
    *code = cli_exit_code(text == NULL ? STATUS_NO_FILE : valid ? STATUS_OK : STATUS_BAD_ROBOT);
    if (*code == EXIT_OK) {
        struct json_object *all = json_object_new_object(), *parameters = json_object_new_object(),
                           *sensors = options->sensors.n > 0 ? json_object_new_array() : NULL;
        for (int i = 0; i < options->sensors.n; i++)
            json_object_array_add(sensors, json_object_new_string(options->sensors.text[i]));
        json_add_text(all, "format", "limber-controller/1");
        json_add(all, "parameters", parameters);
        if (sensors != NULL) json_add(all, "sensors", sensors);
        json_add(all, "robot", json_object_get(robot.value));
        file = drive_resource(&options->common, all, parameters, code);
    }
    document_free(&reader);
    return file;
}

int controller_pack(const struct drive_options *options, struct report *report)
{
    const struct common *common = &options->common;
    if (common->robot == NULL) return cli_usage("drive", "expected the robot file of the controller's model");
    struct report errors = failure_errors_only(report);
    struct instance *controller = NULL;
    int code;
    const char *file = write_file(options, &errors, &code);
    if (code == EXIT_OK) {
        enum status status = controller_make(common->robot, file, &errors, &controller);
        if (status != STATUS_OK && errors.errors == 0)
            report_add(&errors, REPORT_ERROR, "%s: %s", common->robot, status_text(status));
        code = cli_exit_code(status);
    }
    if (code == EXIT_OK) {
        struct instance *arm = controller_arm(controller);
        char name[TEXT_SIZE], description[TEXT_SIZE];
        snprintf(name, sizeof name, "%s_controller", sim_robot(arm)->name);
        snprintf(description, sizeof description, "Controller with a model of %s inside", sim_robot(arm)->name);
        const struct fmu fmu = {.name = name,
                                .description = description,
                                .guid = instance_guid(controller),
                                .variables = instance_variables(controller),
                                .model = sim_model(arm),
                                .mechanism = sim_mechanism(arm)};
        code = cli_exit_code(pack_write(common, &fmu, (struct blob){file, strlen(file)}, NULL, &errors));
    }
    instance_free(controller);
    return code;
}
