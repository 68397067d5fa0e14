/* limber drive DRIVE -o FILE.fmu: packs the FMU of a companion. */
#include "companion/companion.h"

#include <stdio.h>
#include <string.h>

#include "analysis/failure.h"
#include "cli.h"
#include "instance.h"
#include "json_out.h"
#include "pack.h"

enum { DRIVES = 8 };

#define TO_DRIVE(member) offsetof(struct drive_options, member)

static const struct option rows[] = {
    {"servo|cylinder|gear|spring|axis|sling|controller", NULL, OPTION_ARGUMENT, TO_DRIVE(drive), .help = NULL},
    {"ROBOT", NULL, OPTION_ARGUMENT, TO_COMMON(robot), .optional = true,
     .help = "the robot of which the controller has a model; of controller only"},
    OPTION_FILE("FILE.fmu", "the file to write; an existing file is replaced"),
    {"--set", "NAME=VALUE", OPTION_SETTINGS, TO_COMMON(set),
     .help = "a parameter's value in this FMU instead of the default; may be repeated"},
    {"--sensor", "NAME", OPTION_LIST, TO_DRIVE(sensors),
     .help = "the controller also takes this output of the robot's FMU, of a strain gauge or an accelerometer: "
             "F.curvature[k], F.elongation, F.specific_force[k] of a frame F with \"sensor\": true, "
             "tip.specific_force[k]; may be repeated; of controller only"},
    OPTION_JSON("JSON summary"),
    {"servo",
     .help = "DC motor with gear, current, velocity and position loop; joint position and velocity in, torque out"},
    {"cylinder", .help = "cylinder with a 4/3 proportional valve; valve command, length and rate in, force out"},
    {"gear",
     .help =
         "elastic gear with play and the rotor of its motor; motor torque, joint position and velocity in, torque out"},
    {"spring", .help = "spring and damper between two pins; length and rate in, force out"},
    {"axis", .help = "up to four smooth moves and a position loop; position in, reference and command out"},
    {"sling", .help = "load on a rope, on the ground until it is lifted; motion of the hook in, force out"},
    {"controller", .help = "computed torque with a model of ROBOT inside, and a loop that corrects it; desired and "
                           "measured motion of the joints in, torques out at sample times (docs/control.md)"},
    {0}};

static const char details[] =
    "docs/drives.md has equations and parameters, and explains how drives are coupled to an arm. The FMU contains "
    "NAME.so and, if it exists, NAME.dll, from the same folders as for `limber fmu`. The environment variables "
    "LIMBER_DRIVE_LIBRARY and LIMBER_DRIVE_DLL name other files.";

static const struct drive *find_drive(const char *name)
{
    const char *names[DRIVES] = {"controller"}; /* controller_pack() */
    int n = 1;
    for (int i = 0; n < DRIVES && companion_drives[i] != NULL; i++) {
        names[n++] = companion_drives[i]->name;
        if (strcmp(companion_drives[i]->name, name) == 0) return companion_drives[i];
    }
    cli_unknown("limber drive", "limber: drive: there is no drive", name, n, names);
    return NULL;
}

static void put(struct json_object *parameters, const char *name, double value)
{
    char number[NUMBER_SIZE];
    json_object_object_add(parameters, name, json_object_new_double_s(value, xml_exact_number(value, number)));
}

const char *drive_resource(const struct common *options, struct json_object *file, struct json_object *parameters,
                           int *code)
{
    const char *name, *text = NULL;
    double value;
    *code = EXIT_OK;
    for (int i = 0; i < options->set.n && *code == EXIT_OK; i++) {
        *code = cli_settings_split(options, i, &name, &value);
        if (*code == EXIT_OK) put(parameters, name, value);
    }
    if (*code == EXIT_OK) {
        text = arena_string(options->arena, json_object_to_json_string_ext(file, JSON_C_TO_STRING_PRETTY |
                                                                                     JSON_C_TO_STRING_NOSLASHESCAPE));
        if (text == NULL) *code = cli_no_memory("drive");
    }
    json_object_put(file);
    return text;
}

/* resources/drive.json; it lists all parameters, so that the guid, a hash of it, depends on each. NULL on failure */
static const char *write_file(const struct drive *drive, const struct common *options, int *code)
{
    struct json_object *file = json_object_new_object(), *parameters = json_object_new_object();
    json_add_text(file, "format", "limber-drive/1");
    json_add_text(file, "drive", drive->name);
    json_add(file, "parameters", parameters);
    for (int r = 0; r < drive->n_rows; r++)
        if (drive->row[r].role == PARAMETER) put(parameters, drive->row[r].name, drive->row[r].number);
    return drive_resource(options, file, parameters, code);
}

static int run(const void *given, struct report *report)
{
    const struct drive_options *options = given;
    if (strcmp(options->drive, "controller") == 0) return controller_pack(options, report);
    const struct drive *drive = find_drive(options->drive);
    if (drive == NULL) return EXIT_USAGE;
    if (options->common.robot != NULL) return cli_usage("drive", "too many arguments: '%s'", options->common.robot);
    if (options->sensors.n > 0) return cli_usage("drive", "--sensor is an option of the controller only");

    const struct common *common = &options->common;
    struct report errors = failure_errors_only(report);
    struct variables variables;
    char guid[GUID_SIZE];
    int code;
    const char *file = write_file(drive, common, &code);
    if (code == EXIT_OK)
        code = cli_exit_code(companion_variables(drive, "--set", file, &errors, common->arena, &variables));
    if (code != EXIT_OK) return code;
    variables_guid(&variables, file, guid);
    const struct fmu fmu = {.name = drive->name,
                            .description = drive->description,
                            .guid = guid,
                            .variables = &variables,
                            .drive = drive,
                            .report = &errors};
    return cli_exit_code(pack_write(common, &fmu, (struct blob){file, strlen(file)}, NULL, &errors));
}

const struct command command_drive = {
    .name = "drive",
    .summary =
        "packs the FMU of a companion of an arm: an electric servo drive for a joint, a hydraulic cylinder for a "
        "line, an elastic gear, a spring, the motion of an axis, a load in a sling, a controller of the whole arm",
    .details = details,
    .option = rows,
    .size = sizeof(struct drive_options),
    .run = run};
