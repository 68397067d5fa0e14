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
    const char *unit[2]; /* of a joint that turns, of one that slides; NULL: an integer */
    double start;
    const char *description;
};

static const struct row joint_rows[JOINT_VALUES] = {
    [Q_REF] = {"q_ref", CAUSALITY_INPUT, {"rad", "m"}, 0, "desired position"},
    [QD_REF] = {"qd_ref", CAUSALITY_INPUT, {"rad/s", "m/s"}, 0, "desired velocity"},
    [QDD_REF] = {"qdd_ref", CAUSALITY_INPUT, {"rad/s2", "m/s2"}, 0, "desired acceleration"},
    [Q_MEASURED] = {"q", CAUSALITY_INPUT, {"rad", "m"}, 0, "measured position"},
    [QD_MEASURED] = {"qd", CAUSALITY_INPUT, {"rad/s", "m/s"}, 0, "measured velocity"},
    [TAU] = {"tau", CAUSALITY_OUTPUT, {"N.m", "N"}, 0, "torque or force for the joint"},
    [CORRECTION] = {"correction",
                    CAUSALITY_OUTPUT,
                    {"N.m", "N"},
                    0,
                    "torque or force that the model does not explain, as estimated by the correction loop"},
    [Q_COMMAND] = {"q_command",
                   CAUSALITY_OUTPUT,
                   {"rad", "m"},
                   0,
                   "desired position with the compensation of the tip's deflection"},
    [KP] = {"kp", CAUSALITY_PARAMETER, {"1/s2", "1/s2"}, 25, "feedback of the position error, as an acceleration"},
    [KD] = {"kd", CAUSALITY_PARAMETER, {"1/s", "1/s"}, 10, "feedback of the velocity error, as an acceleration"},
    [LQR_POSITION] = {"lqr_position",
                      CAUSALITY_PARAMETER,
                      {"rad", "m"},
                      0.01,
                      "position error that LQR accepts: its weight is the inverse square"},
    [LQR_RATE] = {"lqr_rate",
                  CAUSALITY_PARAMETER,
                  {"rad/s", "m/s"},
                  0.05,
                  "velocity error that LQR accepts: its weight is the inverse square"},
    [LQR_ACCELERATION] =
        {"lqr_acceleration",
         CAUSALITY_PARAMETER,
         {"rad/s2", "m/s2"},
         0.25,
         "torque that LQR accepts, as acceleration of the joint's inertia with locked modes: its weight is "
         "the inverse square"},
    [POSITION_RESOLUTION] = {"position_resolution",
                             CAUSALITY_PARAMETER,
                             {"rad", "m"},
                             0,
                             "measured positions are rounded to multiples of this; 0: not rounded"},
    [VELOCITY_RESOLUTION] = {"velocity_resolution",
                             CAUSALITY_PARAMETER,
                             {"rad/s", "m/s"},
                             0,
                             "measured velocities are rounded to multiples of this; 0: not rounded"},
    [TORQUE_RESOLUTION] = {"torque_resolution",
                           CAUSALITY_PARAMETER,
                           {"N.m", "N"},
                           0,
                           "torques are rounded to multiples of this; 0: not rounded"}};

static const struct row own_rows[CONTROLLER_VALUES] = {
    [LAW] = {"law",
             CAUSALITY_PARAMETER,
             {NULL, NULL},
             LAW_FLEXIBLE,
             "0 PD, 1 PD with gravity compensation, 2 computed torque of the rigid arm, 3 of the flexible arm"},
    [FEEDBACK] =
        {"feedback",
         CAUSALITY_PARAMETER,
         {NULL, NULL},
         FEEDBACK_PD,
         "0 PD, 1 LQR: a gain for joints and predicted elastic coordinates from the linear model at the start"},
    [TIP_COMPENSATION] =
        {"tip_compensation",
         CAUSALITY_PARAMETER,
         {NULL, NULL},
         COMPENSATE_NOTHING,
         "joints move against the predicted static deflection of the tip: 0 no, 1 under gravity, 2 under "
         "gravity and inertia"},
    [CORRECTION_BANDWIDTH] = {"correction_bandwidth",
                              CAUSALITY_PARAMETER,
                              {"rad/s", "rad/s"},
                              0,
                              "bandwidth of the correction loop; 0: none"},
    [COMPENSATION_BANDWIDTH] = {"compensation_bandwidth",
                                CAUSALITY_PARAMETER,
                                {"rad/s", "rad/s"},
                                20,
                                "bandwidth with which the joints follow the compensation of the tip's deflection"},
    [SAMPLE_TIME] = {"sample_time", CAUSALITY_PARAMETER, {"s", "s"}, 1e-3, "time from sample to sample"},
    [DELAY] = {
        "delay", CAUSALITY_PARAMETER, {"s", "s"}, 0, "time from a sample to its torques, at most 16 sample times"}};

static const struct row observer_rows[OBSERVER_VALUES] = {
    [OBSERVER_BANDWIDTH] = {"observer_bandwidth",
                            CAUSALITY_PARAMETER,
                            {"rad/s", "rad/s"},
                            5,
                            "bandwidth with which the sensors correct deformations and load; 0: they are ignored"},
    [VIBRATION_DAMPING] = {"vibration_damping",
                           CAUSALITY_PARAMETER,
                           {"1/s", "1/s"},
                           0,
                           "decay rate that the compensation of the tip's deflection adds to vibration; 0: none"},
    [LOAD_X] = {"load[1]", CAUSALITY_OUTPUT, {"N", "N"}, 0, "estimated unknown force at the tip, world axes"},
    [LOAD_Y] = {"load[2]", CAUSALITY_OUTPUT, {"N", "N"}, 0, "estimated unknown force at the tip, world axes"},
    [LOAD_Z] = {"load[3]", CAUSALITY_OUTPUT, {"N", "N"}, 0, "estimated unknown force at the tip, world axes"}};

/* What the rows of a sensor add to its name; units are its own, starts of the noise those of its kind */
static const struct row sensor_rows[SENSOR_VALUES] = {
    [MEASURED] = {"", CAUSALITY_INPUT, {NULL, NULL}, 0, "measured: "},
    [NOISE] = {".noise", CAUSALITY_PARAMETER, {NULL, NULL}, 0, "standard deviation of the noise of a sample of "},
    [RESOLUTION] = {
        ".resolution", CAUSALITY_PARAMETER, {NULL, NULL}, 0, "rounded to multiples of this, 0: not rounded: "}};

static const double usual_noise[SENSOR_KINDS] = {[CURVATURE] = 1e-5, [ELONGATION] = 1e-6, [SPECIFIC_FORCE] = 0.01};

static const struct limit not_negative = {0, INFINITY, false, "must not be negative"},
                          positive = {ABOVE_0, INFINITY, false, "must be positive"},
                          one_law = {0, LAW_COUNT - 1, true, "must be 0, 1, 2 or 3"},
                          one_feedback = {0, FEEDBACK_COUNT - 1, true, "must be 0 or 1"},
                          one_compensation = {0, COMPENSATION_COUNT - 1, true, "must be 0, 1 or 2"};

/* Of the controller's own parameters; of joints, what LQR accepts must be positive, gains and resolutions must not be negative */
static const struct limit *const own_limits[CONTROLLER_VALUES] = {[LAW] = &one_law,
                                                                  [FEEDBACK] = &one_feedback,
                                                                  [TIP_COMPENSATION] = &one_compensation,
                                                                  [CORRECTION_BANDWIDTH] = &not_negative,
                                                                  [COMPENSATION_BANDWIDTH] = &positive,
                                                                  [SAMPLE_TIME] = &positive,
                                                                  [DELAY] = &not_negative};

static struct variable variable_of(const struct row *row, const char *name, const char *description, bool slides,
                                   int reference)
{
    const bool output = row->causality == CAUSALITY_OUTPUT, parameter = row->causality == CAUSALITY_PARAMETER;
    return (struct variable){.name = name,
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
                             .reference = reference,
                             .start = row->start,
                             .state = -1,
                             .start_of = -1,
                             .rate = -1,
                             .derivative_of = -1};
}

static const char *joined(const char *a, const char *between, const char *b, struct arena *arena)
{
    const size_t bytes = strlen(a) + strlen(between) + strlen(b) + 1;
    char *text = arena_allocate(arena, bytes, 1);
    if (text != NULL) snprintf(text, bytes, "%s%s%s", a, between, b);
    return text;
}

/* ---- the table ----------------------------------------------------------------------------------------------------------- */

static void add_joint(const struct joint *joint, int j, struct arena *arena, struct variables *v)
{
    const bool slides = joint_column_part(joint, 0) == SLIDES;
    for (int i = 0; i < JOINT_VALUES; i++) {
        const int reference = joint_reference(j, (enum joint_value)i);
        const struct row *row = &joint_rows[i];
        struct variable *variable = &v->row[v->n++];
        *variable = variable_of(row, joined(joint->name, ".", row->name, arena), row->description, slides, reference);
        const bool accepted = i == LQR_POSITION || i == LQR_RATE || i == LQR_ACCELERATION;
        if (row->causality == CAUSALITY_PARAMETER) variable->limit = accepted ? &positive : &not_negative;
        if (i == Q_REF || i == Q_MEASURED) variable->start = joint->start_position[0];
        if (i == Q_REF || i == QD_REF || i == Q_MEASURED) variable->rate = reference + 1;
    }
}

static void add_sensor(const struct variable *output, enum sensor_kind kind, struct arena *arena, struct variables *v)
{
    for (int i = 0; i < SENSOR_VALUES; i++) {
        struct row row = sensor_rows[i];
        row.unit[0] = output->unit;
        if (i == NOISE) row.start = usual_noise[kind];
        const char *name = joined(output->name, "", row.name, arena);
        const char *description = joined(row.description, "", output->description, arena);
        struct variable *variable = &v->row[v->n];
        *variable = variable_of(&row, name, description, false, v->n);
        if (row.causality == CAUSALITY_PARAMETER) variable->limit = i == NOISE ? &positive : &not_negative;
        v->n++;
    }
}

static void add_observer(const struct named_sensors *sensors, struct arena *arena, struct variables *v)
{
    for (int i = 0; i < OBSERVER_VALUES; i++, v->n++) {
        v->row[v->n] = variable_of(&observer_rows[i], observer_rows[i].name, observer_rows[i].description, false, v->n);
        if (observer_rows[i].causality == CAUSALITY_PARAMETER) v->row[v->n].limit = &not_negative;
    }
    for (int i = 0; i < sensors->n; i++) add_sensor(sensors->output[i], sensors->sensor[i].shows, arena, v);
}

/* Parameters of the robot that are numbers of its model: not those of a start or of the integration */
static bool is_of_model(const struct variables *arm, const struct variable *variable)
{
    return variable->causality == CAUSALITY_PARAMETER && variable->start_of < 0 &&
           variable->reference != arm->start_static && strncmp(variable->name, "solver.", 7) != 0;
}

static void add_model(const struct variables *arm, struct arena *arena, struct variables *v)
{
    for (int r = 0; r < arm->n_values; r++) {
        const struct variable *of = arm->by_reference[r];
        if (!is_of_model(arm, of)) continue;
        v->row[v->n] = *of;
        v->row[v->n].reference = v->n;
        v->row[v->n++].description = joined("of the model: ", "", of->description, arena);
    }
}

enum status controller_variables(const struct instance *instance, const struct named_sensors *sensors,
                                 struct arena *arena, struct variables *v)
{
    const struct robot *robot = sim_robot(instance);
    const struct variables *arm = instance_variables(instance);
    const int n_joints = sim_model(instance)->n_tau;
    const size_t most = (size_t)(sensor_reference(n_joints, sensors->n, 0) + arm->n_values);
    memset(v, 0, sizeof *v);
    v->row = arena_allocate(arena, most, sizeof *v->row);
    v->by_reference = arena_allocate(arena, most, sizeof *v->by_reference);
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int i = 0, j = 0; i < robot->n_links; i++)
        if (joint_moves(&robot->link[i].joint)) add_joint(&robot->link[i].joint, j++, arena, v);
    for (int i = 0; i < CONTROLLER_VALUES; i++, v->n++) {
        v->row[v->n] = variable_of(&own_rows[i], own_rows[i].name, own_rows[i].description, false, v->n);
        v->row[v->n].limit = own_limits[i];
    }
    if (sensors->n > 0) add_observer(sensors, arena, v);
    add_model(arm, arena, v);
    v->n_values = v->n;
    v->discrete = true;
    v->start_static = -1;
    v->solver = (struct solver_parameters){-1, -1, -1, -1, -1, -1, -1};
    for (int r = 0; r < v->n; r++) v->by_reference[r] = &v->row[r];
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

static void read_format(struct object *object)
{
    const struct place format = place_member(object, "format");
    const char *word = read_string(&format, REQUIRED, "the format");
    if (word != NULL && strcmp(word, "limber-controller/1") != 0)
        place_error(&format, "the format must be \"limber-controller/1\"");
}

const char *controller_robot(const char *name, const char *text, struct report *report, struct arena *arena)
{
    const int before = report->errors;
    struct reader reader = {.file = name, .report = report};
    bool valid;
    struct json_object *root = document_parse(&reader, text, &valid);
    const struct place whole = {.reader = &reader, .given = true, .value = root};
    struct object object;
    const char *robot = NULL;
    if (valid && place_open_object(&object, &whole, REQUIRED, "a controller file")) {
        read_format(&object);
        const struct place of = place_member(&object, "robot"), parameters = place_member(&object, "parameters");
        if (!value_is_object(&of)) place_error(&of, "the robot must be a robot file");
        else robot = place_text(&of, arena);
        if (parameters.given && !value_is_object(&parameters))
            place_error(&parameters, "the parameters must be an object of names and numbers");
        (void)place_member(&object, "sensors"); /* read when the robot is known */
        place_close_object(&object);
    }
    if (document_free(&reader)) return NULL;
    return report->errors == before ? robot : NULL;
}

/* ---- sensors of the file ------------------------------------------------------------------------------------------------- */

enum { SENSOR_NAME = 300, LIST = 700 };

/* The name of an output of the robot; component k of 3, or the only one */
static void sensor_name(const struct robot *robot, const struct sensor *sensor, char name[SENSOR_NAME])
{
    static const char *const kinds[SENSOR_KINDS] = {"curvature", "elongation", "specific_force"};
    const char *frame = sensor->frame == 0 ? "tip" : robot->frame[sensor->frame - 1].name;
    if (sensor->shows == ELONGATION) snprintf(name, SENSOR_NAME, "%s.%s", frame, kinds[sensor->shows]);
    else snprintf(name, SENSOR_NAME, "%s.%s[%d]", frame, kinds[sensor->shows], sensor->k + 1);
}

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

/* The list ends with "..." where it is full */
static void append_name(char list[LIST], const char *name)
{
    static const char *const MORE = ", ...";
    const size_t length = strlen(list), most = LIST - strlen(MORE) - 3;
    if (length + strlen(name) < most) snprintf(list + length, LIST - length, "%s%s", length > 0 ? ", " : "", name);
    else if (list[length - 1] != '.') snprintf(list + length, LIST - length, "%s", MORE);
}

/* Which sensor has this name, and the output; NULL: none. Otherwise the list of all that see a load. */
static const struct variable *find_sensor(const struct instance *arm, const char *wanted, struct sensor *found,
                                          char list[LIST])
{
    const struct robot *robot = sim_robot(arm);
    const struct variables *v = instance_variables(arm);
    list[0] = '\0';
    for (struct sensor sensor = {0}; next_sensor(robot, &sensor);) { /* not the first: the tip has no curvature */
        char name[SENSOR_NAME];
        sensor_name(robot, &sensor, name);
        const int row = variables_find(v, name);
        if (row < 0) continue;
        *found = sensor;
        if (strcmp(name, wanted) == 0) return &v->row[row];
        if (sensor_sees_load(sim_model(arm), &sensor)) append_name(list, name);
    }
    return NULL;
}

static bool is_among(const struct named_sensors *sensors, const struct variable *output)
{
    for (int i = 0; i < sensors->n; i++)
        if (sensors->output[i] == output) return true;
    return false;
}

static void read_sensor(const struct place *at, const struct instance *arm, struct named_sensors *sensors)
{
    struct sensor sensor;
    char list[LIST];
    const char *name = read_string(at, REQUIRED, "the name of an output of the robot's FMU");
    if (name == NULL) return;
    const struct variable *output = find_sensor(arm, name, &sensor, list);
    if (output == NULL && list[0] == '\0')
        place_error(at,
                    "no sensor of this model sees how a load at the tip deforms it: that needs a robot file of format "
                    "2, links with modes, and for strain gauges frames with \"sensor\": true");
    else if (output == NULL) place_error(at, "there is no such sensor; a sensor may be %s", list);
    else if (!sensor_sees_load(sim_model(arm), &sensor))
        place_error(at, "this sensor does not see how a load at the tip deforms the links of this model");
    else if (is_among(sensors, output)) place_error(at, "this sensor was named before");
    else {
        sensors->sensor[sensors->n] = sensor;
        sensors->output[sensors->n++] = output;
    }
}

enum status controller_sensors(const char *name, const char *text, const struct instance *arm, struct report *report,
                               struct arena *arena, struct named_sensors *sensors)
{
    const int before = report->errors;
    struct reader reader = {.file = name, .report = report};
    bool valid;
    struct json_object *root = document_parse(&reader, text, &valid);
    const struct place whole = {.reader = &reader, .given = true, .value = root};
    struct object object;
    int count = 0;
    if (valid && place_open_object(&object, &whole, REQUIRED, "a controller file")) {
        const struct place all = place_member(&object, "sensors");
        if (place_open_array(&all, OPTIONAL, 0, -1, "names of outputs of the robot's FMU", &count)) {
            sensors->sensor = arena_allocate(arena, (size_t)count, sizeof *sensors->sensor);
            sensors->output = arena_allocate(arena, (size_t)count, sizeof *sensors->output);
            for (int i = 0; i < count && !arena->failed; i++) {
                const struct place at = place_item(&all, i);
                read_sensor(&at, arm, sensors);
            }
        }
    }
    if (document_free(&reader) || arena->failed) return STATUS_NO_MEMORY;
    return report->errors == before ? STATUS_OK : STATUS_BAD_DRIVE;
}

/* ---- parameters of the file ---------------------------------------------------------------------------------------------- */

static void read_parameter(void *context, const struct place *at)
{
    static const struct quantity parameter = {"a parameter", "", ANY};
    struct variables *variables = context;
    const int row = variables_find(variables, at->key);
    if (row < 0 || variables->row[row].causality != CAUSALITY_PARAMETER)
        place_error(at, "the controller has no parameter of this name");
    else (void)read_number(at, REQUIRED, &parameter, &variables->row[row].start);
}

enum status controller_parameters(const char *name, const char *text, struct report *report,
                                  struct variables *variables)
{
    const int before = report->errors;
    struct reader reader = {.file = name, .report = report};
    bool valid;
    struct json_object *root = document_parse(&reader, text, &valid);
    const struct place whole = {.reader = &reader, .given = true, .value = root};
    struct object object;
    if (valid && place_open_object(&object, &whole, REQUIRED, "a controller file")) {
        const struct place parameters = place_member(&object, "parameters");
        if (value_is_object(&parameters)) place_each_member(&parameters, read_parameter, variables);
    }
    if (document_free(&reader)) return STATUS_NO_MEMORY;
    return report->errors == before ? STATUS_OK : STATUS_BAD_DRIVE;
}
