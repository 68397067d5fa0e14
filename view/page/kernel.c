/* The kinematics of one robot for the page of the viewer, compiled to WebAssembly by build/viewer.sh: a narrow interface of numbers and
   texts over view/scene/ and mech/. The page writes q and reads the poses of all parts. */
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/scene/describe.h"

#if defined(__wasm__)
#define EXPORT(name) __attribute__((export_name(name)))
#else
#define EXPORT(name)
#endif

/* Longest step of a joint that is dragged, so that loops stay on their branch [rad, m] */
static const double LONGEST_STEP = 0.05;
enum { MOST_STEPS = 400, MESSAGE_SIZE = 4096 };

struct kernel {
    struct robot *robot;
    struct mechanism mechanism;
    struct scene scene;
    struct json_object *description;
    double *q;      /* nq: written by the page, and moved by the functions below */
    double *number; /* scene_numbers()                                           */
    double *dx;     /* nv                                                        */
    double *before; /* nq                                                        */
    bool *held;     /* n_links                                                   */
    char message[MESSAGE_SIZE];
    struct arena arena;
};

static void collect(void *context, enum report_level level, const char *text)
{
    struct kernel *kernel = context;
    const size_t length = strlen(kernel->message);
    if (level == REPORT_ERROR) snprintf(kernel->message + length, MESSAGE_SIZE - length, "%s\n", text);
}

/* Memory for the text of a robot file. */
EXPORT("allocate") void *kernel_allocate(size_t size)
{
    return malloc(size);
}

/* The robot at its start, with its loops closed. kernel_message() is not empty if this failed. */
EXPORT("make") struct kernel *kernel_make(const char *text)
{
    struct kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL) return NULL;
    struct report report = {.line = collect, .context = kernel};
    enum status status = robot_read_text("robot", text, &kernel->robot, &report);
    if (status == STATUS_OK) status = mechanism_make(kernel->robot, &kernel->mechanism, &report);
    if (status == STATUS_OK) status = scene_make(&kernel->mechanism, &kernel->scene);
    if (status == STATUS_OK) {
        const struct model *model = kernel->mechanism.model;
        const size_t numbers = (size_t)scene_number_count(&kernel->scene);
        kernel->q = arena_allocate(&kernel->arena, (size_t)model->nq, sizeof(double));
        kernel->before = arena_allocate(&kernel->arena, (size_t)model->nq, sizeof(double));
        kernel->dx = arena_allocate(&kernel->arena, (size_t)model->nv, sizeof(double));
        kernel->number = arena_allocate(&kernel->arena, numbers, sizeof(double));
        kernel->held = arena_allocate(&kernel->arena, (size_t)model->n_links, sizeof(bool));
        kernel->description = scene_describe(&kernel->scene);
        status = kernel->arena.failed || kernel->description == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    if (status == STATUS_OK) {
        model_start(kernel->mechanism.model, kernel->q, kernel->dx);
        status = constraints_close(&kernel->mechanism, NULL, kernel->q, &report);
    }
    if (status != STATUS_OK && *kernel->message == '\0')
        snprintf(kernel->message, MESSAGE_SIZE, "%s", status_text(status));
    return kernel;
}

EXPORT("message") const char *kernel_message(const struct kernel *kernel)
{
    return kernel->message;
}

EXPORT("description") const char *kernel_description(const struct kernel *kernel)
{
    return json_object_to_json_string_ext(kernel->description, JSON_C_TO_STRING_PLAIN);
}

EXPORT("positions") double *kernel_positions(struct kernel *kernel)
{
    return kernel->q;
}

EXPORT("tangent") double *kernel_tangent(struct kernel *kernel)
{
    return kernel->dx;
}

EXPORT("number_count") int kernel_number_count(const struct kernel *kernel)
{
    return scene_number_count(&kernel->scene);
}

/* The poses of all parts at q: scene_numbers(). */
EXPORT("numbers") double *kernel_numbers(struct kernel *kernel)
{
    scene_numbers(&kernel->scene, kernel->q, kernel->number);
    return kernel->number;
}

/* Closes the loops while joints of `held` stay. Returns 0 on success; otherwise q is unchanged. With `rigid` links keep their shapes. */
static int close_loops(struct kernel *kernel, bool rigid)
{
    struct report silent = {0};
    const struct closing how = {.locked = kernel->held, .rigid = rigid};
    return constraints_close(&kernel->mechanism, &how, kernel->q, &silent) != STATUS_OK;
}

/* Closes the loops by moving any joints and, if that is not sufficient, elastic coordinates too. */
EXPORT("close") int kernel_close(struct kernel *kernel)
{
    memset(kernel->held, 0, (size_t)kernel->mechanism.model->n_links * sizeof(bool));
    return close_loops(kernel, true) != 0 && close_loops(kernel, false) != 0;
}

/* Moves q by `factor` times the tangent that the page has written; quaternions keep unit length. */
EXPORT("shift") void kernel_shift(struct kernel *kernel, double factor)
{
    model_move(kernel->mechanism.model, kernel->q, kernel->dx, factor);
}

static double largest(const double *x, int n)
{
    double most = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(x[k]));
    return most;
}

/* Moves the joint of a link by the tangent that the page has written, in short steps, while all other joints of its loops follow.
   Returns 0, or 1 if the loops do not allow it: the joint then stops where they do. */
EXPORT("drag") int kernel_drag(struct kernel *kernel, int link)
{
    const struct model *model = kernel->mechanism.model;
    const struct joint_model *joint = &model->link[link].joint;
    double *dx = kernel->dx + model->link[link].v, *q = kernel->q + model->link[link].q;
    const double steps = fmin(fmax(ceil(largest(dx, joint->nv) / LONGEST_STEP), 1), MOST_STEPS);
    memset(kernel->held, 0, (size_t)model->n_links * sizeof(bool));
    kernel->held[link] = true;
    for (int k = 0; k < joint->nv; k++) dx[k] /= steps;
    for (int step = 0; step < steps; step++) {
        memcpy(kernel->before, kernel->q, (size_t)model->nq * sizeof(double));
        joint_move(joint, q, dx);
        if (close_loops(kernel, true) == 0 || close_loops(kernel, false) == 0) continue;
        memcpy(kernel->q, kernel->before, (size_t)model->nq * sizeof(double));
        return 1;
    }
    return 0;
}

/* The largest gap of all constraints at q [m, or cosine]. */
EXPORT("gap") double kernel_gap(struct kernel *kernel)
{
    struct constraints *loops = kernel->mechanism.constraints;
    if (loops->n_rows == 0) return 0;
    scene_pose(&kernel->scene, kernel->q);
    constraints_gap(&kernel->mechanism, &(struct input){.q = kernel->q});
    return largest(loops->gap, loops->n_rows);
}
