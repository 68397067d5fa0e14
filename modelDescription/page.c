/* documentation/index.html: one self-contained page about this robot or drive, from its file and the variable table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "flex/frequencies.h"
#include "licenses.h"
#include "picture.h"
#include "xml.h"

static const char style[] =
    "body{margin:0 auto;max-width:62rem;padding:1.5rem;font:16px/1.5 "
    "system-ui,sans-serif;color:#1a2938;background:#fff}"
    "h1{margin:0}h2{margin:2rem 0 .5rem;padding-bottom:.2rem;border-bottom:2px solid #d5dde4;font-size:1.25rem}"
    "p.lead{margin:.3rem 0 1rem;color:#4a5a68}"
    "table{border-collapse:collapse;width:100%;font-size:.88rem}"
    "th,td{padding:.25rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid #e4e9ee}"
    "th{background:#f2f5f8;white-space:nowrap}td.n{text-align:right;font-variant-numeric:tabular-nums}"
    "th.n{text-align:right}code{font:.92em ui-monospace,monospace;white-space:nowrap}"
    ".wide{overflow-x:auto}figure{margin:1rem "
    "0}svg{display:block;width:100%;height:auto;background:#f7f9fb;border-radius:6px}"
    "figcaption{font-size:.85rem;color:#4a5a68;margin-top:.4rem}"
    ".flexible{stroke:#2978b5}.rigid{stroke:#738090}.offset{stroke:#a6b2bf;stroke-dasharray:3 4}"
    "line{stroke-linecap:round}";

/* ---- small pieces ------------------------------------------------------------------------------------------------------ */

static void heading(struct xml *xml, const char *text)
{
    xml_leaf(xml, "h2", text);
}

static void paragraph(struct xml *xml, const char *text)
{
    xml_leaf(xml, "p", text);
}

static void begin_table(struct xml *xml, int n, const char *const *heads)
{
    xml_begin(xml, "div");
    xml_attribute(xml, "class", "wide");
    xml_begin(xml, "table");
    xml_begin(xml, "thead");
    xml_begin(xml, "tr");
    for (int i = 0; i < n; i++) {
        const bool number = heads[i][0] == '#'; /* a column of numbers */
        xml_begin(xml, "th");
        if (number) xml_attribute(xml, "class", "n");
        xml_text(xml, heads[i] + number);
        xml_end_full(xml);
    }
    xml_end_full(xml);
    xml_end_full(xml);
    xml_begin(xml, "tbody");
}

static void end_table(struct xml *xml)
{
    for (int i = 0; i < 3; i++) xml_end_full(xml); /* tbody, table, div */
}

static void cell(struct xml *xml, const char *text)
{
    xml_leaf(xml, "td", text);
}

static void code_cell(struct xml *xml, const char *text)
{
    xml_begin(xml, "td");
    xml_leaf(xml, "code", text);
    xml_end_full(xml);
}

static void begin_number(struct xml *xml)
{
    xml_begin(xml, "td");
    xml_attribute(xml, "class", "n");
}

static void number_cell(struct xml *xml, double value)
{
    begin_number(xml);
    xml_printf(xml, "%.6g", value);
    xml_end_full(xml);
}

/* ---- picture ------------------------------------------------------------------------------------------------------------- */

static void line(struct xml *xml, const char *class, const double a[2], const double b[2], double width)
{
    xml_begin(xml, "line");
    if (class != NULL) xml_attribute(xml, "class", class);
    xml_attribute_printf(xml, "x1", "%.1f", a[0]);
    xml_attribute_printf(xml, "y1", "%.1f", a[1]);
    xml_attribute_printf(xml, "x2", "%.1f", b[0]);
    xml_attribute_printf(xml, "y2", "%.1f", b[1]);
    xml_attribute_printf(xml, "stroke-width", "%g", width);
    xml_end(xml);
}

static void circle(struct xml *xml, const double at[2], double radius, const char *fill, const char *stroke)
{
    xml_begin(xml, "circle");
    xml_attribute_printf(xml, "cx", "%.1f", at[0]);
    xml_attribute_printf(xml, "cy", "%.1f", at[1]);
    xml_attribute_printf(xml, "r", "%g", radius);
    xml_attribute(xml, "fill", fill);
    xml_attribute(xml, "stroke", stroke);
    xml_attribute(xml, "stroke-width", "2");
    xml_end(xml);
}

static void begin_label(struct xml *xml, double x, double y, int size)
{
    xml_begin(xml, "text");
    xml_attribute_printf(xml, "x", "%.1f", x);
    xml_attribute_printf(xml, "y", "%.1f", y + 0.35 * size);
    xml_attribute_printf(xml, "font-size", "%d", size);
    xml_attribute(xml, "text-anchor", "middle");
    xml_attribute(xml, "fill", "#1a2938");
}

/* The world axes in the lower left corner, without an axis that points at the viewer. */
static void draw_axes(struct xml *xml, const struct picture *picture)
{
    const double corner[2] = {34, picture->height - 34};
    for (int i = 0; i < 3; i++) {
        const double *axis = picture->axis[i];
        if (hypot(axis[0], axis[1]) < 0.05) continue;
        const double end[2] = {corner[0] + 24 * axis[0], corner[1] + 24 * axis[1]};
        xml_begin(xml, "g");
        xml_attribute(xml, "stroke", "#1a2938");
        line(xml, NULL, corner, end, 1.5);
        xml_end(xml);
        begin_label(xml, corner[0] + 32 * axis[0], corner[1] + 32 * axis[1], 12);
        xml_printf(xml, "%c", "xyz"[i]);
        xml_end(xml);
    }
}

static void draw_payload(struct xml *xml, const double at[2])
{
    xml_begin(xml, "rect");
    xml_attribute_printf(xml, "x", "%.1f", at[0] - 9);
    xml_attribute_printf(xml, "y", "%.1f", at[1] - 9);
    xml_attribute(xml, "width", "18");
    xml_attribute(xml, "height", "18");
    xml_attribute(xml, "rx", "3");
    xml_attribute(xml, "fill", "#f0c987");
    xml_attribute(xml, "stroke", "#9a6a1d");
    xml_attribute(xml, "stroke-width", "2");
    xml_end(xml);
}

static bool coincide(const struct picture_link *a, const struct picture_link *b)
{
    return hypot(a->hinge[0] - b->hinge[0], a->hinge[1] - b->hinge[1]) < 12;
}

/* A badge with the joint's number; joints at the same place share one. */
static void draw_badge(struct xml *xml, const struct picture *picture, int first)
{
    char label[128];
    int length = 0;
    for (int i = first; i < picture->n_links && length < (int)sizeof label - 16; i++)
        if (picture->link[i].moves && coincide(&picture->link[i], &picture->link[first]))
            length += snprintf(label + length, sizeof label - (size_t)length, i > first ? ", %d" : "%d", i + 1);
    const double *at = picture->link[first].hinge, width = 20 + 6.5 * (length - 1);
    xml_begin(xml, "rect");
    xml_attribute_printf(xml, "x", "%.1f", at[0] - 0.5 * width);
    xml_attribute_printf(xml, "y", "%.1f", at[1] - 10);
    xml_attribute_printf(xml, "width", "%.1f", width);
    xml_attribute(xml, "height", "20");
    xml_attribute(xml, "rx", "10");
    xml_attribute(xml, "fill", "#fff");
    xml_attribute(xml, "stroke", "#1a2938");
    xml_attribute(xml, "stroke-width", "2");
    xml_end(xml);
    begin_label(xml, at[0], at[1], 12);
    xml_text(xml, label);
    xml_end(xml);
}

static void draw_joints(struct xml *xml, const struct picture *picture)
{
    for (int i = 0; i < picture->n_links; i++) {
        bool shown = !picture->link[i].moves;
        for (int k = 0; k < i && !shown; k++)
            shown = picture->link[k].moves && coincide(&picture->link[k], &picture->link[i]);
        if (!shown) draw_badge(xml, picture, i);
    }
}

static void draw_links(struct xml *xml, const struct picture *picture)
{
    for (int i = 0; i < picture->n_links; i++) line(xml, "offset", picture->link[i].from, picture->link[i].hinge, 3);
    for (int i = 0; i < picture->n_links; i++) {
        const struct picture_link *link = &picture->link[i];
        line(xml, link->flexible ? "flexible" : "rigid", link->hinge, link->tip, 9);
        if (link->payload) draw_payload(xml, link->tip);
    }
    circle(xml, picture->link[picture->tip].tip, 5, "#d9541a", "#fff");
    draw_joints(xml, picture);
}

static bool draw(struct xml *xml, const struct fmu *fmu, struct arena *arena)
{
    struct picture picture;
    if (!picture_make(fmu, 800, 170, 420, 60, arena, &picture)) return false;
    xml_begin(xml, "figure");
    xml_begin(xml, "svg");
    xml_attribute(xml, "xmlns", "http://www.w3.org/2000/svg");
    xml_attribute_printf(xml, "viewBox", "0 0 %.0f %.0f", picture.width, picture.height);
    xml_attribute(xml, "role", "img");
    xml_attribute(xml, "font-family", "system-ui,sans-serif");
    xml_begin(xml, "title");
    xml_printf(xml, "%s in its start pose", fmu->model->robot->name);
    xml_end_full(xml);
    draw_axes(xml, &picture);
    draw_links(xml, &picture);
    xml_end_full(xml);
    xml_leaf(
        xml, "figcaption",
        "Start pose, undeformed. Circles: joints, numbered as in the tables; blue: flexible links; gray: rigid links; "
        "dashed: offsets of joints; orange dot: the tip frame; square: payload.");
    xml_end_full(xml);
    return true;
}

/* ---- tables ------------------------------------------------------------------------------------------------------------- */

/* Start positions and their units, with a common unit only once */
static void start_cells(struct xml *xml, const struct joint *joint)
{
    const int nq = joint_positions(joint);
    xml_begin(xml, "td");
    for (int k = 0; k < nq; k++) xml_printf(xml, "%s%.9g", k > 0 ? ", " : "", joint->start_position[k]);
    xml_end_full(xml);
    xml_begin(xml, "td");
    for (int k = 0; k < nq; k++)
        if (k == 0 || strcmp(joint_position_unit(joint, k), joint_position_unit(joint, k - 1)) != 0)
            xml_printf(xml, "%s%s", k > 0 ? ", " : "", joint_position_unit(joint, k));
    xml_end_full(xml);
}

static int moving_joints(const struct model *model)
{
    int count = 0;
    for (int i = 0; i < model->n_links; i++) count += model->link[i].joint.nv > 0;
    return count;
}

static void write_joints(struct xml *xml, const struct fmu *fmu)
{
    static const char *const heads[] = {"#no.", "joint", "type", "motion", "link", "parent", "#start", "unit"};
    const struct model *model = fmu->model;
    heading(xml, "Joints");
    begin_table(xml, sizeof heads / sizeof heads[0], heads);
    for (int i = 0; i < model->n_links; i++) {
        const struct link *link = &model->robot->link[i];
        const struct link_model *lm = &model->link[i];
        const bool moves = lm->joint.nv > 0;
        xml_begin(xml, "tr");
        number_cell(xml, i + 1);
        code_cell(xml, link->joint.name);
        cell(xml, joint_type_name(&link->joint));
        cell(xml, !moves ? "none" : lm->prescribed >= 0 ? "prescribed" : lm->passive ? "passive" : "driven");
        code_cell(xml, link->name);
        code_cell(xml, lm->parent < 0 ? "world" : model->robot->link[lm->parent].name);
        start_cells(xml, &link->joint);
        xml_end_full(xml);
    }
    end_table(xml);
}

/* Mass with hub and payload. */
static double mass_of(const struct link_model *lm)
{
    return lm->rigid.m + (lm->body != NULL ? lm->body->mass + lm->payload.m : 0);
}

static double length_of(const struct link *link)
{
    const double *p = link->rigid_tip.p;
    return link->type == BODY_BEAM ? link->beam.length : hypot(hypot(p[0], p[1]), p[2]);
}

static void frequencies_cell(struct xml *xml, const struct link *link)
{
    enum { MOST = 200 };
    double hz[MOST];
    const int count = link_frequencies(link, hz, MOST);
    xml_begin(xml, "td");
    for (int k = 0; k < count; k++) xml_printf(xml, "%s%.4g", k > 0 ? ", " : "", hz[k]);
    xml_end_full(xml);
}

static void write_links(struct xml *xml, const struct fmu *fmu)
{
    static const char *const types[] = {"rigid", "beam", "nodal"};
    static const char *const heads[] = {
        "#no.", "link", "body", "#mass [kg]", "#length [m]", "#modes", "clamped frequencies [Hz]"};
    const struct model *model = fmu->model;
    heading(xml, "Links");
    begin_table(xml, sizeof heads / sizeof heads[0], heads);
    for (int i = 0; i < model->n_links; i++) {
        const struct link *link = &model->robot->link[i];
        xml_begin(xml, "tr");
        number_cell(xml, i + 1);
        code_cell(xml, link->name);
        cell(xml, types[link->type]);
        number_cell(xml, mass_of(&model->link[i]));
        if (link->type == BODY_NODAL) cell(xml, "");
        else number_cell(xml, length_of(link));
        number_cell(xml, model->link[i].m);
        frequencies_cell(xml, link);
        xml_end_full(xml);
    }
    end_table(xml);
    paragraph(xml, "Masses include hub and payload. Clamped frequencies are those of the link alone, without hub and "
                   "payload, undamped, fixed at its hinge.");
}

static void write_frames(struct xml *xml, const struct fmu *fmu)
{
    static const char *const heads[] = {"frame", "link", "at", "sensor", "load"};
    const struct robot *robot = fmu->model->robot;
    if (robot->n_frames == 0) return;
    heading(xml, "Frames");
    begin_table(xml, sizeof heads / sizeof heads[0], heads);
    for (int i = 0; i < robot->n_frames; i++) {
        const struct robot_frame *frame = &robot->frame[i];
        char text[SITE_SIZE];
        xml_begin(xml, "tr");
        code_cell(xml, frame->name);
        code_cell(xml, robot->link[frame->site.link].name);
        cell(xml, site_text(&frame->site, text));
        cell(xml, frame->sensor ? "yes" : "no");
        cell(xml, frame->load ? "yes" : "no");
        xml_end_full(xml);
    }
    end_table(xml);
    paragraph(xml,
              "A frame is fixed to its link, at an offset from the place in the table. Sensors have outputs, loads "
              "have inputs; the tip frame has both.");
}

static void write_variables(struct xml *xml, const struct fmu *fmu)
{
    static const char *const heads[] = {"variable", "causality", "variability", "unit", "#start", "description"};
    heading(xml, "Variables");
    begin_table(xml, sizeof heads / sizeof heads[0], heads);
    for (int r = 0; r < fmu->variables->n; r++) {
        const struct variable *v = &fmu->variables->row[r];
        xml_begin(xml, "tr");
        code_cell(xml, v->name);
        cell(xml, causality_name(v->causality));
        cell(xml, variability_name(v->variability));
        code_cell(xml, v->unit != NULL ? v->unit : "");
        if (v->causality == CAUSALITY_INPUT || v->causality == CAUSALITY_PARAMETER) number_cell(xml, v->start);
        else cell(xml, "");
        cell(xml, v->description);
        xml_end_full(xml);
    }
    end_table(xml);
}

static void write_licenses(struct xml *xml)
{
    static const char *const heads[] = {"software", "purpose", "license"};
    heading(xml, "Licences");
    paragraph(xml, "The library in this FMU contains the following software. The robot or drive file is its author's.");
    begin_table(xml, sizeof heads / sizeof heads[0], heads);
    for (int i = 0; i < license_count; i++) {
        xml_begin(xml, "tr");
        cell(xml, licenses[i].what);
        cell(xml, licenses[i].role);
        xml_begin(xml, "td");
        xml_begin(xml, "a");
        xml_attribute_printf(xml, "href", "licenses/%s", licenses[i].file);
        xml_text(xml, licenses[i].name);
        xml_end_full(xml);
        xml_end_full(xml);
        xml_end_full(xml);
    }
    end_table(xml);
}

/* ---- text ---------------------------------------------------------------------------------------------------------------- */

static void write_controller_words(struct xml *xml)
{
    heading(xml, "Using it");
    paragraph(
        xml,
        "The FMU implements FMI 2.0 for co-simulation. It takes samples at multiples of sample_time, whatever the "
        "communication steps are: desired and measured motion of the joints in, torques out, held from sample to "
        "sample. A sample that is due at the end of a step is taken in the next one, with the inputs that are "
        "set until then. Within a step, positions continue with the velocities and accelerations that are inputs.");
    paragraph(
        xml,
        "In each communication step let the controller go first, and the arm follow with its torques: then there is "
        "no delay but that of sampling and the parameter delay.");
    paragraph(
        xml,
        "Parameters that are described as of the model belong to the model of the arm inside the controller, not to "
        "the arm. Payloads may change between steps, all others take effect when initialization ends. Units are SI.");
    paragraph(
        xml,
        "The instance whose state was saved (fmi2GetFMUstate) and every copy made from the saved state continue with "
        "bitwise equal results.");
}

static void write_words(struct xml *xml, const struct fmu *fmu)
{
    heading(xml, "Using it");
    paragraph(xml, "The FMU implements FMI 2.0 for both co-simulation, with its own integrators, and model "
                   "exchange, with the importer's solver. An input that is not connected keeps its start value.");
    paragraph(xml, fmu->model != NULL
                       ? "Torques and forces of the driven joints and wrenches on the tip and on frames that are "
                         "loads are inputs."
                       : "Inputs are quantities of the arm; outputs act on the arm or are references for it: "
                         "the descriptions state what to connect.");
    paragraph(
        xml,
        "Units are SI throughout: meters, kilograms, seconds, newtons, radians. Degrees and millimeters are offered "
        "as display units only; values that are set or read are always in the unit of the table.");
    paragraph(
        xml,
        "Parameters with variability fixed take effect when initialization ends; tunable ones may also change between "
        "steps (co-simulation) or in event mode (model exchange).");
    if (fmu->model != NULL)
        paragraph(xml,
                  "With start_static the robot starts in static equilibrium: driven joints and line actuators are "
                  "held, elastic coordinates and passive joints are at rest. The log has the torques and forces that "
                  "hold it; inputs stay as they are set.");
    paragraph(
        xml,
        "The instance whose state was saved (fmi2GetFMUstate) and every copy made from the saved state continue with "
        "bitwise equal results. Saving costs nothing else, except with CVODE (solver.method = 1), whose history cannot "
        "be stored: there the next step begins with a restart at order 1, in the saved instance and in every copy.");
    paragraph(
        xml,
        "The parameters solver.* are for co-simulation: 0 leaves the choice to the importer or the FMU, a positive "
        "value takes precedence. solver.method is the method of integration: 0 automatic, 1 CVODE, 2 ESDIRK, "
        "3 explicit, 4 symmetric. solver.fixed_step makes equal internal steps with bounded work, for real time "
        "(methods 0, 2 and 4). A step that needs more than solver.max_steps internal steps returns fmi2Discard. In "
        "model exchange the importer's solver decides.");
}

static void write_head(struct xml *xml, const struct fmu *fmu)
{
    xml_begin(xml, "head");
    xml_begin(xml, "meta");
    xml_attribute(xml, "charset", "utf-8");
    xml_end(xml);
    xml_begin(xml, "meta");
    xml_attribute(xml, "name", "viewport");
    xml_attribute(xml, "content", "width=device-width, initial-scale=1");
    xml_end(xml);
    xml_leaf(xml, "title", fmu->name);
    xml_begin(xml, "style");
    xml_raw(xml, style);
    xml_end_full(xml);
    xml_end_full(xml);
}

static void write_facts(struct xml *xml, const struct fmu *fmu)
{
    const struct model *model = fmu->model;
    double mass = 0;
    for (int i = 0; i < model->n_links; i++) mass += mass_of(&model->link[i]);
    xml_begin(xml, "p");
    xml_printf(xml,
               "%d links, %d joints that move, %d elastic coordinates, %d continuous states. Mass %.6g kg; gravity "
               "(%g, %g, %g) m/s²; tip frame on link ",
               model->n_links, moving_joints(model), model->nv - model->n_tau, fmu->variables->n_states, mass,
               model->gravity[0], model->gravity[1], model->gravity[2]);
    xml_leaf(xml, "code", model->robot->link[model->tip].name);
    xml_text(xml, ". Made by Limber " LIMBER_VERSION ".");
    xml_end_full(xml);
}

static void write_robot(struct xml *xml, const struct fmu *fmu, struct arena *arena)
{
    if (!draw(xml, fmu, arena)) xml->failed = true;
    write_facts(xml, fmu);
    write_joints(xml, fmu);
    write_links(xml, fmu);
    write_frames(xml, fmu);
}

struct blob page_make(const struct fmu *fmu, struct arena *arena)
{
    struct xml xml;
    xml_open(&xml, DOCUMENT_HTML);
    xml_begin(&xml, "html");
    xml_attribute(&xml, "lang", "en");
    write_head(&xml, fmu);
    xml_begin(&xml, "body");
    xml_leaf(&xml, "h1", fmu->name);
    if (*fmu->description != '\0') {
        xml_begin(&xml, "p");
        xml_attribute(&xml, "class", "lead");
        xml_text(&xml, fmu->description);
        xml_end_full(&xml);
    }
    if (fmu->model != NULL) write_robot(&xml, fmu, arena);
    if (fmu->variables->discrete) write_controller_words(&xml);
    else write_words(&xml, fmu);
    write_variables(&xml, fmu);
    write_licenses(&xml);
    xml_end_full(&xml);
    xml_end_full(&xml);
    return xml_close(&xml, arena);
}
