/* Natural modes in a report. */
#include <math.h>
#include <string.h>

#include "analysis/closure.h"
#include "cli.h"
#include "plot.h"
#include "report.h"
#include "sweep.h"
#include "view.h"

enum { LISTED = 12, PLOTTED = 6, POSES = 25, SWEPT = 3 };

static double number_of(struct json_object *object, const char *key)
{
    return json_object_get_double(json_object_object_get(object, key));
}

/* ---- over the position of a joint ------------------------------------------------------------------------------------------------ */

static void write_sweep(struct report_page *page, struct cli_model *loaded, const struct sweep_options *wanted)
{
    const struct model *model = loaded->mechanism.model;
    const struct joint *joint = &loaded->robot->link[wanted->link].joint;
    struct modes modes;
    struct sweep sweep = {0};
    char what[NAME_SIZE + 64], name[NAME_SIZE], title[NAME_SIZE + 64], x_label[NAME_SIZE + 16];
    enum status status = modes_make(&loaded->mechanism, false, &page->report, &modes);
    if (status == STATUS_OK) status = modes_sweep_make(&modes, wanted, &loaded->state, &page->report, &sweep);
    if (status == STATUS_OK && sweep.n_modes > 0) {
        name_coordinate(model, POSITION, model->link[wanted->link].q + wanted->k, name);
        snprintf(title, sizeof title, "Natural frequencies over %s", name);
        snprintf(x_label, sizeof x_label, "%s [%s]", name, joint_position_unit(joint, wanted->k));
        const struct plot plot = sweep_plot(&sweep, PLOTTED, title, x_label);
        plot_figure(&plot, page->xml, page->arena);
    }
    sweep_name(joint, wanted->k, name);
    snprintf(what, sizeof what, "Frequencies over the position of joint %s are not available", name);
    if (status != STATUS_OK) report_reason(page, status, what);
    modes_free(&modes);
}

/* An angle: a quarter turn (of a closed robot 0.25 rad) to both sides of the state; a length: a fifth of it, at least 0.05 m. Never beyond the
   limits of the joint. */
static struct sweep_options default_sweep(const struct cli_model *loaded, int link)
{
    const struct joint *joint = &loaded->robot->link[link].joint;
    const struct joint_numbers *number = &joint->number[0];
    const double q = loaded->state.at.q[loaded->mechanism.model->link[link].q];
    const bool turns = strcmp(joint_position_unit(joint, 0), "rad") == 0;
    const double side = turns ? (robot_is_closed(loaded->robot) ? 0.25 : acos(0)) : fmax(0.2 * fabs(q), 0.05);
    struct sweep_options sweep = {.link = link, .from = q - side, .to = q + side, .poses = POSES};
    if (number->has_limits && isfinite(number->limits.lower)) sweep.from = fmax(sweep.from, number->limits.lower);
    if (number->has_limits && isfinite(number->limits.upper)) sweep.to = fmin(sweep.to, number->limits.upper);
    return sweep;
}

static int write_sweeps(struct report_page *page, struct cli_model *loaded)
{
    const struct report_options *options = page->options;
    int code = EXIT_OK;
    if (modes_with_drives(loaded->robot, false)) {
        html_paragraph(page->xml, "Frequencies over poses are not computed with drives of lines inside the arm.");
        return EXIT_OK;
    }
    int count = 0;
    for (int i = 0; options->sweep.n == 0 && i < loaded->robot->n_links && count < SWEPT; i++) {
        const struct joint *joint = &loaded->robot->link[i].joint;
        const bool moved = !joint->passive || joint_actuated(loaded->robot, i);
        if (joint->prescribed || !joint_has_coordinates(joint) || joint_positions(joint) != 1 || !moved) continue;
        struct sweep_options wanted = default_sweep(loaded, i);
        wanted.count = PLOTTED;
        wanted.given = options->common.at != NULL;
        write_sweep(page, loaded, &wanted);
        count++;
    }
    if (options->sweep.n == 0 && count == 0)
        html_paragraph(page->xml, "No joint has a drive: there is nothing to sweep.");
    for (int i = 0; i < options->sweep.n && code == EXIT_OK; i++) {
        struct sweep_options wanted = {.count = PLOTTED, .given = options->common.at != NULL};
        code = sweep_read("report", options->sweep.text[i], loaded->robot, &wanted);
        if (code == EXIT_OK) write_sweep(page, loaded, &wanted);
    }
    return code;
}

int report_modes(struct report_page *page, struct cli_model *loaded)
{
    static const char *const heads[] = {"#mode", "#frequency [Hz]", "#damping ratio", "#growth [1/s]"};
    struct json_object *modes;
    html_heading(page->xml, "Natural modes");
    html_paragraph(page->xml,
                   "Small motions about the state as if forces held it; driven joints keep their positions.");
    const enum status status = view_modes(&page->options->common, LISTED, loaded, &page->report, &modes);
    const size_t n = modes != NULL ? json_object_array_length(modes) : 0;
    if (status != STATUS_OK) report_reason(page, status, "Natural modes are not available");
    else if (n == 0) html_paragraph(page->xml, "Nothing is left that can move.");
    if (n > 0) html_begin_table(page->xml, 4, heads);
    for (size_t k = 0; k < n; k++) {
        struct json_object *mode = json_object_array_get_idx(modes, k);
        xml_begin(page->xml, "tr");
        html_number_cell(page->xml, (double)(k + 1));
        html_number_cell(page->xml, number_of(mode, "frequency"));
        html_number_cell(page->xml, number_of(mode, "damping_ratio"));
        html_number_cell(page->xml, number_of(mode, "growth"));
        xml_end_full(page->xml);
    }
    if (n > 0) html_end_table(page->xml);
    json_object_put(modes);
    return write_sweeps(page, loaded);
}
