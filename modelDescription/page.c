/* documentation/index.html: one self-contained page about this robot or drive, from its file and the variable table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "flex/frequencies.h"
#include "html.h"
#include "licenses.h"
#include "view/scene/drawing.h"

/* ---- picture ------------------------------------------------------------------------------------------------------------- */

/* The picture of `limber picture` at the start */
static bool draw_picture(struct xml *xml, const struct fmu *fmu)
{
    static const struct drawing drawing = {.width = 900, .height = 480, .names = true};
    struct text svg;
    struct scene scene;
    enum status status = scene_make(fmu->mechanism, &scene);
    if (text_open(&svg) != NULL && status == STATUS_OK)
        status = drawing_write(&scene, fmu->pose != NULL ? fmu->pose : scene.q, &drawing, svg.stream);
    char *text = text_close(&svg);
    const bool drawn = text != NULL && status == STATUS_OK;
    xml_begin(xml, "figure");
    if (drawn) xml_raw(xml, text);
    xml_begin(xml, "figcaption");
    xml_text(xml, fmu->pose != NULL ? "The robot at the state of this report. " : "Start pose, undeformed. ");
    xml_text(
        xml,
        "Blue: flexible links; gray: rigid links; dark: driven joints; light: passive joints; pink: prescribed joints; "
        "orange: lines, loops and the tip frame; yellow: payload.");
    xml_end_full(xml);
    xml_end_full(xml);
    free(text);
    scene_free(&scene);
    return drawn;
}

/* The scene of `limber view`: the robot file, with '<' escaped, and the script beside this page */
static void write_scene(struct xml *xml, struct blob robot, struct arena *arena)
{
    const char *from = robot.bytes;
    char *text = arena_allocate(arena, 6 * robot.size + 1, 1), *to = text;
    if (text == NULL) {
        xml->failed = true;
        return;
    }
    for (size_t i = 0; i < robot.size; i++) {
        if (from[i] == '<') to += sprintf(to, "\\u003c");
        else *to++ = from[i];
    }
    html_heading(xml, "Scene");
    html_paragraph(xml, "Drag to turn, scroll after a click to zoom. Sliders move the joints; loops stay closed.");
    xml_begin(xml, "div");
    xml_attribute(xml, "id", "limber");
    xml_attribute(xml, "data-embedded", "");
    xml_end_full(xml);
    xml_begin(xml, "script");
    xml_attribute(xml, "type", "application/json");
    xml_attribute(xml, "id", "limber-robot");
    xml_raw(xml, text);
    xml_end_full(xml);
    xml_begin(xml, "script");
    xml_attribute(xml, "src", "viewer.js");
    xml_end_full(xml);
}

/* ---- tables ------------------------------------------------------------------------------------------------------------- */

static void write_joints(struct xml *xml, const struct fmu *fmu)
{
    static const char *const heads[] = {"#no.", "joint", "type", "motion", "link", "parent", "#start", "unit"};
    const struct model *model = fmu->model;
    html_heading(xml, "Joints");
    html_begin_table(xml, sizeof heads / sizeof heads[0], heads);
    for (int i = 0; i < model->n_links; i++) {
        const struct link *link = &model->robot->link[i];
        const struct link_model *lm = &model->link[i];
        const bool moves = lm->joint.nv > 0;
        xml_begin(xml, "tr");
        html_number_cell(xml, i + 1);
        html_code_cell(xml, link->joint.name);
        html_cell(xml, joint_type_name(&link->joint));
        html_cell(xml, !moves ? "none" : lm->prescribed >= 0 ? "prescribed" : lm->passive ? "passive" : "driven");
        html_code_cell(xml, link->name);
        html_code_cell(xml, lm->parent < 0 ? "world" : model->robot->link[lm->parent].name);
        html_begin_number(xml);
        for (int k = 0; k < joint_positions(&link->joint); k++)
            xml_printf(xml, "%s%.9g", k > 0 ? ", " : "", link->joint.start_position[k]);
        xml_end_full(xml);
        xml_begin(xml, "td");
        const char *last = "";
        for (int k = 0; k < joint_positions(&link->joint); k++) { /* a common unit only once */
            const char *unit = joint_position_unit(&link->joint, k);
            if (strcmp(unit, last) != 0) xml_printf(xml, "%s%s", k > 0 ? ", " : "", unit);
            last = unit;
        }
        xml_end_full(xml);
        xml_end_full(xml);
    }
    html_end_table(xml);
}

/* Mass with hub and payload. */
static double mass_of(const struct link_model *lm)
{
    return lm->rigid.m + (lm->body != NULL ? lm->body->mass + lm->payload.m : 0);
}

static void write_links(struct xml *xml, const struct fmu *fmu)
{
    enum { MOST = 200 };
    double hz[MOST];
    static const char *const types[] = {"rigid", "beam", "nodal"};
    static const char *const heads[] = {
        "#no.", "link", "body", "#mass [kg]", "#length [m]", "#modes", "clamped frequencies [Hz]"};
    const struct model *model = fmu->model;
    html_heading(xml, "Links");
    html_begin_table(xml, sizeof heads / sizeof heads[0], heads);
    for (int i = 0; i < model->n_links; i++) {
        const struct link *link = &model->robot->link[i];
        const double *tip = link->rigid_tip.p;
        const int count = frequencies_of_link(link, hz, MOST);
        xml->failed = xml->failed || count == FREQUENCIES_NO_MEMORY;
        xml_begin(xml, "tr");
        html_number_cell(xml, i + 1);
        html_code_cell(xml, link->name);
        html_cell(xml, types[link->type]);
        html_number_cell(xml, mass_of(&model->link[i]));
        if (link->type == BODY_NODAL) html_cell(xml, "");
        else html_number_cell(xml, link->type == BODY_BEAM ? link->beam.length : hypot(hypot(tip[0], tip[1]), tip[2]));
        html_number_cell(xml, model->link[i].m);
        xml_begin(xml, "td");
        for (int k = 0; k < count; k++) xml_printf(xml, "%s%.4g", k > 0 ? ", " : "", hz[k]);
        xml_end_full(xml);
        xml_end_full(xml);
    }
    html_end_table(xml);
    html_paragraph(xml,
                   "Masses include hub and payload. Clamped frequencies are those of the link alone, without hub and "
                   "payload, undamped, fixed at its hinge.");
}

static void write_frames(struct xml *xml, const struct fmu *fmu)
{
    static const char *const heads[] = {"frame", "link", "at", "sensor", "load"};
    const struct robot *robot = fmu->model->robot;
    if (robot->n_frames == 0) return;
    html_heading(xml, "Frames");
    html_begin_table(xml, sizeof heads / sizeof heads[0], heads);
    for (int i = 0; i < robot->n_frames; i++) {
        const struct robot_frame *frame = &robot->frame[i];
        char text[SITE_SIZE];
        xml_begin(xml, "tr");
        html_code_cell(xml, frame->name);
        html_code_cell(xml, robot->link[frame->site.link].name);
        html_cell(xml, robot_site_text(&frame->site, text));
        html_cell(xml, frame->sensor ? "yes" : "no");
        html_cell(xml, frame->load ? "yes" : "no");
        xml_end_full(xml);
    }
    html_end_table(xml);
    html_paragraph(
        xml, "A frame is fixed to its link, at an offset from the place in the table. Sensors have outputs, loads "
             "have inputs; the tip frame has both.");
}

static void write_variables(struct xml *xml, const struct fmu *fmu)
{
    static const char *const heads[] = {"variable", "causality", "variability", "unit", "#start", "description"};
    html_heading(xml, "Variables");
    html_begin_table(xml, sizeof heads / sizeof heads[0], heads);
    for (int r = 0; r < fmu->variables->n; r++) {
        const struct variable *v = &fmu->variables->row[r];
        xml_begin(xml, "tr");
        html_code_cell(xml, v->name);
        html_cell(xml, description_causality(v->causality));
        html_cell(xml, description_variability(v->variability));
        html_code_cell(xml, v->unit != NULL ? v->unit : "");
        if (v->causality == CAUSALITY_INPUT || v->causality == CAUSALITY_PARAMETER) html_number_cell(xml, v->start);
        else html_cell(xml, "");
        html_cell(xml, v->description);
        xml_end_full(xml);
    }
    html_end_table(xml);
}

static void write_licenses(struct xml *xml, const struct fmu *fmu)
{
    static const char *const heads[] = {"software", "purpose", "license"};
    html_heading(xml, "Licenses");
    html_paragraph(xml, "This FMU contains the following software. The robot or drive file is its author's.");
    html_begin_table(xml, sizeof heads / sizeof heads[0], heads);
    for (int i = 0; i < license_count; i++) {
        if (licenses[i].of_scene && fmu->viewer.bytes == NULL) continue;
        xml_begin(xml, "tr");
        html_cell(xml, licenses[i].what);
        html_cell(xml, licenses[i].role);
        xml_begin(xml, "td");
        xml_begin(xml, "a");
        xml_attribute_printf(xml, "href", "licenses/%s", licenses[i].file);
        xml_text(xml, licenses[i].name);
        xml_end_full(xml);
        xml_end_full(xml);
        xml_end_full(xml);
    }
    html_end_table(xml);
}

/* ---- text ---------------------------------------------------------------------------------------------------------------- */

static void write_controller_words(struct xml *xml)
{
    html_heading(xml, "Using it");
    html_paragraph(
        xml,
        "The FMU implements FMI 2.0 for co-simulation. It takes samples at multiples of sample_time, whatever the "
        "communication steps are: desired and measured motion of the joints in, torques out, held from sample to "
        "sample. A sample that is due at the end of a step is taken in the next one, with the inputs that are "
        "set until then. Within a step, positions continue with the velocities and accelerations that are inputs.");
    html_paragraph(
        xml,
        "In each communication step let the controller go first, and the arm follow with its torques: then there is "
        "no delay but that of sampling and the parameter delay.");
    html_paragraph(
        xml,
        "Parameters that are described as of the model belong to the model of the arm inside the controller, not to "
        "the arm. Payloads may change between steps, all others take effect when initialization ends. Units are SI.");
    html_paragraph(
        xml,
        "The instance whose state was saved (fmi2GetFMUstate) and every copy made from the saved state continue with "
        "bitwise equal results.");
}

static void write_words(struct xml *xml, const struct fmu *fmu)
{
    html_heading(xml, "Using it");
    html_paragraph(xml, "The FMU implements FMI 2.0 for both co-simulation, with its own integrators, and model "
                        "exchange, with the importer's solver. An input that is not connected keeps its start value.");
    html_paragraph(xml, fmu->model != NULL
                            ? "Torques and forces of the driven joints and wrenches on the tip and on frames that are "
                              "loads are inputs."
                            : "Inputs are quantities of the arm; outputs act on the arm or are references for it: "
                              "the descriptions state what to connect.");
    html_paragraph(
        xml,
        "Units are SI throughout: meters, kilograms, seconds, newtons, radians. Degrees and millimeters are offered "
        "as display units only; values that are set or read are always in the unit of the table.");
    html_paragraph(
        xml,
        "Parameters with variability fixed take effect when initialization ends; tunable ones may also change between "
        "steps (co-simulation) or in event mode (model exchange).");
    if (fmu->model != NULL)
        html_paragraph(
            xml, "With start_static the robot starts in static equilibrium: driven joints and lines are "
                 "held, elastic coordinates and passive joints are at rest. The log has the torques and forces that "
                 "hold it; inputs stay as they are set.");
    html_paragraph(
        xml,
        "The instance whose state was saved (fmi2GetFMUstate) and every copy made from the saved state continue with "
        "bitwise equal results. Saving costs nothing else, except with CVODE (solver.method = 1), whose history cannot "
        "be stored: there the next step begins with a restart at order 1, in the saved instance and in every copy.");
    html_paragraph(
        xml,
        "The parameters solver.* are for co-simulation: 0 leaves the choice to the importer or the FMU, a positive "
        "value takes precedence. solver.method is the method of integration: 0 automatic, 1 CVODE, 2 ESDIRK, "
        "3 explicit, 4 symmetric. solver.fixed_step makes equal internal steps with bounded work, for real time "
        "(methods 0, 2 and 4). A step that needs more than solver.max_steps internal steps returns fmi2Discard. In "
        "model exchange the importer's solver decides.");
}

void page_write_robot(struct xml *xml, const struct fmu *fmu, struct blob resource, struct arena *arena)
{
    const struct model *model = fmu->model;
    double mass = 0;
    int moving = 0;
    if (!draw_picture(xml, fmu)) xml->failed = true;
    for (int i = 0; i < model->n_links; i++) {
        mass += mass_of(&model->link[i]);
        moving += model->link[i].joint.nv > 0;
    }
    xml_begin(xml, "p");
    xml_printf(xml,
               "%d links, %d joints that move, %d elastic coordinates, %d continuous states. Mass %.6g kg; gravity "
               "(%g, %g, %g) m/s²; tip frame on link ",
               model->n_links, moving, model->nv - model->n_tau, fmu->variables->n_states, mass, model->gravity[0],
               model->gravity[1], model->gravity[2]);
    xml_leaf(xml, "code", model->robot->link[model->tip].name);
    xml_text(xml, ". Made by Limber " LIMBER_VERSION ".");
    xml_end_full(xml);
    if (resource.bytes != NULL && fmu->viewer.bytes != NULL) write_scene(xml, resource, arena);
    write_joints(xml, fmu);
    write_links(xml, fmu);
    write_frames(xml, fmu);
}

struct blob page_make(const struct fmu *fmu, struct blob resource, struct arena *arena)
{
    struct xml xml;
    xml_open(&xml, DOCUMENT_HTML);
    xml_begin(&xml, "html");
    xml_attribute(&xml, "lang", "en");
    html_head(&xml, fmu->name);
    xml_begin(&xml, "body");
    xml_leaf(&xml, "h1", fmu->name);
    if (*fmu->description != '\0') {
        xml_begin(&xml, "p");
        xml_attribute(&xml, "class", "lead");
        xml_text(&xml, fmu->description);
        xml_end_full(&xml);
    }
    if (fmu->model != NULL) page_write_robot(&xml, fmu, resource, arena);
    if (fmu->variables->discrete) write_controller_words(&xml);
    else write_words(&xml, fmu);
    write_variables(&xml, fmu);
    write_licenses(&xml, fmu);
    xml_end_full(&xml);
    xml_end_full(&xml);
    return xml_close(&xml, arena);
}
