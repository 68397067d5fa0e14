#include "scene/labels.h"

#include <math.h>

double label_width(const char *text, double font_size)
{
    double characters = 0;
    for (; *text != '\0'; text++)
        if ((*text & 0xC0) != 0x80) characters++; /* not a byte inside a character of UTF-8 */
    return 0.62 * font_size * characters;
}

static bool overlap(const struct box *a, const struct box *b)
{
    const double gap = 2;
    return a->x < b->x + b->width + gap && b->x < a->x + a->width + gap && a->y < b->y + b->height + gap &&
           b->y < a->y + a->height + gap;
}

/* Whether a segment passes through a box: clipped by its four sides in turn */
static bool crosses(const struct box *box, const double line[4])
{
    double from = 0, to = 1;
    const double low[2] = {box->x, box->y}, high[2] = {box->x + box->width, box->y + box->height};
    for (int i = 0; i < 2; i++) {
        const double d = line[2 + i] - line[i];
        if (d == 0 && (line[i] < low[i] || line[i] > high[i])) return false;
        if (d == 0) continue;
        const double a = (low[i] - line[i]) / d, b = (high[i] - line[i]) / d;
        from = fmax(from, fmin(a, b));
        to = fmin(to, fmax(a, b));
    }
    return from <= to;
}

/* Candidate k: sixteen directions at growing distances */
enum { DIRECTIONS = 16, DISTANCES = 6 };

static struct box candidate(const struct label *label, int k, double font_size)
{
    const double angle = 2 * 3.14159265358979324 * (k % DIRECTIONS) / DIRECTIONS - 0.785;
    const double reach = label->away + 0.9 * font_size * (k / DIRECTIONS);
    const double c = cos(angle), s = sin(angle);
    struct box box = {.width = label_width(label->text, font_size), .height = 1.2 * font_size};
    box.x = label->at[0] + reach * c + (0.5 * c - 0.5) * box.width;
    box.y = label->at[1] + reach * s + (0.5 * s - 0.5) * box.height;
    return box;
}

static double cost_of(const struct box *box, int k, const double (*line)[4], int n_lines)
{
    double cost = 0.6 * (k / DIRECTIONS) + 0.01 * (k % DIRECTIONS);
    for (int i = 0; i < n_lines; i++) cost += crosses(box, line[i]) ? 1.0 : 0;
    return cost;
}

static void place(struct label *label, const struct label *placed, int n, double font_size, const struct box *page,
                  const double (*line)[4], int n_lines)
{
    double best = INFINITY;
    for (int k = 0; k < DIRECTIONS * DISTANCES; k++) {
        const struct box box = candidate(label, k, font_size);
        bool free = box.x >= page->x && box.y >= page->y && box.x + box.width <= page->width &&
                    box.y + box.height <= page->height;
        for (int i = 0; i < n && free; i++) free = !placed[i].placed || !overlap(&box, &placed[i].box);
        const double cost = free ? cost_of(&box, k, line, n_lines) : INFINITY;
        if (!(cost < best)) continue;
        best = cost;
        label->box = box;
    }
    label->placed = best < INFINITY;
}

void labels_place(struct label *label, int n, double font_size, int width, int height, const double (*line)[4],
                  int n_lines)
{
    const struct box page = {4, 4, width - 4, height - 4};
    for (int i = 0; i < n; i++) place(&label[i], label, i, font_size, &page, line, n_lines);
}
