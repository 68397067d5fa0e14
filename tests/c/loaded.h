/* An instance of a robot with its messages, and variables by name. */
#ifndef LOADED_H
#define LOADED_H

#include <stdarg.h>
#include <string.h>

#include "robot/read.h"
#include "sim/sim.h"
#include "test.h"

/* A boom of three modes on a cylinder that pushes its bent part */
#define BOOM                                                                                                  \
    "{\"format\": \"limber-robot/2\", \"name\": \"boom\", \"gravity\": [0, 0, -9.81], "                       \
    "\"links\": [{\"name\": \"boom\", \"joint\": {\"name\": \"base\", \"type\": \"revolute\", \"axis\": [0, " \
    "1, 0], \"passive\": true}, \"beam\": {\"length\": 4, \"mass_per_length\": 10, \"EIy\": 2e4, "            \
    "\"EIz\": 2e4, \"modes\": {\"z\": {\"shape\": \"clamped-free\", \"count\": 3}}}, "                        \
    "\"payload\": {\"mass\": 20}}], \"actuators\": [{\"name\": \"lift\", \"type\": \"line\", "                \
    "\"static\": \"held\", \"from\": {\"link\": \"world\", \"xyz\": [0, 0, -1]}, "                            \
    "\"to\": {\"link\": \"boom\", \"frame\": \"tip\", \"xyz\": [-1.5, 0, 0]}}]}"

struct loaded {
    struct instance *instance;
    struct report report;
    struct arena arena;
    char said[4096];
};

static inline void loaded_listen(void *context, enum report_level level, const char *text)
{
    struct loaded *l = context;
    (void)level;
    const size_t length = strlen(l->said);
    snprintf(l->said + length, sizeof l->said - length, "%s\n", text);
}

static inline void loaded_listen_to_notes(void *context, const char *text)
{
    loaded_listen(context, REPORT_WARNING, text);
}

/* Of a file, or of a text; before its initialization. A motion: sim_make_moved() */
static inline struct instance *loaded_make(struct loaded *l, const char *file, const char *text,
                                           const struct sim_motion *motion)
{
    memset(l, 0, sizeof *l);
    l->report = (struct report){.line = loaded_listen, .note = loaded_listen_to_notes, .context = l};
    if (file != NULL) text = document_load(file, &l->arena, &l->report);
    CHECK(text != NULL &&
          (motion == NULL ? sim_make("robot", text, &l->report, &l->instance)
                          : sim_make_moved("robot", text, motion, &l->report, &l->instance)) == STATUS_OK);
    return l->instance;
}

static inline void loaded_free(struct loaded *l)
{
    instance_free(l->instance);
    arena_release(&l->arena);
}

/* The reference of the variable of this name */
PRINTF_LIKE(2, 3)
static inline int named(const struct instance *instance, const char *format, ...)
{
    char name[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    const struct variables *v = instance_variables(instance);
    const int row = variables_find(v, name);
    if (row < 0) printf("     no variable %s\n", name);
    CHECK(row >= 0);
    return row >= 0 ? v->row[row].reference : 0;
}

#endif
