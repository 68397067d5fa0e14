#include "fuzz.h"

#define RIGID \
    "{\"mass\": 1, \"com\": [0.2, 0, 0], \"inertia\": [0.1, 0.1, 0.1, 0, 0, 0], \"tip\": {\"xyz\": [0.5, 0, 0]}}"
#define BEAM(count)                                                                                      \
    "{\"length\": 1, \"mass_per_length\": 2, \"EIz\": 500, \"damping_ratio\": 0.01, \"modes\": {\"y\": " \
    "{\"shape\": \"clamped-free\", \"count\": " #count "}}}"
#define HEAD(name) "{\"format\": \"limber-robot/2\", \"name\": \"" name "\", \"gravity\": [0, -9.81, 0], "

const char *const fuzz_robot[FUZZ_ROBOTS] = {
    /* a flexible arm with stops, friction and a frame */
    HEAD("arm") "\"links\": [{\"name\": \"a\", \"joint\": {\"name\": \"ja\", \"type\": \"revolute\", \"viscous\": "
                "0.1, "
                "\"coulomb\": 0.2, \"limits\": {\"lower\": -2, \"upper\": 2, \"stiffness\": 1000}}, "
                "\"beam\": " BEAM(2) "}, {\"name\": \"b\", \"joint\": {\"name\": \"jb\", \"type\": \"revolute\"}, "
                                     "\"beam\": " BEAM(1) "}], \"frames\": [{\"name\": \"f\", \"link\": \"a\", "
                                                          "\"at\": 0.5, \"sensor\": true, \"load\": true}]}",
    /* two pendulums joined at their tips: a loop with passive joints, and a line */
    HEAD("loop") "\"links\": [{\"name\": \"a\", \"joint\": {\"name\": \"ja\", \"type\": \"revolute\"}, "
                 "\"rigid\": " RIGID "}, {\"name\": \"b\", \"joint\": {\"name\": \"jb\", \"type\": \"revolute\", "
                 "\"passive\": true, \"start\": {\"position\": 1}}, "
                 "\"rigid\": " RIGID
                 "}, {\"name\": \"c\", \"parent\": \"world\", \"joint\": {\"name\": \"jc\", \"type\": "
                 "\"revolute\", \"passive\": true, \"start\": {\"position\": 1}, \"origin\": {\"xyz\": [0.4, 0, 0]}}, "
                 "\"rigid\": " RIGID "}], \"loops\": [{\"name\": \"p\", \"type\": \"planar-pin\", \"between\": "
                 "[\"b\", \"c\"], \"plane\": [[1, 0, 0], [0, 1, 0]], \"start\": \"approximate\"}]}",
    /* floating, with a quaternion */
    HEAD("float") "\"links\": [{\"name\": \"base\", \"joint\": {\"name\": \"free\", \"type\": \"free\", "
                  "\"passive\": true}, "
                  "\"rigid\": " RIGID
                  "}, {\"name\": \"arm\", \"joint\": {\"name\": \"j\", \"type\": \"revolute\"}, \"beam\": " BEAM(
                      1) "}]}",
    /* prescribed motion before a driven joint */
    HEAD("moved") "\"links\": [{\"name\": \"a\", \"joint\": {\"name\": \"ja\", \"type\": \"prismatic\", "
                  "\"motion\": \"prescribed\"}, "
                  "\"rigid\": " RIGID
                  "}, {\"name\": \"b\", \"joint\": {\"name\": \"jb\", \"type\": \"revolute\"}, \"rigid\": " RIGID "}]}",
};

static char folder[FUZZ_ROBOTS][64];

static void remove_folders(void)
{
    for (int i = 0; i < FUZZ_ROBOTS; i++) {
        char file[96];
        if (folder[i][0] == '\0') continue;
        snprintf(file, sizeof file, "%s/robot.json", folder[i]);
        (void)unlink(file);
        (void)rmdir(folder[i]);
    }
}

const char *fuzz_resources(int robot)
{
    if (folder[robot][0] != '\0') return folder[robot];
    char file[96];
    snprintf(folder[robot], sizeof folder[robot], "/tmp/limber-fuzz-XXXXXX");
    if (mkdtemp(folder[robot]) == NULL) abort();
    if (robot == 0) (void)atexit(remove_folders);
    snprintf(file, sizeof file, "%s/robot.json", folder[robot]);
    FILE *stream = fopen(file, "wb");
    if (stream == NULL) abort();
    fputs(fuzz_robot[robot], stream);
    fclose(stream);
    return folder[robot];
}
