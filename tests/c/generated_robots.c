/* generated_robots FOLDER COUNT: code of COUNT random robots, every third one with loops, every second one with
   wrenches as arguments, in FOLDER/0, FOLDER/1, ... Robots
   with more than 6 links or more than 15 velocities are passed over. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "generate/generate.h"
#include "oracle/closed.h"

enum { MOST_LINKS = 6, MOST_COORDINATES = 15 };

struct output {
    const char *folder;
    int n;
    FILE *file[CODE_FILES];
};

static FILE *open_output(void *context, const char *name)
{
    struct output *output = context;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", output->folder, name);
    FILE *file = fopen(path, "w");
    if (file != NULL) output->file[output->n++] = file;
    return file;
}

static enum status write_code(const struct generation *what, const char *folder)
{
    struct generated function[FUNCTIONS];
    struct output output = {.folder = folder};
    const struct code_files files = {open_output, &output};
    (void)mkdir(folder, 0777);
    const enum status status = generate_write(what, &files, function);
    for (int i = 0; i < output.n; i++) fclose(output.file[i]);
    return status;
}

/* 1: written, 0: passed over, -1: failed */
static int generate_robot(struct specimen *s, bool wrenches, const char *folder)
{
    const struct generation what = {
        .mechanism = &s->mechanism, .prefix = "robot", .wrenches = wrenches, .tolerance = 1e-9};
    if (s->robot->n_links > MOST_LINKS || s->nv > MOST_COORDINATES || s->nv == 0) return 0;
    const enum status status = write_code(&what, folder);
    if (status > 0) return 0; /* singular in all states */
    if (status < 0) fprintf(stderr, "%s: %s\n", folder, status_text(status));
    return status < 0 ? -1 : 1;
}

static int try_seed(int seed, bool with_loops, bool wrenches, const char *folder)
{
    struct specimen s;
    if (!(with_loops ? closed_random(&s, seed, ANY_LOOP, 1, true) : specimen_random(&s, seed))) return 0;
    const int result = generate_robot(&s, wrenches, folder);
    specimen_free(&s);
    return result;
}

int main(int argc, char **argv)
{
    const int count = argc == 3 ? atoi(argv[2]) : 0;
    if (count <= 0) {
        fprintf(stderr, "usage: generated_robots FOLDER COUNT\n");
        return 2;
    }
    for (int seed = 0, made = 0; made < count; seed++) {
        char folder[4096];
        snprintf(folder, sizeof folder, "%s/%d", argv[1], made);
        const int result = try_seed(seed, made % 3 == 2, made % 2 == 1, folder);
        if (result < 0) return 1;
        made += result;
    }
    return 0;
}
