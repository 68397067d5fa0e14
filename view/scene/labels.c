#include "view/scene/labels.h"

#include <math.h>

#include "view/scene/cover.h"

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

void labels_place(struct label *label, int n, double font_size, int width, int height, const struct cover *cover)
{
    const struct box page = {4, 4, width - 4, height - 4};
    const struct label *newest = NULL;
    for (int i = 0; i < n; i++) {
        double best = INFINITY;
        label[i].earlier = newest;
        for (int k = 0; k < DIRECTIONS * DISTANCES; k++) {
            const struct box box = candidate(&label[i], k, font_size);
            bool free = box.x >= page.x && box.y >= page.y && box.x + box.width <= page.width &&
                        box.y + box.height <= page.height;
            for (const struct label *other = newest; other != NULL && free; other = other->earlier)
                free = !overlap(&box, &other->box);
            if (!free) continue;

            /* near is better than far, and an empty place better than a drawn one */
            const double far = 0.4 * (k / DIRECTIONS) + 0.01 * (k % DIRECTIONS),
                         drawn = cover != NULL ? cover_part(cover, &box) : 0,
                         cost = far + (drawn > 0 ? 0.3 + 4 * drawn : 0);
            if (!(cost < best)) continue;
            best = cost;
            label[i].box = box;
        }
        label[i].placed = best < INFINITY;
        if (label[i].placed) newest = &label[i];
    }
}
