#include "oracle/random_frames.h"

#include <stdio.h>
#include <string.h>

#include "robot/robot.h"

/* Hinge, tip, the first or last station or any other, a node */
static void place(FILE *file, struct random *random, const struct link *link)
{
    const int which = pick(random, 6);
    if (which < 2) fprintf(file, ", \"at\": \"%s\"", which == 0 ? "hinge" : "tip");
    else if (link->type == BODY_BEAM)
        fprintf(file, ", \"at\": %.17g",
                which == 2   ? link->beam.length
                : which == 3 ? 0
                             : uniform(random, 0, link->beam.length));
    else if (link->type == BODY_NODAL) fprintf(file, ", \"at\": {\"node\": %d}", pick(random, link->nodal.n_nodes));
}

static void frame(FILE *file, struct random *random, const struct robot *robot, int i, int k)
{
    fprintf(file, "%s{\"name\": \"f%d_%d\", \"link\": \"%s\"", i + k > 0 ? ", " : "", i, k, robot->link[i].name);
    place(file, random, &robot->link[i]);
    if (chance(random, 0.5))
        fprintf(file, ", \"xyz\": [%.6g, %.6g, %.6g]", uniform(random, -0.3, 0.3), uniform(random, -0.3, 0.3),
                uniform(random, -0.3, 0.3));
    if (chance(random, 0.5)) fprintf(file, ", \"rpy\": [%.6g, 0.4, -0.7]", uniform(random, -1, 1));
    if (chance(random, 0.8)) fputs(", \"sensor\": true", file);
    if (chance(random, 0.4)) fputs(", \"load\": true", file);
    fputc('}', file);
}

/* Copies the links; the joints of some that name no parent name a frame of the link before */
static void links(FILE *file, struct random *random, const char *text, int n_links)
{
    for (int i = 1; i < n_links; i++) {
        char name[64], joint[64];
        snprintf(name, sizeof name, "{\"name\": \"link%d\", \"joint\"", i);
        snprintf(joint, sizeof joint, "\"joint\": {\"name\": \"j%d\", ", i);
        const char *at = strstr(text, name), *behind = at != NULL ? strstr(at, joint) : NULL;
        if (behind == NULL || !chance(random, 0.6)) continue;
        behind += strlen(joint);
        fwrite(text, 1, (size_t)(behind - text), file);
        fprintf(file, "\"parent_frame\": \"f%d_%d\", ", i - 1, pick(random, 2));
        text = behind;
    }
    fwrite(text, 1, strlen(text) - 1, file); /* without the last brace */
}

char *random_frames(struct random *random, const char *given)
{
    static const char format_1[] = "{\"format\": \"limber-robot/1", format_2[] = "{\"format\": \"limber-robot/2";
    struct report silent = {0};
    struct robot *robot;
    char *text = NULL;
    size_t size = 0;
    if (robot_read_text("random", given, &robot, &silent) != STATUS_OK) return NULL;
    FILE *file = open_memstream(&text, &size);
    fputs(format_2, file);
    links(file, random, given + strlen(format_1), robot->n_links);
    fputs(", \"frames\": [", file);
    for (int i = 0; i < robot->n_links; i++)
        for (int k = 0; k < 2; k++) frame(file, random, robot, i, k);
    fputs("]}", file);
    fclose(file);
    robot_free(robot);
    return text;
}
