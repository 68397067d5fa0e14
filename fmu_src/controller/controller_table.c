/* Variables of a controller, and its file. */
#include <stdio.h>
#include <string.h>

#include "controller/controller.h"
#include "robot/read.h"
#include "sim/sim.h"

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

struct row {
    const char *name;
    enum causality causality;
    const char *unit[2]; /* for a revolute joint, for a prismatic joint; NULL: an integer */
    double start;
    const struct limit *limit;
    const char *description;
};

static const struct limit not_negative = {0, INFINITY, false, "must not be negative"},
                          positive = {ABOVE_0, INFINITY, false, "must be positive"},
                          one_law = {0, LAW_COUNT - 1, true, "must be 0, 1, 2 or 3"},
                          one_feedback = {0, FEEDBACK_COUNT - 1, true, "must be 0 or 1"},
                          one_compensation = {0, COMPENSATION_COUNT - 1, true, "must be 0, 1 or 2"};

#define ROW(identifier, name, causality, turns, slides, start, limit, description) \
    {name, CAUSALITY_##causality, {turns, slides}, start, limit, description},
static const struct row joint_rows[JOINT_VALUES] = {JOINT_LIST(ROW)}, own_rows[CONTROLLER_VALUES] = {OWN_LIST(ROW)},
                        observer_rows[OBSERVER_VALUES] = {OBSERVER_LIST(ROW)},
                        sensor_rows[SENSOR_VALUES] = {SENSOR_LIST(ROW)};

static const double usual_noise[SENSOR_KINDS] = {[CURVATURE] = 1e-5, [ELONGATION] = 1e-6, [SPECIFIC_FORCE] = 0.01};

/* ---- the table ----------------------------------------------------------------------------------------------------------- */

static struct variable *add(struct variables *v, const struct row *row, const char *name, const char *description,
                            bool slides)
{
    const bool output = row->causality == CAUSALITY_OUTPUT, parameter = row->causality == CAUSALITY_PARAMETER;
    struct variable *variable = &v->row[v->n];
    *variable = (struct variable){.name = name,
                                  .description = description,
                                  .unit = row->unit[slides],
                                  .type = row->unit[0] == NULL ? TYPE_INTEGER : TYPE_REAL,
                                  .causality = row->causality,
                                  .variability = parameter ? VARIABILITY_FIXED
                                                 : output  ? VARIABILITY_DISCRETE
                                                           : VARIABILITY_CONTINUOUS,
                                  .initial = parameter ? INITIAL_EXACT
                                             : output  ? INITIAL_CALCULATED
                                                       : INITIAL_NONE,
                                  .reference = v->n++,
                                  .start = row->start,
                                  .limit = row->limit,
                                  NO_RELATIONS};
    return variable;
}

static void add_joint(const struct joint *joint, struct arena *arena, struct variables *v)
{
    const bool slides = joint_column_part(joint, 0) == SLIDES;
    for (int i = 0; i < JOINT_VALUES; i++) {
        const struct row *row = &joint_rows[i];
        struct variable *variable =
            add(v, row, arena_joined(arena, joint->name, ".", row->name), row->description, slides);
        if (i == Q_REF || i == Q_MEASURED) variable->start = joint->start_position[0];
        if (i == Q_REF || i == QD_REF || i == Q_MEASURED) variable->rate = variable->reference + 1;
    }
}

static void add_sensor(const struct variable *output, enum sensor_kind kind, struct arena *arena, struct variables *v)
{
    for (int i = 0; i < SENSOR_VALUES; i++) {
        struct row row = sensor_rows[i];
        row.unit[0] = output->unit;
        if (i == NOISE) row.start = usual_noise[kind];
        add(v, &row, arena_joined(arena, output->name, row.name, ""),
            arena_joined(arena, row.description, output->description, ""), false);
    }
}

/* Parameters of the robot that are numbers of its model: not start values or parameters of the integration */
static void add_model(const struct variables *arm, struct arena *arena, struct variables *v)
{
    for (int r = 0; r < arm->n_values; r++) {
        const struct variable *parameter = arm->by_reference[r];
        if (parameter->causality != CAUSALITY_PARAMETER || parameter->start_of >= 0 || r == arm->start_static ||
            strncmp(parameter->name, "solver.", 7) == 0)
            continue;
        v->row[v->n] = *parameter;
        v->row[v->n].reference = v->n;
        v->row[v->n++].description = arena_joined(arena, "of the model: ", parameter->description, "");
    }
}

static void make_table(const struct instance *instance, const struct named_sensors *sensors, struct arena *arena,
                       struct variables *v)
{
    const struct robot *robot = sim_robot(instance);
    const struct variables *arm = instance_variables(instance);
    const int n_joints = sim_model(instance)->n_tau;
    const size_t most = (size_t)(sensor_reference(n_joints, sensors->n, 0) + arm->n_values);
    memset(v, 0, sizeof *v);
    v->row = arena_allocate(arena, most, sizeof *v->row);
    v->by_reference = arena_allocate(arena, most, sizeof *v->by_reference);
    if (arena->failed) return;
    for (int i = 0; i < robot->n_links; i++)
        if (joint_moves(&robot->link[i].joint)) add_joint(&robot->link[i].joint, arena, v);
    for (int i = 0; i < CONTROLLER_VALUES; i++) add(v, &own_rows[i], own_rows[i].name, own_rows[i].description, false);
    for (int i = 0; i < OBSERVER_VALUES && sensors->n > 0; i++)
        add(v, &observer_rows[i], observer_rows[i].name, observer_rows[i].description, false);
    for (int i = 0; i < sensors->n; i++) add_sensor(sensors->output[i], sensors->sensor[i].shows, arena, v);
    add_model(arm, arena, v);
    v->n_values = v->n;
    v->discrete = true;
    v->start_static = -1;
    v->solver = (struct solver_parameters){-1, -1, -1, -1, -1, -1, -1};
    for (int r = 0; r < v->n; r++) v->by_reference[r] = &v->row[r];
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

struct robot_text {
    struct arena *arena;
    const char *text;
};

static void read_robot(struct object *file, void *context)
{
    struct robot_text *robot = context;
    read_word(file, "format", "the format", "limber-controller/1");
    const struct json_path robot_at = path_member(file, "robot"), parameters = path_member(file, "parameters");
    if (!value_is_object(&robot_at)) path_error(&robot_at, "the robot must be a robot file");
    else robot->text = path_text(&robot_at, robot->arena);
    if (parameters.given && !value_is_object(&parameters))
        path_error(&parameters, "the parameters must be an object of names and numbers");
    (void)path_member(file, "sensors"); /* read when the robot is known */
    path_close_object(file);
}

enum status controller_robot(const char *name, const char *text, struct report *report, struct arena *arena,
                             const char **robot)
{
    struct robot_text read = {.arena = arena};
    const enum status status = document_read(name, text, "a controller file", report, read_robot, &read);
    *robot = read.text;
    return status == STATUS_OK && read.text == NULL ? STATUS_NO_MEMORY : status;
}

/* ---- sensors of the file ------------------------------------------------------------------------------------------------- */

enum { SENSOR_NAME = 300, LIST = 700 };

/* The next of all sensors that the robot's instance may have; false: there is none */
static bool next_sensor(const struct robot *robot, struct sensor *sensor)
{
    const int components = sensor->shows == ELONGATION ? 1 : 3;
    if (++sensor->k < components) return true;
    sensor->k = 0;
    if (++sensor->shows < SENSOR_KINDS) return true;
    sensor->shows = CURVATURE;
    return ++sensor->frame <= robot->n_frames;
}

/* The output of the robot with this name, and the sensor that shows it. NULL if there is none: `list` then has the names of all sensors
   that see a load, and ends with "..." if it is full. */
static const struct variable *find_sensor(const struct instance *arm, const char *wanted, struct sensor *found,
                                          char list[LIST])
{
    static const char *const kinds[SENSOR_KINDS] = {"curvature", "elongation", "specific_force"};
    static const char MORE[] = ", ...";
    const struct robot *robot = sim_robot(arm);
    const struct variables *v = instance_variables(arm);
    size_t length = 0;
    bool full = false;
    list[0] = '\0';
    for (struct sensor sensor = {0}; next_sensor(robot, &sensor);) { /* not the first: the tip has no curvature */
        const char *frame = sensor.frame == 0 ? "tip" : robot->frame[sensor.frame - 1].name;
        char name[SENSOR_NAME], component[16] = "";
        if (sensor.shows != ELONGATION) snprintf(component, sizeof component, "[%d]", sensor.k + 1);
        snprintf(name, sizeof name, "%s.%s%s", frame, kinds[sensor.shows], component);
        const int row = variables_find(v, name);
        if (row < 0) continue;
        *found = sensor;
        if (strcmp(name, wanted) == 0) return &v->row[row];
        if (full || !sensor_sees_load(sim_model(arm), &sensor)) continue;
        full = length + strlen(name) >= LIST - sizeof MORE - 2;
        snprintf(list + length, LIST - length, "%s%s", length > 0 && !full ? ", " : "", full ? MORE : name);
        length = strlen(list);
    }
    return NULL;
}

struct table {
    const struct instance *arm;
    struct arena *arena;
    struct named_sensors *sensors;
    struct variables *variables;
};

static void read_sensor(const struct json_path *at, const struct instance *arm, struct named_sensors *sensors)
{
    struct sensor sensor;
    char list[LIST];
    const char *name = read_string(at, REQUIRED, "the name of an output of the robot's FMU");
    if (name == NULL) return;
    const struct variable *output = find_sensor(arm, name, &sensor, list);
    bool repeated = false;
    for (int i = 0; i < sensors->n; i++) repeated = repeated || sensors->output[i] == output;
    if (output == NULL && list[0] == '\0')
        path_error(at,
                   "no sensor of this model sees how a load at the tip deforms it: that needs a robot file of format "
                   "2, links with modes, and for strain gauges frames with \"sensor\": true");
    else if (output == NULL) path_error(at, "there is no such sensor; a sensor may be %s", list);
    else if (!sensor_sees_load(sim_model(arm), &sensor))
        path_error(at, "this sensor does not see how a load at the tip deforms the links of this model");
    else if (repeated) path_error(at, "this sensor was named before");
    else {
        sensors->sensor[sensors->n] = sensor;
        sensors->output[sensors->n++] = output;
    }
}

static void read_sensors(const struct json_path *at, const struct table *table)
{
    struct named_sensors *sensors = table->sensors;
    int count = 0;
    if (!path_open_array(at, OPTIONAL, 0, -1, "names of outputs of the robot's FMU", &count)) return;
    sensors->sensor = arena_allocate(table->arena, (size_t)count, sizeof *sensors->sensor);
    sensors->output = arena_allocate(table->arena, (size_t)count, sizeof *sensors->output);
    for (int i = 0; i < count && !table->arena->failed; i++) read_sensor(ITEM(at, i), table->arm, sensors);
}

/* ---- parameters of the file ---------------------------------------------------------------------------------------------- */

static void read_parameter(void *context, const struct json_path *at)
{
    static const struct quantity parameter = {"a parameter", "", ANY};
    struct variables *variables = context;
    const int row = variables_find(variables, at->key);
    if (row < 0 || variables->row[row].causality != CAUSALITY_PARAMETER)
        path_error(at, "the controller has no parameter of this name");
    else (void)read_number(at, REQUIRED, &parameter, &variables->row[row].start);
}

/* Parameters only if the sensors, which have some, are valid */
static void read_table(struct object *file, void *context)
{
    const struct table *table = context;
    const struct json_path parameters = path_member(file, "parameters");
    const int before = file->at.reader->report->errors;
    read_sensors(MEMBER(file, "sensors"), table);
    if (table->arena->failed || file->at.reader->report->errors > before) return;
    make_table(table->arm, table->sensors, table->arena, table->variables);
    if (table->arena->failed || !value_is_object(&parameters)) return;
    path_each_member(&parameters, read_parameter, table->variables);
}

enum status controller_table(const char *name, const char *text, const struct instance *arm, struct report *report,
                             struct arena *arena, struct named_sensors *sensors, struct variables *variables)
{
    struct table table = {arm, arena, sensors, variables};
    const enum status status = document_read(name, text, "a controller file", report, read_table, &table);
    return arena->failed ? STATUS_NO_MEMORY : status;
}
