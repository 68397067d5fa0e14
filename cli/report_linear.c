/* The linear model in a report: poles, zeros, Bode plots. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/zeros.h"
#include "cli.h"
#include "plot.h"
#include "report.h"

enum { BODE_POINTS = 600, MOST_LISTED = 60 };
static const double TWO_PI = 6.28318530717958648;

/* ---- poles and zeros ----------------------------------------------------------------------------------------------------------- */

/* One row for each pair; a number at the origin has no damping. Real parts that are rounding errors are printed as 0. */
static void write_roots(struct xml *xml, const char *name, const struct complex_number *root, int n)
{
    const char *const heads[] = {name, "#real part [1/s]", "#frequency [Hz]", "#damping ratio"};
    html_begin_table(xml, 4, heads);
    for (int i = 0, row = 0; i < n && row < MOST_LISTED; i++) {
        const double size = hypot(root[i].re, root[i].im);
        const double re = fabs(root[i].re) > 1e-9 * size ? root[i].re : 0;
        if (root[i].im < 0) continue;
        xml_begin(xml, "tr");
        html_number_cell(xml, ++row);
        html_number_cell(xml, re);
        html_number_cell(xml, root[i].im / TWO_PI);
        html_begin_number(xml);
        if (size > 0) xml_printf(xml, "%.4g", -re / size + 0.0);
        xml_end_full(xml);
        xml_end_full(xml);
    }
    html_end_table(xml);
}

/* ---- Bode plots ------------------------------------------------------------------------------------------------------------------ */

/* The decades around all poles and zeros that are not at the origin [Hz] */
static void choose_range(const struct zeros *zeros, double *from, double *to)
{
    double low = INFINITY, high = 0;
    for (int i = 0; i < zeros->n_poles + zeros->n_zeros; i++) {
        const struct complex_number *z = i < zeros->n_poles ? &zeros->pole[i] : &zeros->zero[i - zeros->n_poles];
        const double size = hypot(z->re, z->im) / TWO_PI;
        if (size == 0) continue;
        low = fmin(low, size);
        high = fmax(high, size);
    }
    if (high == 0) low = high = 1;
    *from = fmax(pow(10, floor(log10(low)) - 1), 1e-3);
    *to = fmin(pow(10, ceil(log10(high))), 1e4);
    if (*to <= *from) *to = 100 * *from;
}

static void write_bode(struct report_page *page, const struct signal *u, const struct signal *y, const char *title,
                       const struct zeros *zeros)
{
    double *const x = arena_allocate(page->arena, BODE_POINTS, sizeof *x);
    double *const magnitude = arena_allocate(page->arena, BODE_POINTS, sizeof *magnitude);
    double *const phase = arena_allocate(page->arena, BODE_POINTS, sizeof *phase);
    double from, to, turns = 0;
    char label[256];
    if (page->arena->failed) {
        page->xml->failed = true;
        return;
    }
    choose_range(zeros, &from, &to);
    for (int i = 0; i < BODE_POINTS; i++) {
        x[i] = from * pow(to / from, (double)i / (BODE_POINTS - 1));
        zeros_bode(zeros, TWO_PI * x[i], &magnitude[i], &phase[i]);
        if (i == 0) turns = round(phase[0] / TWO_PI);
        phase[i] = (phase[i] - TWO_PI * turns) * 360 / TWO_PI;
    }
    snprintf(label, sizeof label, "magnitude [%.60s / %.60s]", y->unit != NULL ? y->unit : "1",
             u->unit != NULL ? u->unit : "1");
    struct plot plot = {.title = title,
                        .x_label = "frequency [Hz]",
                        .y_label = label,
                        .curve = "",
                        .log_x = true,
                        .n_points = BODE_POINTS,
                        .n_curves = 1,
                        .stride = 1,
                        .x = x,
                        .y = magnitude};
    plot_figure(&plot, page->xml, page->arena);
    plot.y_label = "phase [deg]";
    plot.any_sign = true;
    plot.y = phase;
    plot_figure(&plot, page->xml, page->arena);
}

static void write_pair(struct report_page *page, const struct linear *linear, int u, int y)
{
    struct zeros zeros;
    char title[512];
    snprintf(title, sizeof title, "From %.200s to %.200s", linear->u[u].name, linear->y[y].name);
    xml_leaf(page->xml, "h3", title);
    const enum status status = zeros_make(linear, u, y, &page->report, &zeros);
    if (status == STATUS_OK) {
        xml_begin(page->xml, "p");
        xml_printf(page->xml, "%d poles, %d zeros, relative degree %d, gain %.6g; %s.", zeros.n_poles, zeros.n_zeros,
                   zeros.relative_degree, zeros.gain, zeros.minimum_phase ? "minimum phase" : "not minimum phase");
        xml_end_full(page->xml);
        write_bode(page, &linear->u[u], &linear->y[y], title, &zeros);
        if (zeros.n_zeros > 0) write_roots(page->xml, "#zero", zeros.zero, zeros.n_zeros);
    } else report_reason(page, status, "There is no transfer function");
}

/* ---- which pairs ------------------------------------------------------------------------------------------------------------------- */

/* The component of the tip's position on which the input acts most at 1 rad/s; -1: it acts on none */
static int tip_output(struct report_page *page, const struct linear *linear, int u)
{
    double most = 0;
    int best = -1;
    for (int y = 0; y < linear->n_outputs; y++) {
        struct zeros zeros;
        struct report silent = {0};
        double magnitude = 0, phase;
        if (strncmp(linear->y[y].name, "tip.position[", 13) != 0) continue;
        const enum status status = zeros_make(linear, u, y, &silent, &zeros);
        if (status == STATUS_OK) zeros_bode(&zeros, 1, &magnitude, &phase);
        if (status == STATUS_NO_MEMORY) page->xml->failed = true;
        if (!(magnitude > most)) continue;
        most = magnitude;
        best = y;
    }
    return best;
}

/* Those of --bode; otherwise from the first input of a drive or joint, or of the tip if there is none: a force on the tip may act on
   nothing else */
static int write_pairs(struct report_page *page, const struct linear *linear)
{
    const struct text_list *bode = &page->options->bode;
    struct report report = cli_report("report");
    for (int i = 0; i < bode->n; i++) {
        const char *colon = strchr(bode->text[i], ':');
        if (colon == NULL) return cli_usage("report", "--bode takes INPUT:OUTPUT, not '%s'", bode->text[i]);
        char *input = arena_string(page->arena, bode->text[i]);
        if (input == NULL) return cli_no_memory("report");
        input[colon - bode->text[i]] = '\0';
        const int u = linear_find_input(linear, input, &report), y = linear_find_output(linear, colon + 1, &report);
        if (u < 0 || y < 0) return EXIT_INPUT;
        write_pair(page, linear, u, y);
    }
    if (bode->n > 0 || linear->n_inputs == 0 || linear->n_outputs == 0) return EXIT_OK;
    int u = 0;
    while (u < linear->n_inputs && strncmp(linear->u[u].name, "tip.", 4) == 0) u++;
    if (u == linear->n_inputs) u = 0;
    const int tip = tip_output(page, linear, u);
    write_pair(page, linear, u, 0);
    if (tip >= 0) write_pair(page, linear, u, tip);
    return EXIT_OK;
}

int report_linear(struct report_page *page, struct operating_point *point)
{
    struct linear linear = {0};
    html_heading(page->xml, "Linear model");
    enum status status = linear_make(point, &page->report, &linear);
    if (status == STATUS_OK) status = linear_minimal(&linear, &page->report);
    int code = EXIT_OK;
    if (status == STATUS_OK) {
        const int n = linear.n_states; /* the poles of any pair are among these */
        struct complex_number *pole = arena_allocate(page->arena, (size_t)n, sizeof *pole);
        xml_begin(page->xml, "p");
        xml_printf(page->xml, "%d states, %d inputs, %d outputs, about the operating point above. Poles by pairs:",
                   linear.n_states, linear.n_inputs, linear.n_outputs);
        xml_end_full(page->xml);
        status = page->arena->failed ? STATUS_NO_MEMORY : zeros_eigenvalues(n, linear.A, page->arena, pole);
        if (status == STATUS_OK) {
            zeros_sort(pole, n);
            write_roots(page->xml, "#pole", pole, n);
            code = write_pairs(page, &linear);
        }
    }
    if (status != STATUS_OK) report_reason(page, status, "The linear model is not available");
    return code;
}
