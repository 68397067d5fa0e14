/* model.png: the robot in its start pose, 100 by 100 pixels. */
#include <math.h>
#include <png.h>
#include <string.h>

#include "picture.h"

enum { SIDE = 100 };

struct color {
    double red, green, blue;
};
static const struct color paper = {1, 1, 1}, offset_color = {0.65, 0.70, 0.75}, flexible_color = {0.16, 0.47, 0.71},
                          rigid_color = {0.45, 0.50, 0.55}, joint_color = {0.10, 0.16, 0.22},
                          tip_color = {0.85, 0.33, 0.10};

static double distance_to_segment(double x, double y, const double a[2], const double b[2])
{
    const double dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy;
    double s = square > 0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / square : 0;
    s = fmin(fmax(s, 0), 1);
    return hypot(x - a[0] - s * dx, y - a[1] - s * dy);
}

/* A line with round ends, antialiased at its edge. */
static void draw_line(struct color *pixel, const double a[2], const double b[2], double width, struct color color)
{
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            const double distance = distance_to_segment(column + 0.5, row + 0.5, a, b);
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

static void draw(struct color *pixel, const struct picture *picture)
{
    for (int i = 0; i < SIDE * SIDE; i++) pixel[i] = paper;
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
    void *file = arena_take(arena, size, 1);
    const bool written = file != NULL && png_image_write_to_memory(&image, file, &size, 0, bytes, 0, NULL) != 0;
    png_image_free(&image);
    return written ? (struct blob){file, size} : (struct blob){0};
}

struct blob icon_make(const struct fmu *fmu, struct arena *arena)
{
    struct picture picture;
    struct color *pixel = arena_take(arena, SIDE * SIDE, sizeof *pixel);
    if (pixel == NULL || !picture_make(fmu, SIDE, SIDE, SIDE, 12, arena, &picture)) return (struct blob){0};
    draw(pixel, &picture);
    return write_png(pixel, arena);
}
