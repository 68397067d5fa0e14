/* limber report ROBOT -o FILE.html: one self-contained page about a robot. */
#include "report.h"

#include <math.h>
#include <string.h>

#include "analysis/closure.h"
#include "cli.h"
#include "result.h"
#include "robot/read.h"
#include "static_lists.h"

#define TO_REPORT(member) offsetof(struct report_options, member)

static const struct option rows[] = {
    OPTION_ROBOT,
    OPTION_FILE("FILE.html", "the page, which needs nothing else and can be printed"),
    OPTION_AT("state file instead of the robot's start"),
    {"--sweep", "JOINT=a:b:n", OPTION_LIST, TO_REPORT(sweep), .most = MOST_SWEEPS,
     .help = "frequencies over n poses of a joint, as for `limber modes`; may be repeated (default: the first three "
             "joints with a drive)"},
    {"--bode", "INPUT:OUTPUT", OPTION_LIST, TO_REPORT(bode), .most = MOST_PAIRS,
     .help = "poles, zeros and frequency response between variables of the FMU; may be repeated (default: from the "
             "first input of a drive or joint to the first output and to the tip)"},
    {0}};

static const char details[] =
    "The linear model is that of `limber linearize` about the equilibrium of `limber static`. If something cannot be "
    "computed for a robot, the page gives the reason instead.";

/* ---- reasons ------------------------------------------------------------------------------------------------------------------ */

static void collect(void *context, enum report_level level, const char *text)
{
    struct report_page *page = context;
    const size_t length = strlen(page->reason);
    if (level == REPORT_ERROR)
        snprintf(page->reason + length, REASON_TEXT - length, "%s%s", length > 0 ? "; " : "", text);
}

void report_reason(struct report_page *page, enum status status, const char *what)
{
    if (status == STATUS_NO_MEMORY || status == STATUS_NO_FILE) {
        fprintf(stderr, "limber: report: %s\n", *page->reason != '\0' ? page->reason : status_text(status));
        page->xml->failed = true;
    }
    xml_begin(page->xml, "p");
    xml_text(page->xml, what);
    if (*page->reason != '\0') {
        xml_text(page->xml, ": ");
        xml_text(page->xml, page->reason);
    }
    xml_text(page->xml, ".");
    xml_end_full(page->xml);
    *page->reason = '\0';
}

/* ---- static equilibrium --------------------------------------------------------------------------------------------------------- */

/* Values that are rounding errors are shown as 0. */
static double visible(double value)
{
    return fabs(value) > 1e-12 ? value : 0;
}

static void write_row(void *context, const char *name, double value, const char *unit)
{
    struct xml *xml = context;
    xml_begin(xml, "tr");
    html_code_cell(xml, name);
    html_number_cell(xml, visible(value));
    html_cell(xml, unit);
    xml_end_full(xml);
}

static void write_equilibrium(struct xml *xml, const struct model *model, const struct static_answer *answer)
{
    static const char *const held[] = {"held by", "#value", "unit"};
    static const char *const deflections[] = {"link", "#deflection x [m]", "#y [m]", "#z [m]"};
    xml_begin(xml, "p");
    xml_printf(xml, "%s equilibrium; the tip is at (%.6g, %.6g, %.6g) m.",
               answer->stability.unstable > 0      ? "Unstable"
               : answer->stability.indifferent > 0 ? "Indifferent"
                                                   : "Stable",
               visible(answer->tip.p[0]), visible(answer->tip.p[1]), visible(answer->tip.p[2]));
    xml_end_full(xml);
    html_begin_table(xml, 3, held);
    static_list_holding(model, answer, write_row, xml);
    static_list_forces(model, answer, write_row, xml);
    html_end_table(xml);
    html_begin_table(xml, 4, deflections);
    for (int i = 0; i < model->n_links; i++) {
        if (model->link[i].m == 0) continue;
        xml_begin(xml, "tr");
        html_code_cell(xml, model->robot->link[i].name);
        for (int k = 0; k < 3; k++) html_number_cell(xml, visible(answer->deflection[i][k]));
        xml_end_full(xml);
    }
    html_end_table(xml);
    html_paragraph(xml, "Deflections of the tips of flexible links, in axes of their hinges.");
}

/* The equilibrium near the state, and the linear model about it; if there is none, about the state itself */
static int write_point(struct report_page *page, const char *text)
{
    const struct common *options = &page->options->common;
    struct operating_point point = {0};
    struct static_answer answer;
    enum status status = operating_point_make(options->robot, text, options->at, &page->report, &point);
    if (status == STATUS_OK) {
        html_heading(page->xml, "Static equilibrium");
        status = static_answer_make(&point, options->at != NULL, &page->report, &answer);
        if (status == STATUS_OK) write_equilibrium(page->xml, point.mechanism->model, &answer);
        else {
            report_reason(page, status, "There is no equilibrium near this state");
            html_paragraph(page->xml, "The linear model below is about the state itself, as if forces held it.");
            status = operating_point_move(&point, options->at != NULL, false, &page->report);
        }
    }
    int code = EXIT_OK;
    if (status == STATUS_OK) code = report_linear(page, &point);
    else report_reason(page, status, "The linear model is not available");
    operating_point_free(&point);
    return code;
}

/* ---- the page -------------------------------------------------------------------------------------------------------------------- */

static int check(const void *given)
{
    const struct common *options = given;
    if (options->at == NULL || strcmp(options->at, "-") != 0) return EXIT_OK;
    return cli_usage("report", "--at takes a file: it is read several times");
}

static int write_body(struct report_page *page, struct cli_model *loaded, const struct variables *variables,
                      const char *text)
{
    const struct robot *robot = loaded->robot;
    const struct fmu fmu = {.name = robot->name,
                            .description = robot->description,
                            .variables = variables,
                            .model = loaded->mechanism.model,
                            .mechanism = &loaded->mechanism,
                            .pose = loaded->state.at.q};
    xml_begin(page->xml, "html");
    xml_attribute(page->xml, "lang", "en");
    html_head(page->xml, robot->name);
    xml_begin(page->xml, "body");
    xml_leaf(page->xml, "h1", robot->name);
    html_paragraph(page->xml, robot->description);
    page_write_robot(page->xml, &fmu, (struct blob){0}, page->arena);
    const int code = report_modes(page, loaded);
    return code == EXIT_OK ? write_point(page, text) : code;
}

static int run(const void *given, struct cli_model *loaded, struct report *report)
{
    const struct report_options *options = given;
    const struct common *common = &options->common;
    struct xml xml;
    struct report_page page = {.options = options, .xml = &xml, .arena = common->arena};
    page.report = (struct report){.line = collect, .context = &page};
    struct instance *sim = NULL;
    const char *text = document_load(common->robot, common->arena, &page.report);
    enum status status = text != NULL ? sim_make(common->robot, text, &page.report, &sim) : STATUS_NO_FILE;
    if (status == STATUS_OK)
        status = closure_of_state(&loaded->mechanism, common->at != NULL, &loaded->state, &page.report);
    int code = cli_exit_code(status);
    if (code != EXIT_OK) {
        report_add(report, REPORT_ERROR, "%s", *page.reason != '\0' ? page.reason : status_text(status));
    } else {
        xml_open(&xml, DOCUMENT_HTML);
        code = write_body(&page, loaded, instance_variables(sim), text);
        const struct blob html = xml_close(&xml, common->arena);
        if (code == EXIT_OK && html.bytes == NULL) code = cli_no_memory("report");
        if (code == EXIT_OK) code = result_write(common->output, html.bytes, html.size);
    }
    instance_free(sim);
    return code;
}

const struct command command_report = {.name = "report",
                                       .summary = "writes a page about a robot: picture, links and joints, holding "
                                                  "torques, frequencies, poles, zeros, Bode plots",
                                       .details = details,
                                       .option = rows,
                                       .size = sizeof(struct report_options),
                                       .check = check,
                                       .run_model = run};
