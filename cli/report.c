/* limber report ROBOT -o FILE.html: one page about a robot that can be handed on. */
#include "report.h"

#include <math.h>
#include <string.h>

#include "analysis/closure.h"
#include "cli.h"
#include "result.h"
#include "robot/read.h"
#include "static_lists.h"

/* ---- options ---------------------------------------------------------------------------------------------------------------- */

static int add_to(const char *option, const char *value, const char **list, int *n, int most)
{
    if (*n == most) return cli_usage("report", "%s: at most %d times", option, most);
    list[(*n)++] = value;
    return EXIT_OK;
}

static int parse_options(int argc, char **argv, struct report_page *page, const char **output)
{
    int code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        const bool sweep = strcmp(option, "--sweep") == 0, bode = strcmp(option, "--bode") == 0;
        const bool at = strcmp(option, "--at") == 0, file = strcmp(option, "-o") == 0;
        if ((sweep || bode || at || file) && value == NULL) return cli_usage("report", "%s takes a value", option);
        if (sweep) code = add_to(option, value, page->sweep, &page->n_sweeps, MOST_SWEEPS);
        else if (bode) code = add_to(option, value, page->pair, &page->n_pairs, MOST_PAIRS);
        else if (at) page->at = value;
        else if (file) *output = value;
        else if (option[0] == '-') code = cli_usage("report", "unknown option '%s'", option);
        else if (page->robot == NULL) page->robot = option;
        else code = cli_usage("report", "too many arguments: '%s'", option);
        i += sweep || bode || at || file;
    }
    if (code == EXIT_OK && page->robot == NULL) code = cli_usage("report", "expected ROBOT");
    if (code == EXIT_OK && *output == NULL) code = cli_usage("report", "expected -o FILE.html");
    if (code == EXIT_OK && page->at != NULL && strcmp(page->at, "-") == 0)
        code = cli_usage("report", "--at takes a file: it is read several times");
    return code;
}

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

/* Without rounding errors */
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

static void write_holding(struct xml *xml, const struct model *model, const struct static_answer *answer)
{
    static const char *const heads[] = {"held by", "#value", "unit"};
    xml_begin(xml, "p");
    xml_printf(xml, "%s equilibrium; the tip is at (%.6g, %.6g, %.6g) m.",
               answer->stability.unstable > 0      ? "Unstable"
               : answer->stability.indifferent > 0 ? "Indifferent"
                                                   : "Stable",
               visible(answer->tip.p[0]), visible(answer->tip.p[1]), visible(answer->tip.p[2]));
    xml_end_full(xml);
    html_begin_table(xml, 3, heads);
    static_list_holding(model, answer, write_row, xml);
    static_list_forces(model, answer, write_row, xml);
    html_end_table(xml);
}

static void write_deflections(struct xml *xml, const struct model *model, const struct static_answer *answer)
{
    static const char *const heads[] = {"link", "#deflection x [m]", "#y [m]", "#z [m]"};
    html_begin_table(xml, 4, heads);
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

/* The point becomes the equilibrium; where there is none, the state itself */
static enum status write_statics(struct report_page *page, struct operating_point *point)
{
    struct static_answer answer;
    html_heading(page->xml, "Static equilibrium");
    enum status status = static_answer_make(point, page->at != NULL, &page->report, &answer);
    if (status == STATUS_OK) {
        write_holding(page->xml, point->mechanism->model, &answer);
        write_deflections(page->xml, point->mechanism->model, &answer);
    } else {
        report_reason(page, status, "There is no equilibrium near this state");
        html_paragraph(page->xml, "The linear model below is about the state itself, as if forces held it.");
        status = operating_point_move(point, page->at != NULL, false, &page->report);
    }
    static_answer_free(&answer);
    return status;
}

static int write_point(struct report_page *page, const char *text)
{
    struct operating_point point = {0};
    int code = EXIT_OK;
    enum status status = operating_point_make(page->robot, text, &page->report, &point);
    if (status == STATUS_OK) status = state_read(point.mechanism->model, page->at, &page->report, &point.state);
    if (status == STATUS_OK) status = write_statics(page, &point);
    if (status == STATUS_OK) code = report_linear(page, &point);
    else report_reason(page, status, "The linear model is not available");
    operating_point_free(&point);
    return code;
}

/* ---- the page -------------------------------------------------------------------------------------------------------------------- */

static int write_body(struct report_page *page, struct cli_model *loaded, struct instance *sim, const char *text)
{
    const struct robot *robot = loaded->robot;
    const struct fmu fmu = {.name = robot->name,
                            .description = robot->description,
                            .variables = instance_variables(sim),
                            .model = loaded->mechanism.model,
                            .mechanism = &loaded->mechanism,
                            .pose = loaded->state.at.q};
    html_head(page->xml, robot->name);
    xml_begin(page->xml, "body");
    xml_leaf(page->xml, "h1", robot->name);
    html_paragraph(page->xml, robot->description);
    page_write_robot(page->xml, &fmu, (struct blob){0}, page->arena);
    int code = report_modes(page, loaded);
    if (code == EXIT_OK) code = write_point(page, text);
    xml_end_full(page->xml);
    return code;
}

static int write_page(struct report_page *page, struct cli_model *loaded, const char *output)
{
    struct instance *sim = NULL;
    struct xml xml;
    const char *text = document_load(page->robot, page->arena, &page->report);
    enum status status = text != NULL ? sim_make(page->robot, text, &page->report, &sim) : STATUS_NO_FILE;
    if (status == STATUS_OK)
        status = closure_of_state(&loaded->mechanism, page->at != NULL, &loaded->state, &page->report);
    int code = cli_exit_code(status);
    if (code != EXIT_OK) {
        fprintf(stderr, "limber: report: %s\n", *page->reason != '\0' ? page->reason : status_text(status));
        instance_free(sim);
        return code;
    }
    page->xml = &xml;
    xml_open(&xml, DOCUMENT_HTML);
    xml_begin(&xml, "html");
    xml_attribute(&xml, "lang", "en");
    code = write_body(page, loaded, sim, text);
    instance_free(sim);
    const struct blob html = xml_close(&xml, page->arena);
    struct result result = {0};
    if (code == EXIT_OK && html.bytes == NULL) code = cli_no_memory("report");
    if (code == EXIT_OK) code = result_open(output, NULL, &result);
    if (code != EXIT_OK) return code;
    fwrite(html.bytes, 1, html.size, result.stream); /* errors are kept by the stream */
    return result_close(&result, code);
}

int command_report(int argc, char **argv)
{
    struct arena arena = {0};
    struct report_page page = {.arena = &arena};
    page.report = (struct report){.line = collect, .context = &page};
    struct report report = cli_report("report");
    struct cli_model loaded;
    const char *output = NULL;
    int code = parse_options(argc, argv, &page, &output);
    if (code == EXIT_OK) code = cli_load_model(page.robot, 0, page.at, &report, &loaded);
    if (code != EXIT_OK) return code;
    code = write_page(&page, &loaded, output);
    arena_release(&arena);
    cli_free_model(&loaded);
    return code;
}
