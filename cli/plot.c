#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "result.h"
#include "xml.h"

enum { WIDTH = 800, HEIGHT = 480, LEFT = 76, RIGHT = 60, TOP = 48, BOTTOM = 60, LABEL_HEIGHT = 15 };

static const char *const colors[] = {"#1f5fa8", "#d9541a", "#2a8a4a", "#8347a8",
                                     "#b8860b", "#0f8b8d", "#c2185b", "#5d4037"};
enum { COLORS = sizeof colors / sizeof colors[0] };

/* ---- axes --------------------------------------------------------------------------------------------------------------- */

/* Values from `low` to `high` on pixels from `from` to `to`. */
struct axis {
    double low, high, from, to;
    double step; /* between ticks of a linear axis; 0: logarithmic */
};

static double pixel(const struct axis *axis, double value)
{
    const double part = axis->step > 0 ? (value - axis->low) / (axis->high - axis->low)
                                       : log(value / axis->low) / log(axis->high / axis->low);
    return axis->from + part * (axis->to - axis->from);
}

/* 1, 2 or 5 times a power of ten, not below x */
static double round_up(double x)
{
    const double power = pow(10, floor(log10(x)));
    const double digits = x / power * (1 - 1e-12);
    return power * (digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 5 ? 5 : 10);
}

static struct axis linear_axis(double low, double high, int ticks, double from, double to)
{
    if (!(high > low)) { /* one value: in the middle */
        const double margin = low != 0 ? 0.5 * fabs(low) : 1;
        low -= margin;
        high += margin;
    }
    return (struct axis){low, high, from, to, round_up((high - low) / ticks)};
}

static double value_of(const struct plot *plot, int point, int curve)
{
    return plot->y[(size_t)plot->stride * (size_t)point + (size_t)curve];
}

/* From zero to a round number; logarithmic, between round numbers, if the least positive value would vanish at the bottom. With any
   sign: the range of all values. */
static struct axis y_axis(const struct plot *plot)
{
    const double wide = 10;
    double low = INFINITY, high = plot->any_sign ? -INFINITY : 0;
    for (int p = 0; p < plot->n_points; p++)
        for (int c = 0; c < plot->n_curves; c++) {
            const double y = value_of(plot, p, c);
            if (plot->any_sign || y > 0) low = fmin(low, y);
            high = fmax(high, y);
        }
    if (!plot->any_sign && high > wide * low)
        return (struct axis){1 / round_up(1 / low), round_up(high), HEIGHT - BOTTOM, TOP, 0};
    struct axis axis = plot->any_sign ? linear_axis(low, high, 6, HEIGHT - BOTTOM, TOP)
                                      : linear_axis(0, high > 0 ? high : 1, 7, HEIGHT - BOTTOM, TOP);
    axis.low = axis.step * floor(axis.low / axis.step * (1 + 1e-12));
    axis.high = axis.step * ceil(axis.high / axis.step * (1 - 1e-12));
    return axis;
}

/* ---- drawing ------------------------------------------------------------------------------------------------------------- */

static void line(struct xml *xml, double x1, double y1, double x2, double y2, const char *color)
{
    xml_begin(xml, "line");
    xml_attribute_printf(xml, "x1", "%.1f", x1);
    xml_attribute_printf(xml, "y1", "%.1f", y1);
    xml_attribute_printf(xml, "x2", "%.1f", x2);
    xml_attribute_printf(xml, "y2", "%.1f", y2);
    xml_attribute(xml, "stroke", color);
    xml_end(xml);
}

static void begin_text(struct xml *xml, double x, double y, const char *anchor, const char *color)
{
    xml_begin(xml, "text");
    xml_attribute_printf(xml, "x", "%.1f", x);
    xml_attribute_printf(xml, "y", "%.1f", y);
    xml_attribute(xml, "text-anchor", anchor);
    xml_attribute(xml, "fill", color);
}

static void tick(struct xml *xml, const struct axis *axis, bool vertical, double value)
{
    const double at = pixel(axis, value);
    if (vertical) line(xml, LEFT, at, WIDTH - RIGHT, at, "#dde3e9");
    else line(xml, at, TOP, at, HEIGHT - BOTTOM, "#dde3e9");
    begin_text(xml, vertical ? LEFT - 8 : at, vertical ? at + 4 : HEIGHT - BOTTOM + 19, vertical ? "end" : "middle",
               "#333");
    xml_printf(xml, "%.6g", value);
    xml_end(xml);
}

static void draw_ticks(struct xml *xml, const struct axis *axis, bool vertical)
{
    if (axis->step > 0) {
        const double first = ceil(axis->low / axis->step - 1e-9), last = floor(axis->high / axis->step + 1e-9);
        for (double k = first; k <= last; k++) tick(xml, axis, vertical, k * axis->step + 0.0);
        return;
    }
    /* 1, 2, 5 of every decade as far as they fit, else the decades, or every few of them */
    enum { MOST_TICKS = 15 };
    const double decades = log10(axis->high / axis->low), factor = pow(10, ceil(decades / MOST_TICKS));
    for (double value = axis->low; value <= axis->high * (1 + 1e-9);
         value = decades < 5 ? round_up(1.5 * value) : factor * value)
        tick(xml, axis, vertical, value);
}

static bool shown(const struct axis *y, double value)
{
    return y->step > 0 || value > 0;
}

/* Draws a line through the points from `p` on that are shown, or a dot if there is only one. Returns the point after the gap. */
static int draw_piece(struct xml *xml, const struct plot *plot, const struct axis *x, const struct axis *y, int curve,
                      int p)
{
    const int first = p;
    while (p < plot->n_points && shown(y, value_of(plot, p, curve))) p++;
    if (p == first) return p + 1;
    xml_begin(xml, p == first + 1 ? "circle" : "polyline");
    if (p == first + 1) {
        xml_attribute_printf(xml, "cx", "%.1f", pixel(x, plot->x[first]));
        xml_attribute_printf(xml, "cy", "%.1f", pixel(y, value_of(plot, first, curve)));
        xml_attribute(xml, "r", "3");
        xml_attribute(xml, "fill", colors[curve % COLORS]);
    } else {
        xml_begin_attribute(xml, "points");
        for (int i = first; i < p; i++)
            xml_printf(xml, "%s%.2f,%.2f", i == first ? "" : " ", pixel(x, plot->x[i]),
                       pixel(y, value_of(plot, i, curve)));
        xml_end_attribute(xml);
        xml_attribute(xml, "fill", "none");
        xml_attribute(xml, "stroke", colors[curve % COLORS]);
        xml_attribute(xml, "stroke-width", "2");
        xml_attribute(xml, "stroke-linejoin", "round");
    }
    xml_end(xml);
    return p + 1;
}

/* Names at the right end of the curves, each above the one before, as far as they fit. */
static void draw_curves(struct xml *xml, const struct plot *plot, const struct axis *x, const struct axis *y)
{
    const int last = plot->n_points - 1, right = plot->x[0] > plot->x[last] ? 0 : last;
    double above = HEIGHT;
    for (int c = 0; c < plot->n_curves; c++) {
        for (int p = 0; p < plot->n_points;) p = draw_piece(xml, plot, x, y, c, p);
        const double end = value_of(plot, right, c);
        if (*plot->curve == '\0' || !shown(y, end) || above < 2 * LABEL_HEIGHT) continue;
        above = fmin(pixel(y, end) + 4, above - LABEL_HEIGHT);
        begin_text(xml, WIDTH - RIGHT + 8, above, "start", colors[c % COLORS]);
        xml_printf(xml, "%s%d", plot->curve, c + 1);
        xml_end(xml);
    }
}

static struct blob draw(const struct plot *plot, enum document document, struct arena *arena)
{
    struct xml xml;
    const struct axis y = y_axis(plot);
    const double a = plot->x[0], b = plot->x[plot->n_points - 1];
    const struct axis x = plot->log_x ? (struct axis){fmin(a, b), fmax(a, b), LEFT, WIDTH - RIGHT, 0}
                                      : linear_axis(fmin(a, b), fmax(a, b), 8, LEFT, WIDTH - RIGHT);
    xml_open(&xml, document);
    xml_begin(&xml, "svg");
    xml_attribute(&xml, "xmlns", "http://www.w3.org/2000/svg");
    xml_attribute_printf(&xml, "viewBox", "0 0 %d %d", WIDTH, HEIGHT);
    xml_attribute_printf(&xml, "width", "%d", WIDTH);
    xml_attribute_printf(&xml, "height", "%d", HEIGHT);
    xml_attribute(&xml, "font-family", "system-ui,sans-serif");
    xml_attribute(&xml, "font-size", "13");
    xml_leaf(&xml, "title", plot->title);
    xml_begin(&xml, "rect");
    xml_attribute(&xml, "width", "100%");
    xml_attribute(&xml, "height", "100%");
    xml_attribute(&xml, "fill", "#fff");
    xml_end(&xml);
    draw_ticks(&xml, &x, false);
    draw_ticks(&xml, &y, true);
    line(&xml, LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "#555");
    line(&xml, LEFT, TOP, LEFT, HEIGHT - BOTTOM, "#555");
    draw_curves(&xml, plot, &x, &y);
    begin_text(&xml, LEFT, TOP - 20, "start", "#111");
    xml_attribute(&xml, "font-size", "15");
    xml_text(&xml, plot->title);
    xml_end(&xml);
    begin_text(&xml, 0.5 * (LEFT + WIDTH - RIGHT), HEIGHT - 16, "middle", "#111");
    xml_text(&xml, plot->x_label);
    xml_end(&xml);
    begin_text(&xml, 0, 0, "middle", "#111");
    xml_attribute_printf(&xml, "transform", "translate(20 %.1f) rotate(-90)", 0.5 * (TOP + HEIGHT - BOTTOM));
    xml_text(&xml, plot->y_label);
    xml_end(&xml);
    xml_end(&xml);
    return xml_close(&xml, arena);
}

int plot_write(const struct plot *plot, const char *file)
{
    struct arena arena = {0};
    const struct blob svg = draw(plot, DOCUMENT_XML, &arena);
    int code = EXIT_COMPUTATION;
    if (svg.bytes == NULL) fprintf(stderr, "limber: %s: %s\n", file, status_text(STATUS_NO_MEMORY));
    else code = result_write(file, svg.bytes, svg.size);
    arena_release(&arena);
    return code;
}

void plot_figure(const struct plot *plot, struct xml *page, struct arena *arena)
{
    const struct blob svg = draw(plot, DOCUMENT_PART, arena);
    xml_begin(page, "figure");
    if (svg.bytes != NULL) xml_raw(page, svg.bytes);
    else page->failed = true;
    xml_end_full(page);
}
