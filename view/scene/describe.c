#include "view/scene/describe.h"

#include <json-c/json.h>
#include <math.h>

#include "analysis/names.h"
#include "drive/drive.h"
#include "view/scene/camera.h"

static void add(struct json_object *object, const char *key, struct json_object *value)
{
    json_object_object_add(object, key, value);
}

static void add_text(struct json_object *object, const char *key, const char *text)
{
    add(object, key, json_object_new_string(text));
}

static void add_number(struct json_object *object, const char *key, double number)
{
    add(object, key, isfinite(number) ? json_object_new_double(number) : NULL);
}

static void add_integer(struct json_object *object, const char *key, int number)
{
    add(object, key, json_object_new_int(number));
}

static void add_flag(struct json_object *object, const char *key, bool flag)
{
    add(object, key, json_object_new_boolean(flag));
}

static void add_vector(struct json_object *object, const char *key, const double *x, int n)
{
    struct json_object *array = json_object_new_array_ext(n);
    for (int i = 0; i < n; i++) json_object_array_add(array, json_object_new_double(x[i]));
    add(object, key, array);
}

/* ---- joints --------------------------------------------------------------------------------------------------------- */

/* One position: its name, unit, index in q, start and limits */
static struct json_object *describe_position(const struct model *model, int i, int k)
{
    const struct joint *joint = &model->robot->link[i].joint;
    struct json_object *position = json_object_new_object();
    char name[NAME_SIZE];
    name_coordinate(model, POSITION, model->link[i].q + k, name);
    add_text(position, "name", name);
    add_text(position, "unit", joint_position_unit(joint, k));
    add_number(position, "start", joint->start_position[k]);
    const bool limited = joint_has_coordinates(joint) && joint->number[k].has_limits;
    add_number(position, "lower", limited ? joint->number[k].limits.lower : -INFINITY);
    add_number(position, "upper", limited ? joint->number[k].limits.upper : INFINITY);
    return position;
}

static struct json_object *describe_joint(const struct model *model, int i)
{
    const struct joint *joint = &model->robot->link[i].joint;
    const struct link_model *lm = &model->link[i];
    struct json_object *out = json_object_new_object(), *positions = json_object_new_array();
    const struct robot_drive *drive = robot_drive_of_link(model->robot, i);
    add_text(out, "name", joint->name);
    add_text(out, "type", joint_type_name(joint));
    add_text(out, "motion",
             lm->joint.nv == 0   ? "none"
             : joint->prescribed ? "prescribed"
             : joint->passive    ? "passive"
                                 : "driven");
    if (drive != NULL) add_text(out, "drive", drive->drive->name);
    add_integer(out, "q", lm->q);
    add_integer(out, "v", lm->v);
    add_integer(out, "nv", lm->joint.nv);
    add_integer(out, "quaternion", joint_quaternion(joint));
    add_integer(out, "omega", joint_omega(joint));
    add_vector(out, "axis", joint->axis, 3);
    add_vector(out, "axis2", joint->axis2, 3);
    for (int k = 0; k < lm->joint.nq; k++) json_object_array_add(positions, describe_position(model, i, k));
    add(out, "positions", positions);
    return out;
}

/* ---- links ---------------------------------------------------------------------------------------------------------- */

static void describe_body(const struct scene *scene, int i, struct json_object *out)
{
    const struct scene_link *drawn = &scene->link[i];
    add_text(out, "outline", drawn->outline == OUTLINE_ROUND ? "round" : "rectangle");
    add_flag(out, "nominal", drawn->nominal);
    add_number(out, "wall", drawn->wall);
    struct json_object *size = json_object_new_array_ext(2 * drawn->n_points);
    for (int k = 0; k < drawn->n_points; k++) {
        json_object_array_add(size, json_object_new_double(drawn->point[k].width));
        json_object_array_add(size, json_object_new_double(drawn->point[k].height));
    }
    add(out, "size", size);
    if (!drawn->has_ellipsoid) return;
    struct json_object *ellipsoid = json_object_new_object(), *pose = json_object_new_object();
    add_vector(pose, "p", drawn->ellipsoid.at.p, 3);
    add_vector(pose, "R", drawn->ellipsoid.at.R, 9);
    add(ellipsoid, "at", pose);
    add_vector(ellipsoid, "semiaxes", drawn->ellipsoid.semiaxes, 3);
    add(out, "ellipsoid", ellipsoid);
}

static struct json_object *describe_link(const struct scene *scene, int i)
{
    static const char *const bodies[] = {"rigid", "beam", "nodal"};
    const struct model *model = scene->mechanism->model;
    const struct link *link = &model->robot->link[i];
    const struct link_model *lm = &model->link[i];
    struct json_object *out = json_object_new_object();
    add_text(out, "name", link->name);
    add_text(out, "body", bodies[link->type]);
    add_integer(out, "parent", lm->parent);
    add_integer(out, "eta", lm->eta_q);
    add_integer(out, "modes", lm->m);
    add_number(out, "mass", lm->rigid.m + (lm->body != NULL ? lm->body->mass + lm->payload.m : 0));
    add(out, "joint", describe_joint(model, i));
    describe_body(scene, i, out);
    if (!link->has_payload) return out;
    struct json_object *payload = json_object_new_object();
    add_number(payload, "mass", link->payload.mass);
    add_vector(payload, "com", link->payload.com, 3);
    add_number(payload, "size", scene_payload_size(scene, link->payload.mass));
    add(out, "payload", payload);
    return out;
}

/* ---- loops, lines, frames------------------------------------------------------------------------------------------- */

static struct json_object *describe_loop(const struct robot *robot, int i)
{
    static const char *const types[] = {
        [LOOP_BALL] = "ball", [LOOP_PLANAR_PIN] = "planar-pin", [LOOP_PIN] = "pin", [LOOP_WELD] = "weld"};
    struct json_object *out = json_object_new_object();
    add_text(out, "name", robot->loop[i].name);
    add_text(out, "type", types[robot->loop[i].type]);
    add_integer(out, "link", robot->site[robot->loop[i].site].link);
    return out;
}

static struct json_object *describe_line(const struct robot *robot, const struct force_element *line)
{
    struct json_object *out = json_object_new_object();
    add_text(out, "name", line->name);
    add_text(out, "drive", line->drive >= 0 ? robot->drive[line->drive].drive->name : "force");
    const struct site *end = robot->site + line->site;
    add_integer(out, "link", end[0].link >= 0 ? end[0].link : end[1].link);
    return out;
}

static struct json_object *describe_frame(const struct robot *robot, int i)
{
    const struct robot_frame *frame = &robot->frame[i];
    struct json_object *out = json_object_new_object();
    char text[SITE_SIZE];
    add_text(out, "name", frame->name);
    add_integer(out, "link", frame->site.link);
    add_text(out, "at", robot_site_text(&frame->site, text));
    add_flag(out, "sensor", frame->sensor);
    add_flag(out, "load", frame->load);
    return out;
}

/* ---- the scene ---------------------------------------------------------------------------------------------------------- */

struct json_object *scene_describe(const struct scene *scene)
{
    const struct model *model = scene->mechanism->model;
    const struct robot *robot = model->robot;
    const struct view view = scene_view(scene);
    struct json_object *out = json_object_new_object(), *list, *directions;
    if (out == NULL) return NULL;
    add_text(out, "name", robot->name);
    add_text(out, "description", robot->description);
    add_vector(out, "gravity", robot->gravity, 3);
    add_number(out, "size", scene->size);
    add_number(out, "nominal", scene->nominal);
    add(out, "view", directions = json_object_new_object());
    add_vector(directions, "up", view.up, 3);
    add_vector(directions, "right", view.right, 3);
    add_vector(directions, "eye", view.eye, 3);
    add_integer(out, "tip", model->tip);
    add_integer(out, "nq", model->nq);
    add_integer(out, "nv", model->nv);
    add(out, "positions", list = json_object_new_array());
    for (int i = 0; i < model->nq; i++) {
        char name[NAME_SIZE];
        name_coordinate(model, POSITION, i, name);
        json_object_array_add(list, json_object_new_string(name));
    }
    add(out, "links", list = json_object_new_array());
    for (int i = 0; i < robot->n_links; i++) json_object_array_add(list, describe_link(scene, i));
    add(out, "arms", list = json_object_new_array());
    for (int i = 0; i < scene->n_arms; i++) json_object_array_add(list, json_object_new_int(scene->arm[i].from.link));
    add(out, "frames", list = json_object_new_array());
    for (int i = 0; i < robot->n_frames; i++) json_object_array_add(list, describe_frame(robot, i));
    add(out, "loops", list = json_object_new_array());
    for (int i = 0; i < robot->n_loops; i++) json_object_array_add(list, describe_loop(robot, i));
    add(out, "lines", list = json_object_new_array());
    for (int i = 0; i < scene->n_lines; i++) json_object_array_add(list, describe_line(robot, scene->line[i]));
    return out;
}
