/* limber drive NAME -o FILE.fmu: packs the FMU of a companion. */
#include "companion/companion.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "drive_arguments.h"
#include "robot/nearest.h"

enum { DRIVES = 8 };

static const struct drive *find_drive(const char *name)
{
    const char *names[DRIVES] = {"controller"}; /* command_drive_controller() */
    int n = 1;
    for (int i = 0; n < DRIVES && companion_drives[i] != NULL; i++) {
        names[n++] = companion_drives[i]->name;
        if (strcmp(companion_drives[i]->name, name) == 0) return companion_drives[i];
    }
    const char *meant = nearest(name, n, names);
    fprintf(stderr, "limber: drive: there is no drive \"%s\"", name);
    if (meant != NULL) fprintf(stderr, ", did you mean \"%s\"?\n", meant);
    else fprintf(stderr, "; `limber drive --help` lists them\n");
    return NULL;
}

static void put(struct json_object *parameters, const char *name, double value)
{
    char number[NUMBER_SIZE];
    json_object_object_add(parameters, name, json_object_new_double_s(value, xml_exact_number(value, number)));
}

/* All parameters, so that the file, and with it the guid, describes what is in the FMU */
static int put_parameters(const struct drive *drive, const struct settings *settings, struct arena *arena,
                          struct json_object *parameters)
{
    int code = EXIT_OK;
    for (int r = 0; r < drive->n_rows; r++)
        if (drive->row[r].role == PARAMETER) put(parameters, drive->row[r].name, drive->row[r].number);
    for (int i = 0; i < settings->n && code == EXIT_OK; i++) {
        const char *name = NULL;
        double value;
        code = cli_settings_split("drive", settings, i, arena, &name, &value);
        if (code == EXIT_OK) put(parameters, name, value);
    }
    return code;
}

/* resources/drive.json; NULL bytes where that fails */
static struct blob write_file(const struct drive *drive, const struct settings *settings, struct arena *arena,
                              int *code)
{
    struct json_object *file = json_object_new_object(), *parameters = json_object_new_object();
    json_object_object_add(file, "format", json_object_new_string("limber-drive/1"));
    json_object_object_add(file, "drive", json_object_new_string(drive->name));
    json_object_object_add(file, "parameters", parameters);
    struct blob blob = {0};
    *code = put_parameters(drive, settings, arena, parameters);
    if (*code == EXIT_OK) {
        const char *text =
            json_object_to_json_string_ext(file, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
        blob.bytes = arena_string(arena, text);
        blob.size = strlen(text);
    }
    json_object_put(file);
    return blob;
}

static enum status pack(const struct pack_options *options, const struct drive *drive, struct blob file,
                        struct arena *arena, struct report *report)
{
    struct variables variables;
    struct libraries libraries;
    char guid[GUID_SIZE];
    const enum status status = companion_variables(drive, "--set", file.bytes, report, arena, &variables);
    if (status != STATUS_OK) return status;
    variables_guid(&variables, file.bytes, guid);
    const struct fmu fmu = {.name = drive->name,
                            .description = drive->description,
                            .guid = guid,
                            .variables = &variables,
                            .drive = drive,
                            .report = report};
    const struct library_source source = {.name = drive->name,
                                          .variable = {"LIMBER_DRIVE_LIBRARY", "LIMBER_DRIVE_DLL"}};
    if (!pack_libraries(options, &source, arena, &libraries, report)) return STATUS_NO_FILE;
    return pack_write(options, &fmu, file, &libraries, report);
}

static int add_sensor(const char *name, struct settings *sensors)
{
    if (sensors->n == MOST_SETTINGS)
        return cli_usage("drive", "--sensor %s: more than %d sensors", name, (int)MOST_SETTINGS);
    sensors->text[sensors->n++] = name;
    return EXIT_OK;
}

int drive_arguments(int argc, char **argv, struct pack_options *options, struct settings *settings,
                    struct settings *sensors)
{
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        if (sensors != NULL && strcmp(argv[i], "--sensor") == 0)
            code = i + 1 < argc ? add_sensor(argv[++i], sensors) : cli_usage("drive", "--sensor takes NAME");
        else if (strcmp(argv[i], "--set") != 0) code = pack_argument(options, argc, argv, &i);
        else if (i + 1 == argc) code = cli_usage("drive", "--set takes NAME=VALUE");
        else code = cli_settings_add("drive", argv[++i], settings);
    }
    return code == EXIT_OK ? pack_complete(options) : code;
}

int command_drive(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "controller") == 0) return command_drive_controller(argc - 1, argv + 1);
    struct pack_options options = {.command = "drive", .noun = "the name of a drive", .file = "FILE.fmu"};
    struct settings settings = {0};
    int code = drive_arguments(argc, argv, &options, &settings, NULL);
    if (code != EXIT_OK) return code;
    const struct drive *drive = find_drive(options.subject);
    if (drive == NULL) return EXIT_USAGE;

    struct report report = {.line = pack_print_error, .context = &options};
    struct arena arena = {0};
    const struct blob file = write_file(drive, &settings, &arena, &code);
    if (file.bytes != NULL) code = cli_exit_code(pack(&options, drive, file, &arena, &report));
    else if (code == EXIT_OK) code = cli_no_memory("drive");
    arena_release(&arena);
    return code;
}
