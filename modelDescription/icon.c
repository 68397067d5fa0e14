/* model.png, 100 by 100 pixels: the robot in its start pose, or a symbol of the drive. */
#include <math.h>
#include <png.h>
#include <string.h>

#include "drive/drive.h"
#include "picture.h"

enum { SIDE = 100 };

struct color {
    double red, green, blue;
};
static const struct color paper = {1, 1, 1}, offset_color = {0.65, 0.70, 0.75}, flexible_color = {0.16, 0.47, 0.71},
                          rigid_color = {0.45, 0.50, 0.55}, joint_color = {0.10, 0.16, 0.22},
                          tip_color = {0.85, 0.33, 0.10};

/* A line with round ends, antialiased at its edge. */
static void draw_line(struct color *pixel, const double a[2], const double b[2], double width, struct color color)
{
    const double dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy;
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            const double x = column + 0.5, y = row + 0.5;
            const double along = square > 0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / square : 0;
            const double s = fmin(fmax(along, 0), 1); /* the closest point of the segment */
            const double distance = hypot(x - a[0] - s * dx, y - a[1] - s * dy);
            const double cover = fmin(fmax(0.5 * width - distance + 0.5, 0), 1);
            struct color *p = &pixel[SIDE * row + column];
            p->red += cover * (color.red - p->red);
            p->green += cover * (color.green - p->green);
            p->blue += cover * (color.blue - p->blue);
        }
}

static void draw_dot(struct color *pixel, const double at[2], double width, struct color color)
{
    draw_line(pixel, at, at, width, color);
}

static void draw_robot(struct color *pixel, const struct picture *picture)
{
    for (int i = 0; i < picture->n_links; i++)
        draw_line(pixel, picture->link[i].from, picture->link[i].hinge, 3, offset_color);
    for (int i = 0; i < picture->n_links; i++) {
        const struct picture_link *link = &picture->link[i];
        draw_line(pixel, link->hinge, link->tip, 6, link->flexible ? flexible_color : rigid_color);
    }
    for (int i = 0; i < picture->n_links; i++) {
        if (!picture->link[i].moves) continue;
        draw_dot(pixel, picture->link[i].hinge, 10, joint_color);
        draw_dot(pixel, picture->link[i].hinge, 4, paper);
    }
    draw_dot(pixel, picture->link[picture->tip].tip, 8, tip_color);
}

/* ---- symbols of drives ------------------------------------------------------------------------------------------------- */

struct stroke {
    double from[2], to[2], width;
    const struct color *color;
};

/* In pixels, y down */
enum { MOST_STROKES = 10 };
static const struct symbol {
    const char *drive;
    struct stroke stroke[MOST_STROKES]; /* up to one without a color */
} symbols[] = {
    {"servo", /* a motor and its shaft */
     {{{26, 50}, {60, 50}, 40, &flexible_color},
      {{60, 50}, {94, 50}, 8, &rigid_color},
      {{43, 50}, {43, 50}, 14, &paper}}},
    {"gear", /* a small and a large wheel */
     {{{26, 62}, {26, 62}, 30, &rigid_color},
      {{66, 46}, {66, 46}, 56, &flexible_color},
      {{26, 62}, {26, 62}, 8, &paper},
      {{66, 46}, {66, 46}, 12, &paper}}},
    {"cylinder", /* barrel, piston rod, pins */
     {{{18, 68}, {56, 42}, 22, &flexible_color},
      {{50, 46}, {88, 20}, 8, &rigid_color},
      {{12, 72}, {12, 72}, 12, &joint_color},
      {{90, 18}, {90, 18}, 12, &joint_color}}},
    {"spring",
     {{{6, 50}, {20, 50}, 4, &rigid_color},
      {{20, 50}, {27, 28}, 4, &flexible_color},
      {{27, 28}, {41, 72}, 4, &flexible_color},
      {{41, 72}, {55, 28}, 4, &flexible_color},
      {{55, 28}, {69, 72}, 4, &flexible_color},
      {{69, 72}, {77, 50}, 4, &flexible_color},
      {{77, 50}, {94, 50}, 4, &rigid_color}}},
    {"axis", /* a motion over time */
     {{{12, 88}, {12, 12}, 3, &rigid_color},
      {{12, 88}, {92, 88}, 3, &rigid_color},
      {{14, 80}, {34, 78}, 4, &flexible_color},
      {{34, 78}, {58, 30}, 4, &flexible_color},
      {{58, 30}, {90, 26}, 4, &flexible_color}}},
    {"sling", /* a hook, a rope, a load */
     {{{50, 10}, {50, 10}, 12, &tip_color},
      {{50, 14}, {50, 62}, 3, &rigid_color},
      {{36, 74}, {64, 74}, 26, &flexible_color}}},
};

static bool draw_symbol(struct color *pixel, const char *drive)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        if (strcmp(symbols[i].drive, drive) != 0) continue;
        for (const struct stroke *s = symbols[i].stroke; s->color != NULL; s++)
            draw_line(pixel, s->from, s->to, s->width, *s->color);
        return true;
    }
    return false;
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

static struct blob write_png(const struct color *pixel, struct arena *arena)
{
    unsigned char bytes[3 * SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        bytes[3 * i] = (unsigned char)lround(255 * pixel[i].red);
        bytes[3 * i + 1] = (unsigned char)lround(255 * pixel[i].green);
        bytes[3 * i + 2] = (unsigned char)lround(255 * pixel[i].blue);
    }
    png_image image = {.version = PNG_IMAGE_VERSION, .width = SIDE, .height = SIDE, .format = PNG_FORMAT_RGB};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *file = arena_allocate(arena, size, 1);
    const bool written = file != NULL && png_image_write_to_memory(&image, file, &size, 0, bytes, 0, NULL) != 0;
    png_image_free(&image);
    return written ? (struct blob){file, size} : (struct blob){0};
}

struct blob icon_make(const struct fmu *fmu, struct arena *arena)
{
    struct picture picture;
    struct color *pixel = arena_allocate(arena, SIDE * SIDE, sizeof *pixel);
    if (pixel == NULL) return (struct blob){0};
    for (int i = 0; i < SIDE * SIDE; i++) pixel[i] = paper;
    if (fmu->drive != NULL) return draw_symbol(pixel, fmu->drive->name) ? write_png(pixel, arena) : (struct blob){0};
    if (!picture_make(fmu, SIDE, 12, arena, &picture)) return (struct blob){0};
    draw_robot(pixel, &picture);
    return write_png(pixel, arena);
}
